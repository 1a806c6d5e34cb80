/*
 * The context: budget, threads, callbacks and the last error (base/context_private.h).
 *
 * Functions of the public header accept NULL, because a caller has no context if there was no
 * memory for one. Callbacks of the log and of the progress run under the lock of the context, never
 * two at a time. A signal handler may call ny_context_interrupt(), which only stores the signal;
 * loops of the library ask for it with ny_check_interrupt().
 */
#include "base/context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/context_private.h"
#include "base/cpu.h"
#include "base/decimal.h"

enum { NY_SIGHUP = 1, NY_SIGINT = 2, NY_SIGTERM = 15 };

/* Seconds between checkpoints, which bound the work that a kill loses. */
static const double checkpoint_default_s = 20;

int ny_context_new(struct ny_context **out)
{
    struct ny_context *ctx;

    if (!out) return NY_EUSAGE;
    *out = ctx = calloc(1, sizeof(*ctx));
    if (!ctx) return NY_EBUDGET;
    ny_mutex_init(&ctx->lock);
    ctx->threads = ny_cpu_count();
    ctx->checkpoint_s = checkpoint_default_s;
    ny_context_set_memory(ctx, 0);
    return NY_OK;
}

int ny_context_new_child(struct ny_context **out, struct ny_context *parent, unsigned children,
                         size_t memory)
{
    struct ny_context *ctx;
    int err = ny_context_new(out);

    if (err) return err;
    ctx = *out;
    ctx->parent = parent;
    ctx->parts = children;
    ctx->memory_budget = ctx->memory_limit = memory;
    ctx->threads = parent->threads > children ? parent->threads / children : 1;
    ctx->checkpoint_s = parent->checkpoint_s;
    ctx->progress = parent->progress;
    ctx->progress_user = parent->progress_user;
    if (!parent->command) return NY_OK;
    ctx->command_store = parent->command_store;
    ctx->command = ny_strdup(ctx, parent->command);
    return ctx->command ? NY_OK : NY_EBUDGET;
}

void ny_context_free(struct ny_context *ctx)
{
    if (!ctx) return;
    ny_context_hold(ctx, NULL, NULL);
    ny_free(ctx, ctx->command);
    ny_mutex_release(&ctx->lock);
    free(ctx);
}

void ny_context_set_memory(struct ny_context *ctx, uint64_t bytes)
{
    if (!ctx) return;
    ctx->memory_budget = bytes ? (size_t)bytes : ny_memory_available() / 2;
    ctx->memory_limit = ctx->memory_budget;
    ctx->memory_default = !bytes;
}

void ny_context_limit_memory(struct ny_context *ctx, size_t bytes)
{
    ctx->memory_limit = bytes < ctx->memory_budget ? bytes : ctx->memory_budget;
}

bool ny_context_memory_is_default(const struct ny_context *ctx)
{
    return ctx->memory_default;
}

uint64_t ny_context_memory(const struct ny_context *ctx)
{
    return ctx ? ctx->memory_budget : 0;
}

void ny_context_set_threads(struct ny_context *ctx, unsigned threads)
{
    if (!ctx) return;
    ctx->threads = threads ? threads : ny_cpu_count();
}

unsigned ny_context_threads(const struct ny_context *ctx)
{
    return ctx ? ctx->threads : 0;
}

void ny_context_set_silent(struct ny_context *ctx, bool silent)
{
    ctx->silent = silent;
}

void ny_context_set_crew(struct ny_context *ctx, unsigned threads)
{
    ctx->crew = threads;
}

unsigned ny_context_crew(const struct ny_context *ctx)
{
    return ctx->crew && ctx->crew < ctx->threads ? ctx->crew : ctx->threads;
}

void ny_context_set_log(struct ny_context *ctx, ny_log_fn *log, void *user)
{
    if (!ctx) return;
    ctx->log = log;
    ctx->log_user = user;
}

void ny_context_set_progress(struct ny_context *ctx, ny_progress_fn *fn, void *user)
{
    if (!ctx) return;
    ctx->progress = fn;
    ctx->progress_user = user;
}

