/* Names of rows or of columns: texts that end in a zero byte, one behind another in one block of
 * memory, which grows as names are added. */
#ifndef NY_BASE_NAMES_H
#define NY_BASE_NAMES_H

#include "base/context.h"

/* The most bytes of a name, without its end. */
enum { NY_NAME_BYTES_MAX = 4096 };

struct ny_names {
    char *text; /* names and their ends, `bytes` in all; NULL before the first */
    size_t bytes, room;
    size_t count;
};

/* Names in memory that somebody else has, and where each begins; NULL: there are none. */
struct ny_given_names {
    const char *text;
    const uint64_t *start;
};

/* Makes room for so many bytes more, under NY_MEM_IO. */
int ny_names_reserve(struct ny_names *names, struct ny_context *ctx, size_t bytes);
/* Adds a name of `length` bytes, none of which is zero, behind the others. */
int ny_names_add(struct ny_names *names, struct ny_context *ctx, const char *text, size_t length);
/* Adds `count` names that stand one behind another in `text`. */
int ny_names_append(struct ny_names *names, struct ny_context *ctx, const char *text, size_t count);
/* Adds `count` empty names, which say that there is none. */
int ny_names_add_empty(struct ny_names *names, struct ny_context *ctx, size_t count);
/* Forgets all names and keeps the memory. */
void ny_names_clear(struct ny_names *names);
/* Frees the memory. */
void ny_names_release(struct ny_names *names, struct ny_context *ctx);

/* Says as the end of a sentence why bytes cannot be a name, or returns NULL. */
const char *ny_name_wrong(const char *text, size_t length);
/* Returns the first byte behind `count` names, which are known to be there. */
const char *ny_names_skip(const char *text, size_t count);
/* Counts the names in `bytes` bytes, the last of which must be an end; *whole says whether it is.
 */
size_t ny_names_count(const char *text, size_t bytes, bool *whole);

#endif
