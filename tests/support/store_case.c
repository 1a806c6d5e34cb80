#include "support/store_case.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

void case_directory(char path[128])
{
    const char *base = getenv("TMPDIR");

    if (!base || strlen(base) > 96) base = access("/dev/shm", W_OK | X_OK) ? "/tmp" : "/dev/shm";
    snprintf(path, 128, "%s/nystore.XXXXXX", base);
    if (!mkdtemp(path)) abort();
}

static void run(const char *const command[])
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        execvp(command[0], (char *const *)(uintptr_t)command);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0) abort();
}

void case_remove(const char *path)
{
    run((const char *const[]){"rm", "-rf", "--", path, NULL});
}

void case_copy(const char *from, const char *to)
{
    run((const char *const[]){"cp", "-a", "--", from, to, NULL});
}

/* Runs of equal values, as images have: it compresses; every fifth column does not. */
double case_value(unsigned seed, uint64_t row, uint64_t column)
{
    uint64_t place = column % 5 ? row / 7 * 1000003 + column / 8 : row * 1000003 + column;
    uint64_t hash = (place + seed * 7919ULL + 1) * 0x9E3779B97F4A7C15ULL;

    hash ^= hash >> 29;
    hash *= 0xBF58476D1CE4E5B9ULL;
    return (double)(hash >> 56);
}

void case_rows(void *out, unsigned seed, enum ny_dtype dtype, uint64_t d, uint64_t first,
               uint64_t count)
{
    for (uint64_t i = 0; i < count * d; i++) {
        double value = case_value(seed, first + i / d, i % d);

        switch (dtype) {
        case NY_U8: ((uint8_t *)out)[i] = (uint8_t)value; break;
        case NY_I16: ((int16_t *)out)[i] = (int16_t)(100 * value - 12800); break;
        case NY_F32: ((float *)out)[i] = (float)(value / 3 - 40); break;
        case NY_F64: ((double *)out)[i] = value / 7 - 20; break;
        case NY_GENOTYPE: ((uint8_t *)out)[i] = (uint8_t)value % 4; break;
        case NY_DTYPE_NONE: break;
        }
    }
}

double case_label(unsigned seed, uint64_t row)
{
    return (double)((row * 31 + seed) % 10);
}

uint64_t case_source(unsigned seed, uint64_t row)
{
    return row * 2 + seed % 2;
}

static int feed(struct ny_ingest *ingest, const struct case_import *import, uint64_t consumed)
{
    size_t bytes = import->batch * import->spec.d * ny_dtype_size(import->spec.dtype);
    char *values = malloc(bytes);
    double *labels = malloc(import->batch * sizeof(*labels));
    uint64_t *source = malloc(import->batch * sizeof(*source));
    int err = NY_OK;

    for (uint64_t at = consumed; !err && at < import->count; at += import->batch) {
        uint64_t count = import->count - at < import->batch ? import->count - at : import->batch;
        uint64_t row = import->first + at;
        struct ny_ingest_rows rows = {.values = values, .count = count, .consumed = at + count};

        case_rows(values, import->seed, import->spec.dtype, import->spec.d, row, count);
        for (uint64_t i = 0; i < count; i++) {
            labels[i] = case_label(import->seed, row + i);
            source[i] = case_source(import->seed, row + i);
        }
        if (import->spec.labels) rows.labels = labels;
        if (import->spec.source) rows.source = source;
        err = ny_ingest_rows(ingest, &rows);
    }
    free(source);
    free(labels);
    free(values);
    return err;
}

int case_import(struct ny_store *store, const struct case_import *import)
{
    struct ny_ingest *ingest;
    uint64_t consumed;
    int err = ny_ingest_begin(&ingest, store, &import->spec, &consumed);

    if (err) return err;
    err = feed(ingest, import, consumed);
    if (!err && !import->no_commit) err = ny_ingest_commit(ingest);
    ny_ingest_free(ingest);
    return err;
}

int case_ingest(struct ny_store *store, const struct ny_ingest_spec *spec,
                const struct ny_ingest_rows *rows)
{
    struct ny_ingest *ingest;
    uint64_t consumed;
    int err = ny_ingest_begin(&ingest, store, spec, &consumed);

    if (!err) err = ny_ingest_rows(ingest, rows);
    if (!err) err = ny_ingest_commit(ingest);
    ny_ingest_free(ingest);
    return err;
}
