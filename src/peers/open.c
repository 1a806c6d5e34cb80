/*
 * Opens the transport of a job: the one that --peers names, or MPI where a launcher has started
 * several processes. More processes than shards are refused, since they would do the same work.
 */
#include "peers/open.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/beside.h"
#include "base/checksum.h"
#include "base/cpu.h"
#include "base/memory.h"
#include "peers/folder.h"
#include "peers/group.h"

/* Returns a whole number of the environment; 0 where there is none. */
static unsigned environment_number(const char *name)
{
    const char *text = getenv(name);
    unsigned long number = text ? strtoul(text, NULL, 10) : 0;

    return number < UINT_MAX ? (unsigned)number : 0;
}

/* Slurm's PMIx tells a process its rank alone, and the number beside it. */
unsigned ny_transport_launched(void)
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
    ny_log(
        ctx, NY_LOG_WARNING,
        "MPI has bound the job to %u of %u CPUs; mpirun --bind-to none, or srun --cpu-bind=none, "
        "gives it all",
        on_host, ny_cpu_online());
}

static int refuse_ranks(struct ny_context *ctx, unsigned ranks, unsigned shards)
{
    return ny_fail(ctx, NY_EUSAGE,
                   "%u processes were started for %u shards; start at most one for each, or give "
                   "--peers alone",
                   ranks, shards);
}

static const char plugin[] = "libnystream-mpi.so";

static int fail_to_load(struct ny_context *ctx, const char *path)
{
    const char *reason = dlerror();

    return ny_fail(ctx, NY_EUSAGE,
                   "the plug-in for MPI cannot be loaded (%s: %s); install or build nystream-mpi "
                   "('make mpi'), and name it in NYSTREAM_MPI",
                   path, reason ? reason : "");
}

/* Loads the plug-in. It stays loaded to the end of the process, which many an MPI needs. */
static int load(void **library, struct ny_context *ctx)
{
    const char *path = getenv("NYSTREAM_MPI");
    char found[PATH_MAX];

    if (!path || !*path) path = ny_find_beside(plugin, "lib", R_OK, found) ? found : plugin;
    *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    return *library ? NY_OK : fail_to_load(ctx, path);
}

/* Opens the transport of the plug-in for MPI, which is a library of its own, since each MPI needs
 * another one, and most users need none: nystream knows nothing of MPI. It is where NYSTREAM_MPI
 * says; else beside the library or the program, in lib beside their folder, or where the system
 * looks for libraries. */
static int open_plugin(struct ny_transport **out, struct ny_context *ctx)
{
    ny_transport_open_fn *open_transport;
    char why[sizeof((*out)->why)] = "";
    void *library;
    int err = load(&library, ctx);

    *out = NULL;
    if (err) return err;
    *(void **)&open_transport = dlsym(library, NY_TRANSPORT_SYMBOL);
    if (!open_transport) return fail_to_load(ctx, plugin);
    *out = open_transport(why, sizeof(why));
    return *out ? NY_OK : ny_fail(ctx, NY_EIO, "MPI cannot be used: %s", why);
}

static int open_mpi(struct ny_transport **out, struct ny_context *ctx, unsigned shards)
{
    unsigned launched = ny_transport_launched(); /* before MPI, which may say so itself */
    struct ny_transport *transport;
    int err;

    if (launched > shards) return refuse_ranks(ctx, launched, shards);
    if (!launched) launched = environment_number("SLURM_STEP_NUM_TASKS");
    err = open_plugin(&transport, ctx);
    if (err) return err;
    if (launched && launched != transport->ranks) /* each is alone in an MPI of its own */
        err =
            ny_fail(ctx, NY_EUSAGE,
                    "%u processes were started, but the plug-in for MPI knows of %u: build it with "
                    "the mpicc of the MPI that starts them ('make mpi')",
                    launched, transport->ranks);
    else if (transport->ranks > shards)
        err = refuse_ranks(ctx, transport->ranks, shards);
    if (!err && transport->rank == 0 && transport->ranks > 1)
        warn_of_binding(ctx, transport->on_host);
    if (!err && transport->ranks > 1)
        *out = transport;
    else
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

    if (peers && (!path || !*path) && strcmp(peers, "alone") != 0 && strcmp(peers, "mpi") != 0)
        return ny_fail_value(ctx, "peers", "alone, mpi, folder:PATH or folder:N:PATH", peers);
    if (waits && (peers ? strcmp(peers, "alone") == 0 : ny_transport_launched() < 2))
        return ny_fail_only(ctx, "peers-wait", "--peers folder:PATH or MPI");
    return NY_OK;
}

