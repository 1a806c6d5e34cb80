/*
 * LMDB environments. LMDB's demands on its user, and where they are met here:
 *  - one handle per process and file (a second close would drop the first one's locks): registry;
 *  - the map may move only with no transaction alive in the process: enter, leave, grow;
 *  - no handle across fork: slots carry the process' number; forks wait for the registry's lock;
 *  - its codes, positive errno and negative ones alike, are translated once: ny_env_fail().
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "store/store_private.h"

enum { ENVIRONMENTS_MAX = 2048, READERS_MAX = 1024 }; /* a store, or a shard, has two of them */
/* From so many places for readers on, whoever does not read keeps none. */
enum { READERS_MANY = READERS_MAX / 2 };
/* Bytes of LMDB's lock file for so many readers: a cache line each, and the head. */
enum { LOCK_BYTES = (READERS_MAX - 1) * 64 + 192 };

/* Address space of a process has 47 bits: the first environments get large maps, which need not
 * grow, and all others fit as well. */
enum { LARGE_MAPS = 128 };
static const size_t map_least = (size_t)1 << 30, map_large = (size_t)1 << 38;
static const size_t map_small = (size_t)1 << 35;

static struct ny_env registry[ENVIRONMENTS_MAX];

/* LMDB calls a write that was cut short EIO; where the disk has no more space, that is why. */
static bool is_full(const char *path)
{
    const uint64_t few = 1 << 20; /* of bytes; a write is as large */
    struct statvfs disk;

    return statvfs(path, &disk) == 0 && disk.f_blocks &&
           (uint64_t)disk.f_bavail * disk.f_frsize < few;
}

static const char verify[] = "; run 'nystream verify'", again[] = "; try again";
static const char memory[] = "; allow the process more memory or address space";
static const char more_space[] = "; make space there, and run the same command again";
static const char no_locks[] = "; its file system has no locks: keep the store on a local disk";
static const char full[] =
    "; the disk is full or failing: make space there, and run the same command again";
static const char readers[] = "; end some of the processes that read the store, or try again";

/* The meaning of a code, and what to do; any other is NY_EIO. */
static const struct {
    int code, status;
    const char *advice;
} meanings[] = {
    {MDB_CORRUPTED, NY_ESTORE, verify},
    {MDB_PAGE_NOTFOUND, NY_ESTORE, verify},
    {MDB_INVALID, NY_ESTORE, verify},
    {MDB_VERSION_MISMATCH, NY_ESTORE, verify},
    {MDB_INCOMPATIBLE, NY_ESTORE, verify},
    {MDB_NOTFOUND, NY_ESTORE, verify},
    {ENOMEM, NY_EBUDGET, memory},
    {MDB_MAP_FULL, NY_EBUDGET, memory},
    {MDB_TXN_FULL, NY_EBUDGET, memory},
    {EMFILE, NY_EIO, NY_MORE_FILES},
    {MDB_READERS_FULL, NY_EBUSY, readers},
    {EBUSY, NY_EBUSY, again},
    {EAGAIN, NY_EBUSY, again},
    {MDB_MAP_RESIZED, NY_EBUSY, again},
    {MDB_BAD_TXN, NY_EINTERNAL, ""},
    {MDB_BAD_RSLOT, NY_EINTERNAL, ""},
    {MDB_BAD_DBI, NY_EINTERNAL, ""},
    {MDB_BAD_VALSIZE, NY_EINTERNAL, ""},
    {MDB_KEYEXIST, NY_EINTERNAL, ""},
    {EINVAL, NY_EINTERNAL, ""},
    {ENOSPC, NY_EIO, more_space},
    {EDQUOT, NY_EIO, more_space},
    {ENOLCK, NY_EIO, no_locks},
    {ENOSYS, NY_EIO, no_locks},
    {EOPNOTSUPP, NY_EIO, no_locks},
    {EIO, NY_EIO, full}, /* also what LMDB makes of a short write */
    {EFBIG, NY_EIO, full},
};

