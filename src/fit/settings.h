/* The decided settings of a fit: options turned into table entries and numbers. */
#ifndef NY_FIT_SETTINGS_H
#define NY_FIT_SETTINGS_H

#include "columns/columns.h"
#include "columns/tiles.h"
#include "graph/settings.h"
#include "model/landmark_points.h"
#include "model/map.h"
#include "select/rules.h"
#include "spectral/method.h"

struct ny_named_graph;

/* Weights of edges: exp(−γ·length²), or 1. */
enum ny_edge_weights { NY_EDGES_HEAT, NY_EDGES_BINARY };

/* Memory of the caller that takes the coordinates of all rows, in the precision of the fit; they
 * are not stored then. */
struct ny_row_room {
    int dtype;   /* of what the caller wants: NY_F32 or NY_F64 */
    void *rows;  /* NULL: nobody wants them */
    bool filled; /* they are there, or nobody wanted them */
};

struct ny_fit_settings {
    const struct ny_map *map;
    const struct ny_method *method; /* NULL: a graph's map has none */
    const struct ny_rule *rule;
    const struct ny_kernel *kernel;
    struct ny_kernel_params params;
    bool gamma_auto; /* params.gamma is to be found */
    enum ny_scale scale;
    bool scale_typed;               /* the user has chosen it: no columns are warned of */
    struct ny_column_choice choice; /* the columns that count; what is listed is borrowed */
    enum ny_normalisation normalisation;
    enum ny_precision precision;
    enum ny_inner inner;
    struct ny_randomized randomized;
    struct ny_dictionary_options dictionary; /* tolerance NaN: as many as --landmarks says */
    bool pilot;                              /* Algorithm 2 starts near a sample's ε */
    bool affine; /* the approximation works on the affine hull: --affine was typed */
    bool certify;
    bool online;                     /* one pass selects and accumulates (fit/online.c) */
    double tol;                      /* relative error of eigenvalues that products find */
    unsigned max_passes;             /* products that are made for them at most */
    size_t probes;                   /* columns of K that measure the error; 0: none */
    double accuracy;                 /* to which all components are to be right, or, with */
    bool of_trace;                   /* this, the trace; 0: whatever it is */
    size_t check_rows;               /* rows that measure the components' errors (fit/checks.h) */
    size_t landmarks;                /* the m that is wanted */
    bool landmarks_typed;            /* m was set by the user: fewer are worth a warning */
    const uint64_t *named_landmarks; /* row numbers for rule `given`, as many as `landmarks` */
    struct ny_landmark_points landmark_points; /* how they are kept; count 0: they are rows */
    size_t table_bytes;                        /* tables that the options hold while the job runs */
    struct ny_rows *columns; /* rows of C of a precomputed kernel; NULL: of no such */
    size_t components;       /* p */
    size_t rank;             /* k; 0: the method's default */
    bool asymmetric;         /* diffusion by eigenvectors of 𝒟⁻¹K, not of 𝒟^-½K𝒟^-½ */
    double time;             /* t of diffusion, the power of its eigenvalues */
    bool row_normalize;
    size_t experts; /* how many an ensemble has; 0: decided by the rank */
    enum ny_weights weights;
    enum ny_edge_weights edge_weights; /* for eigenmaps and diffusion on a graph */
    bool edge_weights_typed;
    uint64_t seed;
    unsigned threads;
    struct ny_graph_settings graph; /* how a map of a graph makes its graph */
    bool largest_alone;             /* a map of a graph may leave out more than half of the rows */
    const char *graph_name;         /* NAME of the stored graph; NULL: it is made */
    const struct ny_named_graph *graph_given; /* it, while a fit is planned or runs */
    bool updates;                             /* an earlier result takes new rows in */
    bool placed;                              /* the rows are placed by a model from elsewhere */
    bool until_sums;          /* the job ends where its sums are made, before stage solve */
    struct ny_row_room *room; /* NULL: coordinates are stored */
    bool patient;             /* only a plan is wanted: rows may be looked at for longer */
};

/* Tells whether the columns of C are those of the points: landmark j is the unit vector e_j, and no
 * row. */
static inline bool ny_settings_unit_landmarks(const struct ny_fit_settings *settings)
{
    return settings->kernel->base == NY_BASE_COORDINATE;
}
/* Tells whether K is the product of features (columns/features.h), which has neither W nor tiles.
 */
