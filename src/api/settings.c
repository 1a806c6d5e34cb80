/*
 * Turns the options in force into the settings of a fit (fit/settings.h), and checks them against
 * the store: table entries for map, method, rule and kernel, numbers, and the landmarks that a
 * file or another result gives.
 *
 * Fit, select and update call ny_settings_new(). The rules between options alone are checked
 * before (ny_options_check()); here are those that need n, d or the layout of the points, such as
 * components that are more than the rows. Messages name the option and what to give instead. Row
 * numbers in a list of landmarks are those of the store, and become those of the rows that are
 * left where some were lost.
 */
#include "api/settings.h"

#include <math.h>
#include <string.h>

#include "api/graph_settings.h"
#include "base/memory.h"
#include "results/record.h"
#include "spectral/ensemble.h"
#include "spectral/methods.h"
#include "spectral/nystrom.h"

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* Returns the whole number in force, or `fallback` for an option without a value. */
static size_t size_of(const struct ny_options *options, const char *name, size_t fallback)
{
    uint64_t value;

    return ny_options_size(options, name, &value) ? (size_t)value : fallback;
}

static double number_of(const struct ny_options *options, const char *name, double fallback)
{
    double value;

    return ny_options_number(options, name, &value) ? value : fallback;
}

struct ny_reader_options ny_settings_reader(const struct ny_options *options)
{
    const char *format, *header, *dtype;
    struct ny_reader_options reader = {0};

    if (!options) return reader;
    format = ny_options_text(options, "format");
    header = ny_options_text(options, "header");
    dtype = ny_options_text(options, "dtype");
    if (format && !is(format, "auto")) reader.format = format;
    if (is(header, "yes")) reader.header = NY_HEADER_YES;
    if (is(header, "no")) reader.header = NY_HEADER_NO;
    if (dtype) reader.dtype = ny_dtype_parse(dtype);
    reader.label_column = ny_options_text(options, "label-column");
    reader.columns = ny_options_text(options, "columns");
    reader.labels_file = ny_options_text(options, "labels");
    reader.dims = size_of(options, "dims", 0);
    reader.nan_kept = is(ny_options_text(options, "nan"), "keep");
    reader.nan_drop = reader.nan_kept || is(ny_options_text(options, "nan"), "drop");
    return reader;
}

/* ---- landmarks from outside --------------------------------------------------------------- */

/* Row numbers of a one-column file, read as f64: exact up to 2⁵³. */
static int read_rows(struct ny_context *ctx, struct ny_reader *reader, const char *path,
                     struct ny_owned_settings *settings)
{
    enum { ROWS = 1024 };
    double values[ROWS];
    size_t count = 0;
    int err;

    for (;;) {
        struct ny_row_batch batch = {.values = values};
        uint64_t *grown;

        err = ny_reader_next(reader, ROWS, &batch);
        if (err) break;
        grown = ny_resize(ctx, NY_MEM_DICTIONARY, settings->given,
                          (count + batch.count) * sizeof(uint64_t));
        if (!grown) return NY_EBUDGET;
        settings->given = grown;
        for (size_t i = 0; i < batch.count; i++) {
            if (values[i] < 0 || values[i] != floor(values[i]) || values[i] > 0x1p53)
                return ny_fail_at(ctx, NY_EDATA, path, count + i,
                                  "%s, row %zu: %g is not a row number", path, count + i,
                                  values[i]);
            settings->given[count + i] = (uint64_t)values[i];
        }
        count += batch.count;
    }
    settings->fit.landmarks = count;
    return err == NY_END ? NY_OK : err;
}

/* Reads the row numbers of --landmarks-file, a table of one column. */
static int landmarks_of_file(struct ny_context *ctx, const char *path,
                             struct ny_owned_settings *settings)
{
    struct ny_reader_options options = {.dtype = NY_F64};
    struct ny_reader *reader = NULL;
    int err = ny_reader_open(&reader, ctx, path, &options);

    if (err) return err;
    if (ny_reader_table(reader)->d != 1)
        err = ny_fail_at(ctx, NY_EDATA, path, NY_NO_LINE,
                         "%s has %llu columns; landmarks are one "
                         "row number a row",
                         path, (unsigned long long)ny_reader_table(reader)->d);
    if (err == NY_OK) err = read_rows(ctx, reader, path, settings);
    ny_reader_close(reader);
    return err;
}

