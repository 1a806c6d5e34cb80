# nystream: `make`, `make demo`, `make check`; `make help` lists the rest.

# One goal is made by all CPUs, unless -j says otherwise.
ifeq ($(MAKELEVEL)$(word 2,$(MAKECMDGOALS)),0)
MAKEFLAGS += -j$(shell nproc)
endif

VERSION := $(shell awk '/define NY_VERSION_(MAJOR|MINOR|PATCH)/ {v = v s $$3; s = "."} END {print v}' \
             include/nystream.h)
SOVERSION := $(firstword $(subst ., ,$(VERSION)))
BUILD   ?= build
CC      ?= cc
INSTALL ?= install
PACKAGES := lmdb openblas lapacke liblz4 libxxhash zlib jansson cairo
LINKED   := $(filter-out cairo,$(PACKAGES)) # cairo is loaded when something is drawn
say       = $(if $(V),,@printf '%-5s %s\n' $(1) $@;)
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wformat=2 -Werror=implicit-function-declaration
# Constants are enums here, and clang warns from 19 on where one is multiplied by a double.
WARNINGS += $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),-Wno-unknown-warning-option -Wno-enum-float-conversion)
CFLAGS  ?= -O3 -g1
BASE_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARNINGS) $(if $(WERROR),-Werror) -fPIC -fvisibility=hidden \
              -ffp-contract=off $(HARDENING) $(ENDING) -fdebug-prefix-map=$(CURDIR)=. -Iinclude -Isrc $(PACKAGE_CFLAGS)
# Checked copies, guarded stacks, tables that cannot be written (tests/cli/security.bats looks). The
# sanitizers check copies themselves, and without optimisation the compiler cannot.
HARDENING = -fstack-protector-strong -fstack-clash-protection $(if $(filter -fsanitize% -O0,$(CFLAGS)),,\
            -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=$(FORTIFY))
# gcc has level 3 from 12 on; before, headers would warn of it in every file.
FORTIFY := $(if $(filter 7 8 9 10 11,$(firstword $(subst ., ,$(shell $(CC) -dumpversion)))),2,3)
HARDENED_LINK := -Wl,-z,relro,-z,now,-z,noexecstack
SHARED_LINK   := -shared -Wl,-soname,libnystream.so.$(SOVERSION) -Wl,--version-script=src/nystream.map
# How the command ends (src/cli/main.c).
ENDING = -DNY_EXIT_BY=$(if $(filter -fsanitize% --coverage,$(CFLAGS)),exit,_exit)
# Objects have both their names, so that BUILD may be relative in one call and absolute in another.
DEPENDENCIES = -MMD -MP -MF $@.d -MT $(@:$(CURDIR)/%=%) -MT $(abspath $@)
# Others' headers are warned of by nobody here.
PACKAGE_CFLAGS := $(patsubst -I%,-isystem %,$(shell pkg-config --cflags $(PACKAGES) 2>/dev/null))
PACKAGE_LIBS   := $(shell pkg-config --libs $(LINKED) 2>/dev/null) -lm -lpthread -ldl

PREFIX       ?= /usr/local
bindir       ?= $(PREFIX)/bin
libdir       ?= $(PREFIX)/lib
includedir   ?= $(PREFIX)/include
mandir       ?= $(PREFIX)/share/man
pkgconfigdir ?= $(libdir)/pkgconfig
cmakedir     ?= $(libdir)/cmake/nystream
bashdir      ?= $(PREFIX)/share/bash-completion/completions
zshdir       ?= $(PREFIX)/share/zsh/site-functions
# make takes a path with a space for two.
$(foreach name,CURDIR BUILD DESTDIR PREFIX bindir libdir includedir mandir pkgconfigdir cmakedir bashdir zshdir,$(if \
  $(word 2,$($(name))),$(error $(name) is "$($(name))": a path with a space, which make cannot work with; choose another)))

# `make check SAN=address,undefined`: in a folder of its own; NYSTREAM_SANITIZER tells tests that
# time, memory and plain linking are not what they were.
ifdef SAN
COMMA  := ,
BUILD  := build/$(subst $(COMMA),-,$(SAN))
CFLAGS := -O1 -g -fno-omit-frame-pointer -fsanitize=$(SAN) -fno-sanitize-recover=all
export NYSTREAM_SANITIZER := $(SAN)
export LSAN_OPTIONS := suppressions=$(CURDIR)/tests/lsan.supp:print_suppressions=0
export TSAN_OPTIONS := suppressions=$(CURDIR)/tests/tsan.supp
endif

