/*
 * Prepares rows (base/prepare.h), a piece of 256 values at a time, each in f64.
 *
 * Small whole numbers are prepared once a row: most counts are 1, 2 or 3, and log1p takes as long
 * as all that a pass does with a value.
 */
#include "base/prepare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"

enum { PIECE = 256, SMALL = 128 };

static const char *const row_words[] = {"none", "total", "unit"};
static const char *const value_words[] = {"raw", "log1p", "sqrt", "binary"};
enum { VALUE_WORDS = sizeof(value_words) / sizeof(value_words[0]) };

bool ny_prepared_plausible(const struct ny_prepared *how)
{
    bool total = how->rows == NY_ROWS_TOTAL;

    return how->rows <= NY_ROWS_UNIT && how->values < VALUE_WORDS && isfinite(how->total) &&
           (total ? how->total > 0 : how->total == 0);
}

bool ny_prepared_same(const struct ny_prepared *one, const struct ny_prepared *other)
{
    return one->rows == other->rows && one->values == other->values && one->total == other->total;
}

enum ny_dtype ny_prepared_dtype(const struct ny_prepared *how, enum ny_dtype dtype)
{
    if (!ny_prepares(how)) return dtype;
    return dtype == NY_F64 ? NY_F64 : NY_F32;
}

/* ---- words --------------------------------------------------------------------------------- */

const char *ny_prepared_rows(const struct ny_prepared *how, char text[NY_PREPARED_WORD_BYTES])
{
    if (how->rows == NY_ROWS_TOTAL)
        ny_decimal_print(text, NY_PREPARED_WORD_BYTES, "total:%.17g", how->total);
    else
        snprintf(text, NY_PREPARED_WORD_BYTES, "%s", row_words[how->rows]);
    return text;
}

const char *ny_prepared_values(const struct ny_prepared *how)
{
    return value_words[how->values];
}

/* A number above 0, such as 10000 or 1e4, and nothing behind it. */
static bool parse_total(const char *text, double *total)
{
    return ny_decimal_whole(text, total) && *total > 0;
}

