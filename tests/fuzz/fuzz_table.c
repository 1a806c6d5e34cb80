/*
 * Tables in memory, appended to a store. The bytes say what the description of a table says, whose
 * arrays are as long as it claims wherever a caller could have such arrays: row_start, column,
 * index_bytes, strides and entries are anything. Beyond "no crash": it ends in an error or in rows,
 * of which the store has as many as the report says, all finite, and the next table is taken or
 * refused as the first is.
 */
#include <ftw.h>

#include "fuzz/fuzz_store.h"

enum { MEMORY = 48 << 20, ROWS_MAX = 40, COLUMNS_MAX = 300, ENTRIES_MAX = 2000, GAP_MAX = 16 };

/* The arrays of one table. */
struct arrays {
    char *values, *row_start, *column;
    double labels[ROWS_MAX];
};

static void *array_of(struct fuzz_bytes *bytes, size_t size)
{
    char *array = malloc(size ? size : 1);

    FUZZ_CHECK(array);
    fuzz_take(bytes, array, size);
    return array;
}

/* Numbers of a width, each one byte of the input or, for a first byte of 255, all its bytes. */
static char *numbers_of(struct fuzz_bytes *bytes, unsigned width, size_t count)
{
    char *array = calloc(count + 1, width);

    FUZZ_CHECK(array);
    for (size_t i = 0; i < count; i++) {
        fuzz_take(bytes, array + i * width, 1);
        if ((uint8_t)array[i * width] == 255) fuzz_take(bytes, array + i * width, width);
    }
    return array;
}

/* Rows as lists of entries. Only 4 and 8 are sizes of integers; for others, no array is read. */
static void take_sparse(struct fuzz_bytes *bytes, struct ny_table *table, struct arrays *arrays)
{
    static const uint64_t lies[] = {0, UINT64_MAX, UINT64_MAX / 8, (uint64_t)1 << 61};
    size_t entries = fuzz_number(bytes, 2) % ENTRIES_MAX, size = ny_dtype_size(NY_F64);
    unsigned lie = fuzz_number(bytes, 1), width;

    table->index_bytes = lie & 32 ? lie : lie & 16 ? 4 : 8;
    width = table->index_bytes == 4 ? 4 : 8;
    arrays->row_start = numbers_of(bytes, width, (size_t)table->rows + 1);
    arrays->column = numbers_of(bytes, width, entries);
    arrays->values = array_of(bytes, entries * size);
    table->row_start = arrays->row_start;
    table->column = lie & 64 && entries ? NULL : arrays->column;
    table->entries = lie & 128 ? lies[lie % 4] : entries;
}

/* Rows that lie apart by more than their bytes, by less, or by more than there can be. */
static void take_dense(struct fuzz_bytes *bytes, struct ny_table *table, struct arrays *arrays)
{
    size_t row = (size_t)table->columns * ny_dtype_size(NY_F64);
    uint32_t gap = fuzz_number(bytes, 1);

    if (gap & 1) table->row_bytes = row + gap % GAP_MAX;
    if (gap & 128) table->row_bytes = gap & 64 ? UINT64_MAX / 2 : gap % GAP_MAX;
    arrays->values = array_of(bytes, (size_t)table->rows * (row + GAP_MAX));
}

static void take_table(struct fuzz_bytes *bytes, struct ny_table *table, struct arrays *arrays)
{
    uint32_t kind = fuzz_number(bytes, 1);

    *table = (struct ny_table){.struct_bytes = sizeof(*table)};
    *arrays = (struct arrays){0};
    table->dtype = kind & 64 ? (int)(int8_t)fuzz_number(bytes, 1) : 1 + (int)(kind >> 1) % 4;
    table->rows = fuzz_number(bytes, 1) % ROWS_MAX;
    table->columns = fuzz_number(bytes, 2) % COLUMNS_MAX;
    if (kind & 8) fuzz_take(bytes, arrays->labels, (size_t)table->rows * sizeof(double));
    if (kind & 8) table->labels = arrays->labels;
    if (kind & 1)
        take_sparse(bytes, table, arrays);
    else
        take_dense(bytes, table, arrays);
    table->values = kind & 128 ? NULL : arrays->values;
}

