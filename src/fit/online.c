/*
 * Option online: one pass selects and accumulates. The selection works in batches of whole units;
 * after each, its rows are still in the page cache and are added to G′, s′ and t against the
 * landmarks that there are then. A landmark that joins later gets its column over rows that are
 * gone from their projection (spectral/accumulator_online.c), so that K̃ is below that of two
 * passes: its trace error bounds theirs.
 *
 * The shift is that of the landmarks so far; sums follow it as those of an update do. W is not
 * known before the pass, so the tile Gram is f64.
 */
#include "fit/online.h"

#include "stream/pass.h"

/* Saves a checkpoint in the middle of a batch. It is the selection's own, which takes the sums
 * along by ny_online_put(). */
static int save_piecewise(struct ny_fit *fit, enum ny_stage_id next, uint64_t units)
{
    struct ny_online *online = fit->online;

    (void)next; /* the selection's own checkpoint says so */
    online->rows = units * NY_UNIT_ROWS;
    if (online->rows > online->batch->rows) online->rows = online->batch->rows;
    return online->batch->checkpoint(online->batch);
}

/* Moves the sums to the shift a of the landmarks so far, by what it has grown. */
static int shift_to(struct ny_online *online, const struct ny_dictionary *dictionary)
{
    struct ny_accumulator *acc = online->fit->acc;
    double *means = ny_calloc(acc->ctx, NY_MEM_GRAM, acc->m, sizeof(double));

    if (!means) return NY_EBUDGET;
    ny_dictionary_means(dictionary, acc->m, means);
    for (size_t j = 0; j < acc->m; j++)
        online->a[j] = means[j] - online->a[j];
    ny_accumulator_shift(acc, online->a);
    ny_free(acc->ctx, online->a);
    online->a = means;
    return NY_OK;
}

/* Landmarks that joined in this batch, over the rows of those before. */
static int join(struct ny_online *online, const struct ny_dictionary *dictionary)
{
    struct ny_fit *fit = online->fit;
    size_t m = ny_dictionary_count(dictionary), before = fit->acc ? fit->acc->m : 0;
    struct ny_matrix B = ny_matrix(NULL, before, m - before);
    double *a;
    int err = NY_EBUDGET;

    B.at = ny_calloc(fit->job.ctx, NY_MEM_GRAM, before * B.cols + 1, sizeof(double));
    a = ny_resize(fit->job.ctx, NY_MEM_GRAM, online->a, m * sizeof(double));
    if (a) online->a = a;
    if (!a || !B.at) goto done;
    ny_blas_serial();
    ny_dictionary_coefficients(dictionary, before, B);
    ny_gemv(1, ny_t(B), a, 0, a + before);
    err = ny_accumulator_join(&fit->acc, fit->job.ctx, B);
    if (!err) err = shift_to(online, dictionary);
done:
    ny_free(fit->job.ctx, B.at);
    return err;
}

/* Adds the rows of the batch up to end_row to the sums, with the columns that the dictionary lends
 * for as long. */
static int add_batch(struct ny_online *online, struct ny_dictionary *dictionary, uint64_t end_row)
{
    struct ny_fit *fit = online->fit;
    struct ny_accumulate pass = {.acc = fit->acc,
                                 .gram = NY_GRAM_F64,
                                 .first_unit = online->rows / NY_UNIT_ROWS,
                                 .first_row = online->rows,
                                 .end_row = end_row,
                                 .save = save_piecewise};
    int err;

    fit->columns = ny_dictionary_columns(dictionary);
    if (!fit->columns) return ny_context_error(fit->job.ctx)->status;
    fit->m = fit->acc->m;
    fit->a = online->a;
    err = ny_fit_reserve_blas(fit, fit->m);
    if (!err) err = ny_columns_set_shift(fit->columns, fit->a);
    if (!err) err = ny_accumulate_pass(fit, &pass);
    fit->columns = NULL; /* theirs who lent them */
    fit->a = NULL;
    if (!err) online->rows = end_row;
    return err;
}

