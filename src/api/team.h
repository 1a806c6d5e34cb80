/* The processes that work at the shards of a store together, and what each does at its shards. */
#ifndef NY_API_TEAM_H
#define NY_API_TEAM_H

#include "api/options.h"
#include "api/report.h"
#include "peers/group.h"
#include "peers/open.h"
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

#endif
