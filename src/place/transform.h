/* Placing new points with a stored model: one streaming pass over them, no solve (Ouimet & Bengio
 * 2005, Algorithm 1, step 24). */
#ifndef NY_PLACE_TRANSFORM_H
#define NY_PLACE_TRANSFORM_H

#include "results/model.h"
#include "io/reader.h"
#include "io/writer.h"

/* Facts about the rows that a transform placed. */
struct ny_placed {
    uint64_t rows;
    double drift_trace_error; /* share of their trace that the landmarks leave out; NaN: unknown */
    size_t drift_rows;        /* rows that it was measured on */
};

/* Rows of a file → a file of the model's precision. options may say how to read; their dtype is
 * chosen here. NY_EDATA when d differs. Rows with NaN are refused. */
int ny_transform_file(const struct ny_model *model, const char *input,
                      const struct ny_reader_options *options, const char *output,
                      struct ny_placed *placed);
/* Rows in memory, f32 in and out. */
int ny_transform_memory(const struct ny_model *model, const float *values, uint64_t rows,
                        float *embedding);

/* Models are loaded into *out, which is NULL after an error; ny_model_free() them. */
struct ny_store;
/* Loads the model of a finished result, or fails with NY_EUSAGE if it has none. */
int ny_model_of_result(struct ny_model **out, struct ny_store *store, const char *name);
/* Loads the model in a file, which is read into memory only after its magic was found. */
int ny_model_of_file(struct ny_model **out, struct ny_context *ctx, const char *path);

#endif
