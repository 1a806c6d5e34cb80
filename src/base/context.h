/*
 * The context: what every module needs from the program around it — where errors, warnings and
 * progress go, how much memory there is, whether to stop. The public part is in nystream.h.
 */
#ifndef NY_BASE_CONTEXT_H
#define NY_BASE_CONTEXT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nystream.h"

#define NY_PRINTF(text_index, first) __attribute__((format(printf, text_index, first)))

/* Records the error of this context and returns `status`, so that a caller can write
 * `err = ny_fail(…); goto done;`. Safe from any worker thread; the first of several
 * concurrent errors is kept until ny_error_clear(). */
int ny_fail(struct ny_context *ctx, int status, const char *format, ...) NY_PRINTF(3, 4);

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

void ny_error_clear(struct ny_context *ctx);

/* Words for the user; levels as in enum ny_log_level. */
void ny_log(struct ny_context *ctx, int level, const char *format, ...) NY_PRINTF(3, 4);

/* Notes what a file that was written holds, for ny_context_written(). */
void ny_context_wrote(struct ny_context *ctx, struct ny_written written);

/* Hands the plan of a fit to whoever asked for it. */
void ny_announce_plan(struct ny_context *ctx, const struct ny_report *plan);

/* Threads that share work between two passes (ny_parallel_ranges(), teams): as many as the memory
 * budget bears, where a job has decided that; 0 stands for all of the context's. */
void ny_context_set_crew(struct ny_context *ctx, unsigned threads);
unsigned ny_context_crew(const struct ny_context *ctx);

/* Seconds of work that a kill may cost: how often long stages make a checkpoint. 20 by default;
 * tests that kill set less. */
void ny_context_set_checkpoint(struct ny_context *ctx, double seconds);
double ny_context_checkpoint_s(const struct ny_context *ctx);

/* NY_OK, or NY_EINTERRUPTED / NY_ETERMINATED with the message set. Cheap: call it often. */
int ny_check_interrupt(struct ny_context *ctx);
/* Tells whether a status is one that ny_check_interrupt() returns for an interrupt. */
bool ny_is_interrupt(int status);

#endif
