/* Words: how far apart two are, and which of several was meant. */
#ifndef NY_BASE_TEXT_H
#define NY_BASE_TEXT_H

#include <stddef.h>

/* Levenshtein distance; words beyond 63 characters are compared by their first 63. */
size_t ny_edit_distance(const char *a, const char *b);
/* The candidate nearest to `word`, the first of equals; NULL when there are none. */
const char *ny_nearest(const char *word, const char *const *candidates, size_t count);

#endif
