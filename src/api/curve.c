#include "api/curve.h"

#include <math.h>
#include <stdbool.h>

/* Check rows measure an error to some percent, so that one aims lower. */
static const double aim = 0.93;

void ny_curve_add(struct ny_curve *curve, double m, double error)
{
    size_t at = 0;

    while (at < curve->count && curve->at[at].m < m)
        at++;
    if (at == curve->count || curve->at[at].m > m) {
        if (curve->count == NY_ATTEMPTS_MAX) return;
        for (size_t i = curve->count++; i > at; i--)
            curve->at[i] = curve->at[i - 1];
    }
    curve->at[at] = (struct ny_attempt){m, error};
}

/* Returns how many attempts have a larger error, or come before one that has: those from there on
 * are right. */
static size_t wrong_of(const struct ny_curve *curve, double error)
{
    size_t wrong = curve->count;

    while (wrong > 0 && curve->at[wrong - 1].error <= error)
        wrong--;
    return wrong;
}

/* Returns the slope between two attempts; of one alone it is a guess. */
static double slope_of(const struct ny_curve *curve, size_t i)
{
    const double guess = 1.5, least = 0.25, most = 4;
    const struct ny_attempt *a, *b;

    if (curve->count < 2) return guess;
    if (i + 1 >= curve->count) i = curve->count - 2;
    a = &curve->at[i], b = a + 1;
    return fmin(fmax(log(a->error / b->error) / log(b->m / a->m), least), most);
}

/* Returns where the curve has this error. */
static double at_error(const struct ny_curve *curve, double error)
{
    size_t wrong = wrong_of(curve, error), i = wrong ? wrong - 1 : 0;

    return curve->at[i].m * pow(curve->at[i].error / error, 1 / slope_of(curve, i));
}

static size_t rounded(double m)
{
    const double grid = 8;

    return (size_t)(ceil(m / grid) * grid);
}

size_t ny_curve_foretold(const struct ny_curve *curve, double error)
{
    size_t wrong = wrong_of(curve, error);

    return wrong ? rounded(at_error(curve, aim * error)) : (size_t)curve->at[0].m;
}

size_t ny_curve_next(const struct ny_curve *curve, double error)
{
    /* Beyond two attempts the slope is known well, beyond one hardly. */
    const double least = 1.1, most = curve->count > 1 ? 3 : 2, near = 1.05, enough = 1.25;
    size_t wrong = wrong_of(curve, error);
    double m = at_error(curve, aim * error), before;

    if (wrong == 0) return (size_t)curve->at[0].m;
    before = curve->at[wrong - 1].m;
    if (wrong == curve->count)
        m = fmin(fmax(m, least * before), most * before);
    else if (curve->at[wrong].m <= enough * m)
        return (size_t)curve->at[wrong].m;
    else
        m = fmax(m, near * before);
    return rounded(m);
}
