/* Passes, flops, disk and seconds of a fit: those of the stages of its course. */
#include "fit/timing.h"

#include "fit/fit.h"

double ny_timing_share(const struct ny_timing *t, ny_stage_bytes_fn *bytes)
{
    return ny_price_share(t->sizes->points->n, ny_footprint_pass_workers(t->sizes, bytes),
                          t->settings->threads);
}

double ny_timing_all(const struct ny_timing *t)
{
    return ny_price_share(t->sizes->points->n, t->settings->threads, t->settings->threads);
}

double ny_timing_prepare(const struct ny_timing *t)
{
    const double choose = 1.5; /* of m³: two triangular problems */
    bool chooses = ny_settings_forms_gram(t->settings) && !t->plan->gram_f64;

    if (t->settings->method->coordinates) return 0;
    return ny_price_gather(&t->price, t->m, t->settings->threads) +
           ny_price_square(&t->price, t->m) +
           (chooses ? choose * t->m * t->m * t->m / t->price.rate->gemm64 : 0);
}

void ny_plan_time(const struct ny_sizes *sizes, const struct ny_look *look, struct ny_plan *plan)
{
    const struct ny_fit_settings *settings = sizes->settings;
    const struct ny_fit planned = {.settings = settings};
    bool f64 = settings->precision == NY_PRECISION_F64;
    const struct ny_timing t = {.sizes = sizes,
                                .settings = settings,
                                .look = look,
                                .price =
                                    ny_prices_of(&plan->rates, sizes->points, &sizes->spec, f64),
                                .n = (double)sizes->points->n,
                                .m = (double)plan->m,
                                .entries = (double)sizes->points->n * (double)plan->m,
                                .plan = plan};

    for (const struct ny_stage *const *at = sizes->course->stages; *at; at++)
        if ((*at)->work && !sizes->course->skips(&planned.job, (*at)->id)) (*at)->work(&t);
    ny_plan_sum_up(plan);
}
