/*
 * Views: the points of a store, or one of its results, opened once and read in any pieces into the
 * caller's memory. ny_export writes the same parts to files.
 *
 * A result's parts are those of the table in results/parts.c; points have "points", "labels" and
 * "source". Rows that are asked for one by one are read in runs of neighbours where they are in
 * order. What a part needs beside its output is room for PIECE_ROWS of its rows.
 *
 * A result may be made anew while it is viewed. Its record is compared with that of the view before
 * rows are read, and behind them, by a digest: rows of two fits are never mixed. Clusters that an
 * evaluation has left since are no reason: the view then takes the record that has them. Nor is an
 * update: the view goes on with the rows from before it, as long as these are there.
 */
#include <string.h>

#include "api/call.h"
#include "api/inspect.h"
#include "api/report.h"
#include "base/compare.h"
#include "base/memory.h"
#include "results/export.h"
#include "results/keep.h"
#include "results/names.h"
#include "results/shards.h"
#include "results/record.h"
#include "shards/open.h"
#include "store/store.h"

enum { PIECE_ROWS = 1024 };

#define ULL(x) ((unsigned long long)(x))

struct ny_view {
    struct ny_context *ctx;
    struct ny_store *store;
    char *name; /* of the result; NULL: the points are viewed */
    struct ny_result result;
    uint64_t record;               /* digest of the result's record, as it was seen last */
    struct ny_points_state points; /* where they are viewed, as they were seen last */
    bool earlier;                  /* the view has the result as it was before an update */
    struct ny_report *report;      /* NULL until it is asked for */
    struct ny_names names;         /* that were read last */
};

/* A part of what is viewed. */
struct viewed {
    const struct ny_result_part *part;                                          /* of a result */
    int (*fill)(struct ny_view *view, uint64_t first, size_t count, void *out); /* of points */
    uint64_t rows, columns; /* columns 0: one item a row */
    int type;
    size_t row_bytes;
};

/* ---- opening ------------------------------------------------------------------------------ */

/* Computes a digest of the record of NAME that readers see; 0 where there is none. */
static int record_digest(struct ny_store *store, const char *name, uint64_t *digest)
{
    const struct ny_keep keep = ny_store_keep(store, name);

    *digest = 0;
    return ny_part_digest(&keep, NY_RECORD_PART, digest);
}

int ny_view_open(struct ny_view **out, struct ny_context *context, const char *path,
                 const char *name)
{
    struct ny_view *view;
    int err = NY_GIVEN(context, out, path);

    if (out) *out = NULL;
    if (err) return err;
    ny_fields_begin();
    view = ny_calloc(context, NY_MEM_OTHER, 1, sizeof(*view));
    if (!view) return NY_EBUDGET;
    view->ctx = context;
    if (name) view->name = ny_strdup(context, name);
    err = name && !view->name ? NY_EBUDGET
                              : ny_shards_open(&view->store, context, path, name, NY_SHARDS_ALL);
    if (err == NY_OK && !name) err = ny_points_state(view->store, &view->points);
    if (err == NY_OK && name) err = record_digest(view->store, name, &view->record);
    if (err == NY_OK && name) err = ny_result_open_any(&view->result, view->store, view->name);
    if (err)
        ny_view_free(view);
    else
        *out = view;
    return err;
}

void ny_view_free(struct ny_view *view)
{
    struct ny_context *ctx;

    if (!view) return;
    ctx = view->ctx;
    if (view->result.ctx) ny_result_close_any(&view->result);
    ny_names_release(&view->names, ctx);
    ny_report_free(view->report);
    ny_store_close(view->store);
    ny_free(ctx, view->name);
    ny_free(ctx, view);
}

struct ny_report *ny_view_report(struct ny_view *view)
{
    if (!view) return NULL;
    ny_error_clear(view->ctx);
    ny_fields_begin();
    if (view->report) return view->report;
    if (view->name)
        ny_result_describe(&view->report, view->store, view->name, view->result.record);
    else
        ny_store_describe(&view->report, view->store);
    return view->report;
}

/* ---- is it still that result -------------------------------------------------------------- */

/* Takes the result as it is now. */
static int take(struct ny_view *view)
{
    struct ny_result now;
    int err = ny_result_open_any(&now, view->store, view->name);

    if (err) {
        ny_result_close_any(&now);
        return err;
    }
    ny_result_close_any(&view->result);
    view->result = now;
    return NY_OK;
}