/* Row numbers of the store become those among the rows that are left. */
static int number_left(struct ny_store *store, struct ny_owned_settings *settings)
{
    const struct ny_lost *lost = ny_store_skipped(store);

    for (size_t i = 0; i < settings->fit.landmarks; i++) {
        uint64_t row = settings->given[i], gone = 0;

        for (size_t k = 0; k < lost->count && lost->range[k].first <= row; k++) {
            if (row < lost->range[k].end)
                return ny_fail(ny_store_context(store), NY_EDATA,
                               "the list of landmarks names row %llu, which %s has lost",
                               (unsigned long long)row, ny_store_path(store));
            gone += lost->range[k].end - lost->range[k].first;
        }
        settings->given[i] = row - gone;
    }
    return NY_OK;
}

/* Reads the landmarks of a finished result, whose row numbers must still hold. */
static int landmarks_of_result(struct ny_store *store, const char *name,
                               struct ny_owned_settings *settings)
{
    struct ny_context *ctx = ny_store_context(store);
    json_t *record;
    size_t m;
    int err = ny_record_need_done(store, name, &record);

    if (err) return err;
    m = (size_t)ny_field_count(json_object_get(record, "report"), "landmarks", 0);
    err = ny_record_check_lost(store, name, record);
    if (err == NY_OK && m == 0)
        err = ny_fail(ctx, NY_EUSAGE,
                      "'%s' has no landmarks; choose some with 'nystream select %s NAME'", name,
                      ny_store_path(store));
    if (err) {
        json_decref(record);
        return err;
    }
    settings->fit.landmarks = m;
    settings->given = ny_calloc(ctx, NY_MEM_DICTIONARY, m, sizeof(uint64_t));
    err = settings->given ? ny_blob_get(store, name, ny_record_part(record, "landmarks").name,
                                        settings->given, m * sizeof(uint64_t))
                          : NY_EBUDGET;
    json_decref(record);
    return err;
}

/* Sets the landmarks that are given, or how many there may be. */
static int decide_landmarks(struct ny_store *store, const struct ny_options *options, uint64_t n,
                            const char *updated, struct ny_owned_settings *settings)
{
    const char *file = ny_options_text(options, "landmarks-file");
    const char *from = ny_options_text(options, "landmarks-from");
    struct ny_fit_settings *fit = &settings->fit;
    int err = NY_OK;

    fit->landmarks = size_of(options, "landmarks", SIZE_MAX);
    if (updated && (file || from)) {
        err = landmarks_of_result(store, updated, settings);
    } else if (file) {
        err = landmarks_of_file(ny_store_context(store), file, settings);
        if (err == NY_OK) err = number_left(store, settings);
    } else if (from)
        err = landmarks_of_result(store, from, settings);
    fit->given = settings->given;
    fit->landmarks_typed = ny_options_is_set(options, "landmarks");
    if (fit->rule->all) fit->landmarks = (size_t)n;
    if (err || fit->given || n == 0) return err;
    if (fit->landmarks > n && fit->landmarks != SIZE_MAX) {
        if (fit->landmarks_typed)
            ny_log(
                ny_store_context(store), NY_LOG_WARNING,
                "--landmarks %zu is more than the %llu rows there are; at most all rows are taken",
                fit->landmarks, (unsigned long long)n);
        fit->landmarks = (size_t)n;
    }
    return NY_OK;
}

/* ---- the rest ----------------------------------------------------------------------------- */

/* Sets the kernel with its parameters; γ is left to stage stats where it is not given. */
static int decide_kernel(struct ny_context *ctx, const struct ny_options *options,
                         struct ny_fit_settings *fit)
{
    const char *scale = ny_options_text(options, "scale");

    fit->columns_file = ny_options_text(options, "columns-file");
    fit->kernel = ny_kernel_find(ny_options_text(options, "kernel"));
    if (!fit->kernel) return ny_fail(ctx, NY_EINTERNAL, "a kernel of the option table is missing");
    fit->params.gamma = 1;
    fit->gamma_auto = fit->kernel->has_gamma && !ny_options_gamma(options, &fit->params.gamma);
    fit->params.coef0 = number_of(options, "coef0", 0);
    fit->params.degree = (unsigned)size_of(options, "degree", 1);
    fit->scale = is(scale, "standard") ? NY_SCALE_STANDARD
                 : is(scale, "unit")   ? NY_SCALE_UNIT
                                       : NY_SCALE_NONE;
    return NY_OK;
}

/* Sets how K is centred or divided, and refuses averages that the method cannot have. */
static int decide_normalisation(struct ny_context *ctx, const struct ny_options *options,
                                struct ny_fit_settings *fit)
{
    bool implicit = fit->method->whole || is(ny_options_text(options, "averages"), "implicit");

