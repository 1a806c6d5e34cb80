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

/* The file of a NAME's lock, and what it is called in messages. */
struct words {
    char file[NY_NAME_MAX + 8], what[NY_NAME_MAX + 16];
};

static struct words words_of(const char *name)
{
    struct words words;

    snprintf(words.file, sizeof(words.file), "name-%.*s", NY_NAME_MAX, name);
    snprintf(words.what, sizeof(words.what), "the result '%.*s'", NY_NAME_MAX, name);
    return words;
}

int ny_name_lock(struct ny_name_lock **out, struct ny_store *store, const char *name)
{
    struct ny_name_lock *lock = NULL;
    struct words words;
    int err = ny_name_check(store->ctx, name);

    *out = NULL;
    if (err || store->in_memory) return err; /* nobody else has it */
    err = ny_store_writable(store);
    if (err) return err;
    lock = ny_calloc(store->ctx, NY_MEM_STORE, 1, sizeof(*lock));
    if (!lock) return NY_EBUDGET;
    lock->ctx = store->ctx;
    words = words_of(name);
    err = ny_lock_try(&lock->lock, store, words.file, words.what);
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
    if (ny_name_check(store->ctx, name) || store->in_memory) return false;
    return ny_lock_held(store, words_of(name).file);
}

int ny_name_refuse(struct ny_store *store, const char *name)
{
    const struct words words = words_of(name);
    int err = ny_name_check(store->ctx, name);

    return err ? err : ny_lock_refuse(store, words.file, words.what);
}
