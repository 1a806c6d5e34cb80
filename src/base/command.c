/*
 * Quotes words for a shell, and keeps the command that the jobs of a context are begun with.
 * Records store it, and messages show it to be pasted: a word is written plain, in single quotes,
 * or with escapes, whichever is the first that can hold it.
 */
#include "base/command.h"

#include <stdio.h>
#include <string.h>

#include "base/context_private.h"
#include "base/memory.h"
#include "base/text.h"

/* The longest form of a byte: \ooo. A word has three bytes more: $'' around it. */
enum { ESCAPE_BYTES = 4, QUOTE_BYTES = 3 };

/* Forms of a word: as it is, '…', or $'…' for control characters and bytes that are not UTF-8. */
enum quoting { PLAIN, QUOTED, ESCAPED };

static enum quoting quoting_of(const char *word)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "-_=+./:,@%";

    if (word[0] != '\0' && strspn(word, safe) == strlen(word)) return PLAIN;
    for (size_t bytes; *word; word += bytes) {
        bytes = ny_utf8_bytes(word);
        if (bytes == 0 || ny_utf8_is_control(word, bytes)) return ESCAPED;
    }
    return QUOTED;
}

/* Appends a text without its 0; returns the bytes. */
static size_t put(char *out, const char *text)
{
    size_t bytes = strlen(text);

    memcpy(out, text, bytes);
    return bytes;
}

/* Writes one byte of a word inside quotes; returns the bytes that this takes. */
static size_t put_byte(char *out, char byte, enum quoting quoting)
{
    unsigned char value = (unsigned char)byte;

    if (quoting == QUOTED && byte == '\'') return put(out, "'\\''");
    if (quoting == QUOTED || (value >= ' ' && value < 0x7f && !strchr("'\\", byte))) {
        *out = byte;
        return 1;
    }
    return (size_t)snprintf(out, ESCAPE_BYTES + 1, "\\%03o", (unsigned)value);
}

static size_t put_word(char *out, const char *word)
{
    enum quoting quoting = quoting_of(word);
    size_t used;

    if (quoting == PLAIN) return put(out, word);
    used = put(out, quoting == ESCAPED ? "$'" : "'");
    for (; *word; word++)
        used += put_byte(out + used, *word, quoting);
    return used + put(out + used, "'");
}

char *ny_shell_words(struct ny_context *ctx, const char *const *words, size_t count)
{
    size_t room = 2, used = 0; /* snprintf() ends each escape with a 0 */
    char *text;

    for (size_t i = 0; i < count; i++)
        room += ESCAPE_BYTES * strlen(words[i]) + QUOTE_BYTES + 1;
    text = ny_alloc(ctx, NY_MEM_OTHER, room);
    if (!text) return NULL;
    for (size_t i = 0; i < count; i++) {
        if (i > 0) text[used++] = ' ';
        used += put_word(text + used, words[i]);
    }
    text[used] = '\0';
    return text;
}

int ny_context_set_command(struct ny_context *ctx, const char *const *words, size_t count,
                           size_t store)
{
    char *text = NULL, *before = NULL;

    if (!ctx) return NY_EUSAGE;
    ny_error_clear(ctx);
    for (size_t i = 0; i < count; i++)
        if (!words || !words[i])
            return ny_fail(ctx, NY_EUSAGE, "%s() was given NULL as its words, which it needs",
                           __func__);
    if (store > 0 && store >= count)
        return ny_fail(ctx, NY_EUSAGE, "%s() was given %zu words, and word %zu as the store's",
                       __func__, count, store);
    if (count > 0) text = ny_shell_words(ctx, words, count);
    if (store > 0) before = ny_shell_words(ctx, words, store);
    if ((count > 0 && !text) || (store > 0 && !before)) {
        ny_free(ctx, text);
        ny_free(ctx, before);
        return NY_EBUDGET;
    }
    ny_free(ctx, ctx->command);
    ctx->command = text;
    ctx->command_store = before ? strlen(before) + 1 : 0;
    ny_free(ctx, before);
    return NY_OK;
}

const char *ny_context_command(const struct ny_context *ctx)
{
    return ctx ? ctx->command : NULL;
}

const char *ny_context_command_store(const struct ny_context *ctx)
{
    return ctx->command_store ? ctx->command + ctx->command_store : NULL;
}
