# Argosy: build, test, demo. `make help` lists the targets.
#
# Layers and programs are found by folder; a new .c file needs no line here.
#   x.c          goes into the library
#   x_test.c     is a test (cmocka) with its own main(), run by `make unit`; those of a layer are linked to one program
#   main_NAME.c  becomes the program build/bin/NAME
SHELL := /bin/bash
MAKEFLAGS += --no-builtin-rules

CC ?= cc
ifeq ($(origin CC),default)
CC := gcc
endif

# VARIANT: release (default), asan (ASan+UBSan), each with its own objects.
VARIANT ?= release
BUILD := build
OBJ := $(BUILD)/$(VARIANT)
# -Og: half of what -O1 takes to compile, and as fast to run; most of that time is the sanitizers' own.
SANITIZED := -Og -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -DARGOSY_ASAN=1 \
	-Wno-format-truncation -Wno-maybe-uninitialized# sanitizers hide from gcc what it needs for these
ifeq ($(VARIANT),asan)
OPTIMISE := $(SANITIZED)
DEBUG := -g1 # the lines that reports name
BIN := $(OBJ)/bin
else
OPTIMISE := -O2
DEBUG := -g
BIN := $(BUILD)/bin
endif

PACKAGES := libwebsockets libcurl openssl jansson yaml-0.1 sqlite3 libuv libnghttp2 zlib libarchive expat libgit2 libssh2
PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
CFLAGS_ALL = -std=gnu17 $(DEBUG) $(OPTIMISE) -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wno-unused-parameter -Wno-missing-field-initializers -fno-strict-aliasing -fvisibility=hidden \
	-D_GNU_SOURCE -I. $(PACKAGE_CFLAGS) $(CFLAGS)
LIBS := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lm -lpthread
# Of libarchive only what reads a packed tar is wanted. Shared, it brings libxml2 and with it ICU, 37 MB in every image.
LIBS := $(patsubst -larchive,-l:libarchive.a,$(LIBS))
# A library that nothing else in the images needs.
LIBS := $(patsubst -lexpat,-l:libexpat.a,$(LIBS))

# devcluster lives on documents of many small parts: with this allocator it takes two thirds of the CPU time
# (docs/benchmarks.md), and so does the simulation, which has it inside. The agents keep glibc's: theirs is little work,
# and their memory counts.
ifneq ($(VARIANT),asan)
$(BIN)/devcluster $(BIN)/fleet-sim: ALLOCATOR := -Wl,--push-state,--no-as-needed -lmimalloc -Wl,--pop-state
endif

LAYERS := common/base common/loop common/json common/template common/net proto common/kube common/ctrl hub-agent member-agent kubectl-fleet e2e
# Fuzz targets are programs of their own (make/fuzz.mk); e2e/unit has the main() of the programs of unit tests.
SOURCES := $(sort $(filter-out e2e/fuzz/% e2e/unit/%,$(shell find $(LAYERS) -name '*.c' -o -name '*.S' 2>/dev/null)))
TESTS := $(filter %_test.c,$(SOURCES))
MAINS := $(filter %.c,$(foreach s,$(SOURCES),$(if $(filter main_%,$(notdir $(s))),$(s))))
LIBRARY_SOURCES := $(filter-out $(TESTS) $(MAINS),$(SOURCES))
LIBRARY_OBJECTS := $(patsubst %,$(OBJ)/%.o,$(LIBRARY_SOURCES))
# One archive a layer, upper ones first as the linker wants them: who needs an agent alone builds the product alone.
E2E_OBJECTS := $(filter $(OBJ)/e2e/%,$(LIBRARY_OBJECTS))
DEVCLUSTER_OBJECTS := $(filter $(OBJ)/e2e/devcluster/%,$(E2E_OBJECTS))
PRODUCT := $(OBJ)/libargosy.a
DEVCLUSTER := $(OBJ)/libdevcluster.a $(PRODUCT)
LIBRARY := $(OBJ)/libe2e.a $(DEVCLUSTER)
PROGRAMS := $(foreach m,$(MAINS),$(BIN)/$(patsubst main_%.c,%,$(notdir $(m))))
TEST_OBJECTS := $(patsubst %,$(OBJ)/%.o,$(TESTS))

.PHONY: build unit unit-asan test lint format generate bench sim demo demo-down test-kube fuzz spec-coverage clean help packages

build: $(PROGRAMS) ## build all programs into build/bin

$(OBJ)/%.c.o: %.c
	@mkdir -p $(@D)
	@echo "  CC    $<"
	@$(CC) $(CFLAGS_ALL) $(AS_A_TEST) -MMD -MP -c -o $@ $<

# Named by releases; no other object may depend on it.
COMMIT ?=
$(OBJ)/kubectl-fleet/version.c.o: CFLAGS_ALL += $(if $(COMMIT),-DARGOSY_COMMIT='"$(COMMIT)"')

# What a test does beside calling what it tests is done once: compiling it well takes longer.
$(OBJ)/%_test.c.o: OPTIMISE += -O0
# What main() is called in a test: e2e/unit/table names it the same.
main_of = test_main_$(subst .,_,$(subst -,_,$(subst /,_,$(1))))
$(TEST_OBJECTS): e2e/unit/test_main.h
$(OBJ)/%_test.c.o: AS_A_TEST = -DTEST_MAIN=$(call main_of,$*) -include e2e/unit/test_main.h

COMMA := ,
# What .incbin takes in is read off the source: the list an assembler writes is lost on a hit in a compiler cache.
$(OBJ)/%.S.o: %.S
	@mkdir -p $(@D)
	@$(CC) -g $(patsubst -ffile-prefix-map=%,-Wa$(COMMA)--debug-prefix-map=%,$(filter -ffile-prefix-map=%,$(CFLAGS))) -c -o $@ $<
	@sed -n 's|.*\.incbin "\(.*\)"|$@: \1|p' $< > $(@:.o=.d)

