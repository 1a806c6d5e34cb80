#include "stream/left_out.h"

#include "base/memory.h"

void ny_left_out_begin(struct ny_left_out *list, struct ny_context *ctx)
{
    *list = (struct ny_left_out){.ctx = ctx};
    ny_mutex_init(&list->lock);
}

void ny_left_out_release(struct ny_left_out *list)
{
    if (!list->ctx) return;
    ny_free(list->ctx, list->row);
    ny_mutex_release(&list->lock);
    *list = (struct ny_left_out){0};
}

static int grow(struct ny_left_out *list)
{
    const size_t first = 1024;
    size_t room = list->room ? 2 * list->room : first;
    int err = ny_resize_array(list->ctx, NY_MEM_IO, &list->row, room, sizeof(*list->row));

    if (!err) list->room = room;
    return err;
}

int ny_left_out_reach(struct ny_left_out *list, uint64_t row)
{
    int err = NY_OK;

    ny_mutex_lock(&list->lock);
    for (; !err && list->seen < row; list->seen++) {
        if (list->count == list->room) err = grow(list);
        if (!err) list->row[list->count++] = list->seen;
    }
    if (!err) list->seen = row + 1;
    ny_mutex_unlock(&list->lock);
    return err;
}

uint64_t ny_left_out_at(struct ny_left_out *list, size_t k)
{
    uint64_t row;

    ny_mutex_lock(&list->lock);
    row = k < list->count ? list->row[k] : UINT64_MAX;
    ny_mutex_unlock(&list->lock);
    return row;
}
