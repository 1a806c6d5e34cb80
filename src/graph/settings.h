/* The decided settings of a graph of neighbours: options turned into table entries and numbers. */
#ifndef NY_GRAPH_SETTINGS_H
#define NY_GRAPH_SETTINGS_H

#include <math.h>

#include "columns/columns.h"

struct ny_rows;
struct ny_rows_info;

enum { NY_SWEEP_MAX = 32 };

/* How neighbours are found, in the order of the option's words. Auto is whichever takes less work:
 * exact or a tree, which give the same bytes, or where fewer than all are asked for any way. */
enum ny_knn_way { NY_KNN_AUTO, NY_KNN_EXACT, NY_KNN_TREE, NY_KNN_SIEVE };

struct ny_graph_settings {
    const struct ny_kernel *metric; /* euclidean or angular */
    enum ny_scale scale;
    bool scale_typed;               /* the user has chosen it: no columns are warned of */
    struct ny_column_choice choice; /* the columns that count; what is listed is borrowed */
    size_t neighbors;           /* t */
    size_t sweep[NY_SWEEP_MAX]; /* other t to try */
    size_t sweeps, stored;      /* stored: the largest of all */
    double max_distance;        /* ∞: none */
    double distance_quantile;   /* the limit is this quantile of all distances; NaN: none */
    bool mutual;
    bool connect;  /* components are joined */
    enum ny_knn_way way;
    double recall; /* share of the true neighbours to find: 1 of exact and tree */
    uint64_t n;    /* rows of a graph that is under way; 0: those of the store */
    unsigned threads;
};

/* Returns the word for a way. */
const char *ny_knn_way_name(enum ny_knn_way way);
/* Tells whether a tree of boxes can find the neighbours of these points. */
bool ny_graph_takes_tree(const struct ny_graph_settings *settings,
                         const struct ny_rows_info *points);

/* Tells whether --knn auto may take a way that finds fewer than all neighbours. */
static inline bool ny_graph_nearly(const struct ny_graph_settings *settings)
{
    return settings->way == NY_KNN_AUTO && settings->recall < 1;
}

/* Tells whether edges end at some distance. */
static inline bool ny_graph_limited(const struct ny_graph_settings *settings)
{
    return settings->max_distance < INFINITY || !isnan(settings->distance_quantile);
}

/* Completes the settings with the other numbers of neighbours to try (`sweep`, "1,2,3" or NULL)
 * and the number to store, and refuses what the rows of the store cannot give: NY_EUSAGE, NY_EDATA.
 * sweep[] and sweeps are 0 before. */
int ny_graph_settings_decide(struct ny_graph_settings *graph, struct ny_rows *X, const char *sweep);

#endif