bool ny_prepared_parse(struct ny_prepared *how, const char *rows, const char *values)
{
    *how = (struct ny_prepared){0};
    if (strncmp(rows, "total:", 6) == 0) {
        how->rows = NY_ROWS_TOTAL;
        if (!parse_total(rows + 6, &how->total)) return false;
    } else if (strcmp(rows, "unit") == 0) {
        how->rows = NY_ROWS_UNIT;
    } else if (strcmp(rows, "none") != 0) {
        return false;
    }
    while (how->values < VALUE_WORDS && strcmp(values, value_words[how->values]) != 0)
        how->values++;
    return how->values < VALUE_WORDS;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The sum of counts, or of their squares: the same in any order, below 2⁵³. */
#define COUNTS_SUM(name, type)                                                                     \
    static double name(const type *in, size_t count, bool squares)                                 \
    {                                                                                              \
        int64_t sum = 0;                                                                           \
                                                                                                   \
        for (size_t k = 0; k < count; k++)                                                         \
            sum += squares ? (int32_t)in[k] * (int32_t)in[k] : (int32_t)in[k];                     \
        return (double)sum;                                                                        \
    }

COUNTS_SUM(sum_of_bytes, uint8_t)
COUNTS_SUM(sum_of_shorts, int16_t)

/* The sum of the values of a row, or of their squares. */
static double sum_of(enum ny_dtype from, const void *in, size_t count, bool squares)
{
    double piece[PIECE], sum = 0;

    if (from == NY_U8) return sum_of_bytes(in, count, squares);
    if (from == NY_I16) return sum_of_shorts(in, count, squares);
    for (size_t first = 0; first < count; first += PIECE) {
        size_t some = count - first < PIECE ? count - first : PIECE;

        ny_dtype_to_f64(from, (const char *)in + first * ny_dtype_size(from), piece, some);
        for (size_t k = 0; k < some; k++)
            sum += squares ? piece[k] * piece[k] : piece[k];
    }
    return sum;
}

/* Returns what the values of a row are multiplied by; NaN where their sum overflows. */
static double factor_of(const struct ny_prepared *how, enum ny_dtype from, const void *in,
                        size_t count)
{
    double sum;

    if (how->rows == NY_ROWS_NONE) return 1;
    sum = sum_of(from, in, count, how->rows == NY_ROWS_UNIT);
    if (!isfinite(sum)) return NAN;
    if (sum <= 0) return 0;
    return how->rows == NY_ROWS_UNIT ? 1 / sqrt(sum) : how->total / sum;
}

/* The way to prepare the values of one row. */
struct row {
    enum ny_value_preparation values;
    double factor;
};

/* Returns the prepared value. */
static double prepare_value(const struct row *row, double x)
{
    switch (row->values) {
    case NY_VALUES_LOG1P:
        return log1p(x * row->factor);
    case NY_VALUES_SQRT:
        return sqrt(x * row->factor);
    case NY_VALUES_BINARY:
        return isnan(x * row->factor) ? NAN : x != 0;
    case NY_VALUES_RAW:
        break;
    }
    return x * row->factor;
}

/* Prepares values of a type, a piece at a time, as `in` may be the end of the room of `out`.
 * `small` holds the prepared values of the whole numbers that the row had so far, -1 for the
 * others. Returns how many come before the first that is not finite then, as a value beyond the
 * range of f32: such a value is not kept among the small.
 */
#define PREPARE(name, from, to)                                                                    \
    static size_t name(const struct row *row, const char *in, size_t count, char *out)             \
    {                                                                                              \
        to small[SMALL], prepared[PIECE];                                                          \
        size_t good = count;                                                                       \
        from piece[PIECE];                                                                         \
                                                                                                   \
        for (size_t k = 0; k < SMALL; k++)                                                         \
            small[k] = -1;                                                                         \
        for (size_t first = 0, some; first < count; first += some) {                               \
            some = count - first < PIECE ? count - first : PIECE;                                  \
            memcpy(piece, in + first * sizeof(from), some * sizeof(from));                         \
            for (size_t k = 0; k < some; k++) {                                                    \
                size_t at = piece[k] >= 0 && piece[k] < SMALL ? (size_t)piece[k] : SMALL;          \
                bool is_small = at < SMALL && (from)at == piece[k];                                \
                to value = is_small ? small[at] : -1;                                              \
                                                                                                   \
                if (value < 0) {                                                                   \
                    value = (to)prepare_value(row, (double)piece[k]);                              \
                    if (!isfinite(value) && good == count) good = first + k;                       \
                    if (is_small && isfinite(value)) small[at] = value;                            \
                }                                                                                  \
                prepared[k] = value;                                                               \
            }                                                                                      \
            memcpy(out + first * sizeof(to), prepared, some * sizeof(to));                         \
        }                                                                                          \
        return good;                                                                               \
    }

PREPARE(bytes_to_f32, uint8_t, float)
PREPARE(bytes_to_f64, uint8_t, double)
PREPARE(shorts_to_f32, int16_t, float)
PREPARE(shorts_to_f64, int16_t, double)
PREPARE(f32_to_f32, float, float)
PREPARE(f32_to_f64, float, double)
PREPARE(f64_to_f32, double, float)
PREPARE(f64_to_f64, double, double)

size_t ny_prepare_row(const struct ny_prepared *how, enum ny_dtype from, const void *in,
                      size_t count, enum ny_dtype to, void *out)
{
    struct row row = {.values = (enum ny_value_preparation)how->values,
                      .factor = factor_of(how, from, in, count)};
    bool wide = to == NY_F64;

    if (row.factor == 0) {
        memset(out, 0, count * ny_dtype_size(to));
        return count;
    }
    switch (from) {
    case NY_U8:
        return (wide ? bytes_to_f64 : bytes_to_f32)(&row, in, count, out);
    case NY_I16:
        return (wide ? shorts_to_f64 : shorts_to_f32)(&row, in, count, out);
    case NY_F32:
        return (wide ? f32_to_f64 : f32_to_f32)(&row, in, count, out);
    case NY_F64:
        return (wide ? f64_to_f64 : f64_to_f32)(&row, in, count, out);
    case NY_GENOTYPE: /* which is as it is */
        ny_dtype_widen(from, in, to, out, count);
        break;
    case NY_DTYPE_NONE:
        break;
    }
    return count;
}

void ny_prepare_in_place(const struct ny_prepared *how, enum ny_dtype from, enum ny_dtype to,
                         void *room, size_t rows, size_t d)
{
    size_t in_bytes = d * ny_dtype_size(from), out_bytes = d * ny_dtype_size(to);
    const char *in = (const char *)room + rows * (out_bytes - in_bytes);

    for (size_t i = 0; i < rows; i++)
        ny_prepare_row(how, from, in + i * in_bytes, d, to, (char *)room + i * out_bytes);
}
