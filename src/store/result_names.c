/*
 * The NAMEs of results: which are allowed, and the lock that a job holds on its own, so that nobody
 * else writes under it.
 */
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "store/store_private.h"

bool ny_name_valid(const char *name)
{
    size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789._-");

    return length > 0 && length <= NY_NAME_MAX && name[length] == '\0' && name[0] != '.' &&
           name[0] != '-';
}

int ny_name_check(struct ny_context *ctx, const char *name)
{
    if (ny_name_valid(name)) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "'%.80s' cannot name a result: use at most %d letters, digits and underscores, "
                   "and dots and dashes behind the first",
                   name, NY_NAME_MAX);
}

struct ny_name_lock {
    struct ny_context *ctx;
    struct ny_lock lock;
};

enum { LOCK_FILE_BYTES = NY_NAME_MAX + 8, WHAT_BYTES = NY_NAME_MAX + 16 };

static void lock_file(char file[LOCK_FILE_BYTES], const char *name)
{
    snprintf(file, LOCK_FILE_BYTES, "name-%s", name);
}

static void say_what(char what[WHAT_BYTES], const char *name)
{
    snprintf(what, WHAT_BYTES, "the result '%s'", name);
}

int ny_name_lock(struct ny_name_lock **out, struct ny_store *store, const char *name)
{
    struct ny_name_lock *lock = NULL;
    char file[LOCK_FILE_BYTES], what[WHAT_BYTES];
    int err = ny_name_check(store->ctx, name);

    *out = NULL;
    if (err || store->in_memory) return err; /* nobody else has it */
    err = ny_store_writable(store);
    if (err) return err;
    lock = ny_calloc(store->ctx, NY_MEM_STORE, 1, sizeof(*lock));
    if (!lock) return NY_EBUDGET;
    lock->ctx = store->ctx;
    lock_file(file, name);
    say_what(what, name);
    err = ny_lock_try(&lock->lock, store, file, what);
    if (err) {
        ny_free(store->ctx, lock);
        return err;
    }
    lock->lock.removed_after = true;
    *out = lock;
    return NY_OK;
}

void ny_name_unlock(struct ny_name_lock *lock)
{
    if (!lock) return;
    ny_lock_release(&lock->lock);
    ny_free(lock->ctx, lock);
}

bool ny_name_held(struct ny_store *store, const char *name)
{
    char file[LOCK_FILE_BYTES];

    if (ny_name_check(store->ctx, name) || store->in_memory) return false;
    lock_file(file, name);
    return ny_lock_held(store, file);
}

int ny_name_refuse(struct ny_store *store, const char *name)
{
    char file[LOCK_FILE_BYTES], what[WHAT_BYTES];
    int err = ny_name_check(store->ctx, name);

    if (err) return err;
    lock_file(file, name);
    say_what(what, name);
    return ny_lock_refuse(store, file, what);
}
