/* Stage select: which rows are landmarks. Then, for all later stages: W and the shift. */
#include "base/clock.h"
#include "fit/given_columns.h"
#include "fit/online.h"
#include "results/geometry.h"

int ny_fit_load_frozen(struct ny_fit *fit)
{
    fit->params.gamma = ny_field_number(ny_job_report(&fit->job), "gamma", fit->params.gamma);
    if (fit->geometry) return NY_OK;
    return ny_stored_geometry(&fit->geometry, fit->job.store, fit->job.name,
                              ny_record_part(fit->job.record, "geometry").name,
                              (size_t)fit->job.points.d, NULL);
}

struct ny_columns_spec ny_fit_spec(const struct ny_fit *fit)
{
    struct ny_columns_spec spec =
        ny_settings_spec(fit->settings, fit->job.ctx, &fit->job.points, fit->geometry);

    spec.params = fit->params;
    return spec;
}

static int checkpoint(void *arg, const void *image, size_t bytes)
{
    struct ny_fit *fit = arg;
    uint64_t units = fit->online ? fit->online->rows / NY_UNIT_ROWS : 0;
    int err = fit->online ? ny_online_put(fit->online) : NY_OK;

    return err ? err
               : ny_job_checkpoint_image(&fit->job, NY_STAGE_SELECT, "select", image, bytes, units);
}

/* Rows that have arrived are of the job. The wait is no time of it. */
static int await_rows(void *arg, uint64_t rows, uint64_t *n)
{
    struct ny_fit *fit = arg;
    const struct ny_arrivals *arrivals = fit->settings->arrivals;
    int err;

    if (rows <= *n) return NY_OK;
    ny_log(fit->job.ctx, NY_LOG_DETAIL, "%zu landmarks of the first %llu rows; more are awaited",
           fit->acc ? fit->acc->m : 0, (unsigned long long)*n);
    ny_job_mark_time(&fit->job);
    err = arrivals->wait(arrivals->arg, rows, n);
    if (!err) err = ny_points_info(fit->job.store, &fit->job.points);
    fit->job.marked_s = ny_now();
    ny_field_set_count(ny_job_report(&fit->job), "n", fit->job.points.n);
    if (*n < rows) json_object_del(fit->job.record, "arriving"); /* there are no more */
    return err;
}

/* Reports how many landmarks of an update are new. */
static int compare_selection(struct ny_fit *fit, const struct ny_selection *selection)
{
    struct ny_matched matched;
    int err;

    if (!fit->update.mode) return NY_OK;
    err = ny_update_match(&matched, fit, selection->rows, selection->m);
    if (!err) {
        ny_field_set_count(ny_job_report(&fit->job), "landmarks_added", matched.late_count);
        ny_field_set_json(json_object_get(fit->job.record, "update"), "same_landmarks",
                          json_boolean(matched.same));
    }
    ny_matched_release(&matched, fit->job.ctx);
    return err;
}

/* Saves the selection into the store and the report. */
static int save_selection(struct ny_fit *fit, const struct ny_selection *selection)
{
    json_t *report = ny_job_report(&fit->job);
    enum ny_stage next = fit->until == NY_STAGE_SELECT ? NY_STAGE_DONE : NY_STAGE_DEGREES;
    int err = compare_selection(fit, selection);

    if (err) return err;
    err = ny_job_put_part(&fit->job, "landmarks", selection->rows, selection->m * sizeof(uint64_t));
    if (err) return err;
    if (selection->residuals) {
        err = ny_job_put_part(&fit->job, "residuals", selection->residuals,
                              (size_t)fit->job.points.n * sizeof(float));
        if (err) return err;
        ny_field_set_number(report, "residual_max", selection->residual_max);
        ny_field_set_number(report, "residual_mean", selection->residual_mean);
    }
    ny_field_set_number(report, "tolerance", selection->tolerance);
    ny_field_set_number(report, "pilot_tolerance_low", selection->pilot_low);
    ny_field_set_number(report, "pilot_tolerance_high", selection->pilot_high);
    ny_field_set_count(report, "landmarks", selection->m);
    ny_field_set_count(fit->job.record, "selected", fit->job.points.n);
    ny_job_count_passes(&fit->job, selection->passes, selection->rows_read, selection->flops);
    if (selection->complete)
        ny_log(fit->job.ctx, fit->settings->landmarks_typed ? NY_LOG_WARNING : NY_LOG_NOTE,
               "%zu landmarks represent all rows, so no more are taken (of at most %zu)",
               selection->m, fit->settings->landmarks);
    err = ny_fields_check(fit->job.ctx); /* before their number is the size of anything */
    if (err) return err;
    if (fit->online) return ny_online_finish(fit->online);
    json_object_clear(ny_job_checkpoint(&fit->job));
    ny_job_mark_time(&fit->job);
    if (next == NY_STAGE_DONE) ny_job_report_resources(&fit->job);
    if (next == NY_STAGE_DONE && fit->settings->rule->by_tolerance && selection->m == 1)
        ny_log(fit->job.ctx, NY_LOG_WARNING,
               "one landmark is enough for --tolerance %g, as no row has a larger residual: give a "
               "smaller --tolerance",
               selection->tolerance);
    return ny_job_save(&fit->job, next);
}

