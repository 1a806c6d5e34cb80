/* The file `shards` as text, and the folder of a store in shards while its lock is held: whoever
 * changes the file does it in here, so that imports of several shards at the same time take turns.
 */
#ifndef NY_SHARDS_HELD_H
#define NY_SHARDS_HELD_H

#include <limits.h>

#include "shards/shards.h"

/* Fills in count, facts, classes and the list of shards from a text. Nothing in it is believed:
 * *wrong says what cannot be so, and the status is then NY_ESTORE, without an error being set. */
int ny_shards_parse(struct ny_shards *shards, const char *text, size_t bytes, const char **wrong);
/* Makes the text, which the caller frees by ny_free(). NY_EBUDGET, with the error set. */
int ny_shards_print(const struct ny_shards *shards, char **text, size_t *bytes);
/* Makes room for so many shards, with the paths of their stores. */
int ny_shards_room(struct ny_shards *shards, unsigned count);

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