/* Fails as the result, or the rows, are others than those that were opened. */
static int reopen(const struct ny_view *view)
{
    return ny_fail(view->ctx, NY_EUSAGE, "'%s' was changed since it was opened; open it again",
                   view->name ? view->name : ny_store_path(view->store));
}

/* NY_EUSAGE where the rows that were seen are no longer the first ones. What looked wrong with them
 * while they went is no damage, so that `err` is the status of another reading, or 0. */
static int check_points(struct ny_view *view, int err)
{
    bool same;

    if (err && err != NY_ESTORE && err != NY_EINTERNAL) return err;
    if (ny_points_same(view->store, &view->points, &same))
        return err ? err : ny_context_error(view->ctx)->status;
    if (same) return err;
    ny_error_clear(view->ctx);
    return reopen(view);
}

/* NY_EUSAGE where what is viewed was made anew, replaced or removed since it was opened. */
static int check_current(struct ny_view *view)
{
    json_t *record = NULL;
    uint64_t digest;
    bool same, later;
    int err =
        view->name ? record_digest(view->store, view->name, &digest) : check_points(view, NY_OK);

    if (err || !view->name || digest == view->record) return err;
    ny_fields_begin();
    err = ny_record_load(view->store, view->name, &record);
    same = ny_record_same(ny_record_of(record), ny_record_of(view->result.record));
    later = ny_record_continues(ny_record_of(record), ny_record_of(view->result.record));
    json_decref(record);
    if (!err && !later) err = same ? take(view) : reopen(view);
    if (err) return err;
    view->earlier = later;
    view->record = digest;
    return NY_OK;
}

/* Returns the status of what was read, `err`; NY_EUSAGE where it is that of another fit. What looks
 * damaged may be gone for the same reason. */
static int check_read(struct ny_view *view, int err)
{
    uint64_t digest;

    if (!err) return check_current(view);
    if (!view->name) return check_points(view, err);
    if (record_digest(view->store, view->name, &digest) ||
        (digest == view->record && !view->earlier))
        return err;
    ny_error_clear(view->ctx);
    return reopen(view);
}

/* ---- parts of the points ------------------------------------------------------------------ */

/* Reads sparse rows into dense ones. */
static int fill_from_sparse(struct ny_view *view, const struct ny_rows_info *info, uint64_t first,
                            size_t count, char *out)
{
    size_t slots = (size_t)info->row_slots, record = ny_row_bytes(info->dtype, info->d, slots);
    size_t d = (size_t)info->d, row = d * ny_dtype_size(info->dtype);
    struct ny_rows *X = ny_store_rows(view->store);
    char *records = ny_calloc(view->ctx, NY_MEM_IO, PIECE_ROWS, record);
    int err = records ? NY_OK : NY_EBUDGET;

    for (size_t done = 0; err == NY_OK && done < count; done += PIECE_ROWS) {
        size_t piece = count - done < PIECE_ROWS ? count - done : PIECE_ROWS;

        err = X->ops->read(X, slots, first + done, piece, records);
        for (size_t i = 0; err == NY_OK && i < piece; i++)
            ny_sparse_spread(ny_sparse_of(records + i * record, slots), info->dtype, d, info->dtype,
                             out + (done + i) * row);
    }
    ny_free(view->ctx, records);
    return err;
}

static int fill_points(struct ny_view *view, uint64_t first, size_t count, void *out)
{
    struct ny_rows *X = ny_store_rows(view->store);
    struct ny_rows_info info;
    int err = X->ops->info(X, &info);

    if (err) return err;
    return info.row_slots ? fill_from_sparse(view, &info, first, count, out)
                          : X->ops->read(X, 0, first, count, out);
}

static int fill_labels(struct ny_view *view, uint64_t first, size_t count, void *out)
{
    return ny_points_labels(view->store, first, count, out);
}

static int fill_source(struct ny_view *view, uint64_t first, size_t count, void *out)
{
    return ny_points_source(view->store, first, count, out);
}

