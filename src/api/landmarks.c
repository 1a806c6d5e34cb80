/*
 * Reads the landmarks that a file or another result gives, and keeps them with the job. Row numbers
 * in a file are those of the store, and become those among the rows that are left where some were
 * lost. Points of a file are read by api/landmark_points.c.
 */
#include "api/landmarks.h"

#include "api/option_tables.h"
#include "base/checksum.h"
#include "base/memory.h"
#include "fit/shards.h"
#include "results/keep.h"
#include "results/record.h"

/* Row numbers of the store become those among the rows that are left. */
static int number_left(struct ny_store *store, struct ny_given_landmarks *list)
{
    const struct ny_lost *lost = ny_store_skipped(store);

    for (size_t i = 0; i < list->count; i++) {
        uint64_t row = list->rows[i], gone = 0;

        for (size_t k = 0; k < lost->count && lost->range[k].first <= row; k++) {
            if (row < lost->range[k].end)
                return ny_fail(ny_store_context(store), NY_EDATA, "landmark row %llu of %s is lost",
                               (unsigned long long)row, ny_store_path(store));
            gone += lost->range[k].end - lost->range[k].first;
        }
        list->rows[i] = row - gone;
    }
    return NY_OK;
}

/* ---- landmarks of a result ---------------------------------------------------------------- */

/* Reads landmarks that are kept: points, or `rows` row numbers of part "landmarks". Points of a job
 * that keeps them stay where they are. */
static int read_kept(struct ny_store *store, const char *name, const json_t *record, size_t rows,
                     bool stay, struct ny_given_landmarks *list)
{
    const struct ny_keep keep = ny_store_keep(store, name);
    struct ny_context *ctx = ny_store_context(store);
    struct ny_rows_info info;
    size_t row_bytes;
    int err = ny_points_info(store, &info);

    if (err) return err;
    list->points = ny_landmark_points_of(ny_record_of(record));
    list->points.d = (size_t)info.d;
    if (list->points.count && stay) return NY_OK;
    if (list->points.count) {
        row_bytes = ny_row_bytes(list->points.dtype, (size_t)info.d, list->points.slots);
        list->point_bytes = list->points.count * row_bytes;
        list->point_rows = ny_calloc(ctx, NY_MEM_DICTIONARY, list->points.count, row_bytes);
        return list->point_rows ? ny_landmark_points_get(&keep, ny_record_of(record), &list->points,
                                                         0, list->point_rows)
                                : NY_EBUDGET;
    }
    list->count = rows;
    list->rows = ny_calloc(ctx, NY_MEM_DICTIONARY, rows, sizeof(uint64_t));
    return list->rows ? keep.ops->get(&keep, ny_record_part(ny_record_of(record), "landmarks").name,
                                      list->rows, rows * sizeof(uint64_t))
                      : NY_EBUDGET;
}

/* Refuses to take the landmarks of a result of all shards for one shard, which lacks most of their
 * rows, and for all of them where rows are numbered anew. */
static int check_shard(struct ny_store *store, const char *name, const json_t *record)
{
    struct ny_context *ctx = ny_store_context(store);
    const json_t *sharded = json_object_get(record, "sharded");
    struct ny_rows_info points;
    int err;

    if (!sharded || ny_landmark_points_of(ny_record_of(record)).count) return NY_OK;
    err = ny_points_info(store, &points);
    if (err) return err;
    if (ny_context_peers(ctx))
        return ny_shards_check_first(ctx, name, ny_field_count(sharded, "first", 0), &points);
    return ny_fail(ctx, NY_EUSAGE,
                   "the landmarks of '%s' are rows of all shards; export them, and give "
                   "--landmarks-points",
                   name);
}

/* Reads the landmarks of a finished result, whose row numbers must still hold. */
static int read_result(struct ny_store *store, const char *name, bool stay,
                       struct ny_given_landmarks *list)
{
    json_t *record;
    size_t count;
    int err = ny_record_need_done(store, name, &record);

    if (err) return err;
    count = (size_t)ny_field_count(json_object_get(record, "report"), "landmarks", 0);
    err = ny_record_check_lost(store, name, record);
    if (err == NY_OK && count == 0) err = ny_result_lacks(store, name, "landmarks");
    if (err == NY_OK && !stay) err = check_shard(store, name, record);
    if (err == NY_OK) err = read_kept(store, name, record, count, stay, list);
    json_decref(record);
    return err;
}

/* Tells how many row numbers or points a job has kept; 0: it was begun by a version that kept none,
 * or was killed before. */
static size_t count_kept(const json_t *record)
{
    return (size_t)ny_field_count(json_object_get(record, "given"), "landmarks", 0);
}

int ny_landmarks_read(struct ny_given_landmarks *given, struct ny_store *store,
                      const struct ny_options *options, const struct ny_own_landmarks *own)
{
    const char *file = ny_options_get(options, "landmarks-file");
    const char *points = ny_options_get(options, "landmarks-points");
    const char *from = ny_options_get(options, "landmarks-from");
    struct ny_numbers list = {0};
    int err;

    *given = (struct ny_given_landmarks){.named = file || points || from};
    if (!given->named) return NY_OK;
    if (own && own->done) return read_result(store, own->name, true, given);
    if (own && count_kept(own->record))
        return read_kept(store, own->name, own->record, count_kept(own->record), !own->again,
                         given);
    if (from) return read_result(store, from, false, given);
    if (points) return ny_landmark_points_read(given, store, options);
    err = ny_options_numbers(options, "landmarks-file", &list);
    given->rows = list.number;
    given->count = list.count;
    return err ? err : number_left(store, given);
}

/* ---- landmarks of a job ------------------------------------------------------------------- */

int ny_landmarks_keep(struct ny_given_landmarks *given, struct ny_store *store, const char *name,
                      json_t *record)
{
    const struct ny_keep keep = ny_store_keep(store, name);
    struct ny_context *ctx = ny_store_context(store);
    bool kept = count_kept(record) || !(given->rows || given->point_rows);
    json_t *field;
    int err = NY_OK;

    if (!kept && given->point_rows) {
        err =
            ny_landmark_points_put(&keep, ny_record_of(record), &given->points, given->point_rows);
    } else if (!kept) {
        err = ny_keep_put(&keep, ny_record_part(ny_record_of(record), "landmarks").name,
                          given->rows, given->count * sizeof(uint64_t));
        field = json_object();
        ny_field_set_count(field, "landmarks", given->count);
        ny_field_set_json(record, "given", field);
    }
    if (!kept && err == NY_OK) err = ny_record_save(store, name, record);
    ny_free(ctx, given->point_rows);
    given->point_rows = NULL;
    return err;
}

uint64_t ny_landmarks_digest(const struct ny_given_landmarks *given)
{
    const uint64_t points[3] = {
        given->points.dtype, given->points.slots,
        given->point_rows ? ny_checksum(given->point_rows, given->point_bytes) : 0};

    if (given->rows) return ny_checksum(given->rows, given->count * sizeof(uint64_t));
    return given->point_rows ? ny_checksum(points, sizeof(points)) : 0;
}

void ny_landmarks_release(struct ny_given_landmarks *given, struct ny_context *ctx)
{
    ny_free(ctx, given->rows);
    ny_free(ctx, given->point_rows);
    *given = (struct ny_given_landmarks){0};
}
