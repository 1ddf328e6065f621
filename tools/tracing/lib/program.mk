# SPDX-License-Identifier: GPL-2.0
# The common part of the Makefiles of the programs here. The includer sets
#	PROGRAM		its name: PROGRAM-completion.bash is its completion
#	PAGES		its man pages, each PAGE.rst in Documentation/tools/ of its name
#	PACKAGES_OF_OWN	its libraries beside these two, as pkg-config knows them
# and all C files of its directory are its. Those of lib/ are built for each program, with its flags.

ifeq ($(srctree),)
  srctree := $(abspath $(CURDIR)/../../..)
endif

include $(srctree)/tools/scripts/Makefile.include

OUTPUT ?=
PKG_CONFIG ?= $(CROSS_COMPILE)pkg-config
INSTALL ?= install
RST2MAN ?= rst2man
BINDIR ?= /usr/bin
MAN1DIR ?= /usr/share/man/man1
COMPLETIONS ?= /usr/share/bash-completion/completions

LIB := $(srctree)/tools/tracing/lib
LIB_OUTPUT := $(or $(OUTPUT),$(CURDIR)/)lib/
MAN_PAGES := $(PAGES:%=$(OUTPUT)%.1)
LIBS := libtracefs libtraceevent $(PACKAGES_OF_OWN)
VERSION := $(shell sed -n 's/^\(VERSION\|PATCHLEVEL\|SUBLEVEL\) = //p' $(srctree)/Makefile | \
	     paste -s -d.)

ifneq ($(filter-out clean doc doc_install,$(or $(MAKECMDGOALS),all)),)
  ifneq ($(shell $(PKG_CONFIG) --exists $(LIBS) && echo yes),yes)
    $(error $(PROGRAM) needs $(LIBS) and pkg-config: install $(LIBS:%=%-dev), or $(LIBS:%=%-devel))
  endif
  LIB_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(LIBS))
  LIB_LDFLAGS := $(shell $(PKG_CONFIG) --libs $(LIBS)) -lm
endif

CFLAGS += -O2 -g -Wall -Wextra -Wmissing-prototypes -Wstrict-prototypes -D_GNU_SOURCE
CFLAGS += -DVERSION='"$(VERSION)"' -I$(LIB) $(LIB_CFLAGS)

export CC LD AR CFLAGS OUTPUT srctree

all: $(OUTPUT)$(PROGRAM)

include $(srctree)/tools/build/Makefile.include

$(OUTPUT)$(PROGRAM)-in.o: fixdep FORCE
	$(Q)$(MAKE) $(build)=$(PROGRAM)

$(LIB_OUTPUT)libtracing-in.o: fixdep FORCE
	$(Q)mkdir -p $(LIB_OUTPUT)
	$(Q)$(MAKE) --no-print-directory -C $(LIB) $(build)=libtracing OUTPUT=$(LIB_OUTPUT)

$(OUTPUT)$(PROGRAM): $(OUTPUT)$(PROGRAM)-in.o $(LIB_OUTPUT)libtracing-in.o
	$(QUIET_LINK)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIB_LDFLAGS)

$(MAN_PAGES): $(OUTPUT)%.1: $(srctree)/Documentation/tools/$(PROGRAM)/%.rst
	$(QUIET_GEN)$(RST2MAN) $< $@

# All files, whether or not they are a program already.
objects: $(OUTPUT)$(PROGRAM)-in.o $(LIB_OUTPUT)libtracing-in.o

doc: $(MAN_PAGES)

install: $(OUTPUT)$(PROGRAM)
	$(call QUIET_INSTALL,$(PROGRAM))
	$(Q)$(INSTALL) -D -m 755 $< $(DESTDIR)$(BINDIR)/$(PROGRAM)
	$(Q)$(INSTALL) -D -m 644 $(PROGRAM)-completion.bash $(DESTDIR)$(COMPLETIONS)/$(PROGRAM)

doc_install: $(MAN_PAGES)
	$(call QUIET_INSTALL,$(PAGES:%=%.1))
	$(Q)$(INSTALL) -d $(DESTDIR)$(MAN1DIR)
	$(Q)$(INSTALL) -m 644 $^ $(DESTDIR)$(MAN1DIR)

clean: fixdep-clean
	$(call QUIET_CLEAN,$(PROGRAM))
	$(Q)$(RM) -r $(LIB_OUTPUT)
	$(Q)$(RM) $(OUTPUT)$(PROGRAM) $(MAN_PAGES) $(OUTPUT)*.o $(OUTPUT).*.cmd $(OUTPUT).*.d

.PHONY: all objects doc install doc_install clean FORCE
