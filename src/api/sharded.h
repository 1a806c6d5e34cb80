/* Calls that work at the shards of a store together (peers/peers.h), each as at a store. */
#ifndef NY_API_SHARDED_H
#define NY_API_SHARDED_H

#include "api/request.h"

/* Runs a request in each shard of the store in shards `path`; options and report as for
 * ny_request_run(). */
int ny_sharded_request(const struct ny_request_kind *kind, struct ny_context *context,
                       const char *path, const char *name, const struct ny_options *options,
                       struct ny_report **report);
/* Goes on with the job under NAME in each shard, as ny_request_resume() does. */
int ny_sharded_resume(const struct ny_request_kind *const *kinds, struct ny_context *context,
                      const char *path, const char *name, struct ny_report **report);

/* Plans a fit of all shards of a store: *json is the plan of a shard, by plan() of its path, with
 * the memory and disk of all shards of this process, the seconds that its threads take for them,
 * and what travels between shards. */
typedef int ny_plan_one_fn(struct ny_context *context, const char *path,
                           const struct ny_options *options, json_t **json);
int ny_sharded_plan(ny_plan_one_fn *plan, struct ny_context *context, const char *path,
                    const struct ny_options *options, json_t **json);

#endif
