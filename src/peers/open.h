/* Opens the transport that a job's --peers names, or the one that the environment tells of. */
#ifndef NY_PEERS_OPEN_H
#define NY_PEERS_OPEN_H

#include "base/context.h"
#include "peers/transport.h"

/* Bytes of what a process is to do, in words that follow "is to". */
enum { NY_COMMAND_BYTES = 160 };

struct ny_transport_wish {
    /* "alone", "mpi", "folder:PATH" (a process for each shard) or "folder:N:PATH" (N processes);
     * NULL: MPI if this process was started by mpirun or the like with others, else alone. */
    const char *peers;
    unsigned shards; /* the job has so many; 1: its store has none */
    double wait_s;   /* the most to wait for the other processes of a folder */
    /* All processes have to be given the same command. NULL: they are not asked for it. */
    const char *command;
    /* Tells whether a shard is on this machine: in a folder, a process takes a part of the job
     * whose shards are. NULL: all are. */
    bool (*is_here)(const void *arg, unsigned shard);
    const void *arg;
};

/* NY_EUSAGE for a word of --peers that means nothing (NULL is fine), and for one by which nobody
 * waits where `waits`, --peers-wait as it was typed, is not NULL. */
int ny_transport_check(struct ny_context *ctx, const char *peers, const char *waits);

/* Opens the transport, when all processes are there; *out is NULL where this process is alone.
 * ops->close() frees it. NY_EUSAGE for a word that means nothing, a plug-in that is missing, and
 * more processes than shards; NY_EBUSY for a process that did not come. */
int ny_transport_open(struct ny_transport **out, struct ny_context *ctx,
                      const struct ny_transport_wish *wish);

#endif
