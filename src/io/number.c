/*
 * Decimal numbers in text: the csv and libsvm readers call ny_number() for each value, so that it
 * is the inner loop of an import of text.
 *
 * The result is correctly rounded, by the first of three ways that can do it. Up to 19 digits with
 * a mantissa of at most 2^53 and a power of ten up to 22: one exact operation on doubles. Up to 19
 * digits with a power up to 27: one operation in 64-bit precision, unless its result is a tie
 * between two doubles. All else: ny_decimal_read(). The locale of the process never
 * matters. A comma is a decimal point in ny_number_with_comma() alone, for tables that are so
 * written.
 */
#include "io/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/decimal.h"

enum {
    DIGITS_EXACT = 19,  /* decimal digits that a uint64_t always holds */
    POWER_DOUBLE = 22,  /* 10^22 is the largest power of ten that is exactly a double */
    POWER_EXTENDED = 27 /* the same for a long double of 64 bits */
};

static const double powers[POWER_DOUBLE + 1] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static const long double extended_powers[POWER_EXTENDED - POWER_DOUBLE] = {1e23L, 1e24L, 1e25L,
                                                                           1e26L, 1e27L};

/* mantissa · 10^exponent through one operation in 64-bit precision. Its rounding error cannot
 * carry the value over a tie between two doubles, so rounding it to a double is right unless it
 * *is* such a tie; false then. */
