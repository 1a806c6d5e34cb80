/*
 * Landmarks that are given by their coordinates, and need be no rows of the store. They are kept
 * with the job from its beginning, part "landmark-points", in the type that its rows are read in;
 * field "given" of the record says how.
 */
#ifndef NY_MODEL_LANDMARK_POINTS_H
#define NY_MODEL_LANDMARK_POINTS_H

#include "job/keep.h"
#include "job/record.h"
#include "stream/rows.h"

struct ny_landmark_points {
    size_t count;        /* 0: landmarks are rows */
    enum ny_dtype dtype; /* the store's, or a wider one that holds them exactly */
    size_t slots;        /* entries that a record has room for; 0: dense rows */
    size_t d;            /* columns; 0 where they come from a record, which does not tell */
};

/* Returns how the landmarks of a record are kept; count 0: they are rows. */
struct ny_landmark_points ny_landmark_points_of(struct ny_record record);
/* Stores the points, rows of d values or records, and notes in the record, which the caller saves,
 * how they are kept. */
int ny_landmark_points_put(const struct ny_keep *keep, struct ny_record record,
                           const struct ny_landmark_points *how, const void *rows);
/* Reads points first … first + count − 1 in the type of *as, which holds them, and records of its
 * slots, or for 0 dense. NY_ESTORE where they are missing or damaged. */
int ny_landmark_points_get(const struct ny_keep *keep, struct ny_record record,
                           const struct ny_landmark_points *as, uint64_t first, void *rows);
/* Reads rows of X that are landmarks, dense, in the type of *as. */
int ny_landmark_points_gather(struct ny_rows *X, const struct ny_landmark_points *as,
                              const uint64_t *numbers, void *rows);

#endif
