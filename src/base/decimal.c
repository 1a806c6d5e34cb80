/* The locale C is static in glibc: to make, set and free it takes no memory and a few nanoseconds.
 */
#include "base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static locale_t make_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

double ny_decimal_read(const char *text, char **end)
{
    locale_t c = make_locale();
    double value = strtod_l(text, end, c);

    freelocale(c);
    return value;
}

bool ny_decimal_whole(const char *text, double *value)
{
    char *end;

    if (!*text || strspn(text, "0123456789+-.eE") != strlen(text)) return false;
    *value = ny_decimal_read(text, &end);
    return !*end && isfinite(*value);
}

locale_t ny_decimal_begin(void)
{
    return uselocale(make_locale());
}

void ny_decimal_end(locale_t before)
{
    freelocale(uselocale(before));
}

int ny_decimal_vprint(char *text, size_t bytes, const char *format, va_list args)
{
    locale_t before = ny_decimal_begin();
    int length = vsnprintf(text, bytes, format, args);

    ny_decimal_end(before);
    return length;
}

int ny_decimal_print(char *text, size_t bytes, const char *format, ...)
{
    va_list args;
    int length;

    va_start(args, format);
    length = ny_decimal_vprint(text, bytes, format, args);
    va_end(args);
    return length;
}
