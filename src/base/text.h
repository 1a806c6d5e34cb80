/* Words: how far apart two are, which of several was meant; and what is text at all. */
#ifndef NY_BASE_TEXT_H
#define NY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Levenshtein distance; words beyond 63 characters are compared by their first 63. */
size_t ny_edit_distance(const char *a, const char *b);
/* The candidate nearest to `word`, the first of equals; NULL when there are none. */
const char *ny_nearest(const char *word, const char *const *candidates, size_t count);

/* Whether `text` is one of `words`, "a|b|c"; NULL is none of them, and has none. */
bool ny_one_of(const char *text, const char *words);
/* Whatever the case: "a.CSV" ends with ".csv". */
bool ny_ends_with(const char *text, const char *end);

/* Bytes of the UTF-8 sequence at `text` (RFC 3629), 0 when it is not one. */
size_t ny_utf8_bytes(const char *text);
/* `text` as valid UTF-8 without control characters, ? in their place; what is longer than `bytes`
 * is cut, with … at its end. */
void ny_clean_text(const char *text, char *clean, size_t bytes);

#endif
