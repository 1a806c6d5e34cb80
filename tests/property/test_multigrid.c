/* graph/affinity.h, coarse.h and multigrid.h against dense matrices, made of the lists. */
#include "support/context.h"
#include "support/net.h"

#include "base/random.h"
#include "graph/multigrid.h"
#include "nystream.h"

OWNS(ny_layout, ny_layout_free(at))

OWNS(made, unmake(at))

/* ---- products ------------------------------------------------------------------------------- */

/* Checks the product of every second strip of a wider block, with a base and without. */
static void check_product(const struct made *made, const double *A, double shift, bool based)
{
    enum { STRIDE = 3 * NY_STRIP_COLUMNS, FIRST = NY_STRIP_COLUMNS };
    size_t n = made->graph.n, count = n * STRIDE;
    double *x = ny_alloc(ctx, NY_MEM_SOLVE, count * sizeof(double));
    double *y = ny_alloc(ctx, NY_MEM_SOLVE, count * sizeof(double));
    struct ny_laplacian product = {.affinity = &made->affinity,
                                   .inverse = made->affinity.inverse,
                                   .shift = shift,
                                   .x = x + FIRST,
                                   .x_stride = STRIDE,
                                   .y = y + FIRST,
                                   .y_stride = STRIDE,
                                   .base = based ? y + FIRST : NULL,
                                   .own = 0.5,
                                   .factor = -3};

    for (size_t i = 0; i < count; i++)
        x[i] = ny_hash01(1, NY_STREAM_DATA, i) - 0.5;
    for (size_t i = 0; i < count; i++)
        y[i] = based ? x[count - 1 - i] : NAN;
    assert_int_equal(ny_laplacian(&product), NY_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t l = FIRST; l < FIRST + NY_STRIP_COLUMNS; l++) {
            double own = x[i * STRIDE + l], sum = 0, degree = 0, wanted;

            for (size_t j = 0; j < n; j++) {
                sum += A[i * n + j] * (own - x[j * STRIDE + l]);
                degree += A[i * n + j];
            }
            wanted = 0.5 * own - 3 * (sum / degree + shift * own);
            if (based) wanted += x[count - 1 - (i * STRIDE + l)];
            assert_true(fabs(y[i * STRIDE + l] - wanted) < 1e-12);
        }
    ny_free(ctx, x);
    ny_free(ctx, y);
}

TEST(test_products)
{
    OWNED(made) made;
    struct net net = net_of(SHEET, 300);
    double *A;

    make(&made, ctx, &net, -1);
    A = dense_weights(&net, &made.graph, made.gamma);
    for (int way = 0; way < 4; way++)
        check_product(&made, A, way & 1 ? 0.01 : 0, way & 2);
}

/* The median of lengths 1, 2, …, 9 of a path, and none of equal points. */
TEST(test_gamma)
{
    struct made made;
    struct net net = net_new(12, 1);

    for (size_t i = 0; i + 1 < 12; i++)
        net_link(&net, i, i + 1, i < 9 ? (double)i + 1 : 0);
    make(&made, ctx, &net, -1);
    assert_true(fabs(made.gamma - 0.04) < 1e-9);
    unmake(&made);
    net = net_new(3, 1);
    net_link(&net, 0, 1, 0);
    net_link(&net, 1, 2, 0);
    make(&made, ctx, &net, -1);
    assert_true(made.gamma == 1);
    unmake(&made);
}

/* ---- coarser graphs ------------------------------------------------------------------------- */

/* RᵀAR entry by entry but for its diagonal, degrees, and that every aggregate is of two nodes at
 * least, which are its members. */
