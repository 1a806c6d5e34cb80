/*
 * Truncation: the first rows stay, as if the others had never been imported.
 *
 * It is an import of no rows over a shorter past. The rows that stay are counted once more, since
 * least and greatest values cannot be taken back: cut where their imports ended (store/imports.c),
 * so that the sums have the bits that they had then. The block that the cut goes through is packed
 * anew, and one transaction writes it with statistics and manifest. From then on blocks behind it
 * are what an import that was cut short leaves: readers do not see them, and they are dropped here,
 * or by the next import where a kill comes first.
 *
 * Readers are not waited for. A job is: it would go on with rows that are gone. Jobs hold the lock
 * of their NAME, which is looked at before the rows are read, and again before the transaction.
 *
 * Keys of full blocks can so be written twice, in different commits. Where the disk lost the last
 * write, the sound block of before is there, and the digest of the manifest tells.
 */
#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/progress.h"
#include "store/ingest_private.h"

#define ULL(x) ((unsigned long long)(x))

struct truncation {
    struct ny_ingest *ingest;  /* its base is what the store will be */
    struct ny_manifest before; /* what it is */
    struct ny_imports imports;
    struct ny_lost lost;
    uint64_t rows;
    bool source_goes; /* what is left of the row numbers says nothing */
    struct ny_meter meter;
    ny_truncate_fn *ready;
    void *user;
};

/* ---- whether it may be --------------------------------------------------------------------- */

/* NY_EBUSY where a job holds any NAME, be it one that has no result yet. */
static int refuse_jobs(struct ny_store *store)
{
    static const char begin[] = "name-", end[] = ".lock";
    char path[PATH_MAX];
    struct dirent *entry;
    DIR *folder;
    int err = NY_OK;

    snprintf(path, sizeof(path), "%s/locks", store->path);
    folder = opendir(path);
    while (!err && folder && (entry = readdir(folder))) {
        size_t length = strlen(entry->d_name), around = sizeof(begin) + sizeof(end) - 2;
        char name[NY_NAME_MAX + 1];

        if (length <= around || length - around > NY_NAME_MAX ||
            strncmp(entry->d_name, begin, sizeof(begin) - 1) != 0 ||
            strcmp(entry->d_name + length - (sizeof(end) - 1), end) != 0)
            continue;
        snprintf(name, sizeof(name), "%.*s", (int)(length - around),
                 entry->d_name + sizeof(begin) - 1);
        err = ny_name_refuse(store, name);
    }
    if (folder) closedir(folder);
    return err;
}

/* A note that is damaged is done without. */
static int read_before(struct truncation *t)
{
    int err = ny_manifest_now(t->ingest->store, &t->before, &t->lost);

    return err ? err : ny_points_imports(t->ingest->store, &t->imports);
}

static int check_rows(const struct truncation *t)
{
    const struct ny_store *store = t->ingest->store;

    if (t->rows == 0 || t->rows > t->before.n)
        return ny_fail(store->ctx, NY_EUSAGE,
                       "the rows of %s that are kept are 1 to %llu, not %llu", store->path,
                       ULL(t->before.n), ULL(t->rows));
    if (t->lost.count && t->lost.range[0].first < t->rows)
        return ny_fail(store->ctx, NY_ESTORE,
                       "rows of %s that would be kept are lost; import the points again",
                       store->path);
    return NY_OK;
}

/* ---- what the store will be ---------------------------------------------------------------- */

/* Takes back what the imports of the rows that go have changed in the manifest. Of rows without
 * notes that is not known. */
