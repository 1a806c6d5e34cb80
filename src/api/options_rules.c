/*
 * The rules of options together: defaults that others imply, and options that exclude each other.
 * An option that would be accepted and ignored is refused instead.
 *
 * ny_options_get(), through which the typed getters read, returns the value in force: the typed
 * one, none where the option cannot act, else the default. ny_options_check() refuses typed options
 * that cannot act. Both ask bar_of(), so that a default and a refusal never contradict each other.
 */
#include <string.h>

#include "api/option_table.h"
#include "base/text.h"
#include "peers/open.h"
#include "model/map.h"
#include "select/rules.h"
#include "spectral/methods.h"

/* Returns what the user has set, whether it can act or not. */
static const char *typed(const struct ny_options *options, const char *name)
{
    return options->typed[ny_option_find(name)];
}

static bool is(const char *text, const char *word)
{
    return text && strcmp(text, word) == 0;
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

/* Returns what stands in for the method in force with a typed --inner randomized; NULL: nothing
 * does, and then its own solver is exact, randomized, or chosen by size. */
static const struct ny_method *randomized_of(const struct ny_options *options)
{
    const struct ny_method *method = method_of(options);

    return method ? ny_method_by_products(method) : NULL;
}

const struct ny_map *ny_options_map(const struct ny_options *options)
{
    const struct ny_map *map = ny_map_find(ny_options_get(options, "map"));
    bool graph = typed(options, "graph") || typed(options, "neighbors");

    return map->of_graph && graph ? map->of_graph : map;
}

/* Tells whether an option is in one of these sections, "A|B". */
static bool in_sections(int option, const char *sections)
{
    return ny_one_of(ny_option_at(option)->section, sections);
}

/* The sections of options that maps of kernels alone take, all of them, and maps of graphs alone. A
 * map of a graph may list some of the first, and entries of tables what they take of either. */
#define OF_KERNELS                                                                                 \
    NY_SECTION_KERNEL "|" NY_SECTION_LANDMARKS "|" NY_SECTION_SOLVER "|" NY_SECTION_ERROR
#define OF_GRAPHS NY_SECTION_NEIGHBORS "|" NY_SECTION_GRAPHS

bool ny_options_of_map(const struct ny_options *options, int option)
{
    return !in_sections(option, OF_GRAPHS) || ny_options_map(options)->graph;
}

/* Tells whether an option names the landmarks. */
static bool names_landmarks(const struct ny_options *options)
{
    return typed(options, "landmarks-file") || typed(options, "landmarks-points") ||
           typed(options, "landmarks-from");
}

/* Returns the rule that suits the method in force best. */
static const char *default_rule(const struct ny_options *options)
{
    const struct ny_method *method = method_of(options);

    if (names_landmarks(options)) return "given";
    if (is(typed(options, "online"), "yes") && !(method && method->all_rows)) return "greedy";
    return method ? method->rule : "uniform";
}

/* Tells whether the option is one of landmarks, or of a solver that this method does not have. */
static bool needs_another(const char *method, int option)
{
    const char *name = ny_option_at(option)->name;

    return in_sections(option, NY_SECTION_LANDMARKS) || is(name, "averages") ||
           ny_governed(NY_GOVERNOR_APPROX, method, name) > NY_GOVERNED_TAKEN;
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
    return is(name, "landmarks") &&
           (typed(options, "accuracy") || typed(options, "trace-error") ||
            (rule_of(options)->by_tolerance && typed(options, "tolerance")));
}

/* ---- what acts ---------------------------------------------------------------------------- */

/* This keeps an option from acting: the value of another one, or any (NULL). No option: nothing
 * does. */
struct bar {
    const char *option, *value;
};

/* Returns the value of a governor that decides. A method with a stand-in solves exactly, unless the
 * stand-in is typed. */
static const char *governing(const struct ny_options *options, const char *governor)
{
    const char *value = ny_options_get(options, governor);

    return is(governor, "inner") && !is(value, "randomized") && randomized_of(options) ? "exact"
                                                                                       : value;
}

/* Returns the first governor, among the options of these groups, whose value does not take the
 * option. One without a value takes all. */
static struct bar governor_bar(const struct ny_options *options, const char *option,
                               unsigned groups)
{
    const char *name, *value;

    for (size_t i = 0; (name = ny_governor_at(i)); i++) {
        if (ny_governed(i, NULL, option) == NY_GOVERNED_NOT ||
            !(ny_option_at(ny_option_find(name))->groups & groups))
            continue;
        value = governing(options, name);
        if (value && ny_governed(i, value, option) > NY_GOVERNED_TAKEN)
            return (struct bar){name, value};
    }
    return (struct bar){0};
}

/* The sections of a graph that is made; and of rules that look at the points, for a dictionary. */
#define OF_NEW_GRAPH NY_SECTION_NEIGHBORS "|" NY_SECTION_COLUMNS
#define ON_POINTS NY_SECTION_KERNEL "|" NY_SECTION_COLUMNS

/* Returns what keeps an option from acting in a call that takes these groups of options; 0: in any
 * call. */
static struct bar bar_of(const struct ny_options *options, int option, unsigned groups)
{
    const char *name = ny_option_at(option)->name, *graph = typed(options, "graph");
    const struct ny_method *method;
    const struct ny_map *map;

    if (in_sections(option, OF_KERNELS) && (!groups || groups & NY_GROUP_FIT)) {
        map = ny_options_map(options);
        if (map->graph && !ny_one_of(name, map->options)) return (struct bar){"map", map->name};
    }
    if (groups & NY_GROUP_FIT && !ny_options_of_map(options, option))
        return (struct bar){"map", ny_options_map(options)->name};
    if (in_sections(option, OF_NEW_GRAPH) && graph) return (struct bar){"graph", graph};
    if (in_sections(option, OF_NEW_GRAPH) && typed(options, "edges") &&
        !ny_options_map(options)->graph) /* which makes its own, if --edges of no fit is set */
        return (struct bar){"edges", NULL};
    if (in_sections(option, NY_SECTION_LANDMARKS) && !is(name, "landmarks") &&
        (method = method_of(options)) && !method->rule)
        return (struct bar){"approx", method->name};
    if (is(name, "pilot") && typed(options, "tolerance"))
        return (struct bar){"tolerance", typed(options, "tolerance")};
    /* a dictionary of rows that are named or drawn, whatever is between them */
    if (groups & NY_GROUP_SELECT && in_sections(option, ON_POINTS) && !rule_of(options)->count)
        return (struct bar){"select", rule_of(options)->name};
    return governor_bar(options, name, groups ? groups : ~0u);
}

const char *ny_options_get(const struct ny_options *options, const char *name)
{
    int index = options && name ? ny_option_find(name) : -1;
    const char *value;

    if (index < 0) return NULL;
    if (options->typed[index]) return options->typed[index];
    if (bar_of(options, index, 0).option) return NULL;
    return implied(options, name, &value) ? value : ny_option_at(index)->fallback;
}

/* ---- refusals ----------------------------------------------------------------------------- */

/* Tells whether an option is typed in a call of these groups, and no switch that is off. */
static bool counts(const struct ny_options *options, int option, unsigned groups)
{
    return options->typed[option] && ny_option_at(option)->groups & groups &&
           !is(options->typed[option], "no");
}

/* Refuses two typed options of which one excludes the other. */
static int check_apart(const struct ny_options *options, unsigned groups)
{
    const struct ny_option_info *one, *other;

    for (int i = 0; (one = ny_option_at(i)); i++)
        for (int j = 0; counts(options, i, groups) && (other = ny_option_at(j)); j++)
            if (counts(options, j, groups) && ny_one_of(other->name, ny_option_rule(i)->apart))
                return ny_fail_both(options->ctx, one->name, other->name);
    return NY_OK;
}

/* Reads the whole number in force; false where the option has no value. */
static bool count_of(const struct ny_options *options, const char *name, uint64_t *count)
{
    const char *text = ny_options_get(options, name);

    return text && ny_value_count(text, count);
}

/* Refuses typed options that cannot act in a call of these groups. */
static int check_acts(const struct ny_options *options, unsigned groups)
{
    const struct ny_option_info *option;
    struct bar bar;

    for (int i = 0; (option = ny_option_at(i)); i++) {
        if (!options->typed[i] || !(option->groups & groups)) continue;
        bar = bar_of(options, i, groups);
        if (bar.option) return ny_fail_beside(options->ctx, option->name, bar.option, bar.value);
    }
    return NY_OK;
}

/* Refuses typed options that act only with another one, which could act here and is not typed. */
static int check_needs(const struct ny_options *options, unsigned groups)
{
    const struct ny_option_info *option;

    for (int i = 0; (option = ny_option_at(i)); i++) {
        const char *needed = ny_option_rule(i)->needs;
        int other = needed ? ny_option_find(needed) : -1;

        if (other >= 0 && counts(options, i, groups) && !options->typed[other] &&
            ny_option_at(other)->groups & groups && !bar_of(options, other, groups).option)
            return ny_fail(options->ctx, NY_EUSAGE, "--%s acts only with --%s", option->name,
                           needed);
    }
    return NY_OK;
}

/* Refuses methods and rules that the map of a graph in force does not take. */
static int check_map(const struct ny_options *options)
{
    const struct ny_map *map = ny_options_map(options);

    if (!map->graph || !map->methods) return NY_OK;
    if (!ny_one_of(ny_options_get(options, "approx"), map->methods))
        return ny_fail_beside(options->ctx, "approx", "map", map->name);
    if (ny_rule_reads(rule_of(options)))
        return ny_fail_beside(options->ctx, "select", "map", map->name);
    return NY_OK;
}

/* Refuses landmarks that are not named, and rules that the method, the map or
 * the kernel in force cannot use. */
static int check_selection(const struct ny_options *options, unsigned groups)
{
    const char *select = ny_options_get(options, "select");
    const struct ny_method *method = groups & NY_GROUP_FIT ? method_of(options) : NULL;

    if (method && method->all_rows && !rule_of(options)->all)
        return ny_fail_beside(options->ctx, "select", "approx", method->name);
    if (method && method->whole && is(ny_options_get(options, "kernel"), "precomputed"))
        return ny_fail_beside(options->ctx, "kernel", "approx", method->name);
    if (rule_of(options)->paths && !(groups & NY_GROUP_FIT && ny_options_map(options)->graph))
        return ny_fail_only(options->ctx, "select", "--map isomap where it follows paths");
    if (is(select, "given") && !names_landmarks(options))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--select given needs --landmarks-file, --landmarks-points or "
                       "--landmarks-from");
    if (is(ny_options_get(options, "kernel"), "precomputed") &&
        !(typed(options, "columns-file") && typed(options, "landmarks-file")))
        return ny_fail(options->ctx, NY_EUSAGE,
                       "--kernel precomputed needs --columns-file and --landmarks-file");
    return NY_OK;
}

