/*
 * Sums of fits over the same landmarks: s, G, t and ω of pass 1 (spectral/accumulator.h) with all
 * that solving them takes, which is the landmarks and not the rows. Those of several stores, or of
 * batches of rows, are added up, carried about as bytes, and solved to a model.
 *
 * All parts of a sum agree in its base, a model without a map: the kernel and its width, the
 * landmarks, their geometry, the shift a of their tiles, and the names of columns; and in the
 * options of the fit. The
 * centre that a part's rows have for their differences is its own, which moves no distance but in
 * its rounding; the base has that of the first part. Where the columns of the points stand for
 * landmarks, sums are about the centre, and are moved to that of the first. A part is known by a
 * digest of its sums, so that none is added twice.
 */
#ifndef NY_MERGE_SUMS_H
#define NY_MERGE_SUMS_H

#include <jansson.h>

#include "fit/settings.h"
#include "model/model.h"
#include "store/store.h"

struct ny_summed {
    struct ny_context *ctx;
    json_t *about;         /* its fields are told below */
    struct ny_model *base; /* its map is one column of zeros */
    struct ny_accumulator *acc;
};

/* Fields of `about`:
 *
 *   options  identity of the options of the fits (api/options.h), without those that name landmarks
 *   gram     precision of the tile Grams, "f32" or "f64"; f32 if that of any part is
 *   noise    what f32 Grams lose (fit/gram_noise.h), the most of all parts; absent: nothing
 *   parts    [digest, rows] of each part, in the order in which they came
 */

/* Takes out of the identity of options those that the base has. */
void ny_summed_bare_options(json_t *options);
/* Takes the sums of a result that has them: one that was to end with them, or one that is done. Its
 * record and settings are the caller's. Holds W while the shift is found. NY_EUSAGE where it has
 * none. */
int ny_summed_of_result(struct ny_summed **out, struct ny_store *store, const char *name,
                        const json_t *record, const struct ny_fit_settings *settings);
/* Frees the sums; NULL is allowed. */
void ny_summed_free(struct ny_summed *sums);
/* Tells whether the columns of the points stand for landmarks (pca by exact). */
bool ny_summed_columns(const struct ny_summed *sums);
/* Returns the points as a fit of all rows would see them: n, d, their type and slots. */
struct ny_rows_info ny_summed_points(const struct ny_summed *sums);
/* Returns how the landmarks are kept; count 0: columns stand for them. */
struct ny_landmark_points ny_summed_landmarks(const struct ny_summed *sums);
/* Makes the name of a batch part of its digest, so that equal batches of different names are
 * different parts, as are equal ones of one name that are added to `sums` (NULL: none) one after
 * the other. */
int ny_summed_name_batch(struct ny_summed *batch, const char *name, const struct ny_summed *sums);
/* Adds the parts of `more` to `sums`, whose columns of the same names may come in another order:
 * `more` is then turned. NY_EDATA where rows differ, NY_EUSAGE where all else that parts agree in
 * does, or they have a part in common; the sums have not changed then. `option` is one whose values
 * in the options of both differ (NULL: none does), which the caller knows; `more_name` and `name`
 * are for messages. */
int ny_summed_add(struct ny_summed *sums, const char *name, struct ny_summed *more,
                  const char *more_name, const char *option);

/* Makes the image: a header, `about` as text, the image of the base, that of the sums and a
 * checksum. ny_free() it; NULL after an error. */
int ny_summed_image(const struct ny_summed *sums, void **image, size_t *bytes);
/* Makes sums from their image. NY_ESTORE if it is not an image of sums, is of a later version, cut
 * short or damaged; `where` names it. */
int ny_summed_load(struct ny_summed **out, struct ny_context *ctx, const void *image, size_t bytes,
                   const char *where);

/* Solves the sums: the model, and the report of a fit of all rows. The sums stay. NY_EUSAGE where
 * there are fewer rows than components, NY_ENUMERIC where f32 sums are too coarse for the result.
 */
int ny_summed_solve(const struct ny_summed *sums, const struct ny_fit_settings *settings,
                    struct ny_model **model, json_t **report);

#endif
