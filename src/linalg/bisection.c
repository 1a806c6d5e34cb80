/*
 * The number of eigenvalues below x is that of the negative pivots of T − xI. A pivot waits for the
 * division before it; so the pivots of 16 numbers x, of 16 eigenvalues, are computed side by side.
 */
#include "linalg/bisection.h"

#include <float.h>
#include <math.h>

#include "base/thread.h"

enum { LANES = 16 };

struct bisection {
    const struct ny_tridiagonal *T;
    const double *squares; /* of e */
    size_t first, count;
    double low, high; /* all eigenvalues lie between */
    double least;     /* pivots are not nearer to 0 */
    double *values;
};

bool ny_tridiagonal_splits(const struct ny_tridiagonal *T)
{
    for (size_t i = 0; i + 1 < T->m; i++)
        if (fabs(T->d[i] * T->d[i + 1]) * (DBL_EPSILON / 2 * DBL_EPSILON / 2) + DBL_MIN >
            T->e[i] * T->e[i])
            return true;
    return false;
}

/* below[k] = how many eigenvalues are below x[k]. */
static void count_below(const struct bisection *b, const double x[LANES], double below[LANES])
{
    const double *d = b->T->d, least = -b->least;
    double pivot[LANES];

    for (size_t k = 0; k < LANES; k++) {
        pivot[k] = d[0] - x[k];
        pivot[k] = pivot[k] > least && pivot[k] < -least ? least : pivot[k];
        below[k] = pivot[k] < 0;
    }
    for (size_t i = 1; i < b->T->m; i++)
        for (size_t k = 0; k < LANES; k++) {
            double p = d[i] - b->squares[i - 1] / pivot[k] - x[k];

            p = p > least && p < -least ? least : p;
            below[k] += p < 0 ? 1 : 0;
            pivot[k] = p;
        }
}

/* Tells whether an interval is as narrow as rounding allows. */
static bool is_narrow(const struct bisection *b, double low, double high)
{
    double norm = fmax(fabs(b->low), fabs(b->high)), size = fmax(fabs(low), fabs(high));

    return high - low <= fmax(b->least, fmax(DBL_EPSILON / 2 * norm, DBL_EPSILON * size));
}

/* A group of eigenvalues; lanes behind the last one repeat it. */
static void bisect(const struct bisection *b, size_t group)
{
    double low[LANES], high[LANES], middle[LANES], below[LANES];
    size_t left = b->count - group * LANES, count = left < LANES ? left : LANES;
    bool narrow = false;

    for (size_t k = 0; k < LANES; k++) {
        low[k] = b->low;
        high[k] = b->high;
    }
    while (!narrow) {
        for (size_t k = 0; k < LANES; k++)
            middle[k] = low[k] + (high[k] - low[k]) / 2;
        count_below(b, middle, below);
        narrow = true;
        for (size_t k = 0; k < LANES; k++) {
            size_t at = b->first + group * LANES + (k < count ? k : count - 1);

            if (below[k] > (double)at)
                high[k] = middle[k];
            else
                low[k] = middle[k];
            narrow = narrow && is_narrow(b, low[k], high[k]);
        }
    }
    for (size_t k = 0; k < count; k++)
        b->values[group * LANES + k] = low[k] + (high[k] - low[k]) / 2;
}

static int bisect_groups(void *arg, size_t first, size_t count)
{
    for (size_t group = first; group < first + count; group++)
        bisect(arg, group);
    return NY_OK;
}

/* Sets the interval that has all eigenvalues (Gershgorin), a little wider than rounding. */
static void bound(struct bisection *b)
{
    const struct ny_tridiagonal *T = b->T;
    double largest = 1, margin;

    b->low = INFINITY;
    b->high = -INFINITY;
    for (size_t i = 0; i < T->m; i++) {
        double radius = (i ? fabs(T->e[i - 1]) : 0) + (i + 1 < T->m ? fabs(T->e[i]) : 0);

        b->low = fmin(b->low, T->d[i] - radius);
        b->high = fmax(b->high, T->d[i] + radius);
        if (i) largest = fmax(largest, b->squares[i - 1]);
    }
    b->least = DBL_MIN * largest;
    margin = 2 * fmax(fabs(b->low), fabs(b->high)) * DBL_EPSILON * (double)T->m + 4 * b->least;
    b->low -= margin;
    b->high += margin;
}

void ny_bisection(struct ny_context *ctx, const struct ny_tridiagonal *T, size_t first,
                  size_t count, double *squares, double *values)
{
    struct bisection b = {
        .T = T, .squares = squares, .first = first, .count = count, .values = values};
    size_t groups = (count + LANES - 1) / LANES;

    for (size_t i = 0; i + 1 < T->m; i++)
        squares[i] = T->e[i] * T->e[i];
    bound(&b);
    if (groups > 1)
        (void)ny_parallel_ranges(ctx, groups, bisect_groups, &b); /* nothing can fail */
    else
        bisect(&b, 0);
    for (size_t i = 1; i < count; i++) /* equal ones of two groups may differ by rounding */
        values[i] = fmax(values[i], values[i - 1]);
}
