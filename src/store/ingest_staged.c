/*
 * Keeps in the store what an unfinished import has staged, and takes it up in the next run.
 *
 * Staged rows are invisible: blocks lie behind the manifest's n, and unfinished ones under kinds
 * with NY_STAGED. The progress record says how many rows of the source are decided and how many
 * are staged, and has the statistics so far. The same import, told by its fingerprint, goes on
 * there; anything else that is found is deleted. ny_ingest_publish() makes all of it visible in one
 * transaction. The progress record then stays, without statistics, until the caller has heard of
 * the end: a run that was killed in between is thus known as done, and adds no row twice.
 */
#include <string.h>

#include "base/memory.h"
#include "base/guard.h"
#include "store/ingest_private.h"

enum { DELETIONS_MAX = 4096 };

/* Returns the bytes of the statistics: four numbers a column. */
static size_t moments_bytes(const struct ny_ingest *ingest)
{
    return 4 * ingest->counting.moments.d * sizeof(double);
}

/* ---- the progress record ------------------------------------------------------------------- */

static uint32_t flags_of(const struct ny_ingest *ingest)
{
    return (ingest->spec.labels ? NY_FLAG_LABELS : 0u) |
           (ingest->spec.source ? NY_FLAG_SOURCE : 0u) | (ingest->spec.names ? NY_FLAG_NAMES : 0u);
}

/* Returns the record of the import as it stands. Its first fields tell a later run whether it is
 * the same import. */
static struct ny_progress_record progress_of(const struct ny_ingest *ingest)
{
    return (struct ny_progress_record){.fingerprint = ingest->spec.fingerprint,
                                       .base_n = ingest->base.n,
                                       .d = ingest->spec.d,
                                       .dtype = (uint32_t)ingest->spec.dtype,
                                       .layout = (uint32_t)ingest->spec.layout,
                                       .flags = flags_of(ingest),
                                       .rows = ny_ingest_total(ingest),
                                       .stat_rows = ingest->counting.moments.n,
                                       .consumed = ingest->consumed,
                                       .dropped = ingest->dropped,
                                       .full_bytes = ingest->full_bytes,
                                       .digest = ingest->digest};
}

/* Pieces that came in after version 1.0: a record may be without each of them, and a bit tells
 * which of them it lacks. Norms may lack later, too, where they are not known. */
enum { NO_NORMS = 1, NO_LENGTHS = 2, OLDER_RECORDS = 4 };

/* A piece of what an import goes on from, behind the fields of the progress record. */
struct piece {
    bool present;
    void *at;
    size_t bytes;
};

enum walk { COUNT, WRITE, READ };

/* Writes all pieces to `raw` one behind another, or reads them from there, and returns their bytes.
 */
static size_t walk_pieces(struct ny_ingest *ingest, unsigned without, enum walk walk, char *raw)
{
    struct ny_counting *counting = &ingest->counting;
    const struct piece pieces[] = {
        {true, counting->moments.cells, moments_bytes(ingest)},
        {ingest->is_sparse, &ingest->sparse.full, sizeof(ingest->sparse.full)},
        {ingest->is_sparse && !(without & NO_LENGTHS), &ingest->sparse.lengths,
         sizeof(ingest->sparse.lengths)},
        {!(without & NO_NORMS), &counting->norms, sizeof(counting->norms)}};
    size_t bytes = 0;

    for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
        const struct piece *piece = &pieces[i];

        if (!piece->present) continue;
        if (walk == WRITE) memcpy(raw + bytes, piece->at, piece->bytes);
        if (walk == READ) memcpy(piece->at, raw + bytes, piece->bytes);
        bytes += piece->bytes;
    }
    return bytes;
}

/* Writes the progress record into the transaction under way: with all pieces while the import can
 * go on, without any once it is published. The caller commits it together with the rows that it
 * speaks of. */
static int write_progress(struct ny_ingest *ingest, bool goes_on)
{
    const struct ny_progress_record record = progress_of(ingest);
    unsigned without = ingest->counting.norms_known ? 0 : NO_NORMS;
    size_t bytes = sizeof(record) + (goes_on ? walk_pieces(ingest, without, COUNT, NULL) : 0);
    char *raw = ny_alloc(ingest->ctx, NY_MEM_STORE, bytes);
    int err;

    if (!raw) return NY_EBUDGET;
    memcpy(raw, &record, sizeof(record));
    if (goes_on) walk_pieces(ingest, without, WRITE, raw + sizeof(record));
    err = ny_points_put(&ingest->write, NY_KIND_PROGRESS, 0, raw, bytes);
    ny_free(ingest->ctx, raw);
    return err;
}

