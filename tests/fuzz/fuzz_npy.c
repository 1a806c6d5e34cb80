/* Fuzzes the reader of npy files. */
#include "fuzz/fuzz_reader.h"

FUZZ_READER({.format = "npy"}, {.format = "npy", .nan_drop = true, .dtype = NY_I16},
            {.format = "npy", .columns = "1-2", .dtype = NY_F64, .nan_drop = true})
