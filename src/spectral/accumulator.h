/*
 * Pass 1: what the points say together — s = Cᵀ1, G = CᵀC, t = Σ k(x_i,x_i) — of shifted tiles
 * C′ = C − 1aᵀ, from which the unshifted follow in f64 (spectral/gram.c). With row weights
 * w_i² = 1/d_i (divisive normalisation) s = Σ w_i² c_i, G = Σ w_i² c_i c_iᵀ, t = Σ w_i² k(x_i,x_i),
 * ω = Σ w_i²; without, w = 1 and ω = n.
 */
#ifndef NY_SPECTRAL_ACCUMULATOR_H
#define NY_SPECTRAL_ACCUMULATOR_H

#include "base/layout.h"
#include "linalg/matrix.h"

/* The precision of the tile Gram; NONE: s, t and ω alone. */
enum ny_gram_precision { NY_GRAM_F32, NY_GRAM_F64, NY_GRAM_NONE };

struct ny_accumulator {
    struct ny_context *ctx;
    struct ny_layout own;
    size_t m;
    double *s; /* m: s′ = Σ w_i² c′_i */
    struct ny_matrix G; /* m × m, lower triangle: G′ = Σ w_i² c′_i c′_iᵀ; the upper one is scratch.
                         * at = NULL: sums alone */
    double t;           /* Σ w_i² k(x_i, x_i) */
    double omega; /* Σ w_i² */
    uint64_t rows;
    double round_G, round_s; /* see ny_accumulator_round(); 0: sums are added as they are */
    bool watched;            /* see ny_accumulator_watch() */
    bool rounded;            /* some addition was not exact */
};

/* One worker's share: the sums over one unit. */
struct ny_partial {
    enum ny_gram_precision precision;
    size_t m;
    double *s;
    float *G32;        /* the Gram, m × m, lower triangle, for F32 */
    double *G64, *C64; /* the Gram for F64, and a strip of the tile widened */
    double t, omega;
    size_t rows;
    bool shared; /* the Gram in f64 is made in blocks, which ny_tile_share() shares out */
};

/* Makes an accumulator of m columns, all sums zero; it takes 8·m·(m + 1) bytes. NY_EBUDGET. */
int ny_accumulator_new(struct ny_accumulator **out, struct ny_context *ctx, size_t m);
/* Makes an accumulator of s, t and ω alone. */
int ny_accumulator_new_sums(struct ny_accumulator **out, struct ny_context *ctx, size_t m);
/* Frees an accumulator; NULL is allowed. */
void ny_accumulator_free(struct ny_accumulator *acc);
/* Counts an accumulator with G. */
void ny_accumulator_count(struct ny_layout *l, size_t m);
/* Lays out the partial of one worker. Its buffers follow from the precision: NONE has no Gram. */
struct ny_partial *ny_partial_lay(struct ny_layout *l, size_t m, enum ny_gram_precision precision);

struct ny_tile;
/* The rows of a tile besides C: `count` of them, with k(x,x) and w of each (NULL: 0, and 1). */
struct ny_tile_rows {
    size_t count;
    const double *diagonal, *weights;
    const struct ny_tile *tile; /* whose pass may help with the blocks of the Gram; or NULL */
};

/* Computes the partial sums of the tile C (NY_UNIT_ROWS × m, rows beyond `count` zero), whose rows
 * have been multiplied by their weights. */
void ny_partial_set(struct ny_partial *partial, struct ny_matrix32 C,
                    const struct ny_tile_rows *rows);
/* Like ny_partial_set(), for a tile in f64; the partial is not one of NY_GRAM_F32. */
void ny_partial_set64(struct ny_partial *partial, struct ny_matrix C,
                      const struct ny_tile_rows *rows);
/* Adds the partial to acc, as one step of the left fold. */
void ny_accumulator_fold(struct ny_accumulator *acc, const struct ny_partial *partial);

/* Has the fold of f32 Grams round their entries, and those of s, to multiples of a grid before it
 * adds them: so sums of up to `rows` rows of |c′| ≤ bound are exact, in any order and however rows
 * are cut into shards (the pre-rounding of Demmel & Nguyen 2013). The grids, rows · bound² · 2⁻⁵²
 * and rows · bound · 2⁻⁵² at least, are finer than the f32 products of a unit by far. */
