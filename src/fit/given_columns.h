/*
 * Columns of a precomputed kernel: C (n × m) in a file beside the store, whose rows take the place
 * of the points in every pass. A row of it is the kernel values of a point with the landmarks.
 */
#ifndef NY_FIT_GIVEN_COLUMNS_H
#define NY_FIT_GIVEN_COLUMNS_H

#include "fit/fit.h"
#include "stream/pass.h"

/* Sets points->d, dtype and block_rows to those of the rows that a pass reads; does not change them
 * for other kernels. NY_EDATA when the file does not have n rows and m columns. */
int ny_given_columns_shape(struct ny_context *ctx, const struct ny_fit_settings *settings,
                           struct ny_rows_info *points);
/* Reads the landmarks' rows of C, which are W, in the order of fit->rows: one pass over the file.
 */
int ny_given_columns_gather(struct ny_fit *fit, void *rows);
/* Runs a pass of the stage under way over `rows` rows: points, or rows of given columns. `pass` may
 * have fewer workers than the job; 0: as many. */
int ny_fit_pass(struct ny_fit *fit, uint64_t rows, struct ny_pass pass,
                const struct ny_pass_work *work, void *arg);

#endif
