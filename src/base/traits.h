/*
 * Traits are what the rows of one thing have in common, so that they can be joined with others: the
 * shards of a store, sums, the rows that a model places. One function compares two of them where
 * parts meet, and says what differs.
 */
#ifndef NY_BASE_TRAITS_H
#define NY_BASE_TRAITS_H

#include "base/names.h"
#include "base/prepare.h"

struct ny_traits {
    uint64_t d; /* columns; 0: nothing is known */
    enum ny_dtype dtype;
    enum ny_row_layout layout;
    struct ny_prepared preparation;
    uint64_t columns; /* digest of their names, in order; 0: they have none */
    uint64_t classes; /* digest of the words of labels, in the order of their numbers; 0: none */
};

/* Traits and what they are those of. */
struct ny_party {
    const char *whose; /* "part.nys", for messages */
    const char *file;  /* the file that they are of; NULL: none, or more than one */
    struct ny_traits traits;
    const struct ny_names *columns; /* a name for each; NULL: the digest alone is known */
};

/* These are to be the same. NAMED: both have names of columns, or neither has; else columns without
 * names are taken as they stand. NOTED: that is logged. */
enum {
    NY_SAME_D = 1,
    NY_SAME_DTYPE = 2,
    NY_SAME_LAYOUT = 4,
    NY_SAME_PREPARATION = 8,
    NY_SAME_COLUMNS = 16,
    NY_SAME_NAMED = 32,
    NY_SAME_NOTED = 64,
    NY_SAME_CLASSES = 128
};

/* Returns the digest of names, 0 if there are none; and of the first `count` of them. */
uint64_t ny_names_digest(const struct ny_names *names);
uint64_t ny_names_digest_of(const struct ny_names *names, size_t count);
/* Compares what is asked for, and always that genotypes, which are no numbers where they are
 * missing, are joined with genotypes alone. NY_EDATA names the first that differs, both values, and
 * how `mine` becomes as `theirs`. Columns of the same names in another order are equal where
 * `place` is given: (*place)[j] is the column of `mine` that is called as column j of `theirs`;
 * ny_free() it. NULL: they stand in the same order. */
int ny_traits_compare(struct ny_context *ctx, const struct ny_party *mine,
                      const struct ny_party *theirs, unsigned same, uint32_t **place);

#endif
