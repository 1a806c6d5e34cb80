/* IDX files. */
#include "fuzz/fuzz_reader.h"

FUZZ_READER({.format = "idx"}, {.format = "idx", .nan_drop = true, .dtype = NY_F32})
