/*
 * All pairs of points, as the tiles of a pass: tile t is the rows of a unit u against those of a
 * panel p as columns, both of NY_UNIT_ROWS rows. As pairs are symmetric, a tile serves u and p. A
 * range of panels a … b−1 has the tiles of each panel with units 0 … a−1, which are outside it,
 * then those of each with units p … to the last. So each row of the range meets the others in
 * ascending order.
 */
#ifndef NY_COLUMNS_PAIRS_H
#define NY_COLUMNS_PAIRS_H

#include "columns/tiles.h"

struct ny_pairs {
    struct ny_source source;  /* what the pass reads: its units are tiles, their rows those of u */
    struct ny_source *points; /* units in any order, from several workers */
    uint64_t n, units;
    uint64_t first_panel, end_panel; /* a, b */
};

/* Takes panels first_panel … first_panel + panels − 1. `points` must outlive it. */
void ny_pairs_init(struct ny_pairs *pairs, struct ny_source *points, uint64_t first_panel,
                   uint64_t panels);
/* Returns the tiles of all panels of n points. */
uint64_t ny_pairs_all_tiles(uint64_t n);
/* Returns the tiles of the panels of `pairs`: the units of the pass. */
uint64_t ny_pairs_tiles(const struct ny_pairs *pairs);
/* Returns the unit u of tile t, and its panel p in *panel. */
uint64_t ny_pairs_unit(const struct ny_pairs *pairs, uint64_t t, uint64_t *panel);
/* Returns how many rows the unit has: NY_UNIT_ROWS but in the last one. */
size_t ny_pairs_rows(const struct ny_pairs *pairs, uint64_t unit);
/* Rows of the widest panel of n points. */
size_t ny_panel_rows(uint64_t n);

/* A worker's panel: its rows as columns, and the tile of a unit against them. */
struct ny_pairs_panel {
    uint64_t number;
    struct ny_columns *columns; /* NULL: no panel was taken so far */
    struct ny_tiles tiles;      /* of one worker */
    void *raw;                  /* its rows */
};

/* Lays out one of n points. */
void ny_pairs_panel_lay(struct ny_layout *l, struct ny_pairs_panel *panel,
                        const struct ny_columns_spec *spec, uint64_t n,
                        enum ny_precision precision);
/* Takes the rows of the panel that a tile of the pass is of, unless they are there: *rows is the
 * tile that they are as a unit, or has none where they were there. The tiles that follow have to be
 * told of the columns. */
int ny_pairs_panel_take(struct ny_pairs_panel *panel, const struct ny_pairs *pairs,
                        const struct ny_columns_spec *spec, const struct ny_tile *tile,
                        struct ny_tile *rows);
/* Computes the tile of the unit against the panel. */
int ny_pairs_panel_compute(struct ny_pairs_panel *panel, const struct ny_tile *tile);

#endif
