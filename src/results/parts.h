/*
 * The parts of a finished result: what is exported, plotted and reported, read in pieces. One line
 * a part in the table of results/parts.c.
 */
#ifndef NY_RESULTS_PARTS_H
#define NY_RESULTS_PARTS_H

#include "model/coordinates.h"
#include "results/rows.h"
#include "model/embedding.h"
#include "model/graph.h"
#include "io/writer.h"

struct ny_result_span;

/* A finished result, opened for reading. */
struct ny_result {
    struct ny_context *ctx;
    struct ny_store *store;
    const char *name;
    struct ny_keep keep; /* of the two */
    const json_t *record, *report;
    const struct ny_map
        *map; /* the map that has made it; NULL for a dictionary alone, or a graph */
    uint64_t n;
    size_t d;                          /* columns of the points, */
    enum ny_dtype dtype;               /* and their type */
    struct ny_result_rows rows;        /* which rows of the store it has */
    struct ny_coordinates coordinates; /* pairs = 0 for a dictionary alone, or a graph */
    bool f64;
    struct ny_embedding_layout layout;
    double *inverse; /* 1/√λ̂ of each pair, for eigenvectors of stored Û Λ̂^½; NULL: 1 */
    void *stored;    /* room for a piece of stored rows where they are wider than what is asked */
    double *axes;    /* columns × pairs, once they are asked for */
    double *mean;    /* columns: what is subtracted before them; behind the axes */
    struct ny_stored_graph graph; /* neighbors = 0 where it has no graph */
    bool only_graph;              /* it is a graph and has no coordinates */
    struct ny_result_span
        *span;             /* it spans all shards (results/shards.h); NULL: one store has it */
    struct ny_largest_walk walk; /* to rows of a graph's largest component */
    /* These were seen last (results/current.h): commits of the store, when clusters were read and
     * when another part was, as the check of clusters is another one; or points without a result.
     */
    uint64_t commits, clusters_commits;
    struct ny_points_state points;
};

/* One part: rows × columns elements, delivered in pieces. */
struct ny_result_part {
    const char *name;
    enum ny_element element; /* but what ny_result_element() says is wider in f64 */
    size_t (*columns)(const struct ny_result *result); /* NULL: one item a row */
    int (*fill)(struct ny_result *result, uint64_t first, size_t count, void *out);
    size_t (*count)(const struct ny_result *result); /* 0: this result has none */
    size_t (*grain)(const struct ny_result *result); /* rows damaged together; NULL: none are */
    bool by_row;                                     /* one for each row of the result */
};

/* Returns the names of all parts, NULL-terminated; "model", "graph", "ids", "columns" and "classes"
 * among them are no tables of numbers. */
const char *const *ny_parts(void);
/* Finds a part by its name; NULL: there is none. */
const struct ny_result_part *ny_part_find(const char *name);

/* Opens a result that is done, else fails with NY_EUSAGE. Close it after a failure, too. */
int ny_result_open(struct ny_result *result, struct ny_store *store, const char *name);
/* Frees what the result holds; the store stays open. */
void ny_result_close(struct ny_result *result);
/* Makes room for at most `rows` rows at a time, before the first fill of a part. NY_EUSAGE where
 * the result has no such part. */
int ny_result_prepare(struct ny_result *result, const struct ny_result_part *part, size_t rows);
/* Reads the last row of each part that is stored with the result. NY_ESTORE where the record speaks
 * of one that is not there, or not for all rows. */
int ny_result_check_parts(struct ny_result *result);
/* Tells whether rows of the part are read as they are stored: then any number of them at a time. */
bool ny_result_as_stored(const struct ny_result *result, const struct ny_result_part *part);
/* Returns the element type of a part: f64 in place of f32 for coordinates and vectors of a fit in
 * f64, and for points of f64. */
enum ny_element ny_result_element(const struct ny_result *result,
                                  const struct ny_result_part *part);

#endif
