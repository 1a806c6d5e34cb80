/*
 * The nearest found so far of each row of a range: `width` of them, in ascending order of (value,
 * row number), so that what is kept depends on neither the order nor the company in which values
 * come — as long as the values of a row come in ascending order of the other row's number.
 */
#ifndef NY_NEAREST_NEIGHBORS_H
#define NY_NEAREST_NEIGHBORS_H

#include "base/layout.h"
#include "linalg/matrix.h"

/* Row numbers take 32 bits; this one stands for none. */
#define NY_NO_ROW UINT32_MAX

struct ny_neighbors {
    struct ny_layout own;
    uint64_t first; /* row number of the first list */
    size_t rows, width;
    float *bound;  /* rows: the last value of a full list, else ∞: what a newcomer has to beat */
    float *value;  /* rows × width, ∞ where there is none */
    uint32_t *row; /* rows × width */
    uint16_t *found; /* scratch of one row of a tile */
};

/* Makes empty lists of rows first … first + rows − 1. NY_EBUDGET; ny_neighbors_release() them after
 * a failure, too. */
int ny_neighbors_new(struct ny_neighbors *lists, struct ny_context *ctx, uint64_t first,
                     size_t rows, size_t width);
/* Empties one list. */
void ny_neighbors_clear(struct ny_neighbors *lists, size_t list);
/* Frees lists that ny_neighbors_new() made. */
void ny_neighbors_release(struct ny_neighbors *lists);
/* Counts what ny_neighbors_new() charges. */
void ny_neighbors_count(struct ny_layout *l, size_t rows, size_t width);

/* A tile of values: V.rows rows from `row` on, against V.cols from `col` on, at most 2,048. */
struct ny_values {
    struct ny_matrix32 V;
    uint64_t row, col;
};

/* Offers a tile to the lists of its rows, of its columns, or of both. A row is not its own
 * neighbour. NaN is never near. */
enum ny_sides { NY_SIDE_ROWS = 1, NY_SIDE_COLS = 2 };
/* Inserts every value of the tile that is below the bound of a list. */
void ny_neighbors_offer(struct ny_neighbors *lists, const struct ny_values *values, int sides);

/* Inserts a value that is below the bound of a list: rows come in ascending order of their numbers,
 * each once. */
void ny_neighbors_insert(struct ny_neighbors *lists, size_t list, float value, uint64_t row);

/* Row numbers that were stored, which may be anybody's: each is below n, or none. */
bool ny_rows_below(const uint32_t *rows, size_t count, uint64_t n);

/* Returns the bytes of the image of the lists that a checkpoint saves; it begins at `bound`. */
size_t ny_neighbors_image_bytes(const struct ny_neighbors *lists);
/* Returns the image from byte `at` on, for writers that take it in pieces. */
const void *ny_neighbors_piece(const void *lists, size_t at, size_t count);

#endif