static void release(struct arrays *arrays)
{
    free(arrays->values);
    free(arrays->row_start);
    free(arrays->column);
}

static struct ny_options *take_options(struct ny_context *ctx, uint32_t bits)
{
    static const char *const choices[][4] = {{"dtype", "f32", "u8", "i16"},
                                             {"layout", "auto", "dense", "sparse"},
                                             {"nan", "error", "drop", "keep"},
                                             {"codec", "auto", "raw", "raw"}};
    struct ny_options *options;

    FUZZ_CHECK(ny_options_new(&options, ctx) == NY_OK);
    for (size_t i = 0; i < 4; i++, bits >>= 2)
        if (bits & 3) FUZZ_CHECK(!ny_options_set(options, choices[i][0], choices[i][bits & 3]));
    if (bits & 1) FUZZ_CHECK(ny_options_set(options, "shuffle", "yes") == NY_OK);
    return options;
}

/* Returns the rows of the store, all of which are read. */
static uint64_t count_rows(struct ny_context *ctx)
{
    uint64_t rows = 0, columns = 0;
    struct ny_view *view;
    double *back;
    int type;

    if (access(fuzz_store_path, F_OK) != 0) return 0;
    FUZZ_CHECK(ny_view_open(&view, ctx, fuzz_store_path, NULL) == NY_OK);
    if (ny_view_shape(view, "points", &rows, &columns, &type) == NY_OK && rows) {
        back = calloc((size_t)(rows * columns), sizeof(double));
        FUZZ_CHECK(back && ny_view_read(view, "points", 0, rows, back) == NY_OK);
        for (size_t i = 0; i < rows * columns; i++)
            FUZZ_CHECK(isfinite(ny_dtype_at((enum ny_dtype)type, back, i)));
        free(back);
    }
    ny_view_free(view);
    return rows;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk)
{
    (void)info, (void)type, (void)walk;
    return remove(path);
}

static int append(struct ny_context *ctx, const struct ny_table *table,
                  const struct ny_options *options)
{
    uint64_t before = count_rows(ctx);
    struct ny_report *report = NULL;
    double rows = 0;
    int status = fuzz_status(ctx, ny_append(ctx, fuzz_store_path, table, options, &report));

    if (status == NY_OK) FUZZ_CHECK(ny_report_number(report, "rows", &rows));
    ny_report_free(report);
    FUZZ_CHECK(count_rows(ctx) == before + (uint64_t)rows);
    return status;
}

/* Both tables become rows, or none does. */
static void put_both(struct ny_context *ctx, const struct ny_table *tables,
                     const struct ny_options *options)
{
    struct ny_appender *appender;
    uint64_t before = count_rows(ctx);
    int status = fuzz_status(ctx, ny_appender_open(&appender, ctx, fuzz_store_path, options));

    if (status) return;
    for (int i = 0; i < 2 && status == NY_OK; i++)
        status = fuzz_status(ctx, ny_appender_put(appender, &tables[i]));
    if (status == NY_OK) status = fuzz_status(ctx, ny_appender_commit(appender, NULL));
    ny_appender_free(appender);
    FUZZ_CHECK(status == NY_OK || count_rows(ctx) == before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ny_context *ctx = fuzz_context(MEMORY);
    struct fuzz_bytes bytes = {data, size};
    uint32_t bits = fuzz_number(&bytes, 2);
    struct ny_options *options = take_options(ctx, bits);
    struct ny_table tables[2];
    struct arrays arrays[2];

    if (!*fuzz_folder) fuzz_make_folder();
    for (int i = 0; i < 2; i++)
        take_table(&bytes, &tables[i], &arrays[i]);
    if (bits & 1 << 15) {
        put_both(ctx, tables, options);
    } else {
        append(ctx, &tables[0], options);
        append(ctx, &tables[1], NULL);
    }
    for (int i = 0; i < 2; i++)
        release(&arrays[i]);
    ny_options_free(options);
    nftw(fuzz_store_path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    FUZZ_CHECK(access(fuzz_store_path, F_OK) != 0);
    FUZZ_CHECK(ny_memory_used(ctx) == 0);
    return 0;
}
