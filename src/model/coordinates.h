/*
 * Turns the stored row of a point into its coordinates. Stored are the entries of its row of Û —
 * all eigenpairs, the trivial one of a divided kernel included, so that eigenvectors can be
 * exported — and, for asymmetric diffusion, 1/√d_i. svd, kpca and pca store Y = Û Λ̂^½ itself.
 */
#ifndef NY_MODEL_COORDINATES_H
#define NY_MODEL_COORDINATES_H

#include "base/context.h"
#include "job/record.h"

struct ny_coordinates {
    size_t pairs;    /* eigenpairs, as many as a stored row has entries of Û */
    size_t skip;     /* 1 where the first pair is trivial and no coordinate, else 0 */
    bool asymmetric; /* coordinates are multiplied by the entry after the pairs */
    bool normalize;  /* every row is then scaled to length 1; a zero row stays zero */
    double *scale;   /* pairs − skip factors, applied before that; NULL: 1 */
};

/* Returns the elements of a stored row. */
static inline size_t ny_coordinates_width(const struct ny_coordinates *how)
{
    return how->pairs + how->asymmetric;
}

/* Returns how many coordinates a row has. */
static inline size_t ny_coordinates_count(const struct ny_coordinates *how)
{
    return how->pairs - how->skip;
}

/* Tells whether stored rows are the coordinates. */
bool ny_coordinates_plain(const struct ny_coordinates *how);

/* Turns rows × width stored values, f32 or f64, into rows × count; `out` may be `stored`. */
void ny_coordinates_apply(const struct ny_coordinates *how, bool f64, const void *stored,
                          size_t rows, void *out);

/* NY_ENUMERIC when coordinates of rows first … first+count−1 are not finite: factors may overflow
 * where the stored rows did not. */
int ny_coordinates_check(const struct ny_coordinates *how, struct ny_context *ctx, bool f64,
                         const void *rows, uint64_t first, size_t count);
/* Tells whether coordinates are NaN: those of a row that no landmark reaches. */
bool ny_coordinates_unreached(bool f64, const void *row);
/* Checks coordinates by a divided kernel likewise, but lets those of unreached rows pass. */
int ny_coordinates_check_reached(const struct ny_coordinates *how, struct ny_context *ctx, bool f64,
                                 const void *rows, uint64_t first, size_t count);

/* Puts the form into a record and its state; in a record without it coordinates are plain. */
void ny_coordinates_put(const struct ny_coordinates *how, struct ny_record record,
                        struct ny_state *state);
/* Reads the form from a record. NY_ESTORE where the record contradicts itself. */
int ny_coordinates_parse(struct ny_coordinates *how, struct ny_context *ctx,
                         struct ny_record record);
/* Frees `scale`. */
void ny_coordinates_release(struct ny_coordinates *how, struct ny_context *ctx);

#endif
