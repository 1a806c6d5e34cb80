/*
 * Tells of columns that come in another unit: inches for metres, grams for kilograms, a share for
 * percents. All values of such a column are multiplied by one factor, and that is what is looked
 * for: |x| that a quarter of the rows have at least, and a tenth of them. Both are then at least
 * six times what they are in any part of the store, or at most a sixth of it, by nearly the same
 * factor. Parts differ, so that a factor of ten is hardly ten beside all of them. A few values that
 * lie far outside, which make the standard deviation so large that no factor below 1 shows in it
 * (store/ingest_far.c goes by that), do not matter here.
 *
 * In trials on eleven real data sets, 192 of 220 nights with a column times ten, 172 with one tenth
 * of it and 189 with inches instead of metres were told, and none of 616 other nights, of which 396
 * came in the order of the sets. Whole numbers of a type for them cannot be multiplied by such
 * factors, and most values of sparse rows are 0: neither is looked at.
 *
 * Some rows of either side are read behind the commit: by then a failure to compare them is none
 * of the import.
 */
#include <math.h>
#include <stdlib.h>

#include "api/import_private.h"
#include "base/compare.h"
#include "base/decimal.h"
#include "base/memory.h"

/* Rows that are read of either side, in pieces, since each piece takes a look at its block. */
enum { ROWS_LEAST = 30, ROWS_MOST = 512, ROWS_BYTES = 4 << 20, PIECES = 8, PIECE_LEAST = 15 };
/* The two quantiles are multiplied by nearly one factor. */
static const double factor_least = 6, alike = 1.5;
static const double shares[2] = {0.75, 0.9};

struct sample {
    uint64_t first, rows; /* of the store */
    size_t count;         /* that are read, into */
    char *raw;
};

/* A column of the samples, and room for one number a row. */
struct column {
    size_t j, row_bytes;
    enum ny_dtype dtype;
    double *room;
};

/* Reads some of the rows, spread over all of them. */
static int read_sample(struct ny_store *store, size_t row_bytes, struct sample *sample)
{
    size_t pieces = sample->count < sample->rows ? PIECES : 1, each = sample->count / pieces;
    int err = NY_OK;

    for (size_t k = 0; !err && k < pieces; k++) {
        uint64_t at = sample->first + (sample->rows - each) * k / (pieces > 1 ? pieces - 1 : 1);

        err = ny_points_read(store, 0, at, each, sample->raw + k * each * row_bytes);
    }
    sample->count = pieces * each;
    return err;
}

/* |x| that a quarter of the rows have at least, and a tenth of them: the least of any piece of a
 * sample, and the most. */
struct span {
    double low[2], high[2];
};

static size_t pieces_of(const struct sample *sample)
{
    return sample->count / PIECE_LEAST < PIECES ? sample->count / PIECE_LEAST : PIECES;
}

/* Finds those of a column over the first `pieces` of so many pieces. */
static struct span span_of(const struct sample *sample, const struct column *column, size_t pieces,
                           size_t of)
{
    struct span span = {{INFINITY, INFINITY}, {0, 0}};

    for (size_t k = 0; k < pieces; k++) {
        size_t first = sample->count * k / of, count = sample->count * (k + 1) / of - first;
        const char *raw = sample->raw + first * column->row_bytes;

        for (size_t i = 0; i < count; i++)
            column->room[i] =
                fabs(ny_dtype_at(column->dtype, raw + i * column->row_bytes, column->j));
        qsort(column->room, count, sizeof(*column->room), ny_compare_doubles);
        for (size_t i = 0; i < 2; i++) {
            double found = column->room[(size_t)(shares[i] * (double)(count - 1))];

            span.low[i] = fmin(span.low[i], found);
            span.high[i] = fmax(span.high[i], found);
        }
    }
    return span;
}

/* Tells whether all that is new is so many times as large as all that is old, or that much smaller.
 */
static bool are_apart(const struct span *old, const struct span *new, double factor)
{
    bool larger = old->low[0] > 0, smaller = new->low[0] > 0;

    for (size_t i = 0; i < 2; i++) {
        larger = larger && new->low[i] >= factor * old->high[i];
        smaller = smaller && new->high[i] <= old->low[i] / factor;
    }
    return larger || smaller;
}