int ny_env_fail(struct ny_context *ctx, const char *path, const char *action, int code)
{
    const char *advice = "";
    int status = NY_EIO;

    if (code == EIO && strcmp(action, "read") != 0 && is_full(path)) code = ENOSPC;
    for (size_t i = 0; i < sizeof(meanings) / sizeof(*meanings); i++)
        if (meanings[i].code == code) {
            status = meanings[i].status;
            advice = meanings[i].advice;
        }
    return ny_fail_at(ctx, status, path, NY_NO_LINE, "cannot %s %s: %s%s", action, path,
                      mdb_strerror(code), advice);
}

int ny_damaged(struct ny_context *ctx, const char *path, const char *what, const char *wrong)
{
    return ny_fail_at(ctx, NY_ESTORE, path, NY_NO_LINE,
                      "%s: %s damaged: %s; 'nystream verify' lists all damage, 'nystream repair' "
                      "sets it aside",
                      path, what, wrong);
}

int ny_no_store(struct ny_context *ctx, int status, const char *path)
{
    return ny_fail_at(ctx, status, path, NY_NO_LINE,
                      "there is no store %s; 'nystream import' makes one", path);
}

/* ---- the map ------------------------------------------------------------------------------- */

void ny_env_enter(struct ny_env *env)
{
    ny_mutex_lock(&env->lock);
    while (env->growing)
        ny_cond_wait(&env->idle, &env->lock);
    env->active++;
    ny_mutex_unlock(&env->lock);
}

void ny_env_leave(struct ny_env *env)
{
    ny_mutex_lock(&env->lock);
    if (--env->active == 0) ny_cond_broadcast(&env->idle);
    ny_mutex_unlock(&env->lock);
}

/* Tells whether the system grants another map of this size. LMDB gives the old one up before it
 * asks, and forgets in its next call that it has none then. */
static bool has_space(size_t bytes)
{
    void *map = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return map != MAP_FAILED && munmap(map, bytes) == 0;
}

int ny_env_grow(struct ny_env *env, struct ny_context *ctx, size_t bytes)
{
    size_t target = bytes / 2 > SIZE_MAX / 4 ? bytes : 2 * bytes;
    int code = 0;

    ny_mutex_lock(&env->lock);
    while (env->growing)
        ny_cond_wait(&env->idle, &env->lock);
    env->growing = true;
    while (env->active > 0)
        ny_cond_wait(&env->idle, &env->lock);
    if (bytes > env->map_bytes) {
        if (has_space(target)) bytes = target;
        if (has_space(bytes)) {
            env->map = NULL;
            code = mdb_env_set_mapsize(env->lmdb, bytes);
            env->map_bytes = code ? 0 : bytes; /* 0: no map */
        } else {
            code = ENOMEM;
        }
    }
    env->growing = false;
    ny_cond_broadcast(&env->idle);
    ny_mutex_unlock(&env->lock);
    return code ? ny_env_fail(ctx, env->path, "map", code) : NY_OK;
}

int ny_env_begin(struct ny_env *env, struct ny_context *ctx, unsigned flags, MDB_txn **txn)
{
    int code = env->map_bytes ? ny_env_start(env, flags, txn) : ENOMEM;
    struct stat info;
    int dead, err = NY_OK;

    if (code == MDB_READERS_FULL && !mdb_reader_check(env->lmdb, &dead) && dead)
        code = ny_env_start(env, flags, txn);
    if (code == MDB_MAP_RESIZED) { /* another process has grown the file beyond our map */
        ny_env_leave(env);
        if (stat(env->path, &info))
            err = ny_fail_errno(ctx, "read", env->path);
        else
            err = ny_env_grow(env, ctx, (size_t)info.st_size + env->map_bytes);
        ny_env_enter(env);
        if (err) return err;
        code = ny_env_start(env, flags, txn);
    }
    return code ? ny_env_fail(ctx, env->path, "read", code) : NY_OK;
}

void ny_env_rest(const struct ny_env *env, MDB_txn **txn)
{
    if (ny_env_info(env).me_numreaders < READERS_MANY) {
        mdb_txn_reset(*txn);
        return;
    }
    mdb_txn_abort(*txn);
    *txn = NULL;
}

/* ---- opening ------------------------------------------------------------------------------- */

