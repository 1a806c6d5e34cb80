/*
 * A set: several stores read as one (store/store.h). Its handle has no environments of its own;
 * whoever made it opens the stores one by one. The readers of points and of results ask here which
 * store has what they want, and then call themselves with that one.
 */
#include "store/store_private.h"

const struct ny_set *ny_store_set(const struct ny_store *store)
{
    return store->results ? NULL : store->set;
}

const struct ny_set *ny_store_lent(const struct ny_store *store)
{
    return store->set;
}

int ny_store_lend_set(struct ny_store *store, const char *path, const struct ny_set *set)
{
    store->shown = ny_strdup(store->ctx, path);
    if (!store->shown) return NY_EBUDGET;
    store->rows.name = store->shown;
    store->set = set;
    return NY_OK;
}

int ny_set_store(struct ny_store *store, size_t k, struct ny_store **out)
{
    int err = store->set->open(store->set->arg, k, out);

    if (!err && (*out)->unprepared != store->unprepared) (*out)->unprepared = store->unprepared;
    return err;
}

int ny_set_place(const struct ny_set *set, uint64_t row, size_t *k)
{
    *k = ny_range_of(set->first, set->count, row);
    return set->count && row < set->first[set->count] ? NY_OK : NY_EINTERNAL;
}

int ny_set_each(struct ny_store *store, uint64_t first, size_t count, ny_set_fn *each, void *arg)
{
    const struct ny_set *set = store->set;
    size_t done = 0, k = 0;
    int err = NY_OK;

    if (count > set->points.rows.n || first > set->points.rows.n - count) return NY_BUG(store->ctx);
    while (!err && done < count) {
        struct ny_store *part;
        uint64_t row = first + done, left;

        err = ny_set_place(set, row, &k);
        if (!err) err = ny_set_store(store, k, &part);
        if (err) return err;
        left = set->first[k + 1] - row;
        if (left > count - done) left = count - done;
        err = each(arg, part, k, (struct ny_set_rows){row - set->first[k], (size_t)left, done});
        done += (size_t)left;
    }
    return err;
}
