/* Fuzzes the reader of MatrixMarket files, streamed and by way of the external sort. */
#include "fuzz/fuzz_reader.h"

FUZZ_READER({.format = "mtx"}, {.format = "mtx", .nan_drop = true, .dtype = NY_I16},
            {.format = "mtx", .transpose = true, .dtype = NY_F64})
