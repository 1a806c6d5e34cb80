/*
 * Counts what a pass has done, and reports it through the callback of the context at most ten times
 * a second (base/progress.h).
 *
 * The share of the whole job follows the plan: seconds of stages that are over, against those of
 * all. The stage under way counts with what its pass, or else its plan, has left. The share never
 * goes back, and is at most 0.999.
 */
#include "base/progress.h"

#include "base/clock.h"
#include "base/context_private.h"

/* Least seconds between two reports; the last one of a meter comes at once. */
static const double report_interval_s = 0.1;

/* Notes the stage that an interrupt is to name. The share of a job goes on through its stages. */
static void name_stage(struct ny_context *ctx, const char *name)
{
    ny_mutex_lock(&ctx->lock);
    if (!ctx->forecast.on) ctx->reached = -1;
    ctx->stage = name;
    ny_mutex_unlock(&ctx->lock);
}

void ny_meter_start(struct ny_meter *meter, struct ny_context *ctx, const char *stage,
                    uint64_t rows_first, uint64_t rows_total)
{
    *meter = (struct ny_meter){.ctx = ctx,
                               .stage = stage,
                               .rows_first = rows_first,
                               .rows_done = rows_first,
                               .rows_total = rows_total,
                               .started_s = ny_now()};
    name_stage(ctx, stage);
}

void ny_progress_begin(struct ny_context *ctx, const double *planned_s, size_t stages)
{
    ctx->forecast =
        (struct ny_forecast){.on = true, .planned = planned_s != NULL, .stages = stages};
    for (size_t i = 0; planned_s && i < stages && i < NY_COURSE_STAGES; i++)
        ctx->forecast.planned_s[i] = planned_s[i];
    ctx->forecast.begun_s = ny_now();
    ctx->reached = -1;
}

void ny_progress_end(struct ny_context *ctx)
{
    ctx->forecast.on = false;
    name_stage(ctx, NULL);
}

/* Computes the share and the seconds left of the job, whose stage under way has a pass that is
 * `fraction` done and ends in eta_s; both negative where not known. */
static void follow_forecast(struct ny_forecast *forecast, struct ny_progress *progress,
                            double now_s)
{
    const double nearly = 0.999, several = 1.5;
    double taken = now_s - forecast->begun_s, planned = forecast->planned_s[forecast->stage];
    double over = 0, later = 0, left = planned - taken, pass, whole, share;

    for (size_t i = 0; i < NY_COURSE_STAGES; i++)
        *(i < forecast->stage ? &over : &later) += forecast->planned_s[i];
    later -= planned;
    if (progress->eta_s >= 0) {
        pass = taken + progress->eta_s;
        if (planned < several * pass || left < progress->eta_s) left = progress->eta_s;
    }
    if (left < 0) left = 0;
    whole = taken + left > planned ? taken + left : planned;
    share = (over + whole - left) / (over + whole + later + 1e-9);
    if (share > nearly) share = nearly;
    if (share > forecast->share) forecast->share = share;
    progress->job_fraction = forecast->share;
    progress->job_eta_s = left + later;
}

/* Calls the callback. That of a part is the one of the whole, which hears of one part at a time,
 * and of none while ny_log() tells it something. */
static void call_back(struct ny_context *ctx, const struct ny_progress *progress)
{
    if (!ctx->progress || ctx->silent) return;
    if (ctx->parent) ny_mutex_lock(&ctx->parent->lock);
    ctx->progress(ctx->progress_user, progress);
    if (ctx->parent) ny_mutex_unlock(&ctx->parent->lock);
}

/* Reports the pass and, if a forecast is on, the job. Without a plan the share of the job is
 * unknown, −1; without a forecast, the pass is the job. */
static void report(struct ny_meter *meter, double now_s)
{
    struct ny_context *ctx = meter->ctx;
    double elapsed_s = now_s - meter->started_s + 1e-9;
    double done = (double)(meter->rows_done - meter->rows_first);
    double left = (double)meter->rows_total - (double)meter->rows_done;
    struct ny_progress progress = {
        .stage = meter->stage,
        .fraction = meter->rows_total ? (double)meter->rows_done / (double)meter->rows_total : -1,
        .rows_per_s = done / elapsed_s,
        .bytes_per_s = meter->bytes_done / elapsed_s,
        .flops_per_s = meter->flops_done / elapsed_s,
        .eta_s = meter->rows_total && done > 0 ? left * elapsed_s / done : -1,
        .rows_done = meter->rows_done,
        .rows_total = meter->rows_total,
    };

    meter->reported_s = now_s;
    progress.job_fraction = ctx->forecast.on ? -1 : progress.fraction;
    progress.job_eta_s = ctx->forecast.on ? -1 : progress.eta_s;
    ny_mutex_lock(&ctx->lock);
    if (ctx->forecast.on && ctx->forecast.planned)
        follow_forecast(&ctx->forecast, &progress, now_s);
    ctx->reached = progress.job_fraction;
    call_back(ctx, &progress);
    ny_mutex_unlock(&ctx->lock);
}

void ny_meter_add(struct ny_meter *meter, uint64_t rows, double bytes, double flops)
{
    double now_s = ny_now();

    meter->rows_done += rows;
    meter->bytes_done += bytes;
    meter->flops_done += flops;
    if (now_s - meter->reported_s >= report_interval_s) report(meter, now_s);
}

void ny_meter_finish(struct ny_meter *meter)
{
    report(meter, ny_now());
    if (!meter->ctx->forecast.on) name_stage(meter->ctx, NULL);
}

void ny_progress_stage(struct ny_context *ctx, size_t stage, const char *name)
{
    struct ny_forecast *forecast = &ctx->forecast;
    struct ny_meter meter = {.ctx = ctx, .stage = name};

    name_stage(ctx, name);
    if (!forecast->on || stage == forecast->stage || stage >= NY_COURSE_STAGES) return;
    forecast->stage = stage;
    forecast->begun_s = meter.started_s = ny_now();
    if (forecast->planned && forecast->planned_s[stage] > 0) report(&meter, forecast->begun_s);
}