/* Refuses --affine where neither the rule nor the method knows of an affine hull. */
static int check_affine(const struct ny_options *options, unsigned groups)
{
    const struct ny_method *method = groups & NY_GROUP_FIT ? method_of(options) : NULL;

    if (!typed(options, "affine") || rule_of(options)->by_tolerance) return NY_OK;
    if (method && method->affine) return NY_OK;
    return ny_fail_only(options->ctx, "affine", "--select greedy or --approx projected");
}

/* Checks what only a fit has: a kernel that comes with the map, components within the rank, and
 * --affine, which needs a kernel that is centred. */
static int check_fit(const struct ny_options *options)
{
    const struct ny_map *map = ny_options_map(options);
    const struct ny_method *method = method_of(options);
    const char *kernel = ny_options_get(options, "kernel");
    uint64_t components = 0, rank;

    if (map->kernel && !is(kernel, map->kernel))
        return ny_fail_beside(options->ctx, "kernel", "map", map->name);
    count_of(options, "components", &components);
    if (count_of(options, "rank", &rank) && components + map->divided > rank &&
        !(method && method->rank_of))
        return ny_fail(options->ctx, NY_EUSAGE, "--components needs a --rank above %llu",
                       (unsigned long long)rank);
    if (map->divided && typed(options, "affine") && is(typed(options, "affine"), "yes"))
        return ny_fail_beside(options->ctx, "affine", "map", map->name);
    return NY_OK;
}

