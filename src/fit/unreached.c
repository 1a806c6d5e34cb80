#include "fit/unreached.h"

#include <string.h>

#include "fit/shards.h"

/* Advises what the fit does not do yet. */
static int too_many(const struct ny_fit *fit, const struct ny_unreached_rows *unreached)
{
    const struct ny_fit_settings *settings = fit->settings;
    bool has_width = settings->kernel->auto_gamma && settings->kernel->base != NY_BASE_DOT;
    bool best = strcmp(settings->rule->name, "rpcholesky") == 0;

    return ny_fail(fit->job.ctx, NY_ENUMERIC,
                   "%llu of %llu rows, the first of them row %llu, have degrees that are negative "
                   "or zero to rounding, more than 1 %%: take %s%s, or leave them out of the store",
                   (unsigned long long)unreached->count, (unsigned long long)fit->job.points.n,
                   (unsigned long long)unreached->first,
                   has_width && !best ? "--select rpcholesky, " : "",
                   has_width ? "more landmarks or a wider kernel (a smaller --gamma)"
                             : "a kernel without negative values (rbf, laplacian)");
}

int ny_fit_check_unreached(const struct ny_fit *fit, struct ny_unreached_rows *unreached)
{
    int err = ny_shards_fold_unreached(fit, unreached);

    if (err || 100 * unreached->count <= fit->job.points.n) return err;
    return too_many(fit, unreached);
}

int ny_fit_report_unreached(struct ny_fit *fit, struct ny_unreached_rows unreached)
{
    bool frozen = fit->mode == NY_UPDATE_FROZEN;
    uint64_t before = frozen ? fit->job.state.report.rows_unreached : 0;
    int err = frozen ? ny_shards_fold_unreached(fit, &unreached)
                     : ny_fit_check_unreached(fit, &unreached);

    if (!err && frozen)
        err = ny_unreached_rows_check(&unreached, fit->job.ctx,
                                      fit->job.points.n - fit->job.state.update.rows);
    if (err) return err;
    if (!frozen) ny_unreached_rows_warn(&unreached, fit->job.ctx, fit->job.points.n);
    if (unreached.count) fit->job.state.report.rows_unreached = before + unreached.count;
    return NY_OK;
}