void ny_transport_begin(struct ny_transport_wish *wish, const char *store)
{
    uint64_t job =
        ny_checksum(wish->command, strlen(wish->command)) + ny_checksum(store, strlen(store));
    unsigned long ranks;
    const char *path = wish->peers ? folder_of(wish->peers, &ranks) : NULL;
    int length = path ? snprintf(wish->word.path, PATH_MAX, "%s/failed-%016llx", path,
                                 (unsigned long long)job)
                      : 0;

    if (length >= PATH_MAX) *wish->word.path = '\0';
    if (*wish->word.path) ny_folder_word_look(&wish->word);
}

/* Tells whether a process with stores of these ids has all shards of a rank. */
static bool has_rank(const uint64_t *ids, unsigned shards, unsigned rank, unsigned ranks)
{
    struct ny_group_shape shape = ny_group_shape(shards, rank, ranks);
    bool has = true;

    for (unsigned i = 0; i < shape.count; i++)
        has = has && ids[shape.first + i];
    return has;
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
        may[rank] = has_rank(wish->ids, wish->shards, rank, folder->ranks);
        any = any || may[rank];
    }
    if (has_rank(wish->ids, wish->shards, 0, 1))
        folder->set = ny_checksum(wish->ids, wish->shards * sizeof(*wish->ids));
    folder->may = may;
    err = any ? ny_folder_open(out, ctx, folder)
              : ny_fail(ctx, NY_EUSAGE,
                        "none of %u processes would have all of its shards here; start one for "
                        "each of %u",
                        folder->ranks, wish->shards);
    ny_free(ctx, may);
    return err;
}

/* Opens the transport, whatever the others are to do. */
static int open_any(struct ny_transport **out, struct ny_context *ctx,
                    const struct ny_transport_wish *wish)
{
    struct ny_folder_wish folder = {.wait_s = wish->wait_s,
                                    .word = *wish->word.path ? &wish->word : NULL};
    const char *peers = wish->peers;
    unsigned long ranks;
    int err = ny_transport_check(ctx, peers, NULL);

    *out = NULL;
    if (err) return err;
    if (!peers) peers = ny_transport_launched() > 1 ? "mpi" : "alone";
    if (strcmp(peers, "alone") == 0) {
        warn_of_binding(ctx, environment_number("OMPI_COMM_WORLD_SIZE") == 1);
        return NY_OK;
    }
    if (strcmp(peers, "mpi") == 0) return open_mpi(out, ctx, wish->shards);
    folder.path = folder_of(peers, &ranks);
    folder.ranks = ranks ? (unsigned)ranks : wish->shards;
    if (folder.ranks > wish->shards) return refuse_ranks(ctx, folder.ranks, wish->shards);
    if (folder.ranks == 1) return NY_OK;
    return wish->ids ? open_where_shards_are(out, ctx, &folder, wish)
                     : ny_folder_open(out, ctx, &folder);
}

/* ---- the greeting --------------------------------------------------------------------------- */

/* A process tells the others this before anything else, and then the ids of its stores. The version
 * grows with each change of what the processes of a job say to each other. */
enum { GREETING_VERSION = 2 };
struct greeting {
    uint64_t version, shards;
    char command[NY_COMMAND_BYTES];
};

static int is_interrupted(void *arg)
{
    return ny_check_interrupt(arg);
}

static void tell(void *arg, const char *text)
{
    ny_log(arg, NY_LOG_NOTE, "%s", text);
}

void ny_transport_attach(struct ny_transport *transport, struct ny_context *ctx)
{
    transport->arg = ctx;
    transport->interrupted = ctx ? is_interrupted : NULL;
    transport->tell = ctx ? tell : NULL;
}

/* Gathers as many bytes of each rank, into an array that the caller frees. */
static int gather(struct ny_transport *transport, struct ny_context *ctx, const void *mine,
                  size_t bytes, void **all)
{
    size_t *sizes = ny_calloc(ctx, NY_MEM_OTHER, transport->ranks, sizeof(*sizes));
    int err, failed;

    *all = ny_calloc(ctx, NY_MEM_OTHER, transport->ranks, bytes);
    if (!sizes || !*all) {
        ny_free(ctx, sizes);
        return NY_EBUDGET;
    }
    for (unsigned rank = 0; rank < transport->ranks; rank++)
        sizes[rank] = bytes;
    ny_transport_attach(transport, ctx);
    failed = transport->ops->gather(transport, mine, sizes, *all);
    ny_transport_attach(transport, NULL);
    ny_free(ctx, sizes);
    if (!failed) return NY_OK;
    err = ny_check_interrupt(ctx);
    return err ? err : ny_fail(ctx, transport->status, "%s", transport->why);
}