# An archive is made anew whenever its list of members changes, so a removed file cannot linger.
define archive_rule
$(OBJ)/$(1).members: FORCE
	@mkdir -p $$(@D)
	@echo '$(2)' | cmp -s - $$@ || echo '$(2)' > $$@

$(OBJ)/$(1).a: $(2) $(OBJ)/$(1).members
	@echo "  AR    $$@"
	@rm -f $$@ && $(AR) rcs $$@ $(2)
endef
$(eval $(call archive_rule,libargosy,$(filter-out $(E2E_OBJECTS),$(LIBRARY_OBJECTS))))
$(eval $(call archive_rule,libdevcluster,$(DEVCLUSTER_OBJECTS)))
$(eval $(call archive_rule,libe2e,$(filter-out $(DEVCLUSTER_OBJECTS),$(E2E_OBJECTS))))

# What a program of this folder may use.
libraries_of = $(if $(filter e2e/devcluster/%,$(1)),$(DEVCLUSTER),$(if $(filter e2e/%,$(1)),$(LIBRARY),$(PRODUCT)))

define program_rule
$(BIN)/$(patsubst main_%.c,%,$(notdir $(1))): $(OBJ)/$(1).o $(call libraries_of,$(1))
	@mkdir -p $$(@D)
	@echo "  LINK  $$@"
	@$(CC) $(OPTIMISE) -o $$@ $$< $$(ALLOCATOR) $(call libraries_of,$(1)) $(LIBS)
endef
$(foreach m,$(MAINS),$(eval $(call program_rule,$(m))))

# make unit ONLY=common/json runs the tests of one folder, ONLY=common/json/patch those of one file: what begins so. Only
# these are compiled then, and linked to programs apart from those that have all.
ONLY ?=
CHOSEN_TESTS := $(filter $(patsubst %.c,%,$(ONLY:./%=%))%,$(TESTS))
TEST_PROGRAMS_IN := $(OBJ)/$(if $(ONLY),some-tests,test)

# A program for the tests of each layer, and for those that put something of theirs in the place of a part of the library.
STAND_INS := e2e/simulation/rules_ e2e/simulation/watch_
tests_of = $(filter-out $(if $(filter $(STAND_INS),$(1)),,$(STAND_INS:%=%%)),$(filter $(1)%,$(CHOSEN_TESTS)))
TEST_GROUPS := $(foreach g,$(STAND_INS) $(LAYERS:%=%/),$(if $(call tests_of,$(g)),$(g)))
TEST_PROGRAMS := $(TEST_GROUPS:%=$(TEST_PROGRAMS_IN)/%tests)
# PROGRAM:TEST of those whose path begins with one of these words: what e2e/run-tests is told.
tests_in_programs = $(foreach g,$(TEST_GROUPS),$(patsubst %.c,$(TEST_PROGRAMS_IN)/$(g)tests:%,$(filter $(1),$(call tests_of,$(g)))))

# gold takes half the time of the default linker, where it is installed.
TEST_LINKER := $(if $(shell command -v ld.gold),-fuse-ld=gold)
define test_program_rule
$(TEST_PROGRAMS_IN)/$(1)tests.c: FORCE
	@mkdir -p $$(@D)
	@e2e/unit/table $(patsubst %.c,%,$(2)) > $$@.new
	@cmp -s $$@.new $$@ || mv $$@.new $$@

$(TEST_PROGRAMS_IN)/$(1)tests: $(TEST_PROGRAMS_IN)/$(1)tests.c e2e/unit/unit_main.c e2e/unit/tests.h $(2:%=$(OBJ)/%.o) $(LIBRARY)
	@echo "  LINK  $$@"
	@$$(CC) $$(CFLAGS_ALL) $$(TEST_LINKER) -o $$@ $$< e2e/unit/unit_main.c $(2:%=$(OBJ)/%.o) $(LIBRARY) $(LIBS) -lcmocka
endef
$(foreach g,$(TEST_GROUPS),$(eval $(call test_program_rule,$(g),$(call tests_of,$(g)))))

tests: $(TEST_PROGRAMS)

unit: $(TEST_PROGRAMS) ## unit tests (ONLY=folder or file for some of them; VARIANT=asan under sanitizers)
	@$(if $(CHOSEN_TESTS),e2e/run-tests $(call tests_in_programs,%),echo "no unit test's path begins with '$(ONLY)'" >&2; exit 1)

unit-asan: ## unit tests under ASan and UBSan
	@$(MAKE) --no-print-directory unit VARIANT=asan

packages: ## install the Debian packages that are missing
	@e2e/install-packages

test: packages ## everything but real Kubernetes: ends in `N passed, N failed`
	@e2e/run-suite e2e/suite.d

lint: packages ## format, warnings of both compilers, static analysis, layer order, banned calls
	@e2e/lint/run

format: ## format what is not committed yet
	@{ git diff --name-only --diff-filter=d HEAD; git ls-files -o --exclude-standard; } | grep '\.[ch]$$' | \
		grep -v '/gen/' | xargs -r clang-format -i

clean: ## remove everything built; the demo's fleet stays
	@[ ! -d $(BUILD) ] || find $(BUILD) -mindepth 1 -maxdepth 1 ! -name demo -exec rm -rf {} +

help: ## this list
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

-include $(wildcard make/*.mk)

FORCE:
# Kept, though made on the way to a program. Of tests alone: what is secondary and missing is not made while what came of it
# is newer, so that a source that came between two builds would be in no archive.
.SECONDARY: $(TEST_OBJECTS)
-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)
