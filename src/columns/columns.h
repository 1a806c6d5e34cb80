/*
 * Columns: tiles of C = k(rows, landmarks), shifted so that f32 keeps what matters.
 *
 * Rows are dense, or sparse (spec.slots): then landmarks are kept as columns of non-zeros, and base
 * quantities are summed in f64 over what a row and a landmark have in common (columns/sparse.c).
 *
 * Geometry (centre, scale) and kernel width are frozen at the first fit and part of the model.
 *
 * A tile with shift a holds C − 1aᵀ. The shift is for the Gram (spectral/gram.c says what f32 loses
 * without it) and for the projection. If exp(−γ‖x−y‖²) is near 1, a float keeps few digits of what
 * matters there, 1 − k. On 12,000 MNIST digits and 1,000 landmarks eigenvector 199 is off by 4e-3
 * against f64; by 9e-4 where tiles are shifted; and by 2e-5 where tiles are expm1(−γ‖x−y‖²). So,
 * where the mean of W is above ½ and the kernel allows it, a tile is computed as (k − 1) − (a − 1).
 */
#ifndef NY_COLUMNS_COLUMNS_H
#define NY_COLUMNS_COLUMNS_H

#include "base/dtype.h"
#include "base/layout.h"
#include "base/lengths.h"
#include "base/sparse.h"
#include "columns/choice.h"
#include "columns/kernel.h"
#include "linalg/matrix.h"
#include "stream/source.h"

enum ny_scale {
    NY_SCALE_NONE,
    NY_SCALE_STANDARD,
    NY_SCALE_UNIT,
    NY_SCALE_IDF, /* columns/frequency.c */
    NY_SCALE_IDF_SMOOTH,
    NY_SCALE_BINOMIAL /* of genotypes: by √(2p(1 − p)), 2p the mean (Patterson et al. 2006) */
};
/* Tells whether columns are scaled by their spread, and dense rows then centred. */
static inline bool ny_scale_spread(enum ny_scale scale)
{
    return scale == NY_SCALE_STANDARD || scale == NY_SCALE_UNIT || scale == NY_SCALE_BINOMIAL;
}
/* Tells whether columns are scaled by how many rows have a value in them, for which a pass counts.
 */
static inline bool ny_scale_counts(enum ny_scale scale)
{
    return scale == NY_SCALE_IDF || scale == NY_SCALE_IDF_SMOOTH;
}

/* A prepared row is (x − centre)·factor, column by column. centre is the column mean μ₀ for
 * distances and centred linear kernels (pca), 0 for other dot products unless --scale asks. For
 * sparse rows it is 0 but in pca, as subtracting it would fill them. A factor is 0 where the column
 * does not count: it is not chosen, or its scale weighs it so. */
struct ny_geometry {
    size_t d;
    double *centre, *factor; /* d each */
    double missing;          /* share of genotypes that are missing, in columns that count */
};

struct ny_columns_spec {
    struct ny_context *ctx;
    const struct ny_kernel *kernel;
    struct ny_kernel_params params;
    const struct ny_geometry *geometry; /* outlives the columns */
    enum ny_dtype dtype;                /* of raw rows */
    size_t slots;                       /* raw rows are records with so many; 0: dense */
    double row_nnz;                     /* of sparse rows: values of one on average, for prices */
    size_t values;                      /* and of all of them together; 0: not known */
    size_t unit_values;                 /* and of a unit of them, at most; 0: not known */
    size_t rows;                        /* that tiles are made of, in all; 0: not known */
    struct ny_lengths lengths;          /* and of any of them, where `values` are known */
    struct ny_prepared preparation;     /* that has made them of what came in; new rows need it */
};

struct ny_rows_info;
/* Tells the spec what is known of the values of sparse points whose rows it is to be made of. */
void ny_columns_spec_points(struct ny_columns_spec *spec, const struct ny_rows_info *points);

/* The way to compute a strip's base quantity: a function of the spec and the CPU alone. */
enum ny_way {
    NY_WAY_PRODUCT, /* x·y, and ‖x−y‖² by it */
    NY_WAY_DIRECT,  /* ‖x−y‖₁, and everything in at most NY_DIRECT_COLUMNS columns */
    NY_WAY_BYTES,   /* ‖x−y‖² of u8, by exact integer dot products */
    NY_WAY_SPARSE,  /* sparse rows: f64 sums over an index of the landmarks */
    NY_WAY_GIVEN    /* precomputed, coordinates: a row holds its kernel values, one a landmark */
};
/* Returns the way that the spec, its columns and dtype and this CPU call for; the same in every run
 * on such a CPU. */
