#include "api/options.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/given.h"
#include "api/options_private.h"
#include "api/synonyms.h"
#include "base/memory.h"
#include "base/text.h"

enum { CHOICES_MAX = 24, CHOICE_BYTES = 32, OPTIONS_MAX = 128, THREADS_MAX = 4096 };

const struct ny_options *ny_options_given(const struct ny_options *options,
                                          struct ny_context *context, struct ny_options *none)
{
    static char *untyped[OPTIONS_MAX]; /* nobody writes to it */

    *none = (struct ny_options){context, untyped};
    return options ? options : none;
}

int ny_options_new(struct ny_options **out, struct ny_context *context)
{
    struct ny_options *options;
    int err = NY_GIVEN(context, out);

    if (out) *out = NULL;
    if (err) return err;
    options = ny_calloc(context, NY_MEM_OTHER, 1, sizeof(*options));
    if (!options) return ny_context_error(context)->status;
    options->ctx = context;
    options->typed = ny_calloc(context, NY_MEM_OTHER, ny_option_count(), sizeof(char *));
    if (!options->typed) {
        ny_options_free(options);
        return ny_context_error(context)->status;
    }
    *out = options;
    return NY_OK;
}

void ny_options_free(struct ny_options *options)
{
    if (!options) return;
    for (size_t i = 0; options->typed && i < ny_option_count(); i++)
        ny_free(options->ctx, options->typed[i]);
    ny_free(options->ctx, options->typed);
    ny_free(options->ctx, options);
}

/* ---- values ------------------------------------------------------------------------------- */

/* The whole text as a finite decimal number: no spaces, no hexadecimal, no "inf". */
static bool parse_number(const char *text, double *value)
{
    char *end;

    if (text[0] == '\0' || strspn(text, "0123456789+-.eE") != strlen(text)) return false;
    *value = strtod(text, &end);
    return *end == '\0' && isfinite(*value);
}

static bool parse_count(const char *text, uint64_t *value)
{
    char *end;

    if (!isdigit((unsigned char)text[0])) return false;
    errno = 0;
    *value = strtoull(text, &end, 10);
    return *end == '\0' && errno == 0 && *value <= INT64_MAX;
}

/* "2G", "1.5GiB", "300000000". */
static bool parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    size_t digits = strspn(text, "0123456789.");
    const char *unit = text + digits;
    const char *power;
    double value, factor = 1;
    char *end;

    if (digits == 0 || (unit[0] == '\0' && strchr(text, '.'))) return false;
    value = strtod(text, &end);
    if (end != unit) return false;
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
        return ny_fail(ctx, NY_EUSAGE,
                       "--%s has no '%s'; what you mean is called '%s' here (of %s)", info->name,
                       value, meant, info->argument);
    return ny_fail(ctx, NY_EUSAGE, "--%s is one of %s, not '%s'%s", info->name,
                   info->argument ? info->argument : "yes|no", value,
                   ny_hint(value, list, count).text);
}

static int check_number(struct ny_context *ctx, int index, const char *value)
{
    const char *name = ny_option_at(index)->name;
    const struct ny_option_rule *rule = ny_option_rule(index);
    bool width = rule->kind == NY_WIDTH;
    double number;

    if (width && strcmp(value, "auto") == 0) return NY_OK;
    if (rule->kind == NY_NUMBER_FROM) {
        if (parse_number(value, &number) && number >= rule->least) return NY_OK;
        return ny_fail(ctx, NY_EUSAGE, "--%s is a number, at least %g, not '%s'", name, rule->least,
                       value);
    }
    if (parse_number(value, &number) && number > rule->least) return NY_OK;
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

    if (parse_count(value, &count) && (double)count >= least) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "--%s is a whole number, at least %.0f, not '%s'", name, least,
                   value);
}

static int check_value(struct ny_context *ctx, int index, const char *value)
{
    const struct ny_option_info *info = ny_option_at(index);
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
    case NY_BYTES:
        if (parse_bytes(value, &bytes)) return NY_OK;
        return ny_fail(ctx, NY_EUSAGE, "--%s is a size such as 512M or 2G, not '%s'", info->name,
                       value);
    case NY_TEXT:
        break;
    }
    if (value[0] != '\0') return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "--%s needs a value (%s)", info->name, info->argument);
}

/* ---- setting ------------------------------------------------------------------------------ */

