/* Names of rows or of columns (base/names.h). Readers fill them, a store keeps them in blocks of
 * the same form, and exports and views read them back. */
#include "base/names.h"

#include <string.h>

#include "base/memory.h"

enum { FIRST_ROOM = 4096 };

int ny_names_reserve(struct ny_names *names, struct ny_context *ctx, size_t bytes)
{
    size_t room = names->room ? names->room : FIRST_ROOM;
    char *larger;

    if (names->text && bytes <= names->room - names->bytes) return NY_OK;
    while (room - names->bytes < bytes)
        room *= 2;
    larger = ny_resize(ctx, NY_MEM_IO, names->text, room);
    if (!larger) return NY_EBUDGET;
    names->text = larger;
    names->room = room;
    return NY_OK;
}

int ny_names_add(struct ny_names *names, struct ny_context *ctx, const char *text, size_t length)
{
    int err = ny_names_reserve(names, ctx, length + 1);

    if (err) return err;
    memcpy(names->text + names->bytes, text, length);
    names->text[names->bytes + length] = '\0';
    names->bytes += length + 1;
    names->count++;
    return NY_OK;
}

int ny_names_append(struct ny_names *names, struct ny_context *ctx, const char *text, size_t count)
{
    size_t bytes = (size_t)(ny_names_skip(text, count) - text);
    int err = ny_names_reserve(names, ctx, bytes);

    if (err) return err;
    if (bytes) memcpy(names->text + names->bytes, text, bytes);
    names->bytes += bytes;
    names->count += count;
    return NY_OK;
}

int ny_names_add_empty(struct ny_names *names, struct ny_context *ctx, size_t count)
{
    int err = ny_names_reserve(names, ctx, count);

    if (err) return err;
    memset(names->text + names->bytes, 0, count);
    names->bytes += count;
    names->count += count;
    return NY_OK;
}

void ny_names_clear(struct ny_names *names)
{
    names->bytes = names->count = 0;
}

void ny_names_release(struct ny_names *names, struct ny_context *ctx)
{
    ny_free(ctx, names->text);
    *names = (struct ny_names){0};
}

const char *ny_name_wrong(const char *text, size_t length)
{
    if (length > NY_NAME_BYTES_MAX) return "has more than 4096 bytes; shorten it";
    for (size_t i = 0; i < length; i++)
        if (text[i] == '\0' || text[i] == '\n' || text[i] == '\r')
            return "has a line end or a zero byte in it; rename it";
    return NULL;
}

const char *ny_names_skip(const char *text, size_t count)
{
    while (count--)
        text += strlen(text) + 1;
    return text;
}

size_t ny_names_count(const char *text, size_t bytes, bool *whole)
{
    size_t count = 0;

    *whole = bytes == 0 || text[bytes - 1] == '\0';
    for (const char *end = text + bytes; text < end; count++) {
        const char *zero = memchr(text, 0, (size_t)(end - text));

        if (!zero) break;
        text = zero + 1;
    }
    return count;
}