    fit->normalisation = NY_RAW;
    fit->asymmetric = is(ny_options_text(options, "normalize"), "asymmetric");
    fit->time = number_of(options, "time", 1);
    fit->row_normalize = ny_options_flag(options, "row-normalize");
    if (!fit->map->additive && !fit->map->divided) return NY_OK;
    if (implicit && !fit->method->implicit)
        return ny_fail(ctx, NY_EUSAGE,
                       "--averages implicit goes with --approx projected and ensemble; %s "
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

/* Checks that there are landmarks enough for all experts and for weighing them. A greedy
 * selection may find fewer than it is allowed, so that the method looks once more. */
static int check_ensemble(struct ny_context *ctx, const struct ny_fit_settings *fit)
{
    struct ny_problem problem = ny_settings_problem(fit, fit->landmarks);
    struct ny_ensemble ensemble = ny_ensemble_shape(&problem);

    if (!ensemble.columns)
        return ny_fail(ctx, NY_EUSAGE,
                       "the last %zu landmarks serve to weigh the experts, and there are %zu; "
                       "raise --landmarks, or give --weights uniform",
                       ensemble.samples, fit->landmarks);
    if (ensemble.samples && fit->normalisation == NY_DIVIDED_IMPLICIT)
        return ny_fail(ctx, NY_EUSAGE,
                       "the degrees of --averages implicit need the weights before they can be "
                       "fitted; give --weights uniform or --averages landmarks");
    if (fit->experts > ensemble.columns)
        return ny_fail(ctx, NY_EUSAGE,
                       "--experts %zu is more than the %zu landmarks that they share; raise "
                       "--landmarks",
                       fit->experts, ensemble.columns);
    if (fit->components > ensemble.experts * ensemble.rank)
        return ny_fail(ctx, NY_EUSAGE,
                       "--components %zu is more than %zu experts of rank %zu have; raise --rank "
                       "or --experts",
                       fit->components, ensemble.experts, ensemble.rank);
    return NY_OK;
}

/* Refuses more components than rows or landmarks can give, and warns of choices that are allowed
 * but cost more or are less accurate than they seem. */
static int check_sizes(struct ny_context *ctx, uint64_t n, struct ny_fit_settings *fit)
{
    if (fit->method->whole && ny_settings_pairs(fit) > n)
        return ny_fail(ctx, NY_EUSAGE, "--components %zu%s more than the %llu rows",
                       fit->components, fit->map->divided ? " and the trivial one are" : " is",
                       (unsigned long long)n);
    if (ny_settings_unit_landmarks(fit) && fit->components > fit->landmarks)
        return ny_fail(ctx, NY_EUSAGE,
                       "--components %zu is more than the %zu columns of the points",
                       fit->components, fit->landmarks);
    if (ny_settings_pairs(fit) > fit->landmarks && fit->landmarks >= n)
        return ny_fail(ctx, NY_EUSAGE,
                       "--components %zu%s more than the %llu rows there are; give fewer",
                       fit->components, fit->map->divided ? " and the trivial one are" : " is",
                       (unsigned long long)n);
    if (ny_settings_pairs(fit) > fit->landmarks)
        return ny_fail(ctx, NY_EUSAGE,
                       "--components %zu%s more than the %zu landmarks; raise --landmarks",
                       fit->components, fit->map->divided ? " and the trivial one are" : " is",
                       fit->landmarks);
    if (!fit->rule->uniform && fit->method->uniform_only)
        ny_log(ctx, NY_LOG_WARNING,
               "%s scales its eigenvalues by n/m, which assumes uniform "
               "landmarks; with --select %s use --approx projected",
               fit->method->name, fit->rule->name);
    if (fit->method->all_rows)
        ny_log(ctx, NY_LOG_WARNING,
               "the model of %s is all %zu points: transform compares each new point with all of "
               "them",
               fit->method->name, fit->landmarks);
    return is(fit->method->name, "ensemble") ? check_ensemble(ctx, fit) : NY_OK;
}

/* Refuses --oversample and --power if --inner auto decides, by the number of landmarks and
 * pairs, to solve exactly, as they would be ignored. */
static int check_randomized(struct ny_context *ctx, const struct ny_options *options,
                            const struct ny_fit_settings *fit)
{
    struct ny_problem problem = ny_settings_problem(fit, fit->landmarks);
    size_t k = ny_settings_rank(fit, fit->landmarks);
    bool oversample = ny_options_is_set(options, "oversample");

    if (!oversample && !ny_options_is_set(options, "power")) return NY_OK;
    if (fit->inner != NY_INNER_AUTO || fit->method->whole || !isnan(fit->dictionary.tolerance) ||
        ny_nystrom_randomized(&problem, fit->landmarks, k))
        return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "--%s does not act here: --inner auto finds %zu pairs of %zu landmarks exactly; "
                   "give --inner randomized",
                   oversample ? "oversample" : "power", k, fit->landmarks);
}

/* --map pca --approx exact: C is the points' own columns, for any n; averages are the true ones. */
static int take_coordinates(struct ny_context *ctx, struct ny_fit_settings *fit,
                            const struct ny_points_info *points)
{
    const size_t most = 8192;
    uint64_t d = points->d;

    if (points->row_slots)
        return ny_fail(ctx, NY_EUSAGE,
                       "--approx exact of --map pca takes dense rows, and these are sparse; use "
                       "--approx projected, or import them with --layout dense");
    if (d > most)
        return ny_fail(ctx, NY_EUSAGE,
                       "--approx exact of --map pca takes at most %zu columns, and the points have "
                       "%llu; use --approx projected",
                       most, (unsigned long long)d);
    fit->method = &ny_method_scatter;
    fit->kernel = ny_kernel_find(NY_COORDINATES_KERNEL);
    fit->normalisation = NY_CENTRED_IMPLICIT;
    fit->landmarks = (size_t)d;
    return NY_OK;
}

/* Sets what a map of a kernel needs besides its kernel and landmarks. */
static int decide_fit(struct ny_context *ctx, const struct ny_options *options,
                      const struct ny_points_info *points, struct ny_fit_settings *fit)
{
    const char *inner = ny_options_text(options, "inner");
    const char *weights = ny_options_text(options, "weights");
    int err;

    fit->method = ny_method_find(ny_options_text(options, "approx"));
    if (!fit->method)
        return ny_fail(ctx, NY_EINTERNAL, "a method of the option table is missing");
    fit->affine = ny_options_is_set(options, "affine") && ny_options_flag(options, "affine") &&
                  is(fit->method->name, "projected");
    err = decide_normalisation(ctx, options, fit);
    if (!err && fit->method->all_rows && fit->map->centred_rows)
        err = take_coordinates(ctx, fit, points);
    if (err) return err;
    fit->precision =
        is(ny_options_text(options, "precision"), "f64") ? NY_PRECISION_F64 : NY_PRECISION_F32;
    fit->inner = is(inner, "exact")        ? NY_INNER_EXACT
                 : is(inner, "randomized") ? NY_INNER_RANDOMIZED
                                           : NY_INNER_AUTO;
    if (fit->inner == NY_INNER_RANDOMIZED && is(fit->method->name, "projected"))
        fit->method = &ny_method_krylov;
    fit->randomized.oversample = size_of(options, "oversample", 5);
    fit->randomized.power = (unsigned)size_of(options, "power", 2);
    fit->randomized.seed = fit->seed;
    fit->certify = ny_options_flag(options, "certify");
    fit->online = ny_options_flag(options, "online") && fit->rule->by_tolerance;
    fit->probes = size_of(options, "probe", 0);
    if (fit->probes > points->n) fit->probes = (size_t)points->n;
    fit->components = size_of(options, "components", 2);
    fit->rank = size_of(options, "rank", 0);
    fit->experts = size_of(options, "experts", 0);
    fit->weights = is(weights, "exponential") ? NY_WEIGHTS_EXPONENTIAL
                   : is(weights, "ridge")     ? NY_WEIGHTS_RIDGE
                                              : NY_WEIGHTS_UNIFORM;
    err = check_sizes(ctx, points->n, fit);
    return err ? err : check_randomized(ctx, options, fit);
}

/* Decides the settings of a map of a graph. Averages run over its landmarks, if it has any. */
static int decide_graph_fit(struct ny_store *store, const struct ny_options *options, uint64_t n,
                            struct ny_fit_settings *fit)
{
    struct ny_context *ctx = ny_store_context(store);
    const char *approx = ny_options_text(options, "approx");

