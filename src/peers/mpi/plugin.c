/*
 * The transport through MPI (peers/transport.h): a library of its own, which is built with the
 * mpicc of the MPI that starts the processes, and loaded by peers/open.c. It uses nothing else of
 * nystream.
 *
 * Each call begins by waiting until all ranks have come, with sleeps between its questions: MPI's
 * own calls keep a CPU busy while they wait, and ranks may wait for minutes while one computes. All
 * report to rank 0, so that it can say who is missing. Only then come the collective calls, which
 * take no longer than the bytes do, and a digest of each piece of bytes behind it.
 *
 * Calls come from any thread, one at a time. There is no way for a rank to go on after another one
 * has failed: abandon() ends all of them.
 */
#include "peers/transport.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Statuses of nystream.h. */
enum { STATUS_IO = 4, STATUS_DAMAGED = 5, STATUS_BUSY = 6, STATUS_INTERRUPTED = 130 };

enum { HOST_BYTES = 64, TAG_WORD = 1, TAG_BYTES };

/* The most bytes of one call of MPI, whose counts are of 31 bits. The build defines it, so that
 * tests need not have gigabytes. */
static const size_t block = NY_MPI_BLOCK;

struct mpi {
    struct ny_transport transport; /* the first field: ops get this */
    MPI_Comm world;
    int finalizes;        /* MPI was begun here, and is to end here */
    int *counts, *places; /* ranks, of one gather */
    char *hosts;          /* ranks × HOST_BYTES */
    uint64_t *seals;      /* 2 · ranks: digests of the pieces to and from each rank */
};

static int fail(struct mpi *mpi, int status)
{
    mpi->transport.status = status;
    mpi->transport.others = 0;
    return status;
}

/* Fails with MPI's own words, unless the call went well. */
static int check(struct mpi *mpi, int number, const char *action)
{
    struct ny_transport *transport = &mpi->transport;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (number == MPI_SUCCESS) return 0;
    MPI_Error_string(number, text, &length);
    snprintf(transport->why, sizeof(transport->why), "MPI cannot %s: %s", action, text);
    return fail(mpi, STATUS_IO);
}

static const char *host_of(const struct mpi *mpi, unsigned rank)
{
    return mpi->hosts + (size_t)rank * HOST_BYTES;
}

/* ---- exchanges ------------------------------------------------------------------------------ */

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Sleeps for a quarter of the time since `began_s`, between 20 µs and 5 ms. */
static void sleep_since(double began_s)
{
    const double least_s = 2e-5, most_s = 5e-3;
    double seconds = (now() - began_s) / 4;
    struct timespec time;

    if (seconds < least_s) seconds = least_s;
    if (seconds > most_s) seconds = most_s;
    time = (struct timespec){.tv_nsec = (long)(1e9 * seconds)};
    nanosleep(&time, NULL);
}

/* Fails a wait that has lasted too long, or if this process is to end. */
static int end_wait(struct mpi *mpi, unsigned rank, double waited_s)
{
    struct ny_transport *transport = &mpi->transport;
    double most_s =
        transport->wait_s * (transport->rank ? 1.5 : 1); /* rank 0 knows who is missing */

    if (transport->interrupted && transport->interrupted(transport->arg)) {
        snprintf(transport->why, sizeof(transport->why), "interrupted");
        return fail(mpi, STATUS_INTERRUPTED);
    }
    if (most_s <= 0 || waited_s <= most_s) return 0;
    snprintf(transport->why, sizeof(transport->why),
             "rank %u of %u, on %s, has not answered within %.3g s (--peers-wait); start all "
             "processes again, and they resume",
             rank, transport->ranks, host_of(mpi, rank), most_s);
    return fail(mpi, STATUS_BUSY);
}

