/* The error of a context: what the public functions give as its status and message. */
#ifndef NY_BASE_ERROR_H
#define NY_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "nystream.h"

#define NY_PRINTF(text_index, first) __attribute__((format(printf, text_index, first)))

/* Records the error of this context, from a format and what it prints, and returns `status`, so
 * that a caller can write `err = ny_fail(…); goto done;`. Safe from any worker thread; the first of
 * several concurrent errors is kept until ny_error_clear(). */
#define ny_fail(ctx, status, ...) ny_fail_at(ctx, status, NULL, NY_NO_LINE, __VA_ARGS__)

/* This says what to do where a process may open no more files. */
#define NY_MORE_FILES "; let the process open more files (ulimit -n)"

/* Like ny_fail(), for an error in a file. `line` is 1-based for text, a 0-based row for binary
 * files, NY_NO_LINE where none applies. File and line also reach the JSON form of the error; the
 * message must name them itself, in the words of the format. */
#define NY_NO_LINE UINT64_MAX
int ny_fail_at(struct ny_context *ctx, int status, const char *file, uint64_t line,
               const char *format, ...) NY_PRINTF(5, 6);

/* Sets the status for the errno of a failed call: NY_EBUDGET for ENOMEM, NY_EIO for all others. The
 * message reads "cannot <action> <path>: <strerror>". */
int ny_fail_errno(struct ny_context *ctx, const char *action, const char *path);

/* The causes that many files have in common: one sentence for each. */

/* A mistake in nystream itself, found in this function. */
#define NY_BUG(ctx) ny_fail_internal(ctx, __func__)
int ny_fail_internal(struct ny_context *ctx, const char *function);
/* malloc(), or a library that calls it, got no memory. */
int ny_fail_memory(struct ny_context *ctx);
/* The input was written while it was read: NY_EBUSY. */
int ny_fail_changed(struct ny_context *ctx, const char *what);
/* A path is longer than the system takes. */
int ny_fail_long_path(struct ny_context *ctx, const char *path);
/* The disk of `path` has not so many bytes. */
int ny_fail_full(struct ny_context *ctx, const char *path, uint64_t bytes, uint64_t available);
/* An option has no effect where something else, such as "--map isomap", is given or is so. */
int ny_fail_idle(struct ny_context *ctx, const char *option, const char *with);
/* Likewise beside this value of another option; NULL: beside any. */
int ny_fail_beside(struct ny_context *ctx, const char *option, const char *other,
                   const char *value);
/* An option acts only where something else is given. */
int ny_fail_only(struct ny_context *ctx, const char *option, const char *with);
/* Two options of which one is to be given. */
int ny_fail_both(struct ny_context *ctx, const char *one, const char *other);
/* An option has another value than those that it takes. */
int ny_fail_value(struct ny_context *ctx, const char *option, const char *takes, const char *value);

/* A number needs more rows, or other things in the plural, than there are. */
int ny_fail_most(struct ny_context *ctx, const char *option, uint64_t value, uint64_t count,
                 const char *things);

/* There are too few rows for what is to be made of them: NY_EDATA. */
int ny_fail_few(struct ny_context *ctx, const char *what);

/* A result is damaged: NY_ESTORE. Its name is NULL where it is not known. */
int ny_fail_damaged(struct ny_context *ctx, const char *name, const char *place);
/* A number is infinite or NaN: NY_ENUMERIC. `what` is one word, as in "the kernel of row 7". A row
 * of NY_NO_LINE: none. */
int ny_fail_infinite(struct ny_context *ctx, const char *what, uint64_t row);

/* Tells whether the same call would fail in the same way, so that what it began is dropped. Other
 * failures may pass when there is space, memory or time. */
bool ny_is_final(int status);

/* Forgets the error, so that the next one is kept. */
void ny_error_clear(struct ny_context *ctx);

#endif
