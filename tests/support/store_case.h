/* Shared by tests of the store: a directory of its own, made-up rows, and plain imports. */
#ifndef TESTS_SUPPORT_STORE_CASE_H
#define TESTS_SUPPORT_STORE_CASE_H

#include "base/dtype.h"
#include "store/store.h"

/* Calls an operation of the rows of a store, such as ROWS_OF(store, stats, &stats). */
#define ROWS_OF(store, call, ...) ny_store_rows(store)->ops->call(ny_store_rows(store), __VA_ARGS__)

/* A new directory below $TMPDIR, else in memory (/dev/shm), else in /tmp; its removal with all that
 * is in it. */
void case_directory(char path[128]);
void case_remove(const char *path);
void case_copy(const char *from, const char *to);

/* Element (row, column) of data set `seed`, exact in every type: 0…255. `noisy`: of f32 and f64,
 * full precision, which does not compress. */
double case_value(unsigned seed, uint64_t row, uint64_t column);
void case_rows(void *out, unsigned seed, enum ny_dtype dtype, uint64_t d, uint64_t first,
               uint64_t count);
double case_label(unsigned seed, uint64_t row);
uint64_t case_source(unsigned seed, uint64_t row);

/* Writes value i of an array of that type. */
static inline void case_put(void *array, enum ny_dtype dtype, size_t i, double value)
{
    if (dtype == NY_U8) ((uint8_t *)array)[i] = (uint8_t)value;
    if (dtype == NY_I16) ((int16_t *)array)[i] = (int16_t)value;
    if (dtype == NY_F32) ((float *)array)[i] = (float)value;
    if (dtype == NY_F64) ((double *)array)[i] = value;
}

/* An import of rows first … first+count−1 of data set `seed`, in batches; begins where an earlier
 * run of it was killed. Returns the first status that is not NY_OK. */
struct case_import {
    unsigned seed;
    uint64_t first, count, batch;
    struct ny_ingest_spec spec;
    int no_commit;
};
int case_import(struct ny_store *store, const struct case_import *import);

/* Such an import, of bytes with labels, which is appended. */
static inline struct case_import labelled_bytes(uint64_t d, uint64_t first, uint64_t count)
{
    return (struct case_import){
        .seed = 5,
        .first = first,
        .count = count,
        .batch = 500,
        .spec = {.d = d, .dtype = NY_U8, .labels = true, .append = true, .fingerprint = first + 1}};
}

/* An import of rows at once. */
int case_ingest(struct ny_store *store, const struct ny_ingest_spec *spec,
                const struct ny_ingest_rows *rows);

#endif
