/* Reads the landmarks that options name: row numbers in a file, or those of another result. */
#ifndef NY_API_LANDMARKS_H
#define NY_API_LANDMARKS_H

#include "api/options.h"
#include "store/store.h"

/* Reads the row numbers of --landmarks-file or --landmarks-from, or, of a result that is updated,
 * those that it has itself (`updated`; NULL: none is). *rows, under NY_MEM_DICTIONARY, is the
 * caller's; *rows and *count are left as they are where the options name no landmarks. A list that
 * is empty leaves *rows NULL. */
int ny_landmarks_read(struct ny_store *store, const struct ny_options *options, const char *updated,
                      uint64_t **rows, size_t *count);

#endif
