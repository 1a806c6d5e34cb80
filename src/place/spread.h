/*
 * Measures how far new rows spread beside those of an exact fit by a linear kernel or cosine, which
 * has no landmarks that could leave something out. Transforms do so for all new rows
 * (place/landmarks.c), and frozen updates for those that are drawn (update/drift.c).
 */
#ifndef NY_PLACE_SPREAD_H
#define NY_PLACE_SPREAD_H

#include "fit/projector.h"
#include "place/drift.h"

/* Sums over a figure of rows. */
struct ny_spread_sums {
    double sum, squares;
};

/* The sums over new rows, and what the model says of the rows of its fit. */
struct ny_spread {
    const struct ny_model *model;
    size_t counted; /* components that are above rounding, the first ones; 0: not known */
    double left;    /* the mean of what these leave out of a row of the fit, 1e-4 of it at least */
    uint64_t rows;  /* new ones */
    double squares, kept; /* of them: Σ‖φ − μ‖² and Σ‖y‖² */
    double farthest;      /* the largest of these ‖φ − μ‖² */
    /* Each row has two figures: the mean of y²/λ over the components, where λ is the mean y² of
     * the rows of the fit, and ‖φ − μ‖² − Σy² over `left`. */
    struct ny_spread_sums along, beside;
};

/* Begins the sums for a model that knows the variance of its fit, and is borrowed. */
void ny_spread_begin(struct ny_spread *spread, const struct ny_model *model);
/* Adds the rows of a tile, which the projector has placed; its u is the mean of the fit. Tiles come
 * one at a time, in ascending order. */
void ny_spread_take(struct ny_spread *spread, const struct ny_projector *projector,
                    const struct ny_tile *tile);
/* Returns the drift of the rows that were added. */
struct ny_drift ny_spread_drift(const struct ny_spread *spread);
/* Places rows, which `spec` describes, by a model that knows the variance of its fit, and sets
 * their drift. */
int ny_spread_measure(const struct ny_model *model, const struct ny_columns_spec *spec,
                      struct ny_source *rows, struct ny_drift *drift);

#endif
