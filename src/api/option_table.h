/*
 * The option table: name, kind of value, least value, argument, default, section, groups, summary.
 * One line an option; ny_options_set(), --help, the man page and the completions read it.
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
    NY_BYTES        /* a whole number of bytes, or with a unit K M G T (binary) */
};

struct ny_option_rule {
    enum ny_option_kind kind;
    double least;
    bool identity; /* part of what the result is: counts in ny_options_to_json() */
};

/* The index for ny_option_at(), and in every array of as many entries; −1: no such name. */
int ny_option_find(const char *name);
size_t ny_option_count(void);
const struct ny_option_rule *ny_option_rule(int index);

#endif
