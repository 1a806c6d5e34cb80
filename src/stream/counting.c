/*
 * Counts rows in the statistics (stream/counting.h).
 *
 * An import packs a block of sparse rows in half of the time that counting takes one thread. So
 * packing is one of the tasks of the crew, the first, and shares of the columns are small enough
 * there to fill up the other threads. Norms are of all columns: they are a task of one thread, too.
 */
#include "stream/counting.h"

#include <math.h>
#include <stdatomic.h>

#include "base/borrowed.h"
#include "base/text.h"
#include "base/thread.h"

int ny_counting_sparse(struct ny_counting *counting)
{
    size_t d = counting->moments.d;

    counting->own.ctx = counting->ctx;
    counting->sums.mean = ny_lay(&counting->own, NY_MEM_STORE, d, sizeof(double));
    counting->sums.m2 = ny_lay(&counting->own, NY_MEM_STORE, d, sizeof(double));
    counting->sums.count = ny_lay(&counting->own, NY_MEM_STORE, d, sizeof(uint32_t));
    return counting->own.err;
}

void ny_counting_release(struct ny_counting *counting)
{
    ny_layout_free(&counting->own);
    ny_free(counting->ctx, counting->prepared);
}

/* Returns row i of those that come, as it comes. */
static struct ny_sparse row_of(const struct ny_counting *c, const struct ny_next_rows *rows,
                               size_t i)
{
    size_t d = c->moments.d;

    if (rows->part.csr) return ny_csr_row(rows->part.csr, rows->part.at + i);
    return (struct ny_sparse){
        .count = d, .value = (const char *)rows->values + i * d * ny_dtype_size(c->dtype)};
}

/* Returns the column of value k of a row. */
static size_t column_of(const struct ny_sparse *row, size_t k)
{
    return row->index ? row->index[k] : k;
}

static uint64_t number_of(const struct ny_next_rows *rows, size_t i)
{
    return rows->number ? rows->number[i] : rows->first + i;
}

/* Readers refuse NaN and infinity with file and line; this is for rows that come from memory. */
static int find_infinite(const struct ny_counting *c, const struct ny_next_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        struct ny_sparse row = row_of(c, rows, i);

        for (size_t k = 0; k < row.count; k++) {
            double value = ny_dtype_at(c->dtype, row.value, k);
            uint64_t number = number_of(rows, i);

            if (!isfinite(value))
                return ny_fail_at(
                    c->ctx, NY_EDATA, NULL, number,
                    "row %llu, column %zu (both from 0) of the import is %s; every value must be a "
                    "finite number",
                    (unsigned long long)number, column_of(&row, k),
                    isnan(value) ? "NaN" : "infinite");
        }
    }
    return NY_OK; /* only a sum has overflowed */
}

/* ---- sums ---------------------------------------------------------------------------------- */

/* Tasks are taken in this order; behind these two, each is a share of the columns. */
enum { BESIDE, NORMS, SHARES };

/* Rows as they are counted, and their tasks; `next` is the one that a thread takes next, and
 * `infinite` is set by any thread that meets a sum that is not finite. */
struct tasks {
    struct ny_counting *counting;
    const struct ny_next_rows *rows;
    enum ny_dtype dtype;
    size_t shares;
    atomic_size_t next;
    atomic_bool infinite;
};

/* A task that reads rows. */
struct task {
    struct tasks *all;
    size_t number;
};

/* One share of the columns, block after block. */
static void count_columns(struct tasks *tasks, size_t first, size_t count)
{
    const struct ny_counting *c = tasks->counting;
    const struct ny_next_rows *rows = tasks->rows;
    struct ny_moments moments = c->moments;
    size_t row_bytes = moments.d * ny_dtype_size(tasks->dtype), some;

    for (size_t at = 0; at < rows->count; at += some, moments.n += some) {
        struct ny_csr_part part = {rows->part.csr, rows->part.at + at, 0};
        bool finite;

        some = c->block_rows - (size_t)(moments.n % c->block_rows);
        if (some > rows->count - at) some = rows->count - at;
        part.count = some;
        finite = part.csr ? ny_moments_add_sparse(&moments, &part, first, count, &c->sums)
                          : ny_moments_add(&moments, tasks->dtype,
                                           (const char *)rows->values + at * row_bytes, some, first,
                                           count);
        if (!finite) atomic_store(&tasks->infinite, true);
    }
}