static void take_back(struct truncation *t)
{
    struct ny_manifest *base = &t->ingest->base;

    *base = t->before;
    base->n = t->rows;
    base->flags &= ~(uint32_t)NY_FLAG_LOST;
    base->nnz = base->row_nnz = base->block_nnz = 0; /* counted again */
    if (base->flags & NY_FLAG_SOURCE && t->rows <= base->source_from * base->block_rows)
        base->flags &= ~(uint32_t)NY_FLAG_SOURCE;
    for (size_t i = 0; i < t->imports.count; i++) {
        const struct ny_import_note *note = &t->imports.note[i];

        if (note->first >= t->rows) {
            base->dropped -= note->dropped < base->dropped ? note->dropped : base->dropped;
        } else if (note->end >= t->rows) {
            if (note->classes < base->classes) base->classes = note->classes;
            t->ingest->spec.raw = note->raw;
        }
    }
}

static int begin(struct truncation *t)
{
    struct ny_ingest *ingest = t->ingest;
    int err;

    take_back(t);
    err = ny_ingest_allocate(ingest);
    ingest->counting.norms_known = true;
    ny_meter_start(&t->meter, ingest->ctx, "truncate", 0, t->rows);
    return err;
}

/* ---- counting the rows that stay ----------------------------------------------------------- */

/* Reads the block that is looked at as it is now. */
static int read_block(struct truncation *t, enum ny_kind kind)
{
    struct ny_store *store = t->ingest->store;
    struct ny_snapshot *view;
    int err = ny_snapshot_begin(&view, store, store->points);

    return err ? err : ny_snapshot_end(view, ny_ingest_load(t->ingest, view, &t->before, kind));
}

/* Counts the first `rows` rows of the block, in pieces that end where imports did. */
static int count_rows(struct truncation *t, size_t rows)
{
    struct ny_ingest *ingest = t->ingest;
    uint64_t first = ingest->first_block * ingest->block_rows;
    size_t packs = 0; /* blocks lie packed in the store */
    int err = NY_OK;

    for (size_t i = 0; !err && i < t->imports.count; i++) {
        uint64_t end = t->imports.note[i].end;

        if (end > first && end < first + rows)
            err = ny_ingest_count(ingest, (size_t)(end - first), &packs);
    }
    if (!err) err = ny_ingest_count(ingest, rows, &packs);
    if (!err) ny_meter_add(&t->meter, rows, 0, 0);
    return err ? err : ny_check_interrupt(ingest->ctx);
}

static int count_full(struct truncation *t)
{
    struct ny_ingest *ingest = t->ingest;
    int err = NY_OK;

    while (!err && ingest->first_block < t->rows / ingest->block_rows) {
        err = read_block(t, NY_KIND_POINTS);
        if (!err) err = count_rows(t, (size_t)ingest->block_rows);
        if (!err && ingest->is_sparse) ny_ingest_sparse_clear(ingest);
        ingest->first_block++;
    }
    return err;
}

/* ---- the block that the cut goes through --------------------------------------------------- */

/* Tells whether these rows came from where they are, as rows do that have no row numbers. */
static bool in_place(const uint64_t *source, uint64_t first, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        if (source[i] != first + i) return false;
    return true;
}

static int load_cut(struct truncation *t)
{
    struct ny_ingest *ingest = t->ingest;
    uint64_t first = ingest->first_block * ingest->block_rows;
    size_t rows = (size_t)(t->rows - first);
    int err = NY_OK;

    if (rows == 0) return NY_OK;
    for (unsigned kind = NY_KIND_POINTS; !err && kind; kind = ny_kind_after(kind))
        if (ingest->has[kind]) err = read_block(t, (enum ny_kind)kind);
    if (err) return err;
    if (ingest->is_sparse) ingest->sparse.csr.rows = rows;
    if (ingest->has[NY_KIND_NAMES]) {
        ingest->names.rows.bytes =
            (size_t)(ny_names_skip(ingest->names.rows.text, rows) - ingest->names.rows.text);
        ingest->names.rows.count = rows;
    }
    ingest->filled = rows;
    t->source_goes =
        ingest->has[NY_KIND_SOURCE] && ingest->first_block == ingest->source_from &&
        in_place((const uint64_t *)(void *)ingest->buffer[NY_KIND_SOURCE], first, rows);
    if (t->source_goes) {
        ingest->has[NY_KIND_SOURCE] = false;
        ingest->base.flags &= ~(uint32_t)NY_FLAG_SOURCE;
    }
    return count_rows(t, rows);
}

