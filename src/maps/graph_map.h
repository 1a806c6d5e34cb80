/*
 * Declares maps of a graph of neighbours, isomap and eigenmaps. A fit of such a map first has its
 * graph: that of --graph, or the one that it makes by running the stages of the verb graph (stats,
 * neighbors, graph: neighbors/job.h) in its own NAME. It then opens the largest component of the
 * graph in memory, and runs the map's own stages on it. Only the nodes of that component are
 * embedded: the rows of the embedding are those of the component (results/rows.h).
 *
 * Isomap (maps/isomap.c) sweeps over the landmarks twice, once for W and once for Y = C′P, so that
 * C need not be there as a whole; where the budget has room for it, it is kept from the first sweep
 * and there is no second one. A sweep is a pass whose units are batches of 16 sources that are
 * near one another, or of 8, 4 or 1 where the budget is small (graph/sweep.h). Landmarks of
 * --select maxmin come from a search that looks only at the nodes that are nearer to the new
 * landmark than to all earlier ones. The negative eigenvalues are counted by the signs of LDLᵀ if
 * only a few pairs of many landmarks were found, since the whole spectrum would take several times
 * as long; their share of all eigenvalues is then not known, and is null in the report.
 *
 * New points come into a map by their nearest nodes (maps/graph_place.h), for which all points of
 * the store are read: into isomap by paths through these nodes, into eigenmaps by Nyström's
 * formula. A point at distance 0 from a row gets what that row has. It is not taken as a neighbour
 * of itself, since the graph of eigenmaps has no loops.
 *
 * Each map is one file with a struct ny_graph_map; the struct ny_map that it makes is in
 * model/map.c, and one line of model/map.h lists both. Its NAME has two parts besides those of
 * the graph and the map's own:
 *
 *   rows         the row numbers of the component, ascending (u32)
 *   embedding    their coordinates, in that order
 */
#ifndef NY_MAPS_GRAPH_MAP_H
#define NY_MAPS_GRAPH_MAP_H

#include "fit/fit.h"
#include "graph/pages.h"
#include "graph/sweep.h"
#include "neighbors/job.h"
#include "model/graph.h"
#include "model/map.h"

struct ny_fitted;
struct ny_graph_map;
struct ny_new_rows;

struct ny_graph_fit {
    struct ny_fit base; /* the job, and what a map wants of a fit */
    const struct ny_graph_map *map;
    const struct ny_named_graph *other; /* of whose graph the map is; NULL: of its own */
    struct ny_edges edges;              /* edges of the largest component */
    size_t lanes;                       /* of a batch of paths, in the stage under way */
    float *kept;                        /* path lengths that a later stage needs; NULL: none */
    size_t kept_bytes;
    unsigned ways;  /* enum ny_map_ways */
    unsigned order; /* the version of the order of the nodes (graph/order.h) */
};

/* Returns the fit that begins with this job. */
static inline struct ny_graph_fit *ny_graph_fit_of(struct ny_job *job)
{
    return (struct ny_graph_fit *)job;
}

/* The sizes that a plan goes by: those of the graph if it exists, else the largest possible. */
struct ny_map_sizes {
    struct ny_job_sizes job;
    const struct ny_graph_map *map;
    const struct ny_fit_settings *settings;
    struct ny_stored_graph graph; /* before it is opened */
    uint64_t n, nodes, edges;
    size_t reading_bytes; /* kept beside what is read */
    size_t m;             /* landmarks; 0 for a map without any */
    unsigned ways;        /* that the map could do with: enum ny_map_ways */
    bool paged;           /* edges are in pages; ny_map_way() decides it, */
    size_t lanes;         /* and how many sources a batch of paths has */
    size_t kept;          /* bytes of path lengths that are kept between stages; ny_map_keep() */
};

/* Returns the sizes that begin with these. */
static inline const struct ny_map_sizes *ny_map_sizes_of(const struct ny_job_sizes *job)
{
    return (const struct ny_map_sizes *)job;
}

/* Ways of a map: where memory is scarce, paths from fewer than NY_LANES sources at a time, and
 * edges in pages; where there is much, path lengths that a later stage would find again are kept.
 */
enum ny_map_ways { NY_MAP_FEW_LANES = 1, NY_MAP_PAGED = 2, NY_MAP_KEPT = 4 };
/* Returns the bytes of all distances that a sweep finds, in whole batches of NY_LANES sources. */
static inline uint64_t ny_sweep_bytes(uint64_t nodes, size_t sources)
{
    return (sources + NY_LANES - 1) / NY_LANES * nodes * NY_LANES * sizeof(float);
}

