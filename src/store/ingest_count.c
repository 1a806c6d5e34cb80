/*
 * Counts rows of an import in the statistics, each thread a share of the columns, so that the sums
 * do not depend on the number of threads.
 *
 * Sparse rows fill one block at a time, which one thread packs, in half of the time that counting
 * takes one. So packing is one of the tasks of the crew there, the first, and shares of the columns
 * are small enough to fill up the other threads.
 *
 * Statistics are of what readers see: where rows are prepared (base/prepare.h), each block is
 * prepared first, each thread a share of the rows, into room for one block; here a value that has
 * no logarithm or root is found, before anything is committed.
 */
#include <math.h>
#include <stdatomic.h>

#include "base/borrowed.h"
#include "base/memory.h"
#include "base/text.h"
#include "base/thread.h"
#include "store/convert.h"
#include "store/ingest_private.h"

/* Rows at … end − 1 of the buffer, as stored or as prepared; `infinite` is set by any thread that
 * meets a sum that is not finite. */
struct counting {
    const struct ny_ingest *ingest;
    size_t at, end;
    enum ny_dtype dtype;
    const char *values;   /* dense: of row `at` on, or: */
    struct ny_csr sparse; /* the block */
    atomic_bool infinite;
};

static bool count_block(const struct counting *c, struct ny_moments *moments, size_t at,
                        size_t rows, struct ny_row_range columns)
{
    const struct ny_csr_part part = {&c->sparse, at, rows};
    size_t first = (size_t)columns.first, count = (size_t)(columns.end - columns.first);

    if (c->ingest->is_sparse)
        return ny_moments_add_sparse(moments, &part, first, count, &c->ingest->sparse_sums);
    return ny_moments_add(moments, c->dtype,
                          c->values + (at - c->at) * moments->d * ny_dtype_size(c->dtype), rows,
                          first, count);
}

/* One share of the columns, block after block. */
static int count_columns(void *arg, size_t first, size_t count)
{
    struct counting *c = arg;
    struct ny_moments moments = c->ingest->moments;
    size_t block_rows = (size_t)c->ingest->block_rows;

    for (size_t at = c->at; at < c->end;) {
        size_t end = (at / block_rows + 1) * block_rows;
        size_t rows = (end < c->end ? end : c->end) - at;

        if (!count_block(c, &moments, at, rows, (struct ny_row_range){first, first + count}))
            atomic_store(&c->infinite, true);
        moments.n += rows;
        at += rows;
    }
    return NY_OK;
}

/* Readers refuse NaN and infinity with file and line; this is for rows that come from memory. */
static int find_infinite(struct ny_ingest *ingest, size_t rows)
{
    size_t d = ingest->elements[NY_KIND_POINTS];
    uint64_t before = ingest->first_block * ingest->block_rows;
    size_t known = ingest->base.n > before ? (size_t)(ingest->base.n - before) : 0;

    if (ingest->is_sparse) return ny_ingest_sparse_infinite(ingest, known, rows);
    for (size_t i = known * d; i < rows * d; i++) {
        double value = ny_value_at(ingest->dtype, ingest->buffer[NY_KIND_POINTS], i);
        uint64_t row = before + i / d - ingest->base.n;

        if (!isfinite(value))
            return ny_fail_at(
                ingest->ctx, NY_EDATA, NULL, row,
                "row %llu, column %zu (both from 0) of the import is %s; every value must be a "
                "finite number",
                (unsigned long long)row, i % d, isnan(value) ? "NaN" : "infinite");
    }
    return NY_OK; /* only a sum has overflowed */
}

static void count_norms(const struct counting *c, double *norms)
{
    const struct ny_csr_part part = {&c->sparse, c->at, c->end - c->at};

    if (c->ingest->is_sparse)
        ny_norms_add_sparse(norms, &part);
    else
        ny_norms_add(norms, c->dtype, c->values, c->end - c->at, c->ingest->moments.d);
}

/* A share of the columns of dense rows, which a caller may have mapped from a file; norms are of
 * all columns. */
struct share {
    struct counting *counting;
    size_t first, count;
    double *norms;
};

static int count_share(void *arg)
{
    const struct share *share = arg;

    if (!share->norms) return count_columns(share->counting, share->first, share->count);
    count_norms(share->counting, share->norms);
    return NY_OK;
}

static int count_guarded(void *arg, size_t first, size_t count)
{
    struct share share = {arg, first, count, NULL};

    return ny_borrowed_guard(share.counting->ingest->ctx, count_share, &share);
}

/* ---- tasks of sparse blocks ---------------------------------------------------------------- */

/* Tasks are taken in this order; behind these two, each is a share of the columns. */
enum { PACK, NORMS, SHARES };