int ny_env_entry(struct ny_context *ctx, const char *path, mode_t type, bool needed,
                 struct stat *info)
{
    if (lstat(path, info)) {
        if (errno == ENOENT && !needed) return NY_OK;
        if (errno == ENOENT || errno == ENOTDIR) return ny_no_store(ctx, NY_ESTORE, path);
        return ny_fail_errno(ctx, "read", path);
    }
    return (info->st_mode & S_IFMT) == type ? NY_OK : ny_no_store(ctx, NY_ESTORE, path);
}

/* Makes the path of data.mdb and checks that it, its folder and the lock file are no links, before
 * LMDB follows one out of the store. */
static int check_files(struct ny_context *ctx, const char *directory, char *file, struct stat *info)
{
    char lock_file[PATH_MAX];
    struct stat other;
    int err;

    if (snprintf(file, PATH_MAX, "%s/data.mdb", directory) >= PATH_MAX ||
        snprintf(lock_file, PATH_MAX, "%s/lock.mdb", directory) >= PATH_MAX)
        return ny_fail_long_path(ctx, directory);
    err = ny_env_entry(ctx, directory, S_IFDIR, true, &other);
    if (!err) err = ny_env_entry(ctx, lock_file, S_IFREG, false, &other);
    if (!err) err = ny_env_entry(ctx, file, S_IFREG, true, info);
    return err;
}

/* LMDB writes its lock file through a map, and a page of it that the disk has no space for is a
 * SIGBUS: so it gets its blocks before. While LMDB has it open in this process this must not happen
 * (closing it would drop LMDB's locks). */
static int reserve_lock_file(struct ny_context *ctx, const char *directory)
{
    char path[PATH_MAX];
    struct stat info;
    int fd, code;

    if (snprintf(path, PATH_MAX, "%s/lock.mdb", directory) >= PATH_MAX) return NY_OK;
    if (stat(path, &info) == 0 && info.st_size >= LOCK_BYTES && info.st_blocks * 512 >= LOCK_BYTES)
        return NY_OK;
    fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (fd < 0) return ny_fail_errno(ctx, "create", path);
    ny_share(path);
    code = posix_fallocate(fd, 0, LOCK_BYTES);
    close(fd);
    if (code != ENOSPC && code != EDQUOT && code != EFBIG) return NY_OK; /* it may still go well */
    return ny_env_fail(ctx, path, "create", code);
}

/* Chooses the bytes of the map of a slot, and the least that will do. Of a limited address space
 * (ulimit -v) it takes no more than a share where that is enough, since other tables and all that
 * is computed need some, too. */
static void choose_map(const struct ny_env *env, uint64_t file_bytes, size_t *bytes, size_t *least)
{
    const size_t share = 8;
    size_t usual = map_small;
    struct rlimit space;

    for (size_t i = 0; i < LARGE_MAPS; i++)
        if (env == &registry[i]) usual = map_large;
    *least = 2 * file_bytes > map_least ? (size_t)(2 * file_bytes) : map_least;
    *bytes = 4 * file_bytes > usual ? (size_t)(4 * file_bytes) : usual;
    if (getrlimit(RLIMIT_AS, &space) || space.rlim_cur / share >= *bytes) return;
    *bytes = space.rlim_cur / share / map_least * map_least;
    if (*bytes < *least) *bytes = *least;
}

/* Opens LMDB with the largest map that the system grants: address space only, but Valgrind and
 * RLIMIT_AS refuse much of it. */
static int open_lmdb(struct ny_env *env, struct ny_context *ctx, const char *directory,
                     unsigned flags, uint64_t file_bytes)
{
    size_t bytes, least;
    int code, err = flags & MDB_NOLOCK ? NY_OK : reserve_lock_file(ctx, directory);

    if (err) return err;
    choose_map(env, file_bytes, &bytes, &least);
    for (;; bytes = bytes / 2 > least ? bytes / 2 : least) {
        code = mdb_env_create(&env->lmdb);
        if (code) break;
        mdb_env_set_mapsize(env->lmdb, bytes);
        mdb_env_set_maxreaders(env->lmdb, READERS_MAX);
        code = mdb_env_open(env->lmdb, directory, MDB_NOTLS | flags, 0666);
        if (!code) break;
        mdb_env_close(env->lmdb);
        env->lmdb = NULL;
        if ((code != ENOMEM && code != EINVAL) || bytes == least) break;
    }
    env->map_bytes = bytes;
    return code ? ny_env_fail(ctx, directory, "open", code) : NY_OK;
}

