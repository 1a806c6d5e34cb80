/* The quantities that a stage of a fit is timed by, and seconds that several stages take. */
#ifndef NY_FIT_TIMING_H
#define NY_FIT_TIMING_H

#include "fit/plan.h"
#include "job/prices.h"

/* A forecast from a sample of the rows. */
struct ny_look {
    bool gram_f64;         /* pass 1 sums up in f64 */
    struct ny_decay decay; /* how the residuals of the sample fall */
    double *share; /* the array that `decay` borrows; or eigenvalues of the sample, descending */
    size_t rows, signals;  /* how many there are, and how many stand out of noise; 0: none */
    double level, freedom; /* k(x,x) of the noise, and its columns, if they were independent */
};
/* Looks at a sample of the rows; ny_look_release() it, after a failure, too. */
int ny_plan_look(struct ny_look *look, struct ny_rows *X, const struct ny_fit_settings *settings,
                 const struct ny_sizes *sizes);
/* Frees what the look holds. */
void ny_look_release(struct ny_look *look, struct ny_context *ctx);

struct ny_timing {
    const struct ny_sizes *sizes;
    const struct ny_fit_settings *settings;
    const struct ny_look *look;
    struct ny_prices price;
    double n, m, entries;
    struct ny_plan *plan;
};

/* Returns the quantities for a plan that has m and the rates. */
struct ny_timing ny_timing_of(const struct ny_job_sizes *sizes, struct ny_plan *plan);

/* Returns the factor by which a pass takes longer because the budget or few rows leave threads out
 * of it. */
double ny_timing_share(const struct ny_timing *t, enum ny_stage_id stage, ny_stage_count_fn *count);
/* Returns the factor of a pass that all threads may work at, which few rows alone raise. */
double ny_timing_all(const struct ny_timing *t);
/* Returns the seconds of the tiles of a pass: to read rows and to compute their columns, or to copy
 * columns that a pass before it has kept. */
double ny_timing_tiles(const struct ny_timing *t, enum ny_stage_id stage);
/* Returns the flops of those tiles. */
double ny_timing_tile_flops(const struct ny_timing *t, enum ny_stage_id stage);
/* Returns the seconds of ny_fit_prepare(): landmarks are read and compared, and W is looked at. */
double ny_timing_prepare(const struct ny_timing *t);

#endif