# Vector code is compiled once for each CPU family, and products of bytes once more (dot); the CPU
# chooses at run time (src/base/cpu.h).
VARIANT_SOURCES := $(wildcard src/*/*_variant.c)
MACHINE := $(shell $(CC) -dumpmachine | cut -d- -f1)
ifneq (,$(filter x86_64 amd64,$(MACHINE)))
VARIANTS := plain avx2 avx512
VARIANT_FLAGS_dot = $(VARIANT_FLAGS_avx512) -mavx512vnni
BASE_CFLAGS += -DNY_X86_VARIANTS -fcf-protection
else
VARIANTS := plain
VARIANT_FLAGS_dot := $(if $(filter aarch64,$(MACHINE)),-march=armv8.2-a+dotprod)
endif
# Nobody looks at floating-point exceptions, nor at errno: choices by comparison become masks, not branches, and roots a loop.
VECTOR_FLAGS := -ffp-contract=fast -fno-trapping-math -fno-math-errno
VARIANT_FLAGS_plain  :=
VARIANT_FLAGS_avx2   := -mavx2 -mfma
VARIANT_FLAGS_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mprefer-vector-width=512

# Templates, styles and scripts of reports, which become arrays of bytes.
ASSETS      := $(foreach end,html css js,$(wildcard src/report/*.$(end)))
LIB_SOURCES := $(filter-out src/cli/%.c $(VARIANT_SOURCES),$(wildcard src/*/*.c))
LIB_OBJECTS := $(LIB_SOURCES:src/%.c=$(BUILD)/%.o) \
               $(foreach v,$(VARIANTS),$(VARIANT_SOURCES:src/%.c=$(BUILD)/%.$(v).o)) \
               $(BUILD)/columns/bytes_variant.dot.o \
               $(ASSETS:src/%=$(BUILD)/%.o)
