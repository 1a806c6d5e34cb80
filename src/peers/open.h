/* Opens the transport that a job's --peers names, or the one that the environment tells of. */
#ifndef NY_PEERS_OPEN_H
#define NY_PEERS_OPEN_H

#include "base/context.h"
#include "peers/folder.h"
#include "peers/transport.h"

/* Bytes of what a process is to do, in words that follow "is to". */
enum { NY_COMMAND_BYTES = 160 };

struct ny_transport_wish {
    /* "alone", "mpi", "folder:PATH" (a process for each shard) or "folder:N:PATH" (N processes);
     * NULL: MPI if this process was started by mpirun or the like with others, else alone. */
    const char *peers;
    unsigned shards; /* the job has so many; 1: its store has none */
    double wait_s;   /* the most to wait for the other processes of a folder to come */
    bool waits;      /* it was asked for: calls of MPI wait no longer, either */
    /* All processes have to be given the same command. NULL: they are not asked for it. */
    const char *command;
    /* A digest of the id of each shard's store, 0 where that is not on this machine: a process
     * takes a part of the job whose shards are, and works with those alone that have the same
     * stores. NULL: they are not made yet. */
    const uint64_t *ids;
    struct ny_folder_word word; /* of ny_transport_begin() */
};

/* Called when a job of a store begins. Where it ends before ny_transport_open(),
 * ny_folder_word_leave() ends processes that wait for this one in a folder as well. */
void ny_transport_begin(struct ny_transport_wish *wish, const char *store);

/* NY_EUSAGE for a word of --peers that means nothing (NULL is fine), and for one by which nobody
 * waits where `waits`, --peers-wait as it was typed, is not NULL. */
int ny_transport_check(struct ny_context *ctx, const char *peers, const char *waits);

/* Returns the number of processes that a launcher of MPI says it has started, 0 where there is
 * none.
 */
unsigned ny_transport_launched(void);

/* Has calls of the transport ask the context whether this process is to end, and tell it of long
 * waits; NULL: no more. */
void ny_transport_attach(struct ny_transport *transport, struct ny_context *ctx);

/* Opens the transport, when all processes are there; *out is NULL where this process is alone.
 * ops->close() frees it. NY_EUSAGE for a word that means nothing, a plug-in that is missing, and
 * more processes than shards; NY_EBUSY for a process that did not come. */
int ny_transport_open(struct ny_transport **out, struct ny_context *ctx,
                      const struct ny_transport_wish *wish);

#endif
