/*
 * A front: rows of one unit on their way through the forward substitution Z = L⁻¹k, panel of
 * columns by panel. δ = k(x,x) − ‖Z‖² only falls on the way, so a row leaves the front as soon as
 * it is known to be small enough.
 *
 * f32 decides only what it can decide: its δ is off by 2e-6 … 6e-6·k(x,x), whatever ε is, so a row
 * is rejected when δ ≤ ε − band, and goes on to f64 when it is not. The band supposes
 * ε ≥ NY_EXACT_BELOW·k, for all the rows and landmarks in play; below, all is f64.
 *
 * Greedy selection is the reason for the band. δ from f32 is off by some 4e-6·k(x,x) on 12,000
 * MNIST digits and 1,000 landmarks, whatever ε is: f32 rejects what lies below the band, f64
 * decides the rest, and so the dictionary is that of f64.
 */
#ifndef NY_SELECT_FRONT_H
#define NY_SELECT_FRONT_H

#include "select/dictionary_private.h"

struct ny_rows;

#define NY_BAND 2e-5        /* relative to max(k(x,x), k′(x,x)) */
#define NY_EXACT_BELOW 1e-4 /* ε below this share of the largest k: f64 */
#define NY_NOT_PSD 1e-6     /* δ < −this·k(x,x): the kernel is not positive semi-definite */

enum {
    NY_FRONT_STRIP = 64,  /* rows that are prepared at once, on their way into the front */
    NY_FRONT_BLOCK = 128, /* rows that are decided at once, in f64 */
    NY_EARLY_ROWS = 256   /* rows of a unit whose Z in f64 is kept for that */
};
#define NY_NOT_EARLY UINT32_MAX

/* Rows, of which `count` are still in. All arrays have the same order, that of the rows. */
struct ny_front {
    struct ny_layout own; /* without Z and the room, which grow */
    size_t rows_max;      /* rows that there is room for */
    size_t d, row_bytes;  /* d: numbers of a dense row; values of a sparse one on average */
    size_t count;
    size_t done;     /* columns in Z */
    uint32_t *index; /* the row's number in its unit */
    uint32_t *early; /* its row in the worker's early Z, or NY_NOT_EARLY */
    char *raw;       /* rows × row_bytes, and a few bytes that may be read past them; of sparse
                      * rows views of what is packed in `room` */
    enum ny_dtype dtype;
    size_t slots; /* a sparse row has so many; 0: dense */
    struct ny_sparse_room room;
    float *rows, *norms; /* as in struct ny_strip; NULL where strips have none */
    uint32_t *byte_terms;
    double *k;        /* k(x,x) */
    double *origin_k; /* k(x,x₁), for the affine hull */
    double *scale;    /* max(k(x,x), k′(x,x)): what errors are relative to */
    double *delta;
    float *Z; /* rows × stride */
    size_t stride;
    double flops; /* counted by the steps */
};

/* f64 work space of one worker: Z and S = K_BB − ZZᵀ of one block. Early: Z and δ of rows that the
 * worker could not reject, against the prefix that it had. */
struct ny_exact {
    struct ny_layout own;
    size_t width; /* the most columns of a step */
    struct ny_columns_room *room;
    double *Z;     /* NY_FRONT_BLOCK × stride, and room to pack rows of L */
    double *early; /* NY_EARLY_ROWS × stride */
    size_t stride, early_stride;
    double *early_delta; /* NY_EARLY_ROWS */
    double *S, *V;       /* NY_FRONT_BLOCK² */
    double *delta;       /* NY_FRONT_BLOCK */
    double flops;
};

/* Makes a front with room for `rows` rows, and a work space for steps of at most `width` columns; Z
 * and the strips come with the first rows. Free them also when it fails: NY_EBUDGET. */
int ny_front_new(struct ny_front *front, struct ny_exact *exact, const struct ny_columns_spec *spec,
                 size_t rows, size_t width);
/* Frees what ny_front_new() and the steps have allocated. */
void ny_front_free(struct ny_front *front, struct ny_exact *exact);
/* Counts what ny_front_new() makes, and what ny_exact_schur() takes. */
void ny_front_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t rows);
/* Counts what the first rows and Z of `columns` columns bring, but for an early Z. */
void ny_front_later_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t rows,
                          size_t width, size_t columns);
/* Counts an early Z of `columns` columns. */
void ny_early_count(struct ny_layout *l, size_t columns);