/* The tasks of a block; `next` is the one that a thread takes next. */
struct sparse_tasks {
    struct ny_ingest *ingest;
    struct counting *counting;
    size_t packs; /* blocks to be packed as well: 1 or 0 */
    size_t shares;
    atomic_size_t next;
};

static int run_tasks(void *arg, unsigned worker)
{
    struct sparse_tasks *tasks = arg;
    struct ny_ingest *ingest = tasks->ingest;
    size_t task, d = ingest->moments.d;

    (void)worker;
    while ((task = atomic_fetch_add(&tasks->next, 1)) < SHARES + tasks->shares) {
        size_t share = task - SHARES, first = d * share / tasks->shares;

        if (task == PACK && tasks->packs)
            ny_ingest_pack_block(ingest, 0, (size_t)ingest->block_rows);
        if (task == NORMS && ingest->norms_known) count_norms(tasks->counting, &ingest->norms);
        if (task >= SHARES)
            (void)count_columns(tasks->counting, first, d * (share + 1) / tasks->shares - first);
    }
    return NY_OK;
}

/* Counts rows of a sparse block, and packs it where it is full. */
static int count_sparse(struct ny_ingest *ingest, struct counting *c, size_t packs)
{
    unsigned crew = ny_context_crew(ingest->ctx);
    struct sparse_tasks tasks = {
        .ingest = ingest, .counting = c, .packs = packs, .shares = crew > 1 ? 2 * crew : 1};

    if (tasks.shares > ingest->moments.d) tasks.shares = ingest->moments.d;
    return ny_parallel(ingest->ctx, crew, run_tasks, &tasks);
}

/* Adds the rows to the moments and norms of the import; sparse ones are packed, too. */
static int count_range(struct ny_ingest *ingest, struct counting *c, size_t packs)
{
    struct share norms = {.counting = c, .norms = &ingest->norms};
    int err;

    if (ingest->is_sparse)
        err = count_sparse(ingest, c, packs);
    else
        err = ny_parallel_ranges(ingest->ctx, ingest->moments.d, count_guarded, c);
    if (!err && !ingest->is_sparse && ingest->norms_known)
        err = ny_borrowed_guard(ingest->ctx, count_share, &norms);
    if (!err && atomic_load(&c->infinite)) err = find_infinite(ingest, c->end);
    if (!err) ingest->moments.n = ingest->first_block * ingest->block_rows + c->end;
    return err;
}

/* ---- preparing ----------------------------------------------------------------------------- */

/* Rows of one block, and what is noticed on the way. */
struct preparing {
    const struct ny_ingest *ingest;
    size_t at; /* the first of them */
    enum ny_dtype dtype;
    atomic_bool unfit, fractions;
};

/* Row i of the buffer, as it is stored. */
static struct ny_sparse stored_row(const struct ny_ingest *ingest, size_t i)
{
    if (ingest->is_sparse) return ny_csr_row(&ingest->sparse, i);
    return (struct ny_sparse){.count = ingest->moments.d,
                              .value = ingest->buffer[NY_KIND_POINTS] +
                                       i * ny_ingest_row_bytes(ingest, NY_KIND_POINTS)};
}

/* Returns where the values of row i go. */
static char *prepared_at(const struct preparing *p, size_t i)
{
    const struct ny_ingest *ingest = p->ingest;
    size_t values = ingest->is_sparse ? ingest->sparse.start[i] : (i - p->at) * ingest->moments.d;

    return ingest->prepared + values * ny_dtype_size(p->dtype);
}

static int prepare_rows(void *arg, size_t first, size_t count)
{
    struct preparing *p = arg;
    const struct ny_prepared *how = &p->ingest->base.preparation;

    for (size_t i = p->at + first; i < p->at + first + count; i++) {
        struct ny_sparse row = stored_row(p->ingest, i);

        if (ny_prepare_row(how, p->ingest->dtype, row.value, row.count, p->dtype,
                           prepared_at(p, i)) < row.count)
            atomic_store(&p->unfit, true);
        if (!p->ingest->fractions_told && ny_first_fraction(p->ingest->dtype, row) < row.count)
            atomic_store(&p->fractions, true);
    }
    return NY_OK;
}

/* Returns the number of a row of the buffer in what is imported. */
static uint64_t number_of(const struct ny_ingest *ingest, size_t i)
{
    if (ingest->spec.source) return ((uint64_t *)(void *)ingest->buffer[NY_KIND_SOURCE])[i];
    return ingest->first_block * ingest->block_rows + i - ingest->base.n;
}

/* Returns what to do about a value that cannot be prepared, as the end of a sentence. */
static const char *cure_of(const struct ny_ingest *ingest, double value)
{
    const char *from = ingest->spec.from;

    if (!(value < 0)) return "leave the row out, or import without them";
    return from && ny_ends_with(from, ".h5ad")
               ? "negative values look scaled already: import without them, or if the file has the "
                 "counts, give their --matrix, as layers/NAME or raw/X"
               : "negative values look scaled already: import without them, or import the counts";
}

