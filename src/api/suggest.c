/* "Did you mean": the optimal string alignment distance (Damerau 1964, without overlaps), whatever
 * the case. */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#include "nystream.h"

enum { LONGEST = 48 };

static bool same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Both texts are at most LONGEST bytes. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST + 1] = {{0}};
    size_t *before = rows[0], *above = rows[1], *row = rows[2];
    size_t length_a = strlen(a), length_b = strlen(b);

    for (size_t j = 0; j <= length_b; j++)
        above[j] = j;
    for (size_t i = 1; i <= length_a; i++) {
        size_t *oldest = before;

        row[0] = i;
        for (size_t j = 1; j <= length_b; j++) {
            size_t change = above[j - 1] + !same(a[i - 1], b[j - 1]);

            row[j] = least(least(above[j], row[j - 1]) + 1, change);
            if (i > 1 && j > 1 && same(a[i - 1], b[j - 2]) && same(a[i - 2], b[j - 1]))
                row[j] = least(row[j], before[j - 2] + 1);
        }
        before = above;
        above = row;
        row = oldest;
    }
    return above[length_b];
}

const char *ny_suggest(const char *word, const char *const *candidates, size_t count)
{
    const char *nearest = NULL;
    size_t length = word && candidates ? strlen(word) : 0, nearest_distance = LONGEST;

    if (length == 0 || length > LONGEST) return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t candidate_length = strlen(candidates[i]);
        size_t apart;

        if (candidate_length > LONGEST) continue;
        apart = distance(word, candidates[i]);
        if (length >= 2 && strncasecmp(word, candidates[i], length) == 0) apart = least(apart, 1);
        /* A word of four letters may differ in two, a longer one in more; not in half of it. */
        if (apart > 1 + length / 4 || 2 * apart > candidate_length) continue;
        if (apart < nearest_distance) {
            nearest = candidates[i];
            nearest_distance = apart;
        }
    }
    return nearest;
}
