/*
 * Reads landmarks that are given by their coordinates (option landmarks-points).
 *
 * Nothing is rounded: rows are read in the type of the file, which is text's f32 or that of an
 * array, and kept in the store's type if it holds all of them, else in f32 or f64. So landmarks
 * that are rows of the store give the bits that their numbers give, and centres of rows of bytes
 * make a fit in f32. All rows of a job are then read in that type (ny_settings_widen()).
 */
#include "api/landmarks.h"

#include <stdlib.h>

#include "api/option_tables.h"
#include "base/checksum.h"
#include "base/layout.h"
#include "io/convert.h"

/* The points as they are read. */
struct table {
    struct ny_context *ctx;
    const char *path;         /* messages call the points so */
    struct ny_rows_info info; /* the store has rows like this */
    enum ny_dtype dtype;
    size_t count;
    uint64_t most;     /* points that there may be */
    char *rows;        /* dense, packed */
    struct ny_csr csr; /* or sparse */
    bool sparse;
    struct ny_layout own;
    double *wide; /* a row, and room for it in any type */
    void *narrow;
};

/* ---- reading -------------------------------------------------------------------------------- */

static int read_rows(struct table *table, struct ny_reader *reader)
{
    enum { ROWS = 256 };
    size_t row = (size_t)table->info.d * ny_dtype_size(table->dtype);
    int err;

    for (;;) {
        struct ny_row_batch batch = {.sparse = &table->csr};

        if (!table->sparse) {
            err = ny_resize_array(table->ctx, NY_MEM_DICTIONARY, &table->rows, table->count + ROWS,
                                  row);
            if (err) return err;
            batch.values = table->rows + table->count * row;
        }
        err = ny_reader_next(reader, ROWS, &batch);
        if (err) return err == NY_END ? NY_OK : err;
        table->count += batch.count;
        if (table->count > table->most)
            return ny_fail_at(table->ctx, NY_EDATA, table->path, NY_NO_LINE,
                              "%s has more points than the store has rows", table->path);
    }
}

static int read_table(struct table *table, struct ny_store *store, const struct ny_options *options)
{
    struct ny_stored_points points;
    const struct ny_columns_like like = {.whose = ny_store_path(store),
                                         .count = table->info.d,
                                         .load = ny_points_all_columns,
                                         .arg = store};
    struct ny_party party = {.whose = table->path};
    struct ny_reader_options how = {.dtype = table->info.dtype == NY_F64 ? NY_F64 : NY_DTYPE_NONE,
                                    .dims = table->info.d,
                                    .dims_of = "the store has",
                                    .names = true,
                                    .reading =
                                        table->info.row_slots ? NY_READ_SPARSE : NY_READ_DENSE};
    struct ny_reader *reader = NULL;
    int err = ny_points_stored(store, &points);

    how.indices = points.indices;
    how.like = points.column_names ? &like : NULL;
    if (!err) err = ny_options_open(&reader, options, "landmarks-points", &how);
    if (err) return err;
    table->dtype = ny_reader_table(reader)->dtype;
    table->sparse = ny_reader_table(reader)->layout == NY_CSR;
    table->csr.dtype = table->dtype;
    party.columns = ny_reader_column_names(reader);
    party.traits = (struct ny_traits){.d = ny_reader_table(reader)->d,
                                      .dtype = table->dtype,
                                      .columns = ny_names_digest(party.columns)};
    err = ny_points_check_columns(store, &party);
    if (!err) err = read_rows(table, reader); /* at least one: the reader refuses what has none */
    ny_reader_close(reader);
    return err;
}

/* ---- the type in which they are kept -------------------------------------------------------- */

/* Widens point i to table->wide; returns its values, of which a sparse one has a few. */
static struct ny_sparse row_at(const struct table *table, size_t i)
{
    struct ny_sparse row = {.count = (size_t)table->info.d};

    row.value = table->rows + i * row.count * ny_dtype_size(table->dtype);
    if (table->sparse) row = ny_csr_row(&table->csr, i);
    if (row.count) ny_dtype_to_f64(table->dtype, row.value, table->wide, row.count);
    return row;
}

/* Finds the narrowest type, from the store's on, that holds all points exactly. */
static enum ny_dtype find_type(const struct table *table)
{
    enum ny_dtype dtype = table->info.dtype;

