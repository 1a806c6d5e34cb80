/*
 * Placing new points by all stored points, for results of methods that work on all of K, which have
 * no landmarks: the Nyström formula (Ouimet & Bengio 2005, eq. 1) y(x) = k̃(x,X) Û Λ⁻¹, scaled as
 * the map; the points and Û come from the store, once for every batch of new rows. Maps of graphs
 * have their own: maps/graph_map.h.
 */
#ifndef NY_PLACE_POINTS_H
#define NY_PLACE_POINTS_H

#include "place/transform.h"

/* Does the work of ny_transform_rows() for a result of this kind. */
int ny_transform_points(const struct ny_fitted *fitted, struct ny_new_rows *rows);

#endif
