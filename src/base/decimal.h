/*
 * Numbers as text: options, records, tables, pages, and messages, whose numbers are typed as
 * options of the next command. They have a decimal point whatever locale the host of the library
 * has set.
 */
#ifndef NY_BASE_DECIMAL_H
#define NY_BASE_DECIMAL_H

#include <locale.h>
#include <stdarg.h>
#include <stddef.h>

#include "base/error.h"

/* Reads a number as strtod() does in the locale C: *end (may be NULL) is the first byte after it,
 * or `text` where none begins there. */
double ny_decimal_read(const char *text, char **end);
/* Reads the whole text as a finite number, without blanks, hexadecimal digits, "inf" or "nan";
 * false for any other text. */
bool ny_decimal_whole(const char *text, double *value);
/* Prints as snprintf() and vsnprintf() do in the locale C. */
int ny_decimal_print(char *text, size_t bytes, const char *format, ...) NY_PRINTF(3, 4);
int ny_decimal_vprint(char *text, size_t bytes, const char *format, va_list args) NY_PRINTF(3, 0);

/* Sets the locale C for this thread, so that many numbers are printed by snprintf(); returns what
 * ny_decimal_end() sets again. No callback may run between the two. */
locale_t ny_decimal_begin(void);
void ny_decimal_end(locale_t before);

#endif