/* Fails because of the first value that cannot be prepared. */
static int unfit(const struct preparing *p, size_t end)
{
    const struct ny_ingest *ingest = p->ingest;
    const struct ny_prepared *how = &ingest->base.preparation;
    char rows[NY_PREPARED_WORD_BYTES];

    for (size_t i = p->at; i < end; i++) {
        struct ny_sparse row = stored_row(ingest, i);
        size_t k =
            ny_prepare_row(how, ingest->dtype, row.value, row.count, p->dtype, prepared_at(p, i));
        uint64_t number = number_of(ingest, i);
        double value;

        if (k == row.count) continue;
        value = ny_dtype_at(ingest->dtype, row.value, k);
        return ny_fail_at(ingest->ctx, NY_EDATA, NULL, number,
                          "row %llu, column %zu (both from 0): %.17g cannot be prepared by "
                          "--rows %s --values %s, which give no finite number; %s",
                          (unsigned long long)number, ingest->is_sparse ? (size_t)row.index[k] : k,
                          value, ny_prepared_rows(how, rows), ny_prepared_values(how),
                          cure_of(ingest, value));
    }
    return NY_OK;
}

/* Says once that values are no counts, for which totals and logarithms are meant. */
static void tell_fractions(struct ny_ingest *ingest, size_t at, size_t end)
{
    ingest->fractions_told = true;
    while (at < end &&
           !ny_prepared_warn_fraction(ingest->ctx, &ingest->base.preparation, ingest->dtype,
                                      stored_row(ingest, at), number_of(ingest, at)))
        at++;
}

/* Room for the prepared values of rows at … end − 1 of one block. */
static int prepared_room(struct ny_ingest *ingest, size_t at, size_t end, enum ny_dtype dtype)
{
    size_t values =
        ingest->is_sparse ? ny_csr_nnz(&ingest->sparse) : (end - at) * ingest->moments.d;
    size_t bytes = values * ny_dtype_size(dtype);
    char *larger;

    if (ingest->prepared && bytes <= ingest->prepared_bytes) return NY_OK;
    larger = ny_resize(ingest->ctx, NY_MEM_STORE, ingest->prepared, bytes);
    if (!larger) return NY_EBUDGET;
    ingest->prepared = larger;
    ingest->prepared_bytes = bytes;
    return NY_OK;
}

/* Prepares rows at … end − 1, which are of one block, and counts them. */
static int count_prepared(struct ny_ingest *ingest, size_t at, size_t end, size_t packs)
{
    const struct ny_prepared *how = &ingest->base.preparation;
    struct preparing p = {
        .ingest = ingest, .at = at, .dtype = ny_prepared_dtype(how, ingest->dtype)};
    struct counting c = {
        .ingest = ingest, .at = at, .end = end, .dtype = p.dtype, .sparse = ingest->sparse};
    int err = prepared_room(ingest, at, end, p.dtype);

    if (!ny_prepared_counts(how)) ingest->fractions_told = true; /* nothing asks for counts */
    if (!err) err = ny_parallel_ranges(ingest->ctx, end - at, prepare_rows, &p);
    if (!err && atomic_load(&p.unfit)) {
        err = find_infinite(ingest, end);
        return err ? err : unfit(&p, end);
    }
    if (err) return err;
    if (atomic_load(&p.fractions)) tell_fractions(ingest, at, end);
    c.values = ingest->prepared;
    c.sparse.dtype = p.dtype;
    c.sparse.value = ingest->prepared;
    return count_range(ingest, &c, packs);
}

int ny_ingest_count(struct ny_ingest *ingest, size_t rows, size_t *packs)
{
    size_t block_rows = (size_t)ingest->block_rows;
    size_t at = (size_t)(ingest->moments.n - ingest->first_block * ingest->block_rows);
    int err = NY_OK;

    if (at >= rows) return NY_OK;
    if (!ny_prepares(&ingest->base.preparation)) {
        struct counting c = {.ingest = ingest,
                             .at = at,
                             .end = rows,
                             .dtype = ingest->dtype,
                             .values = ingest->buffer[NY_KIND_POINTS] +
                                       at * ny_ingest_row_bytes(ingest, NY_KIND_POINTS),
                             .sparse = ingest->sparse};

        err = count_range(ingest, &c, *packs);
        at = rows;
    }
    while (!err && at < rows) {
        size_t end = (at / block_rows + 1) * block_rows;

        if (end > rows) end = rows;
        err = count_prepared(ingest, at, end, *packs);
        at = end;
    }
    if (ingest->is_sparse) *packs = 0;
    return err;
}