/* Opens the one table of an environment and learns the page size. Slots of readers that were
 * killed are freed before, since they may be all there are.
 *
 * LMDB locks a byte of its lock file that has the number of the process. If another process has
 * locked it, that process has the same number in another pid namespace (pid 1 of every container).
 * With such a twin nothing is opened; open_beside_twin() does it. */
static int open_table(struct ny_env *env, struct ny_context *ctx, bool last_try)
{
    MDB_txn *txn = NULL;
    MDB_stat stat;
    size_t commits = ny_env_info(env).me_last_txnid;
    int dead, code;

    if (!env->read_only) mdb_reader_check(env->lmdb, &dead);
    code = mdb_txn_begin(env->lmdb, NULL, MDB_RDONLY, &txn);
    env->twin = !env->read_only && (code == EAGAIN || code == EACCES);
    if (env->twin) return NY_OK;
    if (!code && commits && !mdb_txn_id(txn)) {
        mdb_txn_abort(txn);
        txn = NULL;
        code = EINVAL;
    }
    if (code == EINVAL && !last_try) return NY_END; /* its lock file: open_environment() */
    if (!code) code = mdb_dbi_open(txn, NULL, 0, &env->table);
    if (!code) code = mdb_stat(txn, env->table, &stat);
    if (!code) env->page_bytes = stat.ms_psize;
    if (txn) mdb_txn_abort(txn);
    return code ? ny_env_fail(ctx, env->path, "read", code) : NY_OK;
}

/* Opens the environment of a slot, with LMDB's locks where the store can be written.
 *
 * LMDB 0.9.26 and later destroy the mutexes in the lock file when the last process closes it, and a
 * process that opens the file meanwhile gets them as they are: it can lock none. The first one that
 * opens the file when nobody has it open makes new ones, and writes the number of the last commit
 * when it has mapped the data: if it is killed before, or gets no map, a process that opened the
 * file meanwhile finds 0 there, and would write over what was committed. */
static int open_environment(struct ny_env *env, struct ny_context *ctx, const char *directory,
                            uint64_t file_bytes)
{
    const unsigned flags = env->read_only ? MDB_RDONLY | MDB_NOLOCK : 0;
    const long first_ns = 100000, last_ns = 500000000;

    for (long ns = first_ns;; ns *= 2) {
        int err = open_lmdb(env, ctx, directory, flags, file_bytes);

        if (!err) err = open_table(env, ctx, ns > last_ns);
        if (err != NY_END) return err;
        mdb_env_close(env->lmdb);
        env->lmdb = NULL;
        nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
    }
}

/* Reads without LMDB's locks, under those of the store: ny_twin_lock(). */
static int open_beside_twin(struct ny_env *env, struct ny_context *ctx, const char *directory,
                            uint64_t file_bytes)
{
    int err;

    mdb_env_close(env->lmdb);
    env->lmdb = NULL;
    env->read_only = true;
    err = open_lmdb(env, ctx, directory, MDB_RDONLY | MDB_NOLOCK, file_bytes);
    if (!err) err = open_table(env, ctx, true);
    env->twin = true;
    return err;
}

/* Tells whether this user may write the store. If not, it is read without LMDB's locks, which
 * would have to be written. */
static bool may_write(const char *directory, const char *file)
{
    return euidaccess(directory, W_OK) == 0 && euidaccess(file, W_OK) == 0;
}

/* The file that was looked at, with the lock file beside it: another one is in its place where the
 * store was compacted meanwhile. */
static int check_opened(const struct ny_env *env, struct ny_context *ctx, const struct stat *info)
{
    struct stat opened;
    int fd;

    if (mdb_env_get_fd(env->lmdb, &fd) || fstat(fd, &opened))
        return ny_fail_errno(ctx, "read", env->path);
    if (opened.st_dev == info->st_dev && opened.st_ino == info->st_ino) return NY_OK;
    return ny_fail_changed(ctx, env->path);
}

