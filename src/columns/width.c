/* The width of a kernel from the data: --gamma auto. */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "columns/columns_private.h"
#include "peers/peers.h"
#include "store/store.h"

enum { PAIRS = 20000, BUDGET_SHARE = 8 };

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
    double *quantity; /* of all pairs, those that are not 0 */
    size_t count;
    bool underflow; /* rows that differ, at a distance of 0 */
};

static void pairs_release(struct pairs *pairs, struct ny_context *ctx)
{
    ny_free(ctx, pairs->numbers);
    ny_free(ctx, pairs->raw);
    ny_free(ctx, pairs->x);
    ny_free(ctx, pairs->y);
    ny_free(ctx, pairs->quantity);
}

/* Bytes of one pair: its rows, their numbers, and the state of a gather for them. */
static size_t pair_bytes(size_t row_bytes)
{
    const size_t gather_bytes = 16;

    return 2 * (row_bytes + sizeof(uint64_t) + gather_bytes);
}

/* Pairs at a time: a share of the budget for them. */
static size_t piece_of(size_t row_bytes, size_t room)
{
    size_t piece = room / pair_bytes(row_bytes);

    return piece < 1 ? 1 : piece < PAIRS ? piece : PAIRS;
}

size_t ny_columns_auto_gamma_bytes(size_t d, size_t row_bytes, size_t limit)
{
    return PAIRS * sizeof(double) + 4 * d * sizeof(double) +
           piece_of(row_bytes, limit / BUDGET_SHARE) * pair_bytes(row_bytes);
}

/* Makes the buffers. A piece takes an eighth of the budget, and at most half of what is left of it.
 * */
static int pairs_init(struct pairs *pairs, struct ny_context *ctx, size_t d, size_t row_bytes)
{
    size_t share = ny_memory_limit(ctx) / BUDGET_SHARE, left;
    uint64_t piece;
    int err;

    pairs->quantity = ny_calloc(ctx, NY_MEM_OTHER, PAIRS, sizeof(double));
    pairs->x = ny_calloc(ctx, NY_MEM_OTHER, d, sizeof(double));
    pairs->y = ny_calloc(ctx, NY_MEM_OTHER, d, sizeof(double));
    if (!pairs->quantity || !pairs->x || !pairs->y) return NY_EBUDGET;
    left = ny_memory_left(ctx) / 2;
    piece = piece_of(row_bytes, share < left ? share : left);
    err = ny_peers_least(ny_context_peers(ctx), &piece); /* all of them gather the same rows */
    if (err) return err;
    pairs->piece = (size_t)piece;
    pairs->numbers = ny_calloc(ctx, NY_MEM_OTHER, 2 * pairs->piece, sizeof(uint64_t));
    pairs->raw = ny_calloc(ctx, NY_MEM_OTHER, 2 * pairs->piece, row_bytes);
    return pairs->numbers && pairs->raw ? NY_OK : NY_EBUDGET;
}

/* Returns row number `index` of the hashed pairs: pair i consists of numbers 2i and 2i + 1. */
static uint64_t hashed_row(uint64_t seed, uint64_t index, uint64_t n)
{
    uint64_t row = (uint64_t)(ny_hash01(seed, NY_STREAM_PAIRS, index) * (double)n);

    return row < n ? row : n - 1;
}