struct ny_graph_map {
    const struct ny_map *map,
        *other; /* the map that it makes; a second map that it makes, or NULL */
    const struct ny_course
        *course; /* stages after those of the graph; `bytes` is ny_map_course_bytes() */
    /* Returns in which other ways a fit could do, of enum ny_map_ways; NULL: in none. */
    unsigned (*ways)(const struct ny_fit_settings *settings);
    /* Places new rows by a fit that is done, whose edges are open. */
    int (*transform)(struct ny_graph_fit *fit, struct ny_new_rows *rows);
};

/* Returns how a map is made, or NULL where it is of a kernel, or `map` is NULL. */
const struct ny_graph_map *ny_graph_map_of(const struct ny_map *map);

/* Returns the first stage after those of the graph. */
static inline enum ny_stage_id ny_graph_map_first(const struct ny_graph_map *map)
{
    return map->course->stages[0]->id;
}

/* Runs a fit of such a map, as ny_fit_run() does for others. */
int ny_graph_fit_run(const struct ny_fit *begun);
/* Plans a fit of such a map, as ny_plan_make() does for others. */
int ny_graph_fit_plan(struct ny_rows *X, const struct ny_fit_settings *settings,
                      struct ny_plan *plan);

/* Places new rows by a result that is done; `other` as in struct ny_graph_fit. */
int ny_graph_transform(const struct ny_fitted *fitted, const struct ny_named_graph *other,
                       struct ny_new_rows *rows);

/* Returns the sizes of a fit of a map of this graph of these points, whose way is not decided. */
struct ny_map_sizes ny_map_sizes_make(const struct ny_graph_map *map,
                                      const struct ny_fit_settings *settings,
                                      const struct ny_rows_info *points,
                                      const struct ny_stored_graph *graph);
/* Sets lanes and paged: the fastest way in which one worker fits the budget `limit` in all stages,
 * or the one that takes least. */
void ny_map_way(struct ny_map_sizes *sizes, size_t limit);
/* Sets kept: 0, unless the budget `limit` has room for what the map would keep beside so many
 * workers in all stages. */
void ny_map_keep(struct ny_map_sizes *sizes, unsigned workers, size_t limit);
/* Returns the graph that searches are laid out for; `pages` is where its pages are, if it has any.
 */
struct ny_edges ny_map_graph(const struct ny_map_sizes *sizes, struct ny_pages *pages);
/* Counts what all stages of a map hold: the process, and the edges. */
void ny_map_common(struct ny_layout *l, const struct ny_map_sizes *sizes);
/* Fills in what the stages of a map hold, and before them the opening of the graph. */
void ny_map_course_bytes(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes);
/* Sets the lanes of a batch, and job.workers to the most with which the stage under way fits the
 * budget; NY_EBUDGET when not even one does. */
int ny_graph_fit_workers(struct ny_graph_fit *fit);
/* Makes room for path lengths that a later stage needs, and reports it, where ny_map_keep() says
 * so: to be called before the first of them is found, by the stage that finds them. */
int ny_graph_fit_keep(struct ny_graph_fit *fit);
/* Frees that. */
void ny_graph_fit_drop_kept(struct ny_graph_fit *fit);
/* Writes Y (nodes × p, in the order of the nodes) as parts rows and embedding. An interrupted write
 * is begun anew. */
int ny_graph_embed(struct ny_graph_fit *fit, struct ny_matrix Y);
/* Counts what ny_graph_embed() takes under a budget of `limit`. */
void ny_graph_embed_count(struct ny_layout *l, const struct ny_map_sizes *sizes, size_t limit);

/* Refuses weights that the map cannot take: NY_EUSAGE for isomap of affinities, and for a width or
 * weights of edges of them. */
int ny_graph_check_weights(const struct ny_stored_graph *graph,
                           const struct ny_fit_settings *settings);
/* Finds out whether a graph of another NAME is that which the fit of a record was begun with. Fits
 * of earlier versions have no digest, and know it by its figures. */
int ny_graph_is_adopted(struct ny_record record, const struct ny_stored_graph *graph,
                        struct ny_record of_graph, bool *same);
/* Refuses a graph, whose record is `of_graph`, that is not the one any more which the map of
 * `record` was made of: NY_EUSAGE. */
int ny_graph_check_adopted(const char *map, struct ny_record record,
                           const struct ny_stored_graph *graph, struct ny_record of_graph);

#endif
