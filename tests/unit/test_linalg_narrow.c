/* linalg/narrow.h against plain loops, in every family that this CPU can run, and in shares of any
 * size, which have the same bits. What a call must not read holds NaN. */
#include "linalg/narrow.h"

#include "base/cpu.h"
#include "base/random.h"
#include "support/test.h"

enum { MOST = 41, STRIDE = MOST + 3, B = NY_NARROW };

static double A[MOST * STRIDE], X[MOST * B], Y[MOST * B], want[MOST * B], whole[MOST * B];

static void fill(double *x, size_t count, uint64_t seed)
{
    ny_gaussian(seed, NY_STREAM_DATA, 0, x, count);
}

/* want ← start + sign·op(A)X of rows × cols. */
static void plain(size_t rows, size_t cols, bool transposed, double sign)
{
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < B; j++)
            for (size_t k = 0; k < cols; k++)
                want[i * B + j] +=
                    sign * (transposed ? A[k * STRIDE + i] : A[i * STRIDE + k]) * X[k * B + j];
}

/* Sums of `terms` terms. */
static void compare(size_t rows, size_t terms, const char *what)
{
    for (size_t i = 0; i < rows * B; i++)
        if (!(fabs(Y[i] - want[i]) <= 1e-13 * (double)terms))
            fail_msg("%s of %zu rows: entry %zu is %.17g, not %.17g", what, rows, i, Y[i], want[i]);
}

/* A whole product, then one in shares of three rows, beside it. */
#define IN_SHARES(call)                                                                            \
    do {                                                                                           \
        size_t first = 0, count = rows;                                                            \
                                                                                                   \
        memcpy(Y, start, sizeof(start));                                                           \
        call;                                                                                      \
        memcpy(whole, Y, sizeof(Y));                                                               \
        memcpy(Y, start, sizeof(start));                                                           \
        for (; first < rows; first += count) {                                                     \
            count = rows - first < 3 ? rows - first : 3;                                           \
            call;                                                                                  \
        }                                                                                          \
        assert_memory_equal(Y, whole, sizeof(Y));                                                  \
    } while (0)

static void try_shape(const struct ny_narrow_ops *ops, size_t rows, size_t cols)
{
    const struct ny_narrow_product of_columns = {A, STRIDE, cols, X, Y};
    const struct ny_narrow_product square = {A, STRIDE, rows, X, Y};
    double start[MOST * B];

    fill(A, MOST * STRIDE, 1);
    fill(X, MOST * B, 2);
    fill(start, MOST * B, 3);
    memset(want, 0, sizeof(want));
    plain(rows, cols, false, 1);
    IN_SHARES(ops->multiply(&of_columns, first, count));
    compare(rows, MOST, "multiply");

    memcpy(want, start, sizeof(want));
    plain(rows, cols, true, -1);
    IN_SHARES(ops->subtract(&of_columns, first, count));
    compare(rows, MOST, "subtract");

    for (size_t i = 0; i < rows; i++)
        for (size_t k = 0; k < i; k++)
            A[k * STRIDE + i] = A[i * STRIDE + k];
    memset(want, 0, sizeof(want));
    plain(rows, rows, false, 1);
    for (size_t i = 0; i < rows; i++)
        for (size_t k = i + 1; k < STRIDE; k++)
            A[i * STRIDE + k] = NAN;
    IN_SHARES(ops->symmetric(&square, first, count));
    compare(rows, MOST, "symmetric");
}

#define DECLARE(variant, family) extern const struct ny_narrow_ops ny_narrow_ops_##variant;
NY_CPU_VARIANTS(DECLARE)

TEST(products_are_those_of_plain_loops)
{
    static const size_t sizes[] = {1, 2, 7, 8, 9, 12, 13, 16, 23, MOST};

#define TRY(variant, family)                                                                       \
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]) && (family) <= ny_cpu_family(); s++) { \
        try_shape(&ny_narrow_ops_##variant, sizes[s], sizes[s]);                                   \
        try_shape(&ny_narrow_ops_##variant, sizes[s], 5);                                          \
    }
    NY_CPU_VARIANTS(TRY)
}

/* Long rows are taken in pieces, for which X stays in cache. */
TEST(pieces_of_long_rows_add_up)
{
    enum { ROWS = 13, COLS = 4100 };
    static double a[ROWS * COLS], x[COLS * B];
    const struct ny_narrow_product product = {a, COLS, COLS, x, Y};

    fill(a, ROWS * COLS, 4);
    fill(x, COLS * B, 5);
    memset(want, 0, sizeof(want));
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < COLS; k++)
            for (size_t j = 0; j < B; j++)
                want[i * B + j] += a[i * COLS + k] * x[k * B + j];
#define TRY_LONG(variant, family)                                                                  \
    if ((family) <= ny_cpu_family()) {                                                             \
        ny_narrow_ops_##variant.multiply(&product, 0, ROWS);                                       \
        compare(ROWS, COLS, "multiply in pieces");                                                 \
    }
    NY_CPU_VARIANTS(TRY_LONG)
}
