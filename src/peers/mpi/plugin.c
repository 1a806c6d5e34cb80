/*
 * The transport through MPI (peers/transport.h): a library of its own, which is built with the
 * mpicc of the MPI that starts the processes, and loaded by peers/mpi.c. It uses nothing else of
 * nystream.
 *
 * Each call begins by waiting until all ranks have come, with sleeps between its questions: MPI's
 * own calls keep a CPU busy while they wait, and ranks may wait for minutes while one computes.
 * Only then come the collective calls, which take no longer than the bytes do.
 *
 * Calls come from any thread, one at a time. There is no way for a rank to go on after another one
 * has failed: abandon() ends all of them.
 */
#include "peers/transport.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Statuses of nystream.h. */
enum { STATUS_IO = 4, STATUS_INTERRUPTED = 130 };

/* The most bytes of one call of MPI, whose counts are of 31 bits. The build defines it, so that
 * tests need not have gigabytes. */
static const size_t block = NY_MPI_BLOCK;

struct mpi {
    struct ny_transport transport; /* the first field: ops get this */
    MPI_Comm world;
    int finalizes;        /* MPI was begun here, and is to end here */
    int *counts, *places; /* ranks, of one gather */
};

/* Fails with MPI's own words, unless the call went well. */
static int check(struct mpi *mpi, int number, const char *action)
{
    struct ny_transport *transport = &mpi->transport;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length;

    if (number == MPI_SUCCESS) return 0;
    MPI_Error_string(number, text, &length);
    snprintf(transport->why, sizeof(transport->why), "MPI cannot %s: %s", action, text);
    transport->status = STATUS_IO;
    transport->others = 0;
    return transport->status;
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

/* Waits until all ranks are here. */
static int arrive(struct mpi *mpi)
{
    struct ny_transport *transport = &mpi->transport;
    MPI_Request request;
    double began_s = now();
    int done = 0, err = check(mpi, MPI_Ibarrier(mpi->world, &request), "wait for the other ranks");

    while (!err && !done) {
        err = check(mpi, MPI_Test(&request, &done, MPI_STATUS_IGNORE), "wait for the other ranks");
        if (err || done) break;
        if (transport->interrupted && transport->interrupted(transport->interrupted_arg)) {
            snprintf(transport->why, sizeof(transport->why), "interrupted");
            transport->status = STATUS_INTERRUPTED;
            transport->others = 0;
            return transport->status;
        }
        sleep_since(began_s);
    }
    return err;
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

static int gather(struct ny_transport *transport, const void *mine, const size_t *sizes, void *all)
{
    struct mpi *mpi = (struct mpi *)transport;
    size_t total = 0;
    int err = arrive(mpi);

    if (err) return err;
    for (unsigned rank = 0; rank < transport->ranks; rank++)
        total += sizes[rank];
    if (total > block) return gather_blocks(mpi, mine, sizes, all);
    total = 0;
    for (unsigned rank = 0; rank < transport->ranks; total += sizes[rank++]) {
        mpi->counts[rank] = (int)sizes[rank];
        mpi->places[rank] = (int)total;
    }
    return check(mpi,
                 MPI_Allgatherv(mine, mpi->counts[transport->rank], MPI_BYTE, all, mpi->counts,
                                mpi->places, MPI_BYTE, mpi->world),
                 "gather bytes");
}

/* Trades any number of bytes: in each step with one rank before and one behind. */
static int trade_blocks(struct mpi *mpi, const char *out, size_t bytes, char *in)
{
    unsigned me = mpi->transport.rank, ranks = mpi->transport.ranks;
    int err = 0;

    memcpy(in + me * bytes, out + me * bytes, bytes);
    for (unsigned step = 1; step < ranks; step++) {
        unsigned to = (me + step) % ranks, from = (me + ranks - step) % ranks;

        for (size_t at = 0; at < bytes && !err; at += block)
            err = check(mpi,
                        MPI_Sendrecv(out + to * bytes + at, part(at, bytes), MPI_BYTE, (int)to, 0,
                                     in + from * bytes + at, part(at, bytes), MPI_BYTE, (int)from,
                                     0, mpi->world, MPI_STATUS_IGNORE),
                        "trade bytes");
    }
    return err;
}

static int trade(struct ny_transport *transport, const void *out, size_t bytes, void *in)
{
    struct mpi *mpi = (struct mpi *)transport;
    int err = arrive(mpi);

    if (err) return err;
    if (bytes > block / transport->ranks) return trade_blocks(mpi, out, bytes, in);
    return check(mpi, MPI_Alltoall(out, (int)bytes, MPI_BYTE, in, (int)bytes, MPI_BYTE, mpi->world),
                 "trade bytes");
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
    free(mpi);
}

static const struct ny_transport_ops mpi_ops = {
    .gather = gather, .trade = trade, .abandon = abandon, .close = close_mpi};

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
__attribute__((visibility("default"))) ny_transport_open_fn ny_transport_open_1;

struct ny_transport *ny_transport_open_1(char *why, size_t size)
{
    struct mpi *mpi = calloc(1, sizeof(*mpi));
    char text[MPI_MAX_ERROR_STRING] = "there is no memory for its buffers";
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
    mpi->counts = calloc(mpi->transport.ranks, sizeof(*mpi->counts));
    mpi->places = calloc(mpi->transport.ranks, sizeof(*mpi->places));
    if (mpi->counts && mpi->places) return &mpi->transport;
done:
    if (!*why) snprintf(why, size, "%s", text);
    if (mpi) close_mpi(&mpi->transport);
    return NULL;
}
