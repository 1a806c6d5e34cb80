/*
 * The columns that count: --features. A fit chooses them once, before columns are scaled; a column
 * that is not chosen has factor 0 in the geometry, so that everything that goes by the geometry,
 * a model and an update among them, keeps to the choice without knowing of it.
 */
#ifndef NY_COLUMNS_CHOICE_H
#define NY_COLUMNS_CHOICE_H

#include "base/layout.h"
#include "stream/rows.h"

enum ny_choice_rule {
    NY_CHOOSE_ALL,
    NY_CHOOSE_VARIABLE, /* columns/dispersion.c */
    NY_CHOOSE_VARIANCE, /* columns of the largest variance of prepared values */
    NY_CHOOSE_MIN_ROWS, /* columns with a value that is not 0 in at least so many rows */
    NY_CHOOSE_MAF,      /* genotypes whose rarer allele has a frequency of at least the share */
    NY_CHOOSE_MISSING,  /* genotypes of which no larger share is missing */
    NY_CHOOSE_LISTED
};

struct ny_column_choice {
    enum ny_choice_rule rule;
    size_t number;          /* N of the rule, at least 1; how many are listed */
    const uint64_t *listed; /* their numbers, ascending, below d; borrowed */
    double share;           /* of the rules of genotypes */
};

/* Sets chosen[k], d bytes, to 1 or 0. Ties go to the lower column. With no workers no row is
 * read: a choice that would take a pass is guessed from the statistics, for plans. NY_EUSAGE where
 * there are not so many columns, NY_EDATA where none is left, or none that varies, and where
 * `variable` meets a negative value. */
int ny_choose_columns(const struct ny_column_choice *choice, struct ny_rows *X,
                      const struct ny_rows_stats *stats, unsigned workers, unsigned char *chosen);
/* Tells whether the choice takes a pass over these points. */
bool ny_choice_visits(const struct ny_column_choice *choice, const struct ny_rows_info *points);
/* Counts what it charges. */
void ny_choice_count(struct ny_layout *l, const struct ny_column_choice *choice,
                     const struct ny_rows_info *points, unsigned workers);

/* Sets score[k], d numbers, to how variable a column is, NaN where that has no meaning. */
int ny_dispersion_scores(struct ny_rows *X, const struct ny_rows_stats *stats, double *score);
/* Tells whether they take a pass over these points: the statistics are not those of the values
 * before --values. */
bool ny_dispersion_visits(const struct ny_rows_info *points);
/* Counts what the scores charge. */
void ny_dispersion_count(struct ny_layout *l, const struct ny_rows_info *points);

#endif
