/* Rows that were appended to a store since a result of it was made or updated. */
#ifndef NY_RESULTS_BEHIND_H
#define NY_RESULTS_BEHIND_H

#include "records/fields.h"
#include "store/store.h"

/* Returns how many rows the result of this name and record lacks for that reason; 0 where it has
 * all, is not of the points, or the points cannot be read. Of a set: those that all shards lack,
 * where the result is of all of them. */
uint64_t ny_rows_behind(struct ny_store *store, const char *name, const json_t *record);
/* The row of the store behind the last one that a result has, and behind the last one that an
 * update of it under way takes in; 0 where it is of no points, or not there. */
struct ny_rows_end {
    uint64_t result, update;
};
/* NY_ESTORE where a record cannot be read. */
int ny_rows_reach(struct ny_store *store, const char *name, struct ny_rows_end *reach);
/* Warns of them, and says how they come in. */
void ny_warn_behind(struct ny_store *store, const char *name, const json_t *record);
/* Warns of those that its sums, of so many rows, lack, which an update does not add to. */
void ny_warn_sums_behind(struct ny_store *store, const char *name, const json_t *record,
                         uint64_t rows);

#endif
