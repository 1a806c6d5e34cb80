/* Models of finished results, and of files that an export wrote. */
#ifndef NY_RESULTS_STORED_MODEL_H
#define NY_RESULTS_STORED_MODEL_H

#include "model/model.h"

struct ny_landmark_points;
struct ny_store;

/* Models are loaded into *out, which is NULL after an error; ny_model_free() them. */

/* Loads the model of a finished result, or fails with NY_EUSAGE if it has none. */
int ny_model_of_result(struct ny_model **out, struct ny_store *store, const char *name);
/* Reads landmarks first … first + as->count − 1 out of the model of a result, dense and in the type
 * of *as, f32 or f64: their rows may be those of other shards. NY_ESTORE where it lacks some. */
int ny_model_landmarks(struct ny_store *store, const char *name,
                       const struct ny_landmark_points *as, uint64_t first, void *rows);
/* Takes the names of its columns from the store that has made it, where these have some. */
int ny_model_take_columns(struct ny_model *model, struct ny_store *store);
/* Loads the model in a file, which is read into memory only after its magic was found. */
int ny_model_of_file(struct ny_model **out, struct ny_context *ctx, const char *path);

#endif
