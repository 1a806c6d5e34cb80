/* What the files of the plan share. */
#ifndef NY_EMBED_PLAN_PRIVATE_H
#define NY_EMBED_PLAN_PRIVATE_H

#include "embed/plan.h"
#include "embed/prices.h"

/* Passes, flops, disk and seconds, with plan->m and plan->rates. */
void ny_plan_time(const struct ny_footprint *footprint, struct ny_plan *plan);

#endif
