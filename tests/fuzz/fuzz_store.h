/* A store of a fuzzer's own, in memory where there is room, removed at the end. */
#ifndef NY_TESTS_FUZZ_STORE_H
#define NY_TESTS_FUZZ_STORE_H

#include "fuzz/fuzz.h"
#include "store/store_private.h"
#include "support/store_case.h"

static char fuzz_folder[128], fuzz_store_path[160];

static inline void fuzz_remove(void)
{
    case_remove(fuzz_folder);
}

static inline void fuzz_make_folder(void)
{
    case_directory(fuzz_folder);
    snprintf(fuzz_store_path, sizeof(fuzz_store_path), "%s/s.nys", fuzz_folder);
    atexit(fuzz_remove);
}

#endif