/* ---- the transaction ----------------------------------------------------------------------- */

/* The chain over the full blocks that stay, and their bytes. */
static int chain(struct ny_ingest *ingest)
{
    int err = NY_OK;

    for (uint64_t b = 0; !err && b < ingest->first_block; b++) {
        struct ny_key key = ny_points_key(NY_KIND_POINTS, b);
        uint64_t checksum = 0;
        size_t bytes = 0;

        err = ny_write_checksum(&ingest->write, &key, &checksum);
        if (!err) err = ny_write_size(&ingest->write, &key, &bytes);
        ingest->digest = ny_digest_add(ingest->digest, checksum);
        ingest->full_bytes += bytes;
    }
    return err;
}

/* Deletes the notes of imports that go, and shortens that of one that goes in part. */
static int cut_notes(struct truncation *t)
{
    struct ny_write *write = &t->ingest->write;
    int err = ny_import_notes_drop(write, t->rows);

    for (size_t i = 0; !err && i < t->imports.count; i++) {
        struct ny_import_note *note = &t->imports.note[i];

        if (note->first >= t->rows || note->end <= t->rows) continue;
        note->end = t->rows;
        err = ny_import_note_put(write, note);
    }
    return err;
}

static int write_all(struct truncation *t)
{
    struct ny_ingest *ingest = t->ingest;
    struct ny_manifest now;
    int err = ny_ingest_write_begin(ingest);

    ingest->dirty_max = SIZE_MAX; /* it is one transaction, of a few blocks */
    if (!err) err = chain(ingest);
    if (!err && ingest->filled) {
        ny_ingest_pack_block(ingest, 0, ingest->filled);
        err = ny_ingest_put(ingest, 0, 0);
    }
    if (!err) err = ny_ingest_put_records(ingest, &now);
    if (!err) err = cut_notes(t);
    if (!err && t->source_goes)
        err = ny_points_delete(&ingest->write, NY_KIND_SOURCE, ingest->first_block);
    if (!err) err = ny_points_delete(&ingest->write, NY_KIND_LOST, 0);
    if (!err) err = ny_points_delete(&ingest->write, NY_KIND_PROGRESS, 0);
    return err ? err : ny_write_commit(&ingest->write, NY_OK);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int truncate_points(struct truncation *t)
{
    struct ny_ingest *ingest = t->ingest;
    int err = begin(t);

    if (!err) err = count_full(t);
    if (!err) err = load_cut(t);
    if (!err) ny_meter_finish(&t->meter);
    if (!err) err = refuse_jobs(ingest->store);
    if (!err) err = t->ready(t->user, true);
    if (!err) err = write_all(t);
    if (err) return err;
    /* It is done: what cannot be dropped now goes with the next import. */
    if (ny_ingest_drop(ingest, ingest->base.n)) ny_error_clear(ingest->ctx);
    return NY_OK;
}

int ny_store_truncate(struct ny_store *store, uint64_t rows, ny_truncate_fn *ready, void *user)
{
    struct truncation t = {.rows = rows, .ready = ready, .user = user};
    int err = ny_store_writable(store);

    if (err) return err;
    t.ingest = ny_ingest_new(store);
    if (!t.ingest) return NY_EBUDGET;
    err = ny_lock_try(&t.ingest->lock, store, "points", "importing into this store");
    if (!err) err = read_before(&t);
    if (!err) err = check_rows(&t);
    if (!err && rows < t.before.n) {
        err = refuse_jobs(store);
        if (!err) err = ready(user, false);
        if (!err) err = truncate_points(&t);
    }
    ny_ingest_free(t.ingest);
    ny_imports_release(&t.imports, store->ctx);
    ny_lost_release(&t.lost, store->ctx);
    return err;
}
