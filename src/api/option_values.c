/*
 * Checks and reads the text of one value: numbers, counts, sizes such as 512M, times such as 30m,
 * and words of a list.
 *
 * ny_options_set() checks each value when it is set, so that reading it later cannot fail. A
 * message names the option, what it takes and what was given.
 */

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/option_table.h"
#include "base/decimal.h"
#include "base/text.h"

bool ny_value_count(const char *text, uint64_t *value)
{
    char *end;

    if (!isdigit((unsigned char)text[0])) return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0 && *value <= INT64_MAX;
}

bool ny_value_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    size_t digits = strspn(text, "0123456789.");
    const char *unit = text + digits;
    const char *power;
    double value, factor = 1;
    char *end;

    if (digits == 0 || (unit[0] == '\0' && strchr(text, '.'))) return false;
    value = ny_decimal_read(text, &end);
    if (end != unit) return false;
    if (unit[0] == ' ' && unit[1] != '\0') unit++;
    if (unit[0] != '\0') {
        power = strchr(units, toupper((unsigned char)unit[0]));
        if (!power) return false;
        if (unit[1] != '\0' && strcasecmp(unit + 1, "B") != 0 && strcasecmp(unit + 1, "iB") != 0)
            return false;
        factor = ldexp(1, (int)(10 * (power - units + 1)));
    }
    if (value * factor < 1 || value * factor > 0x1p62) return false;
    *bytes = (uint64_t)(value * factor);
    return true;
}

bool ny_value_seconds(const char *text, double *seconds)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"min", 60}, {"h", 3600}, {"d", 86400}};
    double value;
    char *end;

    if (!strchr("0123456789.", text[0])) return false;
    value = ny_decimal_read(text, &end);
    if (end == text || strpbrk(text, "xX")) return false;
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        *seconds = value * units[i].seconds;
        return *seconds > 0 && isfinite(*seconds);
    }
    return false;
}

bool ny_value_percent(const char *text, double *value)
{
    double percent;
    char *end;

    if (!strchr("0123456789.", text[0])) return false;
    percent = ny_decimal_read(text, &end);
    if (end == text || strcmp(end, "%") != 0 || !isfinite(percent)) return false;
    *value = percent / 100;
    return true;
}

/* Checks a number against the least of the table, which only NY_NUMBER_FROM includes. A width
 * may be auto, which the fit replaces. */
static int check_number(struct ny_context *ctx, int index, const char *value)
{
    const char *name = ny_option_at(index)->name;
    const struct ny_option_rule *rule = ny_option_rule(index);
    bool width = rule->kind == NY_WIDTH;
    char takes[48];
    double number;

    if (width && strcmp(value, "auto") == 0) return NY_OK;
    if (ny_decimal_whole(value, &number) &&
        (number > rule->least || (rule->kind == NY_NUMBER_FROM && number >= rule->least))) {
        /* With another width all kernel values would be those of gamma 0, or of an infinite one. */
        if (!width || isnormal(number)) return NY_OK;
        return ny_fail_value(ctx, name, "a width between 1e-150 and 1e150", value);
    }
    ny_decimal_print(takes, sizeof(takes), "a number %s %g", /* −infinity: any */
                     rule->kind == NY_NUMBER_FROM ? "from" : "above", rule->least);
    return ny_fail_value(ctx, name, takes, value);
}

static int check_count(struct ny_context *ctx, int index, const char *value)
{
    const char *name = ny_option_at(index)->name;
    const struct ny_option_rule *rule = ny_option_rule(index);
    double least = rule->least, most = rule->most;
    uint64_t count;
    bool above = ny_value_count(value, &count) && (double)count >= least;
    char takes[80];

    if (above && (most <= 0 || (double)count <= most)) return NY_OK;
    if (rule->param && most > 0)
        snprintf(takes, sizeof(takes), "a whole number from %.0f to %.0f", least, most);
    else if (above)
        snprintf(takes, sizeof(takes), "at most %.0f", most);
    else
        snprintf(takes, sizeof(takes), "a whole number, at least %.0f", least);
    return ny_fail_value(ctx, name, takes, value);
}

int ny_value_check(struct ny_context *ctx, int index, const char *value)
{
    const struct ny_option_info *info = ny_option_at(index);
    const char *words = info->argument ? info->argument : "yes|no"; /* of a switch */
    double number;
    uint64_t bytes;

    switch (ny_option_rule(index)->kind) {
    case NY_SWITCH:
    case NY_CHOICE:
        return ny_one_of(value, words) ? NY_OK : ny_fail_value(ctx, info->name, words, value);
    case NY_COUNT:
        return check_count(ctx, index, value);
    case NY_SHARE:
        if ((ny_decimal_whole(value, &number) || ny_value_percent(value, &number)) && number > 0 &&
            number <= 1)
            return NY_OK;
        return ny_fail_value(ctx, info->name, "a share, such as 1% or 0.01", value);
    case NY_NUMBER:
    case NY_NUMBER_FROM:
    case NY_WIDTH:
        return check_number(ctx, index, value);
    case NY_DURATION:
        if (ny_value_seconds(value, &number)) return NY_OK;
        return ny_fail_value(ctx, info->name, "a time such as 90s, 30m or 2h", value);
    case NY_BYTES:
        if (ny_value_bytes(value, &bytes)) return NY_OK;
        return ny_fail_value(ctx, info->name, "a size such as 512M or 2G", value);
    case NY_TEXT:
        break;
    }
    if (value[0] != '\0') return NY_OK;
    return ny_fail_value(ctx, info->name, info->argument, value);
}
