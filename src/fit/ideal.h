/* The time that the products of a fit would take at the machine's rates, without all else. */
#ifndef NY_FIT_IDEAL_H
#define NY_FIT_IDEAL_H

#include "fit/fit.h"
#include "job/calibration.h"

struct ny_ideal {
    const struct ny_calibration *rate;
    enum ny_way way;
    bool f64;
    double d; /* products that an entry takes */
};

/* Returns the rates for the products of a fit, by its plan, which has to be there. */
struct ny_ideal ny_ideal_of(const struct ny_fit *fit);
/* Returns the seconds of so many entries of C or K. */
double ny_ideal_products(const struct ny_ideal *ideal, double entries);
/* Returns the seconds of the product of these entries with p columns. */
double ny_ideal_map(const struct ny_ideal *ideal, double entries, double p);

/* Reports gemm_ratio: the seconds of the stages degrees, accumulate and project over ideal_s; null
 * where products are of sparse rows, which are no GEMM. */
void ny_ideal_report(struct ny_fit *fit, const struct ny_ideal *ideal, double ideal_s);

#endif
