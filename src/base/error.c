/*
 * The error of a context. Its text is kept in the context, so that reporting an error needs no
 * memory. If several workers report errors at once, the first one stays until it is cleared.
 */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/context_private.h"
#include "base/decimal.h"

/* Accepts NULL: a caller has no context if there was no memory for one. */
const struct ny_error *ny_context_error(const struct ny_context *ctx)
{
    static const struct ny_error none = {.status = NY_EBUDGET,
                                         .message = "there is no context: there was no memory "
                                                    "for one, or none was given"};

    return ctx ? &ctx->error : &none;
}

const char *ny_context_message(const struct ny_context *ctx)
{
    const char *message = ny_context_error(ctx)->message;

    return message ? message : "";
}

/* Copies the name behind the first "--" of the message; returns NULL where there is none. One that
 * follows something else than a space, a quote or a bracket is part of a name of a file. */
static const char *find_option(const char *message, char *name, size_t size)
{
    const char *at = message;
    size_t length = 0;

    for (; length == 0 && (at = strstr(at, "--")); at += 2) {
        if (at > message && !strchr(" '\"(", at[-1])) continue;
        length = strspn(at + 2, "abcdefghijklmnopqrstuvwxyz0123456789-");
        snprintf(name, size, "%.*s", (int)length, at + 2);
    }
    return length ? name : NULL;
}

/* Keeps the error if the context has none yet, with copies of the message and of the file name. */
NY_PRINTF(5, 0)
static int fail(struct ny_context *ctx, int status, const char *file, uint64_t line,
                const char *format, va_list args)
{
    ny_mutex_lock(&ctx->lock);
    if (ctx->error.status == NY_OK) {
        ny_decimal_vprint(ctx->message, sizeof(ctx->message), format, args);
        snprintf(ctx->file, sizeof(ctx->file), "%s", file ? file : "");
        ctx->error = (struct ny_error){
            .status = status,
            .message = ctx->message,
            .file = file ? ctx->file : NULL,
            .line = line,
            .has_line = line != NY_NO_LINE,
            .option = find_option(ctx->message, ctx->option, sizeof(ctx->option))};
    }
    ny_mutex_unlock(&ctx->lock);
    return status;
}

int ny_fail(struct ny_context *ctx, int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail(ctx, status, NULL, NY_NO_LINE, format, args);
    va_end(args);
    return status;
}

int ny_fail_at(struct ny_context *ctx, int status, const char *file, uint64_t line,
               const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fail(ctx, status, file, line, format, args);
    va_end(args);
    return status;
}

int ny_fail_errno(struct ny_context *ctx, const char *action, const char *path)
{
    int number = errno;
    int status = number == ENOMEM ? NY_EBUDGET : NY_EIO;

    return ny_fail_at(ctx, status, path, NY_NO_LINE, "cannot %s %s: %s%s", action, path,
                      strerror(number), number == EMFILE ? NY_MORE_FILES : "");
}

void ny_error_rename(struct ny_context *ctx, const char *was, const char *is)
{
    char text[sizeof(ctx->message)];
    char *at;

    ny_mutex_lock(&ctx->lock);
    at = strstr(ctx->message, was);
    if (at) {
        snprintf(text, sizeof(text), "%s%s", is, at + strlen(was));
        snprintf(at, sizeof(ctx->message) - (size_t)(at - ctx->message), "%s", text);
    }
    ny_mutex_unlock(&ctx->lock);
}

bool ny_is_final(int status)
{
    return status == NY_EDATA || status == NY_EUSAGE || status == NY_ENUMERIC;
}

void ny_error_clear(struct ny_context *ctx)
{
    ny_mutex_lock(&ctx->lock);
    ctx->error = (struct ny_error){.status = NY_OK};
    ny_mutex_unlock(&ctx->lock);
}
