/* A result in words that need no knowledge of the method: a title and a sentence. */
#ifndef NY_REPORT_PAGE_SUMMARY_H
#define NY_REPORT_PAGE_SUMMARY_H

#include "results/parts.h"
#include "report/markup.h"

/* "Kernel PCA of 4,435 rows"; a graph or a dictionary alone are called that. */
void ny_put_headline(struct ny_sink *sink, const struct ny_result *result);
/* "Made from 1,000 of 4,435 rows; keeps 99.6 % of what the full method would see." Nothing for a
 * graph or a dictionary alone. */
void ny_put_sentence(struct ny_sink *sink, const struct ny_result *result);

#endif
