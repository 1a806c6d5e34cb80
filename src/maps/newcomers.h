/*
 * New points beside a graph: the nearest nodes of each row of a file, in f64, among those of the
 * component that a fit of a graph's map has embedded. All points of the store are read once for
 * every NY_COMPARE_ROWS rows.
 */
#ifndef NY_MAPS_NEWCOMERS_H
#define NY_MAPS_NEWCOMERS_H

#include "maps/graph_map.h"
#include "place/seeker.h"

struct ny_newcomers {
    struct ny_graph_fit *fit;
    struct ny_seeker seeker;
    size_t t;      /* neighbours of a new row: as many as a row of the graph has, or all nodes */
    uint64_t unit; /* unit of new rows that is read next */
    size_t capacity, count; /* the most rows of a batch; rows of the last one */
    uint32_t *node;         /* count × t nodes of the graph, nearest first */
    double *distance;       /* count × t */
};

/* Fills *spec with what the rows of the graph are, and keeps it. ny_newcomers_close() it after a
 * failure, too. */
int ny_newcomers_open(struct ny_newcomers *new, struct ny_graph_fit *fit,
                      struct ny_columns_spec *spec);
/* Frees all that was taken. */
void ny_newcomers_close(struct ny_newcomers *new);
/* Returns how many rows a batch has at most, of so many new rows. */
size_t ny_newcomers_capacity(uint64_t rows);
/* Returns the bytes that ny_newcomers_begin() and ny_newcomers_next() charge. */
size_t ny_newcomers_bytes(const struct ny_newcomers *new, uint64_t rows, unsigned workers);
/* Takes room for the batches of so many new rows, whose type spec holds by now. */
int ny_newcomers_begin(struct ny_newcomers *new, uint64_t rows, unsigned workers);
/* Reads the next batch of rows and finds their neighbours; NY_END after the last. */
int ny_newcomers_next(struct ny_newcomers *new, struct ny_source *rows);

#endif
