/* The stages of a fit use these calls to work together over the shards of a store (fit/shards.c).
 * Each call does nothing in a fit of one store. */
#ifndef NY_FIT_SHARDS_H
#define NY_FIT_SHARDS_H

#include "fit/fit.h"

/* Refuses what is not possible over shards, with what is. */
int ny_shards_check(struct ny_store *store, const struct ny_fit_settings *settings);
/* Brings all shards to the stage of the one that is least far, before the first stage. */
int ny_shards_align(struct ny_fit *fit);
/* All go on with the precision of the Gram that the shard that leads has chosen. */
int ny_shards_share_gram(struct ny_fit *fit);
/* Has fit->acc add up on a grid where that makes the sums exact: f32 Grams of kernels up to 1. */
void ny_shards_set_grid(struct ny_fit *fit);
/* Adds up rows that no landmark reaches, over all shards. */
int ny_shards_fold_unreached(const struct ny_fit *fit, struct ny_unreached_rows *unreached);
/* Shares what stage solve has left in the record, the model and the averages; the shards that wait
 * for it store them as their own, and go on to the next stage. */
int ny_shards_share_solution(struct ny_fit *fit);
/* Makes of the record, at its end, that of a result of the rows that are in this shard. */
int ny_shards_at_end(struct ny_job *job, struct ny_batch *batch);

#endif