/* Collects the base quantities of pairs first … first+count−1 that are not 0. */
static void measure(struct pairs *pairs, const struct ny_columns_spec *spec,
                    const struct ny_preparation *preparation, size_t count)
{
    const struct ny_prepare_ops *ops = ny_vector()->prepare;
    size_t d = spec->geometry->d, row_bytes = ny_raw_bytes(spec);
    const struct ny_sparse_preparation in = {spec, preparation};

    for (size_t i = 0; i < count; i++) {
        double quantity;

        const unsigned char *x = pairs->raw + 2 * i * row_bytes, *y = x + row_bytes;

        if (spec->slots) {
            quantity =
                ny_sparse_pair(&in, ny_sparse_of(x, spec->slots), ny_sparse_of(y, spec->slots));
        } else {
            ny_preparation_row(preparation, spec, x, pairs->x);
            ny_preparation_row(preparation, spec, y, pairs->y);
            quantity = spec->kernel->base == NY_BASE_SQUARE
                           ? ops->square(pairs->x, pairs->y, d)
                           : ops->absolute(pairs->x, pairs->y, d);
        }
        if (quantity != 0)
            pairs->quantity[pairs->count++] = quantity;
        else
            pairs->underflow |= spec->slots ? !ny_sparse_equal(&in, ny_sparse_of(x, spec->slots),
                                                               ny_sparse_of(y, spec->slots))
                                            : memcmp(pairs->x, pairs->y, d * sizeof(double)) != 0;
    }
}

/* Measures all pairs, piece by piece; which rows are drawn does not depend on the pieces. */
static int measure_all(struct pairs *pairs, const struct ny_columns_spec *spec,
                       const struct ny_preparation *preparation, struct ny_store *store, uint64_t n,
                       uint64_t seed)
{
    int err;

    for (size_t first = 0; first < pairs->total; first += pairs->piece) {
        size_t count = pairs->total - first < pairs->piece ? pairs->total - first : pairs->piece;

        err = ny_check_interrupt(spec->ctx);
        if (err) return err;
        for (size_t i = 0; i < 2 * count; i++)
            pairs->numbers[i] = hashed_row(seed, 2 * first + i, n);
        err = ny_points_gather_wide(store, spec->dtype, spec->slots, pairs->numbers, 2 * count,
                                    pairs->raw);
        if (err) return err;
        measure(pairs, spec, preparation, count);
    }
    return NY_OK;
}

/* Explains why there is no median: all pairs have equal rows, or distances that underflow. */
static int no_distance(const struct pairs *pairs, struct ny_context *ctx)
{
    if (!pairs->underflow)
        return ny_fail(ctx, NY_EDATA,
                       "all rows are equal, so there is no distance to take --gamma from; "
                       "give one, or check the data");
    return ny_fail(ctx, NY_EDATA,
                   "the distances between rows are below the range of f64; rescale the data "
                   "(--scale unit)");
}

int ny_columns_auto_gamma(const struct ny_columns_spec *spec, struct ny_store *store, uint64_t n,
                          uint64_t seed, double *gamma)
{
    return ny_columns_auto_gamma_of(spec, store, n, seed, PAIRS, gamma);
}

int ny_columns_auto_gamma_of(const struct ny_columns_spec *spec, struct ny_store *store, uint64_t n,
                             uint64_t seed, size_t count, double *gamma)
{
    const struct ny_kernel *kernel = spec->kernel;
    size_t d = spec->geometry->d;
    struct pairs pairs = {.total = count < PAIRS ? count : PAIRS};
    struct ny_preparation preparation = {0};
    int err;

    *gamma = 0;
    if (!kernel->auto_gamma) return NY_OK;
    if (kernel->base == NY_BASE_DOT) {
        *gamma = kernel->auto_gamma(0, d);
        return NY_OK;
    }
    err = ny_preparation_init(&preparation, spec, 1);
    if (err) goto done;
    err = pairs_init(&pairs, spec->ctx, d, ny_raw_bytes(spec));
    if (err) goto done;
    err = n ? measure_all(&pairs, spec, &preparation, store, n, seed) : NY_OK;
    if (err) goto done;
    if (!pairs.count) {
        err = no_distance(&pairs, spec->ctx);
        goto done;
    }
    *gamma = kernel->auto_gamma(median_of(pairs.quantity, pairs.count), d);
    if (!(*gamma > 0 && isfinite(*gamma)))
        err = ny_fail(spec->ctx, NY_EDATA,
                      "the distances between rows are %s the range of f64; rescale the data "
                      "(--scale unit)",
                      *gamma > 0 ? "below" : "above");
done:
    pairs_release(&pairs, spec->ctx);
    ny_preparation_release(&preparation, spec->ctx);
    return err;
}
