/*
 * The rules of options together: defaults that others imply, and options that exclude each other.
 * An option that would be accepted and ignored is refused instead.
 *
 * ny_options_get(), through which the typed getters read, returns the value in force: the typed
 * one, none where the option cannot act, else the default. ny_options_check() refuses typed options
 * that cannot act, by the same tables and predicates, so that a default and a refusal never
 * contradict each other.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "api/option_values.h"
#include "api/options_private.h"
#include "base/text.h"
#include "columns/kernels.h"
#include "peers/open.h"
#include "model/map.h"
#include "select/rules.h"
#include "spectral/methods.h"
#include "spectral/whole.h"

/* Returns what the user has set, whether it can act or not. */
static const char *typed(const struct ny_options *options, const char *name)
{
    return options->typed[ny_option_find(name)];
}

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
}

/* `option` acts only where `governor` in force is one of `values` (after a !: none of them), or
 * without any where the entry of that name in the governor's table lists the option; elsewhere it
 * has no value. The tables of kernels and rules say more, below. */
static const struct condition {
    const char *option, *governor, *values;
} conditions[] = {
    {"columns-file", "kernel", "precomputed"},
    {"landmarks", "select", "!"},
    {"landmarks-file", "select", ""},
    {"landmarks-points", "select", ""},
    {"landmarks-points", "kernel", "!precomputed"},
    {"landmarks-from", "select", ""},
    {"scale", "kernel", "!precomputed"},
    {"features", "kernel", "!precomputed"},
    {"experts", "approx", ""},
    {"weights", "approx", ""},
    {"recall", "knn", "auto|forest|sieve"},
    {"leaf", "knn", "forest"},
    {"certify", "approx", ""},
    {"online", "approx", ""},
    {"online", "select", ""},
    {"online", "map", "svd|kpca|pca"},
    {"online", "inner", "!randomized"},
    {"probe", "kernel", "!precomputed"},
    {"averages", "map", "!svd"},
    {"normalize", "map", "diffusion"},
    {"time", "map", "diffusion"},
    {"edge-weights", "map", "eigenmaps|diffusion"},
    {"gamma", "edge-weights", "!binary"},
    {"sigma", "edge-weights", "!binary"},
    {"epsilon", "edge-weights", "!binary"},
    {"rank", "approx", "!"},
    {"inner", "approx", ""},
    {"tol", "approx", ""},
    {"tol", "kernel", "linear|cosine"},
    {"max-passes", "approx", ""},
    {"max-passes", "kernel", "linear|cosine"},
    {"oversample", "approx", ""},
    {"oversample", "inner", "!exact"},
    {"power", "approx", ""},
    {"power", "inner", "!exact"},
};

enum { CONDITIONS = sizeof(conditions) / sizeof(conditions[0]) };

/* Tells whether the governor's value in force lets the option act. A governor that has no value
 * lets only a negated condition hold. */
static bool acts(const struct ny_options *options, const struct condition *condition)
{
    const char *value = ny_options_get(options, condition->governor);
    bool negated = condition->values[0] == '!';

    if (!condition->values[negated])
        return value ? ny_governor_takes(condition->governor, value, condition->option) : negated;
    return ny_one_of(value, condition->values + negated) != negated;
}

/* Returns the kernel in force; NULL for a map without one. */
static const struct ny_kernel *kernel_of(const struct ny_options *options)
{
    const char *name = ny_options_get(options, "kernel");

    return name ? ny_kernel_find(name) : NULL;
}

/* Returns the method in force; NULL for a graph's map without one. */
static const struct ny_method *method_of(const struct ny_options *options)
{
    const char *name = ny_options_get(options, "approx");

    return name ? ny_method_find(name) : NULL;
}

/* Returns the rule in force; the first one for a method without landmarks, which takes none. */
static const struct ny_rule *rule_of(const struct ny_options *options)
{
    const char *name = ny_options_get(options, "select");

    return name ? ny_rule_find(name) : ny_rule_at(0);
}

