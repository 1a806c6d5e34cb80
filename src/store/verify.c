/*
 * Reads every byte of a store, and goes on where something is damaged. ny_store_verify() serves
 * the verb verify; it changes nothing.
 *
 * The order is: structure of both files, then points with their digests and records, then results.
 * Blocks and chunks are read by as many threads as the budget has room for. Their findings are
 * kept, sorted, and told at the end, so that the caller's `damaged` is called in one thread and in
 * the same order every time. Each value is read in a view of its own: other processes may import
 * and fit meanwhile, and a long view would keep LMDB from using freed pages again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "base/progress.h"
#include "store/csr.h"
#include "store/verify_private.h"

/* The buffer of one thread, which has room for any decoded value. */
struct reader {
    struct ny_verifying *v;
    char *block;
    size_t room;
    struct ny_names names;
};

/* ---- trees --------------------------------------------------------------------------------- */

/* Reports that one of the two files is older than the other remembers: it was put back from a
 * copy. */
static int verify_epochs(const struct ny_verifying *v)
{
    char older[NY_OLDER_BYTES];

    if (!ny_store_older(v->store, older)) return NY_OK;
    return v->damaged(v->user, &(struct ny_damage){.kind = NY_DAMAGED_OLDER, .what = older});
}

/* Checks the trees of one file. *entries: how many values it has, for the progress. */
static int verify_structure(struct ny_verifying *v, const struct ny_env *env, uint64_t *entries)
{
    char why[NY_WHY_BYTES];
    struct ny_pulse pulse;
    int err = ny_structure_check(v->store->ctx, env->path, &pulse, why);

    *entries = err ? 0 : pulse.entries;
    return err == NY_ESTORE ? ny_verify_tell_wrong(v, env->path, why) : err;
}

/* ---- points -------------------------------------------------------------------------------- */

/* The manifest of this very view: an append that ended meanwhile has rewritten the last block. If
 * it cannot be read any more, it is taken as it was. */
static struct ny_manifest manifest_now(const struct ny_verifying *v, struct ny_snapshot *view)
{
    struct ny_manifest now;

    return ny_manifest_fetch(view, &now) ? v->m : now;
}

/* Bytes of a decoded block of any kind. */
static size_t block_room(const struct ny_manifest *m)
{
    enum ny_dtype dtype = (enum ny_dtype)m->dtype;
    size_t marks = (size_t)m->block_rows * 8; /* labels, source */
    size_t points = m->layout == NY_CSR
                        ? ny_csr_bound((size_t)m->block_rows, (size_t)m->block_nnz, dtype)
                        : (size_t)m->block_rows * m->d * ny_dtype_size(dtype);

    return points > marks ? points : marks;
}

/* Stored bytes of a row, on average. */
static double row_share(const struct ny_manifest *m)
{
    return (double)(m->full_bytes + m->tail_bytes) / (double)m->n;
}

/* Rows of points. Sparse ones take as much room as the fullest block has now. */
static int read_points(struct reader *reader, struct ny_snapshot *view,
                       const struct ny_manifest *now, uint64_t block, const char **wrong)
{
    struct ny_csr_image image = {.rows = (size_t)ny_rows_in_block(now, block)};
    size_t bytes;

    if (now->layout == NY_DENSE) {
        ny_block_read(view, now, NY_KIND_POINTS, block, reader->block, wrong);
        return NY_OK;
    }
    bytes =
        ny_csr_bound((size_t)now->block_rows, (size_t)now->block_nnz, (enum ny_dtype)now->dtype);
    if (bytes > reader->room) {
        if (ny_resize_array(view->store->ctx, NY_MEM_STORE, &reader->block, bytes, 1))
            return NY_EBUDGET;
        reader->room = bytes;
    }
    image.at = reader->block;
    ny_csr_read(view, now, ny_points_key(NY_KIND_POINTS, block), &image, wrong);
    return NY_OK;
}

/* Reads the names of a block; NY_OK where *wrong says what is. */
static int read_names(struct reader *reader, struct ny_snapshot *view,
                      const struct ny_manifest *now, uint64_t block, const char **wrong)
{
    struct ny_names_entry entry = {NY_KIND_NAMES, block, (size_t)ny_rows_in_block(now, block)};
    int err;

    ny_names_clear(&reader->names);
    err = ny_names_read(view, &entry, &reader->names, wrong);
    return *wrong ? NY_OK : err;
}