/* Deletes all kinds of a staged block, whether they are there or not. */
static int delete_staged(struct ny_ingest *ingest, uint64_t block)
{
    int err = NY_OK;

    for (unsigned kind = NY_KIND_POINTS; !err && kind; kind = ny_kind_after(kind))
        err = ny_points_delete(&ingest->write, kind | NY_STAGED, block);
    return err;
}

int ny_ingest_stage(struct ny_ingest *ingest)
{
    uint64_t before = ingest->staged_open;
    int err = ny_ingest_flush(ingest);

    if (!err && ingest->filled > 0) {
        ny_ingest_pack_block(ingest, 0, ingest->filled);
        err = ny_ingest_put(ingest, 0, NY_STAGED);
    }
    if (!err) err = ny_ingest_write_begin(ingest);
    if (!err && before != ny_no_block && before != ny_ingest_tail_block(ingest) &&
        before < ingest->first_block)
        err = delete_staged(ingest, before);
    if (!err) ny_ingest_sparse_raise(ingest);
    if (!err) err = write_progress(ingest, true);
    if (!err) err = ny_write_commit(&ingest->write, NY_OK);
    if (!err) ingest->staged_open = ingest->filled ? ingest->first_block : ny_no_block;
    return err;
}

/* ---- resuming ------------------------------------------------------------------------------ */

/* Tells whether a record is of this import, over the same points: fingerprint of the source, shape
 * and type of the rows, and the rows that readers see. */
static bool same_import(const struct ny_ingest *ingest, const struct ny_progress_record *record)
{
    return record->fingerprint == ingest->spec.fingerprint && record->base_n == ingest->base.n &&
           record->d == ingest->spec.d && record->dtype == (uint32_t)ingest->spec.dtype &&
           record->layout == (uint32_t)ingest->spec.layout && record->flags == flags_of(ingest) &&
           record->rows >= ingest->base.n;
}

/* A block that is loaded, and the values of the fullest one where rows are sparse. */
struct loading {
    unsigned flag; /* NY_STAGED, or 0 */
    size_t rows;
    uint64_t block_nnz;
};

/* Reads one kind of the first block into the front of the buffer. NY_ESTORE: *wrong says what is.
 */
static int load(struct ny_ingest *ingest, struct ny_snapshot *view, enum ny_kind kind,
                struct loading block, const char **wrong)
{
    struct ny_want want = ny_points_want(ingest->store, kind | block.flag, ingest->first_block,
                                         block.rows, block.rows * ingest->row_bytes[kind]);

    if (kind == NY_KIND_POINTS && ingest->is_sparse)
        return ny_ingest_sparse_load(ingest, view, block.flag, block.rows, block.block_nnz, wrong);
    if (kind == NY_KIND_NAMES)
        return ny_ingest_names_load(ingest, view, block.flag, block.rows, wrong);
    return ny_snapshot_read(view, &want, ingest->buffer[kind], wrong);
}

/* Takes over a record, which lacks the pieces `without`, and the unfinished block that goes with
 * it. NY_END where they do not agree with the store, and the import starts anew. */
static int take_up(struct ny_ingest *ingest, struct ny_snapshot *view, unsigned without,
                   struct ny_progress_record *record)
{
    struct loading open = {NY_STAGED, (size_t)(record->rows % ingest->block_rows), 0};
    const char *wrong;
    int err = NY_OK;

