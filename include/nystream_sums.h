/*
 * nystream beyond one machine: sums over rows, which are made separately and added up.
 *
 * This is step 5 of nystream.h, which programs include, and which includes this header. Its rules
 * on errors, ownership, arguments and threads hold here.
 */
#ifndef NYSTREAM_SUMS_H
#define NYSTREAM_SUMS_H

#include "nystream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------
 * 5. Sums: s = C'1, G = C'C and the trace of K over the rows of any number of parts, all by the
 * same landmarks, kernel and options (Talwalkar et al. 2013, eq. 4; Ouimet & Bengio 2005, Algorithm
 * 1, steps 17 to 21). A part is summed wherever its rows are, and sums are sent as bytes. Solving
 * all of them gives the model that one fit of all rows would have, up to rounding; it places the
 * rows of each part. Sums take 8·m² bytes in memory, as many more while they are read, added or
 * written, and 4·m² bytes as an image; solving takes about 24·m².
 *
 * All parts share landmarks (option landmarks-points), a width as a number (gamma) and the options
 * of the map. For maps that divide K, degrees are averages over the landmarks (option averages).
 * ------------------------------------------------------------------------------------------- */
struct ny_sums;
struct ny_table; /* nystream_memory.h */
struct ny_model;

/* Makes sums without rows, for a fit by `options`: NY_GROUP_FIT, with landmarks-points as a file or
 * a table (ny_options_set_table()), copied. NULL: the parts, which are then results, define the
 * fit. NY_EUSAGE for options whose sums cannot be added; options that need rows to be known are
 * refused with the first part. */
NY_API int ny_sums_new(struct ny_sums **out, struct ny_context *context,
                       const struct ny_options *options);
/* Adds the rows of a table, which are read where they are (ny_borrow()); the sums of a
 * batch are the same whatever came before it. Equal batches are added each time. Merged sums
 * recognize a batch by its name (field `name` of the table) and what its rows add up to: give
 * names, such as numbers of parts, if parts may have equal rows. Rows are summed dense or sparse,
 * as those of the first batch. NY_EUSAGE if nothing defines the fit. */
NY_API int ny_sums_add(struct ny_sums *sums, const struct ny_table *table);
/* Adds the sums of a result: of a fit with option until, or of a finished one that keeps its sums;
 * of a store in shards, those of each shard, as parts.
 * Columns of the same names may be in another order. NY_EDATA if its rows have other columns, or
 * are of another type, layout or preparation than the parts before.
 * NY_EUSAGE if it has none, if its landmarks or options differ from those of the parts before or,
 * for the first part, from those that these sums were made with, or if it is already one of the
 * parts. */
NY_API int ny_sums_add_result(struct ny_sums *sums, const char *path, const char *name);
/* Adds the parts of other sums, which stay as they are, and may be of another context: nothing of
 * them is kept. Errors as of ny_sums_add_result(), after which nothing has changed; if the budget
 * of the other context is too small, that context has the error. The order in which parts come
 * changes last bits, and nothing else. */
NY_API int ny_sums_merge(struct ny_sums *sums, const struct ny_sums *other);
/* *names: those of the columns of the rows, `count` texts one behind another, each with its zero
 * byte, valid until the next call with these sums; NULL: they have none. */
NY_API int ny_sums_column_names(const struct ny_sums *sums, const char **names, size_t *count);
/* The sums as bytes, which are valid until the next call with these sums and are charged to the
 * budget; and sums from such bytes. NY_ESTORE if they are not sums, or are damaged or of a later
 * version. */
NY_API int ny_sums_image(struct ny_sums *sums, const void **image, size_t *bytes);
NY_API int ny_sums_load(struct ny_sums **out, struct ny_context *context, const void *image,
                        size_t bytes);
/* *report: rows; if there are some: parts landmarks d dtype map approx kernel gamma components
 * gram_precision. */
NY_API int ny_sums_report(const struct ny_sums *sums, struct ny_report **report);
/* Solves the sums, which stay and can be added to. *model is the caller's; *report (may be NULL)
 * has the eigenvalues and the certificate of all rows. NY_EUSAGE if there are no rows, or fewer
 * than components; NY_ENUMERIC if f32 sums are too coarse (option precision f64). */
NY_API int ny_sums_solve(const struct ny_sums *sums, struct ny_model **model,
                         struct ny_report **report);
NY_API void ny_sums_free(struct ny_sums *sums);

/* Adds the sums of the results `name` of `count` stores, solves them and writes the model to
 * `output`, a .nym. *report as of ny_sums_solve(). */
NY_API int ny_merge(struct ny_context *context, const char *const *paths, size_t count,
                    const char *name, const char *output, struct ny_report **report);

#ifdef __cplusplus
}
#endif
#endif
