/* The fields of a set of options; for api/options*.c alone. */
#ifndef NY_API_OPTIONS_PRIVATE_H
#define NY_API_OPTIONS_PRIVATE_H

#include "api/option_table.h"
#include "api/options.h"

struct ny_options {
    struct ny_context *ctx;
    char **typed; /* ny_option_count() texts; NULL where the user set nothing */
};

#endif
