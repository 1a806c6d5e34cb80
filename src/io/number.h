/* Decimal numbers in text, whatever the locale of the process. */
#ifndef NY_IO_NUMBER_H
#define NY_IO_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* [+-]digits[.digits][e[+-]digits], correctly rounded; returns the first byte after it, or `text`
 * when none begins there. A byte that cannot belong to a number must follow (a NUL will do). */
const char *ny_number(const char *text, double *value);
/* Likewise with a comma in the place of the point. The text is changed for a moment, and has to be
 * in memory that may be written. */
const char *ny_number_with_comma(const char *text, double *value);
/* "", "nan", "NA", "inf", "infinity", any case and sign but for NA: true, with the value. */
bool ny_number_missing(const char *text, size_t length, double *value);
/* A word that programs write where there is no number: NULL, None, N/A, ?, - and their like. */
bool ny_number_none(const char *text, size_t length);
/* Tells whether there is a comma in a number: a decimal one, or one between its thousands. */
bool ny_number_comma(const char *text, size_t length);
/* Digits alone: true and the value, UINT64_MAX where it is larger. */
bool ny_number_whole(const char *text, size_t length, uint64_t *value);

/* At most 40 bytes of a text, for a message: control bytes and broken UTF-8 become '?'. */
struct ny_shown {
    char text[48];
};
/* Returns the text as a message shows it, cut with "…" where it is longer. */
struct ny_shown ny_shown(const char *text, size_t length);
/* Tells whether all of the text is valid UTF-8. */
bool ny_is_utf8(const char *text, size_t length);

#endif
