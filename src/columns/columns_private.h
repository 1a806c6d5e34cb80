/* Shared by the files of this folder: the parts of ny_columns. */
#ifndef NY_COLUMNS_COLUMNS_PRIVATE_H
#define NY_COLUMNS_COLUMNS_PRIVATE_H

#include "columns/columns.h"
#include "columns/sparse_index.h"
#include "columns/vector.h"

/* Up to so many columns, a sum of (x − y)² costs no more than x·y and the norms. */
enum { NY_DIRECT_COLUMNS = 8 };

/*
 * Tells how raw rows become prepared ones, (x − centre)·factor.
 *
 * It is the geometry, in units that suit f32, with params to match: for distances the rows are also
 * scaled by the power of two next to √γ (γ for ‖·‖₁), so that no scale of the data overflows; that
 * is exact. Distances of unscaled integers do not depend on the centre: it is rounded to whole
 * numbers for them, so that all rows are exact in f32.
 */
struct ny_preparation {
    enum ny_way way;
    double *centre, *factor;        /* d each; for sparse rows those of the geometry, times unit */
    double unit;                    /* that power of two */
    struct ny_kernel_params params; /* for prepared rows */
    struct ny_kernel_params strip_params; /* for what ny_strip_base() gives */
    double centre_norm;                   /* ‖centre·factor‖², for sparse rows */
    bool centred;                         /* centre_norm is not 0 */
    bool plain;                           /* all factors of the geometry of sparse rows are 1 */
};

/* Below this share of ‖x‖² + ‖y‖², the ‖x − y‖² that f64 products give has lost too many digits; so
 * has 1 − cos below this. Such values are summed again from the differences of the two rows. */
#define NY_CANCELLATION 1e-6

/* Tells whether the value of a half-chord kernel is to be summed again: it is small, and the
 * products were rounded (those of `whole` numbers are exact up to 2⁵³). */
static inline bool ny_chord_is_lost(double value, double x_norm, double y_norm, bool whole)
{
    return value < NY_CANCELLATION && !(whole && x_norm * y_norm <= 0x1p53);
}

/* Rows are whole numbers as they are. */
bool ny_unscaled_integers(const struct ny_columns_spec *spec);
/* Lays out and sets the way, the units and the parameters that rows are prepared with, for a kernel
 * of this γ (1 where it has none). */
void ny_preparation_lay(struct ny_layout *l, struct ny_preparation *preparation,
                        const struct ny_columns_spec *spec, double gamma);

/* Writes the prepared row, d values, to `out` in f64. */
void ny_preparation_row(const struct ny_preparation *preparation,
                        const struct ny_columns_spec *spec, const void *raw, double *out);
/* Writes the prepared row to `out` in f32 through `scratch` (d doubles), of unit length where the
 * kernel asks for that; returns its squared norm. */
float ny_preparation_row32(const struct ny_preparation *preparation,
                           const struct ny_columns_spec *spec, const void *raw, double *scratch,
                           float *out);

/* An array with a place for each landmark. */
struct ny_landmark_array {
    void *at;    /* where the columns keep its address */
    size_t each; /* bytes of a landmark; 0: the way has no such array */
};

struct ny_columns {
    struct ny_columns_spec spec;
    struct ny_landmark_array arrays[8]; /* those below */
    struct ny_layout own;               /* of the preparation */
    struct ny_preparation preparation;
    size_t row_bytes; /* a raw row takes so many */
    size_t count, capacity;
    bool minus_one;
    const double *near;         /* borrowed: ny_columns_set_near() */
    unsigned char *raw;         /* dense: capacity × d */
    struct ny_sparse_list held; /* sparse: the raw rows */
    float *norms;               /* ‖y‖² of prepared rows; 0 where the way gives d² itself */
    float *panels;              /* capacity/NY_PANEL panels of d × NY_PANEL: y, or where the way is
                                 * ‖x‖² + ‖y‖² − 2x·y, −2y */
    int8_t *bytes;            /* bytes: panels of ⌈d/4⌉ × NY_PANEL × 4, y − NY_BYTE_BIAS */
    uint32_t *byte_norms;     /* bytes: ‖y‖² */
    float *shift, *shift_low; /* a, or a − 1, in two parts */
    float *zeros;             /* the shift of unshifted blocks */
    struct ny_sparse_index index; /* sparse: of the raw rows */
};

struct ny_columns_workspace {
    size_t rows_max, raw_rows; /* rows of a strip, and rows that are read at once */
    unsigned char *raw; /* these rows, and a few bytes that the byte kernel may read past it */
    float *rows, *norms;
    uint32_t *byte_terms;     /* ‖x‖² − 2 NY_BYTE_BIAS Σx */
    double *scratch;          /* d numbers, or NY_SPARSE_SUMS for sparse rows */
    struct ny_sparse *sparse; /* sparse: rows_max views of what is packed in `room` */
    struct ny_sparse_room room;
};

/* Returns how many groups of four columns hold d columns; the last group is padded with zeros. */
static inline size_t ny_byte_quads(size_t d)
{
    return (d + 3) / 4;
}

/* Column 0 of landmark j in its panel; the others follow, NY_PANEL apart. */
static inline float *ny_panel_lane(const struct ny_columns *columns, size_t j)
{
    return columns->panels + j / NY_PANEL * columns->spec.geometry->d * NY_PANEL + j % NY_PANEL;
}

/* Returns the factor of the landmarks in a panel. */
static inline float ny_panel_factor(const struct ny_columns *columns)
{
    bool norms =
        columns->preparation.way == NY_WAY_PRODUCT && columns->spec.kernel->base == NY_BASE_SQUARE;

    return norms ? -2.0f : 1.0f;
}

/* Returns `count` rows of a strip from `first` on: a view, nothing is copied. */
struct ny_strip ny_strip_part(const struct ny_columns *columns, const struct ny_strip *strip,
                              size_t first, size_t count);
/* K = base quantity of the strip's rows and landmarks first … first+K.cols−1, as
 * ny_kernel.apply32 takes it. */
void ny_strip_base(const struct ny_columns *columns, const struct ny_strip *strip, size_t first,
                   struct ny_matrix32 K);

#endif
