#include "records/figures.h"

#include <math.h>

#include "records/fields.h"

/* Returns the share of the trace of K that the eigenvalues of the map keep; NaN where the record
 * has no trace, or eigenvalues that add up to more. The trivial pair of a divided kernel counts in
 * the trace alone. */
static double variance_kept(const json_t *record, const json_t *report)
{
    const json_t *values = json_object_get(report, "eigenvalues");
    const json_t *coordinates = json_object_get(record, "coordinates");
    double trace = ny_field_number(report, "trace", NAN), sum = 0;
    const double rounding = 1e-3; /* of f32 and of stored figures, at most */

    if (!(trace > 0) || !json_array_size(values)) return NAN;
    for (size_t k = (size_t)ny_field_count(coordinates, "skip", 0); k < json_array_size(values);
         k++)
        sum += json_number_value(json_array_get(values, k));
    return sum <= (1 + rounding) * trace ? sum / trace : (double)NAN;
}

/* Puts the errors of components that a solver has found: of the features' products relative to λ
 * already, of a graph's Laplacian not. Where all of K was decomposed there is none. */
static void derive_errors(json_t *report)
{
    const json_t *values = json_object_get(report, "eigenvalues");
    const json_t *residuals = json_object_get(report, "eigenvector_residuals");
    bool graph = json_is_object(json_object_get(report, "graph"));
    json_t *errors;

    if (json_is_array(json_object_get(report, "component_errors"))) return;
    if (!json_is_array(residuals) && (graph || !ny_field_is(report, "approx", "exact"))) return;
    errors = json_array();
    for (size_t k = 0; k < json_array_size(values); k++) {
        double value = json_number_value(json_array_get(values, k));
        double error = json_number_value(json_array_get(residuals, k)) / (graph ? value : 1);

        ny_field_append_number(errors, value > 0 ? error : NAN);
    }
    ny_field_set_json(report, "component_errors", errors);
}

void ny_figures_derive(json_t *record)
{
    json_t *report = json_object_get(record, "report");
    uint64_t trivial = ny_field_count(json_object_get(record, "coordinates"), "skip", 0);
    bool fit = json_array_size(json_object_get(report, "eigenvalues")) > 0;

    if (!json_is_object(report)) return;
    ny_field_set_number(report, "variance_kept", variance_kept(record, report));
    if (fit && trivial) ny_field_set_count(report, "eigenvalues_trivial", trivial);
    if (fit && ny_field_is(report, "approx", "exact") &&
        !json_is_object(json_object_get(report, "graph")))
        ny_field_set_number(report, "trace_error", 0);
    if (fit) derive_errors(report);
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
