/*
 * The option table: name, kind of value, least value, argument, default, section, groups, what the
 * option acts with, summary. One line an option, and behind "kernel" the parameters that kernels
 * list; ny_options_set(), --help, the man page and the completions read it.
 */
#ifndef NY_API_OPTION_TABLE_H
#define NY_API_OPTION_TABLE_H

#include "base/context.h"
#include "base/param.h"

/* An option acts where these are there, or in force; without any of them it always does. */
enum ny_option_acts {
    NY_ACTS_ON_POINTS = 1,   /* rules that look at the points, for a dictionary */
    NY_ACTS_OF_KERNELS = 2,  /* maps of kernels, and of a graph those that list it */
    NY_ACTS_OF_GRAPHS = 4,   /* maps of graphs */
    NY_ACTS_OF_NEW_GRAPH = 8 /* a graph that is made, not one that is there or comes from a file */
};

/* Above the number of options, so that lists of them need no memory. */
enum { NY_OPTIONS_MAX = 128 };

struct ny_option_rule {
    enum ny_option_kind kind;
    double least;
    bool identity; /* part of what the result is: counts in ny_options_to_json() */
    unsigned acts; /* flags of enum ny_option_acts */
    const struct ny_param *param; /* what kernels list; NULL: an option of the table */
};

/* The index for ny_option_at(), and in every array of as many entries; −1: no such name. */
int ny_option_find(const char *name);
/* Returns the number of options. */
size_t ny_option_count(void);
/* Returns the rule of the option at an index that ny_option_find() gave. */
const struct ny_option_rule *ny_option_rule(int index);

#endif
