/*
 * The width of a kernel from the data: --gamma auto. It is made of the median over 20,000 pairs of
 * rows, drawn with replacement. Pairs of few rows are drawn many times: these rows are read once,
 * and each pair is measured once and counted as often as it was drawn, which gives the same median.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/random.h"
#include "columns/columns_private.h"
#include "base/peers.h"
#include "stream/rows.h"

enum { PAIRS = 20000, BUDGET_SHARE = 8 };
/* So many rows have about as many pairs as are drawn; and the state of a gather, for a row. */
enum { FEW_ROWS = 200, GATHER_BYTES = 16 };

/* Moves values until none before `place` is above the one there, and none behind it below. */
static void put_in_place(double *values, size_t count, size_t place)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        double pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;

        for (;; i++, j--) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j) break;
            double value = values[i];

            values[i] = values[j];
            values[j] = value;
        }
        if (place <= j)
            high = j;
        else
            low = j + 1;
    }
}

/* Returns the median; orders the values in part. */
static double median_of(double *values, size_t count)
{
    size_t upper = count / 2;
    double below;

    put_in_place(values, count, upper);
    below = count % 2 ? values[upper] : -INFINITY;
    for (size_t i = 0; i < upper; i++)
        below = fmax(below, values[i]);
    return (below + values[upper]) / 2;
}

/* Buffers for pieces of the pairs. */
struct pairs {
    size_t total; /* pairs that are measured */
    size_t piece; /* of them at a time */
    uint64_t *numbers;
    unsigned char *raw; /* 2·piece rows */
    double *x, *y;
    const unsigned char *x_of; /* the row that x was made of; NULL: none */
    double *quantity;          /* of all pairs, those that are not 0 */
    size_t count;
    bool underflow; /* rows that differ, at a distance of 0 */
};

/* Tells whether pieces of so many pairs have room for all of few rows. */
static bool holds_all(uint64_t n, size_t piece)
{
    return n <= FEW_ROWS && n <= 2 * (uint64_t)piece;
}

/* Pairs at a time: a share of the budget for them; of few rows, room for all of these. */
static size_t piece_of(uint64_t n, size_t row_bytes, size_t room)
{
    size_t piece = room / 2 / (row_bytes + sizeof(uint64_t) + GATHER_BYTES);

    piece = piece < 1 ? 1 : piece < PAIRS ? piece : PAIRS;
    return holds_all(n, piece) ? (size_t)n / 2 + 1 : piece;
}

/* Lays out what a piece of the pairs takes. */
static void lay_piece(struct ny_layout *l, struct pairs *pairs, size_t row_bytes)
{
    pairs->numbers = ny_lay(l, NY_MEM_OTHER, 2 * pairs->piece, sizeof(uint64_t));
    pairs->raw = ny_lay(l, NY_MEM_OTHER, 2 * pairs->piece, row_bytes);
}

/* Lays out what does not depend on the pieces. */
static void lay(struct ny_layout *l, struct pairs *pairs, size_t d)
{
    pairs->quantity = ny_lay(l, NY_MEM_OTHER, PAIRS, sizeof(double));
    pairs->x = ny_lay(l, NY_MEM_OTHER, d, sizeof(double));
    pairs->y = ny_lay(l, NY_MEM_OTHER, d, sizeof(double));
}

void ny_columns_auto_gamma_count(struct ny_layout *l, const struct ny_rows_info *points,
                                 size_t row_bytes, size_t limit)
{
    size_t d = (size_t)points->d;
    struct pairs pairs = {.piece = piece_of(points->n, row_bytes, limit / BUDGET_SHARE)};

    lay(l, &pairs, d);
    lay_piece(l, &pairs, row_bytes);
    ny_lay(l, NY_MEM_OTHER, 2 * pairs.piece, GATHER_BYTES);
    ny_lay(l, NY_MEM_DICTIONARY, 2 * d, sizeof(double)); /* of the preparation */
}