/* Returns the numbers between two rows of Z, of `size` bytes each, with room to grow. With a
 * multiple of a page, rows would compete for the same cache sets. */
static inline size_t ny_front_stride(size_t columns, size_t size)
{
    size_t panels = (columns + columns / 8 + NY_DICTIONARY_PANEL) / NY_DICTIONARY_PANEL;

    return panels * NY_DICTIONARY_PANEL + 64 / size;
}
/* Returns the rows of the front as they were read. */
static inline struct ny_raw_rows ny_front_rows(const struct ny_front *front)
{
    const struct ny_sparse *views = (const struct ny_sparse *)(const void *)front->raw;

    return front->slots ? ny_raw_list(views) : ny_raw_rows(front->raw);
}

/* Fills the front with the rows of a tile from `first` on: as many as it may have (rows_max). δ is
 * not set. The workspace is for strips of NY_FRONT_STRIP rows. */
int ny_front_load(struct ny_front *front, const struct ny_dictionary *dictionary,
                  struct ny_columns_workspace *workspace, const struct ny_tile *tile, size_t first);
/* Fills the front with these rows of the points, all or as many of the first ones as there is room
 * for, which front->count tells. Neither k(x,x) nor δ is set. */
int ny_front_gather(struct ny_front *front, struct ny_rows *X, const uint64_t *rows, size_t count);
/* Sets δ to k(x,x), or k′(x,x) of the kernel translated by the first landmark. */
int ny_front_begin(struct ny_front *front, const struct ny_dictionary *dictionary);
/* Makes room for Z of this many columns; the contents of Z stay. */
int ny_front_reserve(struct ny_front *front, size_t columns);
/* Moves row `from` to the place of row `to` ≤ from. */
void ny_front_move(struct ny_front *front, size_t to, size_t from);
/* Returns the most by which rounding may have moved an f64 δ of row i after `rank` columns. */
double ny_front_slack(const struct ny_front *front, size_t i, size_t rank);
/* Returns an upper bound of a residual as a float: rounded up, never negative. */
float ny_delta_bound(double delta);
/* Rows first … first+count−1 as a front of their own, in the same memory. */
struct ny_front ny_front_view(const struct ny_front *front, size_t first, size_t count);

/* Makes one step in f32: the columns done … to−1, all of one panel, are added to Z and taken off δ.
 */
void ny_front_step(struct ny_front *front, const struct ny_dictionary *dictionary,
                   const struct ny_prefix *prefix, size_t to);
/* Returns the end of the panel that column `done` is in, or `rank` where that is less. */
size_t ny_front_next(size_t done, size_t rank);

/* Does the same as ny_front_begin() in f64, for at most NY_FRONT_BLOCK rows, with Z and δ in
 * `exact`; a step for each panel follows, from = 0, ny_front_next(0), … */
int ny_exact_begin(struct ny_exact *exact, const struct ny_front *front,
                   const struct ny_dictionary *dictionary, size_t rank);
/* Does one step in f64: takes the columns from `from` to the end of their panel off δ. */
int ny_exact_step(struct ny_exact *exact, const struct ny_front *front,
                  const struct ny_dictionary *dictionary, const struct ny_prefix *prefix,
                  size_t from);
/* Takes up the early Z, if all rows have one of `early` columns: the steps then start there.
 * Returns false, and does nothing, if a row has none. */
bool ny_exact_resume(struct ny_exact *exact, const struct ny_front *front, size_t early);
/* Keeps Z (`done` columns) and δ of the block's rows for later, as many as there is room for;
 * `kept` rows are there already. */
int ny_exact_keep(struct ny_exact *exact, struct ny_front *front, size_t kept, size_t done);
/* Moves row `from`, with its `done` columns, to the place of row `to`. */
void ny_exact_move(struct ny_exact *exact, size_t to, size_t from, size_t done);
/* Computes S = K_BB − ZZᵀ after the last step; the lower triangle is used. */
int ny_exact_schur(struct ny_exact *exact, const struct ny_front *front,
                   const struct ny_dictionary *dictionary, size_t rank);
/* Adds row i of the block to the dictionary as `row`, after `taken` others of the block. Its row of
 * L is pushed, and one step of a Cholesky factorisation of S takes it off the rows after it. */
int ny_exact_join(struct ny_exact *exact, const struct ny_front *block,
                  struct ny_dictionary *dictionary, uint64_t row, size_t i, size_t taken);

#endif
