/* Placing new points with a stored model: one streaming pass over them, no solve (Ouimet & Bengio
 * 2005, Algorithm 1, step 24). */
#ifndef NY_PLACE_LANDMARKS_H
#define NY_PLACE_LANDMARKS_H

#include "place/transform.h"
#include "results/model.h"

/* Facts about the rows that a transform placed. */
struct ny_placed {
    uint64_t rows;
    double drift_trace_error; /* share of their trace that the landmarks leave out; NaN: unknown */
    size_t drift_rows;        /* rows that it was measured on */
};

/* Rows of a file → a file of the model's precision. */
int ny_transform_file(const struct ny_model *model, const struct ny_new_rows *rows,
                      struct ny_placed *placed);
/* Rows in memory, f32 in and out. */
int ny_transform_memory(const struct ny_model *model, const float *values, uint64_t rows,
                        float *embedding);

#endif
