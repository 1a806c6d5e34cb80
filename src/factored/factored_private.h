/* Shared by the stages of fits by features. */
#ifndef NY_FACTORED_FACTORED_PRIVATE_H
#define NY_FACTORED_FACTORED_PRIVATE_H

#include "factored/factored.h"
#include "fit/sizes.h"
#include "fit/timing.h"

/* The sizes of a fit that runs, and of one that is planned. */
static inline struct ny_factored ny_factored_of_fit(const struct ny_fit *fit)
{
    return ny_factored_of(fit->settings, &fit->job.points);
}
static inline struct ny_factored ny_factored_of_sizes(const struct ny_sizes *f)
{
    return ny_factored_of(f->settings, f->points);
}

/* The state of the products, which a checkpoint keeps: fit->state, with views into it. */
struct ny_feature_state {
    struct ny_factored sizes;
    struct ny_restarted it;
    struct ny_matrix W;  /* d × width on the side of the rows: ΦᵀQ of the product under way */
    double *column_sums; /* width: 1ᵀY of the pass under way */
    struct ny_feature_totals *totals;
};

/* Opens the state as of the last checkpoint, whose place is returned, or a new one. */
int ny_feature_state_open(struct ny_feature_state *state, struct ny_fit *fit, uint64_t *place);

/* The products leave this to stage solve: fit->state, with views into it. */
struct ny_feature_found {
    unsigned step;
    size_t converged;
    double *values;    /* pairs; 0: there is no such pair; NaN: it is too small to be told */
    double *residuals; /* pairs */
    double *p;         /* pairs: p-values; NULL: they were not looked at (spectral/bulk.h) */
    double *shrinkage; /* pairs, likewise */
    struct ny_feature_totals *totals;
    struct ny_matrix vectors; /* vectors of the basis: N × pairs, orthonormal */
};
/* Bytes of it. */
size_t ny_feature_found_bytes(const struct ny_factored *sizes);
/* Makes it of the state, which it takes the place of, as the checkpoint with which the next stage
 * begins. */
int ny_feature_found_save(struct ny_feature_state *state, struct ny_fit *fit);
/* Opens it; NY_ESTORE where the job was begun otherwise. */
int ny_feature_found_open(struct ny_feature_found *found, struct ny_fit *fit,
                          const struct ny_factored *sizes);

/* Loads g, which stage degrees has left, into fit->degrees where K is divided; or *mu, d numbers,
 * where it is centred: g/n, or the means of sparse rows. ny_free() it; NULL: K is not centred. */
int ny_feature_sums_load(struct ny_fit *fit, const struct ny_factored *sizes, double **mu);

#endif