static void count_norms(const struct tasks *tasks)
{
    struct ny_counting *c = tasks->counting;
    const struct ny_next_rows *rows = tasks->rows;
    const struct ny_csr_part part = {rows->part.csr, rows->part.at, rows->count};

    if (part.csr)
        ny_norms_add_sparse(&c->norms, &part);
    else
        ny_norms_add(&c->norms, tasks->dtype, rows->values, rows->count, c->moments.d);
}

static int run_task(void *arg)
{
    const struct task *task = arg;
    struct tasks *all = task->all;
    size_t d = all->counting->moments.d, share = task->number - SHARES;
    size_t first = d * share / all->shares;

    if (task->number == NORMS)
        count_norms(all);
    else
        count_columns(all, first, d * (share + 1) / all->shares - first);
    return NY_OK;
}

static int run_tasks(void *arg, unsigned worker)
{
    struct tasks *tasks = arg;
    struct task task = {.all = tasks};
    int err = NY_OK;

    (void)worker;
    while (!err && (task.number = atomic_fetch_add(&tasks->next, 1)) < SHARES + tasks->shares) {
        if (task.number == BESIDE && tasks->rows->beside) tasks->rows->beside(tasks->rows->arg);
        if (task.number >= SHARES || (task.number == NORMS && tasks->counting->norms_known))
            err = ny_borrowed_guard(tasks->counting->ctx, run_task, &task);
    }
    return err;
}

/* Adds rows as they are counted, where `came` are these rows as they came. */
static int count(struct ny_counting *c, const struct ny_next_rows *rows, enum ny_dtype dtype,
                 const struct ny_next_rows *came)
{
    unsigned crew = ny_context_crew(c->ctx);
    struct tasks tasks = {.counting = c,
                          .rows = rows,
                          .dtype = dtype,
                          .shares = crew > 1 && rows->part.csr ? 2 * crew : crew};
    int err;

    if (tasks.shares > c->moments.d) tasks.shares = c->moments.d;
    err = ny_parallel(c->ctx, crew, run_tasks, &tasks);
    if (!err && atomic_load(&tasks.infinite)) err = find_infinite(c, came);
    if (!err) c->moments.n += rows->count;
    return err;
}

/* ---- preparing ----------------------------------------------------------------------------- */

/* Rows of one block; unfit: a value cannot be prepared. */
struct preparing {
    const struct ny_counting *counting;
    const struct ny_next_rows *rows;
    enum ny_dtype dtype;
    atomic_bool unfit;
};

/* Returns where the values of row i go. */
static char *prepared_at(const struct preparing *p, size_t i)
{
    const struct ny_csr_part *part = &p->rows->part;
    size_t before = part->csr ? part->csr->start[part->at + i] : i * p->counting->moments.d;

    return p->counting->prepared + before * ny_dtype_size(p->dtype);
}

/* Prepares row i, and returns how many of its values could be. */
static size_t prepare(const struct preparing *p, size_t i, const struct ny_sparse *row)
{
    return ny_prepare_row(&p->counting->how, p->counting->dtype, row->value, row->count, p->dtype,
                          prepared_at(p, i));
}

static int prepare_rows(void *arg, size_t first, size_t count)
{
    struct preparing *p = arg;
    const struct ny_counting *c = p->counting;

    for (size_t i = first; i < first + count; i++) {
        struct ny_sparse row = row_of(c, p->rows, i);

        if (prepare(p, i, &row) < row.count) atomic_store(&p->unfit, true);
    }
    return NY_OK;
}