double ny_columns_auto_gamma_pairs(uint64_t n)
{
    return n > FEW_ROWS ? PAIRS : (double)n * (double)(n + 1) / 2;
}

/* Makes the buffers. A piece takes an eighth of the budget, and at most half of what is left of it.
 * */
static int pairs_init(struct pairs *pairs, struct ny_layout *l, uint64_t n, size_t d,
                      size_t row_bytes)
{
    struct ny_context *ctx = l->ctx;
    size_t share = ny_memory_limit(ctx) / BUDGET_SHARE, left;
    uint64_t piece;
    int err;

    lay(l, pairs, d);
    if (l->err) return l->err;
    left = ny_memory_left(ctx) / 2;
    piece = piece_of(n, row_bytes, share < left ? share : left);
    err = ny_peers_least(ny_context_peers(ctx), &piece); /* all of them gather the same rows */
    if (err) return err;
    pairs->piece = (size_t)piece;
    lay_piece(l, pairs, row_bytes);
    return l->err;
}

/* Returns row number `index` of the hashed pairs: pair i consists of numbers 2i and 2i + 1. */
static uint64_t hashed_row(uint64_t seed, uint64_t index, uint64_t n)
{
    uint64_t row = (uint64_t)(ny_hash01(seed, NY_STREAM_PAIRS, index) * (double)n);

    return row < n ? row : n - 1;
}

/* Collects the base quantity of two rows, unless it is 0, as often as they were drawn. */
static void measure(struct pairs *pairs, const struct ny_sparse_preparation *in,
                    const unsigned char *x, const unsigned char *y, size_t times)
{
    const struct ny_prepare_ops *ops = ny_vector()->prepare;
    const struct ny_columns_spec *spec = in->spec;
    size_t d = spec->geometry->d;
    double quantity;

    if (spec->slots) {
        quantity = ny_sparse_pair(in, ny_sparse_of(x, spec->slots), ny_sparse_of(y, spec->slots));
    } else {
        if (x != pairs->x_of) ny_preparation_row(in->preparation, spec, x, pairs->x);
        pairs->x_of = x;
        ny_preparation_row(in->preparation, spec, y, pairs->y);
        quantity = spec->kernel->base == NY_BASE_SQUARE ? ops->square(pairs->x, pairs->y, d)
                                                        : ops->absolute(pairs->x, pairs->y, d);
    }
    if (quantity == 0)
        pairs->underflow |= spec->slots ? !ny_sparse_equal(in, ny_sparse_of(x, spec->slots),
                                                           ny_sparse_of(y, spec->slots))
                                        : memcmp(pairs->x, pairs->y, d * sizeof(double)) != 0;
    else
        while (times-- > 0)
            pairs->quantity[pairs->count++] = quantity;
}

/* Measures the pairs of few rows, which have room. The pairs, as numbers, stand where the
 * quantities are to be: there are never more of these than pairs that have been taken. */
static int measure_few(struct pairs *pairs, const struct ny_sparse_preparation *in,
                       struct ny_rows *X, uint64_t n, uint64_t seed)
{
    size_t row_bytes = ny_raw_bytes(in->spec);
    uint64_t *drawn = (uint64_t *)(void *)pairs->quantity;
    int err;

    for (size_t i = 0; i < (size_t)n; i++)
        pairs->numbers[i] = i;
    err = ny_rows_gather_wide(X, in->spec->dtype, in->spec->slots, pairs->numbers, (size_t)n,
                              pairs->raw);
    for (size_t i = 0; i < pairs->total; i++) {
        uint64_t x = hashed_row(seed, 2 * i, n), y = hashed_row(seed, 2 * i + 1, n);

        drawn[i] = x < y ? x * n + y : y * n + x;
    }
    qsort(drawn, pairs->total, sizeof(*drawn), ny_compare_rows);
    for (size_t i = 0, times; !err && i < pairs->total; i += times) {
        uint64_t pair = drawn[i];

        for (times = 1; i + times < pairs->total && drawn[i + times] == pair;)
            times++;
        measure(pairs, in, pairs->raw + pair / n * row_bytes, pairs->raw + pair % n * row_bytes,
                times);
        err = ny_check_interrupt(in->spec->ctx);
    }
    return err;
}