/* Reads one kind of a block, with its checksum, in a view of its own. */
static int verify_block(struct reader *reader, enum ny_kind kind, uint64_t block)
{
    struct ny_verifying *v = reader->v;
    const char *wrong = NULL;
    struct ny_manifest now;
    struct ny_snapshot *view;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    now = manifest_now(v, view);
    if (ny_rows_in_block(&now, block) == 0) return ny_snapshot_end(view); /* it was cut off */
    if (kind == NY_KIND_POINTS)
        err = read_points(reader, view, &now, block, &wrong);
    else if (kind == NY_KIND_NAMES)
        err = read_names(reader, view, &now, block, &wrong);
    else
        ny_block_read(view, &now, kind, block, reader->block, &wrong);
    end = ny_snapshot_end(view);
    if (err || end || !wrong) return end ? end : err;
    return ny_verify_note(v, (struct ny_finding){.kind = kind, .block = block, .wrong = wrong});
}

/* Reads a block of points with its labels and source row numbers. Points that are known as lost,
 * after a repair, are passed over. */
static int verify_kinds(struct reader *reader, uint64_t block)
{
    const struct ny_manifest *m = &reader->v->m;
    uint64_t first = block * m->block_rows, end = first + ny_rows_in_block(m, block);
    int err = NY_OK;

    if (!ny_lost_covers(&reader->v->lost, first, end))
        err = verify_block(reader, NY_KIND_POINTS, block);
    if (!err && m->flags & NY_FLAG_LABELS) err = verify_block(reader, NY_KIND_LABELS, block);
    if (!err && m->flags & NY_FLAG_SOURCE && block >= m->source_from)
        err = verify_block(reader, NY_KIND_SOURCE, block);
    if (!err && m->flags & NY_FLAG_NAMES) err = verify_block(reader, NY_KIND_NAMES, block);
    return err ? err : ny_check_interrupt(reader->v->store->ctx);
}

/* Blocks in turn, until there are none or another worker has failed. */
static int read_blocks(void *arg, unsigned worker)
{
    struct ny_verifying *v = arg;
    const struct ny_manifest *m = &v->m;
    struct reader reader = {.v = v, .room = block_room(m)};
    int err = NY_OK;

    (void)worker;
    reader.block = ny_alloc(v->store->ctx, NY_MEM_STORE, reader.room);
    if (!reader.block) err = NY_EBUDGET;
    for (;;) {
        uint64_t block, rows;

        ny_mutex_lock(&v->lock);
        if (err) v->next = v->blocks;
        block = v->next < v->blocks ? v->next++ : v->blocks;
        ny_mutex_unlock(&v->lock);
        if (block == v->blocks) break;
        err = verify_kinds(&reader, block);
        rows = ny_rows_in_block(m, block);
        ny_mutex_lock(&v->lock);
        ny_meter_add(&v->meter, rows, (double)rows * row_share(m), 0);
        ny_mutex_unlock(&v->lock);
    }
    ny_names_release(&reader.names, v->store->ctx);
    ny_free(v->store->ctx, reader.block);
    return err;
}

