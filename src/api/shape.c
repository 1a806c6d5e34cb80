/* Reads the shape of points that are not imported yet, such as "1e7,784,u8" (api/shape.h). */
#include "api/shape.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/decimal.h"
#include "base/dtype.h"
#include "io/reader.h"
#include "store/format.h"

/* Reads a whole number, which may be written as 1e7. */
static bool read_count(const char *word, uint64_t *count)
{
    const double most = 9e15; /* below it doubles are whole */
    double value;

    if (!ny_decimal_whole(word, &value) || !(value >= 1 && value <= most) || value != floor(value))
        return false;
    *count = (uint64_t)value;
    return true;
}

/* Takes the words of a shape; false where they make none. */
static bool read_words(char *text, struct ny_points_shape *shape)
{
    uint64_t counts[3] = {0};
    size_t count = 0;
    bool typed = false;
    char *rest;

    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (!typed && count < 3 && read_count(word, &counts[count])) {
            count++;
            continue;
        }
        shape->dtype = ny_dtype_parse(word);
        if (typed || !shape->dtype) return false;
        typed = true;
    }
    shape->rows = counts[0];
    shape->columns = counts[1];
    shape->values = counts[2];
    return count >= 2;
}

/* Refuses what no store can hold. */
static int check(struct ny_context *ctx, const char *text, const struct ny_points_shape *shape)
{
    double cells = (double)shape->rows * (double)shape->columns;

    if (shape->rows > NY_ROWS_MAX || shape->columns > NY_STORE_COLUMNS_MAX || cells > 1e18)
        return ny_fail(ctx, NY_EUSAGE,
                       "--shape %s is larger than a store can be; a store has at most %llu columns",
                       text, (unsigned long long)NY_STORE_COLUMNS_MAX);
    if ((double)shape->values > cells)
        return ny_fail(ctx, NY_EUSAGE,
                       "--shape %s: %llu rows of %llu columns cannot hold %llu values", text,
                       (unsigned long long)shape->rows, (unsigned long long)shape->columns,
                       (unsigned long long)shape->values);
    return NY_OK;
}

int ny_shape_read(struct ny_context *ctx, const char *text, struct ny_points_shape *shape)
{
    char words[128];
    int length = snprintf(words, sizeof(words), "%s", text);

    *shape = (struct ny_points_shape){.dtype = NY_F32};
    if (length < (int)sizeof(words) && read_words(words, shape)) return check(ctx, text, shape);
    return ny_fail(
        ctx, NY_EUSAGE,
        "--shape is ROWS,COLUMNS, followed by the number of values that are not 0 if rows are "
        "sparse, and by the type u8, i16, f32 or f64, as in 1e7,784,u8; not '%s'",
        text);
}

/* Tells whether a store can have this shape. */
static bool is_possible(const struct ny_points_shape *shape)
{
    return shape->rows > 0 && shape->rows <= NY_ROWS_MAX && shape->columns > 0 &&
           shape->columns <= NY_STORE_COLUMNS_MAX &&
           (double)shape->rows * (double)shape->columns <= 1e18;
}

bool ny_shape_of_file(struct ny_context *ctx, const char *path,
                      const struct ny_reader_options *options, struct ny_points_shape *shape)
{
    const char *dot = strrchr(path, '.');
    const struct ny_file_table *table;
    struct ny_reader *reader = NULL;

    if (!dot || (strcmp(dot, ".npy") != 0 && strcmp(dot, ".fvecs") != 0)) return false;
    if (ny_reader_open(&reader, ctx, path, options)) {
        ny_error_clear(ctx);
        return false;
    }
    table = ny_reader_table(reader);
    *shape = (struct ny_points_shape){
        .rows = table->rows, .columns = table->d, .dtype = table->dtype};
    ny_reader_close(reader);
    return shape->rows != NY_ROWS_UNKNOWN && is_possible(shape);
}

/* Writes the shape of the rows of a file, as far as its beginning tells it. */
static void write_shape(struct ny_context *ctx, const char *path, char *text, size_t size)
{
    const struct ny_reader_options options = {.nan_drop = true};
    const struct ny_file_table *table;
    struct ny_reader *reader = NULL;
    char rows[24] = "ROWS", values[24] = "";

    snprintf(text, size, "ROWS,COLUMNS,TYPE");
    if (ny_reader_open(&reader, ctx, path, &options)) {
        ny_error_clear(ctx);
        return;
    }
    table = ny_reader_table(reader);
    if (table->rows != NY_ROWS_UNKNOWN)
        snprintf(rows, sizeof(rows), "%llu", (unsigned long long)table->rows);
    if (table->layout == NY_CSR && table->rows != NY_ROWS_UNKNOWN)
        snprintf(values, sizeof(values), ",%llu", (unsigned long long)(table->rows * table->nnz));
    snprintf(text, size, "%s,%llu%s,%s", rows, (unsigned long long)table->d, values,
             ny_dtype_name(table->dtype));
    ny_reader_close(reader);
}

int ny_shape_refuse_file(struct ny_context *ctx, const char *path)
{
    struct stat info;
    char shape[96];

    if (stat(path, &info) || !S_ISREG(info.st_mode)) return NY_OK;
    write_shape(ctx, path, shape, sizeof(shape));
    return ny_fail_at(ctx, NY_EIO, path, NY_NO_LINE,
                      "%s is a file and not a store; 'nystream plan --shape %s' plans for its rows "
                      "before they are imported",
                      path, shape);
}
