/* Takes up the sums that stay with a result, for an update of it. */
#include "update/sums.h"

#include <stdint.h>

#include "model/model.h"

bool ny_update_keeps_sums(const struct ny_fit *fit, const struct ny_matched *matched)
{
    const json_t *sums = json_object_get(fit->earlier.stored, "sums");
    bool f64 = ny_field_is(sums, "precision", "f64");
    bool coarse = fit->settings->precision == NY_PRECISION_F32 && fit->gram == NY_GRAM_F64;

    if (matched->joined_count && coarse) return false;
    return ny_earlier_has_sums(fit) && (f64 || fit->gram != NY_GRAM_F64) &&
           2 * matched->joined_count <= fit->m;
}

/* Sets delta to the growth of the shift of each of the `before` columns that were there. */
static int shift_of(struct ny_fit *fit, const struct ny_matched *matched, size_t before,
                    double *delta)
{
    size_t bytes = (size_t)ny_field_count(fit->earlier.stored, "model_bytes", 0);
    void *image = ny_alloc(fit->job.ctx, NY_MEM_MODEL, bytes);
    struct ny_model *model = NULL;
    int err = image ? NY_OK : NY_EBUDGET;

    if (!err) err = ny_earlier_get(fit, "model", image, bytes);
    if (!err) err = ny_model_read(&model, fit->job.ctx, image, bytes, fit->job.keep.name);
    if (!err && model->m != before)
        err = ny_fail(fit->job.ctx, NY_ESTORE,
                      "the model of '%s' in %s has other landmarks than its record says; fit it "
                      "again with --restart",
                      fit->job.keep.name, fit->job.keep.place);
    for (size_t j = 0; !err && j < model->m; j++)
        if (matched->place[j] != SIZE_MAX)
            delta[matched->place[j]] = fit->a[matched->place[j]] - model->a[j];
    ny_model_free(model);
    ny_free(fit->job.ctx, image);
    return err;
}

int ny_update_load_sums(struct ny_fit *fit, const struct ny_matched *matched)
{
    size_t before = fit->rows ? fit->earlier.landmarks : fit->m;
    size_t bytes = ny_accumulator_gram_image_bytes(before);
    double *delta = ny_calloc(fit->job.ctx, NY_MEM_GRAM, fit->m, sizeof(double));
    void *image = ny_alloc(fit->job.ctx, NY_MEM_GRAM, bytes);
    int err = delta && image ? NY_OK : NY_EBUDGET;

    if (!err) err = ny_earlier_get(fit, "sums", image, bytes);
    if (!err) ny_accumulator_restore_placed(fit->acc, image, before, matched->place);
    ny_free(fit->job.ctx, image);
    if (!err && !matched->same) err = shift_of(fit, matched, before, delta);
    if (!err && !matched->same) ny_accumulator_shift(fit->acc, delta);
    ny_free(fit->job.ctx, delta);
    return err;
}
