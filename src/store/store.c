/*
 * Opening, creating, withdrawing and closing a store: what concerns both environments at once.
 *
 * ny_store_open() opens points/ and results/, compares their ids, and warns where one of them is
 * from an older copy or cannot be written. ny_store_create() makes points/ first, under a random
 * id, and results/ with the id of points/; a creation that is killed in between is finished by the
 * next one, and a folder that holds other files is left alone. ny_store_withdraw() removes a store
 * that was made for a call and that nothing came into, so that a mistyped import leaves no empty
 * folder. The writers of this folder ask ny_store_writable() first.
 */
#include "store/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/store_private.h"

static int part_path(struct ny_context *ctx, const char *path, const char *part, char *out)
{
    if (snprintf(out, PATH_MAX, "%s/%s", path, part) < PATH_MAX) return NY_OK;
    return ny_fail_long_path(ctx, path);
}

static int open_part(struct ny_env **out, struct ny_context *ctx, const char *path,
                     uint32_t environment)
{
    char directory[PATH_MAX];
    int err = part_path(ctx, path, environment == NY_POINTS_ENVIRONMENT ? "points" : "results",
                        directory);

    return err ? err : ny_env_open(out, ctx, directory, environment);
}

static const char what_to_do[] =
    "put the newer one back, or take the store as it is with 'nystream repair'";

/* Opens both environments and says what is unusual about them: a twin, no right to write, an
 * older part. */
static int open_parts(struct ny_store *store)
{
    struct ny_context *ctx = store->ctx;
    char older[NY_OLDER_BYTES];
    int err = open_part(&store->points, ctx, store->path, NY_POINTS_ENVIRONMENT);

    if (!err) err = open_part(&store->results, ctx, store->path, NY_RESULTS_ENVIRONMENT);
    if (err) return err;
    if (memcmp(store->points->id, store->results->id, sizeof(store->points->id)) != 0)
        return ny_fail_at(ctx, NY_ESTORE, store->path, NY_NO_LINE,
                          "points/ and results/ of %s are of different stores", store->path);
    memcpy(&store->id, store->points->id, sizeof(store->id));
    store->read_only = store->points->read_only || store->results->read_only;
    if (store->points->twin || store->results->twin)
        ny_log(ctx, NY_LOG_WARNING, NY_TWINS, store->path, (long)getpid());
    else if (store->read_only)
        ny_log(ctx, NY_LOG_WARNING, "%s cannot be written: it is opened for reading, without locks",
               store->path);
    err = ny_store_compare_epochs(store);
    if (!err && ny_store_older(store, older))
        ny_log(ctx, NY_LOG_WARNING, "%s: %s; %s", store->path, older, what_to_do);
    return err;
}

/* Tells whether the folder has an entry of this name. If that cannot be found out, it counts as
 * there: opening it tells why. */
static bool holds(const char *path, const char *name)
{
    char entry[PATH_MAX];
    struct stat info;

    if (snprintf(entry, sizeof(entry), "%s/%s", path, name) >= (int)sizeof(entry)) return true;
    return lstat(entry, &info) == 0 || errno != ENOENT;
}

/* Tells whether an entry of a folder is one that a store has, also one whose creation was
 * killed. */
static bool is_ours(const char *name)
{
    static const char *const names[] = {".",       "..",         "locks",      "points",
                                        "results", "points.new", "results.new"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* Makes a handle without environments; NULL: there is no memory. */
static struct ny_store *new_store(struct ny_context *ctx, const char *path)
{
    struct ny_store *store = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*store));

    if (!store) return NULL;
    store->ctx = ctx;
    ny_mutex_init(&store->lock);
    store->path = ny_strdup(ctx, path);
    if (store->path) {
        ny_store_init_rows(store);
        return store;
    }
    ny_store_close(store);
    return NULL;
}

int ny_store_open(struct ny_store **out, struct ny_context *ctx, const char *path)
{
    struct ny_store *store;
    struct stat info;
    int err;

    *out = NULL;
    if (ny_in_memory_at(ctx, path)) return ny_in_memory_open(out, ctx);
    if (stat(path, &info))
        return errno == ENOENT ? ny_no_store(ctx, NY_EIO, path) : ny_fail_errno(ctx, "open", path);
    if (holds(path, "shards") && !holds(path, "points")) return ny_set_refuse(ctx, path);
    if (!S_ISDIR(info.st_mode) || (!holds(path, "points") && !holds(path, "results")))
        return ny_no_store(ctx, NY_EIO, path);
    store = new_store(ctx, path);
    if (!store) return NY_EBUDGET;
    err = open_parts(store);
    if (err)
        ny_store_close(store);
    else
        *out = store;
    return err;
}