    for (size_t i = 0; i < table->count; i++) {
        size_t count = row_at(table, i).count;

        while (ny_dtype_from_f64(dtype, false, table->wide, table->narrow, count) < count)
            dtype = dtype < NY_F32 ? NY_F32 : NY_F64;
    }
    return dtype;
}

/* Counts the values of the fullest point that are not 0. */
static size_t find_slots(const struct table *table)
{
    size_t most = 1;

    for (size_t i = 0; i < table->count; i++) {
        size_t count = row_at(table, i).count, kept = 0;

        for (size_t k = 0; k < count; k++)
            kept += table->wide[k] != 0;
        if (kept > most) most = kept;
    }
    return most;
}

/* Writes point i as it is kept: dense, or as a record. */
static void convert(const struct table *table, size_t i, const struct ny_landmark_points *how,
                    char *out)
{
    struct ny_sparse row = row_at(table, i);

    ny_dtype_from_f64(how->dtype, false, table->wide, how->slots ? table->narrow : (void *)out,
                      row.count);
    if (how->slots && table->sparse) {
        row.value = table->narrow;
        ny_sparse_pack(out, how->slots, how->dtype, row);
    } else if (how->slots) {
        ny_sparse_from_dense(table->narrow, row.count, how->dtype, out, how->slots);
    }
}

/* ---- checks --------------------------------------------------------------------------------- */

struct entry {
    uint64_t hash;
    size_t place;
};

static int by_hash(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

/* Refuses a point that is there twice: the first that repeats an earlier one. */
static int check_twice(const struct table *table, const char *rows, size_t row_bytes)
{
    struct entry *entries =
        ny_calloc(table->ctx, NY_MEM_DICTIONARY, table->count, sizeof(*entries));
    size_t first = SIZE_MAX, earlier = 0;

    if (!entries) return NY_EBUDGET;
    for (size_t i = 0; i < table->count; i++)
        entries[i] = (struct entry){ny_checksum(rows + i * row_bytes, row_bytes), i};
    qsort(entries, table->count, sizeof(*entries), by_hash);
    for (size_t i = 1; i < table->count; i++) {
        if (entries[i].hash != entries[i - 1].hash || entries[i].place >= first) continue;
        first = entries[i].place;
        earlier = entries[i - 1].place;
    }
    ny_free(table->ctx, entries);
    if (first == SIZE_MAX) return NY_OK;
    return ny_fail_at(table->ctx, NY_EDATA, table->path, first,
                      "%s has the same point in rows %zu and %zu (from 0)", table->path, earlier,
                      first);
}

int ny_landmark_points_read(struct ny_given_landmarks *given, struct ny_store *store,
                            const struct ny_options *options)
{
    struct table table = {.ctx = ny_store_context(store),
                          .path = ny_options_source(options, "landmarks-points")};
    struct ny_landmark_points *how = &given->points;
    size_t row_bytes;
    char *rows;
    int err = ny_points_info(store, &table.info);

    /* The rows of a part, or those that a model places, may be few. */
    table.most = ny_options_choice(options, "until") || ny_options_is_set(options, "model")
                     ? UINT64_MAX
                     : table.info.n;
    if (!err) err = read_table(&table, store, options);
    if (err) goto done;
    table.own.ctx = table.ctx;
    table.wide = ny_lay(&table.own, NY_MEM_DICTIONARY, (size_t)table.info.d, sizeof(double));
    table.narrow = ny_lay(&table.own, NY_MEM_DICTIONARY, (size_t)table.info.d, sizeof(double));
    err = table.own.err;
    if (err) goto done;
    *how = (struct ny_landmark_points){table.count, find_type(&table), 0, (size_t)table.info.d};
    if (table.info.row_slots) how->slots = find_slots(&table);
    row_bytes = ny_row_bytes(how->dtype, (size_t)table.info.d, how->slots);
    given->point_bytes = how->count * row_bytes;
    given->point_rows = rows = ny_calloc(table.ctx, NY_MEM_DICTIONARY, how->count, row_bytes);
    for (size_t i = 0; rows && i < how->count; i++)
        convert(&table, i, how, rows + i * row_bytes);
    err = rows ? check_twice(&table, rows, row_bytes) : NY_EBUDGET;
done:
    ny_free(table.ctx, table.rows);
    ny_csr_release(&table.csr, table.ctx);
    ny_layout_free(&table.own);
    return err;
}
