/* The fields of a set of options; for api/options*.c alone. */
#ifndef NY_API_OPTIONS_PRIVATE_H
#define NY_API_OPTIONS_PRIVATE_H

#include "api/option_table.h"
#include "api/options.h"

struct ny_options {
    struct ny_context *ctx;
    char **typed; /* ny_option_count() texts; NULL where the user set nothing */
};

/* Whether the map in force has anything to do with an option of graphs; true of others. */
bool ny_options_of_map(const struct ny_options *options, const char *name);

#endif
