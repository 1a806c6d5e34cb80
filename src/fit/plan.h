/*
 * The plan of a fit: passes, flops, memory by purpose, disk and seconds, before anything runs. The
 * same function decides how many workers a pass may have.
 */
#ifndef NY_FIT_PLAN_H
#define NY_FIT_PLAN_H

#include <jansson.h>

#include "base/memory.h"
#include "job/calibration.h"
#include "fit/fit.h"

struct ny_plan {
    bool whole; /* of a method on all of K: no landmarks */
    size_t m;   /* landmarks: given, or estimated for greedy; of products, their order */
    bool m_estimated;
    bool loose;       /* its time depends on the data, by far */
    bool gram_f64;    /* pass 1 sums up in f64 */
    unsigned workers; /* that fit the budget, at least 1 */
    bool fits;
    size_t memory_bytes;            /* peak over the stages, with `workers` */
    size_t memory_min_bytes;        /* the smallest budget that works: one worker */
    size_t by_purpose[NY_PURPOSES]; /* of the stage with the peak */
    uint64_t disk_bytes;
    uint64_t result_bytes; /* of them, those that are there when it ends, for certain */
    unsigned passes;
    struct ny_calibration rates; /* of this machine */
    double flops, seconds, stage_s[NY_STAGE_DONE];
    double seconds_low, seconds_high; /* a fit is likely to take between them */
    size_t stage_bytes[NY_STAGE_DONE];
};

/* The memory that a fit of n × d points holds at its peak, with at least `workers` workers under a
 * budget of `limit` bytes (dirty pages and output buffers grow with the budget; each pass takes as
 * many workers as fit then); by purpose of the peak's stage. */
struct ny_footprint {
    struct ny_context *ctx;
    const struct ny_fit_settings *settings;
    const struct ny_points_info *points;
    struct ny_columns_spec spec;
    size_t m;
    enum ny_gram_precision gram; /* of the tile Grams: F64 as long as W is not known */
    size_t blas_bytes;           /* that BLAS keeps of stages before */
};
size_t ny_footprint_peak(const struct ny_footprint *footprint, unsigned workers, size_t limit,
                         size_t by_purpose[NY_PURPOSES]);

/* Bytes of each stage under the same conditions. */
void ny_footprint_stages(const struct ny_footprint *footprint, unsigned workers, size_t limit,
                         size_t stage_bytes[NY_STAGE_DONE]);

/* The most workers, at most `threads`, with which it fits; 0 when not even one does. */
unsigned ny_footprint_workers(const struct ny_footprint *footprint, unsigned threads);
/* The most with which one pass fits: degrees, accumulate, project or probe. The second tells
 * whether W has room besides so many workers of accumulate. */
unsigned ny_footprint_stage_workers(const struct ny_footprint *footprint, enum ny_stage_id stage);
bool ny_footprint_keeps_square(const struct ny_footprint *footprint, unsigned workers);
size_t ny_footprint_minimum(const struct ny_footprint *footprint);

/* m: landmarks already selected; 0: not yet. */
int ny_plan_make(struct ny_store *store, const struct ny_fit_settings *settings, size_t m,
                 struct ny_plan *plan);
/* plan->seconds from those of the stages, and the range that they are likely to be in. */
void ny_plan_sum_up(struct ny_plan *plan);
json_t *ny_plan_json(const struct ny_plan *plan);

/* Wall of accumulate + project ÷ the time of their products at the calibrated rates; NaN where
 * there is none. */
double ny_plan_gemm_ratio(const struct ny_calibration *calibration, const struct ny_fit *fit);

#endif
