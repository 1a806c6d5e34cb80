#include "job/figures.h"

#include <math.h>

#include "job/fields.h"

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
}
