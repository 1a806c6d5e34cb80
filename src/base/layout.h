/*
 * Layout: the buffers of a computation, declared once. The function that lays them out is both its
 * plan and its allocation, so that no plan can differ from what runs.
 *
 *     static void lay(struct sums *sums, struct ny_layout *l, size_t m)
 *     {
 *         sums->s = ny_lay(l, NY_MEM_GRAM, m, sizeof(double));
 *         sums->G = ny_lay(l, NY_MEM_GRAM, m * m, sizeof(double));
 *     }
 *
 * A layout with a context allocates; ny_layout_free() gives all of it back, in any case. The first
 * failure is kept in `err`, and what is laid out behind it is NULL, so that one check at the end
 * serves. A layout without a context, {0}, counts: it gives NULL and adds up what an allocation
 * would be charged, by purpose, and the most of it at one time.
 *
 * A part that is held for a while only lies between a mark and ny_layout_back(), as on a stack. A
 * layout belongs to one thread.
 */
#ifndef NY_BASE_LAYOUT_H
#define NY_BASE_LAYOUT_H

#include "base/memory.h"

/* Bytes by purpose. */
struct ny_charges {
    size_t of[NY_PURPOSES];
};

static inline size_t ny_charges_total(const struct ny_charges *bytes)
{
    size_t sum = 0;

    for (int p = 0; p < NY_PURPOSES; p++)
        sum += bytes->of[p];
    return sum;
}

static inline struct ny_charges ny_charges_larger(struct ny_charges a, struct ny_charges b)
{
    return ny_charges_total(&a) > ny_charges_total(&b) ? a : b;
}

struct ny_layout {
    struct ny_context *ctx; /* NULL: it counts */
    int err;                /* the first failure, NY_EBUDGET */
    void *last;             /* the block that was laid out last; each leads to that before it */
    struct ny_charges now, most; /* of one that counts: now, and when it was most */
};

/* Lays out `count` zeroed elements of `size` bytes, aligned to 64 bytes. NULL where the layout
 * counts or has failed, now or before. */
void *ny_lay(struct ny_layout *l, enum ny_purpose purpose, size_t count, size_t size);
/* Lays out a structure of `size` bytes; `spare`, where there is none, so that what fills it in
 * need not ask. */
void *ny_lay_struct(struct ny_layout *l, enum ny_purpose purpose, size_t size, void *spare);
/* Returns `object` where the layout has allocated all of it, else NULL. */
static inline void *ny_laid(const struct ny_layout *l, void *object)
{
    return l->ctx && !l->err ? object : NULL;
}
/* Returns the most bytes that a layout has counted. */
static inline size_t ny_layout_most(const struct ny_layout *l)
{
    return ny_charges_total(&l->most);
}
/* Makes a block of a layout that allocates shorter; it may move. NULL after a failure. */
void *ny_lay_shrink(struct ny_layout *l, enum ny_purpose purpose, void *block, size_t bytes);
/* Adds bytes that are charged elsewhere to what a layout has counted. Of one that allocates
 * nothing. */
void ny_layout_add(struct ny_layout *l, enum ny_purpose purpose, size_t bytes);
/* Counts a block of ny_alloc() that is held for a while only: it is given back. */
void ny_lay_peak(struct ny_layout *l, enum ny_purpose purpose, size_t count, size_t size);

/* A place in a layout. */
struct ny_layout_mark {
    void *last;
    struct ny_charges now;
};
struct ny_layout_mark ny_layout_mark(const struct ny_layout *l);
/* Gives back all that was laid out since. */
void ny_layout_back(struct ny_layout *l, const struct ny_layout_mark *mark);

/* Gives all of it back; the layout can be used again. */
void ny_layout_free(struct ny_layout *l);
/* Likewise, of a function that is at its end: returns the first failure. */
int ny_layout_end(struct ny_layout *l);

#endif
