/* Figures of a result that follow from others, so that records of any version have them right. */
#ifndef NY_JOB_FIGURES_H
#define NY_JOB_FIGURES_H

#include <jansson.h>

/* Sets in the report of a record, once the figures that they follow from are known:
 *
 *   variance_kept   the share of `trace` that the components hold: the sum of their eigenvalues,
 *                   without that of a trivial pair, over it, which has that too; null where the
 *                   trace is, as of `column` and other methods that do not know it, and where
 *                   eigenvalues add up to more, as negative ones are left out of a kernel that
 *                   has some
 *   trace_error     0 of an exact decomposition of a kernel matrix: nothing was approximated.
 *                   Version 1.0 wrote the share outside the components. */
void ny_figures_derive(json_t *record);

/* An estimate of the error of a pair, its standard error, and the eigenvalue that follows; NaN: not
 * known. */
struct ny_pair_error {
    double rho, se, value;
};

/* Begins the errors of the components in a report, estimated with so many check rows. */
void ny_figures_begin_errors(json_t *report, size_t check_rows);
/* Adds that of the next pair. */
void ny_figures_add_error(json_t *report, struct ny_pair_error error);

#endif
