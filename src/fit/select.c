/* Stage select: which rows are landmarks. Then, for all later stages: W and the shift. */
#include "base/clock.h"
#include "fit/given_columns.h"
#include "fit/online.h"
#include "results/geometry.h"

int ny_job_load_frozen(struct ny_job *job)
{
    job->params.gamma = ny_field_number(ny_job_report(job), "gamma", job->params.gamma);
    if (job->geometry) return NY_OK;
    return ny_stored_geometry(&job->geometry, job->store, job->name,
                              ny_record_part(job->record, "geometry").name,
                              (size_t)job->points.d, NULL);
}

struct ny_columns_spec ny_job_spec(const struct ny_job *job)
{
    struct ny_columns_spec spec =
        ny_settings_spec(job->settings, job->ctx, &job->points, job->geometry);

    spec.params = job->params;
    return spec;
}

static int checkpoint(void *arg, const void *image, size_t bytes)
{
    struct ny_job *job = arg;
    uint64_t units = job->online ? job->online->rows / NY_UNIT_ROWS : 0;
    int err = job->online ? ny_online_put(job->online) : NY_OK;

    return err ? err : ny_job_checkpoint_image(job, NY_STAGE_SELECT, "select", image, bytes, units);
}

/* Rows that have arrived are of the job. The wait is no time of it. */
static int await_rows(void *arg, uint64_t rows, uint64_t *n)
{
    struct ny_job *job = arg;
    const struct ny_arrivals *arrivals = job->settings->arrivals;
    int err;

    if (rows <= *n) return NY_OK;
    ny_log(job->ctx, NY_LOG_DETAIL, "%zu landmarks of the first %llu rows; more are awaited",
           job->acc ? job->acc->m : 0, (unsigned long long)*n);
    ny_job_mark_time(job);
    err = arrivals->wait(arrivals->arg, rows, n);
    if (!err) err = ny_points_info(job->store, &job->points);
    job->marked_s = ny_now();
    ny_field_set_count(ny_job_report(job), "n", job->points.n);
    if (*n < rows) json_object_del(job->record, "arriving"); /* there are no more */
    return err;
}

/* Reports how many landmarks of an update are new. */
static int compare_selection(struct ny_job *job, const struct ny_selection *selection)
{
    struct ny_matched matched;
    int err;

    if (!job->update.mode) return NY_OK;
    err = ny_update_match(&matched, job, selection->rows, selection->m);
    if (!err) {
        ny_field_set_count(ny_job_report(job), "landmarks_added", matched.late_count);
        ny_field_set_json(json_object_get(job->record, "update"), "same_landmarks",
                          json_boolean(matched.same));
    }
    ny_matched_release(&matched, job->ctx);
    return err;
}

/* Saves the selection into the store and the report. */
static int save_selection(struct ny_job *job, const struct ny_selection *selection)
{
    json_t *report = ny_job_report(job);
    enum ny_stage next = job->until == NY_STAGE_SELECT ? NY_STAGE_DONE : NY_STAGE_DEGREES;
    int err = compare_selection(job, selection);

    if (err) return err;
    err = ny_job_put_part(job, "landmarks", selection->rows, selection->m * sizeof(uint64_t));
    if (err) return err;
    if (selection->residuals) {
        err = ny_job_put_part(job, "residuals", selection->residuals,
                              (size_t)job->points.n * sizeof(float));
        if (err) return err;
        ny_field_set_number(report, "residual_max", selection->residual_max);
        ny_field_set_number(report, "residual_mean", selection->residual_mean);
    }
    ny_field_set_number(report, "tolerance", selection->tolerance);
    ny_field_set_number(report, "pilot_tolerance_low", selection->pilot_low);
    ny_field_set_number(report, "pilot_tolerance_high", selection->pilot_high);
    ny_field_set_count(report, "landmarks", selection->m);
    ny_field_set_count(job->record, "selected", job->points.n);
    ny_job_count_passes(job, selection->passes, selection->rows_read, selection->flops);
    if (selection->complete)
        ny_log(job->ctx, job->settings->landmarks_typed ? NY_LOG_WARNING : NY_LOG_NOTE,
               "%zu landmarks represent all rows, so no more are taken (of at most %zu)",
               selection->m, job->settings->landmarks);
    err = ny_fields_check(job->ctx); /* before their number is the size of anything */
    if (err) return err;
    if (job->online) return ny_online_finish(job->online);
    json_object_clear(ny_job_checkpoint(job));
    ny_job_mark_time(job);
    if (next == NY_STAGE_DONE) ny_job_report_resources(job);
    if (next == NY_STAGE_DONE && job->settings->rule->by_tolerance && selection->m == 1)
        ny_log(job->ctx, NY_LOG_WARNING,
               "one landmark is enough for --tolerance %g, as no row has a larger residual: give a "
               "smaller --tolerance",
               selection->tolerance);
    return ny_job_save(job, next);
}

