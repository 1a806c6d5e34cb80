/* Results of all rows of a store in shards (shards/open.h): which rows they have. */
#ifndef NY_RESULTS_WHOLE_H
#define NY_RESULTS_WHOLE_H

#include "records/record.h"
#include "store/store.h"

/* Tells whether the rows of a result are those of the store that keeps it: not where they are nodes
 * of a graph, nor those of shards. */
bool ny_record_rows_here(const json_t *record);
/* Keeps in a new record with which row each shard begins. Does nothing in other stores. */
void ny_record_set_whole(json_t *record, const struct ny_store *store);
/* NY_EUSAGE where rows of the record have other numbers now, as a shard before the last one has
 * grown, or are not there. */
int ny_record_check_whole(const struct ny_store *store, const char *name, const json_t *record);

#endif
