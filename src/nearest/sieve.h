/*
 * Finds the nearest points of rows that are no points, or that are, by a sieve of codes: exactly,
 * or in less time nearly all. It is for rows of more columns than a tree of boxes serves.
 *
 * A code is a row's part in NY_SIEVE_COLUMNS directions, along which a sample of the points is
 * spread most, a byte each. All codes of 60,000 points take 4 MB, and a new row is compared with
 * all of them in some 20 microseconds, by integer products that are exact. A fine code has more
 * directions and more bits. What is near by both is measured in f64, as the exact neighbours of a
 * graph are.
 *
 * exactly    A projection makes no distance longer, and rounding to bytes changes it by no more
 *            than the two errors, of which the greatest is kept. So the nearest by code are
 *            measured; then all points whose code, and fine code, is not too far for the last of
 *            these. The bytes are those of all distances, whatever the codes are worth. Rows of
 *            which too many points remain are compared with all points.
 * nearly     The codes are sorted into cells about centres (Lloyd 1982), and a row looks into the
 *            `cells` whose centres are nearest to its code. The `measured` points that are nearest
 *            there by fine code are measured, and no others. These two numbers, and how far by
 *            code a point may be to be compared by fine code, are learned from rows drawn by hash,
 *            whose neighbours are found exactly, so that the lower end of the 95 % interval of the
 *            recall is what was asked for. Where none are enough, all rows are searched exactly.
 *
 * Neither threads nor the budget change a bit: a code depends on the row's place in the lot at
 * most, and the measured lists on nothing but which points were measured. If the budget does not
 * hold all points, those that some rows of the lot need are gathered at a time (nearest/held.h).
 */
#ifndef NY_NEAREST_SIEVE_H
#define NY_NEAREST_SIEVE_H

#include "nearest/held.h"
#include "nearest/knn.h"

enum {
    NY_SIEVE_COLUMNS = 64, /* bytes of a code, at most */
    NY_SIEVE_FINE = 192,   /* bytes of a fine code, at most */
    NY_SIEVE_REACH = 256,  /* cells that a row looks into, at most */
    NY_SIEVE_WIDTH = 256,  /* points that are measured for a row then, at most */
    NY_SIEVE_ROWS = 256,   /* rows of a lot whose neighbours are found exactly, to learn from */
    NY_SIEVE_PILOT = 512   /* rows of a pilot, at most */
};

struct ny_sieve_worker;

/* The points in the order of their cells; in one cell, that of their numbers. */
struct ny_sieve_cells {
    size_t count;
    uint32_t *begin;            /* count + 1: the places of the points of each */
    uint32_t *row;              /* n: which point is at a place */
    uint32_t *place;            /* n: at which place a point is */
    struct ny_columns *centres; /* their codes, of each cell in order */
};

/* The whole numbers of a code. They are even up to `even` steps, and then grow as a logarithm, up
 * to `end`, which makes no difference of two parts larger. */
struct ny_sieve_scale {
    double step; /* length of prepared rows */
    double even, end;
};

struct ny_sieve {
    struct ny_layout own;
    const struct ny_knn *knn;           /* describes the points, in their own type; t ≤ n */
    const struct ny_columns_spec *spec; /* describes new rows, prepared alike */
    struct ny_held held;
    size_t columns, fine; /* bytes of a code, and of a fine one */
    float *basis;         /* d × fine: orthonormal; a code takes the first ones */
    struct ny_sieve_scale scale, fine_scale;
    double length;            /* the most that a unit vector becomes */
    double error, fine_error; /* the greatest of the points' codes */
    int16_t *fine_code;       /* n × fine: those of the points, by place */
    struct ny_sieve_cells cells;
    struct ny_columns_spec code; /* describes codes */
    struct ny_geometry geometry;
    struct ny_columns *codes;       /* codes of the points, as landmarks, by place */
    const struct ny_scan_ops *scan; /* those of this CPU */
    struct ny_sieve_worker *worker;
};

/* Reads the points and makes their codes, and cells where fewer than all neighbours are to be
 * found; room for `held` of the points, at least ny_sieve_held_least(). NY_EBUDGET, errors of the
 * store, or an interrupt; ny_sieve_release() it then, too. */
int ny_sieve_new(struct ny_sieve *sieve, const struct ny_knn *knn,
                 const struct ny_columns_spec *spec, size_t held, bool nearly);
/* Frees a sieve; right also of a zeroed one. */
void ny_sieve_release(struct ny_sieve *sieve);
/* Returns the fewest points that have to be held: those that are measured for one row. */
size_t ny_sieve_held_least(const struct ny_knn *knn);
/* Counts what ny_sieve_new() and a search of lots of `rows` rows take; points have codes already,
 * but for those of a pilot. */
void ny_sieve_count(struct ny_layout *l, const struct ny_knn *knn,
                    const struct ny_columns_spec *spec, size_t held, size_t rows, bool points);

/* Returns the products that the directions of codes take. */
double ny_sieve_basis_flops(const struct ny_knn *knn);
/* How far a row looks for its neighbours; all 0: as far as it takes to find all of them. */
struct ny_sieve_reach {
    size_t cells;    /* it looks into the nearest of them, */
    size_t measured; /* and measures the nearest by fine code */
    double looked;   /* share of the codes there whose fine codes it looks at, at most */
    double share;    /* of ny_sieve_code_bound(), below which it looks at fine codes */
};
/* Returns how many codes a row compares among n points, of centres and of points. */
double ny_sieve_codes_of(const struct ny_sieve_reach *reach, double n);
/* Returns the nanoseconds of one thread that a row of d columns takes, among n points. */
double ny_sieve_reach_ns(const struct ny_sieve_reach *reach, double n, double d);

/* A lot of rows. */
struct ny_sieve_lot {
    const void *raw;
    size_t count;
    bool points;                        /* they are points, of numbers `before` and on */
    uint64_t before, total;             /* rows before the lot, and in all lots; total 0: one lot */
    double recall;                      /* the share of the true neighbours to find; 1: all */
    bool pilot;                         /* all of the few rows are searched exactly */
    const struct ny_sieve_reach *reach; /* learned before; NULL: some rows of the lot tell */
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
    struct ny_sieve_reach reach; /* the widest */
    struct ny_sieve_work work;   /* of finding the neighbours of these rows exactly */
};

/* Finds the t nearest points of each row of a lot, into out->row and out->distance; NY_NO_ROW where
 * a distance is no number. NY_EBUDGET, errors of the store, or an interrupt. */
int ny_sieve_search(struct ny_sieve *sieve, const struct ny_sieve_lot *lot, struct ny_measured *out,
                    struct ny_sieve_learned *learned);

#endif