/* Opens an environment into a free slot of the registry. The file's structure is checked before
 * LMDB maps it, since LMDB trusts its pages. On failure the slot stays free. */
static int fill_slot(struct ny_env *env, struct ny_context *ctx, const char *directory,
                     uint32_t environment, const struct stat *info)
{
    char why[NY_WHY_BYTES];
    struct ny_pulse pulse;
    int err = ny_structure_check(ctx, env->path, &pulse, why);

    if (!err && pulse.environment != environment) {
        err = NY_ESTORE;
        strcpy(why, "it belongs in the other folder of a store");
    }
    if (err == NY_ESTORE) return ny_damaged(ctx, env->path, "it is", why);
    if (err) return err;
    env->read_only = !may_write(directory, env->path);
    err = open_environment(env, ctx, directory, (uint64_t)info->st_size);
    if (!err && env->twin) err = open_beside_twin(env, ctx, directory, (uint64_t)info->st_size);
    if (!err) err = check_opened(env, ctx, info);
    if (err) {
        if (env->lmdb) mdb_env_close(env->lmdb);
        env->lmdb = NULL;
        return err;
    }
    memcpy(env->id, pulse.id, sizeof(env->id));
    env->device = info->st_dev;
    env->inode = info->st_ino;
    env->process = getpid();
    env->users = 1;
    env->active = 0;
    env->map = NULL;
    env->small_reads = 0;
    env->growing = false;
    env->failed = NY_OK;
    ny_mutex_init(&env->lock);
    ny_cond_init(&env->idle);
    return NY_OK;
}

/* Returns the environment of this file if the process has it open already, found by device and
 * inode, or opens it. The registry's lock is held. */
static int find_or_open(struct ny_env **out, struct ny_context *ctx, const char *directory,
                        uint32_t environment)
{
    struct ny_env *slot = NULL;
    char file[PATH_MAX];
    struct stat info;
    int err = check_files(ctx, directory, file, &info);

    if (err) return err;
    for (size_t i = 0; i < ENVIRONMENTS_MAX; i++) {
        struct ny_env *env = &registry[i];
        bool mine = env->lmdb && env->process == getpid();

        if (mine && env->device == info.st_dev && env->inode == info.st_ino) {
            env->users++;
            *out = env;
            return NY_OK;
        }
        if (!mine && !slot) slot = env;
        if (!env->process) break; /* slots are filled from the first on: all behind it are free */
    }
    if (!slot)
        return ny_fail(ctx, NY_EBUDGET, "%d stores are open in this process; close one first",
                       ENVIRONMENTS_MAX / 2);
    strcpy(slot->path, file);
    err = fill_slot(slot, ctx, directory, environment, &info);
    if (!err) *out = slot;
    return err;
}

int ny_env_open(struct ny_env **out, struct ny_context *ctx, const char *directory,
                uint32_t environment)
{
    int err = ny_check_byte_order(ctx);

    *out = NULL;
    if (err) return err;
    ny_shared_lock(NY_SHARED_STORES);
    err = find_or_open(out, ctx, directory, environment);
    ny_shared_unlock(NY_SHARED_STORES);
    return err;
}

void ny_env_close(struct ny_env *env)
{
    if (!env) return;
    ny_shared_lock(NY_SHARED_STORES);
    if (--env->users == 0) {
        mdb_env_close(env->lmdb);
        env->lmdb = NULL;
        ny_cond_release(&env->idle);
        ny_mutex_release(&env->lock);
    }
    ny_shared_unlock(NY_SHARED_STORES);
}

bool ny_env_in_place(const struct ny_env *env)
{
    struct stat info;

    return stat(env->path, &info) == 0 && info.st_dev == env->device && info.st_ino == env->inode;
}

/* ---- creating ------------------------------------------------------------------------------ */