/* Tells whether the option is no parameter of a kernel, or one of the kernel in force. */
static bool kernel_takes(const struct ny_options *options, int option)
{
    unsigned acts =
        ny_option_rule(option)->acts & (NY_ACTS_ON_GAMMA | NY_ACTS_ON_SIGMA | NY_ACTS_ON_DEGREE);
    const struct ny_kernel *kernel = acts ? kernel_of(options) : NULL;

    if (!kernel) return true; /* a map without a kernel is refused as such */
    if (acts & NY_ACTS_ON_GAMMA) return kernel->has_gamma;
    return acts & NY_ACTS_ON_SIGMA ? kernel->has_sigma : kernel->has_polynomial;
}

/* Tells whether the rule takes the option. greedy finds its tolerance if none is given. */
static bool rule_takes(const struct ny_options *options, int option)
{
    unsigned acts = ny_option_rule(option)->acts;

    if (acts & NY_ACTS_ON_SEARCH)
        return rule_of(options)->by_tolerance && !typed(options, "tolerance");
    return !(acts & NY_ACTS_ON_TOLERANCE) || rule_of(options)->by_tolerance;
}

/* Returns what stands in for the method in force with a typed --inner randomized; NULL: nothing
 * does, and then its own solver is exact, randomized, or chosen by size. */
static const struct ny_method *randomized_of(const struct ny_options *options)
{
    const struct ny_method *method = method_of(options);

    return method ? ny_method_by_products(method) : NULL;
}

/* Tells whether the solver takes the option. One that has a stand-in has to be typed for that. */
static bool solver_takes(const struct ny_options *options, int option)
{
    return !(ny_option_rule(option)->acts & NY_ACTS_ON_RANDOMIZED) || !randomized_of(options) ||
           is(typed(options, "inner"), "randomized");
}

/* Methods that work on all of K choose no landmarks; of some --landmarks is the number of random
 * columns. */
static bool method_takes(const struct ny_options *options, int option)
{
    const struct ny_method *method;

    if (!(ny_option_rule(option)->acts & NY_ACTS_ON_LANDMARKS)) return true;
    method = method_of(options);
    if (!method || !method->whole) return true;
    return option == ny_option_find("landmarks") && method->whole->landmarks;
}

const struct ny_map *ny_options_map(const struct ny_options *options)
{
    const struct ny_map *map = ny_map_find(ny_options_get(options, "map"));
    bool graph = typed(options, "graph") || typed(options, "neighbors");

    return map->of_graph && graph ? map->of_graph : map;
}

/* Maps of a graph take a few of the options of kernels' maps. */
static bool map_takes(const struct ny_options *options, int option)
{
    const struct ny_map *map;

    if (!(ny_option_rule(option)->acts & NY_ACTS_OF_KERNELS)) return true;
    map = ny_options_map(options);
    return !map->graph || ny_one_of(ny_option_at(option)->name, map->options);
}

/* A graph that is there, or whose edges are given, has these already. */
static bool graph_takes(const struct ny_options *options, int option)
{
    return !(ny_option_rule(option)->acts & NY_ACTS_OF_NEW_GRAPH) ||
           !(typed(options, "graph") || typed(options, "edges"));
}

bool ny_options_of_map(const struct ny_options *options, int option)
{
    return !(ny_option_rule(option)->acts & NY_ACTS_OF_GRAPHS) || ny_options_map(options)->graph;
}

/* The options that name landmarks. */
static const char *const naming[] = {"landmarks-file", "landmarks-points", "landmarks-from"};
enum { NAMING = sizeof(naming) / sizeof(naming[0]) };

/* Returns the first option from naming[first] on that is typed, and its place in *at; NULL: none.
 */
static const char *named_by(const struct ny_options *options, size_t first, size_t *at)
{
    for (*at = first; *at < NAMING; ++*at)
        if (typed(options, naming[*at])) return naming[*at];
    return NULL;
}

/* Returns the rule that suits the method in force best. */
static const char *default_rule(const struct ny_options *options)
{
    const struct ny_method *method = method_of(options);
    size_t at;

    if (named_by(options, 0, &at)) return "given";
    if (is(typed(options, "online"), "yes") && !(method && method->all_rows)) return "greedy";
    return method ? method->rule : "uniform";
}