    fit->graph_name = ny_options_text(options, "graph");
    fit->largest_alone = ny_options_flag(options, "largest");
    fit->method = approx ? ny_method_find(approx) : NULL;
    if (!fit->method) fit->landmarks = 0;
    fit->normalisation = NY_CENTRED_LANDMARKS;
    fit->edge_weights = is(ny_options_text(options, "edge-weights"), "binary") ? NY_EDGES_BINARY
                                                                              : NY_EDGES_HEAT;
    fit->asymmetric = is(ny_options_text(options, "normalize"), "asymmetric");
    fit->time = number_of(options, "time", 1);
    fit->precision =
        is(ny_options_text(options, "precision"), "f64") ? NY_PRECISION_F64 : NY_PRECISION_F32;
    fit->inner = NY_INNER_EXACT;
    fit->components = size_of(options, "components", 2);
    if (fit->method && fit->components > fit->landmarks)
        return ny_fail(ctx, NY_EUSAGE,
                       "--components %zu is more than the %zu landmarks; raise --landmarks",
                       fit->components, fit->landmarks);
    if (!fit->method && fit->components >= n)
        return ny_fail(ctx, NY_EUSAGE,
                       "--components %zu and the trivial one are more than the %llu rows",
                       fit->components, (unsigned long long)n);
    return fit->graph_name ? NY_OK : ny_graph_settings_of(&fit->graph, store, options);
}

/* The affine hull is the default where the map centres: greedy under kpca and pca. Online, rows are
 * projected on the span. */
static bool affine_selection(const struct ny_options *options)
{
    const char *map = ny_options_text(options, "map");

    if (ny_options_is_set(options, "affine")) return ny_options_flag(options, "affine");
    return !ny_options_flag(options, "online") && (is(map, "kpca") || is(map, "pca"));
}

/* If k(x,x) is at most 1, the first landmark leaves a residual of at most 1 to any row, or 2 where
 * it is the distance to an affine hull: a tolerance that large is a slip. Other kernels have no
 * such bound. */
static int check_tolerance(struct ny_context *ctx, const struct ny_fit_settings *fit, bool affine)
{
    double tolerance = fit->dictionary.tolerance, most = affine ? 2 : 1;
    bool bounded = fit->kernel && (fit->kernel->constant_diagonal || fit->kernel->unit_rows);

    if (isnan(tolerance) || !bounded || tolerance < most) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "--tolerance %g: residuals of the %s kernel lie between 0 and %g, so that one "
                   "landmark would do for all rows; give one between, such as 0.1",
                   tolerance, fit->kernel->name, most);
}

