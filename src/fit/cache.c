#include "fit/cache.h"

#include "fit/known_rows.h"
#include "job/plan.h"

bool ny_fit_cache_lives(enum ny_stage_id id)
{
    return ny_stage_rank(id) >= ny_stage_rank(NY_STAGE_DEGREES) &&
           ny_stage_rank(id) <= ny_stage_rank(NY_STAGE_PROJECT);
}

/* Counts the passes that compute tiles of the same columns for all rows. */
static int passes_of(const struct ny_sizes *f)
{
    const struct ny_fit_settings *settings = f->settings;
    int passes = ny_plan_runs(&f->job, NY_STAGE_DEGREES);

    if (settings->method->krylov) passes += 2; /* at least */
    if (ny_settings_forms_gram(settings) && !settings->online)
        passes += ny_plan_runs(&f->job, NY_STAGE_ACCUMULATE);
    return passes + (ny_plan_runs(&f->job, NY_STAGE_PROJECT) &&
                     !ny_rows_are_known(settings, f->points, f->m));
}

/* Tells whether there are passes to save whose entries take more than a copy does. */
static bool is_worth_it(const struct ny_sizes *f)
{
    const double least_products = 32; /* a copy there and back costs as much as about ten */
    const struct ny_fit_settings *settings = f->settings;

    return !settings->method->whole && !ny_settings_features(settings) && !settings->columns &&
           !settings->updates && !settings->placed && !ny_context_peers(f->job.ctx) &&
           ny_entry_products(&f->spec) >= least_products && passes_of(f) > 1;
}

size_t ny_fit_cache_bytes(const struct ny_sizes *f, const struct ny_course_bytes *bytes,
                          size_t limit)
{
    const size_t share = 16; /* of the budget: what is fast need not be large */
    size_t cache, most = 0;

    if (!is_worth_it(f)) return 0;
    cache = ny_tile_cache_bytes(f->points->n, f->m, ny_sizes_element(f));
    for (int stage = 0; stage < NY_STAGE_DONE; stage++) {
        size_t held = ny_charges_total(&bytes->of[stage]);

        if (ny_fit_cache_lives((enum ny_stage_id)stage) && held > most) most = held;
    }
    return cache <= limit / share && most <= limit && cache <= limit - most ? cache : 0;
}
