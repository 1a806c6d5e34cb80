/* Shared by the files of isomap, which maps/isomap.c describes. */
#ifndef NY_MAPS_ISOMAP_PRIVATE_H
#define NY_MAPS_ISOMAP_PRIVATE_H

#include "maps/graph_map.h"
#include "graph/sweep.h"

struct ny_isomap {
    struct ny_graph_fit *fit;
    size_t m, p, samples; /* samples: pairs of each landmark with a hashed node */
    struct ny_layout own;
    uint64_t *rows;     /* of the landmarks, in order of selection */
    uint32_t *landmark; /* landmark that is source i, for m sources */
    uint32_t *nodes;    /* node of source i, for m sources */
    float *state; /* sweep 1: m × (m + samples), a row a source: Δ to the sources, and to the hashed
                   * nodes */
    double *map;        /* part "map", (m + 1) × p */
    struct ny_matrix P; /* its rows but the first, m × p */
    struct ny_matrix Y; /* the embedding, nodes × p */
};

/* Sets the order of the sweeps over the landmarks of these rows. */
int ny_isomap_order(struct ny_graph_fit *fit, const uint64_t *rows, size_t m, uint32_t *order);
/* Opens the state that stages after select begin with. For a finished result, of whose sweeps
 * nothing is kept, their order is found again. ny_isomap_close() it after a failure, too. */
int ny_isomap_open(struct ny_isomap *map, struct ny_graph_fit *fit, bool finished);
/* Frees what ny_isomap_open() and the stages after it have taken. */
void ny_isomap_close(struct ny_isomap *map);

/* Loads the part "map". */
int ny_isomap_load_map(struct ny_isomap *map);

/* Fails as some node is not reached: NY_ENUMERIC where a path may be longer than f32 tells, else
 * NY_ESTORE. */
int ny_isomap_not_reached(const struct ny_isomap *map);

/* Returns how many hashed nodes each of m landmarks is paired with. */
size_t ny_isomap_samples(size_t m);
/* Returns the s-th node that is paired with source i. */
uint32_t ny_isomap_sampled(const struct ny_isomap *map, size_t i, size_t s);
/* Returns the bytes of the state of sweep 1. */
size_t ny_isomap_state_bytes(size_t m);
/* Finds the paths from all landmarks, batch by batch from source `first` on. */
int ny_isomap_sweep(struct ny_isomap *map, size_t first,
                    int (*fold)(void *map, const struct ny_swept *batch),
                    int (*checkpoint)(void *map, uint64_t sources));

/* Tells whether the method keeps Δ, all path lengths from the landmarks, on disk: column sampling
 * does (maps/isomap_columns.c). */
bool ny_isomap_keeps_columns(const struct ny_fit_settings *settings);
/* Fails with NY_EBUDGET if the disk has no room for Δ. */
int ny_isomap_check_room(const struct ny_isomap *map);
/* Puts the distances of such a batch into part "paths", in as many commits as the budget makes of
 * it. */
int ny_isomap_keep(const struct ny_isomap *map, uint64_t batch, const float *distances);
/* Calls `fold` with the kept distances of all batches in order, as a sweep would. Those that are in
 * memory are freed; of those in the store NY_ESTORE tells that a chunk is missing or short. */
int ny_isomap_replay(struct ny_isomap *map, int (*fold)(void *, const struct ny_swept *));
/* Sums G′ = C′ᵀC′ of the kept columns into the accumulator of the fit, in a pass with checkpoints;
 * a resumed job goes on where its last one was. */
int ny_isomap_gram(struct ny_isomap *map);
/* Counts what it holds, the accumulator included. */
void ny_isomap_gram_count(struct ny_layout *l, size_t m, unsigned workers, size_t limit);

/* Sources of the pairs that distances are compared over, at most. */
enum { NY_ISOMAP_SOURCES = 16 * NY_LANES };
/* Returns how many sources there are for so many nodes. */
size_t ny_isomap_sources(uint64_t nodes);
/* Reports how well Y, which is whole, keeps the paths (maps/isomap_measure.c). */
int ny_isomap_measure(const struct ny_isomap *map);

/* Counts what all stages after select hold. */
void ny_isomap_common(struct ny_layout *l, const struct ny_map_sizes *sizes);
/* Returns the seconds of the paths from so many sources. */
double ny_isomap_sweep_s(const struct ny_map_sizes *sizes, const struct ny_calibration *rates,
                         size_t sources);

extern const struct ny_stage ny_stage_isomap_solve, ny_stage_isomap_unfold;
/* Places new rows by the paths through their nearest nodes (maps/isomap_transform.c); `transform`
 * of ny_graph_map_isomap. */
int ny_isomap_transform(struct ny_graph_fit *fit, struct ny_new_rows *rows);

#endif
