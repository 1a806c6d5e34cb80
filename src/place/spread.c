#include "place/spread.h"

#include "linalg/matrix.h"
#include "stream/pass.h"

struct spread {
    struct ny_projector projector;
    const struct ny_model *model;
    double *along, *distance; /* of the rows that come next */
};

static int unit(void *arg, const struct ny_tile *tile)
{
    return ny_projector_tile(&((struct spread *)arg)->projector, tile);
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct spread *spread = arg;
    const struct ny_projector *projector = &spread->projector;
    const struct ny_model *model = spread->model;
    const double *diagonal = ny_projector_diagonal(projector, tile->worker);
    const double *mean = projector->u;
    double mean_square = mean ? ny_dot(mean, mean, model->d) : 0;

    for (size_t i = 0; i < tile->rows; i++, spread->along += model->p) {
        for (size_t k = 0; k < model->p; k++)
            spread->along[k] = ny_projector_number(projector, tile->worker, i, k);
        *spread->distance++ = /* ‖φ − μ‖² = ‖φ‖² − 2 φ·μ + ‖μ‖² */
            diagonal[i] + mean_square - (mean ? 2 * projector->roots[i] : 0);
    }
    return NY_OK;
}

int ny_spread_rows(const struct ny_model *model, const struct ny_columns_spec *spec,
                   struct ny_source *rows, double *along, double *distance)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    struct spread spread = {.model = model, .along = along, .distance = distance};
    int err = ny_projector_new(&spread.projector, model, spec->dtype, spec->slots, 1);

    if (err) return err;
    spread.projector.u = model->fitted.mean;
    spread.projector.features.completes = true;
    err = ny_pass_run(&(struct ny_pass){.source = rows, .stage = "drift", .workers = 1}, &work,
                      &spread);
    ny_projector_release(&spread.projector);
    return err;
}
