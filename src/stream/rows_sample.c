#include "stream/rows_sample.h"

#include "base/layout.h"
#include "base/random.h"
#include "stream/rows_memory.h"

/* Rows come from so many units at least, where there are as many: too few would be too much alike
 * where rows were stored in some order. */
enum { UNITS_LEAST = 128 };

struct ny_row_sample {
    struct ny_context *ctx;
    size_t count;
    uint64_t *row;        /* which they are, ascending */
    struct ny_layout own;
    void *values;         /* dense rows, or: */
    struct ny_csr csr;    /* sparse ones */
    struct ny_rows *rows; /* what reads them */
};

/* ---- which rows ----------------------------------------------------------------------------- */

/* Returns the number drawn from the part j of `count` equal parts of 0 … total − 1. */
static uint64_t draw(uint64_t j, uint64_t count, uint64_t total, double hash)
{
    uint64_t first = (uint64_t)((double)total / (double)count * (double)j);
    uint64_t end = (uint64_t)((double)total / (double)count * (double)(j + 1));

    if (j + 1 == count) end = total;
    return first + (uint64_t)(hash * (double)(end - first));
}

/* Draws a unit of each part of the units, and a row of each part of their rows. */
static int draw_rows(struct ny_row_sample *sample, uint64_t n, uint64_t seed)
{
    uint64_t units = ny_units_of(n), taken = 2 * ny_units_of(sample->count), rows;
    uint64_t *unit;

    if (taken < UNITS_LEAST) taken = UNITS_LEAST;
    if (taken > units) taken = units;
    unit = ny_calloc(sample->ctx, NY_MEM_STORE, (size_t)taken, sizeof(*unit));
    sample->row = ny_lay(&sample->own, NY_MEM_STORE, sample->count, sizeof(*sample->row));
    if (unit && sample->row) {
        for (uint64_t j = 0; j < taken; j++)
            unit[j] = draw(j, taken, units, ny_hash01(seed, NY_STREAM_SAMPLE, j));
        rows = taken * NY_UNIT_ROWS;
        if (unit[taken - 1] == units - 1) rows -= units * NY_UNIT_ROWS - n;
        for (uint64_t j = 0; j < sample->count; j++) {
            uint64_t at =
                draw(j, sample->count, rows, ny_hash01(seed, NY_STREAM_SAMPLE, units + j));

            sample->row[j] = unit[at / NY_UNIT_ROWS] * NY_UNIT_ROWS + at % NY_UNIT_ROWS;
        }
    }
    ny_free(sample->ctx, unit);
    return unit && sample->row ? NY_OK : NY_EBUDGET;
}

/* ---- their values --------------------------------------------------------------------------- */

static int take_sparse(void *arg, size_t position, struct ny_sparse row)
{
    struct ny_row_sample *sample = arg;

    (void)position; /* they are visited in the order in which they lie, which is that of the list */
    return ny_csr_add(&sample->csr, sample->ctx, NY_MEM_STORE, row);
}

/* Copies the rows, and describes the copy. */
static int copy(struct ny_row_sample *sample, struct ny_rows *X, const struct ny_rows_info *info,
                struct ny_kept_rows *kept)
{
    size_t slots = (size_t)info->row_slots, bytes = ny_rows_row_bytes(info);
    int err;

    *kept = (struct ny_kept_rows){.dtype = info->dtype, .n = sample->count, .d = (size_t)info->d};
    kept->how.rows = NY_ROWS_NONE;
    if (slots) {
        sample->csr.dtype = info->dtype;
        err = X->ops->visit(X, slots, sample->row, sample->count, take_sparse, sample);
        kept->values.at = sample->csr.value;
        kept->row_start = sample->csr.start;
        kept->column = sample->csr.index;
        kept->index_bytes = kept->start_bytes = sizeof(uint32_t);
        return err;
    }
    sample->values = ny_lay(&sample->own, NY_MEM_STORE, sample->count, bytes);
    if (!sample->values) return NY_EBUDGET;
    kept->values = ny_borrowed_of(sample->values, sample->count * bytes);
    return X->ops->gather(X, 0, sample->row, sample->count, sample->values);
}

/* ---- the sample ----------------------------------------------------------------------------- */

struct ny_rows *ny_row_sample_rows(const struct ny_row_sample *sample)
{
    return sample->rows;
}

void ny_row_sample_free(struct ny_row_sample *sample)
{
    if (!sample) return;
    ny_memory_rows_free(sample->rows);
    ny_csr_release(&sample->csr, sample->ctx);
    ny_layout_free(&sample->own);
    ny_free(sample->ctx, sample);
}

int ny_row_sample_take(struct ny_row_sample **out, struct ny_rows *X, uint64_t count, uint64_t seed)
{
    struct ny_row_sample *sample = ny_calloc(X->ctx, NY_MEM_STORE, 1, sizeof(*sample));
    struct ny_memory_rows memory = {.name = X->name};
    struct ny_rows_info info;
    int err = sample ? X->ops->info(X, &info) : NY_EBUDGET;

    *out = sample;
    if (err) goto done;
    sample->ctx = sample->own.ctx = X->ctx;
    sample->count = (size_t)(count < info.n ? count : info.n);
    err = draw_rows(sample, info.n, seed);
    if (!err) err = copy(sample, X, &info, &memory.kept);
    if (!err) err = ny_rows_of_memory(&sample->rows, X->ctx, &memory);
done:
    if (!err) return NY_OK;
    ny_row_sample_free(sample);
    *out = NULL;
    return err;
}
