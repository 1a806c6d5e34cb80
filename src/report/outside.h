/*
 * Values of rows that are no part of a result, for its pictures: a column of the store's points, as
 * its readers see them, or a file with one number or one word for each row of the store.
 */
#ifndef NY_REPORT_OUTSIDE_H
#define NY_REPORT_OUTSIDE_H

#include "io/classes.h"
#include "store/store.h"

enum { NY_OUTSIDE_TITLE_BYTES = 96 };

struct ny_outside {
    struct ny_context *ctx;
    struct ny_store *store;
    struct ny_rows_info info;
    char title[NY_OUTSIDE_TITLE_BYTES]; /* the name of the column or of the file */
    uint64_t column;                    /* of the points */
    double *values;                     /* of a file: all of them; NULL: a column of the points */
    struct ny_classes *classes;         /* of a file: its words as they were met, and */
    const char **words;                 /* in their order; their places are the values */
    size_t word_count;                  /* 0: values are numbers */
    uint64_t *local;                    /* room for row numbers and dense rows of the points */
    void *room;
    size_t piece; /* dense rows in the room */
};

/* Finds a column by its name or, where columns have no names, by its number from 0. NY_EUSAGE,
 * NY_EDATA: there is none. Close it after a failure, too. */
int ny_outside_column(struct ny_outside *outside, struct ny_store *store, const char *name);
/* Tells whether a bare name is that of a column. */
int ny_outside_has(struct ny_store *store, const char *name, bool *has);
/* Reads a file of values, .npy, .idx or text, which are held in memory. A word above numbers, or
 * above as many words as the store has rows, is a header; what stands in quotes is a word.
 * NY_EDATA: it has another number of values. */
int ny_outside_file(struct ny_outside *outside, struct ny_store *store, const char *path);
/* Tells whether a text is meant as the name of such a file, by its end. */
bool ny_outside_is_file(const char *text);
/* Sets the values of the rows listed, at most 65,536; NaN where a file has none. */
int ny_outside_read(struct ny_outside *outside, const uint64_t *rows, size_t count, double *values);
/* Returns the names of the words of a file, by their values; *count 0: values are quantities. */
const char *const *ny_outside_words(const struct ny_outside *outside, size_t *count);
/* Compares words for the order of classes: numbers by their values, before all others. */
int ny_outside_compare(const char *x, const char *y);
/* Frees what it holds; zeroed, it is left alone. */
void ny_outside_close(struct ny_outside *outside);

#endif