enum ny_way ny_way_of(const struct ny_columns_spec *spec);

struct ny_columns;
struct ny_rows;

/* Products that an entry of C takes: of sparse rows an upper bound. */
static inline double ny_entry_products(const struct ny_columns_spec *spec)
{
    return spec->slots ? spec->row_nnz : (double)spec->geometry->d;
}

/* Bytes of a raw row. */
static inline size_t ny_raw_bytes(const struct ny_columns_spec *spec)
{
    return ny_row_bytes(spec->dtype, spec->geometry->d, spec->slots);
}
/* Tells whether landmarks are rows, and do not stand for the columns of the points. */
static inline bool ny_landmarks_are_rows(const struct ny_columns_spec *spec)
{
    return spec->kernel->base != NY_BASE_COORDINATE;
}
/* Returns the most values that so many sparse rows of the spec have. */
static inline size_t ny_values_most(const struct ny_columns_spec *spec, size_t rows)
{
    size_t full = rows * spec->slots;
    uint64_t most;

    if (!spec->values) return full;
    most = ny_lengths_most(&spec->lengths, rows);
    if (most > spec->values) most = spec->values;
    return most < full ? (size_t)most : full;
}
/* Likewise, those of a unit have. */
static inline size_t ny_unit_values_most(const struct ny_columns_spec *spec)
{
    size_t most = ny_values_most(spec, NY_UNIT_ROWS);

    return spec->unit_values && spec->unit_values < most ? spec->unit_values : most;
}
/* Bytes of so many raw rows that are kept: sparse ones take what they have. */
static inline size_t ny_kept_bytes(const struct ny_columns_spec *spec, size_t rows)
{
    return spec->slots ? ny_sparse_list_bytes(spec->dtype, rows, ny_values_most(spec, rows), 1)
                       : rows * ny_raw_bytes(spec);
}
/* Returns row i of sparse raw rows. */
static inline struct ny_sparse ny_sparse_row(const struct ny_columns_spec *spec,
                                             struct ny_raw_rows rows, size_t i)
{
    return ny_raw_sparse(rows, spec->slots, ny_raw_bytes(spec), i);
}
/* Returns the rows from row `first` on. */
static inline struct ny_raw_rows ny_raw_rows_from(const struct ny_columns_spec *spec,
                                                  struct ny_raw_rows rows, size_t first)
{
    if (rows.list) return ny_raw_list(rows.list + first);
    return ny_raw_rows((const char *)rows.at + first * ny_raw_bytes(spec));
}

/* Makes columns without landmarks. */
int ny_columns_new(struct ny_columns **out, const struct ny_columns_spec *spec);
/* Frees the columns with their landmarks; NULL is allowed. */
void ny_columns_free(struct ny_columns *columns);
/* Adds `count` landmarks given as raw rows (copied), with a shift of 0. Must not be called while
 * tiles are computed. Room grows at least by doubling, but for the values of sparse rows, which
 * take as much as there are. */
int ny_columns_append(struct ny_columns *columns, struct ny_raw_rows rows, size_t count);
/* Makes these sparse rows the landmarks of columns that have none; *rows is empty afterwards, also
 * where it fails. */
int ny_columns_take(struct ny_columns *columns, struct ny_sparse_list *rows);
/* Makes the rows listed of X, which are of the spec's type, the landmarks of columns that have
 * none. Dense rows are held twice meanwhile. */
int ny_columns_gather(struct ny_columns *columns, struct ny_rows *X, const uint64_t *rows,
                      size_t count);
/* Makes the rows of a tile, which are read to `raw`, new columns in the place of *columns (NULL:
 * there are none). */
int ny_columns_of_tile(struct ny_columns **columns, const struct ny_columns_spec *spec,
                       const struct ny_tile *tile, void *raw);