void ny_accumulator_round(struct ny_accumulator *acc, double bound, uint64_t rows);
/* Has the fold of f32 Grams notice additions that are rounded, where no bound is known. While none
 * is, sums do not depend on how rows are cut into shards. */
void ny_accumulator_watch(struct ny_accumulator *acc);

/* Sets acc = keep·acc + take·other, of the same m and both with G; factors of 1 lose nothing. */
void ny_accumulator_add(struct ny_accumulator *acc, double keep, const struct ny_accumulator *other,
                        double take);

struct ny_peers;
/* Adds to the sums of this peer those of all others, in the order of the shards. */
int ny_accumulator_fold_peers(struct ny_accumulator *acc, struct ny_peers *peers);
/* Counts what this holds while it runs, for m columns with G. */
void ny_accumulator_fold_count(struct ny_layout *l, size_t m);

/* One worker's share of what joined columns add over one unit: their s, and their columns of the
 * Gram, CᵀC_joined (m × joined). */
struct ny_joined_partial {
    enum ny_gram_precision precision;
    size_t m, joined;      /* columns in all; columns that joined */
    const size_t *columns; /* numbers of the joined columns, ascending; borrowed */
    double *s;             /* their sums */
    float *G32, *C32;      /* F32: m × joined; the tile's joined columns */
    double *G64, *C64;     /* F64: the same, and a strip of the tile widened */
    double *strip;
};

/* Lays out a partial for so many columns, whose numbers the caller sets. */
struct ny_joined_partial *ny_joined_partial_lay(struct ny_layout *l, size_t m, size_t joined,
                                                enum ny_gram_precision precision);
/* Computes partial = s of the joined columns and CᵀC_joined of a tile whose first `rows` rows hold
 * points. */
void ny_joined_partial_set(struct ny_joined_partial *partial, struct ny_matrix32 C, size_t rows);
/* Like ny_joined_partial_set(), for a tile in f64. */
void ny_joined_partial_set64(struct ny_joined_partial *partial, struct ny_matrix C, size_t rows);
/* Adds the partial to s and to the rows and columns of G that belong to joined columns. */
void ny_accumulator_fold_joined(struct ny_accumulator *acc,
                                const struct ny_joined_partial *partial);

/* Adds columns whose rows so far are gone. Column c_j is replaced by its projection on the columns
 * that are there, C b_j, with b_j the columns of B (m × added). *acc NULL: makes a new one, and B
 * has no rows. */
int ny_accumulator_join(struct ny_accumulator **acc, struct ny_context *ctx, struct ny_matrix B);

/* Returns the bytes of the image for a checkpoint: rows, t, s of m columns, the packed lower
 * triangle of G where there is one, and ω. */
size_t ny_accumulator_image_bytes(size_t m, bool gram);
/* Writes bytes at … at+count−1 of the image to `piece`, so that no copy of all of it is needed. */
void ny_accumulator_save(const struct ny_accumulator *acc, size_t at, size_t count, void *piece);
/* Reads all of the image of an accumulator of the same m, with or without G as it was saved. */
void ny_accumulator_restore(struct ny_accumulator *acc, const void *image);
/* Restores the image of an accumulator of m columns: its column j becomes column place[j] here, or
 * none if that is SIZE_MAX. Other columns of this one stay as they are, zero. */
void ny_accumulator_restore_placed(struct ny_accumulator *acc, const void *image, size_t m,
                                   const size_t *place);
/* Makes column j of the sums, which have G, the one that was column place[j]: *acc is made anew.
 * NY_EBUDGET. */
int ny_accumulator_turn(struct ny_accumulator **acc, const uint32_t *place);
/* Turns sums of C − 1aᵀ into those of C − 1(a + delta)ᵀ; delta is 0 for columns not yet there. */
void ny_accumulator_shift(struct ny_accumulator *acc, const double *delta);
/* Likewise where columns are those of the rows x: their trace Σ‖x‖² becomes Σ‖x − delta‖². */
void ny_accumulator_move(struct ny_accumulator *acc, const double *delta);

#endif
