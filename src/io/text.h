/* Shared by the text formats: storing a value into a row. For io/ alone. */
#ifndef NY_IO_TEXT_H
#define NY_IO_TEXT_H

#include <math.h>

#include "io/format.h"

/* row[column] = value in the table's type; false when it does not fit: beyond the range of
 * float32 (rounding is fine), or not exactly a whole number of the type's range. */
static inline bool ny_text_store(enum ny_dtype dtype, void *row, size_t column, double value)
{
    switch (dtype) {
    case NY_F32: {
        float narrow = (float)value;

        ((float *)row)[column] = narrow;
        return isfinite(narrow);
    }
    case NY_F64:
        ((double *)row)[column] = value;
        return isfinite(value);
    case NY_I16:
        if (!(value >= -32768 && value <= 32767)) return false;
        ((int16_t *)row)[column] = (int16_t)value;
        return (double)(int16_t)value == value;
    case NY_U8:
        if (!(value >= 0 && value <= 255)) return false;
        ((uint8_t *)row)[column] = (uint8_t)value;
        return (double)(uint8_t)value == value;
    case NY_DTYPE_NONE:
        break;
    }
    return false;
}

/* Whole numbers that lost digits in the table's type. They are more likely times or names than
 * measurements, whose last digits say nothing; those of more than 20 digits are neither. */
struct ny_lost_digits {
    uint64_t count, line; /* line of the first */
    uint64_t column;      /* of the first, as messages count it */
    bool beyond;          /* f64 has not all digits of one of them, either */
};

/* A number that is so large is to be looked at by ny_digits_note(). */
static inline bool ny_text_large(enum ny_dtype dtype, double value)
{
    return fabs(value) >= (dtype == NY_F32 ? 0x1p24 : 0x1p53);
}
/* Counts the number that begins at `text`, if it is whole and the type does not have its value. */
void ny_digits_note(struct ny_lost_digits *lost, enum ny_dtype dtype, const char *text,
                    double value, uint64_t column);
/* Adds those of a record, which began in this line. */
void ny_digits_add(struct ny_lost_digits *lost, const struct ny_lost_digits *record, uint64_t line);
/* Warns of them at the end of the file, unless f32 was asked for; `column`: the word for one. */
void ny_digits_tell(const struct ny_reader *reader, const struct ny_lost_digits *lost,
                    const char *column);

/* "is not a value of u8; give a wider --dtype" */
static inline const char *ny_text_unfit(enum ny_dtype dtype)
{
    switch (dtype) {
    case NY_U8:
        return "is not a whole number from 0 to 255; give a wider --dtype";
    case NY_I16:
        return "is not a whole number from -32768 to 32767; give a wider --dtype";
    case NY_F32:
        return "is beyond the range of f32; give --dtype f64";
    default:
        return "is beyond the range of f64";
    }
}

#endif
