/* The inside of a dictionary, for the rules that grow it. */
#ifndef NY_SELECT_DICTIONARY_PRIVATE_H
#define NY_SELECT_DICTIONARY_PRIVATE_H

#include "select/dictionary.h"

/* A million landmarks: their factor alone would take 6 TB. */
enum { NY_PANELS_MAX = 4096 };

/* NY_DICTIONARY_PANEL columns of the kernel and the rows of L that belong to them. A panel stays
 * where it is, so that workers may read what is in it while the next row is written. */
struct ny_panel {
    struct ny_layout own;
    struct ny_columns *columns; /* its landmarks, in order */
    double *L;                  /* NY_DICTIONARY_PANEL × (b + 1)·NY_DICTIONARY_PANEL in panel b */
    float *L32;                 /* L rounded to f32 */
    double shift[NY_DICTIONARY_PANEL]; /* affine: k(x₁,y_j) − k(x₁,x₁) */
};

/* The first `rank` columns, as they were at some moment: what workers screen against. The tail is
 * the last panel's landmarks where it was not full: a copy, or the panel's own where nobody
 * appends. */
struct ny_prefix {
    size_t rank;
    bool started;   /* there is a landmark; with the affine hull, rank is 0 after the first */
    double largest; /* of k(y,y) (and k′(y,y)) over the landmarks */
    const struct ny_columns *tail;
};

struct ny_dictionary {
    struct ny_layout own; /* the dictionary without a row */
    struct ny_columns_spec spec;
    struct ny_dictionary_options options;
    struct ny_columns
        *none; /* a set without landmarks, which prepares rows and measures diagonals */
    struct ny_columns *origin; /* affine: x₁ alone */
    double origin_k;           /* k(x₁,x₁) */
    double largest;
    size_t count, rank; /* m; rows of L, m − 1 with the affine hull */
    uint64_t *rows;
    size_t rows_capacity;
    struct ny_panel **panels; /* NY_PANELS_MAX places */
    struct ny_columns *all;   /* made by ny_dictionary_columns() */
};

/* Returns the columns of panel number `panel`: all of L that its rows have. */
static inline size_t ny_panel_stride(size_t panel)
{
    return (panel + 1) * NY_DICTIONARY_PANEL;
}

/* Returns the prefix that is the whole dictionary as it is now; its tail is the panel's own. */
struct ny_prefix ny_dictionary_now(const struct ny_dictionary *dictionary);
/* Copies the landmarks of the panel that is partly filled at `rank`; *tail is NULL where rank is at
 * the border of a panel. */
int ny_dictionary_tail(struct ny_columns **tail, const struct ny_dictionary *dictionary,
                       size_t rank);
/* Returns the columns of panel b that a reader of the prefix may use. */
static inline const struct ny_columns *ny_prefix_columns(const struct ny_dictionary *dictionary,
                                                         const struct ny_prefix *prefix, size_t b)
{
    return b < prefix->rank / NY_DICTIONARY_PANEL ? dictionary->panels[b]->columns : prefix->tail;
}

/* Adds the first landmark, whose k(x₁,x₁) is `k`. It becomes the origin of the affine hull. */
int ny_dictionary_start(struct ny_dictionary *dictionary, uint64_t row, struct ny_raw_rows raw,
                        double k);

/* A row of L: Z = L⁻¹k of the columns that were there, then `more` entries for those added since,
 * then the pivot √δ. */
struct ny_factor_row {
    const double *Z, *more;
    size_t Z_count, more_count;
    double pivot;
};
/* Adds the row of L, and the row's number; its column is added by ny_dictionary_extend(), which
 * must follow with the raw rows of all that were pushed since, packed, and their
 * k(x₁,y) (affine, else NULL). `largest` of the dictionary is raised to `largest`. */
int ny_dictionary_push(struct ny_dictionary *dictionary, uint64_t row,
                       const struct ny_factor_row *factor, double largest);
/* Appends the raw rows of all that were pushed since, as columns of the panels they belong to. */
int ny_dictionary_extend(struct ny_dictionary *dictionary, struct ny_raw_rows raw, size_t count,
                         const double *origin_k);

/* Goes back to the first `count` landmarks, and to the `largest` of that time. */
int ny_dictionary_truncate(struct ny_dictionary *dictionary, size_t count, double largest);

#endif
