/* Fields of the peers of one process, for peers/group.c and peers/group_remote.c alone. */
#ifndef NY_PEERS_GROUP_PRIVATE_H
#define NY_PEERS_GROUP_PRIVATE_H

#include "base/mutex.h"
#include "peers/group.h"

/* Warnings that are told once, whichever peer they come from. */
enum { NY_GROUP_TOLD = 64, NY_GROUP_MESSAGE = 1024 };

/* A call of all peers; all leave it by the last. */
enum ny_round_kind { NY_ROUND_GATHER = 1, NY_ROUND_FOLD, NY_ROUND_DEPART };

struct ny_peer {
    struct ny_peers base;
    struct ny_group *group;
    unsigned index; /* among those of the process */
    /* given in the round under way */
    enum ny_round_kind kind;
    enum ny_peers_to to;
    size_t bytes; /* all that are gathered, or those of the sums */
    const void *mine;
    double *sums;
    bool heard; /* it fails since another process did, which has named its shard */
};

struct ny_group {
    struct ny_context *ctx; /* the caller's */
    struct ny_group_shape shape;
    struct ny_transport *transport;
    struct ny_peer *peer; /* shape.count */
    ny_group_fn *work;
    void *arg;
    struct ny_mutex lock; /* guards what follows */
    struct ny_cond changed;
    bool speaking;    /* a call of the transport is under way */
    unsigned working; /* peers that have not ended */
    unsigned arrived;
    uint64_t round;
    double network_s; /* seconds in which bytes were on their way */
    char *gathered;   /* by the last round, where there are other processes */
    int status;       /* that of the first failure; once it is set, all rounds fail */
    char message[NY_GROUP_MESSAGE];
    uint64_t told[NY_GROUP_TOLD];
    size_t told_count;
};

/* Gathers the pieces of this process's peers, of sizes[shard] bytes, with those of the other
 * processes, into group->gathered, which the caller frees with the group's context; it is NULL
 * where only another process gets them. */
int ny_group_gather_remote(struct ny_peer *speaker, const size_t *sizes);
/* Adds up the sums of all processes; the peers of this one that are to have the result get it. */
int ny_group_fold_remote(struct ny_peer *speaker);

#endif
