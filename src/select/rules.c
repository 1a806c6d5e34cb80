/* The table of rules, with which a rule is found by its name. */
#include "select/rules.h"

#include <string.h>

/* The rules in the order of the help. A new rule is its file and a line here. */
#define RULES(X)                                                                                   \
    X(ny_rule_uniform)                                                                             \
    X(ny_rule_greedy)                                                                              \
    X(ny_rule_rpcholesky)                                                                          \
    X(ny_rule_weighted)                                                                            \
    X(ny_rule_all)                                                                                 \
    X(ny_rule_maxmin)                                                                              \
    X(ny_rule_given)

#define DECLARE(rule) extern const struct ny_rule rule;
RULES(DECLARE)

#define ENTRY(rule) &rule,
static const struct ny_rule *const rules[] = {RULES(ENTRY)};

const struct ny_rule *ny_rule_at(size_t index)
{
    return index < sizeof(rules) / sizeof(rules[0]) ? rules[index] : NULL;
}

const struct ny_rule *ny_rule_find(const char *name)
{
    const struct ny_rule *rule;

    for (size_t i = 0; (rule = ny_rule_at(i)); i++)
        if (strcmp(rule->name, name) == 0) return rule;
    return NULL;
}
