/* The test of Tracy and Widom (spectral/bulk.h). */
#include "spectral/bulk.h"

#include <math.h>

/* Returns Γ(a, x)/Γ(a), the upper share of a gamma distribution: by the series of the lower share,
 * or by the continued fraction of the upper one (modified Lentz), where each converges fast. */
static double upper_gamma(double a, double x)
{
    const double tiny = 1e-300, enough = 1e-15;
    double scale = exp(a * log(x) - x - lgamma(a));

    if (x <= 0) return 1;
    if (x < a + 1) {
        double term = 1 / a, sum = term;

        for (double k = a + 1; term > enough * sum; k++)
            sum += term *= x / k;
        return 1 - scale * sum;
    }
    double b = x + 1 - a, c = 1 / tiny, d = 1 / b, fraction = d, step = 0;

    for (double i = 1; fabs(step - 1) > enough && i < 10000; i++) {
        double numerator = -i * (i - a);

        b += 2;
        d = numerator * d + b;
        c = b + numerator / c;
        d = 1 / (fabs(d) < tiny ? tiny : d);
        if (fabs(c) < tiny) c = tiny;
        step = c * d;
        fraction *= step;
    }
    return scale * fraction;
}

/* Returns P(W > x) of the distribution of Tracy and Widom for real matrices, by the gamma
 * distribution of the same three moments (Chiani 2014, table 1): to 10⁻³ of it up to P = 0.01. */
static double upper_tracy_widom(double x)
{
    const double shape = 46.446, scale = 0.186054, shift = 9.84801;

    return upper_gamma(shape, (x + shift) / scale);
}

/* The matrix without its k largest eigenvalues: that of m rows and so many columns of noise, with
 * this mean eigenvalue. */
struct noise {
    double m, columns, mean;
};

/* Returns it; NaN where there is too little to tell. */
static struct noise noise_of(const struct ny_bulk *bulk, size_t k)
{
    double sum = bulk->trace, square = bulk->square, m = bulk->order - 1 - (double)k, columns;

    for (size_t i = 0; i < k; i++) {
        sum -= bulk->values[i];
        square -= bulk->values[i] * bulk->values[i];
    }
    columns = (m + 2) * sum * sum / (m * square - sum * sum);
    if (!(m > 2) || !(sum > 0) || !(columns > 2)) columns = (double)NAN;
    return (struct noise){m, columns, sum / m};
}

double ny_bulk_p(const struct ny_bulk *bulk, size_t k)
{
    struct noise noise = noise_of(bulk, k);
    double root = sqrt(noise.columns - 1) + sqrt(noise.m), centre = root * root / noise.columns;
    double spread = root / noise.columns * cbrt(1 / sqrt(noise.columns - 1) + 1 / sqrt(noise.m));
    double largest = bulk->values[k] / NY_BULK_MARGIN / noise.mean;

    return upper_tracy_widom((largest - centre) / spread);
}

double ny_bulk_shrinkage(const struct ny_bulk *bulk, size_t above, size_t k)
{
    struct noise noise = noise_of(bulk, above);
    double ratio = noise.columns / noise.m, sample = ratio * bulk->values[k] / noise.mean;
    double sum = 1 + sample - ratio, root = sum * sum - 4 * sample;
    double variance = (sum + sqrt(root > 0 ? root : 0)) / 2;

    return root > 0 ? (variance - 1) / (variance - 1 + (bulk->of_rows ? ratio : 1)) : 0;
}
