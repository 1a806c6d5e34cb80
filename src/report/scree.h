/* The eigenvalues of a result as a picture. */
#ifndef NY_REPORT_SCREE_H
#define NY_REPORT_SCREE_H

#include "report/canvas.h"
#include "results/parts.h"

/* Sets the axes of the first `count` eigenvalues: components, and values from 0 or the least. */
void ny_scree_axes(const struct ny_result *result, size_t count, struct ny_axis *x,
                   struct ny_axis *y);
/* Draws the eigenvalues of a result. title NULL: the NAME. NY_EUSAGE where it has none. */
int ny_scree_draw(struct ny_canvas *canvas, struct ny_store *store, const char *name,
                  const char *title);

#endif