/* Tells whether the option is one of landmarks, or of a solver that this method does not have. */
static bool needs_another(const char *method, int option)
{
    const unsigned of_landmarks = NY_ACTS_ON_LANDMARKS | NY_ACTS_ON_TOLERANCE | NY_ACTS_ON_SEARCH;
    const char *name = ny_option_at(option)->name;

    if (ny_option_rule(option)->acts & of_landmarks) return true;
    for (size_t i = 0; i < CONDITIONS; i++)
        if (is(name, conditions[i].option) && is("approx", conditions[i].governor) &&
            !conditions[i].values[conditions[i].values[0] == '!'] &&
            !ny_governor_takes("approx", method, name))
            return true;
    return false;
}

/* Returns the method that suits the map best: of a graph's map the first of the table that it has,
 * of a kernel's its own, unless a typed option needs another. NULL: it has none. */
static const char *default_method(const struct ny_options *options)
{
    const struct ny_map *map = ny_options_map(options);
    const struct ny_method *method;

    for (size_t i = 0; map->graph && (method = ny_method_at(i)); i++)
        if (ny_one_of(method->name, map->methods)) return method->name;
    for (int i = 0; map->method && ny_option_at(i); i++)
        if (options->typed[i] && needs_another(map->method, i)) return NULL;
    return map->method;
}

/* The default of `name` where typed options or tables decide it: true, and *value it or NULL. */
static bool implied(const struct ny_options *options, const char *name, const char **value)
{
    const struct ny_method *randomized;

    *value = NULL;
    if (is(name, "select")) *value = default_rule(options);
    if (is(name, "approx")) *value = default_method(options);
    if (is(name, "edge-weights")) *value = "heat";
    if (is(name, "recall") && !is(ny_options_get(options, "knn"), "auto")) *value = "0.95";
    if (is(name, "kernel")) *value = ny_options_map(options)->kernel;
    if (is(name, "kernel") && typed(options, "columns-file")) *value = "precomputed";
    if (ny_one_of(name, "inner|oversample|power") && (randomized = randomized_of(options))) {
        if (is(name, "oversample")) *value = randomized->oversample;
        if (is(name, "power")) *value = randomized->power;
        return true; /* --inner has no value: the method solves exactly, as its stand-in is typed */
    }
    if (is(name, "averages")) *value = method_of(options)->implicit ? "implicit" : "landmarks";
    if (*value) return true;
    if (is(name, "landmarks") && rule_of(options)->by_tolerance && typed(options, "tolerance"))
        return true;
    return is(name, "gamma") && (typed(options, "sigma") || typed(options, "epsilon"));
}

const char *ny_options_get(const struct ny_options *options, const char *name)
{
    int index = options && name ? ny_option_find(name) : -1;
    const char *value;

    if (index < 0) return NULL;
    if (options->typed[index]) return options->typed[index];
    if (!map_takes(options, index) || !graph_takes(options, index)) return NULL;
    if (!kernel_takes(options, index) || !rule_takes(options, index)) return NULL;
    if (!method_takes(options, index) || !solver_takes(options, index)) return NULL;
    for (size_t i = 0; i < CONDITIONS; i++)
        if (is(name, conditions[i].option) && !acts(options, &conditions[i])) return NULL;
    return implied(options, name, &value) ? value : ny_option_at(index)->fallback;
}

/* ---- refusals ----------------------------------------------------------------------------- */

/* Reads the whole number in force; false where the option has no value. */
static bool count_of(const struct ny_options *options, const char *name, uint64_t *count)
{
    const char *text = ny_options_get(options, name);

    return text && ny_value_count(text, count);
}

/* Returns the groups of calls that take the option. */
static unsigned groups_of(const char *name)
{
    return ny_option_at(ny_option_find(name))->groups;
}

/* Refuses a typed option whose governor does not let it act, if the call takes both. For example
 * "--leaf 64" beside "--knn exact" ends in "--leaf acts only with --knn forest, and here it is
 * exact". */