CLI_OBJECTS := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/cli/*.c))
STATIC_LIB  := $(BUILD)/libnystream.a
# The engine alone, which knows no store, file or process (src/README.md, "Layers").
CORE_ROOMS  := base stream linalg columns select spectral nearest graph job model fit factored whole neighbors place maps update
CORE_LIB    := $(BUILD)/libnystream-core.a
SHARED_LIB  := $(BUILD)/libnystream.so.$(VERSION)
CLI         := $(if $(CLI_OBJECTS),$(BUILD)/nystream)
# The transport of peers through MPI, loaded when it is asked for (src/peers/open.c).
MPICC       ?= mpicc
MPI_PLUGIN  := $(BUILD)/libnystream-mpi.so
HAS_MPI     := $(shell command -v $(MPICC) 2>/dev/null)
DOCS        := $(if $(CLI),$(addprefix $(BUILD)/,nystream.1 nystream.bash _nystream))

# Test programs are tests/KIND/*.c; what they share is tests/support/*.c.
programs      = $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/$(1)/*.c))
UNIT_TESTS   := $(call programs,unit)
CORE_TESTS   := $(call programs,core)
FAULT_TESTS  := $(filter %_faults,$(call programs,fault))
LONG_TESTS   := $(call programs,long)
BENCHMARKS   := $(call programs,bench)
FUZZERS      := $(filter $(BUILD)/tests/fuzz/fuzz_%,$(call programs,fuzz))
# Each fuzzer once more, without libFuzzer: tests/fuzz/replay.c runs its corpus.
REPLAYS      := $(FUZZERS:$(BUILD)/tests/fuzz/fuzz_%=$(BUILD)/tests/replay/%)
FAULT_PROGRAMS := $(call programs,fault)
TESTS        := $(UNIT_TESTS) $(CORE_TESTS) $(call programs,property) $(FAULT_PROGRAMS) $(REPLAYS)
CLI_TESTS    := $(wildcard tests/cli/*.bats)
MPI_TESTS    := $(wildcard tests/mpi/*.bats) # which skip where mpirun or the plug-in is not there
MPI_PROGRAMS := $(call programs,mpi)
NEEDED_BY_MPI = $(if $(HAS_MPI),$(MPI_PLUGIN) $(MPI_SMALL) $(MPI_PROGRAMS))
GOLD         := $(if $(SAN),,$(shell command -v ld.gold >/dev/null && echo -fuse-ld=gold))
SUPPORT_OBJECTS := $(patsubst tests/%.c,$(BUILD)/tests/%.o,$(wildcard tests/support/*.c))
TEST_SUPPORT := $(BUILD)/tests/support.a
# The data-tools share data-tools/tool.c; some have a second file.
TOOL_PARTS   := tool cells_npz cells_h5ad hdf5_file hdf5_texts nystream-hdf5 confine
TOOL_SUPPORT := $(patsubst data-tools/%.c,$(BUILD)/data-tools/%.o,$(wildcard data-tools/tool.c))
# A tool that needs more libraries is built where they are (data-tools/setup tools).
PACKAGES_cells_h5ad := hdf5
PACKAGES_hdf5_file  := hdf5
PACKAGES_hdf5_texts := hdf5
PACKAGES_nystream-hdf5 := hdf5
PACKAGES_cells      := $(if $(shell pkg-config --exists hdf5 2>/dev/null && echo yes),hdf5)
PACKAGES_image-rows := libpng libjpeg
ABSENT_TOOLS := $(strip $(foreach tool,nystream-hdf5 image-rows,$(if \
                $(shell pkg-config --exists $(PACKAGES_$(tool)) 2>/dev/null && echo yes),,$(tool))))
# It reads HDF5 for the command, beside which it stands.
HDF5_READER  := $(if $(filter nystream-hdf5,$(ABSENT_TOOLS)),,$(BUILD)/nystream-hdf5)
TOOLS        := $(patsubst %.c,$(BUILD)/%,$(filter-out $(TOOL_PARTS:%=data-tools/%.c) \
                $(ABSENT_TOOLS:%=data-tools/%.c),$(wildcard data-tools/*.c)))
# A make that a test runs sees the variables of this one's command line, and no jobserver.
RUN_TESTS     = BUILD=$(abspath $(BUILD)) MAKEFLAGS='$(if $(MAKEOVERRIDES),-- $(MAKEOVERRIDES))' \
                tests/run

# A first step installs what the goals need and is not there; a second make goes on.
ifndef SETUP_DONE
SETUP   := $(if $(filter check check-% asan ubsan tsan coverage lint,$(MAKECMDGOALS)),check) \
           $(if $(filter check-long check-all,$(MAKECMDGOALS)),browser) \
           $(if $(filter check-python python,$(MAKECMDGOALS)),python) \
           $(if $(filter check-mpi,$(MAKECMDGOALS)),mpi) \
           $(foreach goal,demo fuzz papers deb,$(if $(filter $(goal) $(goal)-long $(goal)-quick,$(MAKECMDGOALS)),$(goal)))
MISSING := $(if $(strip $(SETUP)),$(shell data-tools/setup --missing build $(SETUP)))
endif

ifneq (,$(strip $(MISSING)))
.NOTPARALLEL:
SETUP_GOALS := $(filter-out clean,$(MAKECMDGOALS))
ifneq (,$(filter clean,$(MAKECMDGOALS)))
$(firstword $(SETUP_GOALS)): | clean
endif
$(firstword $(SETUP_GOALS)):
	@data-tools/setup build $(SETUP)
	@$(MAKE) --no-print-directory SETUP_DONE=1 $(SETUP_GOALS)
$(wordlist 2,99,$(SETUP_GOALS)): $(firstword $(SETUP_GOALS)) ; @:
clean:
	rm -rf $(BUILD)
else

# Says where the command is, if this call linked it and has no other goal (no commas: $(if) splits there).
all: $(STATIC_LIB) $(CORE_LIB) $(BUILD)/libnystream.so $(CLI) $(HDF5_READER) ## build the library and the command (default)
	$(if $(BUILT),@echo '$(BUILT) works where it is. To call it by name: export PATH=$(abspath $(BUILD)):$$PATH')

# Objects are made anew when the compiler or its flags change, libraries also when the list of sources does.
$(BUILD)/flags: export NY_FLAGS = $(CC) $(BASE_CFLAGS) $(CFLAGS) $(VECTOR_FLAGS) $(LDFLAGS) $(PACKAGE_LIBS)
$(BUILD)/sources: export NY_FLAGS = $(wildcard src/*/*.c tests/support/*.c)
$(BUILD)/flags $(BUILD)/sources $(BUILD)/mpi-flags: FORCE
ifeq (file,$(origin PACKAGE_LIBS))
	@pkg-config --exists $(PACKAGES) 2>/dev/null || { echo "missing:" $$(data-tools/setup --missing build) \
	  "- install them, or run data-tools/setup as root" >&2; exit 1; }
endif
	@mkdir -p $(@D)
	@printf '%s\n' "$$NY_FLAGS" | cmp -s - $@ || printf '%s\n' "$$NY_FLAGS" >$@
$(BUILD)/sources $(BUILD)/mpi-flags: | $(BUILD)/flags
ifneq (,$(filter clean,$(MAKECMDGOALS)))
$(BUILD)/flags $(BUILD)/sources $(BUILD)/mpi-flags: | clean
endif

$(BUILD)/%.o: src/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(BASE_CFLAGS) $(CFLAGS) $(DEPENDENCIES) -c $< -o $@

$(BUILD)/%.asset.c: src/%
	@mkdir -p $(@D)
	@{ echo 'extern const unsigned char ny_$(subst .,_,$(notdir $<))[];'; \
	  echo 'const unsigned char ny_$(subst .,_,$(notdir $<))[] = {'; \
	  od -An -v -tu1 $< | sed 's/[0-9][0-9]*/&,/g'; echo '0};'; } >$@
$(ASSETS:src/%=$(BUILD)/%.o): $(BUILD)/%.o: $(BUILD)/%.asset.c $(BUILD)/flags
	$(call say,CC) $(CC) $(BASE_CFLAGS) $(CFLAGS) -c $< -o $@

define variant_rule
$(BUILD)/%.$(1).o: src/%.c $(BUILD)/flags
	@mkdir -p $$(@D)
	$$(call say,CC) $(CC) $(BASE_CFLAGS) $(CFLAGS) $(VECTOR_FLAGS) $(VARIANT_FLAGS_$(1)) \
	  -DNY_VARIANT=$(1) $$(DEPENDENCIES) -c $$< -o $$@
endef
$(foreach v,$(VARIANTS) dot,$(eval $(call variant_rule,$(v))))

