/* Writing the parts of a result to files. One line a part in the table of embed/export.c. */
#ifndef NY_EMBED_EXPORT_H
#define NY_EMBED_EXPORT_H

#include "embed/embedding.h"
#include "embed/record.h"

/* NULL-terminated names. */
const char *const *ny_parts(void);
/* NY_EUSAGE for a part that is none, or that this result does not have; the result must be done. */
int ny_part_export(struct ny_store *store, const char *name, const char *part, const char *output);
/* The layout of a finished embedding and its components. */
int ny_result_layout(struct ny_store *store, const char *name, struct ny_embedding_layout *layout,
                     size_t *components);
/* Rows of it, as f32. */
int ny_result_rows32(struct ny_store *store, const char *name, uint64_t first, size_t count,
                     float *rows);

#endif
