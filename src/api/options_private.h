/* Shared by api/options*.c. */
#ifndef NY_API_OPTIONS_PRIVATE_H
#define NY_API_OPTIONS_PRIVATE_H

#include "api/option_table.h"
#include "api/options.h"

/* Tells whether the map in force takes an option of graphs; true for other options. */
bool ny_options_of_map(const struct ny_options *options, int option);
/* Returns the name of option `index` of those whose values list what they take; NULL past the last.
 */
const char *ny_governor_at(size_t index);
/* The first of them have tables of entries, whose values and help come from there. */
enum { NY_GOVERNOR_APPROX = 1, NY_GOVERNOR_TABLES = 4 };
/* Returns the name of entry `index` of a table, and what it is; NULL past the last. */
const char *ny_governor_value(size_t governor, size_t index, const char **summary);
/* Says what a governor's value (NULL: it has none) does with an option. */
enum ny_governed {
    NY_GOVERNED_NOT,    /* no value lists it, or is without it */
    NY_GOVERNED_TAKEN,  /* this value takes it */
    NY_GOVERNED_LISTED, /* only others list it */
    NY_GOVERNED_WITHOUT /* this value alone is without it */
};
enum ny_governed ny_governed(size_t governor, const char *value, const char *option);

#endif