/* Returns the factor that the new values of a column are multiplied by; 1: by none that is told. A
 * glance at a piece of either side passes over nearly all columns. The new rows must then differ
 * from each piece of the store: where rows come sorted, pieces differ among themselves. */
static double factor_of(const struct sample sides[2], const struct column *column)
{
    size_t pieces = pieces_of(&sides[0]);
    struct span old = span_of(&sides[0], column, 1, pieces);
    struct span new = span_of(&sides[1], column, 1, pieces_of(&sides[1]));
    double a, b;

    if (!are_apart(&old, &new, factor_least / 2)) return 1;
    old = span_of(&sides[0], column, pieces, pieces);
    new = span_of(&sides[1], column, 1, 1);
    if (!are_apart(&old, &new, factor_least)) return 1;
    old = span_of(&sides[0], column, 1, 1);
    a = new.low[0] / old.low[0];
    b = new.low[1] / old.low[1];
    return fmax(a, b) <= alike * fmin(a, b) ? sqrt(a * b) : 1;
}

/* Warns of the columns that are in another unit, of which one is named. */
static int warn_of_units(struct ny_import *import, const struct sample sides[2],
                         const struct ny_points_info *info, double *room)
{
    const char *path = ny_store_path(import->store);
    char column[NY_COLUMN_WORDS_BYTES], factor[48], others[80] = "";
    size_t count = 0, worst = 0;
    double most = 1;
    int err;

    for (size_t j = 0; j < info->d; j++) {
        const struct column values = {j, ny_points_row_bytes(info), info->dtype, room};
        double here = factor_of(sides, &values);

        count += here != 1;
        if (fabs(log(here)) <= fabs(log(most))) continue;
        most = here;
        worst = j;
    }
    if (!count) return NY_OK;
    err = ny_points_column_words(import->store, worst, column);
    if (err) return err;
    ny_decimal_print(factor, sizeof(factor), most > 1 ? "%.3g times" : "1/%.3g of",
                     most > 1 ? most : 1 / most);
    if (count > 1)
        ny_decimal_print(others, sizeof(others),
                         ", and %zu more of %llu columns have another scale", count - 1,
                         (unsigned long long)info->d);
    ny_log(import->ctx, NY_LOG_WARNING,
           "the new values of %s are about %s those of the store%s: are they in the same unit? "
           "'nystream truncate %s --keep %llu' takes them out again",
           column, factor, others, path, (unsigned long long)sides[0].rows);
    return NY_OK;
}

/* Compares the rows of the store up to `first` with those behind. */
static int compare(struct ny_import *import, const struct ny_points_info *info, uint64_t first)
{
    size_t row_bytes = ny_points_row_bytes(info), most = ROWS_BYTES / row_bytes;
    struct sample sides[2] = {{.rows = first}, {.first = first, .rows = info->n - first}};
    double *room = NULL;
    int err = NY_OK;

    most = most < PIECES * 8 ? PIECES * 8 : most > ROWS_MOST ? ROWS_MOST : most;
    for (size_t k = 0; k < 2 && !err; k++) {
        sides[k].count = sides[k].rows < most ? (size_t)sides[k].rows : most;
        sides[k].raw = ny_alloc(import->ctx, NY_MEM_IO, sides[k].count * row_bytes);
        err = sides[k].raw ? read_sample(import->store, row_bytes, &sides[k]) : NY_EBUDGET;
    }
    if (!err) {
        room = ny_alloc(import->ctx, NY_MEM_IO, most * sizeof(*room));
        err = room ? warn_of_units(import, sides, info, room) : NY_EBUDGET;
    }
    ny_free(import->ctx, room);
    ny_free(import->ctx, sides[1].raw);
    ny_free(import->ctx, sides[0].raw);
    return err;
}

void ny_import_tell_units(struct ny_import *import, uint64_t first)
{
    struct ny_points_info info;
    int err;

    if (ny_ingest_told_far(import->ingest)) return;
    ny_store_read_raw(import->store, true);
    err = ny_points_info(import->store, &info);
    if (!err && !info.row_slots && info.dtype > NY_I16 && first >= ROWS_LEAST &&
        info.n >= first + ROWS_LEAST)
        err = compare(import, &info, first);
    ny_store_read_raw(import->store, false);
    if (err) ny_error_clear(import->ctx);
}
