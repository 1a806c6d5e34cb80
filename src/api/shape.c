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

static int bad_shape(struct ny_context *ctx, const char *text)
{
    return ny_fail_value(
        ctx, "shape", "ROWS,COLUMNS[,VALUES][,u8|i16|f32|f64] of a store, as in 1e7,784,u8", text);
}

/* Refuses what no store can hold. */
static int check(struct ny_context *ctx, const char *text, const struct ny_points_shape *shape)
{
    double cells = (double)shape->rows * (double)shape->columns;

    if (shape->rows > NY_ROWS_MAX || shape->columns > NY_STORE_COLUMNS_MAX || cells > 1e18 ||
        (double)shape->values > cells)
        return bad_shape(ctx, text);
    return NY_OK;
}

int ny_shape_read(struct ny_context *ctx, const char *text, struct ny_points_shape *shape)
{
    char words[128];
    int length = snprintf(words, sizeof(words), "%s", text);

    *shape = (struct ny_points_shape){.dtype = NY_F32};
    if (length < (int)sizeof(words) && read_words(words, shape)) return check(ctx, text, shape);
    return bad_shape(ctx, text);
}
