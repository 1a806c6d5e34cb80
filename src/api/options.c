/*
 * A set of options: what the user has typed, checked one by one as it is set, and typed reading of
 * the values that are in force.
 *
 * The command line, the library's callers and Python set options by ny_options_set(), which knows
 * "no-" before a switch, refuses unknown names, and keeps a copy of the text; on
 * an error the set is as it was. Memory and threads are applied to the context at once. The
 * getters return the value in force (api/options.h), so that the functions of the library never
 * look at defaults; how options go together is judged later, in ny_options_check().
 */
#include "api/options.h"

#include <string.h>

#include "api/call.h"
#include "api/option_table.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "base/text.h"

const struct ny_options *ny_options_given(const struct ny_options *options,
                                          struct ny_context *context, struct ny_options *none)
{
    static char *untyped[NY_OPTIONS_MAX]; /* nobody writes to it */

    *none = (struct ny_options){.ctx = context, .typed = untyped};
    return options ? options : none;
}

int ny_options_new(struct ny_options **out, struct ny_context *context)
{
    struct ny_options *options;
    int err = NY_GIVEN(context, out);

    if (out) *out = NULL;
    if (err) return err;
    options = ny_calloc(context, NY_MEM_OTHER, 1, sizeof(*options));
    if (!options) return NY_EBUDGET;
    options->ctx = context;
    options->typed = ny_calloc(context, NY_MEM_OTHER, ny_option_count(), sizeof(char *));
    options->tables =
        ny_calloc(context, NY_MEM_OTHER, ny_option_count(), sizeof(struct ny_table *));
    if (!options->typed || !options->tables) {
        ny_options_free(options);
        return NY_EBUDGET;
    }
    *out = options;
    return NY_OK;
}

void ny_options_free(struct ny_options *options)
{
    if (!options) return;
    for (size_t i = 0; options->typed && options->tables && i < ny_option_count(); i++) {
        ny_free(options->ctx, options->typed[i]);
        ny_free(options->ctx, options->tables[i]);
    }
    ny_free(options->ctx, options->typed);
    ny_free(options->ctx, options->tables);
    ny_free(options->ctx, options);
}

/* ---- setting ------------------------------------------------------------------------------ */

/* Sets gamma to what an option says that is another spelling of it; of no other option, nothing. */
static int set_gamma(struct ny_options *options, const char *name, const char *value)
{
    bool sigma = strcmp(name, "sigma") == 0;
    double width;
    char gamma[40];

    if (!sigma && strcmp(name, "epsilon") != 0) return NY_END;
    if (!ny_decimal_whole(value, &width)) return ny_options_set(options, "gamma", value); /* auto */
    snprintf(gamma, sizeof(gamma), "%.17g", sigma ? 1 / (2 * width * width) : 1 / width);
    return ny_options_set(options, "gamma", gamma);
}

int ny_options_set(struct ny_options *options, const char *name, const char *value)
{
    struct ny_context *ctx = options ? options->ctx : NULL;
    bool negated = false;
    uint64_t number = 0;
    char *copy;
    int index, err = NY_GIVEN(ctx, name);

    if (err) return err;
    index = ny_option_find(name);
    if (index < 0 && strncmp(name, "no-", 3) == 0) {
        index = ny_option_find(name + 3);
        negated = index >= 0 && ny_option_rule(index)->kind == NY_SWITCH;
        if (!negated) index = -1;
    }
    if (index < 0) return ny_fail(ctx, NY_EUSAGE, "unknown option --%s", name);
    if (!value) value = ny_option_rule(index)->kind == NY_SWITCH ? "yes" : "";
    err = ny_value_check(ctx, index, value);
    if (err) return err;
    err = set_gamma(options, name, value);
    if (err != NY_END) return err;
    /* `no-pilot` sets pilot to no; with the value no, it sets pilot to yes. */
    if (negated) value = strcmp(value, "yes") == 0 ? "no" : "yes";
    copy = ny_strdup(ctx, value);
    if (!copy) return NY_EBUDGET;
    if (strcmp(name, "memory") == 0 && ny_value_bytes(value, &number))
        ny_context_set_memory(ctx, number);
    if (strcmp(name, "threads") == 0 && ny_value_count(value, &number))
        ny_context_set_threads(ctx, (unsigned)number);
    ny_free(ctx, options->typed[index]);
    options->typed[index] = copy;
    ny_free(ctx, options->tables[index]);
    options->tables[index] = NULL;
    return NY_OK;
}

/* ---- typed reading ------------------------------------------------------------------------ */

bool ny_options_is_set(const struct ny_options *options, const char *name)
{
    int index = ny_option_find(name);

    return index >= 0 && options->typed[index];
}

int ny_options_refuse(const struct ny_options *options, const char *names, const char *with)
{
    for (int i = 0; ny_option_at(i); i++)
        if (options->typed[i] && ny_one_of(ny_option_at(i)->name, names))
            return ny_fail_idle(options->ctx, ny_option_at(i)->name, with);
    return NY_OK;
}

bool ny_options_flag(const struct ny_options *options, const char *name)
{
    const char *text = ny_options_get(options, name);

    return text && strcmp(text, "yes") == 0;
}

bool ny_options_number(const struct ny_options *options, const char *name, double *value)
{
    const char *text = ny_options_get(options, name);

    return text && (ny_decimal_whole(text, value) || ny_value_percent(text, value));
}

bool ny_options_seconds(const struct ny_options *options, const char *name, double *seconds)
{
    const char *text = ny_options_get(options, name);

    return text && ny_value_seconds(text, seconds);
}

bool ny_options_size(const struct ny_options *options, const char *name, uint64_t *value)
{
    int index = ny_option_find(name);
    const char *text = ny_options_get(options, name);

    if (!text) return false;
    return ny_option_rule(index)->kind == NY_BYTES ? ny_value_bytes(text, value)
                                                   : ny_value_count(text, value);
}

size_t ny_options_count(const struct ny_options *options, const char *name, size_t fallback)
{
    uint64_t value;

    return ny_options_size(options, name, &value) ? (size_t)value : fallback;
}

unsigned ny_options_choice(const struct ny_options *options, const char *name)
{
    const char *text = ny_options_get(options, name);
    const char *word = ny_option_at(ny_option_find(name))->argument;
    unsigned place = 0;

    for (; text && *word; place++) {
        size_t length = strcspn(word, "|");

        if (strlen(text) == length && strncmp(text, word, length) == 0) return place;
        word += length + (word[length] == '|');
    }
    return 0;
}
