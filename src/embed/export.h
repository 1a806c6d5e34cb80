/* Writing the parts of a result to files. One line a part in the table of embed/export.c. */
#ifndef NY_EMBED_EXPORT_H
#define NY_EMBED_EXPORT_H

#include "embed/embedding.h"
#include "embed/record.h"

/* What an export leaves out: rows that cannot be read any more. */
enum { NY_SALVAGE_RANGES = 16 };
struct ny_salvage {
    uint64_t rows;
    size_t count; /* of the first ranges, in order */
    struct ny_row_range range[NY_SALVAGE_RANGES];
    uint64_t more; /* ranges behind them */
};

/* NULL-terminated names. */
const char *const *ny_parts(void);
/* NY_EUSAGE for a part that is none, or that this result does not have; the result must be done.
 * Where rows are damaged: NY_ESTORE; with a salvage (zeros before) they are marked, counted there
 * and warned of, unless no row is left. */
int ny_part_export(struct ny_store *store, const char *name, const char *part, const char *output,
                   struct ny_salvage *salvage);
/* The layout of a finished embedding and its components. */
int ny_result_layout(struct ny_store *store, const char *name, struct ny_embedding_layout *layout,
                     size_t *components);
/* Rows of it, as f32. */
int ny_result_rows32(struct ny_store *store, const char *name, uint64_t first, size_t count,
                     float *rows);

#endif
