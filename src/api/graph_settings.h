/* Turns options into the settings of a graph: of the verb graph, or of a fit of a graph's map. */
#ifndef NY_API_GRAPH_SETTINGS_H
#define NY_API_GRAPH_SETTINGS_H

#include "api/options.h"
#include "neighbors/job.h"
#include "store/store.h"

/* Fills in *graph from the options in force, which are checked against the store's rows: NY_EUSAGE
 * and NY_EDATA. */
int ny_graph_settings_of(struct ny_graph_settings *graph, struct ny_store *store,
                         const struct ny_options *options);

#endif
