/* The folder of a store in shards while its lock is held: whoever changes the file `shards` does it
 * in here, so that imports of several shards at the same time take turns. */
#ifndef NY_SHARDS_HELD_H
#define NY_SHARDS_HELD_H

#include <limits.h>

#include "shards/shards.h"

struct ny_shards_held {
    struct ny_context *ctx;
    const char *path; /* the folder's; it is the caller's */
    int fd;           /* the lock; −1: not held */
    char lock[PATH_MAX];
};

/* Makes the folder where there is none (*made), and waits for its lock. NY_EUSAGE where it is an
 * ordinary store, NY_EIO where it holds other things. */
int ny_shards_hold(struct ny_shards_held *held, struct ny_context *ctx, const char *path,
                   bool *made);
/* Lets go of the lock; nothing where it is not held. */
void ny_shards_let_go(struct ny_shards_held *held);
/* Writes the file in one step: beside, synced, renamed. */
int ny_shards_write(const struct ny_shards_held *held, const struct ny_shards *shards);
/* Removes the file and the lock, and the folder if `made` says so and nothing else is in it. */
void ny_shards_remove(const struct ny_shards_held *held, bool made);

#endif
