/* The room of a pass that sums up. */
#ifndef NY_FIT_SUMS_ROOM_H
#define NY_FIT_SUMS_ROOM_H

#include "columns/tiles.h"
#include "model/degrees.h"
#include "spectral/krylov.h"

/* The sums of a worker over one unit. */
struct ny_sums_share {
    struct ny_partial *sums;
    struct ny_joined_partial *joined;   /* in its place, where columns joined */
    struct ny_krylov_partial *products; /* where the pass makes products */
};

/* Each array has one place for each worker. */
struct ny_sums_room {
    struct ny_tiles tiles;
    struct ny_sums_share *share;
    double *roots;                     /* NY_UNIT_ROWS each; divided: d_i^-½ */
    struct ny_unreached_rows *of_tile; /* those of the last tile */
};

/* The shape of a room: its m columns and tiles, and which sums there are. */
struct ny_sums_shape {
    const struct ny_columns_spec *spec;
    size_t m;
    enum ny_precision precision;
    enum ny_gram_precision gram;
    bool joins; /* only columns that joined are summed, so many: */
    size_t joined;
    size_t width; /* columns of a product; 0: there is none */
    unsigned workers;
};

/* Lays out a room. */
void ny_sums_lay(struct ny_layout *l, struct ny_sums_room *room, const struct ny_sums_shape *shape);

#endif
