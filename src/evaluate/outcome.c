/* Measures report with this what is no plain figure: why they do not apply, and the mean of several
 * values with their deviation. */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/decimal.h"
#include "evaluate/evaluate.h"

void ny_evaluate_inapplicable(struct ny_evaluation *run, const char *key, const char *format, ...)
{
    char reason[256];
    va_list args;

    va_start(args, format);
    ny_decimal_vprint(reason, sizeof(reason), format, args);
    va_end(args);
    for (size_t i = 0; run->measure->keys[i]; i++)
        if (!key || strcmp(run->measure->keys[i], key) == 0)
            ny_field_set_text(run->reasons, run->measure->keys[i], reason);
}

void ny_evaluate_spread(json_t *report, const char *mean_key, const char *sd_key,
                        const double *values, size_t count)
{
    double mean = 0, squares = 0;

    for (size_t i = 0; i < count; i++) /* equal values give exactly that */
        mean += values[i] - values[0];
    mean = values[0] + mean / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (values[i] - mean) * (values[i] - mean);
    ny_field_set_number(report, mean_key, mean);
    ny_field_set_number(report, sd_key, count > 1 ? sqrt(squares / (double)(count - 1)) : NAN);
}

const char *ny_evaluate_no_classes(const struct ny_evaluation *run)
{
    if (!run->classes.of)
        return "the store has no labels; import them with --label-column or --labels";
    if (run->classes.too_many)
        return "there are more than 4,096 different labels: they are not classes";
    if (run->classes.count == 0) return "no row of the result has a label";
    if (run->classes.count == 1) return "all labels are equal: there is one class";
    return NULL;
}