static bool extended(uint64_t mantissa, int exponent, double *value)
{
    int power = abs(exponent);
    long double scale, result;
    uint64_t bits;

    if (LDBL_MANT_DIG != 64 || power > POWER_EXTENDED) return false;
    scale = power <= POWER_DOUBLE ? (long double)powers[power]
                                  : extended_powers[power - POWER_DOUBLE - 1];
    result = exponent < 0 ? (long double)mantissa / scale : (long double)mantissa * scale;
    memcpy(&bits, &result, sizeof(bits));
    *value = (double)result;
    return (bits & 0x7ff) != 0x400;
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

/* The exponent after 'e'; returns `p` itself when there is none. */
static const char *exponent_part(const char *p, int *exponent)
{
    const char *q = p + 1;
    bool negative;
    int value = 0;

    if (*p != 'e' && *p != 'E') return p;
    negative = *q == '-';
    if (*q == '-' || *q == '+') q++;
    if (!is_digit(*q)) return p;
    for (; is_digit(*q); q++)
        if (value < 100000) value = 10 * value + (*q - '0');
    *exponent += negative ? -value : value;
    return q;
}

/* Parses a number whose decimal point is this one. */
static inline const char *parse(const char *text, char point, double *value)
{
    const char *p = text, *digits;
    char *comma;
    bool negative = *p == '-';
    uint64_t mantissa = 0;
    size_t count;
    int exponent = 0;

    if (*p == '-' || *p == '+') p++;
    for (digits = p; is_digit(*p); p++)
        mantissa = 10 * mantissa + (uint64_t)(*p - '0');
    count = (size_t)(p - digits);
    if (*p == point) {
        for (digits = ++p; is_digit(*p); p++)
            mantissa = 10 * mantissa + (uint64_t)(*p - '0');
        count += (size_t)(p - digits);
        if (p - digits <= DIGITS_EXACT) exponent = -(int)(p - digits);
    }
    if (count == 0) return text;
    p = exponent_part(p, &exponent);
    if (count <= DIGITS_EXACT) {
        if (mantissa <= (UINT64_C(1) << DBL_MANT_DIG) && abs(exponent) <= POWER_DOUBLE) {
            *value = exponent < 0 ? (double)mantissa / powers[-exponent]
                                  : (double)mantissa * powers[exponent];
            if (negative) *value = -*value;
            return p;
        }
        if (extended(mantissa, exponent, value)) {
            if (negative) *value = -*value;
            return p;
        }
    }
    comma = point == ',' ? (char *)memchr(text, ',', (size_t)(p - text)) : NULL;
    if (comma) *comma = '.';
    *value = ny_decimal_read(text, NULL);
    if (comma) *comma = ',';
    return p;
}

const char *ny_number(const char *text, double *value)
{
    return parse(text, '.', value);
}

const char *ny_number_with_comma(const char *text, double *value)
{
    return parse(text, ',', value);
}

bool ny_number_none(const char *text, size_t length)
{
    static const char *const words[] = {"NULL", "null", "None", "N/A", "n/a", "#N/A",
                                        "NaT",  "?",    ".",    "-",   "--"};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (length == strlen(words[i]) && memcmp(text, words[i], length) == 0) return true;
    return false;
}

bool ny_number_comma(const char *text, size_t length)
{
    size_t digits = 0;

    for (size_t i = 0; i < length; i++) {
        digits += is_digit(text[i]);
        if (!is_digit(text[i]) && !strchr("+-.,eE", text[i] ? text[i] : 'x')) return false;
    }
    return digits > 0 && memchr(text, ',', length);
}

bool ny_number_missing(const char *text, size_t length, double *value)
{
    bool negative = length > 0 && text[0] == '-';

    *value = (double)NAN;
    if (length == 0 || (length == 2 && memcmp(text, "NA", 2) == 0)) return true;
    if (text[0] == '-' || text[0] == '+') text++, length--;
    if (length == 3 && strncasecmp(text, "nan", 3) == 0) return true;
    *value = (double)(negative ? -INFINITY : INFINITY);
    return (length == 3 && strncasecmp(text, "inf", 3) == 0) ||
           (length == 8 && strncasecmp(text, "infinity", 8) == 0);
}

bool ny_number_whole(const char *text, size_t length, uint64_t *value)
{
    uint64_t sum = 0;

    if (length == 0) return false;
    for (size_t i = 0; i < length; i++) {
        if (!is_digit(text[i])) return false;
        if (sum > (UINT64_MAX - 9) / 10)
            sum = UINT64_MAX;
        else if (sum != UINT64_MAX)
            sum = 10 * sum + (uint64_t)(text[i] - '0');
    }
    *value = sum;
    return true;
}

/* Bytes of the UTF-8 character at `text`; 0 when it is none (overlong, surrogate, cut off). */
static size_t character(const unsigned char *text, size_t length)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = text[0] < 0x80 ? 1 : text[0] < 0xe0 ? 2 : text[0] < 0xf0 ? 3 : 4;
    uint32_t code = text[0];

    if (bytes == 1) return 1;
    if (text[0] < 0xc2 || text[0] > 0xf4 || bytes > length) return 0;
    code &= 0xffu >> (bytes + 1);
    for (size_t i = 1; i < bytes; i++) {
        if ((text[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (text[i] & 0x3f);
    }
    return code < smallest[bytes] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? 0
                                                                                          : bytes;
}

bool ny_is_utf8(const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        size_t bytes = character((const unsigned char *)text + i, length - i);

        if (bytes == 0) return false;
        i += bytes;
    }
    return true;
}

struct ny_shown ny_shown(const char *text, size_t length)
{
    const size_t most = 40;
    struct ny_shown shown;
    size_t n = 0;

    for (size_t i = 0; i < length;) {
        size_t bytes = character((const unsigned char *)text + i, length - i);

        if (n + (bytes ? bytes : 1) > most) {
            memcpy(shown.text + n, "…", sizeof("…") - 1);
            n += sizeof("…") - 1;
            break;
        }
        if (bytes == 0 || (unsigned char)text[i] < 0x20 || text[i] == 0x7f) {
            shown.text[n++] = '?';
            i += bytes ? bytes : 1;
        } else {
            memcpy(shown.text + n, text + i, bytes);
            n += bytes;
            i += bytes;
        }
    }
    shown.text[n] = '\0';
    return shown;
}
