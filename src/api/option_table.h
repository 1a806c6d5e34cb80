/*
 * The option table: name, kind of value, least value, argument, default, section, groups, what the
 * option acts with, summary. One line an option; ny_options_set(), --help, the man page and the
 * completions read it.
 */
#ifndef NY_API_OPTION_TABLE_H
#define NY_API_OPTION_TABLE_H

#include "base/context.h"

enum ny_option_kind {
    NY_SWITCH,      /* yes | no */
    NY_CHOICE,      /* one of the words of `argument`, cut at | */
    NY_TEXT,        /* anything but the empty text */
    NY_COUNT,       /* a whole number, at least `least` */
    NY_NUMBER,      /* a finite number above `least` */
    NY_NUMBER_FROM, /* a finite number, at least `least` */
    NY_WIDTH,       /* a finite number above `least`, or "auto" */
    NY_DURATION,    /* a number of seconds above 0, or with a unit s, m, h or d */
    NY_BYTES        /* a whole number of bytes, or with a unit K M G T (binary) */
};

/* An option acts where these are there, or in force; without any of them it always does. */
enum ny_option_acts {
    NY_ACTS_ON_GAMMA = 1,        /* kernels with a gamma, */
    NY_ACTS_ON_SIGMA = 2,        /* or with a sigma beside it; */
    NY_ACTS_ON_DEGREE = 4,       /* polynomial ones */
    NY_ACTS_ON_TOLERANCE = 8,    /* rules that select to a tolerance; */
    NY_ACTS_ON_SEARCH = 16,      /* such rules, while a tolerance has to be found */
    NY_ACTS_ON_POINTS = 32,      /* rules that look at the points, for a dictionary */
    NY_ACTS_ON_LANDMARKS = 64,   /* methods with landmarks: not those that work on all of K */
    NY_ACTS_ON_RANDOMIZED = 128, /* with projected: its randomized solver */
    NY_ACTS_OF_KERNELS = 256,    /* maps of kernels, and of a graph those that list it */
    NY_ACTS_OF_GRAPHS = 512,     /* maps of graphs */
    NY_ACTS_OF_NEW_GRAPH = 1024  /* a graph that is made, not one that is there */
};

struct ny_option_rule {
    enum ny_option_kind kind;
    double least;
    bool identity; /* part of what the result is: counts in ny_options_to_json() */
    unsigned acts; /* flags of enum ny_option_acts */
};

/* The index for ny_option_at(), and in every array of as many entries; −1: no such name. */
int ny_option_find(const char *name);
/* Returns the number of options. */
size_t ny_option_count(void);
/* Returns the rule of the option at an index that ny_option_find() gave. */
const struct ny_option_rule *ny_option_rule(int index);

#endif
