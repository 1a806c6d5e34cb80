/*
 * Finds the nearest neighbours of every point, nearly all of them, from far fewer than all pairs:
 * hybrid spill trees (Liu, Moore, Gray & Yang 2004) of random projections, and neighbours of
 * neighbours. neighbors/forest.c grows one in stage neighbors, and says how many it found.
 *
 * A tree cuts the points by hyperplanes into leaves, in which all pairs are compared. A hyperplane
 * stands between two pivots, points drawn at random: its projection is ‖x−a‖² − ‖x−b‖², so that it
 * needs nothing but distances (columns/columns.h), which exist for all dtypes, layouts and metrics.
 * Among a few hyperplanes, the one is taken along which the points of the node spread most. There
 * are two kinds of nodes:
 *
 *   upper   at quantiles of a sample, without overlap, down to buckets of some 16 leaves: points
 *           are routed in one pass over the store.
 *   lower   within a bucket, whose points are in memory: at the median of its points, those on
 *           both sides of it that are near to it going both ways (overlap τ, in ranks).
 *
 * A round of refinement compares each point with the neighbours of its neighbours, if one of the
 * two links is new since the last round. It goes row by row in the order of a tree, in which two
 * steps rarely lead out of the rows that are held.
 *
 * A list keeps the least value of a row that comes more than once (nearest/neighbors.h), so that it
 * depends on no order: threads, walks that were killed and are done again, and groups of rows of
 * any size give the same bytes. Any state may therefore be saved and continued.
 *
 * Lists and links are always in memory, since a pair may be of any two rows: they take some 100
 * bytes for each row, and 10 more for each of its neighbours. If the points do not fit in memory,
 * buckets are gathered in the order of the store's blocks, as many at a time as fit
 * (nearest/held.h). A tree then reads the store about as often as the store is larger than the
 * budget. A copy of the points in the order of leaves would have to be written and read for every
 * tree, on a disk that is slower than the page cache.
 *
 * Recall is measured after each tree and each round, on 512 rows whose neighbours are known
 * exactly. The forest grows until the lower end of the 95 % interval of the recall is what was
 * asked for.
 */
#ifndef NY_NEAREST_FOREST_H
#define NY_NEAREST_FOREST_H

#include "base/mutex.h"
#include "nearest/held.h"
#include "nearest/knn.h"

enum {
    NY_FOREST_TREES = 64,  /* at most */
    NY_FOREST_LOCKS = 256, /* lists that one of them guards are so many rows apart */
    NY_RECALL_ROWS = 512   /* whose neighbours are found exactly */
};

struct ny_forest {
    const struct ny_knn *knn;
    size_t leaf; /* rows of one, at most */
    uint64_t seed;
    struct ny_neighbors lists; /* the lists of all rows */
    struct ny_held held;
    struct ny_mutex lock[NY_FOREST_LOCKS];
    uint32_t *row;    /* n: row numbers, bucket by bucket of the tree routed last */
    uint64_t *bucket; /* buckets + 1: where each begins */
    size_t buckets;
    /* For refinement: the lists as the round found them, n × links, and which links were new. */
    size_t links;
    uint32_t *link, *fresh;
    double pairs;                           /* compared so far */
    double checkpoint_s, checkpoint_cost_s; /* when the last one was made, and its seconds */
};

/* Room for at most `held` rows; at least ny_forest_held_least(). */
int ny_forest_new(struct ny_forest *forest, const struct ny_knn *knn, size_t leaf, uint64_t seed,
                  size_t held);
/* Frees all that ny_forest_new() took; right also after a failure, and of a zeroed forest. */
void ny_forest_release(struct ny_forest *forest);
/* Returns the fewest rows that have to be held: those of the largest bucket, or of a row with all
 * the others that it is compared with. */
size_t ny_forest_held_least(const struct ny_knn *knn, size_t leaf);
/* All that is charged, the lists and held rows included. */
size_t ny_forest_bytes(const struct ny_knn *knn, size_t leaf, size_t held);

