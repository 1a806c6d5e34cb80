/*
 * The plan of a fit: passes, flops, memory by purpose, disk and seconds, before anything runs. The
 * same function decides how many workers a pass may have.
 */
#ifndef NY_FIT_PLAN_H
#define NY_FIT_PLAN_H

#include "base/memory.h"
#include "fit/fit.h"
#include "fit/sizes.h"
#include "job/plan.h"

/* The memory that a fit of n × d points holds at its peak, with at least `workers` workers under a
 * budget of `limit` bytes (dirty pages and output buffers grow with the budget; each pass takes as
 * many workers as fit then); by purpose of the peak's stage. */
size_t ny_footprint_peak(const struct ny_sizes *footprint, unsigned workers, size_t limit,
                         size_t by_purpose[NY_PURPOSES]);

/* Bytes of each stage under the same conditions. */
void ny_footprint_stages(const struct ny_sizes *footprint, unsigned workers, size_t limit,
                         size_t stage_bytes[NY_STAGE_DONE]);

/* The most workers, at most `threads`, with which it fits; 0 when not even one does. */
unsigned ny_footprint_workers(const struct ny_sizes *footprint, unsigned threads);
/* The most with which one pass fits, which holds these bytes; whether W has room besides so many of
 * them. */
unsigned ny_footprint_pass_workers(const struct ny_sizes *footprint, ny_stage_bytes_fn *bytes);
bool ny_footprint_keeps_square(const struct ny_sizes *footprint, ny_stage_bytes_fn *bytes,
                               unsigned workers);
size_t ny_footprint_minimum(const struct ny_sizes *footprint);

/* Plans a fit by its course. m: landmarks already selected; 0: not yet. */
int ny_plan_make(struct ny_store *store, const struct ny_fit_settings *settings,
                 const struct ny_course *course, size_t m, struct ny_plan *plan);

#endif
