/* Figures of reports, and parts of results. */
#ifndef TESTS_SUPPORT_RESULTS_H
#define TESTS_SUPPORT_RESULTS_H

#include "nystream.h"

/* Fits with options as options_with() takes them; a fit that fails ends the test. `report`: NULL, or
 * to be given back. */
void must_fit(struct ny_context *ctx, const char *store, const char *name, struct ny_report **report,
            const char *format, ...) __attribute__((format(printf, 5, 6)));

/* NaN: the report has no such number. */
double number_of(const struct ny_report *report, const char *key);
/* Part of a result, of which the test knows how many rows and columns it has: lent, all numbers as f64. */
double *part_of_result(struct ny_context *ctx, const char *store, const char *name,
                       const char *part, size_t rows, size_t columns);
/* Such a part of row numbers. */
size_t *rows_of_result(struct ny_context *ctx, const char *store, const char *name,
                       const char *part, size_t rows, size_t columns);

#endif
