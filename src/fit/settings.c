/*
 * Derives from the settings of a fit: the centre and scale of rows, the number of eigenpairs,
 * which sums it needs, and the problem that solve is given.
 *
 * Stages and plans both ask here, so that a plan agrees with its fit. Nothing is kept: each
 * function decides from the settings and the shape of the points alone, except that
 * ny_settings_geometry() reads statistics of the store.
 */
#include "fit/settings.h"

#include "base/memory.h"
#include "columns/features.h"
#include "stream/source.h"

static bool takes_differences(const struct ny_fit_settings *settings)
{
    return settings->kernel->base == NY_BASE_SQUARE || settings->kernel->base == NY_BASE_ABSOLUTE;
}

/* The centre is subtracted where differences are taken, and for maps that say so. */
static bool centres_rows(const struct ny_fit_settings *settings, bool sparse)
{
    if (sparse) return settings->map->centred_rows; /* else as they are */
    return takes_differences(settings) || settings->map->centred_rows ||
           ny_scale_spread(settings->scale);
}

/* Tells whether width and centre are those of the first rows, as of --online, so that nothing
 * depends on rows to come. With --scale or --features, and of sparse rows, they are those of all.
 */
static bool freezes_first(const struct ny_fit_settings *settings, const struct ny_rows_info *points)
{
    return settings->online && settings->scale == NY_SCALE_NONE && points->dtype != NY_GENOTYPE &&
           settings->choice.rule == NY_CHOOSE_ALL && !points->row_slots;
}

bool ny_settings_selects(const struct ny_fit_settings *settings)
{
    return !settings->method->whole && !ny_settings_unit_landmarks(settings);
}

void ny_settings_widen(const struct ny_fit_settings *settings, struct ny_rows_info *points)
{
    const struct ny_landmark_points *landmarks = &settings->landmark_points;

    if (!landmarks->count) return;
    points->dtype = ny_dtype_common(points->dtype, landmarks->dtype);
    if (points->row_slots < landmarks->slots) points->row_slots = landmarks->slots;
}

uint64_t ny_settings_frozen_rows(const struct ny_fit_settings *settings,
                                 const struct ny_rows_info *points)
{
    return freezes_first(settings, points) && points->n > NY_ONLINE_ROWS ? NY_ONLINE_ROWS
                                                                         : points->n;
}

struct ny_geometry_wish ny_settings_geometry_wish(const struct ny_fit_settings *settings,
                                                  const struct ny_rows_info *points)
{
    return (struct ny_geometry_wish){.scale = settings->scale,
                                     .centred = centres_rows(settings, points->row_slots > 0),
                                     .differences = takes_differences(settings),
                                     .rough = freezes_first(settings, points),
                                     .choice = settings->choice};
}

int ny_settings_geometry(struct ny_geometry **out, struct ny_rows *X,
                         const struct ny_fit_settings *settings, size_t d, unsigned workers,
                         unsigned char *chosen)
{
    struct ny_context *ctx = X->ctx;
    struct ny_rows_info points;
    struct ny_geometry_wish wish;
    double *neutral;
    int err;

    if (!settings->columns) {
        err = X->ops->info(X, &points);
        if (err) return err;
        wish = ny_settings_geometry_wish(settings, &points);
        wish.rough = wish.rough || !workers;
        wish.workers = workers;
        wish.chosen = chosen;
        err = ny_geometry_new(out, X, &wish);
        if (err || !wish.centred || !freezes_first(settings, &points)) return err;
        err = ny_geometry_centre(*out, X, ny_settings_frozen_rows(settings, &points));
        if (err) ny_geometry_free(*out, ctx);
        if (err) *out = NULL;
        return err;
    }
    neutral = ny_calloc(ctx, NY_MEM_OTHER, 2 * d, sizeof(double));
    if (!neutral) return NY_EBUDGET;
    for (size_t j = 0; j < d; j++)
        neutral[d + j] = 1;
    err = ny_geometry_copy(out, ctx, neutral, neutral + d, d);
    ny_free(ctx, neutral);
    return err;
}

int ny_settings_warn_dominant(const struct ny_fit_settings *settings, struct ny_rows *X,
                              const struct ny_geometry *geometry, struct ny_dominant *told)
{
    bool centred = settings->map->additive || settings->map->centred_rows;

    told->text[0] = '\0';
    if (settings->scale_typed) return NY_OK;
    return ny_geometry_warn_dominant(geometry, X, settings->kernel, centred, told);
}