void ny_settings_nothing_to_replace(const struct ny_options *options, struct ny_context *ctx)
{
    if (ny_options_flag(options, "restart"))
        ny_log(ctx, NY_LOG_NOTE, "there is no result of a name here that --restart would replace");
}

int ny_settings_new(struct ny_owned_settings *settings, struct ny_store *store,
                    const struct ny_options *options, unsigned groups, const char *updated)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_fit_settings *fit = &settings->fit;
    const char *select = ny_options_text(options, "select");
    struct ny_points_info points;
    int err;

    *settings = (struct ny_owned_settings){0};
    err = ny_options_check(options, groups);
    if (err) return err;
    err = ny_store_skip_lost(store);
    if (err == NY_OK) err = ny_points_info(store, &points);
    if (err) return err;
    if (points.n < 2)
        return ny_fail(ctx, NY_EDATA, "%s has %s: nothing to fit; at least two rows are needed",
                       ny_store_path(store), points.n ? "one row" : "no points");
    fit->threads = ny_context_threads(ctx);
    fit->seed = size_of(options, "seed", 0);
    fit->rule = select ? ny_rule_find(select) : ny_rule_at(0); /* not asked, without landmarks */
    fit->map = groups & NY_GROUP_FIT ? ny_options_map(options) : ny_map_find("kpca");
    if (!fit->rule || !fit->map)
        return ny_fail(ctx, NY_EINTERNAL, "a rule or map of the option table is missing");
    if (!fit->map->graph || fit->map->kernel) err = decide_kernel(ctx, options, fit);
    if (err) return err;
    err = decide_landmarks(store, options, points.n, updated, settings);
    if (err) return err;
    if (fit->map->graph) return decide_graph_fit(store, options, points.n, fit);
    fit->dictionary.tolerance = number_of(options, "tolerance", NAN);
    fit->dictionary.landmarks_max = fit->landmarks;
    if (!updated) err = check_tolerance(ctx, fit, affine_selection(options));
    if (err) return err;
    fit->pilot = ny_options_flag(options, "pilot");
    fit->dictionary.affine = fit->rule->by_tolerance && affine_selection(options);
    return groups & NY_GROUP_FIT ? decide_fit(ctx, options, &points, fit) : NY_OK;
}

void ny_settings_release(struct ny_owned_settings *settings, struct ny_context *ctx)
{
    ny_free(ctx, settings->given);
    settings->given = NULL;
}
