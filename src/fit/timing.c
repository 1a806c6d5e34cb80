#include "fit/timing.h"

struct ny_timing ny_timing_of(const struct ny_job_sizes *job, struct ny_plan *plan)
{
    const struct ny_sizes *sizes = ny_sizes_of(job);
    const struct ny_fit_settings *settings = sizes->settings;
    bool f64 = settings->precision == NY_PRECISION_F64;

    return (struct ny_timing){.sizes = sizes,
                              .settings = settings,
                              .look = sizes->look,
                              .price = ny_prices_of(&plan->rates, sizes->points, &sizes->spec, f64),
                              .n = (double)ny_rows_here(sizes->points),
                              .m = (double)plan->m,
                              .entries = (double)ny_rows_here(sizes->points) * (double)plan->m,
                              .plan = plan};
}

double ny_timing_share(const struct ny_timing *t, enum ny_stage_id stage, ny_stage_count_fn *count)
{
    return ny_price_share(ny_rows_here(t->sizes->points),
                          ny_fit_pass_workers(t->sizes, stage, count), t->settings->threads);
}

double ny_timing_all(const struct ny_timing *t)
{
    return ny_price_share(ny_rows_here(t->sizes->points), t->settings->threads,
                          t->settings->threads);
}

/* Tells whether a pass before this one has kept the columns. */
static bool has_columns(const struct ny_timing *t, enum ny_stage_id stage)
{
    bool degrees = ny_settings_needs_degrees(t->settings);

    return t->plan->cache_bytes && stage != (degrees ? NY_STAGE_DEGREES : NY_STAGE_ACCUMULATE);
}

double ny_timing_tiles(const struct ny_timing *t, enum ny_stage_id stage)
{
    const double copy_beats = 1; /* for each entry */
    double copy_s = t->plan->cache_bytes ? ny_price_beats(&t->price, copy_beats * t->entries) : 0;

    if (has_columns(t, stage)) return copy_s;
    return ny_price_rows(&t->price, t->n) + ny_price_tile(&t->price, t->entries) + copy_s;
}

double ny_timing_tile_flops(const struct ny_timing *t, enum ny_stage_id stage)
{
    return has_columns(t, stage) ? 0 : 2 * t->entries * t->price.d;
}

double ny_timing_prepare(const struct ny_timing *t)
{
    const double choose = 1.5; /* two triangular problems, in units of m³ */
    bool chooses = ny_settings_forms_gram(t->settings) && !t->plan->gram_f64;

    if (ny_settings_unit_landmarks(t->settings)) return 0;
    return ny_price_gather(&t->price, t->m, t->settings->threads) +
           ny_price_square(&t->price, t->m) +
           (chooses ? choose * t->m * t->m * t->m / t->price.rate->gemm64 : 0);
}