/* Finds a part of the points; *part is left as it was where they do not have it. */
static int find_of_points(struct ny_view *view, const char *name, struct viewed *part)
{
    struct ny_stored_points points;
    const struct ny_rows_info *rows = &points.rows;
    int err = ny_points_stored(view->store, &points);

    if (err) return err;
    if (strcmp(name, "points") == 0)
        *part = (struct viewed){NULL, fill_points, rows->n, rows->d, (int)rows->dtype, 0};
    else if (strcmp(name, "labels") == 0 && points.labels)
        *part = (struct viewed){NULL, fill_labels, rows->n, 0, NY_F64, 0};
    else if (strcmp(name, "source") == 0)
        *part = (struct viewed){NULL, fill_source, rows->n, 0, NY_U64, 0};
    if (part->fill) return NY_OK;
    return ny_result_lacks(view->store, NULL, name);
}

/* ---- any part ----------------------------------------------------------------------------- */

/* Finds a part of names. */
static int find_names(struct ny_view *view, const char *name, struct ny_names_part *names)
{
    int err = check_current(view);

    return err ? err
               : ny_names_part_find(names, view->store, view->name ? &view->result : NULL, name);
}

static int find_of_result(struct ny_view *view, const char *name, struct viewed *part)
{
    static const int types[] = {
        [NY_OUT_F32] = NY_F32, [NY_OUT_F64] = NY_F64, [NY_OUT_U64] = NY_U64, [NY_OUT_I64] = NY_U64};
    struct ny_result *result = &view->result;
    int err = ny_part_check(view->ctx, name);

    if (err) return err;
    *part = (struct viewed){.part = ny_part_find(name)};
    if (!part->part) return ny_result_lacks(view->store, view->name, name);
    err = ny_result_prepare(result, part->part, PIECE_ROWS);
    if (err) return err;
    part->rows = part->part->count(result);
    part->columns = part->part->columns ? part->part->columns(result) : 0;
    part->type = types[ny_result_element(result, part->part)];
    return NY_OK;
}

/* Finds a part of what is viewed, and what a row of it is. */
static int find(struct ny_view *view, const char *name, struct viewed *part)
{
    size_t element;
    int err = check_current(view);

    *part = (struct viewed){0};
    if (!err && view->earlier && strcmp(name, "clusters") == 0) /* an evaluation may have others */
        err = reopen(view);
    if (err) return err;
    err = view->name ? find_of_result(view, name, part) : find_of_points(view, name, part);
    if (err) return err;
    element = part->type == NY_U64 ? sizeof(uint64_t) : ny_dtype_size((enum ny_dtype)part->type);
    part->row_bytes = (size_t)(part->columns ? part->columns : 1) * element;
    return err;
}

int ny_view_shape(struct ny_view *view, const char *part, uint64_t *rows, uint64_t *columns,
                  int *type)
{
    struct viewed viewed = {0};
    struct ny_names_part names = {0};
    int err = NY_GIVEN(view ? view->ctx : NULL, part);

    if (!err && ny_is_names_part(part)) {
        err = find_names(view, part, &names);
        if (!err) viewed = (struct viewed){.rows = names.count, .type = NY_NAME_TEXT};
    } else if (!err) {
        err = find(view, part, &viewed);
    }
    if (rows) *rows = viewed.rows;
    if (columns) *columns = viewed.columns;
    if (type) *type = viewed.type;
    return err;
}

/* Reads rows of a part, which are there. */
static int read_rows(struct ny_view *view, const struct viewed *part, uint64_t first,
                     uint64_t count, char *out)
{
    int err = NY_OK;

    if (part->fill) return part->fill(view, first, (size_t)count, out);
    if (ny_result_as_stored(&view->result, part->part))
        return ny_part_fill(&view->result, part->part, first, (size_t)count, out);
    for (uint64_t done = 0; err == NY_OK && done < count; done += PIECE_ROWS) {
        uint64_t left = count - done;

        err = ny_part_fill(&view->result, part->part, first + done,
                           (size_t)(left < PIECE_ROWS ? left : PIECE_ROWS),
                           out + done * part->row_bytes);
    }
    return err;
}

static int check_rows(struct ny_view *view, const struct viewed *part, const char *name,
                      uint64_t first, uint64_t count)
{
    if (count <= part->rows && first <= part->rows - count) return NY_OK;
    return ny_fail(view->ctx, NY_EUSAGE, "%s has %llu rows, not %llu from row %llu on", name,
                   ULL(part->rows), ULL(count), ULL(first));
}

int ny_view_read(struct ny_view *view, const char *part, uint64_t first, uint64_t count, void *out)
{
    struct viewed viewed;
    int err = NY_GIVEN(view ? view->ctx : NULL, part, out);

    if (!err) err = find(view, part, &viewed);
    if (!err) err = check_rows(view, &viewed, part, first, count);
    return err ? err : check_read(view, read_rows(view, &viewed, first, count, out));
}

