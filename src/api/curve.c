#include "api/curve.h"

#include <math.h>
#include <stdbool.h>

/* Check rows measure an error to some percent, and the largest of all components counts, so that
 * one aims lower: from a sample more so, since those of the fit are fewer. */
static const double aim = 0.93, aim_of_sample = 0.85;

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

/* Returns the slope between attempt i and the next one. Behind the last one the curve falls faster
 * than before, as eigenvalues of a smooth kernel do; what check rows make of a short step before
 * counts less than a guess. */
static double slope_of(const struct ny_curve *curve, size_t i)
{
    const double guess = 1.5, of_guess = 0.2, bend = 1.5, least = 0.25, most = 4;
    bool behind = i + 1 >= curve->count;
    const struct ny_attempt *a, *b;
    double fall, step, slope;

    if (curve->count < 2) return guess;
    if (behind) i = curve->count - 2;
    a = &curve->at[i], b = a + 1;
    fall = log(a->error / b->error), step = log(b->m / a->m);
    slope = behind ? bend * (fall + of_guess * guess) / (step + of_guess) : fall / step;
    return fmin(fmax(slope, least), most);
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

    return wrong ? rounded(at_error(curve, aim_of_sample * error)) : (size_t)curve->at[0].m;
}

size_t ny_curve_next(const struct ny_curve *curve, double error)
{
    const double least = curve->count > 2 ? 1.2 : 1.1, most = curve->count > 1 ? 3 : 8;
    const double near = 1.1, enough = 1.25;
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