void ny_context_set_plan(struct ny_context *ctx, ny_plan_fn *fn, void *user)
{
    if (!ctx) return;
    ctx->plan = fn;
    ctx->plan_user = user;
}

void ny_context_wrote(struct ny_context *ctx, struct ny_written written)
{
    ctx->written = written;
    ctx->has_written = true;
}

const struct ny_written *ny_context_written(const struct ny_context *ctx)
{
    return ctx && ctx->has_written ? &ctx->written : NULL;
}

void ny_announce_plan(struct ny_context *ctx, const struct ny_report *plan)
{
    if (ctx->plan) ctx->plan(ctx->plan_user, plan);
}

void ny_context_interrupt(struct ny_context *ctx, int signal)
{
    if (ctx) atomic_store(&ctx->interrupt, signal);
}

void ny_context_set_checkpoint(struct ny_context *ctx, double seconds)
{
    ctx->checkpoint_s = seconds;
}

void ny_context_set_scratch(struct ny_context *ctx, int scratch)
{
    (void)ctx, (void)scratch;
}

double ny_context_checkpoint_s(const struct ny_context *ctx)
{
    return ctx->kept == NY_KEPT_IN_STORE ? ctx->checkpoint_s : INFINITY;
}

void ny_context_set_kept(struct ny_context *ctx, enum ny_kept kept)
{
    ctx->kept = kept;
}

enum ny_kept ny_context_kept(const struct ny_context *ctx)
{
    return ctx->kept;
}

void ny_context_hold(struct ny_context *ctx, void *held, void (*let_go)(void *held))
{
    void *before = ctx->held;

    ctx->held = NULL;
    if (before) ctx->let_go(before);
    ctx->held = held;
    ctx->let_go = let_go;
}

void *ny_context_held(const struct ny_context *ctx)
{
    return ctx->held;
}

void ny_log(struct ny_context *ctx, int level, const char *format, ...)
{
    char text[NY_MESSAGE_BYTES];
    va_list args;

    if (!ctx->log || ctx->silent) return;
    va_start(args, format);
    ny_decimal_vprint(text, sizeof(text), format, args);
    va_end(args);
    ny_mutex_lock(&ctx->lock);
    ctx->log(ctx->log_user, level, text);
    ny_mutex_unlock(&ctx->lock);
}

const struct ny_context *ny_context_whole(const struct ny_context *ctx)
{
    return ctx->parent ? ctx->parent : ctx;
}

unsigned ny_context_parts(const struct ny_context *ctx)
{
    return ctx->parent ? ctx->parts : 1;
}

void ny_context_set_peers(struct ny_context *ctx, struct ny_peers *peers)
{
    ctx->peers = peers;
}

struct ny_peers *ny_context_peers(const struct ny_context *ctx)
{
    return ctx->peers;
}

/* Fails as in "interrupted in stage project, at 43 %". */
static int fail_stopped(struct ny_context *ctx, int status, const char *word)
{
    const char *stage;
    double reached;

    ny_mutex_lock(&ctx->lock);
    stage = ctx->stage;
    reached = ctx->reached;
    ny_mutex_unlock(&ctx->lock);
    if (!stage) return ny_fail(ctx, status, "%s", word);
    if (reached < 0) return ny_fail(ctx, status, "%s in stage %s", word, stage);
    return ny_fail(ctx, status, "%s in stage %s, at %.0f %%", word, stage, 100 * reached);
}

int ny_check_interrupt(struct ny_context *ctx)
{
    int signal = atomic_load_explicit(&ctx->interrupt, memory_order_relaxed);

    if (!signal && ctx->parent)
        signal = atomic_load_explicit(&ctx->parent->interrupt, memory_order_relaxed);
    if (!signal) return NY_OK;
    if (signal == NY_SIGHUP) return fail_stopped(ctx, NY_EHUNGUP, "hung up");
    if (signal == NY_SIGTERM) return fail_stopped(ctx, NY_ETERMINATED, "terminated");
    return fail_stopped(ctx, NY_EINTERRUPTED, "interrupted");
}

bool ny_is_interrupt(int status)
{
    return status == NY_EHUNGUP || status == NY_EINTERRUPTED || status == NY_ETERMINATED;
}
