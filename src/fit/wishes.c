/*
 * Decides the settings of a fit from what the user asked for and from the shape of the points: the
 * method and the kernel in force, the normalisation of K, and the number of landmarks.
 *
 * Fit, plan, select and update come here (api/settings.c), after the rules between options alone
 * have been checked. The checks here need n, d or the layout of the points, such as components
 * that are more than the rows. A method may be asked for that another entry stands in for:
 * `projected --inner randomized` is the solver by products, and `--map pca --approx exact` that of
 * the scatter matrix. Messages name the option and what to give instead.
 */
#include "fit/wishes.h"

#include <math.h>

#include "base/decimal.h"
#include "spectral/methods.h"
#include "spectral/nystrom.h"

/* Columns of dense rows up to which --map pca --approx exact sums up their scatter matrix. */
enum { SCATTER_COLUMNS = 8192 };

/* Returns how many landmarks are asked for: no more than there are rows, unless they are given,
 * or the number is open. */
static size_t decide_landmarks(struct ny_context *ctx, const struct ny_wishes *wishes, uint64_t n)
{
    size_t landmarks = wishes->plain.rule->all ? (size_t)n : wishes->plain.landmarks;

    if (wishes->plain.landmark_points.count) return landmarks; /* there may be more of them */
    if (wishes->plain.named_landmarks || landmarks <= n || landmarks == SIZE_MAX) return landmarks;
    if (wishes->plain.landmarks_typed)
        ny_log(ctx, NY_LOG_WARNING,
               "--landmarks %zu is more than the %llu rows there are, and is lowered to that",
               landmarks, (unsigned long long)n);
    return (size_t)n;
}

/* ---- selection ---------------------------------------------------------------------------- */

/* Tells whether greedy selection measures residuals from the affine hull: by default where the
 * map centres K, and not online, where rows are projected on the span. */
static bool selects_affine(const struct ny_wishes *wishes)
{
    const struct ny_fit_settings *plain = &wishes->plain;

    if (!plain->rule->by_tolerance) return false;
    return wishes->affine_typed ? plain->affine : plain->map->additive && !plain->online;
}

/* If k(x,x) is at most 1, the first landmark leaves a residual of at most 1 to any row, or 2 where
 * it is the distance to an affine hull: a tolerance that large is a slip. Other kernels have no
 * such bound. */
static int check_tolerance(struct ny_context *ctx, const struct ny_fit_settings *fit)
{
    double tolerance = fit->dictionary.tolerance, most = fit->dictionary.affine ? 2 : 1;
    bool bounded = fit->kernel->constant_diagonal || fit->kernel->unit_rows;
    char text[32];

    if (isnan(tolerance) || !bounded || tolerance < most) return NY_OK;
    ny_decimal_print(text, sizeof(text), "%g", tolerance);
    return ny_fail_value(ctx, "tolerance", most > 1 ? "below 2" : "below 1", text);
}

/* ---- maps of kernels ---------------------------------------------------------------------- */

/* Decides how K is centred or divided, and refuses averages that the method cannot have. */
static int decide_normalisation(struct ny_context *ctx, const struct ny_wishes *wishes,
                                struct ny_fit_settings *fit)
{
    bool implicit = fit->method->whole || wishes->implicit;

    fit->normalisation = NY_RAW;
    if (!fit->map->additive && !fit->map->divided) return NY_OK;
    if (implicit && !fit->method->implicit)
        return ny_fail_beside(ctx, "averages", "approx", fit->method->name);
    if (fit->affine && !implicit) return ny_fail_beside(ctx, "affine", "averages", "landmarks");
    if (fit->map->additive)
        fit->normalisation = implicit ? NY_CENTRED_IMPLICIT : NY_CENTRED_LANDMARKS;
    else
        fit->normalisation = implicit ? NY_DIVIDED_IMPLICIT : NY_DIVIDED_LANDMARKS;
    return NY_OK;
}

/* --map pca --approx exact: C is the points' own columns, for any n; averages are the true ones. */
static void take_columns(struct ny_fit_settings *fit, const struct ny_rows_info *points)
{
    fit->method = ny_method_by_columns(fit->method);
    fit->kernel = ny_kernel_find(NY_COORDINATES_KERNEL);
    fit->normalisation = NY_CENTRED_IMPLICIT;
    fit->landmarks = (size_t)points->d;
}

