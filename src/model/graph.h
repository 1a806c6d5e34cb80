/* Reads the lists that a graph job has stored, in pieces or as a whole. */
#ifndef NY_MODEL_GRAPH_H
#define NY_MODEL_GRAPH_H

#include "graph/edge_list.h"
#include "graph/edges.h"
#include "graph/pages.h"
#include "model/embedding.h"
#include "job/job.h"

struct ny_stored_graph {
    struct ny_rows *X;   /* its rows */
    struct ny_keep keep; /* of the NAME that has made it */
    uint64_t n;
    uint64_t largest, largest_edges; /* rows and edges of the largest component; an older
                                      * version has the edges of all */
    size_t neighbors, stored;        /* columns that count, and columns that are stored */
    double limit;
    bool mutual;
    size_t bridges;  /* edges that were added to those of the lists */
    bool given;      /* its edges came from elsewhere: `bridges` of them, and no lists */
    bool affinities; /* the weights of these are affinities, not lengths */
};

/* A graph of another NAME, which is done. */
struct ny_named_graph {
    struct ny_stored_graph graph;
    struct ny_record record; /* of it; none: there is no other NAME */
};

/* Tells whether there is a graph; one of a result that has none is zeroed. */
static inline bool ny_stored_graph_any(const struct ny_stored_graph *graph)
{
    return graph->neighbors > 0 || graph->given;
}

/* Takes the facts of another graph into those of a fit, which has all that are there. */
void ny_graph_facts_adopt(struct ny_job *job, struct ny_record of_graph);
/* Tells whether figures of two graphs agree: those by which fits of earlier versions, which keep no
 * digest, know theirs. */
bool ny_graph_facts_agree(const struct ny_state_graph *facts, const struct ny_state_graph *others);
/* Returns the name of the part that holds bridges, or the edges of a graph from elsewhere. */
const char *ny_stored_graph_part(const struct ny_stored_graph *graph);
/* Returns the layout of a part of `columns` 4-byte numbers a row: neighbours, distances, rows. */
struct ny_embedding_layout ny_graph_layout(const char *part, uint64_t n, size_t columns);

/* Sets *graph from the record of a graph, or of a fit that made its own. Returns false, with
 * neighbors = 0 and given = false, for any other record. */
bool ny_stored_graph_of(struct ny_stored_graph *graph, struct ny_rows *X,
                        const struct ny_keep *keep, struct ny_record record);

/* Sets *graph likewise from the record of a result that is done, and checks it. NY_EUSAGE where it
 * has no graph. */
int ny_stored_graph_need(struct ny_stored_graph *graph, struct ny_rows *X,
                         const struct ny_keep *keep, struct ny_record record);

/* Tells whether the nodes of the graph begin in the order of near rows (graph/near_rows.h). */
bool ny_stored_graph_near(const struct ny_stored_graph *graph);

/* Fails with NY_EUSAGE where the weights of the graph are affinities, in place of the lengths that
 * `whose` needs. */
int ny_stored_graph_lengths(const struct ny_stored_graph *graph, const char *whose);
/* Fails with NY_EUSAGE where the edges of the graph came from elsewhere, so that new rows have no
 * place in it. */
int ny_stored_graph_places(const struct ny_stored_graph *graph);

/* Computes a digest of all that makes the edges of the graph, which is read once for that. */
int ny_stored_graph_digest(const struct ny_stored_graph *graph, uint64_t *digest);
/* Fails with NY_ESTORE where what the record says of the graph cannot be so. */
int ny_stored_graph_check(const struct ny_stored_graph *graph);

/* Reads the distances of rows first … first + count − 1, count × neighbors values, ∞ beyond the
 * limit. room: count × stored × 4 bytes. */
int ny_stored_distances(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                        void *room, float *out);
/* Reads the row numbers of the neighbours in the same form, 2⁶⁴ − 1 beyond the limit. */
int ny_stored_neighbors(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                        void *room, uint64_t *out);
/* Reads the component numbers of rows first … first + count − 1. */
int ny_stored_components(const struct ny_stored_graph *graph, uint64_t first, size_t count,
                         uint64_t *out);
/* A walk over all rows that has found so many of the largest component, up to row `next`. */
struct ny_largest_walk {
    uint64_t next, found;
};
/* Finds rows first … first + count − 1 of the largest component. The walk, zeroed before, goes on
 * where it was, and begins anew for rows before that. */
int ny_stored_largest(const struct ny_stored_graph *graph, struct ny_largest_walk *walk,
                      uint64_t first, size_t count, uint64_t *out);

/* Loads a component into memory; ny_edges_release() it. */
int ny_stored_edges(const struct ny_stored_graph *graph, uint32_t component,
                    struct ny_edges *edges);
/* Makes the pages of a component, of a graph that came from no edges, in a file in the folder
 * of the keep (graph/pages.h); ny_edges_release() it. `pages_bytes`: of a search. */
int ny_stored_pages(const struct ny_stored_graph *graph, uint32_t component, size_t pages_bytes,
                    struct ny_edges *edges);
/* Counts the largest component in pages, and at most what ny_stored_pages() takes besides. */
void ny_stored_pages_count(struct ny_layout *l, const struct ny_stored_graph *graph);
/* Loads the edges of all components, settled (graph/edge_list.h); ny_edge_list_release() them also
 * after a failure. */
int ny_stored_edge_list(const struct ny_stored_graph *graph, struct ny_edge_list *list);
/* Counts the largest component in memory, and at most what ny_stored_edges() takes besides. */
void ny_stored_edges_count(struct ny_layout *l, const struct ny_stored_graph *graph);

#endif
