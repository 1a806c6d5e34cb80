/*
 * The job of the verb graph: stats → neighbors → graph → done, resumed at its last checkpoint like
 * that of a fit (job/job.h); and the first stages of a fit that makes its own graph. Parts of the
 * NAME:
 *
 *   job          the record
 *   geometry     centre[d], factor[d], γ
 *   lists.0/1    image of the candidates of a range of rows, two slots in turn; gone when done
 *   neighbors    n × stored row numbers (u32), nearest first; NY_NO_ROW: none
 *   distances    n × stored, f32
 *   joins.0/1    --connect: image of the bridges and of a round, two slots in turn; gone when done
 *   bridges      --connect: edges that join components (struct ny_bridge)
 *   components   n component numbers (u32); 0 is the largest
 */
#ifndef NY_NEIGHBORS_JOB_H
#define NY_NEIGHBORS_JOB_H

#include "graph/settings.h"
#include "job/job.h"
#include "job/plan.h"
#include "model/graph.h"

/* The plan: memory by stage, and the least with which it runs. */
struct ny_graph_plan {
    size_t memory_bytes, memory_min_bytes, stage_bytes[NY_STAGE_DONE];
    unsigned workers;
    uint64_t range_panels;   /* exact: of NY_UNIT_ROWS rows, whose lists are held at a time */
    size_t paired_rows;      /* exact: in memory, all or 0 */
    size_t held_rows;        /* sieve: in memory at a time */
    uint64_t tree_panels;    /* tree: all of them, or fewer: by a file; 0: there is no tree */
    size_t tree_least_bytes; /* auto: the least budget with a tree, where one would be far less work
                              * and this budget has no room for it; else 0 */
    bool fits;
    enum ny_knn_way way;   /* auto: some rows are to show which it is, */
    enum ny_knn_way other; /* auto: taken unless a tree is less work, or a sieve tells nothing */
    uint64_t disk_bytes, result_bytes, scratch_bytes; /* as of a plan */
    double pairs, flops;                              /* distances, and what they take */
    double tile_pairs;                                /* of the largest tile */
    double way_ns;      /* of one thread, where it is known; 0: pairs take their products */
    double basis_flops; /* a sieve: of one thread, before all others begin */
    bool tree_less;     /* a tree is likely to be less work than all pairs */
    double entries;     /* of the lists */
    double value_bytes; /* of the rows as they are stored */
    double measured;    /* products of candidates that are measured in f64, beside way_ns */
    enum ny_way tiles;
    unsigned visits; /* passes that choose and weigh columns */
    double values;   /* values that all rows have together */
};
/* Notes that a larger budget would hold a tree, where that would be far less work. */
void ny_graph_plan_note(struct ny_context *ctx, const struct ny_graph_plan *plan);
/* Plans a graph of the store's points under the memory limit of the context. A plan that does not
 * fit is no error: plan->fits is false. */
int ny_graph_plan_make(struct ny_rows *X, const struct ny_graph_settings *settings,
                       struct ny_graph_plan *plan);
/* Adds it to the plan of the fit that makes the graph, with the rates of that; `seconds` apart. */
void ny_graph_plan_add(const struct ny_graph_plan *graph, struct ny_plan *plan);

/* Runs from the record's stage to `after`, the first stage that is not the graph's; the caller
 * holds the NAME's lock. */
int ny_graph_job_run(struct ny_rows *X, const struct ny_keep *keep,
                     const struct ny_graph_settings *settings, struct ny_record record,
                     enum ny_stage_id after);

#endif