/* Waits for a rank to say that it is here. A long wait is told once, by rank 0. */
static int hear(struct mpi *mpi, unsigned rank)
{
    const struct ny_transport *transport = &mpi->transport;
    double began_s = now();
    int here = 0, told = transport->rank || !transport->tell, err = 0;
    char text[256];

    while (!err) {
        err = check(mpi, MPI_Iprobe((int)rank, TAG_WORD, mpi->world, &here, MPI_STATUS_IGNORE),
                    "wait for the other ranks");
        if (here || err) break;
        err = end_wait(mpi, rank, now() - began_s);
        if (!told && now() - began_s > transport->notice_s) {
            snprintf(text, sizeof(text),
                     "has waited %.3g s for rank %u of %u, on %s, which computes or cannot be "
                     "reached; --peers-wait SECONDS would end such a wait",
                     transport->notice_s, rank, transport->ranks, host_of(mpi, rank));
            transport->tell(transport->arg, text);
            told = 1;
        }
        sleep_since(began_s);
    }
    return err ? err
               : check(mpi,
                       MPI_Recv(NULL, 0, MPI_BYTE, (int)rank, TAG_WORD, mpi->world,
                                MPI_STATUS_IGNORE),
                       "wait for the other ranks");
}

static int say(struct mpi *mpi, unsigned rank)
{
    return check(mpi, MPI_Send(NULL, 0, MPI_BYTE, (int)rank, TAG_WORD, mpi->world),
                 "reach the other ranks");
}

/* Waits until all ranks are here: rank 0 hears of each, and then lets all go on. */
static int arrive(struct mpi *mpi)
{
    unsigned ranks = mpi->transport.ranks, me = mpi->transport.rank;
    double began_s = now();
    int err = me ? say(mpi, 0) : 0;

    if (me && !err) err = hear(mpi, 0);
    for (unsigned rank = 1; !me && rank < ranks && !err; rank++)
        err = hear(mpi, rank);
    for (unsigned rank = 1; !me && rank < ranks && !err; rank++)
        err = say(mpi, rank);
    mpi->transport.waited_s += now() - began_s;
    return err;
}

/* Compares the digest of bytes that have come from a rank with what it has sent. */
static int compare(struct mpi *mpi, unsigned rank, const void *data, size_t bytes)
{
    struct ny_transport *transport = &mpi->transport;

    if (transport->digest(data, bytes) == mpi->seals[rank]) return 0;
    snprintf(transport->why, sizeof(transport->why),
             "%zu bytes from rank %u of %u, on %s, were damaged on their way; start all processes "
             "again, and they resume",
             bytes, rank, transport->ranks, host_of(mpi, rank));
    return fail(mpi, STATUS_DAMAGED);
}

/* The bytes of a call that begins at `at` of `bytes`. */
static int part(size_t at, size_t bytes)
{
    return (int)(bytes - at < block ? bytes - at : block);
}

/* Gathers any number of bytes, rank by rank. */
static int gather_blocks(struct mpi *mpi, const void *mine, const size_t *sizes, char *all)
{
    unsigned me = mpi->transport.rank;
    int err = 0;

    for (unsigned rank = 0; rank < mpi->transport.ranks && !err; all += sizes[rank++]) {
        if (rank == me && sizes[me]) memcpy(all, mine, sizes[me]);
        for (size_t at = 0; at < sizes[rank] && !err; at += block)
            err = check(mpi,
                        MPI_Bcast(all + at, part(at, sizes[rank]), MPI_BYTE, (int)rank, mpi->world),
                        "gather bytes");
    }
    return err;
}

/* Says where the bytes of each rank go; false: they are too many for one call. */
static bool deal(struct mpi *mpi, const size_t *sizes)
{
    size_t total = 0;

    for (unsigned rank = 0; rank < mpi->transport.ranks; rank++) {
        if (sizes[rank] > block - total) return false;
        mpi->counts[rank] = (int)sizes[rank];
        mpi->places[rank] = (int)total;
        total += sizes[rank];
    }
    return true;
}

/* Brings any number of bytes to rank 0, rank by rank. */
static int collect_blocks(struct mpi *mpi, const char *mine, const size_t *sizes, char *all)
{
    unsigned me = mpi->transport.rank;
    int err = 0;

    if (me) {
        for (size_t at = 0; at < sizes[me] && !err; at += block)
            err = check(
                mpi, MPI_Send(mine + at, part(at, sizes[me]), MPI_BYTE, 0, TAG_BYTES, mpi->world),
                "send bytes");
        return err;
    }
    if (sizes[0]) memcpy(all, mine, sizes[0]);
    for (unsigned rank = 1; rank < mpi->transport.ranks; rank++) {
        all += sizes[rank - 1];
        for (size_t at = 0; at < sizes[rank] && !err; at += block)
            err = check(mpi,
                        MPI_Recv(all + at, part(at, sizes[rank]), MPI_BYTE, (int)rank, TAG_BYTES,
                                 mpi->world, MPI_STATUS_IGNORE),
                        "receive bytes");
    }
    return err;
}

