/* Keeps in memory (job/keep.h): what jobs leave is there until it is freed. */
#ifndef NY_JOB_KEEP_MEMORY_H
#define NY_JOB_KEEP_MEMORY_H

#include "job/keep.h"

struct ny_memory_results;

/* Makes a place for results, at first without any; `place`, by which messages call it, is borrowed.
 * All that is put there is charged to NY_MEM_STORE: NY_EBUDGET where it does not fit, and the batch
 * fails. One thread writes. */
int ny_memory_results_new(struct ny_memory_results **out, struct ny_context *ctx,
                          const char *place);
/* Frees all results; NULL is allowed. */
void ny_memory_results_free(struct ny_memory_results *kept);
/* Returns the keep of the result `name`, which it borrows. */
struct ny_keep ny_memory_keep(struct ny_memory_results *kept, const char *name);
/* Returns how many batches were committed. */
uint64_t ny_memory_commits(const struct ny_memory_results *kept);
/* Finds the first result behind one of this name ("": of all), in the order of their names. */
bool ny_memory_next(const struct ny_memory_results *kept, const char *before, const char **name);

#endif