void ny_store_close(struct ny_store *store)
{
    if (!store) return;
    if (store->in_memory) {
        ny_in_memory_close(store);
        return;
    }
    if (store->set) store->set->close(store->set->arg);
    if (store->wrote_results) ny_store_remember_results(store);
    ny_snapshots_free(store);
    ny_lost_release(&store->skipped, store->ctx);
    ny_env_close(store->results);
    ny_env_close(store->points);
    ny_mutex_release(&store->lock);
    ny_free(store->ctx, store->path);
    ny_free(store->ctx, store->shown);
    ny_free(store->ctx, store->shard_first);
    ny_free(store->ctx, store);
}

int ny_store_open_set(struct ny_store **out, struct ny_context *ctx, const char *path,
                      const struct ny_set *set)
{
    *out = new_store(ctx, path);
    if (!*out) return NY_EBUDGET;
    (*out)->set = set;
    return NY_OK;
}

/* ---- creating ------------------------------------------------------------------------------ */

static bool exists(const char *path)
{
    struct stat info;

    return lstat(path, &info) == 0;
}

/* points/ first, under a random id; results/ takes the id that points/ has, so that a creation
 * that was killed in between is finished by the next. */
static int create_parts(struct ny_context *ctx, const char *path)
{
    char points[PATH_MAX], results[PATH_MAX], file[PATH_MAX], why[NY_WHY_BYTES];
    struct ny_pulse pulse = {.version = 0};
    int err = part_path(ctx, path, "points", points);

    if (!err) err = part_path(ctx, path, "results", results);
    if (!err) err = part_path(ctx, points, "data.mdb", file);
    if (!err && !exists(points)) {
        if (getentropy(pulse.id, sizeof(pulse.id)))
            err = ny_fail_errno(ctx, "read", "random numbers");
        if (!err) err = ny_env_create(ctx, points, NY_POINTS_ENVIRONMENT, pulse.id);
    }
    if (err || exists(results)) return err;
    err = ny_structure_check(ctx, file, &pulse, why);
    if (err == NY_ESTORE) ny_damaged(ctx, file, "it is", why);
    return err ? err : ny_env_create(ctx, results, NY_RESULTS_ENVIRONMENT, pulse.id);
}

int ny_check_vacant(struct ny_context *ctx, const char *path, bool (*knows)(const char *entry))
{
    DIR *directory = opendir(path);
    const struct dirent *entry;
    int err = NY_OK;

    if (!directory) return ny_fail_errno(ctx, "open", path);
    while (!err && (entry = readdir(directory)) != NULL)
        if (!knows(entry->d_name))
            err = ny_fail_at(ctx, NY_EIO, path, NY_NO_LINE,
                             "%s holds other files and is not a store; choose another name", path);
    closedir(directory);
    return err;
}

int ny_directory_sync(struct ny_context *ctx, const char *path)
{
    int fd, err = NY_OK;

    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return ny_fail_errno(ctx, "open", path);
    if (fsync(fd) && errno != EINVAL) err = ny_fail_errno(ctx, "write", path);
    close(fd);
    return err;
}

/* A file survives a loss of power when its directory entry does, too. */
static int sync_directories(struct ny_context *ctx, const char *path)
{
    static const char *const parts[] = {"points", "results", ".", ".."};
    char directory[PATH_MAX];
    int err = NY_OK;

    for (size_t i = 0; !err && i < sizeof(parts) / sizeof(*parts); i++) {
        err = part_path(ctx, path, parts[i], directory);
        if (!err) err = ny_directory_sync(ctx, directory);
    }
    return err;
}

/* The locks last: whoever gets one then sees that the store is gone. */
static void remove_files(const char *path)
{
    static const char *const names[] = {
        "points/data.mdb",      "points/lock.mdb",      "points",
        "results/data.mdb",     "results/lock.mdb",     "results",
        "points.new/data.mdb",  "points.new/lock.mdb",  "points.new",
        "results.new/data.mdb", "results.new/lock.mdb", "results.new",
        "locks/commit.lock",    "locks/points.lock",    "locks"};
    char file[PATH_MAX];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (snprintf(file, PATH_MAX, "%s/%s", path, names[i]) < PATH_MAX) remove(file);
    rmdir(path);
}

