/* A keep in memory (job/keep.h): what a job leaves is there until the keep is freed. */
#ifndef NY_JOB_KEEP_MEMORY_H
#define NY_JOB_KEEP_MEMORY_H

#include "job/keep.h"

/* Makes an empty keep of the result `name`, which it borrows. All that is put there is charged to
 * NY_MEM_STORE: NY_EBUDGET where it does not fit, and the batch fails. One thread writes. */
int ny_memory_keep_new(struct ny_keep *keep, struct ny_context *ctx, const char *name);
/* Frees what is kept; a keep that could not be made is allowed. */
void ny_memory_keep_free(struct ny_keep *keep);
/* Returns the record as it was last committed, which the keep owns; NULL: none was. */
const json_t *ny_memory_keep_record(const struct ny_keep *keep);

#endif
