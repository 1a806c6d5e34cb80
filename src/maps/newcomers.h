/*
 * New points beside a graph: the nearest nodes of each row of a file, in f64, among those of the
 * component that a fit of a graph's map has embedded. All points of the store are read once for
 * every NY_COMPARE_ROWS rows.
 */
#ifndef NY_MAPS_NEWCOMERS_H
#define NY_MAPS_NEWCOMERS_H

#include "maps/graph_map.h"
#include "graph/knn.h"
#include "io/reader.h"

struct ny_newcomers {
    struct ny_graph_fit *fit;
    struct ny_geometry *geometry;
    struct ny_columns_spec spec;
    struct ny_knn knn;
    size_t t; /* neighbours of each: as many as the graph has, or all nodes */
    struct ny_reader *reader;
    struct ny_source *rows;
    uint64_t unit; /* of `rows`, to be read next */
    size_t slots;
    char *raw;              /* NY_COMPARE_ROWS rows */
    struct ny_measured found;
    size_t capacity, count; /* rows of a batch; those of the last one */
    uint32_t *node;         /* count × t nodes of the graph, nearest first */
    double *distance;       /* count × t */
};

/* ny_newcomers_close() it after a failure, too. */
int ny_newcomers_open(struct ny_newcomers *new, struct ny_graph_fit *fit, const char *input,
                      const struct ny_reader_options *options);
/* Closes the reader and frees all that was taken. */
void ny_newcomers_close(struct ny_newcomers *new);
/* The next batch of rows; NY_END after the last. */
int ny_newcomers_next(struct ny_newcomers *new);
/* Number of rows of the file; NY_ROWS_COUNTED where only its end tells. */
uint64_t ny_newcomers_rows(const struct ny_newcomers *new);

#endif