size_t ny_settings_pairs(const struct ny_fit_settings *settings)
{
    return settings->components + settings->map->divided;
}

bool ny_settings_needs_degrees(const struct ny_fit_settings *settings)
{
    return settings->normalisation == NY_DIVIDED_IMPLICIT && !settings->method->whole;
}

bool ny_settings_rows_known(const struct ny_fit_settings *settings,
                            const struct ny_rows_info *points, size_t m)
{
    return settings->method->all_rows && m == points->n && ny_rows_here(points) == points->n &&
           !settings->placed && !settings->probes && !ny_divided(settings->normalisation);
}

struct ny_problem ny_settings_problem(const struct ny_fit_settings *settings, size_t m)
{
    return (struct ny_problem){.m = m,
                               .normalisation = settings->normalisation,
                               .affine = settings->affine,
                               .f32_tiles = settings->precision == NY_PRECISION_F32,
                               .components = ny_settings_pairs(settings),
                               .rank = settings->rank,
                               .inner = settings->inner,
                               .randomized = settings->randomized,
                               .experts = settings->experts,
                               .weights = settings->weights};
}

size_t ny_settings_rank(const struct ny_fit_settings *settings, size_t m)
{
    struct ny_problem problem = ny_settings_problem(settings, m);
    size_t rank = settings->method->all_ranks ? m : ny_settings_pairs(settings);

    if (settings->method->rank_of) return settings->method->rank_of(&problem);
    if (settings->rank) rank = settings->rank;
    return rank < m ? rank : m;
}

bool ny_settings_gram_f64(const struct ny_fit_settings *settings, uint64_t n)
{
    return ny_units_of(n) <= NY_FEW_UNITS || settings->precision == NY_PRECISION_F64 ||
           settings->method->gram_f64 || settings->method->krylov || settings->columns ||
           settings->weights != NY_WEIGHTS_UNIFORM || settings->online;
}

enum ny_diagonal ny_settings_diagonal(const struct ny_fit_settings *settings)
{
    if (settings->map->divided) return NY_DIAGONAL_DIVIDED;
    return settings->map->additive ? NY_DIAGONAL_CENTRED : NY_DIAGONAL_RAW;
}

bool ny_settings_certifies(const struct ny_fit_settings *settings)
{
    return settings->certify && !settings->rule->measures &&
           settings->kernel->base != NY_BASE_GIVEN; /* which does not say k(x,x) */
}

bool ny_settings_probe_averages(const struct ny_fit_settings *settings)
{
    return settings->probes && (settings->normalisation != NY_RAW || settings->affine);
}

struct ny_columns_spec ny_settings_probe_spec(const struct ny_columns_spec *spec)
{
    struct ny_columns_spec own = *spec;

    if (own.kernel->base == NY_BASE_COORDINATE)
        own.kernel = ny_kernel_find(own.kernel->unit_rows ? "cosine" : "linear");
    return own;
}

bool ny_settings_needs_gram(const struct ny_fit_settings *settings)
{
    return settings->method->needs_gram || settings->certify;
}

size_t ny_settings_blas_order(const struct ny_fit_settings *settings, size_t m)
{
    return ny_settings_features(settings) ? ny_features_blas_order(m) : m;
}

bool ny_settings_forms_gram(const struct ny_fit_settings *settings)
{
    return ny_settings_needs_gram(settings) && !settings->method->krylov;
}

struct ny_columns_spec ny_settings_spec(const struct ny_fit_settings *settings,
                                        struct ny_context *ctx, const struct ny_rows_info *points,
                                        const struct ny_geometry *geometry)
{
    struct ny_columns_spec spec = {.ctx = ctx,
                                   .kernel = settings->kernel,
                                   .params = settings->params,
                                   .geometry = geometry,
                                   .dtype = points->dtype,
                                   .slots = (size_t)points->row_slots,
                                   .preparation = points->preparation,
                                   .row_nnz =
                                       (double)points->nnz / (double)(points->n ? points->n : 1),
                                   .lengths = points->lengths};

    /* Given landmarks have values of their own. */
    if (!settings->landmark_points.count) {
        ny_columns_spec_points(&spec, points);
        spec.rows = (size_t)points->n;
    }
    return spec;
}
