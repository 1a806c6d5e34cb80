/* The rows by which a drift is measured (place/drift.h): some of the new ones, the same whether
 * they come as a stream or lie in a store, and some of the fit. */
#ifndef NY_PLACE_DRIFT_ROWS_H
#define NY_PLACE_DRIFT_ROWS_H

#include "model/model.h"
#include "stream/rows.h"
#include "stream/source.h"

/* Returns how many rows of so many bytes are measured at most: 2,048, and of wide ones down to 256.
 * It is a power of two. */
size_t ny_drift_room(size_t row_bytes);
/* Returns how many rows of the fit are measured at most, to compare them with. */
size_t ny_drift_fitted_rows(size_t row_bytes);
/* Draws those of `rows` rows that are measured: all where there is room, else one of each slice of
 * 2, 4, 8, … rows. Writes their numbers, ascending, and returns how many there are, at most `room`,
 * which is even. */
size_t ny_drift_draw(uint64_t rows, size_t room, uint64_t *numbers);

/* Rows of a stream, the same that ny_drift_draw() draws; slices get longer where there is no room.
 */
struct ny_drift_sample {
    struct ny_context *ctx;
    size_t row_bytes, room, count;
    unsigned level; /* slices have 2^level rows */
    char *rows;     /* raw; NULL: nothing is measured */
};

/* Begins a sample of up to ny_drift_room() rows of `row_bytes`, and at most `most`, a power of two
 * or more than all where rows come as a stream. A budget that has no room for them gives it half of
 * them, a quarter, …, or none. */
void ny_drift_sample_begin(struct ny_drift_sample *sample, struct ny_context *ctx, size_t row_bytes,
                           size_t most);
/* Counts what it takes of a budget. */
void ny_drift_sample_count(struct ny_layout *l, size_t budget, size_t row_bytes, size_t most);
/* Takes the rows of a tile that are next in the sample. Tiles come in ascending order. */
int ny_drift_sample_take(struct ny_drift_sample *sample, const struct ny_tile *tile);
/* Takes rows first … end−1 of X, which are of the type and slots of `spec`: those that a stream of
 * them would give. */
int ny_drift_sample_rows(struct ny_drift_sample *sample, const struct ny_columns_spec *spec,
                         struct ny_rows *X, uint64_t first, uint64_t end);
/* Takes rows of the fit, the first ones of X, evenly spread; none where they are of another type
 * than those of the model. */
int ny_drift_sample_fitted(struct ny_drift_sample *sample, const struct ny_model *model,
                           struct ny_rows *X);
/* Frees the rows of a sample. */
void ny_drift_sample_release(struct ny_drift_sample *sample);

#endif
