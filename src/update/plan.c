/*
 * The plan of an update: that of a fit of all rows, less what is kept. The seconds of a stage are
 * multiplied by the share of the rows that it looks at, and the log tells these shares in words, as
 * details. So are the bytes of a frozen update, which writes new rows behind those that stay. Each
 * stage that runs ends with a commit, whose seconds do not go by rows; a frozen update measures the
 * drift of the new rows in the place of stage solve (update/drift.c).
 */
#include <math.h>

#include "fit/plan.h"
#include "job/prices.h"
#include "update/update.h"

struct shares {
    double select, accumulate, project; /* of the rows, that the stage looks at */
    bool sums;                          /* of before serve */
};

/* Decides the share of the rows for each stage. Sums of before serve only if they are of all
 * rows that the result has. */
static struct shares shares_of(const struct ny_fit_settings *settings, struct ny_record result,
                               double added, enum ny_update_mode mode)
{
    const struct ny_state state = ny_state_of(result);
    bool kept =
        ny_earlier_adds_sums(settings) && state.report.n && state.sums.rows == state.report.n;

    if (mode == NY_UPDATE_FROZEN)
        return (struct shares){.accumulate = kept ? added : 0, .project = added, .sums = kept};
    kept = kept && (ny_earlier_starts_selection(settings) || settings->named_landmarks ||
                    settings->landmark_points.count || ny_settings_unit_landmarks(settings) ||
                    !settings->rule->work);
    return (struct shares){.select = ny_earlier_starts_selection(settings) ? added : 1,
                           .accumulate = kept ? added : 1,
                           .project = 1,
                           .sums = kept};
}

/* Says a share in words. */
static const char *word(double share)
{
    return share == 0 ? "none" : share < 1 ? "new rows alone" : "all rows";
}

/* Tells in the log which rows each stage of the update looks at. */
static void explain(struct ny_context *ctx, const struct ny_fit_settings *settings,
                    struct shares shares, enum ny_update_mode mode)
{
    bool landmarks = ny_settings_selects(settings);
    bool reads = ny_rule_reads(settings->rule);

    if (mode == NY_UPDATE_FROZEN)
        ny_log(ctx, NY_LOG_DETAIL, "select and solve: nothing, the model stays as it is");
    else if (landmarks)
        ny_log(ctx, NY_LOG_DETAIL, "select: %s (%s)", reads ? word(shares.select) : "no pass",
               settings->rule->name);
    if (settings->method->whole)
        ny_log(ctx, NY_LOG_DETAIL, "accumulate: all rows, %s works on all of K",
               settings->method->name);
    else if (ny_settings_needs_gram(settings))
        ny_log(ctx, NY_LOG_DETAIL, "accumulate: %s%s", word(shares.accumulate),
               shares.sums && mode == NY_UPDATE_FULL
                   ? ", and the columns of landmarks that join over the others"
               : mode == NY_UPDATE_FULL && ny_divided(settings->normalisation)
                   ? ", whose degrees change"
                   : "");
    ny_log(ctx, NY_LOG_DETAIL, "project: %s", word(shares.project));
}

/* Multiplies the seconds of a stage by a share of the rows, but for its commit. */
static void take_share(struct ny_plan *plan, enum ny_stage_id stage, double share, double commit_s)
{
    double rows_s = fmax(plan->stage_s[stage] - commit_s, 0);

    plan->stage_s[stage] = share > 0 ? share * rows_s + commit_s : 0;
}

/* Returns the seconds in which a frozen update measures a sample of the new rows, and some of the
 * fit, against the landmarks. */
static double drift_seconds(const struct ny_plan *plan, const struct ny_fit_settings *settings,
                            double rows)
{
    double m = (double)plan->m;

    if (!ny_settings_selects(settings)) return 0;
    return 2 * ny_update_drift_rows(rows) * m * m / plan->rates.gemm64;
}

void ny_update_plan(struct ny_plan *plan, struct ny_context *ctx,
                    const struct ny_fit_settings *settings, struct ny_record result, uint64_t n,
                    enum ny_update_mode mode)
{
    double before = (double)ny_state_of(result).report.n;
    double added = ((double)n - before) / (double)n, passes_s = 0;
    struct shares shares = shares_of(settings, result, added, mode);
    const struct ny_prices price = {.rate = &plan->rates};
    double commit_s = ny_price_commit(&price, 0);
    bool frozen = mode == NY_UPDATE_FROZEN;
    uint64_t image, rows;

    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        passes_s += plan->stage_s[stage];
    plan->stage_s[NY_STAGE_STATS] = 0;
    plan->stage_s[NY_STAGE_SELECT] *= shares.select;
    take_share(plan, NY_STAGE_ACCUMULATE, shares.accumulate, commit_s);
    take_share(plan, NY_STAGE_PROJECT, shares.project, commit_s);
    if (frozen) {
        plan->stage_s[NY_STAGE_SOLVE] =
            commit_s + drift_seconds(plan, settings, (double)n - before);
        plan->stage_s[NY_STAGE_DEGREES] = plan->stage_s[NY_STAGE_PROBE] = 0;
        plan->loose = plan->m_estimated = false; /* the landmarks and the solution are there */
        plan->unsettled_s = 0;
    }
    ny_plan_sum_up(plan);
    plan->flops *= passes_s > 0 ? plan->seconds / passes_s : 1;
    if (frozen) {
        plan->passes = 1 + shares.sums;
        plan->passes_vary = false;
        /* A plan has two images of the sums, of which one stays. */
        image = plan->disk_bytes - plan->result_bytes;
        rows = (uint64_t)(added * (double)(plan->result_bytes - image));
        plan->result_bytes = rows + shares.sums * image;
        plan->disk_bytes = rows + 2 * shares.sums * image;
    }
    explain(ctx, settings, shares, mode);
}
