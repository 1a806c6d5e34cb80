/* Takes the errors of a fit into its model, which goes where no report is, and back into reports
 * (model/model.h). */
#include <math.h>

#include "job/fields.h"
#include "model/model.h"

/* Rounds an error to the next of the steps. The sums of shards end in other bits than those of one
 * store, which move errors by some 10⁻¹³: models so have the same bytes, but for an error that is
 * as close to the middle of two steps. */
static double in_steps(double error)
{
    const double steps = 1e6; /* of 1 */

    return nearbyint(error * steps) / steps + 0.0; /* which makes 0 of -0 */
}

static void take(const json_t *list, double *figure, size_t pairs)
{
    for (size_t k = 0; k < pairs; k++) {
        const json_t *number = json_array_get(list, k);

        figure[k] = json_is_number(number) ? json_number_value(number) : NAN;
    }
}

int ny_model_take_errors(struct ny_model *model, const json_t *report)
{
    const json_t *errors = json_object_get(report, "component_errors");
    bool exact = ny_field_is(report, "approx", "exact"); /* nothing of the trace is left out */
    double trace_error = exact ? NAN : ny_field_number(report, "trace_error", NAN), *found;
    size_t p = model->p;

    if (!json_is_array(errors) && isnan(trace_error)) return NY_OK;
    found = ny_lay(&model->own, NY_MEM_MODEL, NY_FOUND(p), sizeof(double));
    if (!found) return NY_EBUDGET;
    model->found = found;
    take(json_object_get(report, "eigenvalues"), found, p);
    take(errors, found + p, p);
    take(json_object_get(report, "component_errors_se"), found + 2 * p, p);
    found[3 * p] = trace_error;
    for (size_t k = p; k < NY_FOUND(p); k++)
        found[k] = in_steps(found[k]);
    return NY_OK;
}

json_t *ny_model_found(const struct ny_model *model, enum ny_found which)
{
    json_t *list = json_array();
    bool known = false;

    for (size_t k = 0; model->found && k < model->p; k++) {
        double figure = model->found[which * model->p + k];

        known = known || isfinite(figure);
        ny_field_append_number(list, figure);
    }
    if (known) return list;
    json_decref(list);
    return json_null();
}

double ny_model_trace_error(const struct ny_model *model)
{
    return model->found ? model->found[3 * model->p] : NAN;
}