int ny_online_follow(void *arg, const struct ny_decided *decided)
{
    struct ny_online *online = arg;
    struct ny_fit *fit = online->fit;
    size_t m = ny_dictionary_count(decided->dictionary);
    int err = NY_OK;

    if (!online->a && fit->acc && m < fit->acc->m) { /* they could not be made again: from row 0 */
        ny_accumulator_free(fit->acc);
        fit->acc = NULL;
        online->rows = 0;
    }
    if (!online->a && fit->acc) { /* of a run before */
        online->a = ny_calloc(fit->job.ctx, NY_MEM_GRAM, fit->acc->m, sizeof(double));
        if (!online->a) return NY_EBUDGET;
        ny_dictionary_means(decided->dictionary, fit->acc->m, online->a);
    }
    if (!m || online->rows >= decided->rows) return NY_OK;
    ny_job_mark_time(&fit->job);
    fit->job.stage = NY_STAGE_ACCUMULATE;
    online->batch = decided;
    if (!fit->acc || fit->acc->m < m) err = join(online, decided->dictionary);
    if (!err) err = add_batch(online, decided->dictionary, decided->rows);
    ny_job_mark_time(&fit->job);
    fit->job.stage = NY_STAGE_SELECT;
    return err;
}

/* ---- checkpoints --------------------------------------------------------------------------- */

/* Sums over m landmarks, of the last checkpoint or of the result. */
static int load_sums(struct ny_fit *fit, size_t m, bool of_result)
{
    const json_t *parts = json_object_get(fit->earlier.stored, "parts");
    size_t bytes = ny_accumulator_gram_image_bytes(m);
    void *image;
    int err = ny_accumulator_new(&fit->acc, fit->job.ctx, m);

    if (err) return err;
    image = ny_alloc(fit->job.ctx, NY_MEM_GRAM, bytes);
    if (!image) return NY_EBUDGET;
    err = of_result ? ny_blob_get(fit->job.store, fit->job.name, ny_field_text(parts, "sums"),
                                  image, bytes)
                    : ny_job_get_beside(&fit->job, "gram", image, bytes);
    if (!err) ny_accumulator_restore(fit->acc, image);
    ny_free(fit->job.ctx, image);
    return err;
}

int ny_online_begin(struct ny_online *online, struct ny_fit *fit)
{
    const json_t *checkpoint = ny_job_checkpoint(&fit->job);
    bool begun = ny_field_text(checkpoint, "part") != NULL;
    size_t m = (size_t)ny_field_count(checkpoint, "sums_columns", 0);

    *online = (struct ny_online){.fit = fit, .rows = ny_field_count(checkpoint, "sums_rows", 0)};
    fit->online = online;
    ny_field_set_text(ny_job_report(&fit->job), "gram_precision", "f64");
    if (!begun && ny_earlier_has_sums(fit)) {
        m = fit->earlier.landmarks;
        online->rows = fit->earlier.rows;
    }
    return m ? load_sums(fit, m, !begun) : NY_OK;
}

void ny_online_release(struct ny_online *online)
{
    if (!online->fit) return;
    ny_free(online->fit->job.ctx, online->a);
    online->fit->online = NULL;
}

int ny_online_put(struct ny_online *online)
{
    struct ny_fit *fit = online->fit;
    json_t *checkpoint = ny_job_checkpoint(&fit->job);
    int err;

    if (!fit->acc) return NY_OK;
    err = ny_fit_save_sums(fit, "gram", NY_STAGE_SELECT, 0);
    if (err) return err;
    ny_field_set_count(checkpoint, "sums_columns", fit->acc->m);
    ny_field_set_count(checkpoint, "sums_rows", online->rows);
    return NY_OK;
}

int ny_online_finish(struct ny_online *online)
{
    struct ny_fit *fit = online->fit;
    json_t *checkpoint = ny_job_checkpoint(&fit->job);
    int err = ny_fit_prepare(fit);

    if (err) return err;
    for (size_t j = 0; j < fit->m; j++)
        online->a[j] = fit->a[j] - online->a[j];
    ny_accumulator_shift(fit->acc, online->a);
    json_object_del(checkpoint, "sums_columns");
    json_object_del(checkpoint, "sums_rows");
    ny_job_mark_time(&fit->job);
    return ny_fit_save_sums(fit, "gram", NY_STAGE_SOLVE, ny_units_of(online->rows));
}
