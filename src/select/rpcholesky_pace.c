/* Decides when a randomly pivoted selection makes a pass, which measures all residuals. */
#include "select/rpcholesky.h"

/* A row's kernel values with so many landmarks, and their substitution. */
static double row_cost(const struct ny_pivot_pace *pace, double landmarks)
{
    return landmarks * (landmarks + 2 * pace->d);
}

/* Never: the candidates that the missing landmarks are likely to take cost less than a pass. Later:
 * passes are as many landmarks apart as now, so that to wait for one more saves that part of a
 * pass; it takes its candidates, and a pass over more columns. */
bool ny_pivot_pass_due(const struct ny_pivot_pace *pace)
{
    const double dearer = 4; /* a candidate than a row of a pass: in f64, and on one thread */
    double missing = pace->m - pace->count, apart = pace->count - pace->measured_at;
    double now = row_cost(pace, pace->count), growth = row_cost(pace, pace->count + 1) / now - 1;

    if (!(pace->share > 0)) return true;
    if (dearer * missing * row_cost(pace, pace->count + missing / 2) < pace->share * pace->n * now)
        return false;
    return pace->share * pace->n * (1 / apart - growth) < dearer;
}
