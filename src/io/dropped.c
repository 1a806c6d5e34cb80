/* Rows that hold NaN or infinity are left out and counted, or end the reading, and so does a value
 * that does not fit. Formats call this for each such row, and the reader of points tells of those
 * that were left out at the end. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "io/format.h"
#include "io/number.h"
#include "io/row_names.h"

#define ULL(x) ((unsigned long long)(x))

const char *ny_reader_nan_cure(const struct ny_reader *reader)
{
    return reader->options.nan_option     ? "; --nan drop leaves such rows out"
           : reader->options.nan_may_stay ? "; --nan keep gives such rows NaN for coordinates"
           : !reader->options.dims_of     ? ""
           : reader->bytes                ? "; take such rows out of the file"
                                          : "; take such rows out";
}

void ny_reader_drop(struct ny_reader *reader, uint64_t line)
{
    if (reader->dropped < NY_DROPPED_TOLD)
        reader->first_dropped[reader->dropped] = (struct ny_dropped){reader->consumed, line};
    reader->dropped++;
}

/* Finds the name of a row that was read, of which an error is to tell: the reader reads no further.
 * Leaves it empty where the row has none. */
static void find_row_name(struct ny_reader *reader, uint64_t row, struct ny_shown *shown)
{
    struct ny_names names = {0};
    const char *name = NULL;

    if (reader->entry->format->row_name) name = reader->entry->format->row_name(reader, row);
    if (reader->row_names && row >= reader->names_read) {
        if (ny_row_names_next(reader->row_names, row - reader->names_read, 1, &names) == NY_OK)
            name = names.text;
        else
            ny_error_clear(reader->ctx);
    }
    *shown = ny_shown(name ? name : "", name ? strlen(name) : 0);
    ny_names_release(&names, reader->ctx);
}

/* A place in messages. */
struct place {
    char text[2 * sizeof(struct ny_shown) + 60];
};

/* Tells a place by the names of its row and its column, or by their numbers: those of rows from 0,
 * and of columns too where they are in memory; columns of files are numbered as --columns does. */
static struct place place_of(struct ny_reader *reader, uint64_t row, uint64_t column)
{
    bool named = reader->columns.count == reader->table.d, in_memory = !reader->bytes;
    const char *of_column = named ? ny_names_skip(reader->columns.text, (size_t)column) : "";
    struct ny_shown name;
    struct place place;
    int used;

    find_row_name(reader, row, &name);
    if (!name.text[0] && !named && in_memory) {
        snprintf(place.text, sizeof(place.text), "row %llu, column %llu (both from 0)", ULL(row),
                 ULL(column));
        return place;
    }
    used = name.text[0] ? snprintf(place.text, sizeof(place.text), "row '%s', ", name.text)
                        : snprintf(place.text, sizeof(place.text), "row %llu (from 0), ", ULL(row));
    if (named)
        snprintf(place.text + used, sizeof(place.text) - (size_t)used, "column '%s'",
                 ny_shown(of_column, strlen(of_column)).text);
    else
        snprintf(place.text + used, sizeof(place.text) - (size_t)used, "column %llu (from %d)",
                 ULL(column + !in_memory), !in_memory);
    return place;
}

int ny_reader_fail_row(struct ny_reader *reader, uint64_t row, uint64_t column, double value)
{
    if (reader->nan == NY_NAN_DROP) {
        ny_reader_drop(reader, 0);
        return NY_OK;
    }
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, row,
                      "%s: %s is %s%s", reader->path, place_of(reader, row, column).text,
                      isnan(value) ? "NaN"
                      : value < 0  ? "-Inf"
                                   : "Inf",
                      ny_reader_nan_cure(reader));
}

/* Fails because of a value, `number` in messages. */
static int fail_number(struct ny_reader *reader, uint64_t column, const char *type,
                       const char *number, const char *wanted, const char *cure)
{
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, reader->consumed,
                      "%s: %s: the %s %s cannot be stored exactly as %s; %s", reader->path,
                      place_of(reader, reader->consumed, column).text, type, number, wanted, cure);
}

int ny_reader_fail_value(struct ny_reader *reader, uint64_t column, const char *type, double value)
{
    char number[40];

    ny_decimal_print(number, sizeof(number), "%.17g", value);
    return fail_number(reader, column, type, number, ny_dtype_name(reader->table.dtype),
                       "give a wider --dtype");
}

void ny_reader_tell_rounded(struct ny_reader *reader, double first)
{
    const char *type = ny_dtype_name(reader->table.dtype);
    char number[40];

    reader->rounded = true;
    ny_decimal_print(number, sizeof(number), "%.17g", first);
    ny_log(reader->ctx, NY_LOG_WARNING,
           "%s: values are rounded to %s, the type of the rows before them: the first is %s in row "
           "%llu (from 0); --dtype %s says that this is meant, and %s--dtype f64 keeps them",
           reader->path, type, number, ULL(reader->consumed), type,
           reader->options.any_order ? "" : "a new store with ");
}

bool ny_reader_rounded(const struct ny_reader *reader)
{
    return reader->rounded;
}

int ny_reader_fail_whole(struct ny_reader *reader, uint64_t column, enum ny_element_type type,
                         const void *value)
{
    bool is_signed = type == NY_E_I8;
    char number[24];
    uint64_t bits;

    memcpy(&bits, value, sizeof(bits));
    if (is_signed)
        snprintf(number, sizeof(number), "%lld", (long long)(int64_t)bits);
    else
        snprintf(number, sizeof(number), "%llu", ULL(bits));
    return fail_number(reader, column, ny_element_name(type), number, "f64",
                       "no type of a store holds more than 53 bits: leave the column out, or round "
                       "it by converting it to float64 first");
}

uint64_t ny_reader_dropped_count(const struct ny_reader *reader)
{
    return reader->dropped;
}

const struct ny_dropped *ny_reader_dropped(const struct ny_reader *reader, size_t *count)
{
    *count = reader->dropped < NY_DROPPED_TOLD ? (size_t)reader->dropped : NY_DROPPED_TOLD;
    return reader->first_dropped;
}