/* The residuals of the rows that were looked at before. */
static int load_residuals(void *arg, float *residuals)
{
    const struct ny_fit *fit = arg;

    return ny_update_get(fit, "residuals", residuals, (size_t)fit->update.selected * sizeof(float));
}

/* Describes the earlier selection, whose rows an update need not look at again. */
static int describe_earlier(struct ny_fit *fit, struct ny_selected *earlier)
{
    size_t bytes = fit->update.landmarks * sizeof(uint64_t);

    *earlier = (struct ny_selected){.n = fit->update.selected,
                                    .m = fit->update.landmarks,
                                    .residuals = load_residuals,
                                    .arg = fit};
    if (fit->update.mode != NY_UPDATE_FULL || !ny_update_selects_new(fit->settings)) return NY_OK;
    earlier->rows = ny_alloc(fit->job.ctx, NY_MEM_DICTIONARY, bytes);
    if (!earlier->rows) return NY_EBUDGET;
    return ny_update_get(fit, "landmarks", earlier->rows, bytes);
}

/* Makes the request to the rule, without the parts that this run adds. */
static struct ny_selection_request request_of(struct ny_fit *fit,
                                              const struct ny_columns_spec *spec)
{
    const struct ny_fit_settings *settings = fit->settings;

    return (struct ny_selection_request){.ctx = fit->job.ctx,
                                         .store = fit->job.store,
                                         .n = fit->job.points.n,
                                         .spec = spec,
                                         .seed = settings->seed,
                                         .landmarks = settings->landmarks,
                                         .dictionary = settings->dictionary,
                                         .pilot = settings->pilot,
                                         .diagonal = ny_settings_diagonal(settings),
                                         .given = settings->given,
                                         .certify = settings->certify,
                                         .workers = fit->job.workers,
                                         .checkpoint = checkpoint,
                                         .checkpoint_arg = fit,
                                         .checkpoint_s = ny_context_checkpoint_s(fit->job.ctx)};
}

int ny_stage_select(struct ny_fit *fit)
{
    const struct ny_fit_settings *settings = fit->settings;
    struct ny_columns_spec spec;
    struct ny_selection_request request;
    struct ny_selection selection = {0};
    struct ny_selected earlier = {0};
    struct ny_online online = {0};
    struct ny_follower follower = {ny_online_follow, &online};
    struct ny_arrivals arrivals = {await_rows, fit};
    void *image = NULL;
    size_t bytes;
    int err;

    if (fit->until != NY_STAGE_SELECT && settings->method->whole) /* nothing to select */
        return ny_job_save(&fit->job, NY_STAGE_ACCUMULATE);
    if (fit->until != NY_STAGE_SELECT && settings->method->coordinates)
        return ny_job_save(&fit->job, NY_STAGE_DEGREES);
    err = ny_fit_load_frozen(fit);
    if (err) goto done;
    err = ny_job_load_any_image(&fit->job, "select", &image, &bytes);
    if (err) goto done;
    err = describe_earlier(fit, &earlier);
    if (!err && settings->online) err = ny_online_begin(&online, fit);
    if (err) goto done;
    spec = ny_fit_spec(fit);
    request = request_of(fit, &spec);
    request.follower = settings->online ? &follower : NULL;
    request.arrivals = settings->arrivals ? &arrivals : NULL;
    request.earlier = earlier.rows ? &earlier : NULL;
    request.image = image;
    request.image_bytes = bytes;
    request.image_owner = &image;
    err = settings->rule->select(&request, &selection);
    if (!err && ny_settings_certifies(settings)) {
        if (settings->affine)
            ny_log(fit->job.ctx, NY_LOG_WARNING,
                   "residuals are squared distances from the span of the landmarks; rows may be "
                   "farther from their affine hull, which --affine projects on; --select greedy "
                   "measures those");
        err = ny_selection_certify(&request, &selection);
    }
    if (err) goto done;
    err = save_selection(fit, &selection);
done:
    ny_online_release(&online);
    ny_selection_release(&selection, fit->job.ctx);
    ny_free(fit->job.ctx, earlier.rows);
    ny_free(fit->job.ctx, image);
    return err;
}

static int load_landmarks(struct ny_fit *fit, void *raw)
{
    fit->rows = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, fit->m, sizeof(uint64_t));
    if (!fit->rows) return NY_EBUDGET;
    if (ny_job_get_part(&fit->job, "landmarks", fit->rows, fit->m * sizeof(uint64_t)))
        return ny_context_error(fit->job.ctx)->status;
    if (fit->settings->columns_file) return ny_given_columns_gather(fit, raw);
    return ny_points_gather(fit->job.store, (size_t)fit->job.points.row_slots, fit->rows, fit->m,
                            raw);
}

