#include "stream/row_ids.h"

#include <string.h>

void ny_row_ids_begin(struct ny_row_ids *ids, struct ny_context *ctx, bool of_rows, bool labels)
{
    *ids = (struct ny_row_ids){.ctx = ctx, .ids = of_rows, .labels = labels};
    ny_mutex_init(&ids->lock);
}

void ny_row_ids_release(struct ny_row_ids *ids)
{
    if (!ids->ctx) return;
    ny_names_release(&ids->names, ids->ctx);
    ny_mutex_release(&ids->lock);
    *ids = (struct ny_row_ids){0};
}

/* Moves the names that are left to the front, so that memory is that of a few units. */
static void drop_taken(struct ny_row_ids *ids)
{
    if (!ids->taken) return;
    ids->names.bytes -= ids->taken;
    memmove(ids->names.text, ids->names.text + ids->taken, ids->names.bytes);
    ids->taken = 0;
}

int ny_row_ids_add(struct ny_row_ids *ids, const struct ny_names *names)
{
    int err = NY_OK;

    ny_mutex_lock(&ids->lock);
    drop_taken(ids);
    if (names->count) err = ny_names_append(&ids->names, ids->ctx, names->text, names->count);
    ny_mutex_unlock(&ids->lock);
    return err;
}

int ny_row_ids_take(struct ny_row_ids *ids, size_t count, struct ny_names *names)
{
    int err = NY_OK;

    count *= ny_row_ids_width(ids);
    ny_names_clear(names);
    ny_mutex_lock(&ids->lock);
    if (count > ids->names.count)
        err = NY_BUG(ids->ctx);
    else if (count)
        err = ny_names_append(names, ids->ctx, ids->names.text + ids->taken, count);
    if (!err) {
        ids->taken += names->bytes;
        ids->names.count -= count;
    }
    ny_mutex_unlock(&ids->lock);
    return err;
}
