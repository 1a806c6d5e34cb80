/* Calls that work at the shards of a store together (base/peers.h), each as at a store. */
#ifndef NY_API_SHARDED_H
#define NY_API_SHARDED_H

#include "api/request.h"
#include "fit/earlier.h"
#include "peers/group.h"
#include "results/beside.h"
#include "shards/shards.h"

/* This process and those that work with it at the shards of a store. */
struct ny_shard_team {
    struct ny_context *ctx;
    struct ny_shards *shards;
    struct ny_transport *transport; /* NULL: this process has all shards */
    struct ny_group_shape shape;    /* the shards of this process */
};

/* Reads the store in shards and meets the other processes, as the options --peers and --peers-wait
 * say (options may be NULL). NY_EUSAGE where a shard of this process is not there, and where the
 * others have another command (struct ny_transport_wish).
 * ny_shard_team_close() it, also after a failure. */
int ny_shard_team_open(struct ny_shard_team *team, struct ny_context *context, const char *path,
                       const char *command, const struct ny_options *options);
/* Lets go of the other processes. */
void ny_shard_team_close(struct ny_shard_team *team);
/* Runs work(arg, store, shard) at each shard of this process, as ny_group_run() does, with the
 * shard's store open, whose context has the peers. */
typedef int ny_shard_work_fn(void *arg, struct ny_store *store, unsigned shard);
int ny_shard_team_visit(struct ny_shard_team *team, ny_shard_work_fn *work, void *arg);
/* Makes a report of what the team has found, which it takes over, unless `err` says that it has
 * failed; the processes without shard 0 leave it to the one that has it. Returns the status. */
int ny_shard_team_report(const struct ny_shard_team *team, int err, json_t *found,
                         struct ny_report **report);

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

/* A part of a result, or of the points (name NULL), that shards export together. */
struct ny_shared_part {
    const char *path; /* of the store */
    const char *name, *part, *output;
    const struct ny_beside *beside; /* columns beside the numbers; NULL: none */
};
/* Exports it by the processes of the team, of which one writes the file. With columns beside the
 * numbers it also reads all rows, and needs all shards. */
int ny_sharded_export(struct ny_shard_team *team, const struct ny_shared_part *what);

/* Plans a fit of all shards of a store: *json is the plan of a shard, by plan() of its path, with
 * the memory and disk of all shards of this process, the seconds that its threads take for them,
 * and what travels between shards. */
typedef int ny_plan_one_fn(struct ny_context *context, const char *path,
                           const struct ny_options *options, json_t **json);
int ny_sharded_plan(ny_plan_one_fn *plan, struct ny_context *context, const char *path,
                    const struct ny_options *options, json_t **json);

#endif