/* The first transaction of a table: its pulse. */
static int write_first(struct ny_env *env, struct ny_context *ctx, uint32_t environment,
                       const uint8_t id[16])
{
    struct ny_pulse pulse = {.version = NY_FORMAT_VERSION, .environment = environment};
    struct ny_frame frame = {.kind = NY_KIND_PULSE, .raw_bytes = sizeof(pulse)};
    struct ny_key key = ny_pulse_key();
    MDB_val name = {key.bytes, key.data}, value = {sizeof(struct ny_header) + sizeof(pulse), NULL};
    struct ny_header header;
    MDB_txn *txn = NULL;
    int code = mdb_txn_begin(env->lmdb, NULL, 0, &txn);

    if (!code) code = mdb_dbi_open(txn, NULL, 0, &env->table);
    if (!code) code = mdb_put(txn, env->table, &name, &value, MDB_RESERVE);
    if (code) {
        if (txn) mdb_txn_abort(txn);
        return ny_env_fail(ctx, env->path, "create", code);
    }
    memcpy(pulse.magic, NY_FORMAT_MAGIC, sizeof(pulse.magic));
    memcpy(pulse.id, id, sizeof(pulse.id));
    pulse.txn = mdb_txn_id(txn);
    memcpy(&frame.store, id, sizeof(frame.store));
    header = ny_frame_seal(&frame, &pulse, sizeof(pulse));
    memcpy(value.mv_data, &header, sizeof(header));
    memcpy((char *)value.mv_data + sizeof(header), &pulse, sizeof(pulse));
    code = mdb_txn_commit(txn);
    return code ? ny_env_fail(ctx, env->path, "create", code) : NY_OK;
}

/* Removes the two files of an environment and its folder, as far as they are there. The folder of
 * a stranger, which holds other files, stays. */
static void remove_leftovers(const char *directory)
{
    static const char *const files[] = {"data.mdb", "lock.mdb"};
    char path[PATH_MAX];

    for (size_t i = 0; i < 2; i++)
        if (snprintf(path, PATH_MAX, "%s/%s", directory, files[i]) < PATH_MAX) unlink(path);
    rmdir(directory);
}

int ny_env_remove(struct ny_context *ctx, const char *directory)
{
    char draft[PATH_MAX];
    struct stat info;
    int err = ny_env_entry(ctx, directory, S_IFDIR, false, &info);

    if (err) return err;
    remove_leftovers(directory);
    if (snprintf(draft, PATH_MAX, "%s.new", directory) < PATH_MAX) remove_leftovers(draft);
    return NY_OK;
}

bool ny_env_copy_path(char path[PATH_MAX], const char *store, const char *part)
{
    return snprintf(path, PATH_MAX, "%s/%s.small", store, part) < PATH_MAX;
}

void ny_env_remove_copies(struct ny_context *ctx, const char *store)
{
    static const char *const parts[] = {"results", "points"};

    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
        char path[PATH_MAX];
        struct stat info;

        if (ny_env_copy_path(path, store, parts[i]) && !lstat(path, &info) && S_ISDIR(info.st_mode))
            (void)ny_env_remove(ctx, path);
    }
}

int ny_env_create(struct ny_context *ctx, const char *directory, uint32_t environment,
                  const uint8_t id[16])
{
    struct ny_env env = {.lmdb = NULL};
    char draft[PATH_MAX];
    struct stat info;
    int err;

    if (snprintf(draft, PATH_MAX, "%s.new", directory) >= PATH_MAX ||
        snprintf(env.path, PATH_MAX, "%s/data.mdb", directory) >= PATH_MAX)
        return ny_fail_long_path(ctx, directory);
    err = ny_check_byte_order(ctx);
    if (!err) err = ny_env_entry(ctx, draft, S_IFDIR, false, &info);
    if (err) return err;
    remove_leftovers(draft);
    if (mkdir(draft, 0777)) return ny_fail_errno(ctx, "create", draft);
    ny_share(draft);
    err = open_lmdb(&env, ctx, draft, 0, 0);
    if (!err) err = write_first(&env, ctx, environment, id);
    if (env.lmdb) mdb_env_close(env.lmdb);
    if (!err && snprintf(env.path, PATH_MAX, "%s/data.mdb", draft) < PATH_MAX) ny_share(env.path);
    if (!err && rename(draft, directory)) err = ny_fail_errno(ctx, "create", directory);
    if (err) remove_leftovers(draft);
    return err;
}
