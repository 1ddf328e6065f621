# SPDX-License-Identifier: GPL-2.0
# The targets of the repository; each calls the scripts of harness/ that do the work.

export KSRC SETUP J KEEP

KERNELS := $(shell harness/kernel --list)

# Shell commands given as a variable, to be put between quotes.
quoted = $(subst ','\'',$(1))

.NOTPARALLEL:
.PHONY: help demo check deb check-deb try kselftest bpftest clients configs fuzz torture arches arch model htmldocs shell tree base bench bench-quick bench-disk overhead profile cycles bench-rt bench-arch series clean kernel test-kernel $(KERNELS)

help:
	@echo 'make demo         build, boot, and watch function tracing go on and off'
	@echo 'make check        every suite; ends with "N passed, N failed"'
	@echo 'make try T=NAME   build your changes, and run one KUnit suite, one .tc or one suite of check-guest on it'
	@echo 'make kselftest    the kernel'"'"'s own ftrace, ring-buffer and livepatch selftests, stock beside ours'
	@echo 'make bpftest      the kernel'"'"'s own BPF selftests of programs on functions, stock beside ours'
	@echo 'make deb          Debian packages of the kernel and of the tools, in build/deb: CONFIG=guest, running or debian'
	@echo 'make check-deb    the small ones installed, booted by GRUB, used and removed in a Debian guest'
	@echo 'make clients      trace-cmd, perf and bpftrace, as Debian has them, on ours'
	@echo 'make configs      ours in other configurations, each built, booted and tested (CONFIGS="a b": these)'
	@echo 'make fuzz         random input to every file, under KASAN and lockdep, for SECONDS=300 (SEED=N repeats)'
	@echo 'make torture      all changes of tracing at random, on the same kernel, for SECONDS=300 (SEED=N repeats)'
	@echo 'make arches       ours where function tracing is stock'"'"'s: arm, loongarch, mips, mips64el, parisc, sh4, sparc64,'
	@echo '                  and x86_64 with FTRACE_CALLSETS=n (ARCHES="a b": these)'
	@echo 'make arch A=NAME  the kernel'"'"'s ftrace selftests on another architecture, stock beside ours: arm64, i386,'
	@echo '                  powerpc64le, riscv64, s390x'
	@echo 'make model        all orders of the steps of a writer and a reader of the ring buffer, by spin'
	@echo 'make htmldocs     the manual'"'"'s pages on tracing and x86, without warnings from ours, in build/htmldocs'
	@echo 'make shell        a guest with a prompt on tracefs'
	@echo 'make tree         compose base and ours into build/tree'
	@echo 'make base         fetch and unpack the pristine base into build/base'
	@echo 'make ours         build a kernel, ours into build/ours; there are also ours-test, stock, stock-test,'
	@echo '                  configs/NAME and others, by the same name in build/ and after --kernel'
	@echo 'make bench        stock and ours side by side, as tables and a chart; AGAINST=old.json shows the changes since'
	@echo 'make bench-quick  the rows of it that say most, in a few minutes'
	@echo 'make bench-disk   an image for a stick or a CD that measures both in time, on any PC; WORDS= go to its kernels,'
	@echo '                  CHECK=1 boots it in QEMU'
	@echo 'make overhead     the cost of functions that can be traced, and that are, beside a kernel without that'
	@echo 'make profile WHAT="COMMANDS"  their instructions by kernel function, with a flame graph; T="COMMANDS" are run'
	@echo '                  before and not counted; AGAINST=stock shows the differences'
	@echo 'make cycles       the cost of an event on this CPU, with the ring buffers of stock and ours in a program'
	@echo 'make bench-arch A=arm64  the costs of function tracing on one other architecture, stock beside ours'
	@echo 'make bench-rt     how long PREEMPT_RT cannot be interrupted meanwhile'
	@echo 'make series       patches for git am in build/series, tested; CHECK=1 builds and boots each step,'
	@echo '                  CHECK_FROM=N CHECK_TO=N these (numbers, or directory/number, as in build/series/steps);'
	@echo '                  BENCH="05-text-patching function graph" counts what a series earns by itself'
	@echo 'make clean        remove build/'
	@echo
	@echo 'KSRC=DIR   any 7.3.y tree instead of the Debian package linux-source-7.3'
	@echo 'SETUP=no   install nothing: name the missing packages and stop'
	@echo 'KEEP=yes   make configs keeps the objects that it compiled'
	@echo 'J=N        compile N files at a time (default: one a CPU)'

base:
	@harness/setup base
	@harness/base

tree: base
	@harness/tree