static int check_conditions(const struct ny_options *options, unsigned groups)
{
    for (size_t i = 0; i < CONDITIONS; i++) {
        const struct condition *rule = &conditions[i];
        bool negated = rule->values[0] == '!';
        const char *value, *values = rule->values;
        char text[160] = "";

        if (!typed(options, rule->option) || !(groups_of(rule->option) & groups)) continue;
        if (!(groups_of(rule->governor) & groups) || acts(options, rule)) continue;
        value = ny_options_get(options, rule->governor);
        if (negated)
            return ny_fail(options->ctx, NY_EUSAGE, "--%s does not act with --%s %s", rule->option,
                           rule->governor, value);
        if (!*values) values = ny_governor_list(rule->governor, rule->option, text, sizeof(text));
        return ny_fail(options->ctx, NY_EUSAGE, "--%s acts only with --%s %s%s%s", rule->option,
                       rule->governor, values, value ? ", and here it is " : "",
                       value ? value : "");
    }
    return NY_OK;
}

/* Text after the name of a map that is one of a graph here, and need not be. */
static const char *of_graph(const struct ny_map *map)
{
    return map == ny_map_find(map->name) ? "" : " of a graph";
}

/* An option that is not the map's. The store of embed has no graph to name. */
static int refuse_for_map(const struct ny_options *options, unsigned groups, int option)
{
    const char *name = ny_option_at(option)->name;
    const struct ny_map *map = ny_options_map(options), *other;
    char graphs[160] = "";

    if (!(ny_option_rule(option)->acts & NY_ACTS_OF_GRAPHS))
        return ny_fail(options->ctx, NY_EUSAGE, "--%s does not act with --map %s%s; leave it out",
                       name, map->name, of_graph(map));
    if (map->of_graph)
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--%s does not act with --map %s of a kernel; give --neighbors T%s for a "
                       "map of a graph",
                       name, map->name, groups & NY_GROUP_EMBED ? "" : " or --graph NAME");
    for (size_t i = 0, length = 0; (other = ny_map_at(i)) && length < sizeof(graphs); i++)
        if (other->graph || other->of_graph)
            length += (size_t)snprintf(graphs + length, sizeof(graphs) - length, "%s%s",
                                       length ? ", " : "", other->name);
    return ny_fail(options->ctx, NY_EUSAGE,
                   "--%s does not act with --map %s; it is for maps of a graph: %s", name,
                   map->name, graphs);
}

/* Refuses options that the map in force does not take, be it one of a graph or not. */
static int check_map(const struct ny_options *options, unsigned groups)
{
    const struct ny_option_info *option;
    const struct ny_map *map = ny_options_map(options);

    for (int i = 0; (option = ny_option_at(i)); i++) {
        if (!options->typed[i]) continue;
        if (!map_takes(options, i) || !ny_options_of_map(options, i))
            return refuse_for_map(options, groups, i);
        if (!graph_takes(options, i))
            return ny_options_refuse_made(options, option->name, typed(options, "graph"));
    }
    if (!map->graph || !map->methods) return NY_OK;
    if (!ny_one_of(ny_options_get(options, "approx"), map->methods))
        return ny_fail(options->ctx, NY_EUSAGE, "--map %s takes --approx %s, not %s", map->name,
                       map->methods, ny_options_get(options, "approx"));
    if (ny_rule_reads(rule_of(options)))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--select %s needs a kernel, and --map %s has none; give --select uniform",
                       rule_of(options)->name, map->name);
    return NY_OK;
}

/* Refuses options of landmarks where the method works on all of K or takes all rows, and options of
 * the randomized solver where projected solves exactly. */