/* Measures all pairs, piece by piece; which rows are drawn does not depend on the pieces. */
static int measure_all(struct pairs *pairs, const struct ny_sparse_preparation *in,
                       struct ny_rows *X, uint64_t n, uint64_t seed)
{
    size_t row_bytes = ny_raw_bytes(in->spec);
    int err;

    for (size_t first = 0; first < pairs->total; first += pairs->piece) {
        size_t count = pairs->total - first < pairs->piece ? pairs->total - first : pairs->piece;

        err = ny_check_interrupt(in->spec->ctx);
        if (err) return err;
        for (size_t i = 0; i < 2 * count; i++)
            pairs->numbers[i] = hashed_row(seed, 2 * first + i, n);
        err = ny_rows_gather_wide(X, in->spec->dtype, in->spec->slots, pairs->numbers, 2 * count,
                                  pairs->raw);
        if (err) return err;
        pairs->x_of = NULL;
        for (size_t i = 0; i < count; i++)
            measure(pairs, in, pairs->raw + 2 * i * row_bytes, pairs->raw + (2 * i + 1) * row_bytes,
                    1);
    }
    return NY_OK;
}

static int beyond_f64(struct ny_context *ctx, const char *where)
{
    return ny_fail(ctx, NY_EDATA,
                   "distances are %s the range of f64; rescale the data (--scale unit)", where);
}

/* Explains why there is no median: all pairs have equal rows, or distances that underflow. */
static int no_distance(const struct pairs *pairs, struct ny_context *ctx)
{
    if (!pairs->underflow)
        return ny_fail(ctx, NY_EDATA,
                       "all rows are equal, so there is no distance to take --gamma from; "
                       "give one, or check the data");
    return beyond_f64(ctx, "below");
}

int ny_columns_auto_gamma(const struct ny_columns_spec *spec, struct ny_rows *X, uint64_t n,
                          uint64_t seed, double *gamma)
{
    return ny_columns_auto_gamma_of(spec, X, n, seed, PAIRS, gamma);
}

int ny_columns_auto_gamma_of(const struct ny_columns_spec *spec, struct ny_rows *X, uint64_t n,
                             uint64_t seed, size_t count, double *gamma)
{
    const struct ny_kernel *kernel = spec->kernel;
    size_t d = spec->geometry->d;
    struct pairs pairs = {.total = count < PAIRS ? count : PAIRS};
    struct ny_layout l = {.ctx = spec->ctx};
    struct ny_preparation preparation;
    const struct ny_sparse_preparation in = {spec, &preparation};
    int err;

    *gamma = 0;
    if (!kernel->auto_gamma) return NY_OK;
    if (kernel->base == NY_BASE_DOT) {
        *gamma = kernel->auto_gamma(0, d);
        return NY_OK;
    }
    ny_preparation_lay(&l, &preparation, spec, 1);
    err = l.err;
    if (err) goto done;
    err = pairs_init(&pairs, &l, n, d, ny_raw_bytes(spec));
    if (err) goto done;
    if (n > 0)
        err = holds_all(n, pairs.piece) ? measure_few(&pairs, &in, X, n, seed)
                                        : measure_all(&pairs, &in, X, n, seed);
    if (err) goto done;
    if (!pairs.count) {
        err = no_distance(&pairs, spec->ctx);
        goto done;
    }
    *gamma = kernel->auto_gamma(median_of(pairs.quantity, pairs.count), d);
    if (!(*gamma > 0 && isfinite(*gamma)))
        err = beyond_f64(spec->ctx, *gamma > 0 ? "below" : "above");
done:
    ny_layout_free(&l);
    return err;
}
