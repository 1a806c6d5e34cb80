/*
 * The parameters that entries of tables list, as a kernel does: each is an option of the same name,
 * which acts with the entries that list it, and has its line of help from here
 * (api/option_table.c).
 */
#ifndef NY_BASE_PARAM_H
#define NY_BASE_PARAM_H

#include <stdbool.h>
#include <stddef.h>

enum ny_option_kind {
    NY_SWITCH,      /* yes | no */
    NY_CHOICE,      /* one of the words of `argument`, cut at | */
    NY_TEXT,        /* anything but the empty text */
    NY_COUNT,       /* a whole number, at least `least` */
    NY_NUMBER,      /* a finite number above `least` */
    NY_SHARE,       /* a number above 0, at most 1, or in % at most 100 */
    NY_NUMBER_FROM, /* a finite number, at least `least` */
    NY_WIDTH,       /* a finite number above `least`, or "auto" */
    NY_DURATION,    /* a number of seconds above 0, or with a unit s, m, h or d */
    NY_BYTES        /* a whole number of bytes, or with a unit K M G T (binary) */
};

struct ny_param {
    const char *name;
    enum ny_option_kind kind;
    double least, most; /* most 0: no bound */
    const char *argument, *fallback, *summary;
    bool rare;    /* short help leaves it out */
    bool of_all;  /* records of other entries have it, too, as null */
    size_t gives; /* offset of its double in the parameters of the entry */
};

/* Returns the number that a parameter gives, in the parameters of its entry. */
static inline double *ny_param_value(const struct ny_param *param, void *params)
{
    return (double *)(void *)((char *)params + param->gives);
}

#endif
