/*
 * What options mean together: the defaults that others imply, and which cannot act beside which.
 * An option that would be accepted and ignored is refused instead.
 */
#include <string.h>

#include "api/options_private.h"

static const char *typed(const struct ny_options *options, const char *name)
{
    return options->typed[ny_option_find(name)];
}

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* `words` is "a|b|c". */
static bool one_of(const char *text, const char *words)
{
    size_t length = text ? strlen(text) : 0;

    while (text && *words) {
        size_t word = strcspn(words, "|");

        if (word == length && strncmp(text, words, word) == 0) return true;
        words += word + (words[word] == '|');
    }
    return false;
}

/* `option` acts only where `governor` in force is one of `values`; elsewhere it has no value. */
static const struct condition {
    const char *option, *governor, *values;
} conditions[] = {
    {"gamma", "kernel", "rbf|laplacian|polynomial"},
    {"sigma", "kernel", "rbf"},
    {"epsilon", "kernel", "rbf"},
    {"degree", "kernel", "polynomial"},
    {"coef0", "kernel", "polynomial"},
    {"columns-file", "kernel", "precomputed"},
    {"tolerance", "select", "greedy"},
    {"landmarks", "select", "uniform|greedy"},
    {"landmarks-file", "select", "given"},
    {"landmarks-from", "select", "given"},
    {"averages", "map", "pca|kpca"},
    {"inner", "approx", "nystrom"},
    {"oversample", "approx", "nystrom"},
    {"oversample", "inner", "auto|randomized"},
    {"power", "approx", "nystrom"},
    {"power", "inner", "auto|randomized"},
};

static bool acts(const struct ny_options *options, const struct condition *condition)
{
    return one_of(ny_options_get(options, condition->governor), condition->values);
}

/* True when the typed options decide the default of `name`; *value is then it, or NULL. */
static bool implied(const struct ny_options *options, const char *name, const char **value)
{
    *value = NULL;
    if (is(name, "select") &&
        (typed(options, "landmarks-file") || typed(options, "landmarks-from")))
        *value = "given";
    if (is(name, "kernel") && is(ny_options_get(options, "map"), "pca")) *value = "linear";
    if (is(name, "kernel") && typed(options, "columns-file")) *value = "precomputed";
    if (is(name, "averages") && !is(ny_options_get(options, "map"), "svd"))
        *value = is(ny_options_get(options, "approx"), "projected") ? "implicit" : "landmarks";
    if (*value) return true;
    if (is(name, "landmarks") && is(ny_options_get(options, "select"), "greedy")) return true;
    return is(name, "gamma") && (typed(options, "sigma") || typed(options, "epsilon"));
}

const char *ny_options_get(const struct ny_options *options, const char *name)
{
    int index = ny_option_find(name);
    const char *value;

    if (index < 0) return NULL;
    if (options->typed[index]) return options->typed[index];
    if (implied(options, name, &value)) return value;
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++)
        if (is(name, conditions[i].option) && !acts(options, &conditions[i])) return NULL;
    return ny_option_table()[index].fallback;
}

/* ---- refusals ----------------------------------------------------------------------------- */

static unsigned groups_of(const char *name)
{
    return ny_option_table()[ny_option_find(name)].groups;
}

static int check_conditions(const struct ny_options *options, unsigned groups)
{
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        const struct condition *rule = &conditions[i];
        const char *value;

        if (!typed(options, rule->option) || !(groups_of(rule->option) & groups)) continue;
        if (!(groups_of(rule->governor) & groups) || acts(options, rule)) continue;
        value = ny_options_get(options, rule->governor);
        return ny_fail(options->ctx, NY_EUSAGE, "--%s acts only with --%s %s, and here it is %s",
                       rule->option, rule->governor, rule->values, value ? value : "not set");
    }
    return NY_OK;
}

static int check_selection(const struct ny_options *options)
{
    const char *select = ny_options_get(options, "select");
    bool file = typed(options, "landmarks-file"), from = typed(options, "landmarks-from");

    if (is(select, "greedy") && !typed(options, "tolerance"))
        return ny_fail(
            options->ctx, NY_EUSAGE,
            "--select greedy needs --tolerance, the largest residual that a row may keep");
    if (is(select, "given") && !file && !from)
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--select given needs --landmarks-file F.npy or --landmarks-from NAME");
    if (file && from)
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--landmarks-file and --landmarks-from both name the landmarks; give one");
    if (is(ny_options_get(options, "kernel"), "precomputed") &&
        !(typed(options, "columns-file") && file))
        return ny_fail(
            options->ctx, NY_EUSAGE,
            "--kernel precomputed needs --columns-file C.npy and --landmarks-file D.npy");
    return NY_OK;
}

static int check_affine(const struct ny_options *options, unsigned groups)
{
    bool projected = groups & NY_GROUP_FIT && is(ny_options_get(options, "approx"), "projected");

    if (!typed(options, "affine") || projected) return NY_OK;
    if (is(ny_options_get(options, "select"), "greedy")) return NY_OK;
    return ny_fail(options->ctx, NY_EUSAGE, "--affine acts only with --select greedy%s",
                   groups & NY_GROUP_FIT ? " or --approx projected" : "");
}

static int check_fit(const struct ny_options *options)
{
    const char *kernel = ny_options_get(options, "kernel");
    uint64_t components = 0, rank;

    if (is(ny_options_get(options, "map"), "pca") && !is(kernel, "linear"))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--map pca has the linear kernel, not %s; use --map kpca", kernel);
    ny_options_size(options, "components", &components);
    if (ny_options_size(options, "rank", &rank) && components > rank)
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--components %llu is more than --rank %llu; raise --rank",
                       (unsigned long long)components, (unsigned long long)rank);
    return NY_OK;
}

static int check_import(const struct ny_options *options)
{
    if (typed(options, "labels") && typed(options, "label-column"))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--labels and --label-column both say where the labels are; give one");
    return NY_OK;
}

int ny_options_check(const struct ny_options *options, unsigned groups)
{
    int err;

    ny_error_clear(options->ctx);
    err = check_conditions(options, groups);
    if (!err && groups & (NY_GROUP_FIT | NY_GROUP_SELECT)) err = check_selection(options);
    if (!err && groups & (NY_GROUP_FIT | NY_GROUP_SELECT)) err = check_affine(options, groups);
    if (!err && groups & NY_GROUP_FIT) err = check_fit(options);
    if (!err && groups & NY_GROUP_IMPORT) err = check_import(options);
    return err;
}
