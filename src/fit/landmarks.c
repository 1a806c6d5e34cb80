/*
 * The landmarks as all stages behind the selection hold them: their rows, W, the shift a, the
 * degrees and the precision of the tile Gram. None of it is stored but the row numbers, or points
 * that are given; ny_fit_prepare() makes it again whenever a stage begins without.
 */
#include "fit/fit.h"

#include "fit/given_columns.h"
#include "fit/shards.h"
#include "fit/sizes.h"
#include "linalg/square.h"
#include "base/peers.h"
#include "model/choice.h"
#include "model/geometry.h"
#include "model/model.h"
#include "spectral/krylov.h"

int ny_fit_reserve_blas(struct ny_fit *fit, size_t m)
{
    size_t order = ny_settings_blas_order(fit->settings, m), more;
    size_t bytes = ny_blas_bytes(fit->settings->threads, fit->job.workers, order);
    int err;

    if (bytes <= fit->job.blas_bytes) return NY_OK;
    more = bytes - fit->job.blas_bytes;
    err = ny_reserve(fit->job.ctx, NY_MEM_PROCESS, more);
    if (err == NY_OK) fit->job.blas_bytes = bytes;
    return err;
}

int ny_fit_load_frozen(struct ny_fit *fit)
{
    if (!isnan(fit->job.state.report.gamma)) fit->params.gamma = fit->job.state.report.gamma;
    if (fit->geometry) return NY_OK;
    return ny_stored_geometry(&fit->geometry, &fit->job.keep,
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

int ny_fit_load_points(const struct ny_fit *fit, void *raw)
{
    const struct ny_rows_info *points = &fit->job.points;
    const struct ny_landmark_points as = {fit->settings->landmark_points.count, points->dtype,
                                          (size_t)points->row_slots, (size_t)points->d};

    return ny_landmark_points_get(&fit->job.keep, fit->job.record, &as, 0, raw);
}

/* Makes the landmarks from points that are given, or from columns that a file gives. */
static int append_given(struct ny_fit *fit)
{
    size_t row_bytes = ny_rows_row_bytes(&fit->job.points);
    void *raw = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, fit->m, row_bytes);
    int err = raw ? NY_OK : NY_EBUDGET;

    if (!err)
        err = fit->settings->columns ? ny_given_columns_gather(fit, raw)
                                     : ny_fit_load_points(fit, raw);
    if (!err) err = ny_columns_append(fit->columns, ny_raw_rows(raw), fit->m);
    ny_free(fit->job.ctx, raw);
    return err;
}

int ny_fit_read_model(const struct ny_fit *fit, struct ny_model **model)
{
    size_t bytes = (size_t)fit->job.state.record.model_bytes;
    void *image = ny_alloc(fit->job.ctx, NY_MEM_MODEL, bytes);
    int err = image ? ny_job_get_part(&fit->job, "model", image, bytes) : NY_EBUDGET;

    if (!err) err = ny_model_read(model, fit->job.ctx, image, bytes, fit->job.keep.name);
    ny_free(fit->job.ctx, image);
    if (err || ((*model)->d == fit->job.points.d && (*model)->spec.dtype == fit->job.points.dtype))
        return err;
    return ny_fail_damaged(fit->job.ctx, fit->job.keep.name, fit->job.keep.place);
}

/* Makes the landmarks from those of the model, as their rows are in other shards. */
static int append_modelled(struct ny_fit *fit)
{
    struct ny_model *model = NULL;
    int err = ny_fit_read_model(fit, &model);

    if (!err && model->m != fit->m)
        err = ny_fail_damaged(fit->job.ctx, fit->job.keep.name, fit->job.keep.place);
    if (!err) err = ny_columns_append(fit->columns, ny_model_rows(model), fit->m);
    ny_model_free(model);
    return err;
}

static int make_columns(struct ny_fit *fit)
{
    struct ny_columns_spec spec = ny_fit_spec(fit);
    int err = ny_columns_new(&fit->columns, &spec);

    if (err) return err;
    if (ny_settings_unit_landmarks(fit->settings)) /* e_1 … e_m, which the kernel knows */
        return ny_columns_append(fit->columns, ny_raw_rows(NULL), fit->m);
    if (fit->settings->landmark_points.count) return append_given(fit);
    err = ny_job_get_part(&fit->job, "landmarks", fit->rows, fit->m * sizeof(uint64_t));
    if (err) return err;
    if (fit->settings->columns) return append_given(fit);
    if (fit->job.state.sharded.there) return append_modelled(fit);
    return ny_columns_gather(fit->columns, fit->job.X, fit->rows, fit->m);
}

/* Sets the shift a = column means of W, and chooses the tile Gram's precision by both
 * (spectral/gram.c). */
static int choose_shift(struct ny_fit *fit)
{
    bool unit = ny_settings_unit_landmarks(fit->settings);
    double mean_diagonal = 0;
    struct ny_gram_choice choice;
    int err;

    err = ny_square_sums(fit->job.ctx, fit->W, fit->a);
    if (err) return err;
    for (size_t i = 0; i < fit->m; i++) {
        fit->a[i] =
            unit ? 0 : fit->a[i] / (double)fit->m; /* unit vectors have no mean to take off */
        mean_diagonal += fit->W.at[i * fit->m + i] / (double)fit->m;
    }
    err = ny_columns_set_shift(fit->columns, fit->a);
    if (err || fit->job.stage == NY_STAGE_DEGREES) return err;
    fit->gram = NY_GRAM_F64;
    if (!ny_settings_forms_gram(fit->settings)) return NY_OK;
    if (ny_earlier_keeps_precision(fit)) { /* of the sums that it adds to */
        bool coarse = ny_is(fit->job.state.report.gram_precision, "f32");

        fit->gram = coarse ? NY_GRAM_F32 : NY_GRAM_F64;
        return NY_OK;
    }
    if (ny_settings_gram_f64(fit->settings, fit->job.points.n) || fit->job.state.record.gram_f64)
        return NY_OK;
    err = ny_shards_meet(fit);
    if (!err && ny_peers_leads(ny_context_peers(fit->job.ctx))) {
        ny_blas_parallel(ny_context_whole(fit->job.ctx), fit->m);
        err = ny_gram_choose(fit->job.ctx, fit->W, fit->a, mean_diagonal, &choice);
        ny_blas_serial();
        fit->gram = choice.cut ? NY_GRAM_F64 : choice.precision;
    }
    return err ? err : ny_shards_share_gram(fit);
}

static int make_square(struct ny_fit *fit)
{
    bool finite;
    int err;

    fit->W = ny_matrix(ny_calloc(fit->job.ctx, NY_MEM_SOLVE, fit->m, fit->m * sizeof(double)),
                       fit->m, fit->m);
    if (!fit->W.at) return NY_EBUDGET;
    err = ny_columns_square(fit->columns, fit->W);
    if (!err) err = ny_square_finite(fit->job.ctx, fit->W, &finite);
    if (err || finite) return err;
    return ny_fail_infinite(fit->job.ctx, "kernel", NY_NO_LINE);
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

/* Sets m, and makes room for the row numbers of landmarks that are rows. */
static int count_landmarks(struct ny_fit *fit)
{
    size_t points = fit->settings->landmark_points.count;

    fit->m = fit->settings->landmarks;
    if (ny_settings_unit_landmarks(fit->settings)) return NY_OK;
    fit->m = ny_state_landmarks(&fit->job.state);
    if (points)
        return fit->m == points
                   ? NY_OK
                   : ny_fail_damaged(fit->job.ctx, fit->job.keep.name, fit->job.keep.place);
    fit->rows = ny_calloc(fit->job.ctx, NY_MEM_DICTIONARY, fit->m, sizeof(uint64_t));
    return fit->rows ? NY_OK : NY_EBUDGET;
}

int ny_fit_prepare(struct ny_fit *fit)
{
    int err;

    if (fit->a) return fit->W.at ? NY_OK : make_square(fit);
    err = ny_fit_load_frozen(fit);
    if (err) return err;
    err = count_landmarks(fit);
    if (err) return err;
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
    if (!ny_settings_unit_landmarks(fit->settings))
        err = ny_fit_check_tiles(fit, NY_TILES_OFF); /* by the landmarks' own */
    return err ? err : load_degrees(fit);
}

/* Returns the pairs that a product of features can have at most: those of its smaller side, and of
 * centred rows one less than there are. */
static size_t ranks_of(const struct ny_fit *fit)
{
    const struct ny_kernel *kernel = fit->settings->kernel;
    size_t chosen = ny_stored_choice_count(fit->job.record);
    size_t d = chosen ? chosen : (size_t)fit->job.points.d;
    bool centred = ny_centred(fit->settings->normalisation);

    if (!kernel || !(ny_kernel_has_features(kernel) || kernel->base == NY_BASE_COORDINATE))
        return 0;
    return ny_smaller(d, (size_t)fit->job.points.n - centred);
}

struct ny_problem ny_fit_problem(const struct ny_fit *fit)
{
    struct ny_problem problem = ny_settings_problem(fit->settings, fit->m);

    problem.ctx = fit->job.ctx;
    problem.n = fit->job.points.n;
    problem.W = fit->W;
    problem.a = fit->a;
    problem.v = fit->degrees.v;
    problem.acc = fit->acc;
    problem.gram = fit->gram;
    problem.coarse = fit->coarse;
    problem.tile_noise = fit->tile_noise;
    problem.ranks = ranks_of(fit);
    return problem;
}

/* Frees W, a, degrees, columns and rows. */
static void drop_landmarks(struct ny_fit *fit)
{
    ny_columns_free(fit->columns);
    ny_degrees_release(&fit->degrees, fit->job.ctx);
    ny_free(fit->job.ctx, fit->W.at);
    ny_free(fit->job.ctx, fit->a);
    ny_free(fit->job.ctx, fit->rows);
    fit->columns = NULL;
    fit->W = (struct ny_matrix){0};
    fit->a = NULL;
    fit->rows = NULL;
}

void ny_fit_drop_krylov(struct ny_fit *fit)
{
    if (fit->krylov) ny_krylov_release(fit->krylov);
    ny_free(fit->job.ctx, fit->krylov);
    fit->krylov = NULL;
}

void ny_fit_drop_problem(struct ny_fit *fit)
{
    ny_accumulator_free(fit->acc);
    fit->acc = NULL;
    ny_fit_drop_krylov(fit);
    drop_landmarks(fit);
}

void ny_prepare_count(struct ny_layout *l, const struct ny_sizes *f, unsigned workers)
{
    bool given = f->settings->landmark_points.count || f->settings->columns;
    size_t gathered = given || !f->spec.slots ? f->m * ny_sizes_row(f) : 0;

    ny_sizes_common(l, f, workers, 1);
    if (f->settings->method->whole || ny_settings_features(f->settings)) return;
    ny_sizes_landmarks(l, f, true);
    if (ny_settings_forms_gram(f->settings)) ny_gram_choose_count(l, f->m);
    ny_lay_peak(l, NY_MEM_DICTIONARY, 1, ny_sizes_gather(f, f->m) + gathered);
    ny_fit_check_tiles_count(l, &f->spec, f->m);
    if (!f->spec.slots) ny_columns_square_count(l, &f->spec, f->m, workers);
}
