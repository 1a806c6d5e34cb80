/* Keeps in memory (job/keep.h): what jobs leave is there until it is freed. */
#ifndef NY_JOB_KEEP_MEMORY_H
#define NY_JOB_KEEP_MEMORY_H

#include "job/keep.h"

struct ny_memory_results;

/* Makes a place for results, at first without any; `place`, by which messages call it, is borrowed,
 * the folder copied. Without a folder (NULL) all that is put there is charged to NY_MEM_STORE:
 * NY_EBUDGET where it does not fit, and the batch fails; temporary files are in $TMPDIR, or /tmp.
 * With one, values are in a temporary file in it: NY_EIO where the disk is full. What is replaced
 * stays in the file. One thread writes. */
int ny_memory_results_new(struct ny_memory_results **out, struct ny_context *ctx, const char *place,
                          const char *folder);
/* Frees all results; NULL is allowed. */
void ny_memory_results_free(struct ny_memory_results *kept);
/* Returns the keep of the result `name`, which it borrows; how records are read and put is the
 * caller's to say. */
struct ny_keep ny_memory_keep(struct ny_memory_results *kept, const char *name);
/* Returns the folder for temporary files. */
const char *ny_memory_folder(const struct ny_memory_results *kept);
/* Tells whether values are in a file. */
bool ny_memory_is_filed(const struct ny_memory_results *kept);
/* Returns how many batches were committed. */
uint64_t ny_memory_commits(const struct ny_memory_results *kept);
/* Copies all results to `image`, which has room for them; NULL: *bytes is set to what that takes.
 * NY_EIO: the file cannot be read. */
int ny_memory_image(struct ny_memory_results *kept, void *image, size_t *bytes);
/* Adds the results of such an image. NY_ESTORE: it is none. */
int ny_memory_load(struct ny_memory_results *kept, const void *image, size_t bytes);
/* Finds the first result behind one of this name ("": of all), in the order of their names. */
bool ny_memory_next(const struct ny_memory_results *kept, const char *before, const char **name);

#endif