static void check_coarse(enum net_shape shape, size_t n, bool joined)
{
    OWNED(made) made;
    OWNED(ny_layout) own = {.ctx = ctx};
    struct ny_coarse coarse;
    struct net net = net_of(shape, n);
    double *A, *C;
    size_t m, *nodes;

    make(&made, ctx, &net, -1);
    n = made.graph.n;
    assert_int_equal(ny_coarse_new(&coarse, &own, &made.affinity, joined), NY_OK);
    m = coarse.graph.n;
    A = dense_weights(&net, &made.graph, made.gamma);
    C = lend_zeros(m * m * sizeof(double));
    nodes = lend_zeros(m * sizeof(size_t));
    for (size_t i = 0; i < n; i++) {
        assert_true(coarse.of[i] < m);
        nodes[coarse.of[i]]++;
        for (size_t j = 0; j < n; j++)
            C[coarse.of[i] * m + coarse.of[j]] += A[i * n + j];
    }
    for (size_t k = 0; k < m; k++) {
        double degree = 0, inward = C[k * m + k];

        for (size_t l = 0; l < m; l++)
            degree += C[k * m + l];
        C[k * m + k] = 0;
        assert_true(nodes[k] >= 2);
        assert_int_equal(coarse.first[k + 1] - coarse.first[k], nodes[k]);
        for (uint32_t i = coarse.first[k]; i < coarse.first[k + 1]; i++)
            assert_int_equal(coarse.of[coarse.member[i]], k);
        assert_true(fabs(coarse.affinity.outward[k] - (degree - inward)) < 1e-12 * degree);
        assert_true(fabs(coarse.affinity.degree[k] - degree) < 1e-12 * degree);
        assert_true(coarse.affinity.inverse[k] == 1 / coarse.affinity.degree[k]);
        for (uint64_t e = coarse.graph.head[k]; e < coarse.graph.head[k + 1]; e++)
            C[k * m + coarse.graph.target[e]] -= coarse.affinity.weight[e];
        for (size_t l = 0; l < m; l++)
            assert_true(fabs(C[k * m + l]) < 1e-12 * degree);
    }
}

/* Random ties, of which nearly all stay: the finer graph's entries are room for them. */
TEST(test_coarse_bytes)
{
    enum { N = 40000, TIES = 12 };
    struct ny_layout l = {.ctx = ctx}, counted = {0};
    struct ny_coarse coarse;
    OWNED(made) made;
    struct net net = net_new(N, TIES);
    size_t before, entries;

    if (getenv("NYSTREAM_SANITIZER")) skip(); /* its blocks are all copied */
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < TIES; k++)
            net_link(&net, i, (i + 1 + ny_hash64(k, NY_STREAM_DATA, i) % (N - 1)) % N, 1);
    make(&made, ctx, &net, -1);
    entries = (size_t)made.graph.head[made.graph.n];
    before = ny_memory_used(ctx);
    ny_memory_peak_reset(ctx);
    assert_int_equal(ny_coarse_new(&coarse, &l, &made.affinity, false), NY_OK);
    assert_true(coarse.graph.head[coarse.graph.n] > entries / 2);
    ny_coarse_count(&counted, made.graph.n, entries);
    assert_true(ny_memory_peak(ctx) - before <= ny_layout_most(&counted));
    ny_layout_free(&l);
    assert_int_equal(ny_memory_used(ctx), before);
}

TEST(test_coarse)
{
    for (int joined = 0; joined < 2; joined++) {
        check_coarse(SHEET, 600, joined);
        check_coarse(SMALL_WORLD, 300, joined);
        check_coarse(STAR, 40, joined);
        check_coarse(PATH, 2, joined);
        check_coarse(COMPLETE, 50, joined);
        check_coarse(DUMBBELL, 200, joined);
    }
}

/* ---- multigrid ------------------------------------------------------------------------------ */

