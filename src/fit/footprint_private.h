/* Bills: bytes by purpose that a stage holds with so many workers under a budget of `limit`. */
#ifndef NY_FIT_FOOTPRINT_PRIVATE_H
#define NY_FIT_FOOTPRINT_PRIVATE_H

#include "fit/plan.h"

struct bill {
    size_t by_purpose[NY_PURPOSES];
};

static inline size_t ny_bill_total(const struct bill *bill)
{
    size_t sum = 0;

    for (int p = 0; p < NY_PURPOSES; p++)
        sum += bill->by_purpose[p];
    return sum;
}

static inline struct bill ny_bill_larger(struct bill a, struct bill b)
{
    return ny_bill_total(&a) > ny_bill_total(&b) ? a : b;
}

typedef struct bill pass_bill(const struct ny_footprint *f, unsigned workers, size_t limit);

pass_bill ny_plan_bill, ny_stats_bill, ny_select_bill, ny_online_bill, ny_degrees_bill,
    ny_accumulate_bill, ny_solve_bill, ny_project_bill, ny_probe_bill;
struct bill ny_prepare_bill(const struct ny_footprint *f, unsigned workers);

/* Bytes that BLAS keeps; bytes of W, where pass 1 can do without it. */
size_t ny_footprint_blas_bytes(const struct ny_footprint *f, unsigned workers);
size_t ny_footprint_spare_bytes(const struct ny_footprint *f);

#endif
