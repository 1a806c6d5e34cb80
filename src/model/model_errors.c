/* Takes the errors of a fit into its model, which goes where no report is, and back into reports
 * (model/model.h). */
#include <math.h>

#include "model/model.h"

/* Rounds an error to the next of the steps. The sums of shards end in other bits than those of one
 * store, which move errors by some 10⁻¹³: models so have the same bytes, but for an error that is
 * as close to the middle of two steps. */
static double in_steps(double error)
{
    const double steps = 1e6; /* of 1 */

    return nearbyint(error * steps) / steps + 0.0; /* which makes 0 of -0 */
}

static void take(struct ny_record record, enum ny_list list, double *figure, size_t pairs)
{
    size_t count = record.ops->count(record, list);

    for (size_t k = 0; k < pairs; k++)
        figure[k] = k < count ? record.ops->at(record, list, k) : NAN;
}

int ny_model_take_errors(struct ny_model *model, struct ny_record record)
{
    const struct ny_state state = ny_state_of(record);
    bool exact = ny_is(state.facts.approx, "exact"); /* nothing of the trace is left out */
    double trace_error = exact ? NAN : state.report.trace_error, *found;
    size_t p = model->p;

    if (!record.ops->count(record, NY_LIST_ERRORS) && isnan(trace_error)) return NY_OK;
    found = ny_lay(&model->own, NY_MEM_MODEL, NY_FOUND(p), sizeof(double));
    if (!found) return NY_EBUDGET;
    model->found = found;
    take(record, NY_LIST_EIGENVALUES, found, p);
    take(record, NY_LIST_ERRORS, found + p, p);
    take(record, NY_LIST_ERRORS_SE, found + 2 * p, p);
    found[3 * p] = trace_error;
    for (size_t k = p; k < NY_FOUND(p); k++)
        found[k] = in_steps(found[k]);
    return NY_OK;
}

double ny_model_trace_error(const struct ny_model *model)
{
    return model->found ? model->found[3 * model->p] : NAN;
}
