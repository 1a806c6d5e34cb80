/*
 * Transports carry bytes between the processes that work at one job. A process is called a rank;
 * ranks have shards one after another, the first ones rank 0. Each transport is one file that fills
 * in a struct ny_transport: folder.c (files), and mpi/plugin.c, a library of its own that is loaded
 * when it is asked for, so that it uses nothing but this header.
 *
 * All ranks make the same calls in the same order, each from one thread at a time.
 */
#ifndef NY_PEERS_TRANSPORT_H
#define NY_PEERS_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

struct ny_transport;

/* Each function that returns a number returns 0, or another one after it has filled in status,
 * others and why. */
struct ny_transport_ops {
    /* Every rank gives sizes[rank] bytes, and gets the bytes of all ranks in `all`, by their
     * numbers. */
    int (*gather)(struct ny_transport *transport, const void *mine, const size_t *sizes, void *all);
    /* Likewise, and rank 0 alone gets them. The others may go on before it has. */
    int (*collect)(struct ny_transport *transport, const void *mine, const size_t *sizes,
                   void *all);
    /* Every rank gives `bytes` bytes to each rank, in the order of the ranks, itself included, and
     * gets as many from each in `in`, in that order: less than 2^31 in all. */
    int (*trade)(struct ny_transport *transport, const void *out, size_t bytes, void *in);
    /* Tells the other ranks that this one ends with an error, a status of nystream.h, so that their
     * calls fail as well, or they are ended, and this process with them. Never fails. */
    void (*abandon)(struct ny_transport *transport, int status, const char *message);
    /* Tells whether another rank has ended with an error; called now and then, outside of the
     * other calls. NULL: those that remain are ended by the transport itself. */
    int (*lost)(struct ny_transport *transport);
    /* Makes `rank` the number of this process, where each of all ranks chooses another one. NULL:
     * numbers were chosen when it was opened. */
    int (*arrange)(struct ny_transport *transport, unsigned rank);
    /* Ends the use of the transport and frees it. */
    void (*close)(struct ny_transport *transport);
};

struct ny_transport {
    const struct ny_transport_ops *ops;
    unsigned rank, ranks;
    double waited_s;  /* seconds of the calls above in which this rank waited for others to come */
    unsigned on_host; /* ranks of this machine, which share its memory; 0: not known */
    int status;       /* that of the last failure, one of nystream.h */
    int others;       /* 1: another rank is the reason of it */
    char why[1024];   /* a sentence about it, without a full stop */
    /* The user of the transport sets the rest. */
    uint64_t (*digest)(const void *data, size_t bytes); /* goes with all bytes, to be compared */
    double notice_s; /* a call that has waited so long says for whom, by tell() */
    double wait_s;   /* and one of MPI fails after that; 0: never */
    /* Tells whether this process is to end: a call that waits asks now and then, and fails. NULL
     * outside of jobs, like tell(). */
    int (*interrupted)(void *arg);
    void (*tell)(void *arg, const char *text);
    void *arg;
};

/* The function that a transport's library exports under NY_TRANSPORT_SYMBOL: opens the transport,
 * or returns NULL with a sentence in why[size]. The number grows with each change of the structs
 * above, so that a library that was built for others is not used. */
#define NY_TRANSPORT_SYMBOL "ny_transport_open_3"
typedef struct ny_transport *ny_transport_open_fn(char *why, size_t size);

#endif