/* The residuals of the rows that were looked at before. */
static int load_residuals(void *arg, float *residuals)
{
    const struct ny_job *job = arg;

    return ny_update_get(job, "residuals", residuals,
                         (size_t)job->update.selected * sizeof(float));
}

/* Describes the earlier selection, whose rows an update need not look at again. */
static int describe_earlier(struct ny_job *job, struct ny_selected *earlier)
{
    size_t bytes = job->update.landmarks * sizeof(uint64_t);

    *earlier = (struct ny_selected){.n = job->update.selected,
                                    .m = job->update.landmarks,
                                    .residuals = load_residuals,
                                    .arg = job};
    if (job->update.mode != NY_UPDATE_FULL || !ny_update_selects_new(job->settings)) return NY_OK;
    earlier->rows = ny_alloc(job->ctx, NY_MEM_DICTIONARY, bytes);
    if (!earlier->rows) return NY_EBUDGET;
    return ny_update_get(job, "landmarks", earlier->rows, bytes);
}

/* Makes the request to the rule, without the parts that this run adds. */
static struct ny_selection_request request_of(struct ny_job *job,
                                              const struct ny_columns_spec *spec)
{
    const struct ny_fit_settings *settings = job->settings;

    return (struct ny_selection_request){.ctx = job->ctx,
                                         .store = job->store,
                                         .n = job->points.n,
                                         .spec = spec,
                                         .seed = settings->seed,
                                         .landmarks = settings->landmarks,
                                         .dictionary = settings->dictionary,
                                         .pilot = settings->pilot,
                                         .diagonal = ny_settings_diagonal(settings),
                                         .given = settings->given,
                                         .certify = settings->certify,
                                         .workers = job->workers,
                                         .checkpoint = checkpoint,
                                         .checkpoint_arg = job,
                                         .checkpoint_s = ny_context_checkpoint_s(job->ctx)};
}

int ny_stage_select(struct ny_job *job)
{
    const struct ny_fit_settings *settings = job->settings;
    struct ny_columns_spec spec;
    struct ny_selection_request request;
    struct ny_selection selection = {0};
    struct ny_selected earlier = {0};
    struct ny_online online = {0};
    struct ny_follower follower = {ny_online_follow, &online};
    struct ny_arrivals arrivals = {await_rows, job};
    void *image = NULL;
    size_t bytes;
    int err;

    if (job->until != NY_STAGE_SELECT && settings->method->whole) /* nothing to select */
        return ny_job_save(job, NY_STAGE_ACCUMULATE);
    if (job->until != NY_STAGE_SELECT && settings->method->coordinates)
        return ny_job_save(job, NY_STAGE_DEGREES);
    err = ny_job_load_frozen(job);
    if (err) goto done;
    err = ny_job_load_any_image(job, "select", &image, &bytes);
    if (err) goto done;
    err = describe_earlier(job, &earlier);
    if (!err && settings->online) err = ny_online_begin(&online, job);
    if (err) goto done;
    spec = ny_job_spec(job);
    request = request_of(job, &spec);
    request.follower = settings->online ? &follower : NULL;
    request.arrivals = settings->arrivals ? &arrivals : NULL;
    request.earlier = earlier.rows ? &earlier : NULL;
    request.image = image;
    request.image_bytes = bytes;
    request.image_owner = &image;
    err = settings->rule->select(&request, &selection);
    if (!err && ny_settings_certifies(settings)) {
        if (settings->affine)
            ny_log(job->ctx, NY_LOG_WARNING,
                   "residuals are squared distances from the span of the landmarks; rows may be "
                   "farther from their affine hull, which --affine projects on; --select greedy "
                   "measures those");
        err = ny_selection_certify(&request, &selection);
    }
    if (err) goto done;
    err = save_selection(job, &selection);
done:
    ny_online_release(&online);
    ny_selection_release(&selection, job->ctx);
    ny_free(job->ctx, earlier.rows);
    ny_free(job->ctx, image);
    return err;
}

static int load_landmarks(struct ny_job *job, void *raw)
{
    job->rows = ny_calloc(job->ctx, NY_MEM_DICTIONARY, job->m, sizeof(uint64_t));
    if (!job->rows) return NY_EBUDGET;
    if (ny_job_get_part(job, "landmarks", job->rows, job->m * sizeof(uint64_t)))
        return ny_context_error(job->ctx)->status;
    if (job->settings->columns_file) return ny_given_columns_gather(job, raw);
    return ny_points_gather(job->store, (size_t)job->points.row_slots, job->rows, job->m, raw);
}

