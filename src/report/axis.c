/*
 * Chooses the range of an axis and the round numbers along it, and writes numbers for people
 * (report/axis.h). Pictures, reports and terminals call it. A thousandth of the values at each end
 * may be left out, but the range then grows by a quarter on each side, as far as the outermost
 * value, to take in outliers that are not far off; an axis whose values are all equal has them in
 * its middle. Minus signs are as wide as plus signs.
 */
#include "report/axis.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/decimal.h"
#include "base/text.h"

struct ny_axis ny_axis_of(double *values, size_t count, bool all)
{
    const double margin = 0.04, farthest = DBL_MAX / 8; /* so that high - low is a number */
    double low, high, least, most, spread;
    size_t finite = 0, tail;

    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i])) values[finite++] = fmin(fmax(values[i], -farthest), farthest);
    if (!finite) return (struct ny_axis){-1, 1};
    qsort(values, finite, sizeof(*values), ny_compare_doubles);
    tail = all ? 0 : finite / 1000;
    least = values[0];
    most = values[finite - 1];
    low = values[tail];
    high = values[finite - 1 - tail];
    if (low < least / 2 || !(high > low)) low = fmin(low, least); /* constant but for a few */
    if (!(high > low)) high = most;
    spread = high - low;
    if (!(spread > 0) || !isfinite(spread)) { /* one value: it is in the middle */
        spread = fmax(fabs(low) * 0.1, 1e-30);
        return low == 0 ? (struct ny_axis){-1, 1} : (struct ny_axis){low - spread, low + spread};
    }
    low = fmax(low - spread / 4, least); /* a few outliers are no reason to leave them out */
    high = fmin(high + spread / 4, most);
    return (struct ny_axis){low - margin * (high - low), high + margin * (high - low)};
}

/* 1, 2 or 5 times a power of ten. */
static double round_step(double raw)
{
    double power = pow(10, floor(log10(raw))), part = raw / power;

    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

/* A minus sign is as wide as a plus; a hyphen is not. */
static void print_tick(char *text, size_t bytes, double value, int decimals)
{
    ny_decimal_print(text, bytes, "%s%.*f", value < 0 ? "−" : "", decimals, fabs(value));
}

void ny_ticks_make(struct ny_ticks *ticks, const struct ny_axis *axis, size_t wanted)
{
    double step = round_step((axis->high - axis->low) / (double)wanted);
    double first = ceil(axis->low / step), most = fmax(fabs(axis->low), fabs(axis->high));
    int decimals;

    *ticks = (struct ny_ticks){0};
    if (most >= 1e5 || most < 0.1) ticks->exponent = (int)floor(log10(most));
    decimals = ticks->exponent - (int)floor(log10(step) + 1e-9);
    if (decimals < 0) decimals = 0;
    if (decimals > 12) decimals = 12;
    for (; ticks->count < NY_TICKS; ticks->count++) {
        double value = (first + (double)ticks->count) * step;

        if (!(value <= axis->high)) break;
        if (fabs(value) < step / 2) value = 0;
        ticks->at[ticks->count] = value;
        print_tick(ticks->text[ticks->count], sizeof(ticks->text[0]),
                   value / pow(10, ticks->exponent), decimals);
    }
}

const char *ny_power_of_ten(int exponent, char text[32])
{
    static const char *const raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
    char digits[16];

    snprintf(digits, sizeof(digits), "%d", abs(exponent));
    strcpy(text, exponent < 0 ? "×10⁻" : "×10");
    for (const char *at = digits; *at; at++)
        strcat(text, raised[*at - '0']);
    return text;
}

const char *ny_short_number(double number, char text[48])
{
    char plain[16], power[32] = "", whole[32], *exponent;

    if (fabs(number) >= 999.5 && fabs(number) < 99999.5) { /* no power of ten yet */
        snprintf(text, 48, "%s%s", number < 0 ? "−" : "",
                 ny_grouped((uint64_t)(fabs(number) + 0.5), whole));
        return text;
    }
    ny_decimal_print(plain, sizeof(plain), "%s%.3g", number < 0 ? "−" : "", fabs(number));
    exponent = strchr(plain, 'e');
    if (exponent) {
        ny_power_of_ten(atoi(exponent + 1), power);
        *exponent = '\0';
    }
    snprintf(text, 48, "%s%s", plain, power);
    return text;
}