static int check_method(const struct ny_options *options)
{
    const struct ny_method *method = method_of(options);
    bool all = method && method->all_rows && !typed(options, "select");
    const struct ny_option_info *option;

    for (int i = 0; (option = ny_option_at(i)); i++) {
        if (!options->typed[i]) continue;
        if (all && ny_one_of(option->name, "landmarks|tolerance"))
            return ny_fail(options->ctx, NY_EUSAGE,
                           "--%s does not act with --approx %s, which takes every row",
                           option->name, method->name);
        if (!method_takes(options, i))
            return ny_fail(options->ctx, NY_EUSAGE,
                           "--%s does not act with --approx %s, which works on all of K",
                           option->name, method->name);
        if (!solver_takes(options, i))
            return ny_fail(options->ctx, NY_EUSAGE,
                           "--%s acts with --approx %s only together with --inner randomized",
                           option->name, method->name);
    }
    return NY_OK;
}

/* Refuses typed parameters that the kernel or the rule in force does not have. */
static int check_tables(const struct ny_options *options)
{
    const struct ny_option_info *option;

    for (int i = 0; (option = ny_option_at(i)); i++) {
        if (!options->typed[i]) continue;
        if (!kernel_takes(options, i))
            return ny_fail(options->ctx, NY_EUSAGE, "--%s does not act on the %s kernel",
                           option->name, kernel_of(options)->name);
        if (!rule_takes(options, i))
            return ny_fail(options->ctx, NY_EUSAGE, "--%s does not act with --select %s%s",
                           option->name, rule_of(options)->name,
                           rule_of(options)->by_tolerance ? " and --tolerance"
                                                          : "; give --select greedy");
    }
    return NY_OK;
}

/* Refuses landmarks that are named twice or not at all, and rules that the method, the map or
 * the kernel in force cannot use. */
static int check_selection(const struct ny_options *options, unsigned groups)
{
    const char *select = ny_options_get(options, "select");
    const struct ny_method *method = groups & NY_GROUP_FIT ? method_of(options) : NULL;
    size_t at;
    const char *named = named_by(options, 0, &at), *also = named_by(options, at + 1, &at);

    if (method && method->all_rows && !rule_of(options)->all)
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--approx %s takes every row; landmarks are selected with another --approx, "
                       "such as projected",
                       method->name);
    if (method && method->whole && is(ny_options_get(options, "kernel"), "precomputed"))
        return ny_fail(
            options->ctx, NY_EUSAGE,
            "--approx %s needs all of K, but --kernel precomputed has only some columns of it",
            method->name);
    if (rule_of(options)->paths && !(groups & NY_GROUP_FIT && ny_options_map(options)->graph))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--select %s follows paths in a graph: it acts only with --map isomap",
                       select);
    if (is(select, "given") && !named)
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--select given needs --landmarks-file F.npy%s --landmarks-points P.npy%s",
                       groups & NY_GROUP_EMBED ? " or" : ",",
                       groups & NY_GROUP_EMBED ? "" : " or --landmarks-from NAME");
    if (also)
        return ny_fail(options->ctx, NY_EUSAGE, "--%s and --%s both name the landmarks; give one",
                       named, also);
    if (is(ny_options_get(options, "kernel"), "precomputed") &&
        !(typed(options, "columns-file") && typed(options, "landmarks-file")))
        return ny_fail(
            options->ctx, NY_EUSAGE,
            "--kernel precomputed needs --columns-file C.npy and --landmarks-file D.npy");
    return NY_OK;
}

/* A dictionary of rows that are named or drawn, whatever is between them. */
static int check_dictionary(const struct ny_options *options)
{
    for (int i = 0; ny_option_at(i); i++)
        if (options->typed[i] && ny_option_rule(i)->acts & NY_ACTS_ON_POINTS &&
            !rule_of(options)->bytes)
            return ny_fail(options->ctx, NY_EUSAGE,
                           "--%s does not act with --select %s, which does not look at the points",
                           ny_option_at(i)->name, rule_of(options)->name);
    return NY_OK;
}

