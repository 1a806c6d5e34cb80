/*
 * Y = P Λ for all of K (fit/known_rows.h). The model places a point by y = k(x,·)P less its
 * averages, and P = U Λ^-½ for the eigenvectors U, which centring leaves as they are; over the rows
 * themselves that is K U Λ^-½ = U Λ^½.
 */
#include "fit/known_rows.h"

#include "linalg/numbers.h"

bool ny_rows_are_known(const struct ny_fit_settings *settings, const struct ny_rows_info *points,
                       size_t m)
{
    return settings->method->all_rows && m == points->n && ny_rows_here(points) == points->n &&
           !settings->placed && !settings->probes && !ny_divided(settings->normalisation);
}

int ny_known_rows(const struct ny_model *model, const double *values, uint64_t first, size_t count,
                  void *out, double *squares)
{
    const double *P = model->P + first * model->p;
    bool f64 = model->precision == NY_PRECISION_F64;
    size_t p = model->p, not_finite;

    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < p; k++) {
            double y = P[i * p + k] * values[k];

            *squares += y * y;
            ny_number_set(out, f64, i * p + k, y);
        }
    not_finite = ny_numbers_not_finite(out, f64, count * p);
    return not_finite ? ny_fail_infinite(model->ctx, "embedding", first + (not_finite - 1) / p)
                      : NY_OK;
}
