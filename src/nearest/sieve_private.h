/* Shared by the files of the sieve. */
#ifndef NY_NEAREST_SIEVE_PRIVATE_H
#define NY_NEAREST_SIEVE_PRIVATE_H

#include <stdatomic.h>

#include "base/prefetch.h"
#include "columns/vector.h"
#include "nearest/knn_private.h"
#include "nearest/neighbors.h"
#include "nearest/one_row.h"
#include "nearest/sieve.h"

enum {
    NY_SIEVE_STRIP = 256, /* rows whose codes are made, or looked up, at a time */
    NY_SIEVE_PIECE = 32   /* points that are measured at a time */
};

/* The room of a thread that makes codes, compares them, and measures rows. */
struct ny_sieve_worker {
    double *prepared;                /* d */
    float *narrow, *parts;           /* strip × d, strip × fine */
    struct ny_columns *own;          /* codes of new rows, a strip */
    struct ny_columns_workspace *in; /* workspace of the columns */
    float *tile;                     /* strip × NY_WATCH_COLS */
    struct ny_one_row one;
    char *raw;      /* NY_SIEVE_PIECE rows of the type of new rows */
    double *values; /* NY_SIEVE_PIECE */
    /* Rows of a strip by the cells that they look into next, and where those of each cell end. */
    uint32_t *visitors;       /* strip × NY_SIEVE_REACH */
    uint32_t *visits;         /* a cell */
    double error, fine_error; /* the greatest of the codes that it has made */
    uint64_t looked;          /* points whose fine codes it has looked at */
};

/* Lays out the buffers of a worker. */
void ny_sieve_worker_lay(struct ny_layout *l, struct ny_sieve_worker *worker,
                         const struct ny_columns_spec *spec, const struct ny_columns_spec *code,
                         size_t fine);

/* Sorts the codes of all points (n × columns) into cells, one where there are few or not all
 * neighbours are to be found by them, and makes them the landmarks of the sieve. NY_EBUDGET, or an
 * interrupt. */
int ny_sieve_cells_new(struct ny_sieve *sieve, const uint8_t *code, bool nearly);
/* Counts the cells of n points, and what is charged for a while to make them; `code` describes
 * codes. */
void ny_sieve_cells_count(struct ny_layout *l, const struct ny_columns_spec *code, size_t n,
                          unsigned workers);
void ny_sieve_cells_making_count(struct ny_layout *l, size_t n);
/* Returns the cell that has a place. */
size_t ny_sieve_cell_of(const struct ny_sieve_cells *cells, size_t place);

/* Makes the directions, and the scales and length that go with them, from a sample of the points.
 * NY_EBUDGET, or errors of the store; NY_ENUMERIC where the sample is not finite. */
int ny_sieve_basis(struct ny_sieve *sieve);
/* Counts what it holds. */
void ny_sieve_basis_count(struct ny_layout *l, const struct ny_knn *knn);

/* Codes (count × columns) and fine codes (count × fine), and their errors (count), in their steps.
 */
struct ny_sieve_codes {
    size_t count;
    uint8_t *code;
    int16_t *fine;
    double *error, *fine_error;
};
/* The largest number of a code. */
enum { NY_SIEVE_END = 127 };

/* Returns the codes of rows from `first` on, at most `count` of them. */
static inline struct ny_sieve_codes ny_sieve_codes_from(const struct ny_sieve *sieve,
                                                        const struct ny_sieve_codes *all,
                                                        size_t first, size_t count)
{
    size_t left = all->count - first;

    return (struct ny_sieve_codes){left < count ? left : count, all->code + first * sieve->columns,
                                   all->fine + first * sieve->fine, all->error + first,
                                   all->fine_error + first};
}
/* Lays out room for so many codes and their errors; codes->fine unless it is there. */
void ny_sieve_codes_lay(struct ny_layout *l, struct ny_sieve_codes *codes,
                        const struct ny_sieve *sieve, size_t count);

/* Makes codes of out->count raw rows, at most NY_SIEVE_STRIP, which `columns` prepares. A row
 * has one code, whichever strip it comes in. */
void ny_sieve_strip(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                    const struct ny_columns *columns, struct ny_raw_rows rows,
                    const struct ny_sieve_codes *out);

/* Counts what a search of lots of `rows` rows takes beside the workers; `coded` of them are given
 * codes. */
void ny_sieve_search_count(struct ny_layout *l, const struct ny_knn *knn,
                           const struct ny_columns_spec *spec, size_t rows, size_t coded);
/* Counts what the workers of a sieve hold. */
void ny_sieve_workers_count(struct ny_layout *l, const struct ny_knn *knn,
                            const struct ny_columns_spec *spec, const struct ny_columns_spec *code);