/* Refuses weights of edges that are for another verb. */
static int check_weights(const struct ny_options *options, unsigned groups)
{
    const char *weights = typed(options, "edge-weights");
    bool graph = groups & NY_GROUP_GRAPH, given = ny_one_of(weights, "lengths|affinity");

    if (!weights || given == graph || !(groups & (NY_GROUP_GRAPH | NY_GROUP_FIT))) return NY_OK;
    return ny_fail_value(options->ctx, "edge-weights",
                         graph ? "lengths or affinity" : "heat or binary", weights);
}

int ny_options_check(const struct ny_options *options, unsigned groups)
{
    bool fits = groups & NY_GROUP_FIT, selects = groups & (NY_GROUP_FIT | NY_GROUP_SELECT);
    int err;

    ny_error_clear(options->ctx);
    err = check_apart(options, fits ? groups | NY_GROUP_UPDATE : groups);
    if (!err) err = check_acts(options, groups);
    if (!err && fits) err = check_map(options);
    if (!err && selects) err = check_selection(options, groups);
    if (!err && selects) err = check_affine(options, groups);
    if (!err) err = check_needs(options, groups);
    if (!err && fits) err = check_fit(options);
    if (!err && selects)
        err = ny_transport_check(options->ctx, ny_options_get(options, "peers"),
                                 typed(options, "peers-wait"));
    return err ? err : check_weights(options, groups);
}
