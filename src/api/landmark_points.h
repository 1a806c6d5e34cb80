/* Reads landmarks that are given by their coordinates. */
#ifndef NY_API_LANDMARK_POINTS_H
#define NY_API_LANDMARK_POINTS_H

#include "api/landmarks.h"

/* Reads the points that option landmarks-points names, in a type that holds them exactly: the
 * store's where it does, else f32 or f64. NY_EDATA for other columns than the store's, values that
 * are not finite, a point that is there twice, and more points than rows. */
int ny_landmark_points_read(struct ny_given_landmarks *given, struct ny_store *store,
                            const struct ny_options *options);

#endif
