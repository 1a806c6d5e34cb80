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
int ny_fail_at(struct ny_context *ctx, int status, const char *file, uint64_t line,
               const char *format, ...)
{
    va_list args;

    va_start(args, format);
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

int ny_fail_internal(struct ny_context *ctx, const char *function)
{
    return ny_fail(ctx, NY_EINTERNAL, "nystream has a bug in %s(); please report it", function);
}

int ny_fail_memory(struct ny_context *ctx)
{
    return ny_fail(ctx, NY_EBUDGET, "the system has no memory left; free some");
}

int ny_fail_changed(struct ny_context *ctx, const char *what)
{
    return ny_fail(ctx, NY_EBUSY, "%s was changed while it was read; run the same command again",
                   what);
}

int ny_fail_long_path(struct ny_context *ctx, const char *path)
{
    return ny_fail_at(ctx, NY_EIO, path, NY_NO_LINE, "the path %s is too long", path);
}

int ny_fail_full(struct ny_context *ctx, const char *path, uint64_t bytes, uint64_t available)
{
    const double mib = 1048576;

    return ny_fail_at(ctx, NY_EIO, path, NY_NO_LINE,
                      "%s needs %.1f MiB, but its disk has %.1f MiB free; make space there", path,
                      (double)bytes / mib, (double)available / mib);
}

int ny_fail_idle(struct ny_context *ctx, const char *option, const char *with)
{
    return ny_fail(ctx, NY_EUSAGE, "--%s does not act with %s; leave it out", option, with);
}

int ny_fail_beside(struct ny_context *ctx, const char *option, const char *other, const char *value)
{
    char with[96];

    snprintf(with, sizeof(with), "--%s%s%s", other, value ? " " : "", value ? value : "");
    return ny_fail_idle(ctx, option, with);
}

int ny_fail_only(struct ny_context *ctx, const char *option, const char *with)
{
    return ny_fail(ctx, NY_EUSAGE, "--%s acts only with %s", option, with);
}

int ny_fail_both(struct ny_context *ctx, const char *one, const char *other)
{
    return ny_fail(ctx, NY_EUSAGE, "--%s and --%s exclude each other; give one", one, other);
}

int ny_fail_value(struct ny_context *ctx, const char *option, const char *takes, const char *value)
{
    return ny_fail(ctx, NY_EUSAGE, "--%s is %s, not '%s'", option, takes, value);
}

int ny_fail_most(struct ny_context *ctx, const char *option, uint64_t value, uint64_t count,
                 const char *things)
{
    return ny_fail(ctx, NY_EUSAGE, "--%s %llu needs more %s than %llu; give fewer", option,
                   (unsigned long long)value, things, (unsigned long long)count);
}

int ny_fail_few(struct ny_context *ctx, const char *what)
{
    return ny_fail(ctx, NY_EDATA, "%s has too few rows; import more", what);
}

int ny_fail_damaged(struct ny_context *ctx, const char *name, const char *place)
{
    if (!name) return ny_fail(ctx, NY_ESTORE, "a result is damaged; make it again with --restart");
    return ny_fail(ctx, NY_ESTORE, "'%s' in %s is damaged; make it again with --restart", name,
                   place);
}

int ny_fail_infinite(struct ny_context *ctx, const char *what, uint64_t row)
{
    char of[32] = "";

    if (row != NY_NO_LINE) snprintf(of, sizeof(of), " of row %llu", (unsigned long long)row);
    return ny_fail(
        ctx, NY_ENUMERIC,
        "the %s%s is not finite; look for huge values in the data, rescale them (--scale "
        "standard), or choose another width",
        what, of);
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