/* Removes all landmarks; room is kept, but for sparse ones. */
void ny_columns_clear(struct ny_columns *columns);
/* Returns how many landmarks there are, and their raw rows, which stay the property of the columns
 * and move when landmarks are appended; {NULL} where landmarks are no rows. */
size_t ny_columns_size(const struct ny_columns *columns);             /* m */
struct ny_raw_rows ny_columns_rows(const struct ny_columns *columns); /* m raw rows */
/* Returns the spec that the columns were made from. */
const struct ny_columns_spec *ny_columns_of(const struct ny_columns *columns);
/* Counts columns with m landmarks that are added at once, in a layout that counts: they allocate
 * for themselves. */
void ny_columns_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m);

/* Sets the shift a (m values, copied); zero before. */
int ny_columns_set_shift(struct ny_columns *columns, const double *a);
bool ny_columns_minus_one(const struct ny_columns *columns); /* expm1 form in use */

/* W = k(landmarks, landmarks), m × m, f64, both triangles, exactly symmetric, unshifted, of f64
 * prepared rows. Uses all threads, and puts BLAS in its serial mode. */
int ny_columns_square(const struct ny_columns *columns, struct ny_matrix W);

/* ---- tiles: called by workers ------------------------------------------------------------- */

/* A worker's buffers: one raw strip, one prepared f32 strip, norms. */
struct ny_columns_workspace;
/* Lays out room for strips of so many rows, or of spec->rows if these are fewer: tiles take
 * NY_STRIP_ROWS. Sparse rows are packed into it, so that one full row does not make all of them
 * dear. */
struct ny_columns_workspace *
ny_columns_workspace_lay(struct ny_layout *l, const struct ny_columns_spec *spec, size_t rows);

/* C (whole strips × m, f32, stride ≥ m) = k(tile rows, landmarks) − 1aᵀ; rows beyond tile->rows are
 * zero. diagonal (as many rows, or NULL): k(x,x), f64. Strip by strip. */
int ny_columns_tile(const struct ny_columns *columns, struct ny_columns_workspace *workspace,
                    const struct ny_tile *tile, struct ny_matrix32 C, double *diagonal);
/* One strip of it: C (NY_STRIP_ROWS × m) of the tile's rows from `first` on, and their diagonal. */
int ny_columns_tile_strip(const struct ny_columns *columns, struct ny_columns_workspace *workspace,
                          const struct ny_tile *tile, size_t first, struct ny_matrix32 C,
                          double *diagonal);

/* Selection needs some rows against some landmarks: */

/* Prepared strip: `count` raw rows, as many as the workspace has room for → f32 rows and norms. */
struct ny_strip {
    struct ny_raw_rows raw; /* count rows; views of sparse ones */
    size_t count;
    /* Input of ny_columns_block(): `count` prepared rows (in units of the kernel's width) with
     * their norms, summed in f64; on the integer path the sums of bytes instead. */
    const float *rows, *norms;
    const uint32_t *byte_terms;
    double *sums; /* work space of sparse rows; NULL: a small one on the stack */
};
/* Reads rows first … first+count−1 of the tile into the workspace and prepares them: of sparse ones
 * as many as there is room for, at least one, which strip->count tells. The strip points into the
 * workspace and lasts until the next one is read there; errors are those of the source. */
int ny_columns_strip(const struct ny_columns *columns, struct ny_columns_workspace *workspace,
                     const struct ny_tile *tile, size_t first, size_t count,
                     struct ny_strip *strip);
/* The strip of landmarks first … first+count−1 themselves, for those who compare a few rows with
 * one another; valid until the workspace's next. */
struct ny_strip ny_columns_own_strip(const struct ny_columns *columns,
                                     struct ny_columns_workspace *workspace, size_t first,
                                     size_t count);
/* K (f32, strip->count × K.cols) = k(strip rows, landmarks first … first+K.cols−1), unshifted. A
 * value's bits do not depend on the other rows and landmarks. */
void ny_columns_block(const struct ny_columns *columns, const struct ny_strip *strip, size_t first,
                      struct ny_matrix32 K);
/* Rows of a strip that wait for landmarks of small values: those below bound[row], which `take` may
 * lower. */
