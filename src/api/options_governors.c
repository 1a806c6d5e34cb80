/*
 * Tells what the values of some options take: maps, methods (--approx), rules (--select), kernels,
 * and words. An option that entries of a table list acts with these alone; one that an entry is
 * without acts with all others.
 */
#include <string.h>

#include "api/option_table.h"
#include "base/text.h"
#include "columns/kernel.h"
#include "model/map.h"
#include "select/rules.h"
#include "spectral/methods.h"

/* The value in force of one may depend on those before it. */
enum { MAP, APPROX = NY_GOVERNOR_APPROX, SELECT, KERNEL, WORDS = NY_GOVERNOR_TABLES };
static const char *const names[] = {"map", "approx", "select",       "kernel",
                                    "knn", "inner",  "edge-weights", "check-rows"};
enum { GOVERNORS = sizeof(names) / sizeof(names[0]) };

struct entry {
    const char *name, *options, *without, *summary; /* no name: past the last */
};

/* Words that are in no table. */
static const struct {
    const char *governor;
    struct entry entry;
} words[] = {
    {"knn", {"auto", "recall", NULL, NULL}},
    {"knn", {"sieve", "recall", NULL, NULL}},
    {"inner", {"exact", NULL, "oversample|power", NULL}},
    {"inner", {"randomized", NULL, "online", NULL}},
    {"edge-weights", {"binary", NULL, "gamma", NULL}},
    {"check-rows", {"0", NULL, "accuracy", NULL}},
};

/* Returns word `index` of those of a governor. */
static struct entry word_at(const char *governor, size_t index)
{
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i].governor, governor) == 0 && index-- == 0) return words[i].entry;
    return (struct entry){0};
}

static struct entry entry_at(size_t governor, size_t index)
{
    const struct ny_map *map = ny_map_at(index);
    const struct ny_method *method = ny_method_at(index);
    const struct ny_rule *rule = ny_rule_at(index);
    const struct ny_kernel *kernel = ny_kernel_at(index);

    if (governor == MAP && map)
        return (struct entry){map->name, map->own, map->without, map->summary};
    if (governor == APPROX && method)
        return (struct entry){method->name, method->options, method->without, method->summary};
    if (governor == SELECT && rule)
        return (struct entry){rule->name, rule->options, NULL, rule->summary};
    if (governor == KERNEL && kernel)
        return (struct entry){kernel->name, kernel->options, kernel->without, kernel->summary};
    return governor < WORDS ? (struct entry){0} : word_at(names[governor], index);
}

/* Tells whether an entry lists the option, or for kernels has it as a parameter. */
static bool lists(size_t governor, struct entry entry, const char *option)
{
    return ny_one_of(option, entry.options) ||
           (governor == KERNEL && ny_kernel_param(ny_kernel_find(entry.name), option));
}

const char *ny_governor_at(size_t index)
{
    return index < GOVERNORS ? names[index] : NULL;
}

const char *ny_governor_value(size_t governor, size_t index, const char **summary)
{
    struct entry entry = entry_at(governor, index);

    *summary = entry.summary;
    return entry.name;
}

enum ny_governed ny_governed(size_t governor, const char *value, const char *option)
{
    enum ny_governed governed = NY_GOVERNED_NOT;
    struct entry entry;

    for (size_t i = 0; (entry = entry_at(governor, i)).name; i++) {
        bool chosen = value && strcmp(value, entry.name) == 0;

        if (lists(governor, entry, option)) {
            if (chosen) return NY_GOVERNED_TAKEN;
            governed = NY_GOVERNED_LISTED;
        }
        if (ny_one_of(option, entry.without)) {
            if (chosen) return NY_GOVERNED_WITHOUT;
            governed = NY_GOVERNED_TAKEN;
        }
    }
    return governed;
}