int ny_view_gather(struct ny_view *view, const char *part, const uint64_t *rows, uint64_t count,
                   void *out)
{
    struct viewed viewed;
    uint64_t run;
    int err = NY_GIVEN(view ? view->ctx : NULL, part, rows, out);

    if (!err) err = find(view, part, &viewed);
    for (uint64_t i = 0; !err && i < count; i++)
        err = check_rows(view, &viewed, part, rows[i], 1);
    if (err) return err;
    for (uint64_t i = 0; !err && i < count; i += run) {
        run = ny_run_of_rows(rows + i, (size_t)(count - i));
        err = ny_check_interrupt(view->ctx);
        if (!err) err = read_rows(view, &viewed, rows[i], run, (char *)out + i * viewed.row_bytes);
    }
    return check_read(view, err);
}

/* ---- names -------------------------------------------------------------------------------- */

int ny_view_names(struct ny_view *view, const char *part, uint64_t first, uint64_t count,
                  const char **names, uint64_t *bytes)
{
    struct ny_names_part found;
    int err = NY_GIVEN(view ? view->ctx : NULL, part, names, bytes);

    if (names) *names = NULL;
    if (bytes) *bytes = 0;
    if (!err && !ny_is_names_part(part)) err = ny_result_lacks(view->store, view->name, part);
    if (!err) err = find_names(view, part, &found);
    if (!err) err = check_rows(view, &(struct viewed){.rows = found.count}, part, first, count);
    if (err) return err;
    ny_names_clear(&view->names);
    err = check_read(view, ny_names_part_read(&found, first, (size_t)count, &view->names));
    if (err) return err;
    *names = view->names.text ? view->names.text : "";
    *bytes = view->names.bytes;
    return NY_OK;
}

/* ---- sparse points ------------------------------------------------------------------------ */

/* Appends the rows of a piece to the caller's arrays; *at: their entries so far. */
static int put_sparse(struct ny_view *view, const struct ny_rows_info *info, const char *records,
                      size_t count, struct ny_csr_room *room, uint64_t *at)
{
    size_t slots = (size_t)info->row_slots, record = ny_row_bytes(info->dtype, info->d, slots);
    size_t element = ny_dtype_size(info->dtype);

    for (size_t i = 0; i < count; i++) {
        struct ny_sparse row = ny_sparse_of(records + i * record, slots);

        if (row.count > room->entries - *at)
            return ny_fail(view->ctx, NY_EUSAGE, "the room is too small for these rows");
        if (row.count) {
            memcpy(room->column + *at, row.index, row.count * sizeof(*row.index));
            memcpy((char *)room->values + *at * element, row.value, row.count * element);
        }
        *at += row.count;
        *++room->row_start = *at;
    }
    return NY_OK;
}

int ny_view_read_sparse(struct ny_view *view, uint64_t first, uint64_t count,
                        const struct ny_csr_room *given)
{
    struct ny_csr_room room;
    struct ny_rows_info info;
    struct ny_rows *X;
    struct viewed part;
    char *records = NULL;
    uint64_t at = 0;
    int err = NY_GIVEN(view ? view->ctx : NULL, given);

    if (!err) err = NY_GIVEN(view->ctx, given->row_start, given->column, given->values);
    if (!err && view->name) err = ny_result_lacks(view->store, view->name, "sparse rows");
    if (!err) err = find(view, "points", &part);
    if (!err) err = ny_points_info(view->store, &info);
    if (!err && !info.row_slots) err = ny_result_lacks(view->store, NULL, "sparse rows");
    if (!err) err = check_rows(view, &part, "points", first, count);
    if (err) return err;
    X = ny_store_rows(view->store);
    room = *given;
    *room.row_start = 0;
    records = ny_calloc(view->ctx, NY_MEM_IO, PIECE_ROWS, ny_rows_row_bytes(&info));
    if (!records) return NY_EBUDGET;
    for (uint64_t done = 0; !err && done < count; done += PIECE_ROWS) {
        size_t piece = count - done < PIECE_ROWS ? (size_t)(count - done) : PIECE_ROWS;

        err = X->ops->read(X, (size_t)info.row_slots, first + done, piece, records);
        if (!err) err = put_sparse(view, &info, records, piece, &room, &at);
    }
    ny_free(view->ctx, records);
    return check_read(view, err);
}