# The packages to build each of the kernels with, beside the compiler.
%-test %-bpf deb/%: NEEDS = btf
configs/clang configs/ltocfi: NEEDS = clang
ours-arches/% stock-arches/%: NEEDS = cross
ours-arch/% stock-arch/%: NEEDS = cross-$(@F)
$(filter stock%,$(KERNELS)): base
$(filter-out stock%,$(KERNELS)): tree
$(filter-out demo,$(KERNELS)):
	@harness/setup build $(NEEDS)
	@harness/kernel $@

# The packages for a target are named before its kernels are built, which takes long.
setup-%:
	@harness/setup build $(subst +, ,$*)

# The first is a directory, too: it would be up to date.
kernel test-kernel:
	@echo 'error: a kernel is built by its own name: make ours, make ours-test' >&2; false

demo shell: tree
	@harness/setup build guest
	@harness/kernel demo
	@harness/guest --kernel demo $(if $(filter shell,$@),--shell,harness/jobs/demo)

try:
	@harness/try $(KERNEL:%=--kernel %) '$(T)'

# The file is taken before it is measured: it may be the one that is written.
take_old = $(if $(AGAINST),harness/bench-report --take '$(call quoted,$(AGAINST))',:)
with_old = $(if $(AGAINST),--against build/bench/against.json)

bench: setup-btf+guest+charts ours stock ours-bpf stock-bpf
	@$(take_old)
	@tools/testing/sitetable/speed build/stock build/base
	@harness/bench
	@harness/cycles
	@harness/bench-report $(with_old)

bench-quick: setup-guest+charts ours stock
	@$(take_old)
	@harness/bench --only function filter graph event profile count guard ops
	@harness/bench-report $(with_old)

bench-disk: setup-guest+disk ours-disk stock-disk
	@harness/bench-disk $(if $(filter-out 0 no,$(CHECK)),--check) $(WORDS)

overhead: setup-guest+charts ours stock overhead/none
	@harness/overhead

ifneq ($(filter profile,$(MAKECMDGOALS)),)
$(if $(WHAT),,$(error no commands to count: make profile WHAT='echo function > current_tracer', for example))
endif
profile: setup-guest+charts ours $(AGAINST)
	@harness/profile $(if $(T),--setup '$(call quoted,$(T))') $(AGAINST:%=--against '%') -- '$(call quoted,$(WHAT))'

cycles: ours stock
	@harness/cycles

bench-rt: setup-guest ours-rt stock-rt
	@harness/bench --only rt

kselftest: setup-btf+guest+selftests ours-test stock-test
	@harness/kselftest $(if $(filter-out 0 no,$(FRESH)),--fresh)

bpftest: setup-btf+bpf+guest ours-bpf stock-bpf
	@harness/bpftest $(if $(filter-out 0 no,$(FRESH)),--fresh)

clients: setup-btf+guest+clients ours-test
	@harness/check-guest clients-2

deb: tree
	@harness/setup build btf guest deb
	@harness/deb $(or $(CONFIG),guest)

check-deb: tree
	@harness/setup build btf guest deb debian
	@harness/deb guest
	@SUITES='deb-config deb-guest' harness/check

configs: tree
	@harness/setup build clang guest
	@harness/configs $(CONFIGS)

fuzz: setup-guest configs/fuzz
	@harness/check-guest --kernel configs/fuzz --append 'guest.seconds=$(or $(SECONDS),300)$(SEED:%= guest.seed=%)' fuzz-4

torture: setup-guest configs/fuzz
	@harness/check-guest --kernel configs/fuzz --append 'guest.seconds=$(or $(SECONDS),300)$(SEED:%= guest.seed=%)' torture-4

arches: tree
	@harness/setup build cross
	@harness/arches $(ARCHES)

arch: $(if $(A),ours-arch/$(A) stock-arch/$(A))
	@harness/arch $(A) $(if $(filter-out 0 no,$(FRESH)),--fresh)

bench-arch: $(if $(A),ours-arch/$(A) stock-arch/$(A))
	@harness/bench-arch $(A)

model:
	@harness/setup build model
	@tools/testing/ring-buffer/model build/host-test/ring-buffer

htmldocs: tree
	@harness/setup docs
	@harness/htmldocs

series: tree
	@harness/series
ifneq ($(BENCH),)
	@harness/setup build btf guest charts
	@harness/kernel stock
	@harness/series-steps --bench $(BENCH)
endif
ifneq ($(filter-out 0 no,$(CHECK)),)
	@harness/setup build guest cross-arm64
	@harness/series-steps $(or $(CHECK_FROM),first) $(or $(CHECK_TO),last)
endif

check: tree
	@harness/setup build btf guest host-test cross-arm64
	@harness/check

clean:
	rm -rf build