/* b = Δ⁻¹(D − A + σD)y, of the dense weights. */
static void multiply(const struct ny_grid *grid, const double *A, double shift, const double *y,
                     double *b)
{
    size_t n = grid->affinity->graph->n;

    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < NY_STRIP_COLUMNS; l++) {
            double own = y[i * NY_STRIP_COLUMNS + l], sum = 0, degree = 0;

            for (size_t j = 0; j < n; j++) {
                sum += A[i * n + j] * (own - y[j * NY_STRIP_COLUMNS + l]);
                degree += A[i * n + j];
            }
            b[i * NY_STRIP_COLUMNS + l] = (sum + shift * degree * own) / (degree * (1 + shift));
        }
}

/* yᵀΔx of two columns. */
static double product_of(const struct ny_grid *grid, const double *y, size_t k, const double *x,
                         size_t l)
{
    double sum = 0;

    for (size_t i = 0; i < grid->affinity->graph->n; i++)
        sum += grid->delta[i] * y[i * NY_STRIP_COLUMNS + k] * x[i * NY_STRIP_COLUMNS + l];
    return sum;
}

static int solve(void *grids, const struct ny_worker *worker)
{
    return ny_multigrid_solve(grids, 0, worker);
}

/* A cycle takes errors away at least by the factor `left`, and is symmetric and positive. */
static void check_multigrid(enum net_shape shape, size_t n, double left)
{
    enum { CYCLES = 6 };
    const double shift = 1e-6;
    struct ny_multigrid grids;
    struct ny_grid *grid = &grids.grid[0];
    OWNED(made) made;
    OWNED(ny_layout) own = {.ctx = ctx};
    struct net net = net_of(shape, n);
    double *A, *y, *b, before, after;

    make(&made, ctx, &net, -1);
    n = made.graph.n;
    A = dense_weights(&net, &made.graph, made.gamma);
    y = calloc(n, NY_STRIP_COLUMNS * sizeof(double));
    b = calloc(n, NY_STRIP_COLUMNS * sizeof(double));
    assert_int_equal(ny_multigrid_new(&grids, &own, &made.affinity), NY_OK);
    ny_multigrid_shift(&grids, shift);
    for (size_t i = 0; i < n * NY_STRIP_COLUMNS; i++)
        y[i] = ny_hash01(4, NY_STREAM_DATA, i) - 0.5;
    memcpy(grid->b, y, n * NY_STRIP_COLUMNS * sizeof(double));
    assert_int_equal(ny_parallel_team(ctx, solve, &grids), NY_OK);
    for (size_t k = 0; k < NY_STRIP_COLUMNS; k++) {
        assert_true(product_of(grid, y, k, grid->x, k) > 0);
        for (size_t l = 0; l < k; l++) {
            double one = product_of(grid, y, k, grid->x, l),
                   two = product_of(grid, y, l, grid->x, k);

            assert_true(fabs(one - two) <= 1e-9 * fabs(product_of(grid, y, k, grid->x, k)));
        }
    }
    multiply(grid, A, shift, y, b);
    before = product_of(grid, y, 0, b, 0); /* of the error in the energy */
    for (int c = 0; c < CYCLES; c++) {
        multiply(grid, A, shift, y, grid->b);
        assert_int_equal(ny_parallel_team(ctx, solve, &grids), NY_OK);
        for (size_t i = 0; i < n * NY_STRIP_COLUMNS; i++)
            y[i] -= grid->x[i];
    }
    multiply(grid, A, shift, y, b);
    after = product_of(grid, y, 0, b, 0);
    assert_true(after <= before * pow(left, 2 * CYCLES));
}

TEST(test_multigrid)
{
    check_multigrid(SHEET, 1500, 0.5);
    check_multigrid(SMALL_WORLD, 800, 0.2);
    check_multigrid(CYCLE, 1000, 0.5);
    check_multigrid(PATH, 1000, 0.5);
    check_multigrid(STAR, 600, 0.2);
    check_multigrid(COMPLETE, 300, 0.2);
    check_multigrid(DUMBBELL, 1000, 0.5);
    check_multigrid(FAR_GROUP, 805, 0.2);
}

AROUND_ALL(start, stop)
