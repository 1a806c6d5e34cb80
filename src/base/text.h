/* Words: which of several was meant, how they are listed; and what is text at all. */
#ifndef NY_BASE_TEXT_H
#define NY_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Of ny_suggest(), for the end of a message: "; did you mean 'x'?", or "". */
struct ny_hint {
    char text[96];
};
struct ny_hint ny_hint(const char *word, const char *const *candidates, size_t count);
/* "a|b|c"; what is longer than `bytes` is cut. */
void ny_join(const char *const *words, size_t count, char *text, size_t bytes);
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
