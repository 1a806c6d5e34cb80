#include "job/facts.h"

#include <string.h>

static const struct ny_fact facts[] = {NY_FACTS(NY_FACT)};

const struct ny_fact *ny_fact_at(size_t i)
{
    return i < sizeof(facts) / sizeof(facts[0]) ? &facts[i] : NULL;
}

const struct ny_fact *ny_fact_find(const char *key)
{
    const struct ny_fact *fact;

    for (size_t i = 0; (fact = ny_fact_at(i)); i++)
        if (strcmp(fact->key, key) == 0) return fact;
    return NULL;
}

const struct ny_fact *ny_fact_placed(unsigned place)
{
    const struct ny_fact *fact;

    for (size_t i = 0; (fact = ny_fact_at(i)); i++)
        if (fact->place == place) return fact;
    return NULL;
}