struct ny_columns_watch {
    size_t first, end;   /* the landmarks that are looked at, of which the last is end − 1 */
    const uint32_t *row; /* the rows that wait, `rows` of them, each once; NULL: all */
    size_t rows;
    float *bound; /* one a row of the strip */
    void (*take)(void *arg, size_t row, size_t landmark, float value);
    void *arg;
    const void *read;  /* what `take` reads of each landmark, which is asked for before; or NULL */
    size_t read_bytes; /* of a landmark */
    float *room;       /* rows of the strip × NY_WATCH_COLS */
};
enum { NY_WATCH_COLS = 512 };
/* Tells each row of its landmarks whose values are below its bound, in ascending order: values as
 * ny_columns_block() gives them. Of bytes only the small ones are ever stored. */
void ny_columns_below(const struct ny_columns *columns, const struct ny_strip *strip,
                      const struct ny_columns_watch *watch);
/* diagonal[i] = k(x_i, x_i) in f64 of raw rows. */
int ny_columns_diagonal(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                        double *diagonal);
/* K (count × landmarks first … first+K.cols−1, f64) of raw rows, exact: f64 prepared rows, base
 * quantity without cancellation. For the rows that need an f64 decision, and for f64 tiles: on the
 * calling thread. */
int ny_columns_exact(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                     size_t first, struct ny_matrix K);
/* The order in which f64 values between dense rows and a single landmark are summed: column by
 * column up to so many columns; beyond, columns k, k + 16, … in the k-th of 16 sums, those that do
 * not fill such a group in one more, and then these sums in order. */
enum { NY_EXACT_DIRECT = 16 };
/* Writes `count` dense raw rows to out (count × d, f64) as ny_columns_exact() prepares them. */
void ny_columns_prepare(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                        double *out);
/* Returns the γ of prepared rows: ny_columns_exact() gives γ times their base quantity. */
double ny_columns_gamma(const struct ny_columns *columns);
/* Makes exact values of distances be sums of differences, as those between a row and a single
 * landmark are, up to near[j] for each landmark; larger ones may come from products, which f64
 * rounds. `near` is borrowed; NULL, as at first: only where products cancel. */
void ny_columns_set_near(struct ny_columns *columns, const double *near);
/* Work space for ny_columns_exact_in(), kept between calls. */
struct ny_columns_room;
/* Lays out a room for up to `cols` landmarks; sparse rows need none, and get an empty one. */
struct ny_columns_room *ny_columns_room_lay(struct ny_layout *l, const struct ny_columns_spec *spec,
                                            size_t cols);
/* Like ny_columns_exact(), in a room that is kept between calls: selections ask again and again for
 * a few columns. */
int ny_columns_exact_in(struct ny_columns_room *room, const struct ny_columns *columns,
                        struct ny_raw_rows rows, size_t count, size_t first, struct ny_matrix K);
/* Likewise of K.rows dense rows, each where rows[i] says, against the first K.cols landmarks. */
int ny_columns_exact_at(struct ny_columns_room *room, const struct ny_columns *columns,
                        const void *const *rows, struct ny_matrix K);
/* K (count × count, f64, both triangles) among raw rows themselves. Uses all threads. */
int ny_columns_exact_square(const struct ny_columns *columns, struct ny_raw_rows rows, size_t count,
                            struct ny_matrix K);
/* Returns the bound below which ‖x−y‖² of tiles is exact, for callers that compare base quantities;
 * 0: none is. */
double ny_columns_whole_below(const struct ny_columns_spec *spec);
/* Returns the most by which a base quantity of a tile is off; x_norm is ‖x‖² of the prepared row.
 * */
double ny_columns_rounding(const struct ny_columns_spec *spec, double base, double x_norm);
/* Counts what these charge while they run on so many threads, besides K. */
void ny_columns_exact_count(struct ny_layout *l, const struct ny_columns_spec *spec,
                            unsigned threads);
/* Counts what the square of m rows charges, besides K. */
void ny_columns_square_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m,
                             unsigned threads);

/* ---- geometry and width ------------------------------------------------------------------- */

/* The wishes that a geometry is made by. */
struct ny_geometry_wish {
    enum ny_scale scale;
    bool centred;     /* subtract the mean */
    bool differences; /* of which nothing but differences is taken: columns/geometry.c */
    bool rough;       /* no row is read, and weights that need it are guessed: for a plan, or where
                       * the centre is made later */
    unsigned workers; /* of a pass that counts values; 0: one */
    struct ny_column_choice choice;
    unsigned char *chosen; /* d bytes, set to 1 for the columns of the choice; NULL: not wanted */
};

