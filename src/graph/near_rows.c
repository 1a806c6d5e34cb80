/*
 * The grid is of up to three columns, those of the widest ranges among the first n rows: statistics
 * of the store would change as rows are added. A key has KEY_BITS bits, those of the cells along
 * each axis by turns, and keys are sorted by counting.
 */
#include "graph/near_rows.h"

#include <math.h>
#include <string.h>

enum { KEY_BITS = 30, DIGIT_BITS = 10, DIGITS = 1 << DIGIT_BITS, AXES = 3 };
/* The most columns of which a grid of three still tells what is near, and rows read at a time. */
enum { MOST_COLUMNS = 16, READ_ROWS = 4096 };

struct grid {
    struct ny_rows *X;
    struct ny_context *ctx;
    struct ny_rows_info info;
    uint64_t n;
    double low[MOST_COLUMNS], high[MOST_COLUMNS];
    size_t axes, axis[AXES]; /* columns, the widest first */
    void *raw;               /* READ_ROWS rows as they are stored */
    double *x;               /* READ_ROWS rows */
    uint64_t *entry, *other; /* n each: key << 32 | row */
};

bool ny_near_rows_wanted(struct ny_rows *X, uint64_t n)
{
    struct ny_rows_info info;

    if (n < NY_NEAR_ROWS_LEAST) return false;
    return X->ops->info(X, &info) == NY_OK && !info.row_slots && !info.lost &&
           info.d <= MOST_COLUMNS && info.n >= n && ny_rows_here(&info) == info.n;
}

typedef void rows_fn(struct grid *grid, uint64_t first, size_t count);

/* Calls `take` for all rows, in pieces that are in grid->x. */
static int read_rows(struct grid *grid, rows_fn *take)
{
    int err = NY_OK;

    for (uint64_t row = 0; row < grid->n && err == NY_OK; row += READ_ROWS) {
        size_t count = grid->n - row < READ_ROWS ? (size_t)(grid->n - row) : READ_ROWS;

        err = ny_check_interrupt(grid->ctx);
        if (err == NY_OK) err = grid->X->ops->read(grid->X, 0, row, count, grid->raw);
        if (err) break;
        ny_dtype_to_f64(grid->info.dtype, grid->raw, grid->x, count * (size_t)grid->info.d);
        take(grid, row, count);
    }
    return err;
}

static void widen(struct grid *grid, uint64_t first, size_t count)
{
    const size_t d = (size_t)grid->info.d;

    (void)first;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < d; k++) {
            double value = grid->x[i * d + k];

            if (value < grid->low[k]) grid->low[k] = value;
            if (value > grid->high[k]) grid->high[k] = value;
        }
}

static double range(const struct grid *grid, size_t column)
{
    return grid->high[column] - grid->low[column];
}

/* Takes the columns of the widest ranges; of equal ones the first. */
static void choose_axes(struct grid *grid)
{
    bool chosen[MOST_COLUMNS] = {false};
    const size_t d = (size_t)grid->info.d;

    for (grid->axes = 0; grid->axes < AXES && grid->axes < d; grid->axes++) {
        size_t best = d;

        for (size_t k = 0; k < d; k++)
            if (!chosen[k] && (best == d || range(grid, k) > range(grid, best))) best = k;
        chosen[best] = true;
        grid->axis[grid->axes] = best;
    }
}

/* The cell along one axis, of 2^bits; 0 where the value is no number. */
static uint32_t cell_of(const struct grid *grid, size_t column, double value, size_t bits)
{
    const uint32_t most = ((uint32_t)1 << bits) - 1;
    double share = (value - grid->low[column]) / range(grid, column);

    return share > 0 ? (share < 1 ? (uint32_t)(share * (most + 1.0)) : most) : 0;
}

static void make_keys(struct grid *grid, uint64_t first, size_t count)
{
    const size_t bits = KEY_BITS / grid->axes;

    for (size_t i = 0; i < count; i++) {
        const double *x = grid->x + i * (size_t)grid->info.d;
        uint64_t key = 0;

        for (size_t a = 0; a < grid->axes; a++) {
            uint32_t cell = cell_of(grid, grid->axis[a], x[grid->axis[a]], bits);

            for (size_t b = 0; b < bits; b++)
                key |= (uint64_t)(cell >> b & 1) << (b * grid->axes + a);
        }
        grid->entry[first + i] = key << 32 | (first + i);
    }
}

/* Sorts by the keys, digit by digit from the last; equal keys stay as they are. */
static int sort(struct grid *grid)
{
    int err = NY_OK;

    for (size_t shift = 32; shift < 32 + KEY_BITS && err == NY_OK; shift += DIGIT_BITS) {
        uint64_t next[DIGITS + 1] = {0}, *sorted = grid->other;

        for (uint64_t i = 0; i < grid->n; i++)
            next[(grid->entry[i] >> shift) % DIGITS + 1]++;
        for (size_t k = 0; k < DIGITS; k++)
            next[k + 1] += next[k];
        for (uint64_t i = 0; i < grid->n; i++)
            sorted[next[(grid->entry[i] >> shift) % DIGITS]++] = grid->entry[i];
        grid->other = grid->entry;
        grid->entry = sorted;
        err = ny_check_interrupt(grid->ctx);
    }
    return err;
}

static void lay(struct ny_layout *l, struct grid *grid)
{
    size_t n = (size_t)grid->n, row_bytes = (size_t)grid->info.d * sizeof(double);

    grid->raw = ny_lay(l, NY_MEM_DICTIONARY, READ_ROWS, ny_rows_row_bytes(&grid->info));
    grid->x = ny_lay(l, NY_MEM_DICTIONARY, READ_ROWS, row_bytes);
    grid->entry = ny_lay(l, NY_MEM_DICTIONARY, n, sizeof(uint64_t));
    grid->other = ny_lay(l, NY_MEM_DICTIONARY, n, sizeof(uint64_t));
}

int ny_near_rows(struct ny_rows *X, uint64_t n, struct ny_layout *l, uint32_t **order)
{
    struct grid grid = {.X = X, .ctx = X->ctx, .n = n};
    struct ny_layout room = {.ctx = X->ctx};
    int err = X->ops->info(X, &grid.info);

    if (err) return err;
    *order = ny_lay(l, NY_MEM_DICTIONARY, (size_t)n, sizeof(**order));
    lay(&room, &grid);
    err = l->err ? l->err : room.err;
    for (size_t k = 0; k < MOST_COLUMNS; k++)
        grid.low[k] = INFINITY, grid.high[k] = -INFINITY;
    if (err == NY_OK) err = read_rows(&grid, widen);
    if (err == NY_OK) {
        choose_axes(&grid);
        err = read_rows(&grid, make_keys);
    }
    if (err == NY_OK) err = sort(&grid);
    for (uint64_t i = 0; i < n && err == NY_OK; i++)
        (*order)[i] = (uint32_t)grid.entry[i];
    ny_layout_free(&room);
    return err;
}