/* Brings the bytes of all ranks to all, or to rank 0 alone, in one call where they are few. */
static int bring_bytes(struct mpi *mpi, bool lead, const void *mine, const size_t *sizes, void *all)
{
    int own, number;

    if (!deal(mpi, sizes))
        return lead ? collect_blocks(mpi, mine, sizes, all) : gather_blocks(mpi, mine, sizes, all);
    own = mpi->counts[mpi->transport.rank];
    number = lead ? MPI_Gatherv(mine, own, MPI_BYTE, all, mpi->counts, mpi->places, MPI_BYTE, 0,
                                mpi->world)
                  : MPI_Allgatherv(mine, own, MPI_BYTE, all, mpi->counts, mpi->places, MPI_BYTE,
                                   mpi->world);
    return check(mpi, number, "gather bytes");
}

static int bring(struct ny_transport *transport, bool lead, const void *mine, const size_t *sizes,
                 void *all)
{
    struct mpi *mpi = (struct mpi *)transport;
    uint64_t seal = transport->digest(mine, sizes[transport->rank]);
    const char *piece = all;
    int err = arrive(mpi);

    if (!err) err = bring_bytes(mpi, lead, mine, sizes, all);
    if (!err)
        err = check(mpi,
                    MPI_Allgather(&seal, sizeof(seal), MPI_BYTE, mpi->seals, sizeof(seal), MPI_BYTE,
                                  mpi->world),
                    "gather digests");
    if (lead && transport->rank) return err;
    for (unsigned rank = 0; rank < transport->ranks && !err; piece += sizes[rank++])
        err = compare(mpi, rank, piece, sizes[rank]);
    return err;
}

static int gather(struct ny_transport *transport, const void *mine, const size_t *sizes, void *all)
{
    return bring(transport, false, mine, sizes, all);
}

static int collect(struct ny_transport *transport, const void *mine, const size_t *sizes, void *all)
{
    return bring(transport, true, mine, sizes, all);
}

static int trade(struct ny_transport *transport, const void *out, size_t bytes, void *in)
{
    struct mpi *mpi = (struct mpi *)transport;
    unsigned ranks = transport->ranks;
    uint64_t *seals = mpi->seals + ranks;
    int err = arrive(mpi);

    if (err) return err;
    for (unsigned rank = 0; rank < ranks; rank++)
        seals[rank] = transport->digest((const char *)out + rank * bytes, bytes);
    err = check(mpi, MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, mpi->world),
                "trade bytes");
    if (!err)
        err = check(mpi,
                    MPI_Alltoall(seals, sizeof(*seals), MPI_BYTE, mpi->seals, sizeof(*seals),
                                 MPI_BYTE, mpi->world),
                    "trade digests");
    for (unsigned rank = 0; rank < ranks && !err; rank++)
        err = compare(mpi, rank, (const char *)in + rank * bytes, bytes);
    return err;
}

/* ---- the end -------------------------------------------------------------------------------- */

/* Ends all ranks, and says first why, since the one that has failed cannot do it afterwards. MPICH
 * ends all of them by MPI_COMM_WORLD alone; by a copy of that it waits for the others. */
static void abandon(struct ny_transport *transport, int status, const char *message)
{
    fprintf(stderr, "nystream: rank %u of %u ends the job: %s\n", transport->rank, transport->ranks,
            message);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, status);
}

static void close_mpi(struct ny_transport *transport)
{
    struct mpi *mpi = (struct mpi *)transport;

    if (mpi->world != MPI_COMM_NULL) MPI_Comm_free(&mpi->world);
    if (mpi->finalizes) MPI_Finalize();
    free(mpi->counts);
    free(mpi->places);
    free(mpi->hosts);
    free(mpi->seals);
    free(mpi);
}

/* ---- the beginning -------------------------------------------------------------------------- */

