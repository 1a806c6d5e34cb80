/* The bulk of a matrix whose pairs are being found (spectral/restarted.h). */
#include "spectral/restarted.h"

#include <math.h>
#include <string.h>

#include "spectral/bulk.h"

/* With μ the mean of the eigenvalues that are not wanted, Σ(λ − μ)² over them is N times the mean
 * over the w vectors q_j of the first block of ‖(A − μ)q_j‖² − Σ_k ((θ_k − μ)y_kj)², where Aq_j =
 * VT_j as of the second product: it is found to about √(2/Nw) of itself, and the rest,
 * (N − pairs)μ² and Σθ_k², is known. */
void ny_restarted_measure_bulk(struct ny_restarted *it, const double *Y, size_t pairs)
{
    size_t first = it->how.shape.start, used = it->used;
    double order = (double)(it->how.shape.order - it->how.centred), others = order - (double)pairs;
    double mean = it->trace, squares = 0, sum = 0;

    if (ny_restarted_is_whole(it) && !it->locked) { /* ‖T‖² tells it */
        *it->square = 0;
        for (size_t j = 0; j < used; j++)
            *it->square += ny_dot(it->T.at + j * it->T.stride, it->T.at + j * it->T.stride, used);
        return;
    }
    if (it->step < 2 || it->locked || used != it->step * first) return; /* it is gone */
    for (size_t k = 0; k < pairs; k++) {
        mean -= it->values[k];
        squares += it->values[k] * it->values[k];
    }
    mean /= others;
    for (size_t j = 0; j < first; j++) {
        const double *row = it->T.at + j * it->T.stride;

        sum += ny_dot(row, row, used) - 2 * mean * row[j] + mean * mean;
        for (size_t k = 0; k < pairs; k++)
            sum -= pow((it->values[k] - mean) * Y[k * used + j], 2);
    }
    *it->square = order / (double)first * sum + others * mean * mean + squares;
}

/* Ritz values of a bulk come up to the eigenvalues as 1/s² does with the steps s, so that what is
 * left of the way is about s/3 times the last change; it is none where the basis is the whole
 * space. */
size_t ny_restarted_bulk(struct ny_restarted *it, size_t pairs)
{
    const struct ny_bulk bulk = {.order = (double)it->how.shape.order,
                                 .trace = it->trace,
                                 .square = *it->square,
                                 .values = it->before,
                                 .of_rows = it->how.centred};
    double way = ny_restarted_is_whole(it) ? 0 : it->step / 3.;
    size_t begin = 0;

    for (size_t k = 0; k < pairs; k++)
        it->before[k] = it->values[k] + (it->values[k] - it->before[k]) * way;
    for (size_t k = 0; k < pairs; k++)
        it->p[k] = *it->square > 0 ? ny_bulk_p(&bulk, k) : (double)NAN;
    while (begin < pairs && !(it->p[begin] >= NY_BULK_P))
        begin++;
    for (size_t k = begin + 1; k < pairs; k++) /* behind noise is noise, which is not waited for */
        it->p[k] = fmax(it->p[k], it->p[k - 1]);
    for (size_t k = 0; k < pairs; k++)
        it->shrinkage[k] = k < begin ? ny_bulk_shrinkage(&bulk, begin, k) : 0;
    memcpy(it->before, it->values, pairs * sizeof(double));
    return begin;
}
