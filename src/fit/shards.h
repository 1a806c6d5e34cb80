/* The stages of a fit use these calls to work together over the shards of a store (fit/shards.c).
 * Each call does nothing in a fit of one store. */
#ifndef NY_FIT_SHARDS_H
#define NY_FIT_SHARDS_H

#include "fit/fit.h"

/* Refuses what is not possible over shards, with what is. */
int ny_shards_check(struct ny_context *ctx, const struct ny_fit_settings *settings);
/* Refuses to go on with work that numbers the rows of all shards where there were so many before
 * this shard `then`, and are others now. */
int ny_shards_check_first(struct ny_context *ctx, const char *name, uint64_t then,
                          const struct ny_rows_info *points);
/* Brings all shards to the stage of the one that is least far, before the first stage. */
int ny_shards_align(struct ny_fit *fit);
/* Waits until all shards have come here. BLAS has one number of threads for all shards of a
 * process: none may run products beside a problem that the shard that leads solves by many. */
int ny_shards_meet(const struct ny_fit *fit);
/* All go on with the precision of the Gram that the shard that leads has chosen. */
int ny_shards_share_gram(struct ny_fit *fit);
/* The place of a checkpoint of steps: step · places + units done. */
struct ny_shard_place {
    uint64_t *place, places;
};
/* Brings a shard to the step of the one that has come least far, of those that have an image of
 * their state, of `bytes` bytes: *image (NULL: this one has none) is then the other's, and *anew
 * tells that this shard's share of the step is to be made again. */
int ny_shards_align_state(const struct ny_fit *fit, void **image, size_t bytes,
                          const struct ny_shard_place *at, bool *anew);
/* Has fit->acc notice whether sums are rounded. */
void ny_shards_watch(struct ny_fit *fit);
/* Gives rows of all shards the numbers that they have now: before this shard there were `then`. */
int ny_shards_rows_now(struct ny_context *ctx, uint64_t then, const struct ny_rows_info *points,
                       uint64_t *rows, size_t count);
/* Adds up rows that no landmark reaches, over all shards. */
int ny_shards_fold_unreached(const struct ny_fit *fit, struct ny_unreached_rows *unreached);
/* Shares what stage solve has left in the record, the model and the averages; the shards that wait
 * for it store them as their own, and go on to the next stage. */
int ny_shards_share_solution(struct ny_fit *fit);
/* Makes of the record, at its end, that of a result of the rows that are in this shard. */
int ny_shards_at_end(struct ny_job *job, struct ny_batch *batch);

#endif
