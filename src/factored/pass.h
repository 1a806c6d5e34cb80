/* One pass over feature rows, which multiplies with Φ, with Φᵀ, or with both. */
#ifndef NY_FACTORED_PASS_H
#define NY_FACTORED_PASS_H

#include "factored/factored.h"
#include "fit/timing.h"

struct ny_feature_pass {
    struct ny_fit *fit;
    const struct ny_factored *sizes;
    /* A unit makes Y = ΦQ − 1cᵀ where there is Q, or takes the rows of X as Y. Then Y is divided,
     * and goes to the rows of Z where there is one, else H += ΦᵀY. With neither Q nor X, H += Φᵀ1,
     * which is d × 1. */
    enum ny_precision precision; /* products have it; sums of rows are in f64 */
    const void *Q;               /* d × width, in that precision */
    const double *offset;        /* c (width); NULL: nothing is taken off */
    struct ny_matrix X, Z;       /* n × columns, no more than width */
    bool roots;                  /* Y is divided by √d_i instead of d_i */
    const double *g;             /* d_i = φ_i·g; NULL: K is not divided */
    double mean_degree;
    struct ny_matrix H;  /* d × columns, no more than width; holds what units before have given */
    double *column_sums; /* 1ᵀY (width), likewise; NULL: not wanted */
    struct ny_feature_totals *totals; /* likewise; NULL: not counted */
    uint64_t first_unit;
    int (*checkpoint)(void *arg, uint64_t units_done); /* NULL: none */
    void *checkpoint_arg;
};

/* H −= μ·sumsᵀ, with the column sums of a pass over rows that were centred: a correction of the
 * size of rounding. */
void ny_feature_correct_centre(struct ny_matrix H, const double *mu, const double *sums);
/* Runs the pass on fit->job.workers, and counts it in the report. */
int ny_feature_pass_run(const struct ny_feature_pass *pass);
/* Bytes of its workers, without the source. */
size_t ny_feature_pass_bytes(const struct ny_columns_spec *spec, enum ny_precision precision,
                             size_t width, unsigned workers);

/* Returns the seconds of a pass that multiplies with so many columns, with Φ and with Φᵀ. */
double ny_feature_pass_seconds(const struct ny_timing *t, const struct ny_factored *sizes,
                               double columns);

#endif
