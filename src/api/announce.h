/* Tells the plan of a job to the caller before the job runs, and refuses one that has no room. */
#ifndef NY_API_ANNOUNCE_H
#define NY_API_ANNOUNCE_H

#include "api/options.h"
#include "fit/plan.h"
#include "store/store.h"

/* Nothing runs in less than the process takes. What a plan reads may exceed such a budget, so that
 * it says which one is enough; a number below 1 MiB was meant with a unit, and is refused. The loan
 * ends with ny_memory_lend(ctx, 0). */
void ny_plan_lend(struct ny_context *ctx);
/* Tells the caller the plan. */
int ny_plan_tell(struct ny_context *ctx, const struct ny_plan *plan);
/* NY_EIO where the disk has no room for what the plan stores for certain; the result `replaced`
 * (NULL: none) gives its place. */
int ny_plan_check_disk(struct ny_store *store, const char *replaced, const struct ny_plan *plan);
/* NY_EBUDGET where the stages that are left of the job of `record` (NULL: all of them) take longer
 * than option time-limit allows. `what` names the job: "this fit". */
int ny_plan_check_time(const struct ny_options *options, const struct ny_plan *plan,
                       const json_t *record, const char *what);
/* Tells the plan of a fit, which is refused: NY_EBUDGET when it does not fit, NY_EIO as above. */
int ny_plan_announce(struct ny_store *store, const char *replaced, const struct ny_plan *plan,
                     const struct ny_fit_settings *settings);
/* Refuses a plan that does not fit, NY_EBUDGET, with the least budget that works. `what` is what is
 * planned, such as "fit"; `instead` is a choice that takes less: ", or fewer landmarks". */
int ny_plan_refuse(struct ny_context *ctx, const char *what, const struct ny_plan *plan,
                   const char *instead);
/* Plans the same fit by --approx exact, without the options named in `but` ("a|b"); plan->m is 0
 * where it cannot have the others. */
void ny_plan_exact(struct ny_store *store, const struct ny_options *options, const char *but,
                   struct ny_plan *plan);

#endif
