/*
 * Measures how much of new rows the landmarks of a model leave out: Σδ/Σk(x,x) over a sample of
 * them, as an update does for appended rows (update/drift.c). Rows on another scale than
 * those of the fit, or in another order of columns, are left out nearly wholly.
 */
#ifndef NY_PLACE_DRIFT_H
#define NY_PLACE_DRIFT_H

#include <math.h>

#include "results/model.h"
#include "stream/source.h"

/* How far new rows are from the model, and those of the fit; NaN: not known. */
struct ny_drift {
    double share;    /* what landmarks leave out of their trace, or components of their variance */
    double fitted;   /* of the rows of the fit */
    double distance; /* of maps of the rows themselves: the mean squared distance of the new rows
                      * from the mean of the fit, over that of its own rows; NaN: of landmarks */
    double shrunk;   /* the median length of new rows over that which 19 in 20 rows of the fit have;
                      * NaN: they are not short, or it is not known */
};
static const struct ny_drift ny_drift_unknown = {NAN, NAN, NAN, NAN};

/* Every stride-th row of a stream; the stride doubles where there is no room. */
struct ny_drift_sample {
    struct ny_context *ctx;
    size_t row_bytes, room, count;
    uint64_t stride;
    char *rows; /* raw; NULL: nothing is measured */
};

/* Begins a sample of rows of `row_bytes`. A budget that has no room for it leaves it empty. */
void ny_drift_sample_begin(struct ny_drift_sample *sample, struct ny_context *ctx,
                           size_t row_bytes);
/* Takes the rows of a tile that are next in the sample. Tiles come in ascending order. */
int ny_drift_sample_take(struct ny_drift_sample *sample, const struct ny_tile *tile);
/* Frees the rows of a sample. */
void ny_drift_sample_release(struct ny_drift_sample *sample);

/* *error of the rows of a sample, which are of the type and slots of `spec`, as the landmarks are:
 * from the first 1,024 of them, where there are more. NaN where the sample is empty, the model has
 * no landmarks, or there is no room to measure it. */
int ny_drift_measure(const struct ny_columns_spec *spec, struct ny_raw_rows landmarks, size_t m,
                     const struct ny_drift_sample *sample, double *error);
/* Returns the median length of the rows of a sample, which are of the type and slots of `spec`; NaN
 * of up to 16 of them, where rows have no length, or there is no room to measure it. */
double ny_drift_length(const struct ny_columns_spec *spec, const struct ny_drift_sample *sample);
/* Compares a median length of new rows with the lengths of the first `rows` points of a store,
 * those of the fit: *shrunk as in struct ny_drift. Without a store, or with one in shards,
 * landmarks stand for them, where their lengths do not decide which rows are such. */
struct ny_store;
int ny_drift_shrunk(const struct ny_model *model, struct ny_store *store, uint64_t rows,
                    double length, double *shrunk);
/* Tells whether new rows of this drift are on another scale than those of the fit, or are other
 * things: beside `fitted`, the drift of these, or by itself where that is NaN. */
bool ny_drift_is_large(double drift, double fitted);
/* Tells whether half of the new rows are far shorter than nearly all of the fit. */
bool ny_drift_is_short(const struct ny_drift *drift);
/* Warns of a drift that is large; `from` is where the rows come from. */
void ny_drift_warn(struct ny_context *ctx, const char *from, const struct ny_drift *drift);
/* Returns the drift of new rows beside a model that knows how those of its fit lie: of these sums
 * over `rows` of them. */
struct ny_drift ny_drift_of_sums(const struct ny_model *model, uint64_t rows, double squares,
                                 double kept);
/* Returns the share that the landmarks leave out of the rows of a fit that are none themselves, if
 * it is `share` of all `rows` of them: nothing is left out of landmarks. NaN where all are. */
double ny_drift_of_others(double share, double landmarks, double rows);
/* *error: the share of the trace of the first `rows` points of the store, those of the fit, that
 * the landmarks leave out; where these were `chosen` among them, of the others. Measures up to 512
 * points, evenly spread; NaN if all are landmarks, or points and landmarks differ in type or slots.
 */
int ny_drift_of_store(const struct ny_model *model, struct ny_store *store, uint64_t rows,
                      bool chosen, double *error);

#endif