/* The factor of a column that weighs 0 because no row of the fit has a value there, so that new
 * rows' values there are dropped: −0, which is told from other zeros by its sign. */
#define NY_UNSEEN (-0.0)

/* Makes the geometry from the store's column statistics; over shards, of rows that are no whole
 * numbers, a pass makes the means the same for any number of shards (two: standard). The mean is
 * subtracted as `centred` says, and by standard and unit (per column) where rows are dense; a
 * constant column gets factor 1 (none), 0 (standard, unit). NY_EDATA when a scale overflows. The
 * scales by frequency take a pass, and some choices do. */
int ny_geometry_new(struct ny_geometry **out, struct ny_rows *X,
                    const struct ny_geometry_wish *wish);
/* Returns how many passes over these points that takes; and how many of them have all workers. */
unsigned ny_geometry_passes(const struct ny_geometry_wish *wish, const struct ny_rows_info *points);
unsigned ny_geometry_counts(const struct ny_geometry_wish *wish);
/* Counts what it charges besides statistics and geometry. */
void ny_geometry_count(struct ny_layout *l, const struct ny_geometry_wish *wish,
                       const struct ny_rows_info *points);
/* Makes the mean of the store's first `rows` rows, which are dense, the centre. */
int ny_geometry_centre(struct ny_geometry *geometry, struct ny_rows *X, uint64_t rows);
/* Adds to df[k], d numbers, in how many rows column k has a value that is not 0: a pass. */
int ny_frequency_measure(struct ny_rows *X, unsigned workers, double *df);
/* Multiplies factors, of which each is 1 or 0, by weights from the number of rows that have a value
 * in the column, which a pass counts. */
int ny_frequency_weigh(struct ny_geometry *geometry, struct ny_rows *X, bool smooth,
                       unsigned workers);
/* Like it, for a plan: guesses from the statistics which columns weigh something. */
void ny_frequency_guess(struct ny_geometry *geometry, const struct ny_rows_stats *stats,
                        bool smooth);
/* Counts what either charges, with df. */
void ny_frequency_count(struct ny_layout *l, const struct ny_rows_info *points, unsigned workers);
/* Makes the geometry from given arrays of d, as in a stored model. */
int ny_geometry_copy(struct ny_geometry **out, struct ny_context *ctx, const double *centre,
                     const double *factor, size_t d);
/* Frees a geometry; NULL is allowed. */
void ny_geometry_free(struct ny_geometry *geometry, struct ny_context *ctx);
/* A sentence without its point, such as "column 'pressure' alone makes up 99.9 % of
 * the distances between rows"; empty where no column does. */
struct ny_dominant {
    char text[320];
};
/* Warns where one of several columns makes up more than 90 % of the distances (of the variance:
 * linear kernels, where `centred` tells that rows are), and tells it. Reads the statistics only. */
int ny_geometry_warn_dominant(const struct ny_geometry *geometry, struct ny_rows *X,
                              const struct ny_kernel *kernel, bool centred,
                              struct ny_dominant *told);

/* γ for --gamma auto: from the median of the non-zero base quantity over 20,000 hashed pairs of
 * the store's first n rows; NY_EDATA when all are zero ("all rows are equal"). Gathers at most
 * 40,000 rows, in pieces that fit the budget. */
int ny_columns_auto_gamma(const struct ny_columns_spec *spec, struct ny_rows *X, uint64_t n,
                          uint64_t seed, double *gamma);
/* Like ny_columns_auto_gamma(), from so many pairs, at most 20,000. */
int ny_columns_auto_gamma_of(const struct ny_columns_spec *spec, struct ny_rows *X, uint64_t n,
                             uint64_t seed, size_t pairs, double *gamma);
/* Counts what they charge under a budget of `limit` bytes. */
void ny_columns_auto_gamma_count(struct ny_layout *l, const struct ny_rows_info *points,
                                 size_t row_bytes, size_t limit);
/* Returns how many pairs ny_columns_auto_gamma() measures of n rows, at most. */
double ny_columns_auto_gamma_pairs(uint64_t n);

#endif
