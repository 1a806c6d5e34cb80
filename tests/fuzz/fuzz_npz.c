/* Fuzzes the reader of scipy's .npz files, by rows and by way of the external sort. */
#include "fuzz/fuzz_reader.h"

FUZZ_READER({.format = "npz"}, {.format = "npz", .nan_drop = true, .dtype = NY_I16},
            {.format = "npz", .transpose = true, .dtype = NY_F64})
