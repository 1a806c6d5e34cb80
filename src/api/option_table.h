/*
 * The option table: name, kind of value, least value, argument, default, section, groups, summary,
 * and what else few have. One line an option, and behind "kernel" the parameters that kernels list.
 */
#ifndef NY_API_OPTION_TABLE_H
#define NY_API_OPTION_TABLE_H

#include "api/options.h"
#include "base/param.h"

/* Sections of options, as help shows them, whose options act together: see api/options_rules.c. */
#define NY_SECTION_COLUMNS "Columns"
#define NY_SECTION_KERNEL "Kernel"
#define NY_SECTION_LANDMARKS "Landmarks"
#define NY_SECTION_SOLVER "Solver"
#define NY_SECTION_ERROR "Error"
#define NY_SECTION_NEIGHBORS "Neighbours"
#define NY_SECTION_GRAPHS "Graphs"

/* Above the number of options, so that lists of them need no memory. */
enum { NY_OPTIONS_MAX = 128 };

struct ny_option_rule {
    enum ny_option_kind kind;
    double least;
    bool identity;                /* part of what the result is: counts in ny_options_to_json() */
    const struct ny_param *param; /* what kernels list; NULL: an option of the table */
    double most;                  /* of a count; 0: no bound */
    const char *apart;            /* "a|b": these exclude it */
    bool digest;                  /* of a file, which differs by what it holds, not by its name */
    const char *needs;            /* it acts only with this one, where that can act */
};

/* The index for ny_option_at(), and in every array of as many entries; −1: no such name. */
int ny_option_find(const char *name);
/* Returns the number of options. */
size_t ny_option_count(void);
/* Returns the rule of the option at an index that ny_option_find() gave. */
const struct ny_option_rule *ny_option_rule(int index);

/* The whole text as a whole number of at most INT64_MAX, without a sign. */
bool ny_value_count(const char *text, uint64_t *value);
/* A size such as "2G", "1.5 GiB", "512 mb" or "300000000"; units are powers of 1,024, whatever B or
 * iB they end in. */
bool ny_value_bytes(const char *text, uint64_t *bytes);
/* A time such as "90", "90s", "1.5h" or "2d" (s, m or min, h, d), in seconds; above 0. */
bool ny_value_seconds(const char *text, double *seconds);
/* Reads a percentage, "1%", as a share. */
bool ny_value_percent(const char *text, double *value);
/* Checks a text that is to be the value of option `index`: NY_EUSAGE, with what it should be. */
int ny_value_check(struct ny_context *ctx, int index, const char *value);

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
