/* Tables, bars and sentences of a report, from the record of a result. */
#ifndef NY_REPORT_PAGE_FACTS_H
#define NY_REPORT_PAGE_FACTS_H

#include "report/markup.h"
#include "results/parts.h"

/* Writes a table that compares `count` records, a column each; nothing for fewer than two. */
void ny_put_comparison(struct ny_sink *sink, const json_t *const *reports, const char *const *names,
                       size_t count);
/* Writes the certificate, where something is known. */
void ny_put_certificate(struct ny_sink *sink, const struct ny_result *result);
/* Time and memory of the whole, against the budget. */
void ny_put_cost(struct ny_sink *sink, const struct ny_result *result);
/* Every figure, those of a graph and of clusters that an evaluation has left among them, and every
 * option. */
void ny_put_facts(struct ny_sink *sink, const struct ny_result *result);
/* The command as it was typed; nothing where the library was called without one. */
void ny_put_command(struct ny_sink *sink, const struct ny_result *result);
/* Eigenvalues as a chart and a table; nothing where there are none. */
void ny_put_spectrum(struct ny_sink *sink, const struct ny_result *result);

#endif
