#include "base/layout.h"

#include <stdint.h>

#include "base/memory_private.h"

static void count(struct ny_layout *l, enum ny_purpose purpose, size_t bytes)
{
    if (__builtin_add_overflow(l->now.of[purpose], bytes, &l->now.of[purpose]))
        l->now.of[purpose] = SIZE_MAX / (2 * NY_PURPOSES); /* more than any budget */
    if (ny_charges_total(&l->now) > ny_charges_total(&l->most)) l->most = l->now;
}

void *ny_lay(struct ny_layout *l, enum ny_purpose purpose, size_t elements, size_t size)
{
    size_t bytes;
    void *block;

    if (!l->ctx) {
        if (__builtin_mul_overflow(elements, size, &bytes) || bytes > SIZE_MAX / 4)
            bytes = SIZE_MAX / (2 * NY_PURPOSES);
        count(l, purpose, ny_block_charge(bytes));
        return NULL;
    }
    if (l->err) return NULL;
    block = ny_calloc(l->ctx, purpose, elements, size);
    if (!block) {
        l->err = NY_EBUDGET;
        return NULL;
    }
    *ny_block_link(block) = l->last;
    l->last = block;
    return block;
}

void *ny_lay_struct(struct ny_layout *l, enum ny_purpose purpose, size_t size, void *spare)
{
    void *block = ny_lay(l, purpose, 1, size);

    return block ? block : spare;
}

void *ny_lay_shrink(struct ny_layout *l, enum ny_purpose purpose, void *block, size_t bytes)
{
    void **at = &l->last, *before = *ny_block_link(block), *shrunk;

    while (*at != block)
        at = ny_block_link(*at);
    shrunk = ny_resize(l->ctx, purpose, block, bytes);
    if (!shrunk) {
        l->err = NY_EBUDGET;
        return NULL;
    }
    *ny_block_link(shrunk) = before;
    *at = shrunk;
    return shrunk;
}

void ny_layout_add(struct ny_layout *l, enum ny_purpose purpose, size_t bytes)
{
    if (!l->ctx) count(l, purpose, bytes);
}

struct ny_layout_mark ny_layout_mark(const struct ny_layout *l)
{
    return (struct ny_layout_mark){l->last, l->now};
}

void ny_layout_back(struct ny_layout *l, const struct ny_layout_mark *mark)
{
    while (l->last != mark->last) {
        void *before = *ny_block_link(l->last);

        ny_free(l->ctx, l->last);
        l->last = before;
    }
    l->now = mark->now;
}

void ny_lay_peak(struct ny_layout *l, enum ny_purpose purpose, size_t elements, size_t size)
{
    struct ny_layout_mark mark = ny_layout_mark(l);

    ny_lay(l, purpose, elements, size);
    ny_layout_back(l, &mark);
}

void ny_layout_free(struct ny_layout *l)
{
    ny_layout_back(l, &(struct ny_layout_mark){0});
    l->err = NY_OK;
    l->most = (struct ny_charges){0};
}

int ny_layout_end(struct ny_layout *l)
{
    int err = l->err;

    ny_layout_free(l);
    return err;
}
