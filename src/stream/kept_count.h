/* Shape and statistics of rows that a caller keeps in memory, as an import would have them. */
#ifndef NY_STREAM_KEPT_COUNT_H
#define NY_STREAM_KEPT_COUNT_H

#include "stream/rows_memory.h"

/* Sets *info. Blocks are those into which an import of so many values cuts them; entries: as in
 * struct ny_memory_rows. NY_END where sparse rows are not in order; no error is set. */
int ny_kept_info(struct ny_context *ctx, const struct ny_kept_rows *kept, uint64_t entries,
                 struct ny_rows_info *info);
/* Adds the rows to moments and norms, which are 0, block by block. NY_EDATA as of
 * ny_count_rows(). */
int ny_kept_count(struct ny_context *ctx, const struct ny_memory_rows *rows,
                  const struct ny_rows_info *info, struct ny_moments *moments, double *norms);

#endif