$(CORE_LIB): $(foreach room,$(CORE_ROOMS),$(filter $(BUILD)/$(room)/%,$(LIB_OBJECTS)))
$(STATIC_LIB): $(LIB_OBJECTS)
$(STATIC_LIB) $(CORE_LIB): $(BUILD)/sources
	@rm -f $@
	$(call say,AR) $(AR) rcsD $@ $(filter %.o,$^)

$(SHARED_LIB): $(LIB_OBJECTS) src/nystream.map $(BUILD)/sources
	$(call say,LINK) $(CC) $(CFLAGS) $(HARDENED_LINK) $(LDFLAGS) $(SHARED_LINK) -o $@ $(filter %.o,$^) $(PACKAGE_LIBS)

$(BUILD)/libnystream.so: $(SHARED_LIB)
	@ln -sf $(<F) $(BUILD)/libnystream.so.$(SOVERSION)
	@ln -sf libnystream.so.$(SOVERSION) $@

$(BUILD)/nystream: $(CLI_OBJECTS) $(STATIC_LIB) $(BUILD)/sources
	$(call say,LINK) $(CC) $(CFLAGS) -pie $(HARDENED_LINK) $(LDFLAGS) -o $@ $(filter-out %/sources,$^) $(PACKAGE_LIBS)
	$(eval BUILT := $(if $(filter-out all,$(MAKECMDGOALS)),,$@))

mpi: $(MPI_PLUGIN) ## the plug-in for jobs of several processes by MPI, with MPICC (mpicc)
$(MPI_PLUGIN): MPI_BLOCK = 1073741824
# Another one, whose calls of MPI carry 1,000 bytes at most, for tests.
MPI_SMALL := $(BUILD)/tests/mpi/libnystream-mpi.so
$(MPI_SMALL): MPI_BLOCK = 1000
$(BUILD)/mpi-flags: export NY_FLAGS = $(MPICC)
$(MPI_PLUGIN) $(MPI_SMALL): src/peers/mpi/plugin.c src/peers/transport.h $(BUILD)/flags $(BUILD)/mpi-flags
	@command -v $(MPICC) >/dev/null || { echo "there is no $(MPICC), the compiler of MPI: install an MPI" \
	  "(data-tools/setup mpi), or name it by MPICC=" >&2; exit 1; }
	@mkdir -p $(@D)
	$(call say,MPI) $(MPICC) -std=c11 -D_GNU_SOURCE $(WARNINGS) $(if $(WERROR),-Werror) -fPIC -fvisibility=hidden \
	  $(HARDENING) -fdebug-prefix-map=$(CURDIR)=. -Isrc -DNY_MPI_BLOCK=$(MPI_BLOCK) $(CFLAGS) $(HARDENED_LINK) \
	  $(LDFLAGS) -shared -o $@ $<

# The command writes its own documentation from its option tables.
docs: $(DOCS)
$(BUILD)/nystream.1: $(BUILD)/nystream
	$(call say,DOC) $< help --man >$@.new && mv $@.new $@
$(BUILD)/nystream.bash: $(BUILD)/nystream
	$(call say,DOC) $< help --bash-completion >$@.new && mv $@.new $@
$(BUILD)/_nystream: $(BUILD)/nystream
	$(call say,DOC) $< help --zsh-completion >$@.new && mv $@.new $@

$(BUILD)/tests/support/%.o: tests/support/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(BASE_CFLAGS) -Itests $(CFLAGS) $(DEPENDENCIES) -c $< -o $@

$(TEST_SUPPORT): $(SUPPORT_OBJECTS) $(BUILD)/sources
	@rm -f $@
	$(call say,AR) $(AR) rcsD $@ $(filter %.o,$^)

$(BUILD)/tests/%: tests/%.c $(TEST_SUPPORT) $(STATIC_LIB)
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(BASE_CFLAGS) -Itests $(CFLAGS) $(TEST_CFLAGS) $(DEPENDENCIES) $(LDFLAGS) -o $@ $< $(FUZZED_OBJECTS) \
	  $(TEST_SUPPORT) $(STATIC_LIB) $(PACKAGE_LIBS) $(TEST_LINKER) $(TEST_LIBS)
# All of the engine is linked, so that nothing in it may need more than these libraries.
$(BUILD)/tests/core/%: tests/core/%.c $(CORE_LIB)
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(BASE_CFLAGS) $(CFLAGS) $(TEST_CFLAGS) $(DEPENDENCIES) $(LDFLAGS) -o $@ $< \
	  -Wl,--whole-archive $(CORE_LIB) -Wl,--no-whole-archive $(CORE_LIBS)
