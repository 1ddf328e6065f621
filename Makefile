# SPDX-License-Identifier: GPL-2.0
# The targets of the repository; each calls the scripts of harness/ that do the work.

export KSRC SETUP J KEEP

.NOTPARALLEL:
.PHONY: help demo check kselftest bpftest clients configs fuzz arches htmldocs shell tree base kernel test-kernel stock stock-test bench bench-scale bench-rt series clean

help:
	@echo 'make demo         build, boot, and watch function tracing go on and off'
	@echo 'make check        every suite; ends with "N passed, N failed"'
	@echo 'make kselftest    the kernel'"'"'s own ftrace, ring-buffer and livepatch selftests, stock beside ours'
	@echo 'make bpftest      the kernel'"'"'s own BPF selftests of programs on functions, stock beside ours'
	@echo 'make clients      trace-cmd, perf and bpftrace, as Debian has them, on ours'
	@echo 'make configs      ours in other configurations, each built, booted and tested (CONFIGS="a b": these)'
	@echo 'make fuzz         random input to every file, under KASAN and lockdep, for SECONDS=300 (SEED=N repeats)'
	@echo 'make arches       ours for other architectures, where function tracing is off (ARCHES="a b": these)'
	@echo 'make htmldocs     the manual'"'"'s pages on tracing and x86, without warnings from ours, in build/htmldocs'
	@echo 'make shell        a guest with a prompt on tracefs'
	@echo 'make tree         compose base and ours into build/tree'
	@echo 'make base         unpack the pristine base into build/base'
	@echo 'make kernel       build ours into build/ours (bench configuration)'
	@echo 'make test-kernel  build ours into build/ours-test (the fuller test configuration)'
	@echo 'make stock        build the pristine base into build/stock (bench configuration)'
	@echo 'make stock-test   build the pristine base into build/stock-test'
	@echo 'make bench        stock and ours side by side, as tables, and a plot over the number of functions'
	@echo 'make bench-scale  the latter with up to 500,000 functions more, not 100,000'
	@echo 'make bench-rt     how long PREEMPT_RT cannot be interrupted meanwhile'
	@echo 'make series       git am-able patches in build/series (CHECK=1: build after each)'
	@echo 'make clean        remove build/'
	@echo
	@echo 'KSRC=DIR   any 6.12.y tree instead of the Debian package linux-source-6.12'
	@echo 'SETUP=no   install nothing: name what is lacking and stop'
	@echo 'KEEP=yes   make configs keeps the objects that it compiled'
	@echo 'J=N        compile N files at a time (default: one a CPU)'

base:
	@harness/setup base
	@harness/base

tree: base
	@harness/tree

kernel: tree
	@harness/setup build
	@harness/kernel ours

test-kernel: tree
	@harness/setup build btf
	@harness/kernel ours-test

stock: base
	@harness/setup build
	@harness/kernel stock

stock-test: base
	@harness/setup build btf
	@harness/kernel stock-test

demo: kernel
	@harness/setup guest
	@harness/image
	@harness/demo

shell: kernel
	@harness/setup guest
	@harness/image
	@harness/guest --shell

bench: kernel stock
	@harness/setup guest
	@harness/bench
	@harness/bench-scale --max 100000

bench-scale: kernel stock
	@harness/setup guest
	@harness/bench-scale

bench-rt: tree
	@harness/setup build guest
	@harness/kernel stock-rt
	@harness/kernel ours-rt
	@harness/bench-rt

kselftest: test-kernel stock-test
	@harness/setup guest
	@harness/kselftest $(if $(filter-out 0 no,$(FRESH)),--fresh)

bpftest: tree
	@harness/setup build btf bpf guest
	@harness/kernel stock-bpf
	@harness/kernel ours-bpf
	@harness/bpftest $(if $(filter-out 0 no,$(FRESH)),--fresh)

clients: test-kernel
	@harness/setup guest
	@harness/clients

configs: tree
	@harness/setup build clang guest
	@harness/configs $(CONFIGS)

fuzz: tree
	@harness/setup build guest
	@harness/kernel configs/fuzz
	@harness/check-guest --kernel configs/fuzz --append 'guest.seconds=$(or $(SECONDS),300)$(SEED:%= guest.seed=%)' fuzz-4

arches: tree
	@harness/setup build cross guest
	@harness/arches $(ARCHES)

htmldocs: tree
	@harness/setup docs
	@harness/htmldocs

series: base
	@harness/setup build
	@harness/series $(if $(filter-out 0 no,$(CHECK)),--check)

check: tree
	@harness/setup build btf guest host-test
	@harness/check

clean:
	rm -rf build
