/*
 * The transport through files in a folder (peers/folder.h): rounds, and the end of a run.
 *
 * In each round every rank writes one file, run-…/ROUND-RANK, and reads those of the others. A rank
 * that writes the file of a round has read all of the round before, so that whoever has ended a
 * round may remove his own file of the one before it: two files a rank are the most there are.
 */
#include "peers/folder.h"

#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <errno.h>

#include "base/clock.h"
#include "peers/folder_private.h"

/* Seconds between two looks at the other ranks, of one who waits. */
static const double look_s = 0.25;

/* ---- rounds --------------------------------------------------------------------------------- */

/* The path of what a rank gives in a round. */
static void round_path(const struct ny_folder *folder, uint64_t round, unsigned rank, char *path)
{
    char name[32];

    snprintf(name, sizeof(name), "%llu-%05u", (unsigned long long)round, rank);
    ny_folder_run_path(folder, name, path);
}

/* Gives the bytes of this rank. */
static int give(struct ny_folder *folder, const void *data, size_t bytes)
{
    char path[PATH_MAX];

    round_path(folder, folder->round, folder->transport.rank, path);
    return ny_folder_write(folder, path, data, bytes);
}

/* Looks at the others while a rank is waited for: that one must not have ended, either. */
static int look_for(struct ny_folder *folder, unsigned rank, const char *path)
{
    int err = ny_folder_look(folder);

    if (err || ny_folder_state_of(folder, rank) != NY_FOLDER_CLOSED || access(path, F_OK) == 0)
        return err;
    return ny_folder_fail(folder, NY_EBUSY,
                          "the process with rank %u has ended before this one: the processes do "
                          "not run the same command",
                          rank);
}

/* Waits for the file of a rank, which has `size` bytes, and reads a part of it. */
static int take(struct ny_folder *folder, unsigned rank, size_t size, size_t offset, void *data,
                size_t bytes)
{
    struct ny_folder_wait wait = ny_folder_wait_begin();
    char path[PATH_MAX];
    int err;

    round_path(folder, folder->round, rank, path);
    for (;;) {
        err = ny_folder_read(folder, path, size, offset, data, bytes);
        if (err != NY_END) return err;
        err = ny_folder_sleep(folder, &wait);
        if (!err && ny_now() - folder->looked_s > look_s) err = look_for(folder, rank, path);
        if (err) return err;
    }
}

/* Ends a round: all have ended the one before it. */
static void end_round(struct ny_folder *folder)
{
    char path[PATH_MAX];

    if (folder->round) {
        round_path(folder, folder->round - 1, folder->transport.rank, path);
        unlink(path);
    }
    folder->round++;
}

static int gather(struct ny_transport *transport, const void *mine, const size_t *sizes, void *all)
{
    struct ny_folder *folder = (struct ny_folder *)transport;
    unsigned ranks = transport->ranks;
    size_t at = 0;
    int err;

    folder->looked_s = ny_now();
    err = give(folder, mine, sizes[transport->rank]);
    for (unsigned rank = 0; rank < ranks && !err; at += sizes[rank++]) {
        if (rank != transport->rank)
            err = take(folder, rank, sizes[rank], 0, (char *)all + at, sizes[rank]);
        else if (sizes[rank])
            memcpy((char *)all + at, mine, sizes[rank]);
    }
    if (!err) end_round(folder);
    return err;
}

static int trade(struct ny_transport *transport, const void *out, size_t bytes, void *in)
{
    struct ny_folder *folder = (struct ny_folder *)transport;
    unsigned ranks = transport->ranks, me = transport->rank;
    int err;

    folder->looked_s = ny_now();
    err = give(folder, out, ranks * bytes);
    if (bytes) memcpy((char *)in + me * bytes, (const char *)out + me * bytes, bytes);
    for (unsigned rank = 0; rank < ranks && !err; rank++)
        if (rank != me)
            err = take(folder, rank, ranks * bytes, me * bytes, (char *)in + rank * bytes, bytes);
    if (!err) end_round(folder);
    return err;
}

/* ---- the end -------------------------------------------------------------------------------- */

static void abandon(struct ny_transport *transport, int status, const char *message)
{
    ny_folder_abandon((struct ny_folder *)transport, status, message);
}

static int lost(struct ny_transport *transport)
{
    return ny_folder_look((struct ny_folder *)transport);
}

/* Leaves the run and its rank, and frees the transport. */
static void close_folder(struct ny_transport *transport)
{
    struct ny_folder *folder = (struct ny_folder *)transport;
    char path[PATH_MAX];

    if (folder->member) {
        ny_folder_closed_path(folder, transport->rank, path);
        (void)ny_folder_write(folder, path, "", 0);
    }
    ny_folder_leave(folder);
    for (int i = 0; i < NY_FOLDER_LOCKS; i++) {
        if (folder->locks[i] < 0) continue;
        flock(folder->locks[i], LOCK_UN); /* a forked child may hold a copy of the descriptor */
        close(folder->locks[i]);
    }
    ny_free(folder->ctx, folder->member);
    ny_free(folder->ctx, folder);
}

static const struct ny_transport_ops folder_ops = {
    .gather = gather, .trade = trade, .abandon = abandon, .lost = lost, .close = close_folder};

/* ---- the beginning -------------------------------------------------------------------------- */

static int interrupted(void *arg)
{
    return ny_check_interrupt(arg);
}

/* Ranks of the run on this machine. */
static unsigned count_on_host(const struct ny_folder *folder)
{
    unsigned count = 0;

    for (unsigned rank = 0; rank < folder->transport.ranks; rank++)
        count += memcmp(folder->member[rank].host, folder->self.host, NY_HOST_BYTES) == 0;
    return count;
}

int ny_folder_open(struct ny_transport **out, struct ny_context *ctx,
                   const struct ny_folder_wish *wish)
{
    struct ny_folder *folder;
    int err;

    *out = NULL;
    if (strlen(wish->path) >= NY_FOLDER_PATH)
        return ny_fail(ctx, NY_EIO, "the path of the peers' folder is too long: %s", wish->path);
    if (mkdir(wish->path, 0777) && errno != EEXIST) return ny_fail_errno(ctx, "create", wish->path);
    folder = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*folder));
    if (!folder) return NY_EBUDGET;
    folder->ctx = ctx;
    folder->transport = (struct ny_transport){.ops = &folder_ops,
                                              .ranks = wish->ranks,
                                              .interrupted = interrupted,
                                              .interrupted_arg = ctx};
    snprintf(folder->path, sizeof(folder->path), "%s", wish->path);
    for (int i = 0; i < NY_FOLDER_LOCKS; i++)
        folder->locks[i] = -1;
    folder->self.ranks = wish->ranks;
    gethostname(folder->self.host, sizeof(folder->self.host) - 1);
    err = ny_folder_meet(folder, wish);
    if (err) {
        err = ny_fail(ctx, err, "%s", folder->transport.why); /* the first error stays */
        close_folder(&folder->transport);
        return ny_is_interrupt(err) ? ny_check_interrupt(ctx) : err;
    }
    folder->transport.on_host = count_on_host(folder);
    folder->transport.interrupted = NULL;
    *out = &folder->transport;
    return NY_OK;
}