/* Tells whether `exact` of these points goes by features: where options of its products are typed,
 * or by the shape of the points. K of more rows is larger than it is worth, and of few rows it is
 * found at once. Dense rows of pca have their scatter matrix, but for genotypes. */
static bool goes_by_features(const struct ny_wishes *wishes, const struct ny_fit_settings *fit,
                             const struct ny_rows_info *points)
{
    const uint64_t few_rows = 2048;
    const double many_products = 0x1p31; /* 2 s */

    if (!fit->method->all_rows || !ny_kernel_has_features(fit->kernel)) return false;
    if (wishes->products) return true;
    if (fit->map->centred_rows)
        return points->row_slots || points->d > SCATTER_COLUMNS || points->dtype == NY_GENOTYPE;
    if (points->row_slots && (double)points->n * (double)points->nnz > many_products) return true;
    return points->n > few_rows;
}

/* --approx exact of linear and cosine kernels: products with the rows themselves (factored/). */
static void take_features(struct ny_fit_settings *fit, const struct ny_rows_info *points)
{
    bool unit = fit->kernel->unit_rows;

    fit->method = ny_method_by_features(fit->method);
    fit->kernel = ny_kernel_find(unit ? NY_DIRECTIONS_KERNEL : NY_FEATURES_KERNEL);
    fit->normalisation = fit->map->additive  ? NY_CENTRED_IMPLICIT
                         : fit->map->divided ? NY_DIVIDED_IMPLICIT
                                             : NY_RAW;
    fit->landmarks = (size_t)points->d;
    fit->randomized.oversample = 10;
}

/* Refuses more components than rows or landmarks can give. More than there are columns are no
 * mistake in a script for tables of any width: those that do not exist are zero, and the fit warns
 * of them. */
static int check_components(struct ny_context *ctx, const struct ny_fit_settings *fit, uint64_t n)
{
    size_t pairs = ny_settings_pairs(fit);

    if ((fit->method->whole || ny_settings_features(fit)) && pairs > n)
        return ny_fail_most(ctx, "components", fit->components, n, "rows");
    if (ny_settings_unit_landmarks(fit) || pairs <= fit->landmarks) return NY_OK;
    return ny_fail_most(ctx, "components", fit->components, fit->landmarks,
                        fit->landmarks >= n ? "rows" : "landmarks");
}

/* Refuses sizes that the method cannot have, and warns of what it does with those that it has. */
static int check_method(struct ny_context *ctx, const struct ny_fit_settings *fit)
{
    struct ny_problem problem = ny_settings_problem(fit, fit->landmarks);

    problem.ctx = ctx;
    /* The coordinates of all landmarks' directions, a feature map, do not have that scale. */
    if (!fit->rule->uniform && fit->method->uniform_only && fit->components < fit->landmarks)
        ny_log(ctx, NY_LOG_WARNING,
               "%s scales its eigenvalues by n/m, which assumes uniform "
               "landmarks; with --select %s use --approx projected",
               fit->method->name, fit->rule->name);
    if (fit->method->all_rows)
        ny_log(ctx, NY_LOG_NOTE,
               "the model of %s is all %zu points: transform compares each new point with all of "
               "them",
               fit->method->name, fit->landmarks);
    return fit->method->check ? fit->method->check(&problem) : NY_OK;
}

/* Refuses --oversample and --power if --inner auto decides, by the number of landmarks and
 * pairs, to solve exactly, as they would be ignored. */
static int check_randomized(struct ny_context *ctx, const struct ny_wishes *wishes,
                            const struct ny_fit_settings *fit)
{
    struct ny_problem problem = ny_settings_problem(fit, fit->landmarks);
    size_t k = ny_settings_rank(fit, fit->landmarks);

    if (!wishes->oversample_typed && !wishes->power_typed) return NY_OK;
    if (fit->inner != NY_INNER_AUTO || fit->method->whole || !isnan(fit->dictionary.tolerance) ||
        ny_nystrom_randomized(&problem, fit->landmarks, k))
        return NY_OK;
    return ny_fail_beside(ctx, wishes->oversample_typed ? "oversample" : "power", "inner", "auto");
}

/* Refuses --until sums where the sums of another store could not be added: over landmarks that it
 * has not, of degrees over all rows of all stores, of a width that it has not, or where each store
 * has means of its own for genotypes that are missing. Those of columns,
 * which stand for landmarks of their own, share nothing but the columns. */
