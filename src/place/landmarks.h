/* Placing new points with a stored model: one streaming pass over them, no solve (Ouimet & Bengio
 * 2005, Algorithm 1, step 24). */
#ifndef NY_PLACE_LANDMARKS_H
#define NY_PLACE_LANDMARKS_H

#include "place/drift.h"
#include "place/transform.h"
#include "model/model.h"

/* Facts about the rows that a transform placed. */
struct ny_placed {
    struct ny_drift drift;
    uint64_t drift_rows;   /* rows that it was measured on */
    double length;         /* the median of some of them; NaN: not known */
    size_t columns_unseen; /* with values of theirs, which are dropped, and with none of the fit */
};

/* Places rows by a model, whose precision a file of coordinates has. `placed` NULL: nothing is
 * told, and no drift measured. */
int ny_transform_rows(const struct ny_model *model, struct ny_new_rows *rows,
                      struct ny_placed *placed);
/* Places `count` rows. What places up to NY_STRIP_ROWS, landmarks that are prepared and a tile,
 * stays with the model for the next call. drift->share of landmarks is exact where it is large
 * (ny_drift_is_large()), at most too large elsewhere, and NaN of up to 16 rows and where it cannot
 * be measured. */
int ny_transform_table(struct ny_model *model, struct ny_new_rows *rows, uint64_t count,
                       struct ny_drift *drift);

#endif
