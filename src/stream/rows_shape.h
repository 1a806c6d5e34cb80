/* Rows of which only the shape is known, for a plan (stream/rows.h): to read one is NY_EUSAGE. */
#ifndef NY_STREAM_ROWS_SHAPE_H
#define NY_STREAM_ROWS_SHAPE_H

#include "stream/rows.h"

/* Makes rows of this shape, of which `imagined` is set; `name` is borrowed. */
int ny_rows_of_shape(struct ny_rows **out, struct ny_context *ctx, const char *name,
                     const struct ny_rows_info *shape);
/* Frees them; NULL is allowed. */
void ny_shape_rows_free(void *X);

#endif