/* A point that is near to a row, and their squared distance by code, or by fine code. */
struct ny_sieve_hit {
    float square;
    uint32_t row;
};
/* The hits of some rows, `room` for each, and of these the first `used`. */
struct ny_sieve_hits {
    size_t room;
    struct ny_sieve_hit *hit; /* rows × room */
    uint32_t *used;           /* rows; above room: there was no room for all */
};
/* Rows that are looked up together, at most NY_SIEVE_STRIP. */
struct ny_sieve_rows {
    size_t count;
    const uint8_t *code;              /* count × columns */
    const int16_t *fine;              /* count × fine */
    const double *bound, *fine_bound; /* squared distances by code, and by fine code */
    struct ny_sieve_hits hits;
};
/* Finds the `width` points nearest by code of each row, which become its hits, in order. */
int ny_sieve_nearest(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                     const struct ny_sieve_rows *rows, size_t width);
/* Adds the points whose codes and fine codes are within the bounds, and that come behind those
 * that ny_sieve_nearest() has found. */
int ny_sieve_within(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                    const struct ny_sieve_rows *rows);
/* Returns how far a code may be of what is this far by fine code, both squared; a fine code has the
 * directions of a code and more. Rounding to bytes adds a sixth to each square of a code, and some
 * spread. */
double ny_sieve_code_bound(const struct ny_sieve *sieve, double fine);
/* Finds the reach->measured points that are nearest by fine code in the nearest cells, which become
 * the hits of each row, in order: nearly, since what is too far by code is not looked at. */
int ny_sieve_look(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                  const struct ny_sieve_rows *rows, const struct ny_sieve_reach *reach);
/* Puts the numbers of the `count` cells that are nearest to each of some codes (rows × count), in
 * order; NY_NO_ROW where there are fewer. */
int ny_sieve_nearest_cells(const struct ny_sieve *sieve, struct ny_sieve_worker *worker,
                           const uint8_t *code, size_t rows, size_t count, uint32_t *cells);

/* Rows of a lot whose neighbours are known: `drawn` of them, their places in the lot, the codes of
 * the lot, and the lists of all of its rows. */
struct ny_sieve_known {
    size_t drawn;
    const uint32_t *index;
    const struct ny_sieve_codes *codes;
    const uint32_t *row; /* of the lot, × t */
    double recall;       /* that is asked for */
};
/* Learns from them how far rows have to look, and adds what these would have found then. */
int ny_sieve_learn(const struct ny_sieve *sieve, const struct ny_sieve_known *known,
                   struct ny_sieve_reach *reach, struct ny_sieve_learned *learned);
/* Counts what it charges. */
void ny_sieve_learn_count(struct ny_layout *l, const struct ny_knn *knn);

/* Returns the squared distance of a fine code and that of the point at a place. */
static inline int32_t ny_sieve_fine_square(const struct ny_sieve *sieve, const int16_t *fine,
                                           size_t place)
{
    return sieve->scan->apart(fine, sieve->fine_code + place * sieve->fine, sieve->fine);
}

/* Asks for the fine code of the point at a place, which is looked at soon. */
static inline void ny_sieve_fine_ask(const struct ny_sieve *sieve, size_t place)
{
    ny_prefetch(sieve->fine_code + place * sieve->fine, sieve->fine * sizeof(int16_t));
}

/* Some rows of a lot that are searched together. */
struct ny_sieve_batch {
    struct ny_layout own;
    struct ny_sieve *sieve;
    /* These are given, before rows are looked up. */
    const void *raw;                    /* all rows of the lot */
    const struct ny_sieve_codes *codes; /* theirs; NULL: they are points, */
    size_t before;                      /* from this number on */
    double gamma; /* values of a euclidean metric are gamma ‖x−y‖² of prepared rows */
    size_t strip; /* rows that a thread looks up at a time */
    size_t width; /* points that are nearest by code, to be found for each; */
    const struct ny_sieve_reach *reach; /* or, if not NULL, how far each looks */
    double *bound, *fine_bound;         /* squared distances of codes that are looked up to */

    size_t count;
    const uint32_t *index; /* their places in the lot */
    uint8_t *code;         /* theirs, one after another */
    int16_t *fine;
    struct ny_sieve_hits hits;
    bool within;          /* those within the bounds are looked up */
    uint32_t *from;       /* the first hit that is not measured */
    struct ny_near *near; /* count × t: the nearest of those that are measured */
    size_t first, end;    /* rows that are measured now */
    atomic_size_t next;
};

/* Takes room, in batch->own, for batches of `rows` rows, with `room` hits each. */
int ny_sieve_batch_new(struct ny_sieve_batch *batch, struct ny_sieve *sieve, size_t rows,
                       size_t room);
/* Counts it, of a sieve of as many columns as one can have. */
void ny_sieve_batch_count(struct ny_layout *l, const struct ny_knn *knn, size_t rows, size_t room);
/* Begins a batch of these rows of the lot, without hits. */
void ny_sieve_batch_begin(struct ny_sieve_batch *batch, const uint32_t *index, size_t count);
/* Finds the nearest hits of all rows, or adds those within the bounds. */
int ny_sieve_batch_look_up(struct ny_sieve_batch *batch, bool within);
/* Makes the bounds those of points that may be no farther than the t-th of those that are
 * measured. */
void ny_sieve_batch_bound(struct ny_sieve_batch *batch);
/* Measures all hits that are not measured yet, those of as many rows at a time as there is room for
 * their points; none of rows that have more than there is room for, and none that their fine codes
 * prove to be farther than t others. */
int ny_sieve_batch_measure(struct ny_sieve_batch *batch);

#endif