/* One pass: what it finds must not depend on rows to come, nor need a second look. */
static int check_online(const struct ny_options *options)
{
    static const char *const others[] = {"affine", "certify"};

    if (!is(typed(options, "online"), "yes")) return NY_OK;
    if (rule_of(options)->by_tolerance && !typed(options, "tolerance"))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--online needs --tolerance E: without it, greedy passes over the rows many "
                       "times to find one");
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        if (is(typed(options, others[i]), "yes"))
            return ny_fail(options->ctx, NY_EUSAGE,
                           "--%s does not go with --online, %s; leave one of them out", others[i],
                           i ? "which reads all rows once more"
                             : "which projects rows on the span of the landmarks");
    return NY_OK;
}

/* Refuses --affine where neither the rule nor the method knows of an affine hull. */
static int check_affine(const struct ny_options *options, unsigned groups)
{
    const struct ny_method *method = groups & NY_GROUP_FIT ? method_of(options) : NULL;
    char methods[160] = "";

    if (!typed(options, "affine") || rule_of(options)->by_tolerance) return NY_OK;
    if (method && ny_one_of("affine", method->options)) return NY_OK;
    ny_governor_list("approx", "affine", methods, sizeof(methods));
    return ny_fail(options->ctx, NY_EUSAGE, "--affine acts only with --select greedy%s%s",
                   groups & NY_GROUP_FIT ? " or --approx " : "",
                   groups & NY_GROUP_FIT ? methods : "");
}

/* Checks what only a fit has: a kernel that comes with the map, components within the rank, and
 * --affine, which needs a kernel that is centred. */
static int check_fit(const struct ny_options *options)
{
    const struct ny_map *map = ny_options_map(options);
    const struct ny_method *method = method_of(options);
    const char *kernel = ny_options_get(options, "kernel");
    uint64_t components = 0, rank;

    if (map->kernel && !is(kernel, map->kernel) && map->graph)
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--map %s%s has the %s kernel of the lengths of edges; choose its form with "
                       "--edge-weights and --gamma",
                       map->name, of_graph(map), map->kernel);
    if (map->kernel && !is(kernel, map->kernel))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--map %s has the %s kernel, not %s; use --map kpca", map->name, map->kernel,
                       kernel);
    count_of(options, "components", &components);
    if (count_of(options, "rank", &rank) && components + map->divided > rank &&
        !(method && method->rank_of))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--components %llu%s more than --rank %llu; raise --rank",
                       (unsigned long long)components,
                       map->divided ? " and the trivial one are" : " is",
                       (unsigned long long)rank);
    if (map->divided && typed(options, "affine") && is(typed(options, "affine"), "yes"))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--affine does not go with --map %s, whose kernel is not centred",
                       map->name);
    return NY_OK;
}

/* Counts that are kept in an unsigned int. */
static int check_limits(const struct ny_options *options, unsigned groups)
{
    static const char *const names[] = {"degree", "power", "n-init", "max-passes"};
    uint64_t value;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (groups_of(names[i]) & groups && count_of(options, names[i], &value) && value > INT_MAX)
            return ny_fail(options->ctx, NY_EUSAGE, "--%s is at most %d, not %llu", names[i],
                           INT_MAX, (unsigned long long)value);
    return NY_OK;
}

/* Refuses labels that come from two places. */
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
    err = groups & NY_GROUP_FIT ? check_map(options, groups) : NY_OK;
    if (!err && groups & NY_GROUP_FIT) err = check_method(options);
    if (!err) err = check_conditions(options, groups);
    if (!err) err = check_limits(options, groups);
    if (!err && groups & (NY_GROUP_FIT | NY_GROUP_SELECT)) {
        err = check_tables(options);
        if (!err) err = check_selection(options, groups);
        if (!err) err = check_affine(options, groups);
    }
    if (!err && groups & NY_GROUP_SELECT) err = check_dictionary(options);
    if (!err && groups & NY_GROUP_FIT) err = check_online(options);
    if (!err && groups & NY_GROUP_FIT) err = check_fit(options);
    if (!err && groups & NY_GROUP_FIT)
        err = ny_transport_check(options->ctx, ny_options_get(options, "peers"),
                                 typed(options, "peers-wait"));
    if (!err && groups & NY_GROUP_IMPORT) err = check_import(options);
    return err ? err : ny_options_check_edges(options, groups);
}
