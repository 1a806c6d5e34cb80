/*
 * Solves sums without the rows that they are of: stage solve of a fit (fit/solve.c) whose landmarks
 * are those of the base, and whose model goes to the caller.
 */
#include "base/memory.h"
#include "fit/fit.h"
#include "fit/signs.h"
#include "merge/sums.h"
#include "records/figures.h"
#include "records/record.h"

/* Copies the sums, which solving them destroys. Those of columns are taken about the mean of all
 * rows where the map is centred, as those of one store are: parts that were added have their own.
 */
static int copy_sums(struct ny_fit *fit, const struct ny_summed *sums)
{
    const struct ny_geometry *base = sums->base->spec.geometry;
    size_t m = sums->acc->m;
    double *centre = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, 2 * m, sizeof(*centre));
    double *delta = centre + m;
    int err = centre ? ny_accumulator_new(&fit->acc, fit->job.ctx, m) : NY_EBUDGET;

    if (err) goto done;
    ny_accumulator_add(fit->acc, 1, sums->acc, 1);
    if (!ny_summed_columns(sums) || !ny_centred(fit->settings->normalisation)) goto done;
    for (size_t k = 0; k < m; k++) {
        delta[k] = fit->acc->s[k] / (double)fit->acc->rows;
        centre[k] = base->centre[k] + (base->factor[k] != 0 ? delta[k] / base->factor[k] : 0);
    }
    ny_accumulator_move(fit->acc, delta);
    ny_geometry_free(fit->geometry, fit->job.ctx);
    err = ny_geometry_copy(&fit->geometry, fit->job.ctx, centre, base->factor, m);
done:
    ny_free(fit->job.ctx, centre);
    return err;
}

/* Makes what stages behind the selection have of the landmarks: columns, shift, W and degrees. */
static int prepare(struct ny_fit *fit, const struct ny_summed *sums)
{
    const struct ny_model *base = sums->base;
    struct ny_context *ctx = fit->job.ctx;
    int err = NY_OK;

    if (!fit->geometry)
        err = ny_geometry_copy(&fit->geometry, ctx, base->spec.geometry->centre,
                               base->spec.geometry->factor, base->d);
    if (!err) err = ny_model_columns(base, NY_DTYPE_NONE, 0, &fit->columns);
    if (err) return err;
    fit->m = base->m;
    fit->a = ny_alloc(ctx, NY_MEM_DICTIONARY, base->m * sizeof(double));
    if (!fit->a) return NY_EBUDGET;
    for (size_t j = 0; j < base->m; j++)
        fit->a[j] = base->a[j];
    err = ny_fit_reserve_blas(fit, fit->m);
    if (!err) err = ny_blas_make_room(ctx, fit->job.workers);
    if (!err) err = ny_fit_prepare(fit); /* W */
    if (!err && !ny_summed_columns(sums)) err = ny_fit_check_tiles(fit, NY_TILES_OFF);
    if (!err && ny_divided(fit->settings->normalisation))
        err = ny_degrees_over_landmarks(&fit->degrees, ctx, fit->a, fit->m, fit->job.points.n);
    return err;
}

/* Begins the report as a fit does. */
static void describe(const struct ny_fit *fit, const struct ny_summed *sums, json_t *report)
{
    const struct ny_fit_settings *settings = fit->settings;
    bool has_gamma = settings->kernel->auto_gamma;

    ny_field_set_count(report, "n", fit->job.points.n);
    ny_field_set_count(report, "d", fit->job.points.d);
    ny_field_set_text(report, "map", settings->map->name);
    ny_field_set_text(report, "approx", settings->method->name);
    ny_field_set_text(report, "kernel", ny_kernel_shown(settings->kernel));
    ny_field_set_json(report, "gamma", has_gamma ? json_real(fit->params.gamma) : json_null());
    if (!ny_summed_columns(sums)) ny_field_set_count(report, "landmarks", fit->m);
    ny_field_set_count(report, "components", settings->components);
    ny_field_set_text(report, "precision", settings->precision == NY_PRECISION_F64 ? "f64" : "f32");
    ny_field_set_text(report, "gram_precision", ny_field_text(sums->about, "gram"));
    ny_field_set_count(report, "parts", json_array_size(json_object_get(sums->about, "parts")));
}

