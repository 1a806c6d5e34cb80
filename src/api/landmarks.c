/*
 * Reads the landmarks that a file or another result gives. Row numbers in a file are those of the
 * store, and become those among the rows that are left where some were lost.
 */
#include "api/landmarks.h"

#include <math.h>

#include "base/memory.h"
#include "io/reader.h"
#include "results/record.h"

/* A list of rows while it is read. */
struct list {
    uint64_t *rows;
    size_t count;
};

/* Row numbers of a one-column file, read as f64: exact up to 2⁵³. */
static int read_rows(struct ny_context *ctx, struct ny_reader *reader, const char *path,
                     struct list *list)
{
    enum { ROWS = 1024 };
    double values[ROWS];
    int err;

    for (;;) {
        struct ny_row_batch batch = {.values = values};
        uint64_t *grown;

        err = ny_reader_next(reader, ROWS, &batch);
        if (err) break;
        grown = ny_resize(ctx, NY_MEM_DICTIONARY, list->rows,
                          (list->count + batch.count) * sizeof(uint64_t));
        if (!grown) return NY_EBUDGET;
        list->rows = grown;
        for (size_t i = 0; i < batch.count; i++) {
            if (values[i] < 0 || values[i] != floor(values[i]) || values[i] > 0x1p53)
                return ny_fail_at(ctx, NY_EDATA, path, list->count + i,
                                  "%s, row %zu: %g is not a row number", path, list->count + i,
                                  values[i]);
            list->rows[list->count + i] = (uint64_t)values[i];
        }
        list->count += batch.count;
    }
    return err == NY_END ? NY_OK : err;
}

/* Reads the row numbers of --landmarks-file, a table of one column. */
static int read_file(struct ny_context *ctx, const char *path, struct list *list)
{
    struct ny_reader_options options = {.dtype = NY_F64};
    struct ny_reader *reader = NULL;
    int err = ny_reader_open(&reader, ctx, path, &options);

    if (err) return err;
    if (ny_reader_table(reader)->d != 1)
        err = ny_fail_at(ctx, NY_EDATA, path, NY_NO_LINE,
                         "%s has %llu columns; landmarks are one "
                         "row number a row",
                         path, (unsigned long long)ny_reader_table(reader)->d);
    if (err == NY_OK) err = read_rows(ctx, reader, path, list);
    ny_reader_close(reader);
    return err;
}

/* Row numbers of the store become those among the rows that are left. */
static int number_left(struct ny_store *store, struct list *list)
{
    const struct ny_lost *lost = ny_store_skipped(store);

    for (size_t i = 0; i < list->count; i++) {
        uint64_t row = list->rows[i], gone = 0;

        for (size_t k = 0; k < lost->count && lost->range[k].first <= row; k++) {
            if (row < lost->range[k].end)
                return ny_fail(ny_store_context(store), NY_EDATA,
                               "the list of landmarks names row %llu, which %s has lost",
                               (unsigned long long)row, ny_store_path(store));
            gone += lost->range[k].end - lost->range[k].first;
        }
        list->rows[i] = row - gone;
    }
    return NY_OK;
}

/* Reads the landmarks of a finished result, whose row numbers must still hold. */
static int read_result(struct ny_store *store, const char *name, struct list *list)
{
    struct ny_context *ctx = ny_store_context(store);
    json_t *record;
    int err = ny_record_need_done(store, name, &record);

    if (err) return err;
    list->count = (size_t)ny_field_count(json_object_get(record, "report"), "landmarks", 0);
    err = ny_record_check_lost(store, name, record);
    if (err == NY_OK && list->count == 0)
        err = ny_fail(ctx, NY_EUSAGE,
                      "'%s' has no landmarks; choose some with 'nystream select %s NAME'", name,
                      ny_store_path(store));
    if (err) goto done;
    list->rows = ny_calloc(ctx, NY_MEM_DICTIONARY, list->count, sizeof(uint64_t));
    err = list->rows ? ny_blob_get(store, name, ny_record_part(record, "landmarks").name,
                                   list->rows, list->count * sizeof(uint64_t))
                     : NY_EBUDGET;
done:
    json_decref(record);
    return err;
}

int ny_landmarks_read(struct ny_store *store, const struct ny_options *options, const char *updated,
                      uint64_t **rows, size_t *count)
{
    const char *file = ny_options_text(options, "landmarks-file");
    const char *from = ny_options_text(options, "landmarks-from");
    struct list list = {0};
    int err;

    if (!file && !from) return NY_OK;
    if (updated || !file)
        err = read_result(store, updated ? updated : from, &list);
    else {
        err = read_file(ny_store_context(store), file, &list);
        if (err == NY_OK) err = number_left(store, &list);
    }
    if (err)
        ny_free(ny_store_context(store), list.rows);
    else {
        *rows = list.rows;
        *count = list.count;
    }
    return err;
}
