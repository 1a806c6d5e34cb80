/* Shares the landmarks of an ensemble out to its experts. */
#include "spectral/ensemble.h"

/* m may be SIZE_MAX: as many as a tolerance will find. */
struct ny_ensemble ny_ensemble_shape(const struct ny_problem *problem)
{
    const size_t narrowest = 100; /* columns of an expert by default */
    struct ny_ensemble ensemble = {0};
    size_t width = problem->rank > narrowest ? problem->rank : narrowest, sets = 0;

    if (problem->weights == NY_WEIGHTS_EXPONENTIAL) sets = 1;
    if (problem->weights == NY_WEIGHTS_RIDGE) sets = 2;
    ensemble.samples = sets * NY_ENSEMBLE_SAMPLES;
    if (ensemble.samples >= problem->m) return ensemble;
    ensemble.columns = problem->m - ensemble.samples;
    ensemble.experts = problem->experts ? problem->experts : (ensemble.columns - 1) / width + 1;
    if (ensemble.experts > ensemble.columns) ensemble.experts = ensemble.columns;
    ensemble.width = (ensemble.columns - 1) / ensemble.experts + 1;
    ensemble.rank = ensemble.width;
    if (problem->rank && problem->rank < ensemble.width) ensemble.rank = problem->rank;
    return ensemble;
}

int ny_ensemble_check(const struct ny_problem *problem)
{
    struct ny_ensemble ensemble = ny_ensemble_shape(problem);
    size_t components = problem->components - ny_divided(problem->normalisation);

    if (!ensemble.columns)
        return ny_fail(problem->ctx, NY_EUSAGE,
                       "the last %zu landmarks serve to weigh the experts, and there are %zu; "
                       "raise --landmarks, or give --weights uniform",
                       ensemble.samples, problem->m);
    if (ensemble.samples && problem->normalisation == NY_DIVIDED_IMPLICIT)
        return ny_fail(problem->ctx, NY_EUSAGE,
                       "the degrees of --averages implicit need the weights before they can be "
                       "fitted; give --weights uniform or --averages landmarks");
    if (problem->experts > ensemble.columns)
        return ny_fail_most(problem->ctx, "experts", problem->experts, ensemble.columns,
                            "landmarks");
    if ((components - 1) / ensemble.rank >= ensemble.experts) /* p > E·k, which might overflow */
        return ny_fail_most(problem->ctx, "components", components, ensemble.experts, "experts");
    return NY_OK;
}

size_t ny_ensemble_first(const struct ny_ensemble *ensemble, size_t expert)
{
    return expert * ensemble->columns / ensemble->experts;
}

size_t ny_ensemble_width(const struct ny_ensemble *ensemble, size_t expert)
{
    return ny_ensemble_first(ensemble, expert + 1) - ny_ensemble_first(ensemble, expert);
}

struct ny_matrix ny_ensemble_root(const struct ny_ensemble *ensemble, size_t expert)
{
    size_t begin = ensemble->offset[expert];
    struct ny_matrix rows = ny_rows(ensemble->root, begin, ensemble->offset[expert + 1] - begin);

    return ny_cols(rows, 0, ny_ensemble_width(ensemble, expert));
}
