/* Pass 2 on one tile: Y = C′P + 1qᵀ, divided by √d_i where the kernel is, in f32, or f64 where the
 * model is: stored rows (model/coordinates.h). */
#ifndef NY_FIT_PROJECTOR_H
#define NY_FIT_PROJECTOR_H

#include "fit/feature_projector.h"

struct ny_projector {
    struct ny_layout own;
    const struct ny_model *model;
    struct ny_columns *columns; /* NULL where the kernel has features: there are no tiles then */
    struct ny_tiles tiles;
    struct ny_feature_projector features;
    double *diagonal; /* k(x,x) where there are features: workers × NY_UNIT_ROWS */
    const double *u;  /* features: products φ_i·u take the place of roots; NULL: they do not */
    size_t width;     /* elements of a stored row */
    double degree_offset;
    uint64_t kept;      /* rows before this one are left out of the sums */
    bool wants_entries; /* NY_SUM_ENTRIES is summed too, which reads the whole tile again */
    float *P32;         /* P, m × p; its transpose where p is small */
    float *Y32;         /* workers × NY_UNIT_ROWS × width */
    double *Y64;
    double *roots;                       /* d_i^-½ of a divided kernel, workers × NY_UNIT_ROWS */
    struct ny_unreached_rows *unreached; /* in the last tile of each worker */
    double *sums; /* workers × 3: Σ‖y‖², Σ k(x,x), Σ_ij c′_ij of the worker's last tile */
};

enum { NY_SUM_SQUARES, NY_SUM_DIAGONAL, NY_SUM_ENTRIES, NY_SUMS };

/* Makes a projector for raw rows of `dtype`. `model` must outlive it. */
int ny_projector_new(struct ny_projector *projector, const struct ny_model *model,
                     enum ny_dtype dtype, size_t slots, unsigned workers);
/* From here on no tile has more than NY_STRIP_ROWS rows. */
void ny_projector_shorten(struct ny_projector *projector);
/* Frees what ny_projector_new() made; the model stays. */
void ny_projector_release(struct ny_projector *projector);

/* Tells what a projector is laid out for. */
struct ny_projector_shape {
    const struct ny_columns_spec *spec; /* of the rows that are placed */
    size_t m, p, width;                 /* landmarks, pairs, numbers of a stored row */
    enum ny_precision precision;
    unsigned workers;
};
/* Lays out the buffers of a projector. */
void ny_projector_lay(struct ny_layout *l, struct ny_projector *projector,
                      const struct ny_projector_shape *shape);

/* Returns the operations that a row takes: those of its tile and of C′P, or of ΦP alone. */
double ny_projector_flops(const struct ny_columns_spec *spec, size_t m, size_t p);

/* Computes the tile's stored rows; NY_ENUMERIC when one is not finite. The result: tile->rows ×
 * width elements, packed, float or double; with its sums, and the rows that no landmark reaches,
 * which are NaN and in no sum. */
int ny_projector_tile(struct ny_projector *projector, const struct ny_tile *tile);
/* Returns the stored rows of the worker's last tile, which belong to the projector. */
void *ny_projector_rows(const struct ny_projector *projector, unsigned worker);
/* Returns element k of stored row i of it. */
static inline double ny_projector_number(const struct ny_projector *projector, unsigned worker,
                                         size_t i, size_t k)
{
    size_t at = ((size_t)worker * NY_UNIT_ROWS + i) * projector->width + k;

    return projector->Y64 ? projector->Y64[at] : (double)projector->Y32[at];
}

/* Returns w = d^-½ of row i of it, or 1 where K is not divided; NaN: no landmark reaches the row.
 */
static inline double ny_projector_weight(const struct ny_projector *projector, unsigned worker,
                                         size_t i)
{
    return projector->model->degrees.v ? projector->roots[(size_t)worker * NY_UNIT_ROWS + i] : 1;
}

/* Returns k(x,x) of the rows of the worker's last tile. */
const double *ny_projector_diagonal(const struct ny_projector *projector, unsigned worker);
/* Returns the NY_SUMS sums of the worker's last tile. */
const double *ny_projector_sums(const struct ny_projector *projector, unsigned worker);

#endif
