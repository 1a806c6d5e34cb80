/* Files of any kind: the guess of the format, and gzip. */
#include "fuzz/fuzz_reader.h"

FUZZ_READER({.nan_drop = true}, {.dims = 2})
