/* A limit between two units lies half a unit of the last digit below the round number, so that
 * rounding never prints "1000 ms", "60.0 s" or "1024 KiB". */
#include "base/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"

/* Divides by `step` until the number is short, and writes it with three digits and its unit: the
 * prefix of that power, and `unit`. */
static const char *put(double value, double step, const char *const *prefix, const char *unit,
                       const char *space, char text[NY_UNIT_BYTES])
{
    size_t power = 0;
    int digits;

    for (; value >= step - 0.5 && prefix[power + 1]; power++)
        value /= step;
    digits = power == 0 && step > 1000 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
    ny_decimal_print(text, NY_UNIT_BYTES, "%.*f%s%s%s%s", digits, value, space, prefix[power],
                     power && strncmp(unit, "rows", 4) == 0 ? space : "", unit);
    return text;
}

const char *ny_size_words(double bytes, const char *space, char text[NY_UNIT_BYTES])
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", NULL};

    return put(bytes, 1024, units, "", space, text);
}

const char *ny_scaled_words(double value, const char *unit, const char *space,
                            char text[NY_UNIT_BYTES])
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E", NULL};

    return put(value, 1000, prefixes, unit, space, text);
}

/* Writes two whole numbers with their units. */
static void put_both(char text[NY_UNIT_BYTES], const char *space, double whole, const char *of,
                     double rest, const char *of_rest)
{
    snprintf(text, NY_UNIT_BYTES, "%.0f%s%s %02.0f%s%s", floor(whole), space, of, floor(rest),
             space, of_rest);
}

const char *ny_time_words(double seconds, const char *space, char text[NY_UNIT_BYTES])
{
    double whole = floor(seconds + 0.5);

    if (seconds < 0.9995)
        ny_decimal_print(text, NY_UNIT_BYTES, "%.*f%sms", seconds < 0.00995 ? 1 : 0, 1000 * seconds,
                         space);
    else if (seconds < 59.95)
        ny_decimal_print(text, NY_UNIT_BYTES, "%.1f%ss", seconds, space);
    else if (whole < 3600)
        put_both(text, space, whole / 60, "min", fmod(whole, 60), "s");
    else if (whole < 48 * 3600)
        put_both(text, space, whole / 3600, "h", fmod(whole, 3600) / 60, "min");
    else
        put_both(text, space, whole / 86400, "days", fmod(whole, 86400) / 3600, "h");
    return text;
}
