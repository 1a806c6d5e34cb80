/* Calls that work at the shards of a store together (base/peers.h), each as at a store. */
#ifndef NY_API_SHARDED_H
#define NY_API_SHARDED_H

#include "api/request.h"
#include "api/team.h"
#include "fit/earlier.h"

/* Does what the call asks for at a store, or in each shard of one, as ny_request_run() does. */
int ny_request_any(struct ny_context *context, const struct ny_request_call *call,
                   struct ny_report **report);

/* Places rows that were appended to shards by the model of the result that all have under NAME
 * (api/sharded_update.c). */
int ny_sharded_update(struct ny_shard_team *team, const char *name,
                      const struct ny_options *options, struct ny_report **report);
/* Gives the result under NAME, without any rows, to shards that have joined since it was made. */
int ny_sharded_join(struct ny_shard_team *team, const char *name);
/* Finds the mode of the update of the result under NAME that was interrupted. */
int ny_sharded_update_begun(struct ny_shard_team *team, const char *name,
                            enum ny_update_mode *mode);

/* Plans a fit of all shards of a store: *json is the plan of a shard, by plan() of its path, with
 * the memory and disk of all shards of this process, the seconds that its threads take for them,
 * and what travels between shards. */
typedef int ny_plan_one_fn(struct ny_context *context, const char *path,
                           const struct ny_options *options, json_t **json);
int ny_sharded_plan(ny_plan_one_fn *plan, struct ny_context *context, const char *path,
                    const struct ny_options *options, json_t **json);

#endif