CORE_LIBS := $(filter-out -llmdb -llz4 -lz -ljansson,$(PACKAGE_LIBS))
$(TESTS) $(LONG_TESTS): TEST_LIBS = -lcmocka
# More than a hundred programs with the whole library in each: gold takes half the time, where it is.
$(TESTS): TEST_LINKER = $(GOLD)
$(BUILD)/tests/unit/test_plot: TEST_LIBS = -lcmocka -lcairo # which reads the pictures back
# Properties are checked by loops of their own, which need no -O3: that takes twice as long to compile.
$(TESTS): TEST_CFLAGS = $(if $(filter -O3,$(CFLAGS)),-O2)
# These have no long loops, and are compiled in a quarter of the time.
$(UNIT_TESTS) $(REPLAYS): TEST_CFLAGS = -O1
# They stand in for functions of which the fortified headers have inline versions.
$(FAULT_TESTS): TEST_CFLAGS = -U_FORTIFY_SOURCE
$(FUZZERS): TEST_LIBS = -fsanitize=fuzzer
$(BUILD)/tests/bench/bench_trust: TEST_LIBS = -Wl,--wrap=ny_checksum
REPLAY := $(BUILD)/tests/fuzz/replay.o
$(REPLAY): tests/fuzz/replay.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(BASE_CFLAGS) -Itests $(CFLAGS) $(DEPENDENCIES) -c $< -o $@
$(BUILD)/tests/replay/%: tests/fuzz/fuzz_%.c $(REPLAY) $(TEST_SUPPORT) $(STATIC_LIB)
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(BASE_CFLAGS) -Itests $(CFLAGS) $(TEST_CFLAGS) $(DEPENDENCIES) $(LDFLAGS) -o $@ $< $(REPLAY) \
	  $(FUZZED_OBJECTS) $(TEST_SUPPORT) $(STATIC_LIB) $(PACKAGE_LIBS) $(TEST_LINKER)
# The command line is the command's, not the library's.
FUZZED_COMMAND := $(filter-out $(BUILD)/cli/main.o,$(CLI_OBJECTS))
$(BUILD)/tests/fuzz/fuzz_arguments $(BUILD)/tests/replay/arguments: $(FUZZED_COMMAND)
$(BUILD)/tests/fuzz/fuzz_arguments $(BUILD)/tests/replay/arguments: FUZZED_OBJECTS = $(FUZZED_COMMAND)

tools: $(TOOLS) ## generators, converters, judges (src/guide/files-and-formats.md)
	$(if $(ABSENT_TOOLS),@echo "not built: $(ABSENT_TOOLS); data-tools/setup tools installs their libraries")
$(BUILD)/data-tools/%.o: data-tools/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC) $(CC) $(BASE_CFLAGS) $(TOOL_CFLAGS) $(CFLAGS) $(DEPENDENCIES) -c $< -o $@
TOOL_CFLAGS = $(if $(PACKAGES_$*),$(shell pkg-config --cflags $(PACKAGES_$*))) $(DEFINES_$*)
TOOL_LIBS   = $(if $(PACKAGES_$*),$(shell pkg-config --libs $(PACKAGES_$*)))
$(BUILD)/data-tools/%: data-tools/%.c $(TOOL_SUPPORT) $(STATIC_LIB)
	@mkdir -p $(@D)
	$(call say,LINK) $(CC) $(BASE_CFLAGS) $(TOOL_CFLAGS) $(CFLAGS) $(DEPENDENCIES) $(LDFLAGS) -o $@ $< \
	  $(filter %.o,$^) $(STATIC_LIB) $(TOOL_LIBS) $(PACKAGE_LIBS)
$(BUILD)/data-tools/cells: $(addprefix $(BUILD)/data-tools/,cells_npz.o $(if $(HDF5_READER),cells_h5ad.o))
# A sanitizer takes memory and makes calls that limits would refuse.
DEFINES_confine = -DNY_CONFINED=$(if $(filter -fsanitize%,$(CFLAGS)),0,1) -DNY_AUDIT_ARCH=$(or $(patsubst \
  x86_64,AUDIT_ARCH_X86_64,$(filter x86_64,$(MACHINE))),$(patsubst aarch64,AUDIT_ARCH_AARCH64,$(filter aarch64,$(MACHINE))),0)
$(BUILD)/nystream-hdf5: $(addprefix $(BUILD)/data-tools/,nystream-hdf5.o confine.o hdf5_file.o hdf5_texts.o tool.o) $(STATIC_LIB)
	$(call say,LINK) $(CC) $(CFLAGS) -pie $(HARDENED_LINK) $(LDFLAGS) -Wl,--as-needed -Wl,--gc-sections -o $@ $^ \
	  $(shell pkg-config --libs hdf5) $(PACKAGE_LIBS)

demo: all tools ## 70,000 real images: import, fit, certificate, held-out accuracy, picture
	@BUILD=$(BUILD) data-tools/demo

guide: all ## the guide as HTML, with a reference: build/guide/index.html (data-tools/setup guide)
	@BUILD=$(BUILD) data-tools/guide/build
guide-pictures: all tools ## the pictures of the guide anew, by the commands on its pages: src/guide/pictures
	@BUILD=$(BUILD) data-tools/guide/pictures

PAPERS := ouimet-2005 talwalkar-2008 li-2010 homrighausen-2011 talwalkar-2013 accuracy
papers: all tools ## the papers' tables beside ours, on the data in NYSTREAM_DATA: build/papers.html
papers-quick: all tools ## the same page in minutes, what was not run before at reduced sizes
papers-quick: PAPERS_FLAGS += --quick
papers papers-quick:
	@failed=; for paper in $(PAPERS); do echo "== $$paper"; NYSTREAM=$(abspath $(BUILD)/nystream) \
	  nice data-tools/papers/$$paper $(PAPERS_FLAGS) -o $(BUILD)/papers || failed=1; done; \
	  data-tools/papers/page $(BUILD)/papers $(BUILD)/papers.html && [ -z "$$failed" ]