/* Order of findings: blocks ascending, and the kinds of one block by number. */
static int by_block(const void *a, const void *b)
{
    const struct ny_finding *x = a, *y = b;

    if (x->block != y->block) return x->block < y->block ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Reports a damaged block with the rows that it holds. */
static int tell_block(struct ny_verifying *v, const struct ny_finding *finding)
{
    static const enum ny_damaged kinds[] = {[NY_KIND_POINTS] = NY_DAMAGED_POINTS,
                                            [NY_KIND_LABELS] = NY_DAMAGED_LABELS,
                                            [NY_KIND_SOURCE] = NY_DAMAGED_SOURCE,
                                            [NY_KIND_NAMES] = NY_DAMAGED_NAMES};
    static const char *const names[] = {[NY_KIND_POINTS] = "points",
                                        [NY_KIND_LABELS] = "labels",
                                        [NY_KIND_SOURCE] = "source row numbers",
                                        [NY_KIND_NAMES] = "names"};
    char what[NY_WHY_BYTES];

    snprintf(what, sizeof(what), "%s of block %llu: %s", names[finding->kind],
             (unsigned long long)finding->block, finding->wrong);
    return ny_verify_tell(v, (struct ny_damage){.kind = kinds[finding->kind],
                                                .block = finding->block,
                                                .first_row = finding->block * v->m.block_rows,
                                                .rows = ny_rows_in_block(&v->m, finding->block),
                                                .what = what});
}

/* Reads all blocks in parallel, then reports what was found. */
static int verify_blocks(struct ny_verifying *v)
{
    struct ny_context *ctx = v->store->ctx;
    int err;

    v->blocks = (v->m.n + v->m.block_rows - 1) / v->m.block_rows;
    if (v->blocks == 0) return NY_OK;
    ny_meter_start(&v->meter, ctx, "verify", 0, v->m.n);
    err = ny_parallel(ctx, ny_verify_workers(v, block_room(&v->m)), read_blocks, v);
    if (!err) ny_meter_finish(&v->meter);
    if (!err && v->findings) qsort(v->finding, v->findings, sizeof(*v->finding), by_block);
    for (size_t i = 0; !err && i < v->findings; i++)
        err = tell_block(v, &v->finding[i]);
    v->findings = 0;
    return err;
}

/* The manifest's digests are chains over the checksums of the blocks. */
static int verify_digests(struct ny_verifying *v)
{
    uint64_t full, digest = 0, tail = 0;
    struct ny_manifest now;
    struct ny_snapshot *view;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    now = manifest_now(v, view);
    full = now.n / now.block_rows;
    for (uint64_t b = 0; b <= full; b++) {
        struct ny_key key = ny_points_key(NY_KIND_POINTS, b);

        if (b < full)
            digest = ny_digest_add(digest, ny_snapshot_checksum(view, &key));
        else if (now.n % now.block_rows)
            tail = ny_snapshot_checksum(view, &key);
    }
    end = ny_snapshot_end(view);
    if (end) return end;
    if (now.n == 0 || (digest == now.digest && tail == now.tail_digest)) return NY_OK;
    return ny_verify_tell(
        v, (struct ny_damage){
               .kind = NY_DAMAGED_DIGEST,
               .what = "the blocks are not those that were imported: a digest is wrong"});
}

/* The statistics must be those of as many rows and columns as the manifest of their view has. */
static const char *check_stats(const struct ny_verifying *v, struct ny_snapshot *view,
                               const char *room)
{
    const struct ny_manifest now = manifest_now(v, view);
    struct ny_stats_record record;

    memcpy(&record, room, sizeof(record));
    return record.n == now.n && record.d == now.d ? NULL : "they are of other points";
}

/* Reads a single record of points/ and says what is wrong with it. Class names have no fixed size,
 * which is asked for first. */
static int read_record(struct ny_verifying *v, enum ny_kind kind, size_t bytes, const char **wrong)
{
    struct ny_want want = {
        .key = ny_points_key(kind, 0),
        .frame = {.store = v->store->id, .raw_bytes = (uint32_t)bytes, .kind = kind},
        .exact = kind == NY_KIND_STATS,
        .capacity = bytes};
    struct ny_snapshot *view;
    char *room;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    *wrong = NULL;
    if (err) return err;
    if (kind == NY_KIND_CLASSES && ny_snapshot_size(view, &want.key, &want.capacity) != NY_OK) {
        *wrong = "it is missing";
        return ny_snapshot_end(view);
    }
    room = ny_alloc(v->store->ctx, NY_MEM_STORE, want.capacity);
    if (!room)
        err = NY_EBUDGET;
    else if (!ny_snapshot_read(view, &want, room, wrong) && kind == NY_KIND_STATS)
        *wrong = check_stats(v, view, room);
    end = ny_snapshot_end(view);
    ny_free(v->store->ctx, room);
    return end ? end : err;
}

/* Checks the sum of norms. */
static int verify_norms(struct ny_verifying *v)
{
    struct ny_snapshot *view;
    const char *wrong;
    double sum;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    ny_norms_read(view, v->m.n, &sum, &wrong);
    end = ny_snapshot_end(view);
    return end || !wrong ? end : ny_verify_tell_wrong(v, "sum of norms", wrong);
}

/* Checks the lengths of sparse rows. */
static int verify_lengths(struct ny_verifying *v)
{
    struct ny_lengths lengths;
    struct ny_snapshot *view;
    const char *wrong;
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    ny_lengths_read(view, &v->m, &lengths, &wrong);
    end = ny_snapshot_end(view);
    return end || !wrong ? end : ny_verify_tell_wrong(v, "lengths of rows", wrong);
}

/* Reads the names of columns, and reports the first damage. */
static int verify_columns(struct ny_verifying *v)
{
    struct ny_names names = {0};
    struct ny_snapshot *view;
    const char *wrong = NULL;
    char what[NY_WHY_BYTES];
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    for (uint64_t number = 0; !err && number < ny_column_entries(v->m.d); number++) {
        const struct ny_names_entry entry = ny_column_entry(v->m.d, number);

        ny_names_clear(&names);
        err = ny_names_read(view, &entry, &names, &wrong);
    }
    end = ny_snapshot_end(view);
    ny_names_release(&names, v->store->ctx);
    if (end || !wrong) return end ? end : err;
    snprintf(what, sizeof(what), "names of columns: %s", wrong);
    return ny_verify_tell(v, (struct ny_damage){.kind = NY_DAMAGED_COLUMN_NAMES, .what = what});
}

/* Reads the notes of imports, and reports one damage. */
static int verify_imports(struct ny_verifying *v)
{
    struct ny_imports imports;
    struct ny_snapshot *view;
    const char *wrong;
    char what[NY_WHY_BYTES];
    int end, err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    err = ny_imports_read(view, &imports, &wrong);
    end = ny_snapshot_end(view);
    ny_imports_release(&imports, v->store->ctx);
    if (err || end || !wrong) return end ? end : err;
    snprintf(what, sizeof(what), "list of imports: %s", wrong);
    return ny_verify_tell(v, (struct ny_damage){.kind = NY_DAMAGED_IMPORTS, .what = what});
}

/* Checks the records beside the blocks: statistics, norms, lengths, notes of imports, names of
 * columns and class names where there are some. */
static int verify_records(struct ny_verifying *v)
{
    const char *wrong = NULL;
    int err;

    if (v->m.n == 0) return NY_OK;
    err = read_record(v, NY_KIND_STATS,
                      sizeof(struct ny_stats_record) + 4 * (size_t)v->m.d * sizeof(double), &wrong);
    if (!err && wrong) err = ny_verify_tell_wrong(v, "column statistics", wrong);
    if (!err) err = verify_norms(v);
    if (!err) err = verify_lengths(v);
    if (!err) err = verify_imports(v);
    if (!err && v->m.flags & NY_FLAG_COLUMNS) err = verify_columns(v);
    if (err || v->m.classes == 0) return err;
    err = read_record(v, NY_KIND_CLASSES, 0, &wrong);
    return err || !wrong ? err : ny_verify_tell_wrong(v, "class names", wrong);
}

/* Checks points/. Without a manifest nothing else of it can be read, and that alone is
 * reported. */
static int verify_points(struct ny_verifying *v)
{
    struct ny_snapshot *view;
    const char *wrong;
    int err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    wrong = ny_manifest_fetch(view, &v->m);
    err = ny_snapshot_end(view);
    if (err) return err;
    if (wrong)
        return ny_verify_tell_wrong(v, "the manifest, without which no point can be read", wrong);
    err = ny_points_lost(v->store, &v->lost);
    if (err == NY_ESTORE) { /* its message says so */
        err = ny_verify_tell(v, (struct ny_damage){.what = ny_context_message(v->store->ctx)});
        ny_error_clear(v->store->ctx);
    }
    if (!err) err = verify_blocks(v);
    if (!err) err = verify_digests(v);
    if (!err) err = verify_records(v);
    return err;
}

int ny_store_verify(struct ny_store *store, ny_damage_fn *damaged, void *user)
{
    struct ny_verifying v = {
        .store = store, .damaged = damaged, .user = user, .m = {.block_rows = 1}};
    uint64_t chunks = 0, entries;
    int err;

    ny_mutex_init(&v.lock);
    err = verify_structure(&v, store->points, &entries);
    if (!err) err = verify_structure(&v, store->results, &chunks);
    if (!err) err = verify_epochs(&v);
    if (!err) err = verify_points(&v);
    ny_snapshots_free(store); /* of each thread that read: room for others */
    if (!err) err = ny_verify_results(&v, chunks);
    ny_snapshots_free(store);
    ny_free(store->ctx, v.finding);
    ny_lost_release(&v.lost, store->ctx);
    ny_mutex_release(&v.lock);
    return err;
}
