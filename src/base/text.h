/* Words: how they are listed; and what is text at all. */
#ifndef NY_BASE_TEXT_H
#define NY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/utf8.h"

/* "a|b|c"; what is longer than `bytes` is cut. */
void ny_join(const char *const *words, size_t count, char *text, size_t bytes);
/* "60,000" */
const char *ny_grouped(uint64_t number, char text[32]);
/* A number and what it counts, "1 row" or "2 rows". */
struct ny_counted {
    char text[64];
};
struct ny_counted ny_counted(uint64_t count, const char *one, const char *many);
/* Tells whether `text` is one of `words`, "a|b|c". If either is NULL, it is not. */
bool ny_one_of(const char *text, const char *words);
/* Ignores case: "a.CSV" ends with ".csv". */
bool ny_ends_with(const char *text, const char *end);

/* `text` as valid UTF-8 without control characters, ? in their place; what is longer than `bytes`
 * is cut, with … at its end. */
void ny_clean_text(const char *text, char *clean, size_t bytes);

#endif
