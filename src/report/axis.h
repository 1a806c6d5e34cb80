/* Axes: what they show, and their ticks. */
#ifndef NY_REPORT_AXIS_H
#define NY_REPORT_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ny_axis {
    double low, high; /* low < high */
};

/* Makes the axis that shows the values: all of them, or the middle 99.8 % and those not far off,
 * with a margin. Values that are not finite are left out; `values` is sorted. */
struct ny_axis ny_axis_of(double *values, size_t count, bool all);

/* 0 at low, 1 at high. */
static inline double ny_axis_place(const struct ny_axis *axis, double value)
{
    return (value - axis->low) / (axis->high - axis->low);
}

enum { NY_TICKS = 16 };
struct ny_ticks {
    size_t count;
    double at[NY_TICKS];
    char text[NY_TICKS][24]; /* of at / 10^exponent, in UTF-8 */
    int exponent;            /* 0 where numbers are short enough as they are */
};
/* About `wanted` round numbers within the axis. */
void ny_ticks_make(struct ny_ticks *ticks, const struct ny_axis *axis, size_t wanted);

/* "×10⁻⁷" */
const char *ny_power_of_ten(int exponent, char text[32]);
/* "1.47×10⁻⁷", "0.025", "1,034": for people. */
const char *ny_short_number(double number, char text[48]);

#endif
