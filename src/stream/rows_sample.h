/* A sample of the rows of a computation, in memory, as the rows of another one. */
#ifndef NY_STREAM_ROWS_SAMPLE_H
#define NY_STREAM_ROWS_SAMPLE_H

#include "stream/rows.h"

struct ny_row_sample;

/* Copies `count` of the rows of X, as they are handed out: by chance, but from few enough units
 * that most of a large store is not read. They stay in the order in which they lie; a count of n or
 * more takes all. The same seed takes the same rows. The caller frees *out, before X.
 *
 * NY_EBUDGET; errors of X. Memory: `count` rows of info->dtype, under NY_MEM_STORE. */
int ny_row_sample_take(struct ny_row_sample **out, struct ny_rows *X, uint64_t count,
                       uint64_t seed);
/* Returns the rows, whose statistics are those of the sample. */
struct ny_rows *ny_row_sample_rows(const struct ny_row_sample *sample);
/* Frees a sample; NULL is allowed. */
void ny_row_sample_free(struct ny_row_sample *sample);

#endif
