/*
 * Opens the transport of a job: the one that --peers names, or MPI where a launcher has started
 * several processes. More processes than shards are refused, since they would do the same work.
 */
#include "peers/open.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/memory.h"
#include "peers/folder.h"
#include "peers/group.h"
#include "peers/mpi.h"

/* Returns a whole number of the environment; 0 where there is none. */
static unsigned environment_number(const char *name)
{
    const char *text = getenv(name);
    unsigned long number = text ? strtoul(text, NULL, 10) : 0;

    return number < UINT_MAX ? (unsigned)number : 0;
}

/* Returns the number of processes that a launcher of MPI says it has started, 0 where there is
 * none. Slurm's PMIx tells a process its rank alone, and the number beside it. */
static unsigned launched_ranks(void)
{
    static const char *const counts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};

    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
        if (environment_number(counts[i])) return environment_number(counts[i]);
    return getenv("PMIX_RANK") ? environment_number("SLURM_STEP_NUM_TASKS") : 0;
}

/* Warns of a process that MPI has bound to one CPU, where the machine has more than the `on_host`
 * processes of the job take: threads are as many as the CPUs that a process may run on. */
static void warn_of_binding(struct ny_context *ctx, unsigned on_host)
{
    if (!on_host || ny_cpu_count() > 1 || ny_cpu_online() <= on_host) return;
    ny_log(ctx, NY_LOG_WARNING,
           "MPI has bound each process to one of the %u CPUs of this machine, so the job uses only "
           "%u; mpirun --bind-to none, or srun --cpu-bind=none with --cpus-per-task, makes all of "
           "them available to its threads",
           ny_cpu_online(), on_host);
}

static int refuse_ranks(struct ny_context *ctx, unsigned ranks, unsigned shards)
{
    if (shards == 1)
        return ny_fail(ctx, NY_EUSAGE,
                       "%u processes were started for a store that has no shards, so they would "
                       "all do the same work; start one, import the data as shards, or, if each "
                       "has a store of its own, give fit --peers alone",
                       ranks);
    return ny_fail(ctx, NY_EUSAGE,
                   "%u processes were started for %u shards, but each process works on one or more "
                   "shards; start at most %u",
                   ranks, shards, shards);
}

static int open_mpi(struct ny_transport **out, struct ny_context *ctx, unsigned shards)
{
    struct ny_transport *transport;
    int err;

    if (launched_ranks() > shards) return refuse_ranks(ctx, launched_ranks(), shards);
    err = ny_mpi_open(&transport, ctx);
    if (err) return err;
    if (transport->ranks > 1 && transport->ranks <= shards) {
        if (transport->rank == 0) warn_of_binding(ctx, transport->on_host);
        *out = transport;
        return NY_OK;
    }
    if (transport->ranks > 1) err = refuse_ranks(ctx, transport->ranks, shards);
    transport->ops->close(transport);
    return err;
}

/* Returns the path of "folder:PATH" or "folder:N:PATH", and N, 0 where it is not told; NULL for
 * another word. */
static const char *folder_of(const char *peers, unsigned long *ranks)
{
    static const char folder[] = "folder:";
    const char *text = peers + strlen(folder);
    size_t digits;

    *ranks = 0;
    if (strncmp(peers, folder, strlen(folder)) != 0) return NULL;
    digits = strspn(text, "0123456789");
    if (!digits || text[digits] != ':') return text;
    *ranks = strtoul(text, NULL, 10);
    return *ranks && *ranks < UINT_MAX ? text + digits + 1 : "";
}

int ny_transport_check(struct ny_context *ctx, const char *peers, const char *waits)
{
    unsigned long ranks;
    const char *path = peers ? folder_of(peers, &ranks) : NULL;

    if (path && !*path)
        return ny_fail(ctx, NY_EUSAGE,
                       "--peers %s names no folder; it is folder:PATH, with a process for each "
                       "shard, or folder:N:PATH with N processes",
                       peers);
    if (peers && !path && strcmp(peers, "alone") != 0 && strcmp(peers, "mpi") != 0)
        return ny_fail(ctx, NY_EUSAGE,
                       "--peers %s is none of alone, mpi, folder:PATH and folder:N:PATH", peers);
    if (waits && !path)
        return ny_fail(ctx, NY_EUSAGE,
                       "--peers-wait acts only with --peers folder:PATH; leave it out");
    return NY_OK;
}

