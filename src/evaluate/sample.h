/* A hashed sample of a result's rows, all of them where they are few: their coordinates, their
 * points, and the kernel of the fit. Measures of pairs of rows are of these. */
#ifndef NY_EVALUATE_SAMPLE_H
#define NY_EVALUATE_SAMPLE_H

#include "columns/columns.h"
#include "evaluate/evaluate.h"

struct ny_sample {
    struct ny_context *ctx;
    uint64_t n; /* rows that have coordinates */
    size_t s, p;
    struct ny_layout own;
    uint64_t *rows; /* ascending, of the result */
    float *y;       /* s × p, as the cloud hands them out */
    struct ny_geometry *geometry;
    struct ny_columns_spec spec; /* of the fit; kernel NULL: it has none that is known here */
    struct ny_columns *inputs; /* the points as columns of ‖x − x′‖²; NULL: of unknown scale */
    struct ny_columns *kernel; /* the points as columns of k(x, x′), or NULL */
};

/* Makes run->sample, where it has not been asked for before. */
int ny_evaluate_sample(struct ny_evaluation *run);
/* Returns the raw rows of its points, where it has `inputs`. */
struct ny_raw_rows ny_sample_rows(const struct ny_sample *sample);
/* Tells whether distances of its points are known; if not, the measure under way does not apply. */
bool ny_evaluate_inputs(struct ny_evaluation *run);
/* Frees a sample; NULL is allowed. */
void ny_sample_free(struct ny_sample *sample);
/* Returns how many rows the sample has: as many as were asked for, or all where there are fewer. */
size_t ny_sample_size(const struct ny_evaluation *run);
/* Counts the sample, with a block of rows under way on each of the threads. */
void ny_sample_count(struct ny_layout *l, const struct ny_evaluation *run);

/* Rows of pairs: `each` is called with rows first … first + count − 1 of the sample, from several
 * threads: inputs (count × s) ‖x − x′‖², and outputs ‖y − y′‖² of the embedding itself. */
struct ny_pair_rows {
    size_t first, count;
    struct ny_matrix inputs, kernel, outputs; /* kernel: of zero rows where there is none */
};
typedef void ny_pair_fn(void *arg, const struct ny_pair_rows *rows);
/* Measures all pairs of the sample, 64 rows at a time against all s, and calls `each` for them.
 * Distances of outputs are divided by scale², the scale of the cloud. NY_EBUDGET, or an interrupt.
 */
int ny_sample_pairs(const struct ny_sample *sample, double scale, ny_pair_fn *each, void *arg);

/* Reports √(Σ e/Σ f) of a symmetric matrix of pairs, from e and f, which hold a sum for each row of
 * the sample, under keys[0], and under keys[1] its standard error by leaving each row out in turn;
 * 0 where the sample is all rows. Where all f are 0 the reason is `nothing`. */
void ny_sample_report_ratio(struct ny_evaluation *run, const char *const keys[2], const double *e,
                            const double *f, const char *nothing);

#endif
