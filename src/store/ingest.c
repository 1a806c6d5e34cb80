/*
 * Rows on their way into points/: checked, converted, buffered in blocks, and committed at the
 * end, all or nothing.
 *
 * ny_ingest_begin() takes the lock of the points and takes up what an earlier, killed run of the
 * same import has staged (store/ingest_staged.c); `consumed` tells the caller where to go on in
 * its source. Full buffers are counted, packed and put by store/ingest_flush.c, sparse rows by
 * store/ingest_sparse.c. Readers see none of it before ny_ingest_commit(). The first failure ends
 * the import, and what was staged before stays.
 */
#include "base/memory.h"
#include "base/text.h"
#include "store/ingest_private.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A share of the budget for the buffers; blocks a worker, so that threads pay for their start. */
enum { BUFFER_SHARE = 16, BLOCKS_A_WORKER = 8 };
/* Names have any size; buffers are chosen for those of sequencing, of 18 bytes. */
enum { USUAL_NAME_BYTES = 32 };

/* ---- what may come in ---------------------------------------------------------------------- */

/* Refuses rows that no store can hold. */
static int check_spec(struct ny_store *store, const struct ny_ingest_spec *spec)
{
    struct ny_context *ctx = store->ctx;
    size_t element = ny_dtype_size(spec->dtype);

    if (element == 0) return NY_BUG(ctx);
    if (spec->d == 0 || spec->d > NY_STORE_COLUMNS_MAX)
        return ny_fail(ctx, NY_EDATA, "a store takes 1 to %llu columns, not %llu",
                       (unsigned long long)NY_STORE_COLUMNS_MAX, (unsigned long long)spec->d);
    return NY_OK;
}

/* Refuses points of another number than the caller knows: rows of this source may be among them. */
static int check_expected(struct ny_ingest *ingest)
{
    unsigned long long n = ingest->base.n + ingest->spec.rows_before;
    unsigned long long expected = ingest->spec.expected;
    const char *whole = ingest->spec.whole;

    if (!ingest->spec.expects || n == expected) return NY_OK;
    return ny_fail(ingest->ctx, NY_EUSAGE,
                   "%s has %llu rows, but --expect-rows says %llu; nothing was added",
                   whole ? whole : ingest->store->path, n, expected);
}

/* Refuses labels of another kind than those that are there. */
static int fail_labels(const struct ny_ingest *ingest)
{
    return ny_fail(ingest->ctx, NY_EDATA,
                   "the labels of these rows are not of the kind of those of %s (none, numbers or "
                   "words); import into another store",
                   ingest->store->path);
}

/* Refuses rows that do not go with the points that the store has: in width, or with labels where
 * these have none, or without --append. */
static int check_append(struct ny_ingest *ingest)
{
    const struct ny_manifest *base = &ingest->base;
    const struct ny_ingest_spec *spec = &ingest->spec;
    const char *path = ingest->store->path;
    bool labels = (base->flags & NY_FLAG_LABELS) != 0;

    if (base->n == 0) return NY_OK;
    if (!spec->append)
        return ny_fail(ingest->ctx, NY_EUSAGE,
                       "%s already holds %llu points: add to them with --append, or choose "
                       "another store",
                       path, (unsigned long long)base->n);
    if (spec->d != base->d)
        return ny_fail(ingest->ctx, NY_EDATA,
                       "the rows have %llu columns, but those of %s have %llu",
                       (unsigned long long)spec->d, path, (unsigned long long)base->d);
    if (spec->labels && !labels) return fail_labels(ingest);
    return NY_OK;
}

/* ---- memory -------------------------------------------------------------------------------- */

/* Decides type, layout and rows of a block. An empty store takes those of the rows; any other
 * keeps its own, to which rows are converted exactly or refused. */
