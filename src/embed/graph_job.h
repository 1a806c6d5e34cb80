/*
 * The job of the verb graph: stats → neighbors → graph → done, resumed at its last checkpoint like
 * that of a fit (embed/job.h). Parts of its NAME:
 *
 *   job          the record, kind "graph"
 *   geometry     centre[d], factor[d], γ
 *   lists.0/1    image of the candidates of a range of rows, two slots in turn; gone when done
 *   neighbors    n × stored row numbers (u32), nearest first; NY_NO_ROW: none
 *   distances    n × stored, f32
 *   components   n component numbers (u32); 0 is the largest
 */
#ifndef NY_EMBED_GRAPH_JOB_H
#define NY_EMBED_GRAPH_JOB_H

#include "embed/job.h"

enum { NY_SWEEP_MAX = 32 };

struct ny_graph_settings {
    const struct ny_kernel *metric; /* euclidean or angular */
    enum ny_scale scale;
    size_t neighbors;         /* t */
    size_t sweep[NY_SWEEP_MAX]; /* other t to try */
    size_t sweeps, stored;    /* stored: the largest of all */
    double max_distance;      /* ∞: none */
    double distance_quantile; /* the limit is this quantile of all distances; NaN: none */
    bool mutual;
    unsigned threads;
};

/* The plan: memory by stage, and the least with which it runs. */
struct ny_graph_plan {
    size_t memory_bytes, memory_min_bytes;
    unsigned workers;
    uint64_t range_panels; /* of NY_UNIT_ROWS rows, whose lists are held at a time */
    bool fits;
    uint64_t disk_bytes;
    double flops;
};
int ny_graph_plan_make(struct ny_store *store, const struct ny_graph_settings *settings,
                       struct ny_graph_plan *plan);

/* Runs from the record's stage to the end; the caller holds the NAME's lock. */
int ny_graph_job_run(struct ny_store *store, const char *name,
                     const struct ny_graph_settings *settings, json_t *record);
/* A new record of kind "graph". */
json_t *ny_graph_record_new(const struct ny_points_info *points, json_t *options);

/* Edges end at some distance. */
bool ny_graph_limited(const struct ny_graph_settings *settings);
/* Where neighbours are stored, and which columns of them: for export. */
struct ny_embedding_layout;
struct ny_embedding_layout ny_graph_layout(const char *part, uint64_t n, size_t stored);

#endif