# check is what a change is tried with, in two minutes; what takes long runs with the faults: tests
# of the command line with the tag slow, and these programs.
SLOW_PROGRAMS := $(addprefix $(BUILD)/tests/, \
                 property/test_certificate property/test_component_errors property/test_contract_crossed \
                 property/test_deflate property/test_ensemble property/test_evaluate \
                 property/test_evaluate_matrix property/test_exact_neighbors property/test_factored \
                 property/test_factored_killed property/test_factored_scaled property/test_footprint \
                 property/test_forecast property/test_gamma_grid property/test_greedy \
                 property/test_greedy_size property/test_kmeans property/test_krylov \
                 property/test_landmark_points property/test_lobpcg property/test_numerics \
                 property/test_online property/test_probe property/test_rpcholesky property/test_small_values \
                 property/test_update property/test_update_memory unit/test_api_interrupted \
                 unit/test_columns_features unit/test_columns_sparse unit/test_columns_tile unit/test_exp \
                 unit/test_graph_order unit/test_graph_paths unit/test_hostile_checkpoints \
                 unit/test_linalg_eigen unit/test_nearest_knn unit/test_nearest_rows unit/test_nearest_tree \
                 unit/test_peers_folder unit/test_select_greedy unit/test_select_shards \
                 unit/test_spectral_restarted unit/test_store_ingest unit/test_whole_kernel_product)
QUICK_TESTS  := $(filter-out $(FAULT_PROGRAMS) $(SLOW_PROGRAMS),$(TESTS))
FAULT_SLICE  := $(addprefix $(BUILD)/tests/fault/test_,fit_faults power_cut store_damage) \
                $(BUILD)/tests/property/test_component_errors
SLICED        = NYSTREAM_FEW_FAULTS=1 NYSTREAM_POWER_CUTS=40
# A library of a sanitizer is not loaded into Python.
PYTHON_TESTS := $(if $(NYSTREAM_SANITIZER),,$(wildcard tests/python/test_*.py))
SLOW_TESTS   := $(shell grep -lE '^. bats (test|file)_tags=slow' $(CLI_TESTS))

check: all tools docs $(QUICK_TESTS) $(FAULT_SLICE) $(NEEDED_BY_MPI) ## the tests, in two minutes: units, properties, the command, some faults
	@$(SLICED) TAGS='!slow' $(RUN_TESTS) $(QUICK_TESTS) $(FAULT_SLICE) $(CLI_TESTS) $(MPI_TESTS) $(if $(PYTHON_TESTS),tests/python)

check-python: all ## all tests of the Python package, by Debian's python3 (data-tools/setup python)
	@$(RUN_TESTS) $(PYTHON_TESTS)

check-mpi: all $(NEEDED_BY_MPI) ## all tests of jobs of several processes by MPI, and on hosts in namespaces (data-tools/setup mpi)
	@$(RUN_TESTS) $(MPI_TESTS)

check-faults: all tools docs $(FAULT_PROGRAMS) $(SLOW_PROGRAMS) $(NEEDED_BY_MPI) | $(filter check,$(MAKECMDGOALS)) ## kills, power cuts, damages, failed calls, and what takes long
	@TAGS=slow $(RUN_TESTS) $(FAULT_PROGRAMS) $(SLOW_PROGRAMS) $(SLOW_TESTS)