static void choose_layout(struct ny_ingest *ingest)
{
    struct ny_manifest *base = &ingest->base;
    const struct ny_ingest_spec *spec = &ingest->spec;

    if (base->n == 0) { /* what the store will be */
        base->dtype = (uint32_t)spec->dtype;
        base->layout = (uint32_t)spec->layout;
        base->flags = (spec->labels ? NY_FLAG_LABELS : 0u) | (spec->names ? NY_FLAG_NAMES : 0u) |
                      (ny_prepares(&spec->preparation) ? NY_FLAG_PREPARED : 0u);
        base->preparation = spec->preparation;
        base->d = spec->d;
        base->block_rows = spec->layout == NY_CSR
                               ? ny_sparse_block_rows_for(spec->row_nnz, spec->dtype)
                               : ny_block_rows_for(spec->d, spec->dtype);
    }
    if (!(base->flags & (NY_FLAG_FROM_0 | NY_FLAG_FROM_1)))
        base->flags |= ny_indices_flag(spec->indices);
    ingest->is_sparse = base->layout == NY_CSR;
    ingest->dtype = (enum ny_dtype)base->dtype;
    ingest->block_rows = base->block_rows;
    ingest->has[NY_KIND_POINTS] = true;
    ingest->has[NY_KIND_LABELS] = (base->flags & NY_FLAG_LABELS) != 0;
    ingest->has[NY_KIND_SOURCE] = spec->source || base->flags & NY_FLAG_SOURCE;
    ingest->has[NY_KIND_NAMES] = (base->flags & NY_FLAG_NAMES) != 0;
    ingest->source_from =
        base->flags & NY_FLAG_SOURCE ? base->source_from : base->n / base->block_rows;
    for (unsigned kind = NY_KIND_POINTS; kind; kind = ny_kind_after(kind))
        ingest->row_bytes[kind] = ny_block_row_bytes(base, (enum ny_kind)kind, ingest->dtype);
    if (ingest->is_sparse) ingest->row_bytes[NY_KIND_POINTS] = 0; /* not in the buffer */
    ingest->row_bytes[NY_KIND_NAMES] = 0;                         /* nor are names */
}

/* Decides how many blocks the buffer holds, by a share of the budget and the number of threads,
 * and how many bytes may be dirty before a commit. Sparse rows fill one block at a time. */
static void choose_group(struct ny_ingest *ingest)
{
    struct ny_context *ctx = ingest->ctx;
    size_t raw = 0, share = ny_memory_limit(ctx) / BUFFER_SHARE, left = ny_memory_left(ctx);
    size_t most = (size_t)BLOCKS_A_WORKER * ny_context_threads(ctx);

    ingest->room_bytes = sizeof(struct ny_header);
    for (unsigned kind = NY_KIND_POINTS; kind; kind = ny_kind_after(kind)) {
        size_t block_bytes = (size_t)ingest->block_rows * ingest->row_bytes[kind];

        if (!ingest->has[kind]) continue;
        ingest->kind_room_bytes[kind] = ny_lz4_room(block_bytes);
        ingest->room_bytes += ingest->kind_room_bytes[kind];
        raw += block_bytes;
    }
    if (ingest->has[NY_KIND_NAMES]) raw += (size_t)ingest->block_rows * USUAL_NAME_BYTES;
    if (share > left / 4) share = left / 4;
    ingest->group = share / (raw + ingest->room_bytes);
    if (ingest->group > most) ingest->group = most;
    if (ingest->group < 1 || ingest->is_sparse) ingest->group = 1;
    /* The last transaction writes the last two blocks, whatever the bound. */
    ingest->dirty_max = ny_dirty_bytes_max(ny_memory_limit(ctx));
    if (ingest->dirty_max > left / 4) ingest->dirty_max = left / 4;
    if (ingest->dirty_max < 2 * ingest->room_bytes) ingest->dirty_max = 2 * ingest->room_bytes;
}

/* Lays out buffers, statistics and the room of packing. */
static void lay(struct ny_layout *l, struct ny_ingest *ingest, size_t cells)
{
    size_t group = ingest->group, rows = group * (size_t)ingest->block_rows;

    for (unsigned kind = NY_KIND_POINTS; kind; kind = ny_kind_after(kind))
        if (ingest->has[kind])
            ingest->buffer[kind] = ny_lay(l, NY_MEM_STORE, rows, ingest->row_bytes[kind]);
    ingest->room = ny_lay(l, NY_MEM_STORE, group, ingest->room_bytes);
    ingest->packed = ny_lay(l, NY_MEM_STORE, group * (NY_BLOCK_KINDS + 1), sizeof(*ingest->packed));
    ingest->names.start = ny_lay(l, NY_MEM_STORE, group + 1, sizeof(size_t));
    ingest->stats = ny_lay(l, NY_MEM_STORE, 1, sizeof(*ingest->stats) + cells);
}