/* Begins MPI, unless the program has done so; 0, or a number of MPI. */
static int begin(struct mpi *mpi, char *why, size_t size)
{
    int begun = 0, ended = 0, granted = MPI_THREAD_SINGLE, number;

    MPI_Initialized(&begun);
    MPI_Finalized(&ended);
    if (ended) {
        snprintf(why, size,
                 "it was shut down in this process and cannot be started again; run one job per "
                 "process, or start MPI in the program itself");
        return MPI_ERR_OTHER;
    }
    number = begun ? MPI_Query_thread(&granted)
                   : MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &granted);
    mpi->finalizes = !begun && number == MPI_SUCCESS;
    if (number == MPI_SUCCESS && granted < MPI_THREAD_SERIALIZED) {
        snprintf(why, size,
                 "it does not allow calls from several threads (MPI_THREAD_SERIALIZED); use an MPI "
                 "that was built with threads");
        return MPI_ERR_OTHER;
    }
    return number;
}

/* Hears of the host of each rank; 0, or a number of MPI. */
static int ask_hosts(struct mpi *mpi)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", host[HOST_BYTES];
    int length;

    MPI_Get_processor_name(name, &length);
    snprintf(host, sizeof(host), "%s", name);
    return MPI_Allgather(host, HOST_BYTES, MPI_BYTE, mpi->hosts, HOST_BYTES, MPI_BYTE, mpi->world);
}

static int arrange(struct ny_transport *transport, unsigned rank)
{
    struct mpi *mpi = (struct mpi *)transport;
    MPI_Comm arranged;
    int err = check(mpi, MPI_Comm_split(mpi->world, 0, (int)rank, &arranged), "arrange ranks");

    if (err) return err;
    MPI_Comm_free(&mpi->world);
    mpi->world = arranged;
    transport->rank = rank;
    return check(mpi, ask_hosts(mpi), "arrange ranks");
}

static const struct ny_transport_ops mpi_ops = {.gather = gather,
                                                .collect = collect,
                                                .trade = trade,
                                                .abandon = abandon,
                                                .arrange = arrange,
                                                .close = close_mpi};

/* Asks who there is; 0, or a number of MPI. */
static int ask(struct mpi *mpi)
{
    int rank = 0, ranks = 0, on_host = 0, number;
    MPI_Comm host;

    number = MPI_Comm_dup(MPI_COMM_WORLD, &mpi->world);
    if (number == MPI_SUCCESS) number = MPI_Comm_set_errhandler(mpi->world, MPI_ERRORS_RETURN);
    if (number == MPI_SUCCESS) number = MPI_Comm_rank(mpi->world, &rank);
    if (number == MPI_SUCCESS) number = MPI_Comm_size(mpi->world, &ranks);
    if (number == MPI_SUCCESS)
        number = MPI_Comm_split_type(mpi->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    if (number != MPI_SUCCESS) return number;
    number = MPI_Comm_size(host, &on_host);
    MPI_Comm_free(&host);
    mpi->transport.rank = (unsigned)rank;
    mpi->transport.ranks = (unsigned)ranks;
    mpi->transport.on_host = (unsigned)on_host;
    return number;
}

/* The one symbol of the library: NY_TRANSPORT_SYMBOL. */
__attribute__((visibility("default"))) ny_transport_open_fn ny_transport_open_3;

struct ny_transport *ny_transport_open_3(char *why, size_t size)
{
    struct mpi *mpi = calloc(1, sizeof(*mpi));
    char text[MPI_MAX_ERROR_STRING] = "there is no memory for its buffers";
    size_t ranks;
    int number, length;

    why[0] = '\0';
    if (!mpi) goto done;
    mpi->transport.ops = &mpi_ops;
    mpi->world = MPI_COMM_NULL;
    number = begin(mpi, why, size);
    if (number == MPI_SUCCESS) number = ask(mpi);
    if (number != MPI_SUCCESS) {
        if (!*why) MPI_Error_string(number, text, &length); /* not where MPI has ended */
        goto done;
    }
    ranks = mpi->transport.ranks;
    mpi->counts = calloc(ranks, sizeof(*mpi->counts));
    mpi->places = calloc(ranks, sizeof(*mpi->places));
    mpi->hosts = calloc(ranks, HOST_BYTES);
    mpi->seals = calloc(2 * ranks, sizeof(*mpi->seals));
    if (mpi->counts && mpi->places && mpi->hosts && mpi->seals && ask_hosts(mpi) == MPI_SUCCESS)
        return &mpi->transport;
done:
    if (!*why) snprintf(why, size, "%s", text);
    if (mpi) close_mpi(&mpi->transport);
    return NULL;
}