/* Compares what rank r is to do with what rank 0 is. Processes of two commands would wait for each
 * other for ever, or take the bytes of one step for those of another. */
static int compare(struct ny_context *ctx, const struct greeting *all, unsigned r)
{
    if (all[r].version != all[0].version)
        return ny_fail(ctx, NY_EUSAGE,
                       "the process with rank %u is of another version of nystream than rank 0", r);
    if (memcmp(all[r].command, all[0].command, NY_COMMAND_BYTES) != 0 ||
        all[r].shards != all[0].shards)
        return ny_fail(ctx, NY_EUSAGE,
                       "the process with rank %u has another command, or other shards, than rank 0",
                       r);
    return NY_OK;
}

/* Refuses processes that have different stores as the same shard. known: the ids of each process;
 * those of the first are completed by those of the others. */
static int compare_ids(struct ny_context *ctx, uint64_t *known, unsigned shards, unsigned ranks)
{
    for (unsigned rank = 1; rank < ranks; rank++)
        for (unsigned k = 0; k < shards; k++) {
            uint64_t id = known[(size_t)rank * shards + k];

            if (id && known[k] && id != known[k])
                return ny_fail(ctx, NY_EUSAGE,
                               "the process with rank %u has another store as shard %u than others",
                               rank, k);
            if (id) known[k] = id;
        }
    return NY_OK;
}

/* Gives each process a rank whose shards it has; those that have all shards take what is left.
 * Numbers stay where that is not possible, and who lacks its shards says so. */
static int arrange(struct ny_transport *transport, struct ny_context *ctx, const uint64_t *ids,
                   unsigned shards)
{
    unsigned ranks = transport->ranks, mine = 0, dealt = 0;
    bool *has = ny_calloc(ctx, NY_MEM_OTHER, ranks, sizeof(*has)), failed;

    if (!has) return NY_EBUDGET;
    for (unsigned rank = 0; rank < ranks && dealt == rank; rank++)
        for (unsigned i = 0; i < 2 * ranks && dealt == rank; i++) {
            unsigned process = i % ranks;
            const uint64_t *own = ids + (size_t)process * shards;

            if (has[process] || !has_rank(own, shards, rank, ranks)) continue;
            if (i < ranks && has_rank(own, shards, 0, 1)) continue;
            has[process] = true;
            if (process == transport->rank) mine = rank;
            dealt++;
        }
    ny_free(ctx, has);
    failed = dealt == ranks && transport->ops->arrange(transport, mine);
    return failed ? ny_fail(ctx, transport->status, "%s", transport->why) : NY_OK;
}

/* Compares what all processes are to do, and deals out what each has. */
static int greet(struct ny_transport *transport, struct ny_context *ctx,
                 const struct ny_transport_wish *wish)
{
    size_t ids_bytes = wish->ids ? wish->shards * sizeof(*wish->ids) : 0;
    struct greeting mine = {GREETING_VERSION, wish->shards, ""};
    void *all, *ids = NULL;
    int err;

    snprintf(mine.command, sizeof(mine.command), "%s", wish->command);
    err = gather(transport, ctx, &mine, sizeof(mine), &all);
    for (unsigned rank = 1; rank < transport->ranks && !err; rank++)
        err = compare(ctx, all, rank);
    if (!err && ids_bytes) err = gather(transport, ctx, wish->ids, ids_bytes, &ids);
    if (!err && ids_bytes && transport->ops->arrange)
        err = arrange(transport, ctx, ids, wish->shards);
    if (!err && ids_bytes) err = compare_ids(ctx, ids, wish->shards, transport->ranks);
    ny_free(ctx, all);
    ny_free(ctx, ids);
    return err;
}

int ny_transport_open(struct ny_transport **out, struct ny_context *ctx,
                      const struct ny_transport_wish *wish)
{
    struct ny_transport *transport;
    int err = open_any(out, ctx, wish);

    transport = *out;
    if (err || !transport) return err;
    transport->digest = ny_checksum;
    transport->notice_s = 30;
    transport->wait_s = wish->waits ? wish->wait_s : 0;
    err = wish->command ? greet(transport, ctx, wish) : NY_OK;
    if (!err) return NY_OK;
    transport->ops->abandon(transport, err, ny_context_message(ctx));
    transport->ops->close(transport);
    *out = NULL;
    return err;
}
