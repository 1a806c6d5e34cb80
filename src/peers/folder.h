/*
 * The transport through files in a folder that all processes see. It is for job arrays whose tasks
 * run at the same time, and for tests. It works on any file system that has rename and flock.
 *
 * The folder, or one in it for each set of shards that all of its processes see, so that jobs of
 * two stores do not meet, holds of each rank peer-NNNNN, a file that the rank has locked as long as
 * it lives, and who-NNNNN, who that is. What a run exchanges is in run-…, which goes with the last
 * rank. A run that was killed leaves its files; the next run does not look at them, and rank 0
 * removes them.
 */
#ifndef NY_PEERS_FOLDER_H
#define NY_PEERS_FOLDER_H

#include <limits.h>
#include <time.h>

#include "base/context.h"
#include "peers/transport.h"

/* The file in which a process of a job says why it ends before it has come to the folder. */
struct ny_folder_word {
    char path[PATH_MAX];
    struct timespec seen; /* the time of the one that was there when this process began; or 0 */
};

/* Looks at the word that is there. */
void ny_folder_word_look(struct ny_folder_word *word);
/* Leaves a sentence for those that wait, if there is a folder (path ""). */
void ny_folder_word_leave(const struct ny_folder_word *word, const char *why);

struct ny_folder_wish {
    const char *path; /* made where it is not there; the folders above it must be */
    unsigned ranks;
    const bool *may; /* ranks; whether this process may have each; NULL: it may have any */
    double wait_s;   /* the most to wait for the others to come */
    const struct ny_folder_word *word; /* a later one ends the wait; NULL: none does */
    uint64_t set; /* a digest of the shards, where this process sees all of them; or 0 */
};

/* Opens the transport of the first rank that nobody has, when all ranks are there. NY_EBUSY where
 * one of them has not come in time, or all are taken; NY_EIO for a folder that cannot be written.
 * The context is to outlive the transport, which ops->close() frees. */
int ny_folder_open(struct ny_transport **out, struct ny_context *ctx,
                   const struct ny_folder_wish *wish);

#endif
