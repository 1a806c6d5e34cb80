#include "fit/ideal.h"

#include <math.h>

#include "fit/plan.h"

struct ny_ideal ny_ideal_of(const struct ny_fit *fit)
{
    struct ny_columns_spec spec = ny_fit_spec(fit);

    return (struct ny_ideal){.rate = &fit->plan->rates,
                             .way = ny_way_of(&spec),
                             .f64 = fit->settings->precision == NY_PRECISION_F64,
                             .d = ny_entry_products(&spec)};
}

double ny_ideal_products(const struct ny_ideal *ideal, double entries)
{
    return 2 * entries * ideal->d / ny_calibration_tile(ideal->rate, ideal->way, ideal->f64);
}

double ny_ideal_map(const struct ny_ideal *ideal, double entries, double p)
{
    return 2 * entries * p / (ideal->f64 ? ideal->rate->gemm64 : ideal->rate->gemm32);
}

void ny_ideal_report(struct ny_fit *fit, const struct ny_ideal *ideal, double ideal_s)
{
    double wall_s = ny_job_seconds(&fit->job, NY_STAGE_DEGREES) +
                    ny_job_seconds(&fit->job, NY_STAGE_ACCUMULATE) +
                    ny_job_seconds(&fit->job, NY_STAGE_PROJECT);

    fit->job.state.report.gemm_ratio =
        ideal_s > 0 && ideal->way != NY_WAY_SPARSE ? wall_s / ideal_s : NAN;
}
