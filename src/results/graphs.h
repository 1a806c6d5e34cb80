/* Graphs in a store, by their NAME. */
#ifndef NY_RESULTS_GRAPHS_H
#define NY_RESULTS_GRAPHS_H

#include "model/graph.h"
#include "store/store.h"
#include "records/record.h"

/* Loads the graph under NAME, which it borrows; ny_record_free() its record, also after a failure.
 * NY_EUSAGE where that is no graph, or not done. */
int ny_graph_need(struct ny_store *store, const char *name, struct ny_named_graph *graph);
/* Loads the graph of another NAME likewise that the map of this record was made of; one that made
 * its own has none. NY_EUSAGE with what to do where that was removed. */
int ny_graph_need_of(struct ny_store *store, const char *map, const json_t *record,
                     struct ny_named_graph *graph);
/* Loads it if it is in the store as it was then: it may have been removed or made again. */
int ny_graph_find_of(struct ny_store *store, const json_t *record, struct ny_named_graph *graph);

#endif
