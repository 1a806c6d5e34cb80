/* Tables, bars and sentences of a report, from the record of a result. */
#ifndef NY_REPORT_PAGE_FACTS_H
#define NY_REPORT_PAGE_FACTS_H

#include "report/markup.h"
#include "report/page_points.h"

/* Writes a table that compares `count` records, a column each; nothing for fewer than two. */
void ny_put_comparison(struct ny_sink *sink, const json_t *const *reports, const char *const *names,
                       size_t count);
/* Writes a warning where few columns make up most of the distances; nothing where none do. */
void ny_put_dominant(struct ny_sink *sink, const json_t *report);
/* Writes the certificate of an embedding, or of a dictionary whose residuals are known. */
void ny_put_certificate(struct ny_sink *sink, const struct ny_result *result);
/* Time and memory of each stage, against the budget. */
void ny_put_cost(struct ny_sink *sink, const json_t *report);
/* Writes the figures of a graph as a table; nothing if the record has none. */
void ny_put_graph(struct ny_sink *sink, const json_t *report);
/* Every field. */
void ny_put_facts(struct ny_sink *sink, const json_t *report);
/* Eigenvalues as a chart and a table; nothing where there are none. */
void ny_put_spectrum(struct ny_sink *sink, const struct ny_result *result);
/* A histogram; nothing where none are known. */
void ny_put_residuals(struct ny_sink *sink, const struct ny_page_points *points);

#endif