check-long: all tools $(TESTS) $(LONG_TESTS) ## the tests that take minutes; ends with what they counted
	@TEST_SECONDS=$${TEST_SECONDS:-3600} $(RUN_TESTS) $(LONG_TESTS) $(wildcard tests/long/*.bats)

check-all: ## check, check-faults, check-long, asan, ubsan
	@for goal in check check-faults check-long asan ubsan; do \
	  echo "== $$goal"; $(MAKE) --no-print-directory $$goal || exit 1; done

dev: ## a build for the debugger in build/dev, warnings are errors
	@$(MAKE) --no-print-directory all BUILD=build/dev CFLAGS='-O1 -g3' WERROR=1

asan: ## check and check-faults under AddressSanitizer
	@$(MAKE) --no-print-directory check check-faults SAN=address
ubsan: ## the same under UndefinedBehaviorSanitizer
	@$(MAKE) --no-print-directory check check-faults SAN=undefined
tsan: ## unit tests under ThreadSanitizer
	@OPENBLAS_NUM_THREADS=1 $(MAKE) --no-print-directory check-unit SAN=thread
# ThreadSanitizer ends a program that loads a library at run time while OpenBLAS is there (it then
# finds that one twice); these load cairo, or a plug-in.
check-unit: UNITS := $(if $(filter thread,$(SAN)),$(filter-out %/test_given %/test_page %/test_peers_open %/test_plot,$(UNIT_TESTS)),$(UNIT_TESTS))
check-unit: $(UNIT_TESTS)
	@$(RUN_TESTS) $(UNITS)

COVERED := 90
coverage: ## check and check-faults with gcov: lines covered, file by file; at least 90 %
	@find build/coverage -name '*.gcda' -delete 2>/dev/null || true
	+@NYSTREAM_SANITIZER=coverage $(MAKE) --no-print-directory check check-faults BUILD=build/coverage \
	  CFLAGS='-O1 -g --coverage'
	@tests/coverage build/coverage $(COVERED)

FUZZ_SECONDS ?= 60
fuzz: ## each fuzzer for FUZZ_SECONDS (60), with clang
	@$(MAKE) --no-print-directory fuzz-run BUILD=build/fuzz CC=clang \
	  CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all \
	  -fno-sanitize=pointer-overflow' # clang counts NULL + 0 as one
fuzz-long: ## each fuzzer for an hour
	@$(MAKE) --no-print-directory fuzz FUZZ_SECONDS=3600
fuzz-run: $(FUZZERS)
	@tests/fuzz/run $(FUZZ_SECONDS) $(FUZZERS)

bench: all tools $(BENCHMARKS) ## speed, as ratios measured in one run (tests/bench/run)
	@BUILD=$(BUILD) tests/bench/run
	@BUILD=$(BUILD) tests/bench/plans
bench-plans: all tools $(BENCHMARKS) ## seconds that plans foretell against the wall of fits (tests/bench/plans)
	@BUILD=$(BUILD) tests/bench/plans
bench-beside: all tools ## against scikit-learn and others, each up to where it ends (tests/bench/beside)
	@BUILD=$(BUILD) tests/bench/beside
bench-wide: all tools ## exact spectra of wide and sparse data, scipy beside (tests/bench/wide)
	@BUILD=$(BUILD) tests/bench/wide
bench-python: all tools ## times of the Python package, and scikit-learn beside it (tests/bench/python)
	@BUILD=$(BUILD) tests/bench/python
bench-large: all tools $(BENCHMARKS) $(NEEDED_BY_MPI) ## fits of 3 and 31 million points, and over shards (NYSTREAM_DATA, tests/bench/large, shards)
	@BUILD=$(BUILD) tests/bench/large
	@BUILD=$(BUILD) tests/bench/shards

lint: all ## layers, circles, names, sizes, symbols, options against help; V=1: lines of all rooms
	@BUILD=$(abspath $(BUILD)) V=$(V) tests/lint/run

format: ## clang-format on every source
	clang-format -i $(shell git ls-files '*.[ch]')

# Converters, to which messages send people: installed as nystream-NAME, those whose libraries are here.
CONVERTERS := $(filter $(patsubst %,$(BUILD)/data-tools/%,image-rows ply-rows wfdb-rows \
                windows),$(TOOLS))

# What a static program needs beside the library. Libraries given by hand (data-tools/recipes) may
# have no files of pkg-config, without which it would not even say how to link with the shared one.
PC_PACKAGES := $(if $(filter file,$(origin PACKAGE_LIBS)),$(LINKED))
PC_LIBS     := $(if $(PC_PACKAGES),-lm -lpthread -ldl,$(PACKAGE_LIBS))

fill = sed -e 's|@prefix@|$(PREFIX)|' -e 's|@libdir@|$(libdir)|' -e 's|@includedir@|$(includedir)|' -e 's|@version@|$(VERSION)|' \
       -e 's|@soversion@|$(SOVERSION)|' -e 's|@packages@|$(PC_PACKAGES)|' -e 's|@libraries@|$(PC_LIBS)|' \
       -e "s|@headers@|$$(realpath -m --relative-to=$(libdir) $(includedir))|" src/$(1).in >$(DESTDIR)$(2)/$(1) && \
       chmod 644 $(DESTDIR)$(2)/$(1)
install: all docs $(CONVERTERS) ## honours DESTDIR, PREFIX and the GNU directory variables
	$(INSTALL) -d $(addprefix $(DESTDIR),$(libdir) $(includedir) $(pkgconfigdir) $(cmakedir))
	$(INSTALL) -m 644 $(STATIC_LIB) $(DESTDIR)$(libdir)
	$(INSTALL) -m 755 $(SHARED_LIB) $(wildcard $(MPI_PLUGIN)) $(DESTDIR)$(libdir)
	ln -sf $(notdir $(SHARED_LIB)) $(DESTDIR)$(libdir)/libnystream.so.$(SOVERSION)
	ln -sf libnystream.so.$(SOVERSION) $(DESTDIR)$(libdir)/libnystream.so
	$(INSTALL) -m 644 $(wildcard include/*.h) $(DESTDIR)$(includedir)
	$(call fill,nystream.pc,$(pkgconfigdir))
	$(call fill,nystream-config.cmake,$(cmakedir))
	$(call fill,nystream-config-version.cmake,$(cmakedir))
ifneq (,$(CLI))
	$(INSTALL) -d $(addprefix $(DESTDIR),$(bindir) $(mandir)/man1 $(bashdir) $(zshdir))
	$(INSTALL) -m 755 $(CLI) $(HDF5_READER) $(DESTDIR)$(bindir)
	for tool in $(notdir $(CONVERTERS)); do \
	  $(INSTALL) -m 755 $(BUILD)/data-tools/$$tool $(DESTDIR)$(bindir)/nystream-$$tool || exit 1; done
	$(INSTALL) -m 644 $(BUILD)/nystream.1 $(DESTDIR)$(mandir)/man1
	$(INSTALL) -m 644 $(BUILD)/nystream.bash $(DESTDIR)$(bashdir)/nystream
	$(INSTALL) -m 644 $(BUILD)/_nystream $(DESTDIR)$(zshdir)
endif
ifeq (,$(DESTDIR))
	@PATH="$$PATH:/usr/sbin:/sbin"; [ "$$(id -u)" -ne 0 ] || ldconfig; \
	  ldconfig -p 2>/dev/null | grep -qF ' $(libdir)/libnystream.so.$(SOVERSION)' || \
	  echo "The loader does not look in $(libdir) yet: run ldconfig as root, or set LD_LIBRARY_PATH=$(libdir)" \
	       "for programs that use the library. The command needs neither."
endif

uninstall: ## removes what install put there
	rm -f $(addprefix $(DESTDIR),$(bindir)/nystream $(addprefix $(bindir)/nystream-,hdf5 \
	  image-rows ply-rows wfdb-rows windows) $(addprefix $(includedir)/,nystream.h nystream_memory.h \
	  nystream_sums.h) \
	  $(addprefix $(libdir)/,libnystream.a libnystream.so libnystream.so.$(SOVERSION) \
	  libnystream.so.$(VERSION) libnystream-mpi.so) $(pkgconfigdir)/nystream.pc $(mandir)/man1/nystream.1 \
	  $(addprefix $(cmakedir)/nystream-config,.cmake -version.cmake) $(bashdir)/nystream $(zshdir)/_nystream)
	rmdir $(DESTDIR)$(cmakedir) 2>/dev/null || :

python: all ## a wheel of the Python package in build/, with the libraries inside; its tag is what they allow
	@/usr/bin/python3 data-tools/wheels.py bundle $(BUILD)

deb: all docs $(if $(HAS_MPI),mpi) ## Debian packages nystream, libnystream-dev, python3-nystream, nystream-mpi where mpicc is
	@MAKE='$(MAKE)' BUILD=$(BUILD) VERSION=$(VERSION) SOVERSION=$(SOVERSION) data-tools/deb

# The last commit, so that it depends on nothing that lies about; its date is that of all files. With the
# file PKG-INFO an index of Python packages takes it, too. Recipes name it where it will be downloaded from.
DIST      := nystream-$(VERSION).tar.gz
DIST_FROM ?= file://$(abspath $(BUILD))
dist: ## the sources of the last commit in build/nystream-VERSION.tar.gz, and recipes for its address DIST_FROM
	@[ -e .git ] || { echo "make dist packs the last commit, and $(CURDIR) is no clone of a git repository" >&2; exit 1; }
	@rm -rf $(BUILD)/recipes && mkdir -p $(BUILD)/recipes/commit
	git archive HEAD | tar -xC $(BUILD)/recipes/commit
	/usr/bin/python3 $(BUILD)/recipes/commit/data-tools/wheels.py pkg-info >$(BUILD)/recipes/PKG-INFO
	git archive --prefix=nystream-$(VERSION)/ --add-file=$(BUILD)/recipes/PKG-INFO \
	  --add-file=$(BUILD)/recipes/commit/data-tools/pyproject.toml HEAD | gzip -n9 >$(BUILD)/$(DIST)
	cd $(BUILD)/recipes && mv commit/data-tools/recipes/* . && rm -r commit PKG-INFO && find . -type f -exec sed -i \
	  -e 's|@version@|$(VERSION)|' -e 's|@url@|$(DIST_FROM)/$(DIST)|' -e "s|@sha256@|$$(sha256sum <../$(DIST) | cut -c-64)|" {} +

clean: ## removes build/
	rm -rf $(BUILD)

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-15s %s\n", $$1, $$2}' Makefile
	@echo 'Variables: BUILD CC CFLAGS LDFLAGS WERROR=1 V=1 DESTDIR PREFIX FUZZ_SECONDS JOBS'

ALL_OBJECTS := $(LIB_OBJECTS) $(CLI_OBJECTS) $(SUPPORT_OBJECTS) $(REPLAY) $(TOOL_PARTS:%=$(BUILD)/data-tools/%.o) $(TESTS) \
               $(LONG_TESTS) $(BENCHMARKS) $(FUZZERS) $(MPI_PROGRAMS) $(TOOLS)
-include $(addsuffix .d,$(ALL_OBJECTS))
endif

.SECONDARY:
.DELETE_ON_ERROR:
FORCE:
.PHONY: all docs tools mpi demo guide guide-pictures papers papers-quick check check-mpi check-python check-unit check-faults check-long check-all dev asan ubsan tsan coverage \
        fuzz fuzz-long fuzz-run bench bench-plans bench-beside bench-wide bench-python bench-large lint format install uninstall python deb dist clean help FORCE
