/*
 * The transport through files in a folder (peers/folder.h): rounds, and the end of a run.
 *
 * In each round every rank writes one file, run-…/ROUND-RANK, and reads those of the others. A rank
 * that writes the file of a round has read all of the round before, so that whoever has ended a
 * round may remove his own file of the one before it: two files a rank are the most there are. In a
 * round for rank 0 alone, that one reads the files of those that give something and removes them,
 * while they go on.
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

/* Gives the pieces of this rank. */
static int give(struct ny_folder *folder, const struct ny_folder_shape *shape, const void *data)
{
    char path[PATH_MAX];

    ny_folder_round_path(folder, folder->round, folder->transport.rank, path);
    folder->gives = true;
    return ny_folder_write(folder, path, shape, data);
}

/* Looks at the others while a rank is waited for: that one must not have ended, either, and this
 * one's bytes must be there for it. */
static int look_for(struct ny_folder *folder, unsigned rank, const char *path)
{
    int err = ny_folder_look(folder);

    if (!err && folder->gives) err = ny_folder_check_own(folder, folder->round);
    if (err || ny_folder_state_of(folder, rank) != NY_FOLDER_CLOSED || access(path, F_OK) == 0)
        return err;
    return ny_folder_fail(folder, NY_EBUSY,
                          "the process with rank %u has ended before this one: the processes do "
                          "not run the same command, or its file %s was removed",
                          rank, path);
}

/* Says for whom this rank waits. */
static void tell_of_wait(const struct ny_folder *folder, unsigned rank)
{
    const struct ny_transport *transport = &folder->transport;
    char text[256];

    snprintf(text, sizeof(text),
             "has waited %.3g s for rank %u of %u, on %.*s, whose process has not ended",
             transport->notice_s, rank, transport->ranks, NY_HOST_BYTES, folder->member[rank].host);
    transport->tell(transport->arg, text);
}

/* Waits for the file of a rank, and reads a piece of it. */
static int take(struct ny_folder *folder, unsigned rank, const struct ny_folder_shape *shape,
                size_t piece, void *data)
{
    double began_s = ny_now();
    bool told = !folder->transport.tell;
    char path[PATH_MAX];
    int err;

    ny_folder_round_path(folder, folder->round, rank, path);
    for (;;) {
        double waited_s = ny_now() - began_s;

        err = ny_folder_read(folder, path, shape, piece, data);
        if (err != NY_END) folder->transport.waited_s += waited_s;
        if (err != NY_END) return err;
        if (!told && ny_now() - began_s > folder->transport.notice_s) {
            tell_of_wait(folder, rank);
            told = true;
        }
        err = ny_folder_sleep(folder, began_s);
        if (!err && ny_now() - folder->looked_s > look_s) err = look_for(folder, rank, path);
        if (err) return err;
    }
}

/* Ends a round in which this rank has read the files of all others, so that they have ended those
 * before it. */
static void end_round(struct ny_folder *folder)
{
    char path[PATH_MAX];

    if (folder->owed) {
        ny_folder_round_path(folder, folder->owed - 1, folder->transport.rank, path);
        unlink(path);
    }
    folder->round++;
    folder->owed = folder->gives ? folder->round : 0;
    folder->gives = false;
}

static int gather(struct ny_transport *transport, const void *mine, const size_t *sizes, void *all)
{
    struct ny_folder *folder = (struct ny_folder *)transport;
    unsigned ranks = transport->ranks;
    size_t at = 0;
    int err;

    folder->looked_s = ny_now();
    err = give(folder, &(struct ny_folder_shape){1, sizes[transport->rank]}, mine);
    for (unsigned rank = 0; rank < ranks && !err; at += sizes[rank++]) {
        const struct ny_folder_shape shape = {1, sizes[rank]};

        if (rank != transport->rank)
            err = take(folder, rank, &shape, 0, (char *)all + at);
        else if (sizes[rank])
            memcpy((char *)all + at, mine, sizes[rank]);
    }
    if (!err) end_round(folder);
    return err;
}

static int collect(struct ny_transport *transport, const void *mine, const size_t *sizes, void *all)
{
    struct ny_folder *folder = (struct ny_folder *)transport;
    unsigned ranks = transport->ranks;
    char path[PATH_MAX], *to = all;
    int err = NY_OK;

    folder->looked_s = ny_now();
    if (transport->rank) {
        const struct ny_folder_shape shape = {1, sizes[transport->rank]};

        if (shape.bytes) err = give(folder, &shape, mine);
        folder->gives = false;
    } else if (sizes[0]) {
        memcpy(to, mine, sizes[0]);
    }
    for (unsigned rank = 1; rank < ranks && !transport->rank && !err; rank++) {
        to += sizes[rank - 1];
        if (!sizes[rank]) continue;
        err = take(folder, rank, &(struct ny_folder_shape){1, sizes[rank]}, 0, to);
        ny_folder_round_path(folder, folder->round, rank, path);
        if (!err) unlink(path);
    }
    folder->round++;
    return err;
}

static int trade(struct ny_transport *transport, const void *out, size_t bytes, void *in)
{
    struct ny_folder *folder = (struct ny_folder *)transport;
    unsigned ranks = transport->ranks, me = transport->rank;
    const struct ny_folder_shape shape = {ranks, bytes};
    int err;

    folder->looked_s = ny_now();
    err = give(folder, &shape, out);
    if (bytes) memcpy((char *)in + me * bytes, (const char *)out + me * bytes, bytes);
    for (unsigned rank = 0; rank < ranks && !err; rank++)
        if (rank != me) err = take(folder, rank, &shape, me, (char *)in + rank * bytes);
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
        (void)ny_folder_write(folder, path, &(struct ny_folder_shape){0}, NULL);
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

static const struct ny_transport_ops folder_ops = {.gather = gather,
                                                   .collect = collect,
                                                   .trade = trade,
                                                   .abandon = abandon,
                                                   .lost = lost,
                                                   .close = close_folder};

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

/* Makes the folder, and in it the one of the set of shards. */
static int make_folder(struct ny_folder *folder, const struct ny_folder_wish *wish)
{
    unsigned long long set = wish->set;

    if (strlen(wish->path) + sizeof("/set-0123456789abcdef") > NY_FOLDER_PATH)
        return ny_fail_long_path(folder->ctx, wish->path);
    snprintf(folder->path, sizeof(folder->path), set ? "%s/set-%016llx" : "%s", wish->path, set);
    if (mkdir(wish->path, 0777) && errno != EEXIST)
        return ny_fail_errno(folder->ctx, "create", wish->path);
    if (set && mkdir(folder->path, 0777) && errno != EEXIST)
        return ny_fail_errno(folder->ctx, "create", folder->path);
    return NY_OK;
}

int ny_folder_open(struct ny_transport **out, struct ny_context *ctx,
                   const struct ny_folder_wish *wish)
{
    struct ny_folder *folder = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*folder));
    int err;

    *out = NULL;
    if (!folder) return NY_EBUDGET;
    folder->ctx = ctx;
    folder->transport = (struct ny_transport){
        .ops = &folder_ops, .ranks = wish->ranks, .interrupted = interrupted, .arg = ctx};
    for (int i = 0; i < NY_FOLDER_LOCKS; i++)
        folder->locks[i] = -1;
    folder->self.ranks = wish->ranks;
    gethostname(folder->self.host, sizeof(folder->self.host) - 1);
    err = make_folder(folder, wish);
    if (!err) err = ny_folder_meet(folder, wish);
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
