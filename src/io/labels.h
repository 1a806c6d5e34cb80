/* Labels of their own file, one a row: idx, npy or text. */
#ifndef NY_IO_LABELS_H
#define NY_IO_LABELS_H

#include "io/classes.h"
#include "io/reader.h"

struct ny_labels;

/* *rows = how many there are, NY_ROWS_UNKNOWN when the file does not say. `classes` takes the
 * words. */
int ny_labels_open(struct ny_labels **out, struct ny_context *ctx, const char *path,
                   struct ny_classes *classes, uint64_t *rows);
/* Closes the file of labels and frees it; NULL is fine. */
void ny_labels_close(struct ny_labels *labels);
/* The next `count` labels; *got is less only at the end. `values` NULL: passed over. */
int ny_labels_next(struct ny_labels *labels, double *values, size_t count, size_t *got);

#endif
