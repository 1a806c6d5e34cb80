/*
 * The context: what every module needs from the program around it — where errors, warnings and
 * progress go, how much memory there is, whether to stop. The public part is in nystream.h.
 */
#ifndef NY_BASE_CONTEXT_H
#define NY_BASE_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Words for the user; levels as in enum ny_log_level. */
void ny_log(struct ny_context *ctx, int level, const char *format, ...) NY_PRINTF(3, 4);

/* Notes what a file that was written holds, for ny_context_written(). */
void ny_context_wrote(struct ny_context *ctx, struct ny_written written);

/* Hands the plan of a fit to whoever asked for it. */
void ny_announce_plan(struct ny_context *ctx, const struct ny_report *plan);

/* Has nothing told, neither progress nor messages but errors, for a look aside that is no part of
 * what a user waits for. */
void ny_context_set_silent(struct ny_context *ctx, bool silent);

/* Threads that share work between two passes (ny_parallel_ranges(), teams): as many as the memory
 * budget bears, where a job has decided that; 0 stands for all of the context's. */
void ny_context_set_crew(struct ny_context *ctx, unsigned threads);
/* Returns the threads of the crew. */
unsigned ny_context_crew(const struct ny_context *ctx);

/* Seconds of work that a kill may cost: how often long stages make a checkpoint. 20 by default;
 * tests that kill set less. */
void ny_context_set_checkpoint(struct ny_context *ctx, double seconds);
/* Returns the seconds between two checkpoints. */
double ny_context_checkpoint_s(const struct ny_context *ctx);

/* Says where what the job under way leaves is kept. What does not outlast the process needs no
 * checkpoints, and what is in memory counts in the plan. */
enum ny_kept { NY_KEPT_IN_STORE, NY_KEPT_IN_FILE, NY_KEPT_IN_MEMORY };
void ny_context_set_kept(struct ny_context *ctx, enum ny_kept kept);
/* Tells that. */
enum ny_kept ny_context_kept(const struct ny_context *ctx);
/* Gives the context something to hold, in place of what it held, until it is freed: let_go(held)
 * frees it. NULL: nothing. */
void ny_context_hold(struct ny_context *ctx, void *held, void (*let_go)(void *held));
/* Returns it. */
void *ny_context_held(const struct ny_context *ctx);

/* Makes a context for one of `children` parts of a job that run at the same time. It has a share of
 * the parent's threads and so many bytes of memory, hears the parent's interrupts, and hands
 * progress on as the parent does. It may not outlive the parent. */
int ny_context_new_child(struct ny_context **out, struct ny_context *parent, unsigned children,
                         size_t memory);
/* Has calls make do with so many bytes of the budget; SIZE_MAX: with all of it, as by default. */
void ny_context_limit_memory(struct ny_context *ctx, size_t bytes);
/* Tells whether nobody has set the memory budget, so that it is a share of what is free. */
bool ny_context_memory_is_default(const struct ny_context *ctx);
/* Returns the context that this one is a part of, or itself: for what one part does while the
 * others wait. */
const struct ny_context *ny_context_whole(const struct ny_context *ctx);
/* Returns how many parts at the same time this one is one of; 1 where it is nobody's part. */
unsigned ny_context_parts(const struct ny_context *ctx);
struct ny_peers;
/* Sets the peers who work at the same job (base/peers.h); NULL: there are none. */
void ny_context_set_peers(struct ny_context *ctx, struct ny_peers *peers);
/* Returns them. */
struct ny_peers *ny_context_peers(const struct ny_context *ctx);

/* NY_OK, or NY_EINTERRUPTED / NY_ETERMINATED with the message set. Cheap: call it often. */
int ny_check_interrupt(struct ny_context *ctx);
/* Tells whether a status is one that ny_check_interrupt() returns for an interrupt. */
bool ny_is_interrupt(int status);

#endif
