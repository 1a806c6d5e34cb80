/* How the error of a fit falls with its landmarks, as attempts have shown it: about as a power of
 * their number, m ∝ error^(−1/s), whose slope s changes slowly. */
#ifndef NY_API_CURVE_H
#define NY_API_CURVE_H

#include <stddef.h>

struct ny_attempt {
    double m, error;
};

enum { NY_ATTEMPTS_MAX = 64 };

struct ny_curve {
    size_t count;
    struct ny_attempt at[NY_ATTEMPTS_MAX]; /* ascending in m */
};

/* Adds an attempt, or replaces that with so many landmarks; of too many, none. */
void ny_curve_add(struct ny_curve *curve, double m, double error);
/* Returns the landmarks with which the error is likely to be at most this one, between two attempts
 * or beyond them; there is one attempt at least. */
size_t ny_curve_foretold(const struct ny_curve *curve, double error);
/* Returns the landmarks of the next attempt at this error: those of one that was made and has it,
 * where these are hardly more than are needed. */
size_t ny_curve_next(const struct ny_curve *curve, double error);

#endif
