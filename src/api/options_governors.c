/* Which methods (--approx) and selection rules (--select) take an option, by their own tables. */
#include <stdio.h>
#include <string.h>

#include "api/options_private.h"
#include "base/text.h"
#include "select/rules.h"
#include "spectral/methods.h"

/* Finds name and options of an entry in the table of methods or rules; no name past the last. */
struct entry {
    const char *name, *options;
};

static struct entry entry_at(const char *governor, size_t index)
{
    const struct ny_method *method = ny_method_at(index);
    const struct ny_rule *rule = ny_rule_at(index);

    if (strcmp(governor, "approx") == 0)
        return method ? (struct entry){method->name, method->options} : (struct entry){0};
    return rule ? (struct entry){rule->name, rule->options} : (struct entry){0};
}

bool ny_governor_takes(const char *governor, const char *name, const char *option)
{
    struct entry entry;

    for (size_t i = 0; (entry = entry_at(governor, i)).name; i++)
        if (strcmp(name, entry.name) == 0) return ny_one_of(option, entry.options);
    return false;
}

const char *ny_governor_list(const char *governor, const char *option, char *text, size_t bytes)
{
    struct entry entry;
    size_t length = 0;

    for (size_t i = 0; (entry = entry_at(governor, i)).name && length < bytes; i++)
        if (ny_one_of(option, entry.options))
            length += (size_t)snprintf(text + length, bytes - length, "%s%s", length ? "|" : "",
                                       entry.name);
    return text;
}
