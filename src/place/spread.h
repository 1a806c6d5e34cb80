/* Tells where rows lie beside a fit by a linear kernel or cosine, which has no landmarks that could
 * leave something out: along its components, and how far from their mean (place/drift.h). */
#ifndef NY_PLACE_SPREAD_H
#define NY_PLACE_SPREAD_H

#include "fit/projector.h"
#include "stream/source.h"

/* Places the `count` rows of a source, which `spec` describes: row i gets p numbers of `along`, its
 * coordinates, which make up for missing genotypes, and distance[i] = ‖φ − μ‖². */
int ny_spread_rows(const struct ny_model *model, const struct ny_columns_spec *spec,
                   struct ny_source *rows, double *along, double *distance);

#endif
