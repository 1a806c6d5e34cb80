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

#include "base/text.h"
#include "spectral/methods.h"
#include "spectral/nystrom.h"

/* Columns of dense rows up to which --map pca --approx exact sums up their scatter matrix. */
enum { SCATTER_COLUMNS = 8192 };

/* Returns how many landmarks are asked for: no more than there are rows, unless they are given,
 * or the number is open. */
static size_t decide_landmarks(struct ny_context *ctx, const struct ny_wishes *wishes, uint64_t n)
{
    size_t landmarks = wishes->plain.rule->all ? (size_t)n : wishes->landmarks;

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
    if (!wishes->plain.rule->by_tolerance) return false;
    return wishes->affine_typed ? wishes->affine : wishes->centred && !wishes->online;
}

/* If k(x,x) is at most 1, the first landmark leaves a residual of at most 1 to any row, or 2 where
 * it is the distance to an affine hull: a tolerance that large is a slip. Other kernels have no
 * such bound. */
static int check_tolerance(struct ny_context *ctx, const struct ny_fit_settings *fit)
{
    double tolerance = fit->dictionary.tolerance, most = fit->dictionary.affine ? 2 : 1;
    bool bounded = fit->kernel->constant_diagonal || fit->kernel->unit_rows;

    if (isnan(tolerance) || !bounded || tolerance < most) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "--tolerance %g: residuals of the %s kernel lie between 0 and %g, so one "
                   "landmark would be enough for all rows; give a value in between, such as 0.1",
                   tolerance, fit->kernel->name, most);
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
        return ny_fail(ctx, NY_EUSAGE,
                       "--averages implicit acts only with --approx projected and ensemble; %s "
                       "averages over its landmarks",
                       fit->method->name);
    if (fit->affine && !implicit)
        return ny_fail(ctx, NY_EUSAGE,
                       "--affine and --averages landmarks do not go together: the "
                       "affine hull is centred implicitly");
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
 * found at once. Dense rows of pca have their scatter matrix. */
static bool goes_by_features(const struct ny_wishes *wishes, const struct ny_fit_settings *fit,
                             const struct ny_rows_info *points)
{
    const uint64_t few_rows = 2048;
    const double many_products = 0x1p31; /* 2 s */

    if (!fit->method->all_rows || !ny_kernel_has_features(fit->kernel)) return false;
    if (wishes->products) return true;
    if (fit->map->centred_rows) return points->row_slots || points->d > SCATTER_COLUMNS;
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
    const char *are = fit->map->divided ? " and the trivial one are" : " is";

    if ((fit->method->whole || ny_settings_features(fit)) && pairs > n)
        return ny_fail(ctx, NY_EUSAGE, "--components %zu%s more than the %s", fit->components, are,
                       ny_counted(n, "row", "rows").text);
    if (ny_settings_unit_landmarks(fit) || pairs <= fit->landmarks) return NY_OK;
    if (fit->landmarks >= n)
        return ny_fail(ctx, NY_EUSAGE,
                       "--components %zu%s more than the %llu rows there are; give fewer",
                       fit->components, are, (unsigned long long)n);
    return ny_fail(ctx, NY_EUSAGE, "--components %zu%s more than the %s; raise --landmarks",
                   fit->components, are, ny_counted(fit->landmarks, "landmark", "landmarks").text);
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
    return ny_fail(ctx, NY_EUSAGE,
                   "--%s does not act here: --inner auto finds %zu pairs of %zu landmarks exactly; "
                   "give --inner randomized",
                   wishes->oversample_typed ? "oversample" : "power", k, fit->landmarks);
}

/* Refuses --until sums over landmarks where another store has others, or another kernel. */
static int check_shared(struct ny_context *ctx, const struct ny_fit_settings *fit)
{
    if (!fit->landmark_points.count)
        return ny_fail(ctx, NY_EUSAGE,
                       "--until sums needs --landmarks-points FILE: sums are added over landmarks "
                       "that all stores share");
    if (fit->normalisation == NY_DIVIDED_IMPLICIT)
        return ny_fail(ctx, NY_EUSAGE,
                       "--until sums works with --map %s only with --averages landmarks: degrees "
                       "over all rows are known only when all stores have been read",
                       fit->map->name);
    if (fit->map->centred_rows)
        return ny_fail(ctx, NY_EUSAGE,
                       "--until sums works with --map %s only with --approx exact; for landmarks, "
                       "give --map kpca --kernel linear",
                       fit->map->name);
    if (!fit->gamma_auto) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "--until sums needs --gamma as a number, the same for all stores; 'nystream "
                   "plan' and a fit of one of them show a suitable one");
}

