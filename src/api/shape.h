/* The option --shape of a plan: points that are not imported yet. */
#ifndef NY_API_SHAPE_H
#define NY_API_SHAPE_H

#include "io/reader.h"
#include "store/store.h"

/* Reads "ROWS,COLUMNS[,VALUES][,TYPE]": the values of sparse rows that are not 0, and the type of
 * an element, f32 where it is not said. NY_EUSAGE where it is none, or too large for a store. */
int ny_shape_read(struct ny_context *ctx, const char *text, struct ny_points_shape *shape);

/* Reads the shape of the rows of a file as the options read them; false where the beginning of the
 * file does not tell it. Looks only at .npy and .fvecs, whose rows need not be counted. */
bool ny_shape_of_file(struct ny_context *ctx, const char *path,
                      const struct ny_reader_options *options, struct ny_points_shape *shape);

/* Refuses a file in the place of a store with the --shape of its rows: NY_EIO. NY_OK: it is no
 * file. */
int ny_shape_refuse_file(struct ny_context *ctx, const char *path);

#endif
