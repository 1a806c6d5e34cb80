/*
 * Measures how much of new rows the landmarks of a model leave out: Σδ/Σk(x,x) over a sample of
 * them. Rows on another scale than those of the fit, or in another order of columns, are left out
 * nearly wholly. Transforms do so for the rows of a stream, and updates (update/drift.c) for those
 * that were appended: of as many rows both measure the same ones, and warn by the same rule.
 */
#ifndef NY_PLACE_DRIFT_H
#define NY_PLACE_DRIFT_H

#include <math.h>

#include "model/model.h"
#include "stream/rows.h"
#include "stream/source.h"

/* How far new rows are from the model, and those of the fit; NaN: not known. */
struct ny_drift {
    double share;    /* what landmarks leave out of their trace, or components of their variance */
    double error;    /* its standard error; NaN of one row, and of components */
    double fitted;   /* of the rows of the fit */
    double distance; /* of maps of the rows themselves: the mean squared distance of the new rows
                      * from the mean of the fit, over that of its own rows; NaN: of landmarks */
    double distance_others; /* the same without the farthest of the new rows; NaN of one row */
    double ratio; /* of exact ones: the mean square of the new rows over that of the rows of the
                   * fit, along the components or in what these leave out: that of the two which is
                   * surely larger (place/spread.h); NaN of up to 16 rows */
    double ratio_error; /* its standard error */
    bool beside;        /* it is of what the components leave out */
    double shrunk; /* the median length of new rows over that which 19 in 20 rows of the fit have;
                    * NaN: they are not short, or it is not known */
};
static const struct ny_drift ny_drift_unknown = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, false, NAN};

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
/* Returns the bytes that it then takes of a budget of which half is so many bytes. */
size_t ny_drift_sample_bytes(size_t row_bytes, size_t most, size_t left);
/* Takes the rows of a tile that are next in the sample. Tiles come in ascending order. */
int ny_drift_sample_take(struct ny_drift_sample *sample, const struct ny_tile *tile);
/* Frees the rows of a sample. */
void ny_drift_sample_release(struct ny_drift_sample *sample);

/* Sets the share of the trace Σk(x,x) that the residuals δ of these rows are, and its standard
 * error; NaN where the trace is 0. */
void ny_drift_of_rows(const float *residuals, const double *diagonal, size_t count,
                      struct ny_drift *drift);
/* Sets the share of the rows of a sample, which are of the type and slots of `spec`, as the
 * landmarks are, and its standard error: from the first 1,024 landmarks, where there are more. NaN
 * where the sample is empty, the model has no landmarks, or there is no room to measure it. */
int ny_drift_measure(const struct ny_columns_spec *spec, struct ny_raw_rows landmarks, size_t m,
                     const struct ny_drift_sample *sample, struct ny_drift *drift);
/* Returns the median length of the rows of a sample, which are of the type and slots of `spec`; NaN
 * of up to 16 of them, where rows have no length, or there is no room to measure it. */
double ny_drift_length(const struct ny_columns_spec *spec, const struct ny_drift_sample *sample);
/* Compares a median length of new rows with the lengths of the first `rows` points, those of the
 * fit: *shrunk as in struct ny_drift. Where X is NULL, landmarks stand for them, where their
 * lengths do not decide which rows are such. */
int ny_drift_shrunk(const struct ny_model *model, struct ny_rows *X, uint64_t rows, double length,
                    double *shrunk);
/* Tells whether new rows of this drift, which landmarks leave out, are on another scale than those
 * of the fit, or are other things. The share less two standard errors is then more than ten times
 * that of the fitted rows, and more than 0.1 %. Or it is more than half, unless nearly as much is
 * left out of the fitted rows: at least half as much, and at most ten times as much kept. Of one
 * row, which has no standard error, and where the fitted rows are not known, only the second
 * counts. */
bool ny_drift_is_large(const struct ny_drift *drift);
/* Tells whether half of the new rows are far shorter than nearly all of the fit. */
bool ny_drift_is_short(const struct ny_drift *drift);
/* Tells a drift that landmarks leave out, a warning where it is large, with the cure (a sentence
 * that begins with a blank, or ""); `from` is where the rows come from. */
void ny_drift_tell(struct ny_context *ctx, const char *from, const struct ny_drift *drift,
                   const char *cure);
/* Tells whether new rows spread far more than those of an exact fit: surely three times as much. */
bool ny_drift_is_wide(const struct ny_drift *drift);
/* Warns of new rows that lie elsewhere than those of an exact fit, or spread far more, with the
 * cure; else tells the drift that its components leave out. */
void ny_drift_tell_components(struct ny_context *ctx, const char *from,
                              const struct ny_drift *drift, const char *cure);
/* Warns of rows that are far shorter, or whose drift is large; else tells the drift. */
void ny_drift_judge(struct ny_context *ctx, const char *from, const struct ny_drift *drift);
/* Returns the share that the landmarks leave out of the rows of a fit that are none themselves, if
 * it is `share` of all `rows` of them: nothing is left out of landmarks. NaN where all are. */
double ny_drift_of_others(double share, double landmarks, double rows);
/* *share: that of the trace of the first `rows` points, those of the fit, that the landmarks leave
 * out; where these were `chosen` among them, of the others. Measures up to 512 points, evenly
 * spread; NaN if all are landmarks, or points and landmarks differ in type or slots.
 */
int ny_drift_of_points(const struct ny_model *model, struct ny_rows *X, uint64_t rows, bool chosen,
                       double *share);

#endif