static int make_columns(struct ny_fit *fit)
{
    struct ny_columns_spec spec = ny_fit_spec(fit);
    size_t row_bytes = ny_points_row_bytes(&fit->job.points);
    void *raw = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, fit->m, row_bytes);
    int err = raw ? NY_OK : NY_EBUDGET;

    if (err) goto done;
    if (!fit->settings->method->coordinates) err = load_landmarks(fit, raw);
    if (err) goto done;
    err = ny_columns_new(&fit->columns, &spec);
    if (err) goto done;
    err = ny_columns_append(fit->columns, raw, fit->m);
done:
    ny_free(fit->job.ctx, raw);
    return err;
}

/* Sets the shift a = column means of W (trap 1), and chooses the tile Gram's precision by both. */
static int choose_shift(struct ny_fit *fit)
{
    double mean_diagonal = 0;
    struct ny_gram_choice choice;
    int err;

    for (size_t i = 0; i < fit->m; i++) {
        double sum = 0;

        for (size_t j = 0; j < fit->m; j++)
            sum += fit->W.at[i * fit->m + j];
        fit->a[i] = fit->settings->method->coordinates ? 0 : sum / (double)fit->m;
        mean_diagonal += fit->W.at[i * fit->m + i] / (double)fit->m;
    }
    err = ny_columns_set_shift(fit->columns, fit->a);
    if (err || fit->job.stage == NY_STAGE_DEGREES) return err;
    fit->gram = NY_GRAM_F64;
    if (!ny_settings_forms_gram(fit->settings)) return NY_OK;
    if (fit->update.mode == NY_UPDATE_FROZEN) { /* of the sums that it adds to */
        bool coarse = ny_field_is(ny_job_report(&fit->job), "gram_precision", "f32");

        fit->gram = coarse ? NY_GRAM_F32 : NY_GRAM_F64;
        return NY_OK;
    }
    if (ny_settings_gram_f64(fit->settings, fit->job.points.n) ||
        json_is_true(json_object_get(fit->job.record, "gram_f64")))
        return NY_OK;
    ny_blas_parallel(fit->job.ctx, fit->m);
    err = ny_gram_choose(fit->job.ctx, fit->W, fit->a, mean_diagonal, &choice);
    ny_blas_serial();
    fit->gram = choice.cut ? NY_GRAM_F64 : choice.precision;
    return err;
}

static int make_square(struct ny_fit *fit)
{
    int err;

    fit->W = ny_matrix(ny_calloc(fit->job.ctx, NY_MEM_SOLVE, fit->m, fit->m * sizeof(double)),
                       fit->m, fit->m);
    if (!fit->W.at) return NY_EBUDGET;
    err = ny_columns_square(fit->columns, fit->W);
    if (err) return err;
    if (!ny_first_not_finite(fit->W.at, fit->m * fit->m)) return NY_OK;
    return ny_fail(fit->job.ctx, NY_ENUMERIC,
                   "a kernel value between two landmarks is not finite; rescale the data "
                   "(--scale standard) or choose another width");
}

/* Loads v of the degrees d_i = c_i·v: over D, or as stage degrees left it, once it has run. */
static int load_degrees(struct ny_fit *fit)
{
    enum ny_normalisation normalisation = fit->settings->normalisation;
    size_t m = fit->m;
    double *image;
    int err;

    if (!ny_divided(normalisation)) return NY_OK;
    if (normalisation == NY_DIVIDED_LANDMARKS)
        return ny_degrees_over_landmarks(&fit->degrees, fit->job.ctx, fit->a, m, fit->job.points.n);
    if (fit->job.stage == NY_STAGE_DEGREES) return NY_OK;
    image = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, m + 1, sizeof(double));
    if (!image) return NY_EBUDGET;
    err = ny_job_get_part(&fit->job, "degrees", image, (m + 1) * sizeof(double));
    fit->degrees = (struct ny_degrees){.m = m, .v = image, .mean = image[m]};
    return err;
}

int ny_fit_prepare(struct ny_fit *fit)
{
    int err;

    if (fit->a) return fit->W.at ? NY_OK : make_square(fit);
    err = ny_fit_load_frozen(fit);
    if (err) return err;
    fit->m = fit->settings->method->coordinates
                 ? fit->settings->landmarks
                 : (size_t)ny_field_count(ny_job_report(&fit->job), "landmarks", 0);
    err = ny_fit_reserve_blas(fit, fit->m);
    if (err) return err;
    err = make_columns(fit);
    if (err) return err;
    fit->a = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, fit->m, sizeof(double));
    if (!fit->a) return NY_EBUDGET;
    err = make_square(fit);
    if (err) return err;
    err = choose_shift(fit);
    if (err) return err;
    if (!fit->settings->method->coordinates) err = ny_fit_check_tiles(fit); /* of landmarks */
    return err ? err : load_degrees(fit);
}