    walk_pieces(ingest, without, READ, (char *)(record + 1));
    if (ingest->is_sparse) {
        if (without & NO_LENGTHS)
            ny_lengths_unknown(&ingest->sparse.lengths, ingest->sparse.full.nnz);
        if (ingest->sparse.full.block_rows != ingest->block_rows) return NY_END;
        open.block_nnz = ingest->sparse.full.block_nnz;
        err = ny_ingest_sparse_reserve(ingest, (size_t)open.block_nnz);
        if (err) return err;
    }
    ingest->first_block = record->rows / ingest->block_rows;
    for (unsigned kind = NY_KIND_POINTS; !err && open.rows && kind; kind = ny_kind_after(kind))
        if (ingest->has[kind]) err = load(ingest, view, kind, open, &wrong);
    if (err == NY_ESTORE) err = NY_END; /* what is staged is of no use, and nobody has seen it */
    if (err) return err;
    ingest->counting.norms_known = !(without & NO_NORMS);
    ingest->counting.moments.n = record->stat_rows;
    ingest->filled = open.rows;
    ingest->staged_open = open.rows ? ingest->first_block : ny_no_block;
    ingest->full_bytes = record->full_bytes;
    ingest->digest = record->digest;
    ingest->consumed = record->consumed;
    ingest->dropped = record->dropped;
    return NY_OK;
}

int ny_ingest_finished(struct ny_ingest *ingest, bool *finished, uint64_t *rows)
{
    struct ny_progress_record record;
    struct ny_want want = ny_points_want(ingest->store, NY_KIND_PROGRESS, 0, 0, sizeof(record));
    struct ny_snapshot *view;
    const char *wrong;
    int err = ny_snapshot_begin(&view, ingest->store, ingest->store->points);

    *finished = false;
    if (err) return err;
    *finished = ny_snapshot_read(view, &want, &record, &wrong) == NY_OK &&
                record.fingerprint == ingest->spec.fingerprint && record.base_n < ingest->base.n &&
                record.rows == ingest->base.n;
    if (*finished) *rows = ingest->base.n - record.base_n;
    return ny_snapshot_end(view, NY_OK);
}

int ny_ingest_waits(struct ny_store *store, bool *waits)
{
    const struct ny_key key = ny_points_key(NY_KIND_PROGRESS, 0);
    struct ny_snapshot *view;
    size_t bytes = 0;
    int err;

    *waits = false;
    err = store->in_memory ? NY_END : ny_snapshot_begin(&view, store, store->points);
    if (err) return err == NY_END ? NY_OK : err;
    err = ny_snapshot_size(view, &key, &bytes);
    *waits = !err && bytes > sizeof(struct ny_progress_record) && !ny_lock_held(store, "points");
    return ny_snapshot_end(view, NY_OK);
}

/* Takes up a progress record that lacks these pieces. */
static int resume_without(struct ny_ingest *ingest, unsigned without)
{
    size_t bytes = sizeof(struct ny_progress_record) + walk_pieces(ingest, without, COUNT, NULL);
    struct ny_want want = ny_points_want(ingest->store, NY_KIND_PROGRESS, 0, 0, bytes);
    struct ny_progress_record *record = ny_alloc(ingest->ctx, NY_MEM_STORE, bytes);
    struct ny_snapshot *view;
    const char *wrong;
    int err;

    if (!record) return NY_EBUDGET;
    err = ny_snapshot_begin(&view, ingest->store, ingest->store->points);
    if (!err) {
        err = ny_snapshot_read(view, &want, record, &wrong) || !same_import(ingest, record) ? NY_END
                                                                                            : NY_OK;
        if (!err) err = take_up(ingest, view, without, record);
        err = ny_snapshot_end(view, err);
    }
    ny_free(ingest->ctx, record);
    return err;
}

int ny_ingest_resume(struct ny_ingest *ingest)
{
    int err = NY_END;

    for (unsigned without = 0; err == NY_END && without < OLDER_RECORDS; without++)
        err = resume_without(ingest, without);
    return err;
}

/* Fills with zeros, which no reader hands out, the lost rows that new ones share a block with. */
static int blank_tail(struct ny_ingest *ingest, size_t rows)
{
    if (ingest->is_sparse) {
        int err = ny_csr_reserve(&ingest->sparse.csr, ingest->ctx, NY_MEM_STORE, rows, 0);

        if (err) return err;
        memset(ingest->sparse.csr.start, 0, (rows + 1) * sizeof(*ingest->sparse.csr.start));
        ingest->sparse.csr.rows = rows;
        return NY_OK;
    }
    memset(ingest->buffer[NY_KIND_POINTS], 0, rows * ingest->row_bytes[NY_KIND_POINTS]);
    return NY_OK;
}

/* Tells whether the rows of the short last block are known as lost, so that the block cannot be
 * loaded. */
