/* The eigenvalues of a result as a picture. */
#ifndef NY_REPORT_SCREE_H
#define NY_REPORT_SCREE_H

#include "report/canvas.h"
#include "store/store.h"

/* Draws the eigenvalues of a result. title NULL: the NAME. NY_EUSAGE where it has none. */
int ny_scree_draw(struct ny_canvas *canvas, struct ny_store *store, const char *name,
                  const char *title);

#endif
