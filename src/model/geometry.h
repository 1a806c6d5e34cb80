/* Part "geometry" of a result: centre and factor of each column, as they were when it was fitted;
 * of a graph γ as well, which makes its distances about 1. */
#ifndef NY_MODEL_GEOMETRY_H
#define NY_MODEL_GEOMETRY_H

#include "columns/columns.h"
#include "job/keep.h"

/* Stores the geometry as `part`, a name of ny_record_part(), with γ unless gamma is NULL. */
int ny_stored_geometry_put(const struct ny_keep *keep, const char *part,
                           const struct ny_geometry *geometry, const double *gamma);
/* Reads the geometry of d columns, which ny_geometry_free() frees, and γ where gamma is not
 * NULL. NY_ESTORE where a number is not finite. */
int ny_stored_geometry(struct ny_geometry **out, const struct ny_keep *keep, const char *part,
                       size_t d, double *gamma);

#endif