/* Returns what to do about a value that cannot be prepared, as the end of a sentence. */
static const char *cure_of(const struct ny_next_rows *rows, double value)
{
    if (!(value < 0)) return "leave the row out, or import without them";
    return rows->from && ny_ends_with(rows->from, ".h5ad")
               ? "negative values look scaled already: import without them, or if the file has the "
                 "counts, give their --matrix, as layers/NAME or raw/X"
               : "negative values look scaled already: import without them, or import the counts";
}

/* Fails because of the first value that cannot be prepared. */
static int unfit(const struct preparing *p)
{
    const struct ny_counting *c = p->counting;
    char words[NY_PREPARED_WORD_BYTES];

    for (size_t i = 0; i < p->rows->count; i++) {
        struct ny_sparse row = row_of(c, p->rows, i);
        size_t k = prepare(p, i, &row);
        uint64_t number = number_of(p->rows, i);
        double value;

        if (k == row.count) continue;
        value = ny_dtype_at(c->dtype, row.value, k);
        return ny_fail_at(c->ctx, NY_EDATA, NULL, number,
                          "row %llu, column %zu (both from 0): %.17g cannot be prepared by "
                          "--rows %s --values %s, which give no finite number; %s",
                          (unsigned long long)number, column_of(&row, k), value,
                          ny_prepared_rows(&c->how, words), ny_prepared_values(&c->how),
                          cure_of(p->rows, value));
    }
    return NY_OK;
}

/* Room for so many prepared values. */
static int prepared_room(struct ny_counting *c, size_t values, enum ny_dtype dtype)
{
    size_t bytes = values * ny_dtype_size(dtype);
    int err;

    if (c->prepared && bytes <= c->prepared_bytes) return NY_OK;
    err = ny_resize_array(c->ctx, NY_MEM_STORE, &c->prepared, bytes, 1);
    if (!err) c->prepared_bytes = bytes;
    return err;
}

/* Prepares rows, which are of one block, and counts them. */
static int count_prepared(struct ny_counting *c, const struct ny_next_rows *rows)
{
    const struct ny_csr_part *part = &rows->part;
    struct preparing p = {
        .counting = c, .rows = rows, .dtype = ny_prepared_dtype(&c->how, c->dtype)};
    struct ny_next_rows prepared = *rows;
    struct ny_csr sparse;
    int err = prepared_room(
        c, part->csr ? part->csr->start[part->at + rows->count] : rows->count * c->moments.d,
        p.dtype);

    if (!err) err = ny_parallel_ranges(c->ctx, rows->count, prepare_rows, &p);
    if (!err && atomic_load(&p.unfit)) {
        err = find_infinite(c, rows);
        return err ? err : unfit(&p);
    }
    if (err) return err;
    prepared.values = c->prepared;
    if (part->csr) {
        sparse = *part->csr;
        sparse.dtype = p.dtype;
        sparse.value = c->prepared;
        prepared.part.csr = &sparse;
    }
    return count(c, &prepared, p.dtype, rows);
}

int ny_count_rows(struct ny_counting *c, const struct ny_next_rows *rows)
{
    size_t row_bytes = c->moments.d * ny_dtype_size(c->dtype);
    struct ny_next_rows block = *rows;
    int err = NY_OK;

    if (!ny_prepares(&c->how)) return count(c, rows, c->dtype, rows);
    for (size_t at = 0; !err && at < rows->count; at += block.count) {
        block.count = c->block_rows - (size_t)(c->moments.n % c->block_rows);
        if (block.count > rows->count - at) block.count = rows->count - at;
        block.part.at = rows->part.at + at;
        if (!block.part.csr) block.values = (const char *)rows->values + at * row_bytes;
        block.first = rows->first + at;
        if (rows->number) block.number = rows->number + at;
        err = count_prepared(c, &block);
        block.beside = NULL;
    }
    return err;
}
