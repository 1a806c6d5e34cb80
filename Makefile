# nystream: `make`, `make demo`, `make check`; `make help` lists the rest.

VERSION := $(shell awk '/define NY_VERSION_(MAJOR|MINOR|PATCH)/ {v = v s $$3; s = "."} END {print v}' \
             include/nystream.h)
BUILD   ?= build
CC      ?= cc
PACKAGES := lmdb openblas lapacke liblz4 libxxhash zlib jansson
WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion
CFLAGS  ?= -O3 -g
BASE_CFLAGS = -std=c11 -D_GNU_SOURCE $(WARNINGS) $(if $(WERROR),-Werror) -fPIC -fvisibility=hidden \
              -ffp-contract=off -Iinclude -Isrc $(PACKAGE_CFLAGS) -MMD -MP
PACKAGE_CFLAGS := $(shell pkg-config --cflags $(PACKAGES) 2>/dev/null)
PACKAGE_LIBS   := $(shell pkg-config --libs $(PACKAGES) 2>/dev/null) -lm -lpthread

# Vector code is compiled once for each CPU family and chosen at run time (src/base/cpu.h).
VARIANT_SOURCES := $(wildcard src/columns/*_variant.c)
ifneq (,$(filter x86_64 amd64,$(shell $(CC) -dumpmachine | cut -d- -f1)))
VARIANTS := plain avx2 avx512
BASE_CFLAGS += -DNY_X86_VARIANTS
else
VARIANTS := plain
endif
VARIANT_FLAGS_plain  :=
VARIANT_FLAGS_avx2   := -mavx2 -mfma
VARIANT_FLAGS_avx512 := -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma -mprefer-vector-width=512

LIB_SOURCES := $(filter-out src/cli/%.c $(VARIANT_SOURCES),$(wildcard src/*/*.c))
LIB_OBJECTS := $(LIB_SOURCES:src/%.c=$(BUILD)/%.o) \
               $(foreach v,$(VARIANTS),$(VARIANT_SOURCES:src/%.c=$(BUILD)/%.$(v).o))
CLI_OBJECTS := $(patsubst src/%.c,$(BUILD)/%.o,$(wildcard src/cli/*.c))
TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*.c tests/property/*.c tests/fault/*.c))

all: $(BUILD)/libnystream.a $(if $(CLI_OBJECTS),$(BUILD)/nystream)

$(BUILD)/%.o: src/%.c
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -c $< -o $@

define variant_rule
$(BUILD)/%.$(1).o: src/%.c
	@mkdir -p $$(@D)
	$(CC) $(BASE_CFLAGS) $(CFLAGS) -ffp-contract=fast $(VARIANT_FLAGS_$(1)) -DNY_VARIANT=$(1) -c $$< -o $$@
endef
$(foreach v,$(VARIANTS),$(eval $(call variant_rule,$(v))))

$(BUILD)/libnystream.a: $(LIB_OBJECTS)
	@rm -f $@
	$(AR) rcs $@ $^

$(BUILD)/nystream: $(CLI_OBJECTS) $(BUILD)/libnystream.a
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(PACKAGE_LIBS)

$(BUILD)/tests/%: tests/%.c $(BUILD)/libnystream.a
	@mkdir -p $(@D)
	$(CC) $(BASE_CFLAGS) -Itests $(CFLAGS) $(LDFLAGS) -o $@ $< $(BUILD)/libnystream.a $(PACKAGE_LIBS) -lcmocka

check: all $(TESTS)
	@for t in $(TESTS); do $$t || exit 1; done

clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
.PHONY: all check clean
