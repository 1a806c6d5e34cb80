/*
 * Maps of a graph of neighbours: the fit first has its graph (that of --graph, or stages stats,
 * neighbors and graph of its own NAME: neighbors/job.h), opens the largest component of it in
 * memory, and then runs the map's own stages. Only the nodes of that component are embedded.
 *
 * One file a map with a struct ny_graph_map, one line in maps/graph_map.c, and the struct ny_map
 * that it makes in results/map.c. Parts of the NAME beside those of the graph and the map's own:
 *
 *   rows         the row numbers of the component, ascending (u32)
 *   embedding    their coordinates, in that order
 */
#ifndef NY_MAPS_GRAPH_MAP_H
#define NY_MAPS_GRAPH_MAP_H

#include "fit/fit.h"
#include "neighbors/job.h"
#include "results/graph.h"
#include "results/map.h"

struct ny_reader_options;

struct ny_graph_map;

struct ny_graph_fit {
    struct ny_fit base; /* the job, and what a map wants of a fit */
    const struct ny_graph_map *map;
    struct ny_edges edges; /* of the largest component */
};

/* Returns the fit that begins with this job. */
static inline struct ny_graph_fit *ny_graph_fit_of(struct ny_job *job)
{
    return (struct ny_graph_fit *)job;
}

/* The sizes that a plan goes by: those of the graph if it exists, else the largest possible. */
struct ny_map_sizes {
    struct ny_job_sizes job;
    const struct ny_fit_settings *settings;
    uint64_t n, nodes, edges;
    size_t m;             /* landmarks, of maps that have some */
    size_t opening_bytes; /* held beside the edges while they are opened */
};

/* Returns the sizes that begin with these. */
static inline const struct ny_map_sizes *ny_map_sizes_of(const struct ny_job_sizes *job)
{
    return (const struct ny_map_sizes *)job;
}

/* Files of a transform. */
struct ny_new_rows {
    const char *input;
    const struct ny_reader_options *options;
    const char *output;
};

struct ny_graph_map {
    const struct ny_map *map, *other; /* that it makes; another that it makes, or NULL */
    const struct ny_course *course;   /* after the graph; it tells bytes by ny_map_course_bytes() */
    /* Places new rows by a fit that is done, whose edges are open. */
    int (*transform)(struct ny_graph_fit *fit, const struct ny_new_rows *rows);
};

/* Returns how a map is made, or NULL where it is of a kernel, or `map` is NULL. */
const struct ny_graph_map *ny_graph_map_of(const struct ny_map *map);

/* Returns the first stage after those of the graph. */
static inline enum ny_stage_id ny_graph_map_first(const struct ny_graph_map *map)
{
    return map->course->stages[0]->id;
}

/* Runs a fit of such a map, as ny_job_run() does for others. */
int ny_graph_fit_run(struct ny_store *store, const char *name,
                     const struct ny_fit_settings *settings, json_t *record,
                     const struct ny_plan *plan);
/* Plans a fit of such a map, as ny_plan_make() does for others. */
int ny_graph_fit_plan(struct ny_store *store, const struct ny_fit_settings *settings,
                      struct ny_plan *plan);

/* Places new rows by a result that is done. */
int ny_graph_transform(struct ny_store *store, const char *name, const struct ny_new_rows *rows);

/* Returns what all stages of a map hold: the process, and the edges. */
struct ny_stage_bytes ny_map_common(const struct ny_map_sizes *sizes);
/* Fills in what the stages of a map hold, and before them the opening of the graph. */
void ny_map_course_bytes(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes);
/* Sets job.workers to the most with which the stage under way fits the budget; NY_EBUDGET when not
 * even one does. */
int ny_graph_fit_workers(struct ny_graph_fit *fit);
/* The embedding: Y (nodes × p, in the order of the nodes), as parts rows and embedding. Begun anew
 * where it is interrupted. Takes NY_MEM_STORE: ny_graph_embed_bytes(). */
int ny_graph_embed(struct ny_graph_fit *fit, struct ny_matrix Y);
size_t ny_graph_embed_bytes(const struct ny_map_sizes *sizes, size_t limit);

/* The graph under NAME, and its record: json_decref() it. */
int ny_graph_need(struct ny_store *store, const char *name, struct ny_stored_graph *graph,
                  json_t **record);

#endif
