/* Fuzzes the reader of fvecs and bvecs files. */
#include "fuzz/fuzz_reader.h"

FUZZ_READER({.format = "fvecs"}, {.format = "fvecs", .nan_drop = true, .dtype = NY_F64},
            {.format = "bvecs", .columns = "1"})
