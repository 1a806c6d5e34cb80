/* Placing new points with a stored model: one streaming pass over them, no solve (Ouimet & Bengio
 * 2005, Algorithm 1, step 24). */
#ifndef NY_PLACE_LANDMARKS_H
#define NY_PLACE_LANDMARKS_H

#include "place/drift.h"
#include "place/transform.h"
#include "model/model.h"

/* Facts about the rows that a transform placed. */
struct ny_placed {
    struct ny_drift drift; /* not known where nothing was learnt (ny_drift_learn()) */
};

/* Has a model learn how the rows of its fit, the first ones of X, lie (ny_drift_learn()), where
 * there is room for that. */
int ny_transform_learn(struct ny_model *model, struct ny_rows *X, const struct ny_drift_how *how);
/* Places rows by a model, whose precision a file of coordinates has. `placed` NULL: nothing is
 * told, and no drift measured. */
int ny_transform_rows(const struct ny_model *model, struct ny_new_rows *rows,
                      struct ny_placed *placed);
/* Places `count` rows. What places up to NY_STRIP_ROWS, landmarks that are prepared and a tile,
 * stays with the model for the next call. The drift is not known of up to 16 rows, nor where
 * nothing was learnt by ny_drift_of_tables. */
extern const struct ny_drift_how ny_drift_of_tables;
int ny_transform_table(struct ny_model *model, struct ny_new_rows *rows, uint64_t count,
                       struct ny_drift *drift);

#endif
