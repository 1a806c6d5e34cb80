/*
 * Finds the nearest points of rows that are no points, by a sieve of codes: exactly, or in less
 * time nearly all. It is for dense rows of more columns than a tree of boxes serves.
 *
 * A code is a row's part in NY_SIEVE_COLUMNS directions, along which a sample of the points is
 * spread most, a byte each. All codes of 60,000 points take 4 MB, and a new row is compared with
 * all of them in some 20 microseconds, by integer products that are exact. What is near by code is
 * then measured in f64, as the exact neighbours of a graph are, unless its fine code, which has
 * more directions and more bits, is too far already.
 *
 * exactly    A projection makes no distance longer, and rounding to bytes changes it by no more
 *            than the two errors, of which the greatest is kept. So the nearest by code are
 *            measured; then all points whose code is not too far for the last of these. The bytes
 *            are those of all distances, whatever the codes are worth. Rows of which too many
 *            points remain are compared with all points.
 * nearly     The nearest `width` by code are measured, and no others. How many these have to be is
 *            learned from rows drawn by hash from each lot, whose neighbours are found exactly: the
 *            least width at which the lower end of the 95 % interval of the recall is what was
 *            asked for. These rows keep their exact neighbours. Where no width up to
 *            NY_SIEVE_WIDTH is enough, all rows of the lot are searched exactly.
 *
 * Neither threads nor the budget change a bit: a code depends on the row's place in the lot at
 * most, and the measured lists on nothing but which points were measured. If the budget does not
 * hold all points, those that some rows of the lot need are gathered at a time (nearest/held.h).
 */
#ifndef NY_NEAREST_SIEVE_H
#define NY_NEAREST_SIEVE_H

#include "nearest/forest.h"
#include "nearest/held.h"
#include "nearest/knn.h"

enum {
    NY_SIEVE_COLUMNS = 64, /* bytes of a code, at most */
    NY_SIEVE_FINE = 128,   /* bytes of a fine code, at most */
    NY_SIEVE_WIDTH = 512,  /* points that are measured for a row, at most, where not all count */
    NY_SIEVE_ROWS = 256    /* rows of a lot whose neighbours are found exactly */
};

struct ny_sieve_worker;

struct ny_sieve {
    const struct ny_knn *knn;           /* describes the points, in their own type; t ≤ n */
    const struct ny_columns_spec *spec; /* describes new rows, prepared alike */
    struct ny_held held;
    size_t columns, fine; /* bytes of a code, and of a fine one */
    float *basis;         /* d × fine: orthonormal; a code takes the first ones */
    double step;          /* length of prepared rows for 1 of a code */
    double length;        /* the most that a unit vector becomes */
    double error, fine_error;    /* the greatest of the points' codes */
    int16_t *fine_code;          /* n × fine: those of the points */
    struct ny_columns_spec code; /* describes codes */
    struct ny_geometry geometry;
    struct ny_columns *codes; /* codes of the points, as landmarks */
    struct ny_sieve_worker *worker;
};

/* Reads the points and makes their codes; room for `held` of the points, at least
 * ny_sieve_held_least(). NY_EBUDGET, errors of the store, or an interrupt; ny_sieve_release() it
 * then, too. */
int ny_sieve_new(struct ny_sieve *sieve, const struct ny_knn *knn,
                 const struct ny_columns_spec *spec, size_t held);
/* Frees a sieve; right also of a zeroed one. */
void ny_sieve_release(struct ny_sieve *sieve);
/* Returns the fewest points that have to be held: those that are measured for one row. */
size_t ny_sieve_held_least(const struct ny_knn *knn);
/* Returns the bytes that ny_sieve_new() and a search of lots of `rows` rows charge. */
size_t ny_sieve_bytes(const struct ny_knn *knn, const struct ny_columns_spec *spec, size_t held,
                      size_t rows);

/* A lot of new rows. */
struct ny_sieve_lot {
    const void *raw;
    size_t count;
    uint64_t before, total; /* rows before the lot, and in all lots; total 0: one lot */
    double recall;          /* the share of the true neighbours to find; 1: all */
    bool pilot;             /* all of the few rows are searched exactly, and learned from */
};
/* The work of rows that are searched exactly, beside comparing codes. */
struct ny_sieve_work {
    double looked;   /* points whose fine codes were looked at */
    double measured; /* points that were measured */
    double left;     /* rows that were compared with all points */
};
/* The findings of the rows that were drawn, in one lot or more; all 0 at first. */
struct ny_sieve_learned {
    double found, squares, rows; /* true neighbours found: their sum, and that of the squares */
    size_t width;                /* the greatest width; 0: all rows were searched exactly */
    struct ny_sieve_work work;   /* of finding the neighbours of these rows exactly */
};

/* Finds the t nearest points of each row of a lot, into out->row and out->distance; NY_NO_ROW where
 * a distance is no number. NY_EBUDGET, errors of the store, or an interrupt. */
int ny_sieve_search(struct ny_sieve *sieve, const struct ny_sieve_lot *lot, struct ny_measured *out,
                    struct ny_sieve_learned *learned);

#endif
