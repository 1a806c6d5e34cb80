/* LIBSVM files. */
#include "fuzz/fuzz_reader.h"

FUZZ_READER({.format = "libsvm"}, {.format = "libsvm", .dims = 9, .nan_drop = true},
            {.format = "libsvm", .dims = 4, .dtype = NY_I16})
