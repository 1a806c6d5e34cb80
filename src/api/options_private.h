/* For api/options*.c alone. */
#ifndef NY_API_OPTIONS_PRIVATE_H
#define NY_API_OPTIONS_PRIVATE_H

#include "api/option_table.h"
#include "api/options.h"

/* Whether the map in force has anything to do with an option of graphs; true of others. */
bool ny_options_of_map(const struct ny_options *options, const char *name);

#endif