static inline bool ny_settings_features(const struct ny_fit_settings *settings)
{
    return settings->kernel && settings->kernel->features;
}
/* Tells whether rows are selected for landmarks: not where all of K is used, or unit vectors are in
 * their place. */
bool ny_settings_selects(const struct ny_fit_settings *settings);
/* Takes, where landmarks are points of another type or fuller than the rows, a type and slots that
 * hold both, in which all stages read rows from then on. */
void ny_settings_widen(const struct ny_fit_settings *settings, struct ny_rows_info *points);
/* Returns how many of the first rows decide the mean and the width that a model keeps: the first
 * NY_ONLINE_ROWS where later rows are looked at once, all rows otherwise. */
uint64_t ny_settings_frozen_rows(const struct ny_fit_settings *settings,
                                 const struct ny_rows_info *points);
/* Returns what the geometry of these points is made from. */
struct ny_geometry_wish ny_settings_geometry_wish(const struct ny_fit_settings *settings,
                                                  const struct ny_rows_info *points);
/* Makes the geometry of the store's points; precomputed columns (d = m) are left as they are.
 * workers: of passes that count values; 0: a plan, for which no row is read. chosen: d bytes, set
 * to 1 for the columns that are chosen, or NULL. */
int ny_settings_geometry(struct ny_geometry **out, struct ny_rows *X,
                         const struct ny_fit_settings *settings, size_t d, unsigned workers,
                         unsigned char *chosen);
/* Warns where a few columns decide what the map shows, unless --scale was typed; tells which. */
int ny_settings_warn_dominant(const struct ny_fit_settings *settings, struct ny_rows *X,
                              const struct ny_geometry *geometry, struct ny_dominant *told);
/* Returns how many eigenpairs the solver finds: the components, and a trivial one of divided maps.
 */
size_t ny_settings_pairs(const struct ny_fit_settings *settings);
/* Tells whether degrees take a pass of their own. */
bool ny_settings_needs_degrees(const struct ny_fit_settings *settings);
/* Tells whether stage solve finds the rows of a fit with m landmarks: every row is a landmark, and
 * K P = P Λ, so that no kernel value is needed again. A divided kernel needs each row's degree, and
 * a probe its average, which a pass finds. */
bool ny_settings_rows_known(const struct ny_fit_settings *settings,
                            const struct ny_rows_info *points, size_t m);
/* Returns the rank in force with m landmarks: --rank, or the method's default. */
size_t ny_settings_rank(const struct ny_fit_settings *settings, size_t m);
/* Returns the small problem as far as the options define it, for plans and as the beginning of a
 * job's. */
struct ny_problem ny_settings_problem(const struct ny_fit_settings *settings, size_t m);
/* Up to so many units the tile Gram is f64, and its blocks are shared out among the workers. */
enum { NY_FEW_UNITS = 16 };
/* Tells whether the tile Gram of n rows is f64 whatever W says: the method needs it, or rows are so
 * few that the loss of f32 in each unit does not average out. */
bool ny_settings_gram_f64(const struct ny_fit_settings *settings, uint64_t n);
/* Returns the diagonal by which weighted selection draws: that of the matrix which the map
 * decomposes. */
enum ny_diagonal ny_settings_diagonal(const struct ny_fit_settings *settings);
/* Tells whether a pass after the selection measures the residuals, because the rule does not. */
bool ny_settings_certifies(const struct ny_fit_settings *settings);
/* Tells whether a probe needs a number of each row to normalise K: its average or 1/√d_i. */
bool ny_settings_probe_averages(const struct ny_fit_settings *settings);
/* Returns what computes columns of K for a probe: the same as for C, or the linear kernel where the
 * columns of C are those of the points. */
struct ny_columns_spec ny_settings_probe_spec(const struct ny_columns_spec *spec);
/* Tells whether there is a pass 1, whose products have the precision of the tile Gram. */
bool ny_settings_needs_gram(const struct ny_fit_settings *settings);
/* Returns the order of the largest BLAS calls: m, or with features that of a basis' products. */
size_t ny_settings_blas_order(const struct ny_fit_settings *settings, size_t m);
/* Tells whether pass 1 forms G. */
bool ny_settings_forms_gram(const struct ny_fit_settings *settings);
/* Returns the kernel and the rows that C is made of, by the points and their geometry, which is
 * borrowed. */
struct ny_columns_spec ny_settings_spec(const struct ny_fit_settings *settings,
                                        struct ny_context *ctx, const struct ny_rows_info *points,
                                        const struct ny_geometry *geometry);

#endif
