/* Shared by the files of the plan. */
#ifndef NY_FIT_PLAN_PRIVATE_H
#define NY_FIT_PLAN_PRIVATE_H

#include "fit/plan.h"
#include "job/prices.h"

/* A forecast from a sample of the rows. */
struct ny_look {
    bool gram_f64; /* pass 1 sums up in f64 */
    struct ny_decay decay; /* how the residuals of the sample fall */
    double *share; /* the array that `decay` borrows; or eigenvalues of the sample, descending */
    size_t rows, signals; /* how many there are, and how many stand out of noise; 0: none */
    double level, freedom; /* k(x,x) of the noise, and its columns, if they were independent */
};
/* Looks at a sample of the rows; ny_look_release() it, after a failure, too. */
int ny_plan_look(struct ny_look *look, struct ny_rows *X, const struct ny_fit_settings *settings,
                 const struct ny_sizes *sizes);
/* Frees what the look holds. */
void ny_look_release(struct ny_look *look, struct ny_context *ctx);

#endif
