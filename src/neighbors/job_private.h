/* Shared by the files of the graph job. */
#ifndef NY_NEIGHBORS_JOB_PRIVATE_H
#define NY_NEIGHBORS_JOB_PRIVATE_H

#include "neighbors/job.h"
#include "graph/components.h"
#include "nearest/sieve.h"
#include "nearest/tree.h"

/* The sizes that a graph is planned by. `part` is how much is held at a time: panels of rows whose
 * lists are, or in a sieve rows. */
struct ny_graph_sizes {
    struct ny_job_sizes job;
    const struct ny_graph_settings *settings;
    const struct ny_rows_info *points;
    struct ny_knn knn;
    enum ny_knn_way way; /* not auto */
    uint64_t part;
    size_t held_rows; /* exact: all points, or 0 */
};

/* Returns the sizes that begin with these. */
static inline const struct ny_graph_sizes *ny_graph_sizes_of(const struct ny_job_sizes *job)
{
    return (const struct ny_graph_sizes *)job;
}

/* Counts what all stages hold. */
void ny_graph_common(struct ny_layout *l, const struct ny_graph_sizes *sizes, unsigned workers);
/* Counts the batches in which the lists, and the parts made of them, are put. */
void ny_graph_lists_count(struct ny_layout *l, const struct ny_graph_sizes *sizes, size_t limit);
/* Counts writing neighbors and distances. */
void ny_graph_writing_count(struct ny_layout *l, const struct ny_graph_sizes *sizes, size_t limit);
/* Count what a way of finding neighbours holds, writing not included: a tree of boxes, and the
 * lists of a range of rows; a sieve, and those of a lot of rows. */
typedef void ny_graph_count_fn(struct ny_layout *l, const struct ny_graph_sizes *sizes,
                               unsigned workers, size_t limit);
ny_graph_count_fn ny_graph_tree_count, ny_graph_sieve_count;
/* Returns the fewest points that a sieve for the graph holds. */
uint64_t ny_graph_sieve_held_least(const struct ny_knn *knn);
/* Returns the way that --knn auto takes unless a tree is less work: exact, or perhaps a sieve where
 * fewer than all neighbours are asked for. */
enum ny_knn_way ny_graph_other_way(const struct ny_graph_settings *settings,
                                   const struct ny_rows_info *points);
/* Returns a guess of the nanoseconds that this way takes on one thread. */
double ny_graph_other_ns(const struct ny_graph_settings *settings,
                         const struct ny_rows_info *points);
/* Tells whether a tree may be less work than the other way, for --knn auto. */
bool ny_graph_tries_tree(const struct ny_graph_settings *settings,
                         const struct ny_rows_info *points);
/* Returns the nanoseconds that all pairs take on one thread. */
double ny_graph_pairs_ns(const struct ny_rows_info *points);
/* Returns the nanoseconds that boxes and rows of a tree of so many columns take on one thread. */
double ny_graph_boxes_ns(const struct ny_tree_work *work, size_t columns);
/* Rows often look so far by a sieve that finds nearly all neighbours. */
extern const struct ny_sieve_reach ny_graph_usual_reach;
/* Returns the nanoseconds that a sieve takes on one thread, whose rows look so far. */
double ny_graph_sieve_ns(const struct ny_rows_info *points, const struct ny_sieve_reach *reach);
/* Returns those of a sieve that finds all neighbours, of which `rows` rows took this work. */
double ny_graph_sieve_all_ns(const struct ny_rows_info *points, const struct ny_sieve_work *work,
                             size_t rows);
/* Tells whether a sieve may find all neighbours with less work than all pairs, for --knn auto. */
bool ny_graph_tries_sieve(const struct ny_graph_settings *settings,
                          const struct ny_rows_info *points);
/* Returns a guess of the nanoseconds that a tree takes on one thread, or all pairs where they take
 * less. */
double ny_graph_tree_ns(const struct ny_rows_info *points);
/* Returns the bytes of the file that holds the lists of n rows while a tree that is not held finds
 * them: what its streams do not have in memory. */
uint64_t ny_graph_tree_file_bytes(uint64_t n, size_t neighbors);
/* Returns that guess as a share of the time of all pairs. */
double ny_graph_tree_share(const struct ny_rows_info *points);
/* Counts finding bridges; nothing if --connect was not given. */
ny_graph_count_fn ny_graph_bridges_count;

extern const struct ny_stage ny_stage_graph_stats, ny_stage_graph_neighbors,
    ny_stage_graph_components;
extern const struct ny_course ny_course_graph;

struct ny_graph_job {
    struct ny_job job; /* its record, checkpoints and times */
    const struct ny_graph_settings *settings;
    struct ny_graph_plan plan;
    enum ny_knn_way way; /* auto: not decided yet */
    double tree_ns;      /* auto: the work of a tree, as some rows show; infinite: none is tried */
    struct ny_geometry *geometry;
    struct ny_columns_spec spec;
    struct ny_knn knn;
    struct ny_neighbors lists;   /* exact: of the range under way */
    struct ny_tree_lists *boxed; /* tree: what is written (neighbors/tree.c) */
    struct ny_sieving *sieving;  /* sieve: as long as the stage runs */
    struct ny_bridge *bridge; /* --connect: edges between components, as long as the stage runs */
};

/* Loads the geometry and γ that stage stats has made, and makes the kernel with them. */
int ny_graph_load_spec(struct ny_graph_job *g);

/* Neighbours of rows first … end − 1 into the store, from where the checkpoint says: `measure`
 * gives those of NY_MEASURE_ROWS at a time. */
typedef int ny_graph_measure_fn(struct ny_graph_job *g, uint64_t first, size_t count,
                                struct ny_measured *out);
/* Writes the neighbours and distances of these rows in commits that also move the checkpoint, and
 * reports the rows that were compared once more. */
int ny_graph_write(struct ny_graph_job *g, ny_graph_measure_fn *measure, uint64_t first,
                   uint64_t end);

/* Puts the figures of a graph into the report: edges, degrees and components. NY_EBUDGET. */
int ny_graph_describe(struct ny_job *job, const struct ny_lists *lists,
                      const struct ny_components *components);

/* The stage neighbors with a sieve: nearly all of them, or all. With --knn auto it first decides,
 * and returns NY_OK with nothing done, and g->way exact or tree, where that is less work. */
int ny_graph_sift(struct ny_graph_job *g);

/* Returns the row that is measured next; `first` where none is so far. */
static inline uint64_t ny_graph_measured(const struct ny_graph_job *g, uint64_t first)
{
    return g->job.state.at.measured == NY_NONE ? first : g->job.state.at.measured;
}
/* Records the way that was decided. */
static inline void ny_graph_set_way(struct ny_graph_job *g, enum ny_knn_way way)
{
    g->way = way;
    g->job.state.graph.knn = ny_knn_way_name(way);
}
/* The stage neighbors with a tree of boxes. With --knn auto it first decides, and returns NY_OK
 * with nothing done, and g->way another or still auto, where another way is less work. */
int ny_graph_search_tree(struct ny_graph_job *g);

/* Bridges between the components, which then are one: into the lists, and part bridges. */
int ny_graph_connect(struct ny_graph_job *g, struct ny_lists *lists,
                     struct ny_components *components);

#endif
