/*
 * Drift: how far the rows that come are from being drawn like those of the fit. Each row has one
 * figure, what the landmarks leave out of it, or without landmarks two: what the components leave
 * out, and where it lies along them. The drift is the largest distance between the
 * distributions of these figures over some of the new rows and over some of the fit, 0 to 1
 * (Kolmogorov and Smirnov). Transforms, appends and updates tell it in the same words.
 */
#ifndef NY_PLACE_DRIFT_H
#define NY_PLACE_DRIFT_H

#include <math.h>

#include "place/drift_rows.h"

struct ny_drift {
    double distance; /* the drift; NaN: not known */
    double share;    /* of the trace or variance of the new rows, that the model leaves out; */
    double fitted;   /* and of that of the rows of the fit */
    double above;    /* the share of the new rows whose residual is above a tolerance; NaN: there
                      * is none, or not all landmarks are used */
    size_t rows;     /* new rows that were measured, */
    size_t of_fit;   /* and rows of the fit */
};
static const struct ny_drift ny_drift_unknown = {NAN, NAN, NAN, NAN, 0, 0};

/* How figures are made. */
struct ny_drift_how {
    size_t landmarks; /* so many at most; 0: 1,024 */
    bool affine;      /* what their affine hull leaves out, instead of their span */
    double tolerance; /* NaN: none */
};

/* Learns how the rows of the fit, the first ones of X, lie about the model, from some of them.
 * Nothing is learnt where they are of another type, or there is no room. */
int ny_drift_learn(struct ny_model *model, struct ny_rows *X, const struct ny_drift_how *how);
/* Sets the drift of a sample, whose rows are of the type and slots of `spec`, as the landmarks are.
 * It is not known where nothing was learnt, the sample is empty, or there is no room. */
int ny_drift_measure(const struct ny_model *model, const struct ny_columns_spec *spec,
                     struct ny_raw_rows landmarks, const struct ny_drift_how *how,
                     const struct ny_drift_sample *sample, struct ny_drift *drift);

/* Returns the largest distance between the distributions of numbers that ascend; `larger`: where
 * those of `b` are larger. */
double ny_drift_distance(const double *a, size_t a_count, const double *b, size_t b_count,
                         bool larger);
/* Tells whether new rows are unlike those of the fit: the drift is more than 0.35, and more than
 * chance makes of rows that are drawn alike in one case of 200. */
bool ny_drift_is_large(const struct ny_drift *drift);
/* Tells a drift that is known, a warning where it is large, with the cure (a sentence that begins
 * with a blank, or ""); `from` is where the rows come from. */
void ny_drift_tell(struct ny_context *ctx, const char *from, const struct ny_drift *drift,
                   const char *cure);

#endif