/* Makes the record that stage solve reads and reports to. */
static json_t *record_of(const struct ny_summed *sums)
{
    json_t *record = json_object(), *noise = json_object_get(sums->about, "noise");

    ny_field_set_json(record, "report", json_object());
    ny_field_set_json(record, "checkpoint", json_object());
    if (noise) ny_field_set_json(record, "gram_noise", json_incref(noise));
    return record;
}

/* Prepares and solves the problem once. *coarse: the solution is none. */
static int attempt(struct ny_fit *fit, const struct ny_summed *sums, struct ny_solution *solution,
                   bool *coarse)
{
    int err = prepare(fit, sums);

    if (!err) err = copy_sums(fit, sums);
    return err ? err : ny_fit_solve_problem(fit, solution, coarse);
}

/* Solves the problem: where even an f64 G has lost to rounding what W tells apart, once more
 * without that. f32 sums that are too coarse have to be made again. */
static int solve(struct ny_fit *fit, const struct ny_summed *sums, struct ny_solution *solution)
{
    bool coarse = false;
    int err = attempt(fit, sums, solution, &coarse);

    if (err || !coarse) return err;
    if (fit->gram == NY_GRAM_F32)
        return ny_fail(fit->job.ctx, NY_ENUMERIC,
                       "sums in f32 are too coarse for this result; make them again with "
                       "--precision f64");
    ny_solution_release(solution, fit->job.ctx);
    err = ny_fit_try_again(fit); /* drops the problem */
    if (!err) err = attempt(fit, sums, solution, &coarse);
    return err || !coarse ? err : ny_fit_try_again(fit); /* which fails the second time */
}

/* Refuses sums whose options are not those of their base, as only an image that was tampered with
 * has them, and more components than rows can give. */
static int check_settings(const struct ny_summed *sums, const struct ny_fit_settings *settings)
{
    uint64_t rows = sums->acc->rows;

    if (settings->kernel != sums->base->spec.kernel || settings->landmarks != sums->base->m ||
        settings->precision != sums->base->precision)
        return ny_fail(sums->ctx, NY_ESTORE, "the sums are damaged");
    if (ny_settings_pairs(settings) <= rows) return NY_OK;
    return ny_fail_most(sums->ctx, "components", settings->components, rows, "rows");
}

int ny_summed_solve(const struct ny_summed *sums, const struct ny_fit_settings *settings,
                    struct ny_model **model, json_t **report)
{
    struct ny_solution solution = {0};
    json_t *record = record_of(sums);
    struct ny_fit fit = {.job = {.ctx = sums->ctx,
                                 .keep.name = "merged",
                                 .record = ny_record_of(record),
                                 .state = ny_state_of(ny_record_of(record)),
                                 .points = ny_summed_points(sums),
                                 .stage = NY_STAGE_SOLVE,
                                 .workers = settings->threads},
                         .settings = settings,
                         .params = sums->base->spec.params,
                         .gram =
                             ny_field_is(sums->about, "gram", "f32") ? NY_GRAM_F32 : NY_GRAM_F64};
    int err = check_settings(sums, settings);

    if (!err) err = solve(&fit, sums, &solution);
    if (err) goto done;
    if (ny_summed_columns(sums)) ny_signs_turn(&solution, solution.P); /* no landmarks fix them */
    describe(&fit, sums, json_object_get(record, "report"));
    fit.job.state.report = ny_state_of(ny_record_of(record)).report;
    ny_fit_report_solution(&fit, &solution);
    err = ny_fit_make_model(&fit, &solution);
    if (!err) err = ny_fields_check(sums->ctx);
    if (!err && sums->base->columns.count)
        err = ny_names_append(&fit.model->columns, sums->ctx, sums->base->columns.text,
                              sums->base->columns.count);
    if (err) goto done;
    ny_codec_put(fit.job.record, &fit.job.state);
    ny_figures_derive(record);
    err = ny_model_take_errors(fit.model, fit.job.record);
    if (err) goto done;
    *model = fit.model;
    fit.model = NULL;
    if (report) *report = json_incref(json_object_get(record, "report"));
done:
    ny_solution_release(&solution, sums->ctx);
    ny_fit_release(&fit);
    json_decref(record);
    return err;
}
