/*
 * Checks and reads the text of one value: numbers, counts, sizes such as 512M, times such as 30m,
 * and words of a list.
 *
 * ny_options_set() checks each value when it is set, so that reading it later cannot fail. A
 * message names the option, what it takes and what was given. A word that other libraries use is
 * answered by the one that is used here (api/synonyms.h), a misspelt one by the nearest.
 */
#include "api/option_values.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/option_table.h"
#include "api/synonyms.h"
#include "base/decimal.h"
#include "base/text.h"

/* Bounds of a list such as "auto|yes|no": its words, and the bytes of a word. */
enum { CHOICES_MAX = 24, CHOICE_BYTES = 32 };

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

/* Cuts "a|b|c" into words; returns how many. */
static size_t split_choices(const char *argument, char words[][CHOICE_BYTES], const char **list)
{
    size_t count = 0;

    while (argument && *argument && count < CHOICES_MAX) {
        size_t length = strcspn(argument, "|");

        memcpy(words[count], argument, length);
        words[count][length] = '\0';
        list[count] = words[count];
        count++;
        argument += length + (argument[length] == '|');
    }
    return count;
}

/* Checks a word against those that the option takes, yes and no for a switch. For example
 * "--kernel gaussian" ends in "--kernel has no 'gaussian'; what you mean is called 'rbf' here". */
static int check_choice(struct ny_context *ctx, const struct ny_option_info *info,
                        const char *value)
{
    char words[CHOICES_MAX][CHOICE_BYTES];
    const char *list[CHOICES_MAX];
    size_t count = split_choices(info->argument ? info->argument : "yes|no", words, list);
    const char *meant = ny_synonym(info->name, value);

    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], value) == 0) return NY_OK;
    if (meant)
        return ny_fail(ctx, NY_EUSAGE, "--%s has no value '%s'; it is called '%s' here (one of %s)",
                       info->name, value, meant, info->argument);
    return ny_fail(ctx, NY_EUSAGE, "--%s is one of %s, not '%s'%s", info->name,
                   info->argument ? info->argument : "yes|no", value,
                   ny_hint(value, list, count).text);
}

double ny_value_gamma(const char *name, double width)
{
    if (strcmp(name, "sigma") == 0) return 1 / (2 * width * width);
    return strcmp(name, "epsilon") == 0 ? 1 / width : width;
}

/* Refuses a width whose gamma no f64 holds, be it of another spelling: all kernel values would be
 * those of gamma 0, or of an infinite one. */
static int check_width(struct ny_context *ctx, const char *name, const char *value, double width)
{
    bool sigma = strcmp(name, "sigma") == 0;

    if (isnormal(ny_value_gamma(name, width))) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "--%s %s is a width beyond the range of numbers%s; give one between %s", name,
                   value, sigma ? ", as gamma is 1/(2 S^2)" : "",
                   sigma ? "1e-150 and 1e150" : "1e-300 and 1e300");
}

/* Checks a number against the least of the table, which only NY_NUMBER_FROM includes. A width
 * may be auto, which the fit replaces. */
static int check_number(struct ny_context *ctx, int index, const char *value)
{
    const char *name = ny_option_at(index)->name;
    const struct ny_option_rule *rule = ny_option_rule(index);
    bool width = rule->kind == NY_WIDTH;
    double number;

    if (width && strcmp(value, "auto") == 0) return NY_OK;
    if (rule->kind == NY_NUMBER_FROM) {
        if (ny_decimal_whole(value, &number) && number >= rule->least) return NY_OK;
        return ny_fail(ctx, NY_EUSAGE, "--%s is a number, at least %g, not '%s'", name, rule->least,
                       value);
    }
    if (ny_decimal_whole(value, &number) && number > rule->least)
        return width ? check_width(ctx, name, value, number) : NY_OK;
    if (isinf(rule->least))
        return ny_fail(ctx, NY_EUSAGE, "--%s is a number, not '%s'", name, value);
    return ny_fail(ctx, NY_EUSAGE, "--%s is a number above %g%s, not '%s'", name, rule->least,
                   width ? " or auto" : "", value);
}

static int check_count(struct ny_context *ctx, int index, const char *value)
{
    const char *name = ny_option_at(index)->name;
    double least = ny_option_rule(index)->least;
    uint64_t count;
    bool held = ny_value_count(value, &count);

    if (held && (double)count >= least) return NY_OK;
    if (!held && *value && strspn(value, "0123456789") == strlen(value))
        return ny_fail(ctx, NY_EUSAGE, "--%s is a whole number, at most %lld, not '%s'", name,
                       (long long)INT64_MAX, value);
    return ny_fail(ctx, NY_EUSAGE, "--%s is a whole number, at least %.0f, not '%s'", name, least,
                   value);
}

int ny_value_check(struct ny_context *ctx, int index, const char *value)
{
    const struct ny_option_info *info = ny_option_at(index);
    double seconds;
    uint64_t bytes;

    switch (ny_option_rule(index)->kind) {
    case NY_SWITCH:
    case NY_CHOICE:
        return check_choice(ctx, info, value);
    case NY_COUNT:
        return check_count(ctx, index, value);
    case NY_NUMBER:
    case NY_NUMBER_FROM:
    case NY_WIDTH:
        return check_number(ctx, index, value);
    case NY_DURATION:
        if (ny_value_seconds(value, &seconds)) return NY_OK;
        return ny_fail(ctx, NY_EUSAGE, "--%s is a time such as 90s, 30m or 2h, not '%s'",
                       info->name, value);
    case NY_BYTES:
        if (ny_value_bytes(value, &bytes)) return NY_OK;
        return ny_fail(ctx, NY_EUSAGE, "--%s is a size such as 512M or 2G, not '%s'", info->name,
                       value);
    case NY_TEXT:
        break;
    }
    if (value[0] != '\0') return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "--%s needs a value (%s)", info->name, info->argument);
}