/* Opens the transport of one of the ranks whose shards are all on this machine. */
static int open_where_shards_are(struct ny_transport **out, struct ny_context *ctx,
                                 struct ny_folder_wish *folder,
                                 const struct ny_transport_wish *wish)
{
    bool *may = ny_calloc(ctx, NY_MEM_OTHER, folder->ranks, sizeof(*may));
    bool any = false;
    int err;

    if (!may) return NY_EBUDGET;
    for (unsigned rank = 0; rank < folder->ranks; rank++) {
        struct ny_group_shape shape = ny_group_shape(wish->shards, rank, folder->ranks);

        may[rank] = true;
        for (unsigned i = 0; i < shape.count; i++)
            may[rank] = may[rank] && wish->is_here(wish->arg, shape.first + i);
        any = any || may[rank];
    }
    folder->may = may;
    err = any ? ny_folder_open(out, ctx, folder)
              : ny_fail(ctx, NY_EUSAGE,
                        "none of %u processes would have all of its shards on this machine; import "
                        "them here, or start as many processes as there are shards (%u)",
                        folder->ranks, wish->shards);
    ny_free(ctx, may);
    return err;
}

/* Opens the transport, whatever the others are to do. */
static int open_any(struct ny_transport **out, struct ny_context *ctx,
                    const struct ny_transport_wish *wish)
{
    struct ny_folder_wish folder = {.wait_s = wish->wait_s};
    const char *peers = wish->peers;
    unsigned long ranks;
    int err = ny_transport_check(ctx, peers, NULL);

    *out = NULL;
    if (err) return err;
    if (!peers) peers = launched_ranks() > 1 ? "mpi" : "alone";
    if (strcmp(peers, "alone") == 0) {
        warn_of_binding(ctx, environment_number("OMPI_COMM_WORLD_SIZE") == 1);
        return NY_OK;
    }
    if (strcmp(peers, "mpi") == 0) return open_mpi(out, ctx, wish->shards);
    folder.path = folder_of(peers, &ranks);
    folder.ranks = ranks ? (unsigned)ranks : wish->shards;
    if (folder.ranks > wish->shards) return refuse_ranks(ctx, folder.ranks, wish->shards);
    if (folder.ranks == 1) return NY_OK;
    return wish->is_here ? open_where_shards_are(out, ctx, &folder, wish)
                         : ny_folder_open(out, ctx, &folder);
}

/* A process tells the others this before anything else. */
struct greeting {
    char command[NY_COMMAND_BYTES];
    uint64_t shards;
};

static int is_interrupted(void *arg)
{
    return ny_check_interrupt(arg);
}

/* Tells the others what this process is to do, and hears the same of all, in the order of their
 * ranks. */
static int greet(struct ny_transport *transport, struct ny_context *ctx,
                 const struct greeting *mine, struct greeting *all)
{
    size_t *sizes = ny_calloc(ctx, NY_MEM_OTHER, transport->ranks, sizeof(*sizes));
    int err, failed;

    if (!sizes) return NY_EBUDGET;
    for (unsigned rank = 0; rank < transport->ranks; rank++)
        sizes[rank] = sizeof(*mine);
    transport->interrupted_arg = ctx;
    transport->interrupted = is_interrupted;
    failed = transport->ops->gather(transport, mine, sizes, all);
    transport->interrupted = NULL;
    ny_free(ctx, sizes);
    if (!failed) return NY_OK;
    err = ny_check_interrupt(ctx);
    return err ? err : ny_fail(ctx, transport->status, "%s", transport->why);
}

/* Compares what all processes are to do. Those of two commands would wait for each other for ever,
 * or take the bytes of one step for those of another. */
static int agree(struct ny_transport *transport, struct ny_context *ctx,
                 const struct ny_transport_wish *wish)
{
    struct greeting *all = ny_calloc(ctx, NY_MEM_OTHER, transport->ranks, sizeof(*all));
    struct greeting mine = {.shards = wish->shards};
    int err;

    if (!all) return NY_EBUDGET;
    snprintf(mine.command, sizeof(mine.command), "%s", wish->command);
    err = greet(transport, ctx, &mine, all);
    for (unsigned rank = 1; rank < transport->ranks && !err; rank++) {
        if (memcmp(all[rank].command, all[0].command, sizeof(mine.command)) != 0)
            err = ny_fail(ctx, NY_EUSAGE,
                          "the process with rank %u was started to %.*s, but rank 0 to %.*s; give "
                          "the same command to each",
                          rank, NY_COMMAND_BYTES, all[rank].command, NY_COMMAND_BYTES,
                          all[0].command);
        else if (all[rank].shards != all[0].shards)
            err = ny_fail(ctx, NY_EUSAGE,
                          "the process with rank %u works on %llu shards, but rank 0 on %llu; give "
                          "the same command to each",
                          rank, (unsigned long long)all[rank].shards,
                          (unsigned long long)all[0].shards);
    }
    ny_free(ctx, all);
    return err;
}

int ny_transport_open(struct ny_transport **out, struct ny_context *ctx,
                      const struct ny_transport_wish *wish)
{
    struct ny_transport *transport;
    int err = open_any(out, ctx, wish);

    transport = *out;
    if (err || !transport || !wish->command) return err;
    err = agree(transport, ctx, wish);
    if (!err) return NY_OK;
    transport->ops->abandon(transport, err, ny_context_message(ctx));
    transport->ops->close(transport);
    *out = NULL;
    return err;
}