/* Refuses --until sums where the sums of another store could not be added. Those of columns, which
 * stand for landmarks of their own, share nothing but the columns. */
static int check_until(struct ny_context *ctx, const struct ny_fit_settings *fit)
{
    if (!fit->until_sums) return NY_OK;
    if (!ny_settings_forms_gram(fit) || fit->online || fit->probes || fit->certify)
        return ny_fail(ctx, NY_EUSAGE,
                       "--until sums works with --approx projected, orthonystrom and column, and "
                       "with --map pca --approx exact of up to %d columns, which are solved from "
                       "sums over the rows; it does not work with --online, --probe or --certify",
                       SCATTER_COLUMNS);
    if (fit->scale != NY_SCALE_NONE)
        return ny_fail(ctx, NY_EUSAGE,
                       "--until sums does not go with --scale, which would differ from store to "
                       "store; scale rows and landmarks before");
    return ny_settings_unit_landmarks(fit) ? NY_OK : check_shared(ctx, fit);
}

/* Decides what a map of a kernel needs besides its kernel and landmarks. */
static int decide_kernel_map(struct ny_context *ctx, const struct ny_wishes *wishes,
                             const struct ny_rows_info *points, struct ny_fit_settings *fit)
{
    int err;

    fit->method = wishes->method;
    fit->affine =
        wishes->affine_typed && wishes->affine && ny_one_of("affine", fit->method->options);
    fit->online = wishes->online && fit->rule->by_tolerance;
    fit->probes = wishes->probes < points->n ? wishes->probes : (size_t)points->n;
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
    if (!err) err = check_until(ctx, fit);
    return err ? err : check_randomized(ctx, wishes, fit);
}

/* ---- maps of graphs ----------------------------------------------------------------------- */

/* Decides what a map of a graph needs. Averages run over its landmarks, if it has any. */
static int decide_graph_map(struct ny_rows *X, const struct ny_wishes *wishes, uint64_t n,
                            struct ny_fit_settings *fit)
{
    struct ny_context *ctx = X->ctx;

    fit->method = wishes->method;
    if (!fit->method) fit->landmarks = 0;
    fit->normalisation = NY_CENTRED_LANDMARKS;
    fit->inner = NY_INNER_EXACT;
    if (fit->method && fit->components > fit->landmarks)
        return ny_fail(ctx, NY_EUSAGE, "--components %zu is more than the %s; raise --landmarks",
                       fit->components, ny_counted(fit->landmarks, "landmark", "landmarks").text);
    if (!fit->method && fit->components >= n)
        return ny_fail(ctx, NY_EUSAGE,
                       "--components %zu and the trivial one are more than the %llu rows",
                       fit->components, (unsigned long long)n);
    return fit->graph_name ? NY_OK : ny_graph_settings_decide(&fit->graph, X, wishes->sweep);
}

int ny_settings_decide(struct ny_fit_settings *settings, struct ny_context *ctx, struct ny_rows *X,
                       const struct ny_rows_info *points, const struct ny_wishes *wishes)
{
    int err;

    *settings = wishes->plain;
    settings->kernel = wishes->kernel;
    settings->landmarks = decide_landmarks(ctx, wishes, points->n);
    if (settings->map->graph) return decide_graph_map(X, wishes, points->n, settings);
    if (!settings->kernel) /* of a selection whose options are those of a graph's map */
        return ny_fail(
            ctx, NY_EUSAGE,
            "landmarks are selected with a kernel, but this --map has none; give --map kpca");
    settings->dictionary.affine = selects_affine(wishes);
    err = settings->updates ? NY_OK : check_tolerance(ctx, settings);
    return err || !wishes->method ? err : decide_kernel_map(ctx, wishes, points, settings);
}