static int tail_is_lost(struct ny_ingest *ingest, struct ny_snapshot *view, bool *is_lost)
{
    struct ny_lost lost;
    int err = ny_lost_read(view, &ingest->base, &lost);

    *is_lost =
        !err && ny_lost_covers(&lost, ingest->first_block * ingest->block_rows, ingest->base.n);
    ny_lost_release(&lost, ingest->ctx);
    return err;
}

int ny_ingest_load(struct ny_ingest *ingest, struct ny_snapshot *view, const struct ny_manifest *m,
                   enum ny_kind kind)
{
    uint64_t block = ingest->first_block;
    struct loading visible = {0, (size_t)ny_rows_in_block(m, block), m->block_nnz};
    const char *wrong = NULL;
    int err = load(ingest, view, kind, visible, &wrong);

    return wrong ? ny_block_damaged(ingest->store, m, kind, block, wrong) : err;
}

int ny_ingest_load_tail(struct ny_ingest *ingest)
{
    size_t rows = (size_t)(ingest->base.n % ingest->block_rows);
    struct ny_lengths lengths = {{0}};
    struct ny_snapshot *view;
    bool lost_tail = false;
    int err;

    ingest->filled = rows;
    if (rows == 0) return NY_OK;
    err = ny_snapshot_begin(&view, ingest->store, ingest->store->points);
    if (err) return err;
    err = tail_is_lost(ingest, view, &lost_tail);
    for (unsigned kind = NY_KIND_POINTS; !err && kind; kind = ny_kind_after(kind)) {
        uint64_t *source = (uint64_t *)(void *)ingest->buffer[kind];

        if (!ingest->has[kind]) continue;
        if (kind == NY_KIND_SOURCE && !(ingest->base.flags & NY_FLAG_SOURCE))
            for (size_t i = 0; i < rows; i++) /* they came from where they are */
                source[i] = ingest->first_block * ingest->block_rows + i;
        else if (kind == NY_KIND_POINTS && lost_tail)
            err = blank_tail(ingest, rows);
        else
            err = ny_ingest_load(ingest, view, &ingest->base, (enum ny_kind)kind);
    }
    err = ny_snapshot_end(view, err);
    ingest->sparse.full.nnz -= ny_csr_nnz(&ingest->sparse.csr);
    ny_ingest_sparse_lengths(ingest, &lengths);
    ny_lengths_take(&ingest->sparse.lengths, &lengths);
    return err;
}

/* ---- dropping ------------------------------------------------------------------------------ */

/* Blocks of one kind that are to be deleted. */
struct range {
    unsigned kind;
    uint64_t first, end; /* block numbers */
};

/* Tells whether the next entry still belongs to the range. */
static bool in_range(const void *arg, const MDB_val *key)
{
    const struct range *range = arg;
    uint64_t number;
    unsigned kind;

    return ny_points_key_parse(key, &kind, &number) && kind == range->kind && number < range->end;
}

/* Deletes a range in transactions of bounded size. */
static int drop_range(struct ny_ingest *ingest, const struct range *range)
{
    struct ny_key first = ny_points_key(range->kind, range->first);
    size_t count = DELETIONS_MAX;
    int err = NY_OK;

    while (!err && count == DELETIONS_MAX && range->first < range->end) {
        err = ny_ingest_write_begin(ingest);
        if (!err)
            err = ny_write_delete_from(&ingest->write, &first, in_range, range, DELETIONS_MAX,
                                       &count);
        if (!err && count == 0)
            ny_write_abort(&ingest->write);
        else if (!err)
            err = ny_write_commit(&ingest->write, NY_OK);
    }
    return err;
}

int ny_ingest_drop_progress(struct ny_ingest *ingest)
{
    const struct range record = {NY_KIND_PROGRESS, 0, 1};

    return drop_range(ingest, &record);
}

