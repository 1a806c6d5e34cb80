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
    case NY_GENOTYPE:
    case NY_DTYPE_NONE:
        break;
    }
    return false;
}

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
