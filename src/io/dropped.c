/* Rows that hold NaN or infinity are left out and counted, or end the reading, and so does a value
 * that does not fit. Formats call this for each such row, and the reader of points tells of those
 * that were left out at the end. */
#include <math.h>

#include "io/format.h"

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

int ny_reader_fail_row(struct ny_reader *reader, uint64_t row, uint64_t column, double value)
{
    if (reader->nan == NY_NAN_DROP) {
        ny_reader_drop(reader, 0);
        return NY_OK;
    }
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, row,
                      "%s: row %llu (from 0), column %llu (from 1) is %s%s", reader->path, ULL(row),
                      ULL(column + 1),
                      isnan(value) ? "NaN"
                      : value < 0  ? "-Inf"
                                   : "Inf",
                      ny_reader_nan_cure(reader));
}

int ny_reader_fail_value(struct ny_reader *reader, uint64_t column, const char *type, double value)
{
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, reader->consumed,
                      "%s: row %llu (from 0), column %llu (from 1): the %s %.17g is not exactly a "
                      "value of %s; give a wider --dtype",
                      reader->path, ULL(reader->consumed), ULL(column + 1), type, value,
                      ny_dtype_name(reader->table.dtype));
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