/* Allocates all of these, and reserves what LMDB will hold dirty. */
int ny_ingest_allocate(struct ny_ingest *ingest)
{
    struct ny_context *ctx = ingest->ctx;
    size_t d, cells;
    int err;

    choose_layout(ingest);
    d = (size_t)ingest->base.d;
    cells = 4 * d * sizeof(double);
    choose_group(ingest);
    ingest->own.ctx = ctx;
    lay(&ingest->own, ingest, cells);
    if (ingest->own.err) return ingest->own.err;
    ingest->counting =
        (struct ny_counting){.ctx = ctx,
                             .dtype = ingest->dtype,
                             .how = ingest->base.preparation,
                             .block_rows = (size_t)ingest->block_rows,
                             .moments = {.d = d, .cells = (double *)(void *)(ingest->stats + 1)}};
    err = ny_reserve(ctx, NY_MEM_STORE, ingest->dirty_max + cells);
    if (!err) ingest->reserved = ingest->dirty_max + cells;
    return err || !ingest->is_sparse ? err : ny_ingest_sparse_allocate(ingest);
}

/* ---- beginning ----------------------------------------------------------------------------- */

/* Starts an import that has nothing to take up, at the base, whatever a damaged staging has left in
 * the buffer. */
static int start_anew(struct ny_ingest *ingest)
{
    struct ny_snapshot *view;
    const char *wrong; /* damaged sums are unknown ones */
    int err = ny_ingest_drop(ingest, ingest->base.n);

    if (err) return err;
    ingest->first_block = ingest->base.n / ingest->block_rows;
    ingest->filled = 0;
    ny_names_clear(&ingest->names.rows);
    ingest->sparse.csr.rows = 0;
    ingest->sparse.full = (struct ny_sparse_progress){ingest->block_rows, ingest->base.nnz,
                                                      ingest->base.row_nnz, ingest->base.block_nnz};
    ingest->full_bytes = ingest->base.full_bytes;
    ingest->digest = ingest->base.digest;
    ingest->staged_open = ny_no_block;
    memset(ingest->stats + 1, 0, 4 * ingest->counting.moments.d * sizeof(double));
    ingest->counting.norms = 0;
    ingest->counting.norms_known = ingest->base.n == 0;
    ingest->sparse.lengths = (struct ny_lengths){{0}};
    if (ingest->base.n == 0) return NY_OK;
    err = ny_snapshot_begin(&view, ingest->store, ingest->store->points);
    if (err) return err;
    err = ny_stats_read(view, ingest->base.d, ingest->stats);
    ingest->counting.norms_known =
        ny_norms_read(view, ingest->base.n, &ingest->counting.norms, &wrong);
    ny_lengths_read(view, &ingest->base, &ingest->sparse.lengths, &wrong);
    err = ny_snapshot_end(view, err);
    ingest->counting.moments.n = ingest->base.n;
    return err ? err : ny_ingest_load_tail(ingest);
}

bool ny_ingest_runs(struct ny_store *store)
{
    return !store->in_memory && ny_lock_held(store, "points");
}

/* Takes the lock and finds where to begin: NY_END where this very import was published by a run
 * that was killed before it could say so; else at what is staged, else at the base. */
static int begin(struct ny_ingest *ingest)
{
    int err = ny_lock_try(&ingest->lock, ingest->store, "points", "importing into this store");

    if (!err) err = ny_manifest_now(ingest->store, &ingest->base, NULL);
    if (!err) err = ny_ingest_finished(ingest, &ingest->told, &ingest->consumed);
    if (ingest->told || err) return err ? err : NY_END;
    err = check_expected(ingest);
    if (!err) err = check_append(ingest);
    if (err) return err;
    err = ny_ingest_allocate(ingest);
    if (err) return err;
    err = ny_ingest_resume(ingest);
    if (err == NY_END) return start_anew(ingest);
    return err ? err : ny_ingest_drop(ingest, ny_ingest_total(ingest));
}

struct ny_ingest *ny_ingest_new(struct ny_store *store)
{
    struct ny_ingest *ingest = ny_calloc(store->ctx, NY_MEM_STORE, 1, sizeof(*ingest));

    if (!ingest) return NULL;
    ingest->store = store;
    ingest->ctx = store->ctx;
    ingest->lock.fd = -1;
    ingest->staged_open = ny_no_block;
    return ingest;
}

