/* Shared by api/options*.c. */
#ifndef NY_API_OPTIONS_PRIVATE_H
#define NY_API_OPTIONS_PRIVATE_H

#include "api/option_table.h"
#include "api/options.h"

/* Tells whether the map in force takes an option of graphs; true for other options. */
bool ny_options_of_map(const struct ny_options *options, int option);
/* Tells whether the method or rule `name`, in the table of its governor "approx" or "select", takes
 * the option. */
bool ny_governor_takes(const char *governor, const char *name, const char *option);
/* Writes "a|b|c", those that take the option, to `text`, which it returns. */
const char *ny_governor_list(const char *governor, const char *option, char *text, size_t bytes);
/* Checks what goes with --edges, and the words of --edge-weights; a part of ny_options_check(). */
int ny_options_check_edges(const struct ny_options *options, unsigned groups);
/* Refuses an option of a graph that is to be made, beside one that has been: NY_EUSAGE. */
int ny_options_refuse_made(const struct ny_options *options, const char *option, const char *graph);

#endif
