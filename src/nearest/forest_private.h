/* Shared by the files of the forest. */
#ifndef NY_NEAREST_FOREST_PRIVATE_H
#define NY_NEAREST_FOREST_PRIVATE_H

#include "nearest/forest.h"

/* Points from which hyperplanes of a tree, or of a bucket, are made; they fill a panel of the
 * direct and of the byte kernel. */
enum { NY_PIVOTS = 32 };

/* Rows of a bucket that is met at its best, and at most, in leaves. */
enum { NY_BUCKET_LEAVES = 16, NY_BUCKET_LEAVES_MAX = 32 };

/* Returns the most rows of a bucket: 32 leaves. */
static inline size_t ny_bucket_rows_max(size_t leaf)
{
    return NY_BUCKET_LEAVES_MAX * leaf;
}

/* The hyperplane between pivots a and b; a row of V holds a point's values to all pivots. */
struct ny_plane {
    unsigned a, b;
};

/* Returns the place along a plane of a point with values v to the pivots: below 0 it is nearer to
 * a. It is 0 if both values are infinite. */
static inline float ny_plane_side(struct ny_plane plane, const float *v)
{
    float side = v[plane.a] - v[plane.b];

    return side == side ? side : 0; /* ∞ − ∞ */
}

/* Chooses among a few random planes, seeded by `node`, the one along which the points in V
 * (stride NY_PIVOTS) numbered at[0 … count−1] spread most. */
struct ny_plane ny_plane_choose(const struct ny_forest *forest, uint64_t node, const float *V,
                                const uint32_t *at, size_t count);

/* A point's place along a plane. Equal points, too, have an order, so that they can be parted. */
struct ny_item {
    float side;
    uint32_t tie, at;
};
/* Returns the hash of a row that orders it among equal points. */
uint32_t ny_forest_tie(const struct ny_forest *forest, uint64_t row);
/* Tells whether x comes before y: by side, then tie, then place in the list. */
bool ny_item_before(struct ny_item x, struct ny_item y);
/* Sorts items in the order of ny_item_before(). */
void ny_items_sort(struct ny_item *items, size_t count);

/* Pivots, of rows that are held or not. */
int ny_pivots_new(struct ny_columns **pivots, const struct ny_forest *forest, const uint32_t *rows,
                  uint64_t count, uint64_t node);
/* V (whole strips × NY_PIVOTS) of `count` held rows. */
int ny_pivot_values(const struct ny_forest *forest, const struct ny_columns *pivots,
                    struct ny_columns_workspace *workspace, const uint32_t *rows, size_t count,
                    float *V);

/* Buckets of a tree: forest->row and forest->bucket. */
int ny_forest_route(struct ny_forest *forest, uint64_t tree);
/* Returns the bytes that ny_forest_route() charges. */
size_t ny_forest_route_bytes(const struct ny_knn *knn, size_t leaf);
/* Returns the most buckets that a tree of n rows can have, for forest->bucket. */
size_t ny_forest_buckets_max(uint64_t n, size_t leaf);

/* The leaves of one bucket, on a thread of its own. */
struct ny_lower;
/* Makes the workspace of one thread for the lower nodes of a tree. NY_EBUDGET: *out is NULL. */
int ny_lower_new(struct ny_lower **out, struct ny_forest *forest, uint64_t tree);
/* Frees the workspace. */
void ny_lower_free(struct ny_lower *lower);
/* Returns the bytes that ny_lower_new() charges. */
size_t ny_lower_bytes(const struct ny_knn *knn, size_t leaf);
/* Cuts a bucket, whose rows are held, into leaves and offers all pairs of each leaf to the lists.
 */
int ny_lower_bucket(struct ny_lower *lower, size_t bucket);

/* Returns the lock that guards the list of a row: lists 256 rows apart share one. */
static inline struct ny_mutex *ny_forest_lock(struct ny_forest *forest, uint64_t row)
{
    return &forest->lock[row % NY_FOREST_LOCKS];
}

/* Adds to the number of pairs compared so far; threads may call it at once. */
void ny_forest_count(struct ny_forest *forest, double pairs);

/* A queue of work that threads take one after another: items first, first + 1 … end − 1. */
struct ny_queue {
    struct ny_mutex lock;
    uint64_t next, end;
};
/* Takes the next `count` items, from *first on, which may reach beyond the end of the queue; false
 * if none are left. */
bool ny_queue_take(struct ny_queue *queue, uint64_t count, uint64_t *first);

/* Returns the bytes that a walk charges for all of its workers. */
size_t ny_walk_bytes(const struct ny_knn *knn);

#endif