int ny_ingest_drop(struct ny_ingest *ingest, uint64_t rows)
{
    bool all = rows == ingest->base.n;
    uint64_t visible = (ingest->base.n + ingest->block_rows - 1) / ingest->block_rows;
    uint64_t full = rows / ingest->block_rows;
    uint64_t tail = all ? ny_no_block : ny_ingest_tail_block(ingest);
    uint64_t open = all || rows % ingest->block_rows == 0 ? ny_no_block : full;
    const struct range columns = {NY_KIND_COLUMNS, 0, ny_no_block};
    int err = NY_OK;

    ny_write_abort(&ingest->write);
    /* The progress record goes first: without it the rest is nothing but rubbish, whenever this run
     * is cut short. */
    if (all) err = ny_ingest_drop_progress(ingest);
    if (!err && !(ingest->base.flags & NY_FLAG_COLUMNS)) err = drop_range(ingest, &columns);
    if (tail == ny_no_block) tail = open;
    if (open == ny_no_block) open = tail;
    for (unsigned kind = NY_KIND_POINTS; !err && kind; kind = ny_kind_after(kind)) {
        const struct range ranges[] = {
            {kind, full > visible ? full : visible, ny_no_block},
            {kind | NY_STAGED, 0, tail},
            {kind | NY_STAGED, tail == ny_no_block ? tail : tail + 1, open},
            {kind | NY_STAGED, open == ny_no_block ? open : open + 1, ny_no_block},
        };

        for (size_t i = 0; !err && i < sizeof(ranges) / sizeof(*ranges); i++)
            err = drop_range(ingest, &ranges[i]);
    }
    return err;
}

/* ---- publishing ---------------------------------------------------------------------------- */

/* A staged block that is copied to its own key, and what is wrong with it. */
struct moving {
    struct ny_ingest *ingest;
    MDB_val key;
    size_t bytes;
    const char *wrong;
    struct ny_frame frame;
    struct ny_ingest_room room;
};

/* Copies a staged block out of the map and checks it. It runs guarded, since the disk may fail to
 * read a page. */
static int copy_staged(void *arg)
{
    struct moving *m = arg;
    struct ny_ingest *ingest = m->ingest;
    MDB_val value;

    m->wrong = "it is missing";
    if (mdb_get(ingest->write.txn, ingest->write.env->table, &m->key, &value)) return NY_OK;
    m->bytes = value.mv_size;
    m->wrong = ny_frame_check(&m->frame, value.mv_data, value.mv_size);
    if (!m->wrong && m->bytes > m->room.bytes) m->wrong = "its size is wrong";
    if (!m->wrong) memcpy(m->room.at, value.mv_data, value.mv_size);
    return NY_OK;
}

/* The completed block from its staging key to its own. */
static int move_tail(struct ny_ingest *ingest, unsigned kind, uint64_t block)
{
    struct ny_key from = ny_points_key(kind | NY_STAGED, block), to = ny_points_key(kind, block);
    const struct ny_ingest_room room = {ingest->room, ingest->group * ingest->room_bytes};
    bool sparse = kind == NY_KIND_POINTS && ingest->is_sparse, names = kind == NY_KIND_NAMES;
    struct moving m = {
        .ingest = ingest,
        .room = sparse  ? ingest->sparse.room
                : names ? ingest->names.room
                        : room,
        .key = {from.bytes, from.data},
        .frame = {.store = ingest->store->id, .number = block, .kind = (enum ny_kind)kind}};
    struct ny_packed packed;
    int err;

    if (ny_guarded(copy_staged, &m)) m.wrong = "the disk cannot read it";
    if (m.wrong)
        return ny_damaged(ingest->ctx, ingest->store->points->path, "a staged block is", m.wrong);
    memcpy(&packed.header, m.room.at, sizeof(packed.header));
    packed.stored = m.room.at + sizeof(packed.header);
    packed.bytes = m.bytes - sizeof(packed.header);
    err = ny_ingest_put_packed(ingest, &to, &packed);
    return err ? err : ny_write_delete(&ingest->write, &from);
}

static int write_stats(struct ny_ingest *ingest)
{
    ingest->stats->n = ingest->counting.moments.n;
    ingest->stats->d = ingest->counting.moments.d;
    return ny_points_put(&ingest->write, NY_KIND_STATS, 0, ingest->stats,
                         sizeof(*ingest->stats) + moments_bytes(ingest));
}

static int write_norms(struct ny_ingest *ingest)
{
    const struct ny_counting *counting = &ingest->counting;
    const struct ny_norms_record record = {counting->moments.n, counting->norms};

    if (!counting->norms_known || ingest->write.pulse.version <= NY_FORMAT_OF_1_0) return NY_OK;
    return ny_points_put(&ingest->write, NY_KIND_NORMS, 0, &record, sizeof(record));
}

