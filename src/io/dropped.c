/* Rows that hold NaN or infinity are left out and counted, or end the reading, and so does a value
 * that does not fit. Formats call this for each such row, and the reader of points tells of those
 * that were left out at the end. */
#include "io/format.h"

#define ULL(x) ((unsigned long long)(x))

const char *ny_reader_nan_cure(const struct ny_reader *reader)
{
    return reader->options.nan_option     ? "; --nan drop leaves such rows out"
           : reader->options.nan_may_stay ? "; --nan keep gives such rows NaN for coordinates"
                                          : "";
}

void ny_reader_drop(struct ny_reader *reader)
{
    if (reader->dropped < NY_DROPPED_TOLD)
        reader->first_dropped[reader->dropped] = reader->consumed;
    reader->dropped++;
}

int ny_reader_fail_row(struct ny_reader *reader, uint64_t row, uint64_t column)
{
    if (reader->nan == NY_NAN_DROP) {
        ny_reader_drop(reader);
        return NY_OK;
    }
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, row,
                      "%s: row %llu, column %llu (both from 0): NaN or infinity%s", reader->path,
                      ULL(row), ULL(column), ny_reader_nan_cure(reader));
}

int ny_reader_fail_value(struct ny_reader *reader, uint64_t column, enum ny_dtype dtype)
{
    return ny_fail_at(
        reader->ctx, NY_EDATA, reader->path, reader->consumed,
        "%s: row %llu, column %llu (both from 0): the number is none of %s; round it, "
        "or give a wider --dtype",
        reader->path, ULL(reader->consumed), ULL(column), ny_dtype_name(dtype));
}

uint64_t ny_reader_dropped_count(const struct ny_reader *reader)
{
    return reader->dropped;
}

const uint64_t *ny_reader_dropped(const struct ny_reader *reader, size_t *count)
{
    *count = reader->dropped < NY_DROPPED_TOLD ? (size_t)reader->dropped : NY_DROPPED_TOLD;
    return reader->first_dropped;
}
