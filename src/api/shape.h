/* The option --shape of a plan: points that are not imported yet. */
#ifndef NY_API_SHAPE_H
#define NY_API_SHAPE_H

#include "store/store.h"

/* Reads "ROWS,COLUMNS[,VALUES][,TYPE]": the values of sparse rows that are not 0, and the type of
 * an element, f32 where it is not said. NY_EUSAGE where it is none, or too large for a store. */
int ny_shape_read(struct ny_context *ctx, const char *text, struct ny_points_shape *shape);

#endif
