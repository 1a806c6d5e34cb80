/*
 * Judging a result: measures of its embedding, each a file of this folder and a line in the table
 * below. A measure that does not apply says why, and its keys are null; it is an error only where
 * it was asked for by name.
 */
#ifndef NY_EVALUATE_EVALUATE_H
#define NY_EVALUATE_EVALUATE_H

#include "evaluate/row_classes.h"
#include "evaluate/cloud.h"

struct ny_evaluate_settings {
    const char *measures; /* names of measures or of their keys, cut at commas; "all": those that
                           * apply, and "labels": all that need them */
    size_t clusters;      /* 0: as many as the result has already, else as there are classes */
    size_t clusters_to;   /* these are tried, too, and all between; 0: one number is */
    unsigned inits;
    size_t knn_neighbors; /* that vote on the class of a row */
    size_t neighbors;     /* of a row, whose ranks are compared */
    size_t sample;        /* rows whose pairs are looked at, at most */
    const char *against;  /* another result, as a reference; NULL: none */
    uint64_t seed;
    unsigned threads;
    const char *const *typed; /* of the options above, NULL-terminated */
};

struct ny_measure;
struct ny_sample;

/* One evaluation under way. */
struct ny_evaluation {
    struct ny_context *ctx;
    const struct ny_evaluate_settings *settings;
    struct ny_result result;
    struct ny_result reference;    /* the one of option against */
    size_t kept;                   /* clusters that it has of an earlier evaluation; 0: none */
    uint64_t n;                    /* rows that have coordinates, numbered from 0 */
    struct ny_lost unreached;      /* rows of the result that have none */
    struct ny_row_classes classes; /* of its rows */
    struct ny_cloud cloud;
    unsigned workers;
    json_t *report, *reasons;
    const struct ny_measure *measure; /* under way */
    uint32_t *cluster; /* of each row, once there are clusters; to be stored in the end */
    size_t clusters;
    struct ny_sample *sample; /* evaluate/sample.h */
};

struct ny_measure {
    const char *name;
    const char *const *keys; /* of the report, NULL-terminated */
    const char *options;     /* that it goes by: "sample|seed" */
    bool labels;             /* some of them need labels */
    int (*run)(struct ny_evaluation *run);
    /* Counts what it holds besides rows and classes; `run` has the result open, and workers. */
    void (*count)(struct ny_layout *l, const struct ny_evaluation *run);
    /* Columns of its widest product, for what BLAS keeps. */
    size_t (*order)(const struct ny_evaluation *run);
};

/* The measures in the order of reports. A new measure is its file and a line here. */
#define NY_MEASURES(X)                                                                             \
    X(ny_measure_clusters)                                                                         \
    X(ny_measure_knn)                                                                              \
    X(ny_measure_neighborhoods)                                                                    \
    X(ny_measure_distances)                                                                        \
    X(ny_measure_reconstruction)                                                                   \
    X(ny_measure_against)

#define NY_DECLARE_MEASURE(measure) extern const struct ny_measure measure;
NY_MEASURES(NY_DECLARE_MEASURE)

/* ---- outcome.c ---- */

/* Records why a measure, or one key of it (NULL: all), does not apply. */
void ny_evaluate_inapplicable(struct ny_evaluation *run, const char *key, const char *format, ...)
    NY_PRINTF(3, 4);
/* Mean of `count` values and their deviation from it, null of one. */
void ny_evaluate_spread(json_t *report, const char *mean_key, const char *sd_key,
                        const double *values, size_t count);
/* Tells why labels do not tell classes apart; NULL: they do. */
const char *ny_evaluate_no_classes(const struct ny_evaluation *run);

/* ---- evaluate.c ---- */

/* Judges NAME; clusters are stored with it. *report: every key of every measure, and "reasons". */
int ny_evaluate_run(struct ny_store *store, const char *name,
                    const struct ny_evaluate_settings *settings, json_t **report);

#endif