static int write_lengths(struct ny_ingest *ingest, const struct ny_manifest *now)
{
    struct ny_lengths_record record = {now->n, now->nnz, ingest->sparse.lengths};

    if (!ingest->is_sparse || ingest->write.pulse.version <= NY_FORMAT_OF_1_0) return NY_OK;
    ny_ingest_sparse_lengths(ingest, &record.lengths);
    return ny_points_put(&ingest->write, NY_KIND_LENGTHS, 0, &record, sizeof(record));
}

static int write_classes(struct ny_ingest *ingest)
{
    if (ingest->classes.count == 0) return NY_OK;
    return ny_points_put(&ingest->write, NY_KIND_CLASSES, 0, ingest->classes.text,
                         ingest->classes.bytes);
}

static int write_manifest(struct ny_ingest *ingest, struct ny_manifest *now)
{
    const struct ny_packed *tail = &ingest->packed[NY_KIND_POINTS]; /* packed last, alone */
    struct ny_manifest m = ingest->base;
    struct ny_sparse_progress sparse = ny_ingest_sparse_total(ingest);

    m.n = ny_ingest_total(ingest);
    if (ingest->spec.labels) m.classes = ingest->classes.count;
    m.full_bytes = ingest->full_bytes;
    m.digest = ingest->digest;
    m.tail_bytes = ingest->filled ? sizeof(tail->header) + tail->bytes : 0;
    m.tail_digest = ingest->filled ? tail->header.checksum : 0;
    m.dropped += ingest->dropped;
    m.txn = mdb_txn_id(ingest->write.txn);
    m.nnz = sparse.nnz;
    m.row_nnz = sparse.row_nnz;
    m.block_nnz = sparse.block_nnz;
    if (m.flags & NY_FLAG_PREPARED && ingest->write.pulse.version <= NY_FORMAT_OF_1_0)
        return ny_fail(ingest->ctx, NY_EUSAGE,
                       "%s is of nystream 1.0, without --rows and --values: import into another "
                       "store",
                       ingest->store->path);
    if (ingest->columns.count) m.flags |= NY_FLAG_COLUMNS;
    if (ingest->has[NY_KIND_SOURCE]) {
        m.flags |= NY_FLAG_SOURCE;
        m.source_from = ingest->source_from;
    }
    *now = m;
    return ny_points_put(&ingest->write, NY_KIND_MANIFEST, 0, &m, ny_manifest_bytes(&m));
}

int ny_ingest_put_records(struct ny_ingest *ingest, struct ny_manifest *now)
{
    int err = write_stats(ingest);

    if (!err) err = write_norms(ingest);
    if (!err) err = write_classes(ingest);
    if (!err) err = write_manifest(ingest, now);
    return err ? err : write_lengths(ingest, now);
}

int ny_ingest_publish(struct ny_ingest *ingest)
{
    struct ny_manifest now;
    uint64_t tail = ny_ingest_tail_block(ingest);
    size_t packs = 0; /* full blocks are gone */
    int err = ny_ingest_flush(ingest);

    if (!err && ingest->write.txn && ingest->write.dirty_bytes > 0)
        err = ny_write_commit(&ingest->write, NY_OK);
    if (!err && tail < ingest->first_block) err = ny_ingest_names_reserve_tail(ingest);
    if (!err) err = ny_ingest_count(ingest, ingest->filled, &packs);
    ingest->dirty_max = SIZE_MAX; /* from here on it is one transaction, of a few blocks */
    if (!err) err = ny_ingest_write_begin(ingest);
    if (tail < ingest->first_block)
        for (unsigned kind = NY_KIND_POINTS; !err && kind; kind = ny_kind_after(kind))
            if (ingest->has[kind]) err = move_tail(ingest, kind, tail);
    if (!err && ingest->filled > 0) {
        ny_ingest_pack_block(ingest, 0, ingest->filled);
        err = ny_ingest_put(ingest, 0, 0);
    }
    if (!err && ingest->staged_open != ny_no_block)
        err = delete_staged(ingest, ingest->staged_open);
    if (!err) err = ny_ingest_put_records(ingest, &now);
    if (!err) err = ny_ingest_note(ingest, &now);
    if (!err) err = write_progress(ingest, false); /* all of it: see ny_ingest_finished() */
    return err ? err : ny_write_commit(&ingest->write, NY_OK);
}
