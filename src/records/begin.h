/* New records (records/record.h). */
#ifndef NY_RECORDS_BEGIN_H
#define NY_RECORDS_BEGIN_H

#include "neighbors/given.h"
#include "neighbors/job.h"
#include "records/record.h"

/* Makes a new record: stage stats, n and d as of now, everything else in the report null. `options`
 * is taken over. */
json_t *ny_record_new(const struct ny_rows_info *points, json_t *options, const char *kind);
/* Puts version, BLAS and CPU of this run into a report. */
void ny_record_describe_machine(json_t *report);
/* Puts the facts of a graph that is to be made into a report: what is not known yet is null. */
void ny_record_begin_graph(json_t *facts, const struct ny_graph_settings *settings);
/* Likewise of a graph from elsewhere. */
void ny_record_begin_edges(json_t *facts, const struct ny_given_edges *given);

#endif
