/* Writing the graph of a result as a file of edges, which graph --edges reads. */
#ifndef NY_RESULTS_GRAPH_EXPORT_H
#define NY_RESULTS_GRAPH_EXPORT_H

#include "results/parts.h"

/* Writes the edges of all components, each with its length or affinity, in the format of the
 * output's name: .npz, a symmetric CSR matrix that scipy.sparse.load_npz() reads; .mtx, symmetric;
 * else lines "i j weight" with i < j, both from 0, with commas (.csv), tabs (.tsv) or blanks. What
 * is no file gets the lines. Edges ascend. NY_EUSAGE where the result has no graph of its own. */
int ny_graph_export(struct ny_result *result, const char *output);

#endif
