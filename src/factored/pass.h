/* One pass over feature rows, which multiplies with Φ, with Φᵀ, or with both. */
#ifndef NY_FACTORED_PASS_H
#define NY_FACTORED_PASS_H

#include "factored/factored.h"
#include "fit/timing.h"

/* The room of the workers of passes. */
struct ny_feature_room {
    enum ny_precision precision; /* products have it; sums of rows are in f64 */
    size_t width; /* columns of a product, a multiple of 16, in f64 of 8; 1: sums of rows alone */
    uint64_t degrees; /* rows whose degrees are kept from one pass to the next, or 0 */
};
struct ny_feature_workers;
/* Makes so many workers for passes one after another, fit->job.workers at most. NY_EBUDGET. */
int ny_feature_workers_new(struct ny_feature_workers **out, struct ny_fit *fit,
                           const struct ny_feature_room *room, unsigned workers);
/* Frees them; NULL is allowed. */
void ny_feature_workers_free(struct ny_feature_workers *workers);
/* Lays them out, without the source. */
struct ny_feature_workers *ny_feature_workers_lay(struct ny_layout *l,
                                                  const struct ny_columns_spec *spec,
                                                  const struct ny_feature_room *room,
                                                  unsigned workers);

struct ny_feature_pass {
    struct ny_fit *fit;
    struct ny_feature_workers *workers;
    /* A unit makes Y = ΦQ − 1cᵀ where there is Q, or takes the rows of X as Y. Then Y is divided,
     * and goes to the rows of Z where there is one, else H += ΦᵀY. With neither Q nor X, H += Φᵀ1,
     * which is d × 1. */
    const void *Q;         /* d × width, in the precision of the workers */
    const double *offset;  /* c (width); NULL: nothing is taken off */
    struct ny_matrix X, Z; /* rows here × columns, no more than width */
    bool roots;            /* Y is divided by √d_i instead of d_i */
    const double *g;       /* d_i = φ_i·g, the same in all passes; NULL: K is not divided */
    double mean_degree;
    struct ny_matrix H;  /* d × columns, no more than width; holds what units before have given */
    double *column_sums; /* 1ᵀY (width), likewise; NULL: not wanted */
    struct ny_feature_totals *totals; /* likewise; NULL: not counted */
    uint64_t first_unit;
    int (*checkpoint)(void *arg, uint64_t units_done); /* NULL: none */
    void *checkpoint_arg;
};

/* Rounds V, of d rows and no more columns than the width of the room, to its precision as the Q of
 * a pass, with columns of 0 up to the width; and makes offset = Qᵀμ of what was rounded, which is 0
 * where there is no mu. */
void ny_feature_round(const struct ny_feature_room *room, struct ny_matrix V, const double *mu,
                      void *Q, double *offset);
/* H −= μ·sumsᵀ, with the column sums of a pass over rows that were centred: a correction of the
 * size of rounding. */
void ny_feature_correct_centre(struct ny_matrix H, const double *mu, const double *sums);
/* Makes of the totals of this shard's rows those of all rows. */
int ny_feature_totals_fold(struct ny_feature_totals *totals, const struct ny_job *job);
/* Returns the rows that are here of a matrix of all rows. */
static inline struct ny_matrix ny_feature_rows_here(const struct ny_fit *fit, struct ny_matrix all)
{
    const struct ny_rows_info *points = &fit->job.points;

    return ny_rows(all, (size_t)points->here.first, (size_t)ny_rows_here(points));
}
/* Runs the pass, and counts it in the report. */
int ny_feature_pass_run(const struct ny_feature_pass *pass);

/* Returns the seconds of a pass that multiplies with so many columns, with Φ and with Φᵀ. */
double ny_feature_pass_seconds(const struct ny_timing *t, double columns);

#endif
