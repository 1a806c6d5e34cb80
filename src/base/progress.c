#include "base/progress.h"

#include "base/clock.h"
#include "base/context_private.h"

static const double report_interval_s = 0.1;

void ny_meter_start(struct ny_meter *meter, struct ny_context *ctx, const char *stage,
                    uint64_t rows_first, uint64_t rows_total)
{
    *meter = (struct ny_meter){.ctx = ctx,
                               .stage = stage,
                               .rows_first = rows_first,
                               .rows_done = rows_first,
                               .rows_total = rows_total,
                               .started_s = ny_now()};
}

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
    if (!ctx->progress) return;
    ny_mutex_lock(&ctx->lock);
    ctx->progress(ctx->progress_user, &progress);
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
}
