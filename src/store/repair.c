/*
 * Repair: what cannot be read is set aside, so that all else can be used. Damaged blocks of points
 * are emptied, and their rows listed as lost (store/lost.c); labels that are lost are missing
 * (NaN), source row numbers 2^64−1, names of rows empty, names of columns and notes of imports
 * gone; results with a damaged chunk go as a whole; a part from an older copy of the store is taken
 * as it is.
 *
 * First all is read and all locks are taken: what cannot be repaired (trees, manifest, statistics)
 * is refused before anything is changed. Each of the two environments is then changed in one
 * transaction, so that a kill leaves it as it was or repaired.
 *
 * Rows that are left keep their numbers, and those that are lost keep theirs, too. Two other ways
 * were considered. Filling the gaps in, by means or zeros, would make rows up. Numbering the rows
 * of the store anew would tear every earlier result from its rows.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

struct loss { /* of a block */
    enum ny_damaged kind;
    uint64_t block, first_row, rows;
};

struct name {
    char text[NY_NAME_MAX + 1];
    bool broken;
    struct ny_name_lock *lock;
};

struct repair {
    struct ny_store *store;
    struct ny_context *ctx;
    struct ny_lock points;
    struct name *name; /* all results there are */
    size_t names;
    struct loss *loss;
    size_t losses;
    bool digest;  /* does not match */
    bool columns; /* their names are damaged */
    bool imports; /* a note of one is */
    bool older;   /* one part is from an older copy */
    struct ny_write write;
    struct ny_manifest m;
    struct ny_lost lost;
};

/* ---- what there is, and what is wrong with it ---------------------------------------------- */

static int add_name(void *user, const char *text)
{
    struct repair *r = user;
    struct name *last;
    int err = ny_resize_array(r->ctx, NY_MEM_STORE, &r->name, r->names + 1, sizeof(*last));

    if (err) return err;
    last = &r->name[r->names++];
    *last = (struct name){.broken = false};
    snprintf(last->text, sizeof(last->text), "%s", text);
    return ny_name_lock(&last->lock, r->store, text);
}

static int add_loss(struct repair *r, const struct ny_damage *damage)
{
    struct loss loss = {damage->kind, damage->block, damage->first_row, damage->rows};
    int err = ny_resize_array(r->ctx, NY_MEM_STORE, &r->loss, r->losses + 1, sizeof(loss));

    if (!err) r->loss[r->losses++] = loss;
    return err;
}

static int beyond_repair(const struct repair *r)
{
    return ny_fail_at(r->ctx, NY_ESTORE, r->store->path, NY_NO_LINE,
                      "%s cannot be repaired; export what can be read, and import the points again",
                      r->store->path);
}

static int add_damage(void *user, const struct ny_damage *damage)
{
    struct repair *r = user;

    switch (damage->kind) {
    case NY_DAMAGED_POINTS:
    case NY_DAMAGED_LABELS:
    case NY_DAMAGED_SOURCE:
    case NY_DAMAGED_NAMES:
        return add_loss(r, damage);
    case NY_DAMAGED_COLUMN_NAMES:
        r->columns = true;
        return NY_OK;
    case NY_DAMAGED_IMPORTS:
        r->imports = true;
        return NY_OK;
    case NY_DAMAGED_DIGEST:
        r->digest = true;
        return NY_OK;
    case NY_DAMAGED_OLDER:
        r->older = true;
        return NY_OK;
    case NY_DAMAGED_RESULT:
        for (size_t i = 0; i < r->names; i++)
            r->name[i].broken |= strcmp(r->name[i].text, damage->name) == 0;
        return NY_OK;
    case NY_DAMAGED_OTHER:
        break;
    }
    return beyond_repair(r);
}

static int examine(struct repair *r)
{
    bool points = false;
    int err = ny_store_writable(r->store);

    if (!err) err = ny_lock_try(&r->points, r->store, "points", "importing into this store");
    if (!err) err = ny_results_list(r->store, add_name, r);
    if (!err) err = ny_store_verify(r->store, add_damage, r);
    for (size_t i = 0; i < r->losses; i++)
        points |= r->loss[i].kind == NY_DAMAGED_POINTS;
    if (err || !r->digest || points) return err;
    return beyond_repair(r);
}

/* ---- points -------------------------------------------------------------------------------- */

/* An empty entry stays, so that the table has as many as there are blocks. */
static int drop_points(struct repair *r, const struct loss *loss)
{
    struct ny_key key = ny_points_key(NY_KIND_POINTS, loss->block);
    uint64_t *bytes = loss->rows == r->m.block_rows ? &r->m.full_bytes : &r->m.tail_bytes;
    size_t stored = 0;
    int err = ny_write_size(&r->write, &key, &stored);

    if (!err) err = ny_points_put(&r->write, NY_KIND_POINTS, loss->block, "", 0);
    if (!err) err = ny_lost_add(&r->lost, r->ctx, loss->first_row, loss->first_row + loss->rows);
    *bytes -= stored < *bytes ? stored : *bytes;
    return err;
}

/* A block of labels that are missing, of row numbers that are not known, of empty names. */
static int blank_marks(struct repair *r, const struct loss *loss)
{
    enum ny_kind kind = loss->kind == NY_DAMAGED_LABELS   ? NY_KIND_LABELS
                        : loss->kind == NY_DAMAGED_SOURCE ? NY_KIND_SOURCE
                                                          : NY_KIND_NAMES;
    size_t bytes = (size_t)loss->rows * (kind == NY_KIND_NAMES ? 1 : sizeof(uint64_t));
    const struct ny_want as = ny_points_want(r->store, kind, loss->block, loss->rows, bytes);
    void *blank = ny_alloc(r->ctx, NY_MEM_STORE, bytes);
    int err;

    if (!blank) return NY_EBUDGET;
    if (kind == NY_KIND_NAMES) memset(blank, 0, bytes);
    for (size_t i = 0; kind != NY_KIND_NAMES && i < loss->rows; i++) {
        if (kind == NY_KIND_LABELS)
            ((double *)blank)[i] = NAN;
        else
            ((uint64_t *)blank)[i] = UINT64_MAX;
    }
    err = ny_write_record(&r->write, &as.key, &as.frame, blank);
    ny_free(r->ctx, blank);
    return err;
}

