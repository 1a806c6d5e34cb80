/* The interval of an estimated share. */
#include "nearest/recall.h"

#include <math.h>

struct ny_recall ny_recall_of(double sum, double squares, double rows, double t)
{
    const double z = 1.96;
    double p = sum / (rows * t), variance = squares / (rows * t * t) - p * p, trials = rows;
    double middle, half;

    if (variance > 0 && p < 1) trials = rows * p * (1 - p) / variance;
    if (trials > rows * t) trials = rows * t;
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials);
    half = z / (1 + z * z / trials) * sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials));
    /* the interval holds p itself, at its end when p is 0 or 1 */
    return (struct ny_recall){p, fmin(middle - half, p), fmax(middle + half, p)};
}