/* `made`: the folder is new; where nothing comes of it, it goes again. */
static int create_locked(struct ny_context *ctx, const char *path, bool made)
{
    struct ny_lock lock;
    int err = ny_lock_wait(&lock, ctx, path, "create");

    if (err && made) remove_files(path);
    if (err) return err;
    lock.removed_after = true;
    err = create_parts(ctx, path);
    if (!err) err = sync_directories(ctx, path);
    if (err && made) remove_files(path);
    ny_lock_release(&lock);
    if (err && made) remove_files(path); /* the folder of the lock */
    return err;
}

int ny_store_create(struct ny_store **out, struct ny_context *ctx, const char *path)
{
    char points[PATH_MAX], results[PATH_MAX];
    bool made = false;
    int err = part_path(ctx, path, "points", points);

    *out = NULL;
    if (ny_in_memory_at(ctx, path)) return ny_in_memory_create(out, ctx);
    if (!err) err = part_path(ctx, path, "results", results);
    if (err) return err;
    if (!exists(points) || !exists(results)) {
        made = mkdir(path, 0777) == 0;
        if (!made && errno != EEXIST) return ny_fail_errno(ctx, "create", path);
        if (made && holds(path, "../shards.lock")) ny_share(path); /* of a set */
        err = ny_check_vacant(ctx, path, is_ours);
        if (!err) err = create_locked(ctx, path, made);
    }
    if (!err) err = ny_store_open(out, ctx, path);
    if (!err) (*out)->made = made;
    return err;
}

/* Tells whether it has no entry but the pulse and its memory of the other table. */
static bool is_empty(struct ny_store *store, struct ny_env *env)
{
    char why[NY_WHY_BYTES];
    struct ny_pulse pulse;
    struct ny_epoch epoch;

    return ny_structure_check(store->ctx, env->path, &pulse, why) == NY_OK &&
           ny_epoch_read(store, env, &epoch) == NY_OK && pulse.entries == (epoch.memory.own > 0);
}

void ny_store_withdraw(struct ny_store *store)
{
    static const char what[] = "writing to this store";
    struct ny_lock points, results;

    if (!store || !store->made || ny_lock_try(&points, store, "points", what)) return;
    if (ny_lock_try(&results, store, "commit", what) == NY_OK) {
        if (is_empty(store, store->points) && is_empty(store, store->results))
            remove_files(store->path);
        ny_lock_release(&results);
    }
    ny_lock_release(&points);
}

/* ---- what it is ---------------------------------------------------------------------------- */

struct ny_context *ny_store_context(const struct ny_store *store)
{
    return store->ctx;
}

const char *ny_store_path(const struct ny_store *store)
{
    return store->shown ? store->shown : store->path;
}

bool ny_store_read_only(const struct ny_store *store)
{
    return store->read_only;
}

uint64_t ny_store_bytes(const struct ny_store *store)
{
    const struct ny_env *const parts[] = {store->points, store->results};
    uint64_t bytes = 0;

    for (size_t i = 0; i < 2 && !ny_store_set(store) && !store->in_memory; i++) {
        struct stat info;

        if (stat(parts[i]->path, &info) == 0) bytes += (uint64_t)info.st_blocks * 512;
    }
    return bytes;
}

int ny_store_writable(struct ny_store *store)
{
    char older[NY_OLDER_BYTES];

    if (ny_store_set(store)) return ny_set_refuse(store->ctx, store->path);
    if (store->in_memory) return ny_in_memory_refuse(store);
    if (store->older && !store->mending)
        return ny_fail_at(store->ctx, NY_ESTORE, store->path, NY_NO_LINE,
                          "%s is not written: %s; %s", store->path, ny_store_older(store, older),
                          what_to_do);
    if (!store->read_only) return NY_OK;
    if (store->points->twin || store->results->twin)
        return ny_fail_at(store->ctx, NY_EBUSY, store->path, NY_NO_LINE, NY_TWINS, store->path,
                          (long)getpid());
    return ny_fail_at(store->ctx, NY_EIO, store->path, NY_NO_LINE,
                      "%s cannot be written; check its permissions", store->path);
}
