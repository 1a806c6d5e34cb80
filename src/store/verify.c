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
    return err == NY_ESTORE ? ny_verify_tell_wrong(v, NY_DAMAGED_OTHER, env->path, why) : err;
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
    int err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    now = manifest_now(v, view);
    if (ny_rows_in_block(&now, block) == 0)
        return ny_snapshot_end(view, NY_OK); /* it was cut off */
    if (kind == NY_KIND_POINTS)
        err = read_points(reader, view, &now, block, &wrong);
    else if (kind == NY_KIND_NAMES)
        err = read_names(reader, view, &now, block, &wrong);
    else
        ny_block_read(view, &now, kind, block, reader->block, &wrong);
    err = ny_snapshot_end(view, err);
    if (err || !wrong) return err;
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
    uint64_t digest, tail = 0;
    struct ny_key last;
    struct ny_manifest now;
    struct ny_snapshot *view;
    int err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    now = manifest_now(v, view);
    digest = ny_snapshot_digest(view, now.n / now.block_rows);
    last = ny_points_key(NY_KIND_POINTS, now.n / now.block_rows);
    if (now.n % now.block_rows) tail = ny_snapshot_checksum(view, &last);
    err = ny_snapshot_end(view, NY_OK);
    if (err) return err;
    if (now.n == 0 || (digest == now.digest && tail == now.tail_digest)) return NY_OK;
    return ny_verify_tell(
        v, (struct ny_damage){
               .kind = NY_DAMAGED_DIGEST,
               .what = "the blocks are not those that were imported: a digest is wrong"});
}

/* ---- records ------------------------------------------------------------------------------- */

/* A record beside the blocks, and what is wrong with it; NULL: nothing is. */
struct record {
    enum ny_damaged kind;
    const char *thing, *wrong;
};
enum { STATS, NORMS, LENGTHS, IMPORTS, COLUMNS, CLASSES, RECORDS };

/* Reads the statistics, which must be those of as many rows and columns as the manifest says. */
static int check_stats(struct ny_snapshot *view, const struct ny_manifest *now, const char **wrong)
{
    size_t bytes = sizeof(struct ny_stats_record) + 4 * (size_t)now->d * sizeof(double);
    struct ny_want want = ny_points_want(view->store, NY_KIND_STATS, 0, 0, bytes);
    struct ny_stats_record *record = ny_alloc(view->store->ctx, NY_MEM_STORE, bytes);

    if (!record) return NY_EBUDGET;
    if (!ny_snapshot_read(view, &want, record, wrong) &&
        (record->n != now->n || record->d != now->d))
        *wrong = "they are of other points";
    ny_free(view->store->ctx, record);
    return NY_OK;
}

/* Reads the names of classes, which have no fixed size. */
static int check_classes(struct ny_snapshot *view, const char **wrong)
{
    struct ny_want want = {.key = ny_points_key(NY_KIND_CLASSES, 0),
                           .frame = {.store = view->store->id, .kind = NY_KIND_CLASSES}};
    void *room;

    *wrong = "it is missing";
    if (ny_snapshot_size(view, &want.key, &want.capacity)) return NY_OK;
    room = ny_alloc(view->store->ctx, NY_MEM_STORE, want.capacity);
    if (!room) return NY_EBUDGET;
    ny_snapshot_read(view, &want, room, wrong);
    ny_free(view->store->ctx, room);
    return NY_OK;
}

/* Reads the names of columns, up to the first damage. */
static int check_columns(struct ny_snapshot *view, uint64_t d, const char **wrong)
{
    struct ny_names names = {0};
    int err = NY_OK;

    for (uint64_t number = 0; !err && number < ny_column_entries(d); number++) {
        const struct ny_names_entry entry = ny_column_entry(d, number);

        ny_names_clear(&names);
        err = ny_names_read(view, &entry, &names, wrong);
    }
    ny_names_release(&names, view->store->ctx);
    return *wrong ? NY_OK : err;
}

/* Reads all of them in one view. */
static int check_records(struct ny_snapshot *view, const struct ny_manifest *now,
                         struct record records[RECORDS])
{
    struct ny_imports imports = {0};
    struct ny_lengths lengths;
    double sum;
    int err = check_stats(view, now, &records[STATS].wrong);

    if (err) return err;
    ny_norms_read(view, now->n, &sum, &records[NORMS].wrong);
    ny_lengths_read(view, now, &lengths, &records[LENGTHS].wrong);
    err = ny_imports_read(view, &imports, &records[IMPORTS].wrong);
    ny_imports_release(&imports, view->store->ctx);
    if (!err && now->flags & NY_FLAG_COLUMNS)
        err = check_columns(view, now->d, &records[COLUMNS].wrong);
    return err || !now->classes ? err : check_classes(view, &records[CLASSES].wrong);
}

/* Checks the records beside the blocks. */
static int verify_records(struct ny_verifying *v)
{
    struct record records[RECORDS] = {
        [STATS] = {NY_DAMAGED_OTHER, "column statistics", NULL},
        [NORMS] = {NY_DAMAGED_OTHER, "sum of norms", NULL},
        [LENGTHS] = {NY_DAMAGED_OTHER, "lengths of rows", NULL},
        [IMPORTS] = {NY_DAMAGED_IMPORTS, "list of imports", NULL},
        [COLUMNS] = {NY_DAMAGED_COLUMN_NAMES, "names of columns", NULL},
        [CLASSES] = {NY_DAMAGED_OTHER, "class names", NULL}};
    struct ny_manifest now;
    struct ny_snapshot *view;
    int err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    now = manifest_now(v, view);
    if (now.n) err = check_records(view, &now, records);
    err = ny_snapshot_end(view, err);
    for (size_t i = 0; i < RECORDS && !err; i++)
        if (records[i].wrong)
            err = ny_verify_tell_wrong(v, records[i].kind, records[i].thing, records[i].wrong);
    return err;
}

/* ---- all of it ----------------------------------------------------------------------------- */

/* Checks points/. Without a manifest nothing else of it can be read, and that alone is
 * reported. */
static int verify_points(struct ny_verifying *v)
{
    struct ny_snapshot *view;
    const char *wrong;
    int err = ny_snapshot_begin(&view, v->store, v->store->points);

    if (err) return err;
    wrong = ny_manifest_fetch(view, &v->m);
    err = ny_snapshot_end(view, NY_OK);
    if (err) return err;
    if (wrong)
        return ny_verify_tell_wrong(v, NY_DAMAGED_OTHER,
                                    "the manifest, without which no point can be read", wrong);
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