/* The image that a checkpoint saves: lists, links and which of them are new, in one piece. */
size_t ny_forest_image_bytes(const struct ny_forest *forest);
/* Returns the image from byte `at` on, for writers that take it in pieces of `count` bytes. */
const void *ny_forest_piece(const void *forest, size_t at, size_t count);
/* Returns the image itself, so that a saved one can be read in place. */
void *ny_forest_image(struct ny_forest *forest);
/* Tells whether the row numbers of an image that was read in place are possible. */
bool ny_forest_plausible(const struct ny_forest *forest);

/* Called between groups of buckets or rows, and when interrupted: the first `done` are done. */
typedef int ny_forest_checkpoint_fn(void *arg, uint64_t done);
struct ny_forest_progress {
    uint64_t first; /* a resumed walk goes on there */
    ny_forest_checkpoint_fn *checkpoint;
    void *arg;
};

/* Called after items first … done − 1 of a walk: makes a checkpoint if it is time for one, or if
 * `err` is an interrupt, and then of the items before `first`. Returns err, or the checkpoint's
 * status. */
int ny_forest_pace(struct ny_forest *forest, const struct ny_forest_progress *progress,
                   uint64_t first, uint64_t done, int err);

/* Called outside of the groups of a walk, of whose items the first `done` are done: makes a
 * checkpoint where `err` is an interrupt, and there is something to keep. Returns likewise. */
int ny_forest_keep(struct ny_forest *forest, const struct ny_forest_progress *progress,
                   uint64_t done, int err);

/* Leaves of tree `tree`, 0 …, by buckets. */
int ny_forest_tree(struct ny_forest *forest, uint64_t tree, struct ny_forest_progress progress);
/* Begins a round of refinement: makes the lists as they are the links that ny_forest_round()
 * follows, and marks those that are new. */
void ny_forest_link(struct ny_forest *forest);
/* Runs a round of refinement over the links, row by row in the order of tree 0. NY_EBUDGET, an
 * error of the store, or an interrupt after a checkpoint; done again from progress.first, its lists
 * are the same. */
int ny_forest_round(struct ny_forest *forest, struct ny_forest_progress progress);
/* Runs the last walk, which orders lists by exact distance and makes that their values; rows with
 * fewer than t candidates are compared with all points. Running it twice changes nothing. */
int ny_forest_measure(struct ny_forest *forest, struct ny_forest_progress progress);

/* ---- recall: the share of true neighbours that is found ------------------------------------ */

/* Rows drawn by hash, one from each of as many equal stretches, and how far their t-th neighbour
 * is. A neighbour that is no farther counts as found. */
struct ny_recall_sample {
    struct ny_context *ctx;
    size_t count;
    uint32_t *row;
    char *raw;
    double *last; /* γ‖x−y‖², or 1 − cos */
};
/* One pass over all points for each NY_COMPARE_ROWS of them. */
int ny_recall_sample_new(struct ny_recall_sample *sample, const struct ny_knn *knn, uint64_t seed);
/* Frees the rows of a sample. */
void ny_recall_sample_release(struct ny_recall_sample *sample);
/* Returns the bytes that ny_recall_sample_new() charges, the comparison with all points included.
 */
size_t ny_recall_sample_bytes(const struct ny_knn *knn);

/* The recall of the lists as they are, with its 95 % interval. It is Wilson's; the number of
 * trials is that of independent ones which vary as the rows do. */
struct ny_recall {
    double share, low, high;
};
/* Estimates the recall of `rows` lists of t: `sum` is that of the true neighbours found in each,
 * `squares` that of their squares. */
struct ny_recall ny_recall_of(double sum, double squares, double rows, double t);
/* Measures the exact distances of the listed neighbours of the sample's rows, and counts those that
 * are no farther than the true t-th. It changes which rows are held. */
int ny_forest_recall(struct ny_forest *forest, const struct ny_recall_sample *sample,
                     struct ny_recall *recall);

#endif
