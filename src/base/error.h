/* The error of a context: what the public functions give as its status and message. */
#ifndef NY_BASE_ERROR_H
#define NY_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "nystream.h"

#define NY_PRINTF(text_index, first) __attribute__((format(printf, text_index, first)))

/* Records the error of this context and returns `status`, so that a caller can write
 * `err = ny_fail(…); goto done;`. Safe from any worker thread; the first of several
 * concurrent errors is kept until ny_error_clear(). */
int ny_fail(struct ny_context *ctx, int status, const char *format, ...) NY_PRINTF(3, 4);

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

/* Replaces the first `was` in the message by `is`, the caller's name for a file made for it. */
void ny_error_rename(struct ny_context *ctx, const char *was, const char *is);
/* Tells whether the same call would fail in the same way, so that what it began is dropped. Other
 * failures may pass when there is space, memory or time. */
bool ny_is_final(int status);

/* Forgets the error, so that the next one is kept. */
void ny_error_clear(struct ny_context *ctx);

#endif