static int check_until(struct ny_context *ctx, const struct ny_fit_settings *fit,
                       const struct ny_rows_info *points)
{
    const char *other = fit->online                   ? "online"
                        : fit->probes                 ? "probe"
                        : fit->certify                ? "certify"
                        : fit->scale != NY_SCALE_NONE ? "scale"
                                                      : NULL;

    if (!fit->until_sums) return NY_OK;
    if (points->dtype == NY_GENOTYPE) return ny_fail_idle(ctx, "until", "genotypes");
    if (other) return ny_fail_both(ctx, "until", other);
    if (!ny_settings_forms_gram(fit))
        return ny_fail_beside(ctx, "until", "approx", fit->method->name);
    if (ny_settings_unit_landmarks(fit)) return NY_OK;
    if (!fit->landmark_points.count) return ny_fail_only(ctx, "until", "--landmarks-points");
    if (fit->normalisation == NY_DIVIDED_IMPLICIT)
        return ny_fail_only(ctx, "until", "--averages landmarks");
    if (fit->map->centred_rows) return ny_fail_beside(ctx, "until", "map", fit->map->name);
    return fit->gamma_auto ? ny_fail_only(ctx, "until", "--gamma as a number") : NY_OK;
}

/* Decides what a map of a kernel needs besides its kernel and landmarks. */
static int decide_kernel_map(struct ny_context *ctx, const struct ny_wishes *wishes,
                             const struct ny_rows_info *points, struct ny_fit_settings *fit)
{
    int err;

    if (fit->probes > points->n) fit->probes = (size_t)points->n;
    err = decide_normalisation(ctx, wishes, fit);
    if (err) return err;
    if (goes_by_features(wishes, fit, points))
        take_features(fit, points);
    else if (fit->map->centred_rows && ny_method_by_columns(fit->method))
        take_columns(fit, points);
    if (fit->inner == NY_INNER_RANDOMIZED && ny_method_by_products(fit->method))
        fit->method = ny_method_by_products(fit->method);
    err = check_components(ctx, fit, points->n);
    if (!err) err = check_method(ctx, fit);
    if (!err) err = check_until(ctx, fit, points);
    return err ? err : check_randomized(ctx, wishes, fit);
}

/* ---- maps of graphs ----------------------------------------------------------------------- */

/* Decides what a map of a graph needs. Averages run over its landmarks, if it has any. */
static int decide_graph_map(struct ny_rows *X, const struct ny_wishes *wishes, uint64_t n,
                            struct ny_fit_settings *fit)
{
    struct ny_context *ctx = X->ctx;

    if (!fit->method) fit->landmarks = 0;
    fit->normalisation = NY_CENTRED_LANDMARKS;
    fit->inner = NY_INNER_EXACT;
    if (fit->method && fit->components > fit->landmarks)
        return ny_fail_most(ctx, "components", fit->components, fit->landmarks, "landmarks");
    if (!fit->method && fit->components >= n)
        return ny_fail_most(ctx, "components", fit->components, n, "rows");
    return fit->graph_name ? NY_OK : ny_graph_settings_decide(&fit->graph, X, wishes->sweep);
}

int ny_settings_decide(struct ny_fit_settings *settings, struct ny_context *ctx, struct ny_rows *X,
                       const struct ny_rows_info *points, const struct ny_wishes *wishes)
{
    int err;

    *settings = wishes->plain;
    if (points->dtype == NY_GENOTYPE && !settings->scale_typed) settings->scale = NY_SCALE_BINOMIAL;
    settings->landmarks = decide_landmarks(ctx, wishes, points->n);
    if (settings->map->graph) return decide_graph_map(X, wishes, points->n, settings);
    if (!settings->kernel) /* of a selection whose options are those of a graph's map */
        return ny_fail_beside(ctx, "select", "map", settings->map->name);
    settings->dictionary.affine = selects_affine(wishes);
    settings->affine = settings->affine && settings->method && settings->method->affine;
    settings->online = settings->online && settings->method && settings->rule->by_tolerance;
    err = settings->updates ? NY_OK : check_tolerance(ctx, settings);
    return err || !settings->method ? err : decide_kernel_map(ctx, wishes, points, settings);
}