static int unknown_option(struct ny_context *ctx, const char *name)
{
    const struct ny_option_info *option;
    const char *names[OPTIONS_MAX];
    size_t count = 0;
    const char *nearest;

    while (count < OPTIONS_MAX && (option = ny_option_at((int)count)))
        names[count++] = option->name;
    nearest = ny_suggest(name, names, count);
    return ny_fail(ctx, NY_EUSAGE, "unknown option --%s%s%s%s", name,
                   nearest ? "; did you mean --" : "", nearest ? nearest : "", nearest ? "?" : "");
}

/* gamma, sigma and epsilon are three spellings of one number. */
static int check_width(const struct ny_options *options, const char *name)
{
    static const char *const widths[] = {"gamma", "sigma", "epsilon"};
    size_t count = sizeof(widths) / sizeof(widths[0]);
    bool is_width = false;

    for (size_t i = 0; i < count; i++)
        is_width |= strcmp(name, widths[i]) == 0;
    for (size_t i = 0; is_width && i < count; i++)
        if (strcmp(name, widths[i]) != 0 && ny_options_is_set(options, widths[i]))
            return ny_fail(options->ctx, NY_EUSAGE,
                           "--%s and --%s are two spellings of one width; give one of them", name,
                           widths[i]);
    return NY_OK;
}

/* Applies the options memory and threads, which belong to the context. */
static int apply_to_context(struct ny_context *ctx, const char *name, const char *value)
{
    uint64_t number = 0;

    if (strcmp(name, "memory") == 0 && parse_bytes(value, &number))
        ny_context_set_memory(ctx, number);
    if (strcmp(name, "threads") == 0 && parse_count(value, &number)) {
        if (number > THREADS_MAX)
            return ny_fail(ctx, NY_EUSAGE, "--threads is at most %d, not '%s'", (int)THREADS_MAX,
                           value);
        ny_context_set_threads(ctx, (unsigned)number);
    }
    return NY_OK;
}

int ny_options_set(struct ny_options *options, const char *name, const char *value)
{
    struct ny_context *ctx = options ? options->ctx : NULL;
    bool negated = false;
    char *copy;
    int index, err = NY_GIVEN(ctx, name);

    if (err) return err;
    index = ny_option_find(name);
    if (index < 0 && strncmp(name, "no-", 3) == 0) {
        index = ny_option_find(name + 3);
        negated = index >= 0 && ny_option_rule(index)->kind == NY_SWITCH;
        if (!negated) index = -1;
    }
    if (index < 0) return unknown_option(ctx, name);
    if (!value) value = ny_option_rule(index)->kind == NY_SWITCH ? "yes" : "";
    err = check_value(ctx, index, value);
    if (err) return err;
    if (negated) value = strcmp(value, "yes") == 0 ? "no" : "yes";
    err = check_width(options, ny_option_at(index)->name);
    if (err) return err;
    copy = ny_strdup(ctx, value);
    if (!copy) return ny_context_error(ctx)->status;
    err = apply_to_context(ctx, ny_option_at(index)->name, value);
    if (err) {
        ny_free(ctx, copy);
        return err;
    }
    ny_free(ctx, options->typed[index]);
    options->typed[index] = copy;
    return NY_OK;
}

/* ---- typed reading ------------------------------------------------------------------------ */

bool ny_options_is_set(const struct ny_options *options, const char *name)
{
    int index = ny_option_find(name);

    return index >= 0 && options->typed[index];
}

const char *ny_options_text(const struct ny_options *options, const char *name)
{
    return ny_options_get(options, name);
}

bool ny_options_flag(const struct ny_options *options, const char *name)
{
    const char *text = ny_options_get(options, name);

    return text && strcmp(text, "yes") == 0;
}

bool ny_options_number(const struct ny_options *options, const char *name, double *value)
{
    const char *text = ny_options_get(options, name);

    return text && parse_number(text, value);
}

bool ny_options_size(const struct ny_options *options, const char *name, uint64_t *value)
{
    int index = ny_option_find(name);
    const char *text = ny_options_get(options, name);

    if (!text) return false;
    return ny_option_rule(index)->kind == NY_BYTES ? parse_bytes(text, value)
                                                   : parse_count(text, value);
}

bool ny_options_gamma(const struct ny_options *options, double *gamma)
{
    double value;

    if (ny_options_number(options, "sigma", &value))
        *gamma = 1 / (2 * value * value);
    else if (ny_options_number(options, "epsilon", &value))
        *gamma = 1 / value;
    else
        return ny_options_number(options, "gamma", gamma);
    return true;
}
