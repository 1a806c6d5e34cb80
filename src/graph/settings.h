/* The decided settings of a graph of neighbours: options turned into table entries and numbers. */
#ifndef NY_GRAPH_SETTINGS_H
#define NY_GRAPH_SETTINGS_H

#include <math.h>

#include "columns/columns.h"

struct ny_store;

enum { NY_SWEEP_MAX = 32 };

struct ny_graph_settings {
    const struct ny_kernel *metric; /* euclidean or angular */
    enum ny_scale scale;
    struct ny_column_choice choice; /* the columns that count; what is listed is borrowed */
    size_t neighbors;           /* t */
    size_t sweep[NY_SWEEP_MAX]; /* other t to try */
    size_t sweeps, stored;      /* stored: the largest of all */
    double max_distance;        /* ∞: none */
    double distance_quantile;   /* the limit is this quantile of all distances; NaN: none */
    bool mutual;
    bool connect;  /* components are joined */
    bool forest;   /* nearly all neighbours: graph/forest.h */
    size_t leaf;   /* rows of its leaves, at most */
    double recall; /* share of the true neighbours that it is to find */
    uint64_t seed;
    unsigned threads;
};

/* Tells whether edges end at some distance. */
static inline bool ny_graph_limited(const struct ny_graph_settings *settings)
{
    return settings->max_distance < INFINITY || !isnan(settings->distance_quantile);
}

/* Completes the settings with the other numbers of neighbours to try (`sweep`, "1,2,3" or NULL)
 * and the number to store, and refuses what the rows of the store cannot give: NY_EUSAGE, NY_EDATA.
 * sweep[] and sweeps are 0 before. */
int ny_graph_settings_decide(struct ny_graph_settings *graph, struct ny_store *store,
                             const char *sweep);

#endif