/* Names of columns go as a whole. */
static int drop_columns(struct repair *r)
{
    int err = NY_OK;

    if (!r->columns) return NY_OK;
    r->m.flags &= ~(uint32_t)NY_FLAG_COLUMNS;
    for (uint64_t number = 0; !err && number < ny_column_entries(r->m.d); number++)
        err = ny_points_delete(&r->write, NY_KIND_COLUMNS, number);
    return err;
}

static int write_lost(struct repair *r)
{
    if (!r->lost.count) return NY_OK;
    r->m.flags |= NY_FLAG_LOST;
    return ny_points_put(&r->write, NY_KIND_LOST, 0, r->lost.range,
                         r->lost.count * sizeof(*r->lost.range));
}

/* The digests as they are without the blocks that are gone; an import that was cut short had the
 * old ones, and begins again. */
static int write_manifest(struct repair *r)
{
    uint64_t full = r->m.n / r->m.block_rows;
    int err = NY_OK;

    r->m.digest = 0;
    r->m.tail_digest = 0;
    for (uint64_t b = 0; !err && b <= full; b++) {
        struct ny_key block = ny_points_key(NY_KIND_POINTS, b);
        uint64_t checksum = 0;

        err = ny_write_checksum(&r->write, &block, &checksum);
        if (b < full)
            r->m.digest = ny_digest_add(r->m.digest, checksum);
        else if (r->m.n % r->m.block_rows)
            r->m.tail_digest = checksum;
    }
    r->m.txn = mdb_txn_id(r->write.txn);
    if (!err) err = ny_points_delete(&r->write, NY_KIND_PROGRESS, 0);
    if (err) return err;
    return ny_points_put(&r->write, NY_KIND_MANIFEST, 0, &r->m, ny_manifest_bytes(&r->m));
}

static int repair_points(struct repair *r)
{
    int err = ny_manifest_now(r->store, &r->m, &r->lost);

    if (!err)
        err = ny_write_begin(&r->write, r->store, r->store->points,
                             (size_t)(r->losses + 2) * (size_t)r->m.block_rows * sizeof(uint64_t));
    r->write.mends = true;
    for (size_t i = 0; !err && i < r->losses; i++)
        err = r->loss[i].kind == NY_DAMAGED_POINTS ? drop_points(r, &r->loss[i])
                                                   : blank_marks(r, &r->loss[i]);
    if (!err) err = drop_columns(r);
    if (!err && r->imports) err = ny_import_notes_drop(&r->write, 0); /* as a whole */
    if (!err) err = write_lost(r);
    if (!err) err = write_manifest(r);
    return ny_write_commit(&r->write, err);
}

/* ---- results ------------------------------------------------------------------------------- */

static int repair_results(struct repair *r)
{
    struct ny_batch *batch;
    int err = ny_batch_begin(&batch, r->store);

    if (err) return err;
    ny_batch_mend(batch);
    for (size_t i = 0; i < r->names; i++)
        if (r->name[i].broken) ny_batch_delete(batch, r->name[i].text, NULL);
    return ny_batch_commit(batch);
}

/* ---- all of it ----------------------------------------------------------------------------- */

static int tell(const struct repair *r, ny_repaired_fn *told, void *user)
{
    int err = NY_OK;

    for (size_t i = 0; !err && i < r->losses; i++) {
        struct ny_repaired done = {
            .kind = r->loss[i].kind, .first_row = r->loss[i].first_row, .rows = r->loss[i].rows};

        err = told(user, &done);
    }
    if (!err && r->columns)
        err = told(user, &(struct ny_repaired){.kind = NY_DAMAGED_COLUMN_NAMES});
    if (!err && r->imports) err = told(user, &(struct ny_repaired){.kind = NY_DAMAGED_IMPORTS});
    if (r->older) err = told(user, &(struct ny_repaired){.kind = NY_DAMAGED_OLDER});
    for (size_t i = 0; !err && i < r->names; i++) {
        struct ny_repaired done = {.kind = NY_DAMAGED_RESULT, .name = r->name[i].text};

        if (r->name[i].broken) err = told(user, &done);
    }
    return err;
}

static void release(struct repair *r)
{
    for (size_t i = 0; i < r->names; i++)
        ny_name_unlock(r->name[i].lock);
    ny_lock_release(&r->points);
    ny_lost_release(&r->lost, r->ctx);
    ny_free(r->ctx, r->name);
    ny_free(r->ctx, r->loss);
}

int ny_store_repair(struct ny_store *store, ny_repaired_fn *told, void *user)
{
    struct repair r = {.store = store, .ctx = store->ctx, .points = {.fd = -1}};
    bool broken = false;
    int err;

    store->mending = true;
    err = examine(&r);
    for (size_t i = 0; i < r.names; i++)
        broken |= r.name[i].broken;
    if (!err && broken) err = repair_results(&r);
    while (!err && store->older)
        err = ny_store_accept_older(store);
    if (!err && (r.losses || r.columns || r.imports)) err = repair_points(&r);
    if (!err) err = tell(&r, told, user);
    store->mending = false;
    release(&r);
    return err;
}
