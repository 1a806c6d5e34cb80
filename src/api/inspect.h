/* Reports on stores and results. */
#ifndef NY_API_INSPECT_H
#define NY_API_INSPECT_H

#include <jansson.h>

#include "store/store.h"

/* The report of a result as `info STORE NAME --json` prints it, from its record (kept). */
int ny_result_describe(struct ny_report **out, struct ny_store *store, const char *name,
                       const json_t *record);
/* Tells in a report how the rows of points are prepared: null where they are not. */
void ny_describe_preparation(json_t *object, const struct ny_rows_info *info);
/* The report of a store as `info STORE --json` prints it. */
int ny_store_describe(struct ny_report **out, struct ny_store *store);

#endif
