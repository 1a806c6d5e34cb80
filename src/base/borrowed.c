/* A list of the rows that contexts of this process have borrowed: a few, which are looked up once a
 * block. */
#include "base/borrowed.h"

#include "base/context_private.h"
#include "base/mutex.h"

static struct ny_borrowed *all; /* under the lock of the process */

/* Takes an entry out of the list, where it is there. */
static void unlink_entry(const struct ny_borrowed *entry)
{
    struct ny_borrowed **at = &all;

    while (*at && *at != entry)
        at = &(*at)->next;
    if (*at) *at = entry->next;
}

void ny_borrow_rows(struct ny_context *ctx, uint64_t store, const void *rows)
{
    struct ny_borrowed *mine = &ctx->borrowed;
    bool mapped = rows && ny_memory_is_file(rows);

    ny_shared_lock(NY_SHARED_BORROWED);
    unlink_entry(mine);
    *mine = (struct ny_borrowed){{rows, mapped}, store, all};
    if (rows) all = mine;
    ny_shared_unlock(NY_SHARED_BORROWED);
}

struct ny_borrowed_rows ny_borrowed_rows(uint64_t store)
{
    struct ny_borrowed_rows rows = {NULL, false};

    ny_shared_lock(NY_SHARED_BORROWED);
    for (const struct ny_borrowed *entry = all; entry && !rows.at; entry = entry->next)
        if (entry->store == store) rows = entry->rows;
    ny_shared_unlock(NY_SHARED_BORROWED);
    return rows;
}
