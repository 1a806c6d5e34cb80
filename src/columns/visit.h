/* One look at all rows, in order and on the calling thread, or unit by unit by several workers: for
 * what statistics do not tell of columns. It is short beside the passes of a fit, and begins anew
 * after a kill. */
#ifndef NY_COLUMNS_VISIT_H
#define NY_COLUMNS_VISIT_H

#include "base/layout.h"
#include "base/sparse.h"
#include "stream/pass.h"
#include "stream/rows.h"

/* Looks at one row: of a sparse row its values, of a dense one all d of them, index NULL. `number`
 * is that of the row among those that are read. */
typedef int ny_row_visitor(void *arg, uint64_t number, enum ny_dtype dtype,
                           const struct ny_sparse *row);

/* Visits all rows, prepared or, where `raw` says so, as the store keeps them. Tells the progress of
 * stage stats. Ends with the first error of the visitor, an interrupt or damage. */
int ny_visit_rows(struct ny_rows *X, bool raw, ny_row_visitor *visit, void *arg);
/* Has so many workers visit the units of all rows, prepared, in any order. */
int ny_visit_units(struct ny_rows *X, unsigned workers,
                   int (*unit)(void *arg, const struct ny_tile *tile), void *arg);
/* Counts what ny_visit_rows() charges for these points. */
void ny_visit_count(struct ny_layout *l, const struct ny_rows_info *points);

#endif