int ny_ingest_begin(struct ny_ingest **out, struct ny_store *store,
                    const struct ny_ingest_spec *spec, uint64_t *consumed)
{
    struct ny_ingest *ingest;
    int err = ny_store_writable(store);

    *out = NULL;
    *consumed = 0;
    if (!err) err = check_spec(store, spec);
    if (err) return err;
    ingest = ny_ingest_new(store);
    if (!ingest) return NY_EBUDGET;
    ingest->spec = *spec;
    err = begin(ingest);
    *consumed = ingest->consumed;
    if (err)
        ny_ingest_free(ingest);
    else
        *out = ingest;
    return err;
}

void ny_ingest_free(struct ny_ingest *ingest)
{
    if (!ingest) return;
    ny_write_abort(&ingest->write);
    /* without this record, the same import adds the same rows once more */
    if (ingest->told && ny_ingest_drop_progress(ingest)) {
        ny_write_abort(&ingest->write); /* or nobody could write any more */
        ny_error_clear(ingest->ctx);
    }
    ny_lock_release(&ingest->lock);
    ny_unreserve(ingest->ctx, NY_MEM_STORE, ingest->reserved);
    ny_counting_release(&ingest->counting);
    ny_layout_free(&ingest->own);
    ny_free(ingest->ctx, ingest->classes.text);
    ny_free(ingest->ctx, ingest->names.room.at);
    ny_names_release(&ingest->names.rows, ingest->ctx);
    ny_names_release(&ingest->columns, ingest->ctx);
    ny_ingest_sparse_free(ingest);
    ny_free(ingest->ctx, ingest);
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* Labels, source row numbers and names of rows that are in the buffer, which now count. */
static int take_marks(struct ny_ingest *ingest, const struct ny_ingest_rows *rows, size_t at,
                      size_t count)
{
    int err = ny_ingest_names_take(ingest, count);

    if (err) return err;
    if (ingest->has[NY_KIND_LABELS]) {
        double *labels = (double *)(void *)ingest->buffer[NY_KIND_LABELS] + ingest->filled;

        for (size_t i = 0; i < count; i++)
            labels[i] = ingest->spec.labels ? rows->labels[at + i] : (double)NAN;
    }
    if (ingest->has[NY_KIND_SOURCE]) {
        uint64_t *source = (uint64_t *)(void *)ingest->buffer[NY_KIND_SOURCE] + ingest->filled;

        for (size_t i = 0; i < count; i++)
            source[i] = ingest->spec.source ? rows->source[at + i] : ny_ingest_total(ingest) + i;
    }
    ingest->filled += count;
    return NY_OK;
}

/* Returns the number of row i of the batch in its source, whose `staged` rows came before it. */
static uint64_t row_of(const struct ny_ingest_rows *rows, size_t i, uint64_t staged)
{
    return rows->source ? rows->source[i] : staged;
}

/* Rows at … at+count−1 of the batch to the end of the buffer. */
static int take_rows(struct ny_ingest *ingest, const struct ny_ingest_rows *rows, size_t at,
                     size_t count)
{
    size_t d = ingest->counting.moments.d, all = count * d, done;
    enum ny_dtype from = ingest->spec.dtype;
    const char *in = (const char *)rows->values + at * d * ny_dtype_size(from);
    uint64_t staged = ny_ingest_total(ingest) - ingest->base.n;
    char *out = ingest->buffer[NY_KIND_POINTS] + ingest->filled * ingest->row_bytes[NY_KIND_POINTS];
    int err;

    if (ingest->is_sparse) {
        err = ny_ingest_sparse_take(ingest, rows, at, count);
        return err ? err : take_marks(ingest, rows, at, count);
    }
    done = ny_dtype_convert(from, in, ingest->dtype, true, out, all);
    if (done < all)
        return ny_ingest_misfit(ingest, row_of(rows, at + done / d, staged + done / d), done % d);
    return take_marks(ingest, rows, at, count);
}

/* Takes a batch, block by block. Rows consumed and rows staged belong together only at its end, so
 * that a progress record is written there, where much is dirty. */
static int take_batch(struct ny_ingest *ingest, const struct ny_ingest_rows *rows)
{
    size_t room = ingest->group * (size_t)ingest->block_rows;
    int err = NY_OK;

    ingest->names.next = rows->names;
    for (size_t at = 0; !err && at < rows->count;) {
        size_t some = room - ingest->filled;

        if (some > rows->count - at) some = rows->count - at;
        err = take_rows(ingest, rows, at, some);
        at += some;
        if (!err && ingest->filled == room) err = ny_ingest_flush(ingest);
    }
    if (err) return err;
    ingest->consumed = rows->consumed;
    ingest->dropped = rows->dropped;
    /* Half of the limit, as the blocks in the buffer come on top. */
    if (ingest->write.txn && ingest->write.dirty_bytes > ingest->dirty_max / 2)
        err = ny_ingest_stage(ingest);
    return err;
}

/* Ends the import where `err` is a failure: what was staged before stays for a resume. */
static int keep_failure(struct ny_ingest *ingest, int err)
{
    if (err) {
        ny_write_abort(&ingest->write);
        ingest->failed = err;
    }
    return err;
}

/* Fails because the import has ended. The status of the first failure is given again. */
static int refuse(struct ny_ingest *ingest)
{
    return ny_fail(ingest->ctx, ingest->failed ? ingest->failed : NY_EINTERNAL,
                   "this import of %s has ended", ingest->store->path);
}

int ny_ingest_rows(struct ny_ingest *ingest, const struct ny_ingest_rows *rows)
{
    if (ingest->failed || ingest->ended) return refuse(ingest);
    if ((ingest->spec.labels && !rows->labels) || (ingest->spec.source && !rows->source))
        return NY_BUG(ingest->ctx);
    if (rows->sparse && !ingest->is_sparse) return keep_failure(ingest, NY_BUG(ingest->ctx));
    if (ny_ingest_total(ingest) + rows->count > NY_ROWS_MAX)
        return keep_failure(ingest,
                            ny_fail(ingest->ctx, NY_EDATA, "a store takes %llu rows at most",
                                    (unsigned long long)NY_ROWS_MAX));
    return keep_failure(ingest, take_batch(ingest, rows));
}

/* ---- class names --------------------------------------------------------------------------- */

/* Label values are indices into the names, so what the store has must stay where it is. */
static int check_class_names(struct ny_ingest *ingest, const char *const *names, size_t count)
{
    size_t known;
    char **old;
    bool same;
    int err = ny_points_class_names(ingest->store, &old, &known);

    if (err) return err;
    same = known <= count && (ingest->base.n == 0 || known > 0 || count == 0);
    for (size_t i = 0; same && i < known; i++)
        same = strcmp(old[i], names[i]) == 0;
    ny_free(ingest->ctx, old);
    if (same) return NY_OK;
    return fail_labels(ingest);
}

int ny_ingest_class_names(struct ny_ingest *ingest, const char *const *names, size_t count)
{
    size_t bytes = 0;
    char *at;
    int err;

    if (ingest->failed || ingest->ended) return refuse(ingest);
    err = check_class_names(ingest, names, count);
    if (err) return keep_failure(ingest, err);
    for (size_t i = 0; i < count; i++)
        bytes += strlen(names[i]) + 1;
    if (bytes > NY_ROW_BYTES_MAX || count > UINT32_MAX)
        return keep_failure(ingest, fail_labels(ingest));
    ny_free(ingest->ctx, ingest->classes.text);
    ingest->classes.text = ny_alloc(ingest->ctx, NY_MEM_STORE, bytes);
    if (!ingest->classes.text) return keep_failure(ingest, NY_EBUDGET);
    at = ingest->classes.text;
    for (size_t i = 0; i < count; i++)
        at = stpcpy(at, names[i]) + 1;
    ingest->classes.bytes = bytes;
    ingest->classes.count = (uint32_t)count;
    return NY_OK;
}

/* ---- the end ------------------------------------------------------------------------------- */

int ny_ingest_commit(struct ny_ingest *ingest)
{
    int err = NY_OK;

    if (ingest->failed || ingest->ended) return refuse(ingest);
    if (ingest->spec.labels && ingest->classes.count == 0 && ingest->base.classes > 0)
        return keep_failure(ingest, fail_labels(ingest));
    if (ny_ingest_total(ingest) == ingest->base.n)
        err = ny_ingest_drop(ingest, ingest->base.n);
    else
        err = ny_ingest_columns_put(ingest);
    if (!err && ny_ingest_total(ingest) > ingest->base.n) err = ny_ingest_publish(ingest);
    ingest->ended = err == NY_OK;
    ingest->told = ingest->ended && ny_ingest_total(ingest) > ingest->base.n;
    return keep_failure(ingest, err);
}

int ny_ingest_discard(struct ny_ingest *ingest)
{
    int err;

    if (ingest->ended) return refuse(ingest); /* what is committed is not ours to drop */
    err = ny_ingest_drop(ingest, ingest->base.n);
    ingest->ended = err == NY_OK;
    return keep_failure(ingest, err);
}