static int make_columns(struct ny_job *job)
{
    struct ny_columns_spec spec = ny_job_spec(job);
    size_t row_bytes = ny_points_row_bytes(&job->points);
    void *raw = ny_calloc(job->ctx, NY_MEM_DICTIONARY, job->m, row_bytes);
    int err = raw ? NY_OK : NY_EBUDGET;

    if (err) goto done;
    if (!job->settings->method->coordinates) err = load_landmarks(job, raw);
    if (err) goto done;
    err = ny_columns_new(&job->columns, &spec);
    if (err) goto done;
    err = ny_columns_append(job->columns, raw, job->m);
done:
    ny_free(job->ctx, raw);
    return err;
}

/* Sets the shift a = column means of W (trap 1), and chooses the tile Gram's precision by both. */
static int choose_shift(struct ny_job *job)
{
    double mean_diagonal = 0;
    struct ny_gram_choice choice;
    int err;

    for (size_t i = 0; i < job->m; i++) {
        double sum = 0;

        for (size_t j = 0; j < job->m; j++)
            sum += job->W.at[i * job->m + j];
        job->a[i] = job->settings->method->coordinates ? 0 : sum / (double)job->m;
        mean_diagonal += job->W.at[i * job->m + i] / (double)job->m;
    }
    err = ny_columns_set_shift(job->columns, job->a);
    if (err || job->stage == NY_STAGE_DEGREES) return err;
    job->gram = NY_GRAM_F64;
    if (!ny_settings_forms_gram(job->settings)) return NY_OK;
    if (job->update.mode == NY_UPDATE_FROZEN) { /* of the sums that it adds to */
        bool coarse = ny_field_is(ny_job_report(job), "gram_precision", "f32");

        job->gram = coarse ? NY_GRAM_F32 : NY_GRAM_F64;
        return NY_OK;
    }
    if (ny_settings_gram_f64(job->settings, job->points.n) ||
        json_is_true(json_object_get(job->record, "gram_f64")))
        return NY_OK;
    ny_blas_parallel(job->ctx, job->m);
    err = ny_gram_choose(job->ctx, job->W, job->a, mean_diagonal, &choice);
    ny_blas_serial();
    job->gram = choice.cut ? NY_GRAM_F64 : choice.precision;
    return err;
}

static int make_square(struct ny_job *job)
{
    int err;

    job->W = ny_matrix(ny_calloc(job->ctx, NY_MEM_SOLVE, job->m, job->m * sizeof(double)), job->m,
                       job->m);
    if (!job->W.at) return NY_EBUDGET;
    err = ny_columns_square(job->columns, job->W);
    if (err) return err;
    if (!ny_first_not_finite(job->W.at, job->m * job->m)) return NY_OK;
    return ny_fail(job->ctx, NY_ENUMERIC,
                   "a kernel value between two landmarks is not finite; rescale the data "
                   "(--scale standard) or choose another width");
}

/* Loads v of the degrees d_i = c_i·v: over D, or as stage degrees left it, once it has run. */
static int load_degrees(struct ny_job *job)
{
    enum ny_normalisation normalisation = job->settings->normalisation;
    size_t m = job->m;
    double *image;
    int err;

    if (!ny_divided(normalisation)) return NY_OK;
    if (normalisation == NY_DIVIDED_LANDMARKS)
        return ny_degrees_over_landmarks(&job->degrees, job->ctx, job->a, m, job->points.n);
    if (job->stage == NY_STAGE_DEGREES) return NY_OK;
    image = ny_calloc(job->ctx, NY_MEM_DICTIONARY, m + 1, sizeof(double));
    if (!image) return NY_EBUDGET;
    err = ny_job_get_part(job, "degrees", image, (m + 1) * sizeof(double));
    job->degrees = (struct ny_degrees){.m = m, .v = image, .mean = image[m]};
    return err;
}

int ny_job_prepare(struct ny_job *job)
{
    int err;

    if (job->a) return job->W.at ? NY_OK : make_square(job);
    err = ny_job_load_frozen(job);
    if (err) return err;
    job->m = job->settings->method->coordinates
                 ? job->settings->landmarks
                 : (size_t)ny_field_count(ny_job_report(job), "landmarks", 0);
    err = ny_job_reserve_blas(job, job->m);
    if (err) return err;
    err = make_columns(job);
    if (err) return err;
    job->a = ny_calloc(job->ctx, NY_MEM_DICTIONARY, job->m, sizeof(double));
    if (!job->a) return NY_EBUDGET;
    err = make_square(job);
    if (err) return err;
    err = choose_shift(job);
    if (err) return err;
    if (!job->settings->method->coordinates) err = ny_job_check_tiles(job); /* of landmarks */
    return err ? err : load_degrees(job);
}
