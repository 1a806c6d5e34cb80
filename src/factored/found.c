/*
 * The products of a fit by features leave their vectors to stage solve. The state of the iteration
 * has the whole basis, and is some ten times as large: it is not written when the products end.
 */
#include "factored/factored_private.h"
#include "fit/shards.h"

#include <math.h>
#include <string.h>

/* The numbers at the beginning; values, residuals, totals and vectors follow. */
enum { STEP, CONVERGED, NUMBERS };

static size_t totals_size(void)
{
    return sizeof(struct ny_feature_totals) / sizeof(double);
}

size_t ny_feature_found_bytes(const struct ny_factored *sizes)
{
    size_t arrays = sizes->shape.bulk ? 4 : 2; /* values, residuals, p-values, shrinkage */

    return (NUMBERS + totals_size() + (arrays + sizes->shape.order) * sizes->pairs) *
           sizeof(double);
}

/* Makes the views. */
static void view(struct ny_feature_found *found, const struct ny_factored *sizes, double *image)
{
    found->values = image + NUMBERS;
    found->residuals = found->values + sizes->pairs;
    found->totals = (struct ny_feature_totals *)(void *)(found->residuals + sizes->pairs);
    found->vectors = ny_matrix(found->residuals + sizes->pairs + totals_size(), sizes->shape.order,
                               sizes->pairs);
    if (!sizes->shape.bulk) return;
    found->p = found->vectors.at + sizes->shape.order * sizes->pairs;
    found->shrinkage = found->p + sizes->pairs;
}

/* Tells the values that are known from those that are lost beside larger ones. A product of nothing
 * but rounding, with vectors orthogonal to the large pairs, has a size of about 2⁻¹⁰⁶ of them. */
static void judge_values(const struct ny_restarted *it, size_t pairs, double *values)
{
    const double nothing = 0x1p-88 * it->values[0], floor = ny_restarted_floor(it);

    for (size_t k = it->locked; k < pairs; k++)
        if (!(values[k] > 0 && values[k] >= floor))
            values[k] = it->locked && values[k] <= nothing ? 0 : (double)NAN;
}

int ny_feature_found_save(struct ny_feature_state *state, struct ny_fit *fit)
{
    const struct ny_factored *sizes = &state->sizes;
    const struct ny_restarted *it = &state->it;
    size_t bytes = ny_feature_found_bytes(sizes);
    double *image = ny_alloc(fit->job.ctx, NY_MEM_SOLVE, bytes);
    struct ny_feature_found found = {0};

    if (!image) return NY_EBUDGET;
    view(&found, sizes, image);
    image[STEP] = it->step;
    image[CONVERGED] = (double)it->converged;
    memcpy(found.values, it->values, sizes->pairs * sizeof(double));
    judge_values(it, sizes->pairs, found.values);
    memcpy(found.residuals, it->residuals, sizes->pairs * sizeof(double));
    if (found.p) {
        memcpy(found.p, it->p, sizes->pairs * sizeof(double));
        memcpy(found.shrinkage, it->shrinkage, sizes->pairs * sizeof(double));
    }
    *found.totals = *state->totals;
    ny_restarted_vectors(it, found.vectors);
    ny_job_count_flops(&fit->job, ny_factored_turn_flops(sizes));
    ny_free(fit->job.ctx, fit->state);
    fit->state = image;
    return ny_job_checkpoint_image(&fit->job, ny_job_next(&fit->job), "features", image, bytes, 0);
}

int ny_feature_found_open(struct ny_feature_found *found, struct ny_fit *fit,
                          const struct ny_factored *sizes)
{
    struct ny_image_shape saved = {ny_feature_found_bytes(sizes), 0};
    void *image = NULL;
    uint64_t place;
    bool anew;
    int err = NY_OK;

    if (!fit->state) { /* a shard that comes back from a later stage has dropped it */
        err = ny_job_load_image(&fit->job, "features", &saved, &image, &place);
        if (!err)
            err = ny_shards_align_state(fit, &image, saved.bytes,
                                        &(struct ny_shard_place){&place, 1}, &anew);
        fit->state = image;
    }
    if (err) return err;
    if (!fit->state) /* version 1.0 found the same pairs from K itself */
        return ny_job_begun_otherwise(&fit->job);
    if (!(fit->state[STEP] >= 0 && fit->state[STEP] < 0x1p31 && fit->state[CONVERGED] >= 0 &&
          fit->state[CONVERGED] <= (double)sizes->pairs))
        return ny_job_not_its_checkpoint(&fit->job);
    view(found, sizes, fit->state);
    found->step = (unsigned)fit->state[STEP];
    found->converged = (size_t)fit->state[CONVERGED];
    return NY_OK;
}
