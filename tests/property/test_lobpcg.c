/* graph/lobpcg.h against the dense Laplacian, made of the lists and solved by LAPACK: multiple
 * eigenvalues, gaps of all sizes, hubs, graphs of a few nodes. */
#include "support/context.h"
#include "support/net.h"

#include "base/random.h"
#include "graph/lobpcg_private.h"
#include "linalg/eigen.h"
#include "nystream.h"

OWNS(ny_lobpcg, ny_lobpcg_release(at))
OWNS(made, unmake(at))
OWNS(ny_layout, ny_layout_free(at))

/* The graph of a shape, with a γ of its own. */
static void make_shape(struct made *made, enum net_shape shape, size_t n)
{
    struct net net = net_of(shape, n);

    make(made, ctx, &net, -1);
}

/* L in place of A. */
static void normalise(double *A, size_t n)
{
    double *degree = lend_zeros(n * sizeof(double));

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            degree[i] += A[i * n + j];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            A[i * n + j] = (i == j) - A[i * n + j] / sqrt(degree[i]) / sqrt(degree[j]);
}

/* The smallest eigenvalues of L, ascending. */
static double *least_of(const double *L, size_t n, size_t count)
{
    double *negated = lend(n * n * sizeof(double)), *V = lend(count * n * sizeof(double));
    double *values = lend(count * sizeof(double));

    for (size_t i = 0; i < n * n; i++)
        negated[i] = -L[i];
    CHECK(ny_eigen_top(ctx, ny_matrix(negated, n, n), count, values, ny_matrix(V, count, n)));
    for (size_t k = 0; k < count; k++)
        values[k] = -values[k];
    return values;
}

static void go_on(struct ny_lobpcg *solver)
{
    while (!ny_lobpcg_converged(solver)) {
        assert_int_equal(ny_lobpcg_step(solver), NY_OK);
        assert_true(solver->at->steps < 100);
    }
}

static void solve(struct ny_lobpcg *solver, const struct made *made, size_t wanted)
{
    assert_int_equal(ny_lobpcg_new(solver, &made->affinity, wanted, 5, NULL), NY_OK);
    go_on(solver);
}

/* Returns the entry of u = D^½z. */
static double vector(const struct ny_lobpcg *solver, size_t i, size_t k)
{
    return sqrt(solver->affinity->degree[i]) * solver->x[i * solver->stride + k];
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static void check_vectors(const struct ny_lobpcg *solver, const double *L)
{
    size_t n = solver->n;
    double last = solver->value[solver->wanted - 1];
    double allowed = fmax(NY_LOBPCG_RESIDUAL * last, NY_LOBPCG_ROUNDING);

    for (size_t k = 0; k < solver->wanted; k++) {
        double square = 0;

        for (size_t l = 0; l <= k; l++) {
            double dot = 0;

            for (size_t i = 0; i < n; i++)
                dot += vector(solver, i, k) * vector(solver, i, l);
            assert_true(fabs(dot - (k == l)) < 1e-11);
        }
        for (size_t i = 0; i < n; i++) {
            double r = -solver->value[k] * vector(solver, i, k);

            for (size_t j = 0; j < n; j++)
                r += L[i * n + j] * vector(solver, j, k);
            square += r * r;
        }
        assert_true(fabs(sqrt(square) - solver->residual[k]) <= 1e-6 * last + 1e-14);
        assert_true(solver->residual[k] <= allowed);
    }
}

/* Values are those of L one by one, so that none is missing. A residual r moves a value by r at
 * most, and by r²/gap where others are far. */
static void check_pairs(enum net_shape shape, size_t n, size_t wanted, double gamma, double share)
{
    OWNED(made) made;
    OWNED(ny_lobpcg) solver;
    struct net net = net_of(shape, n);
    double *L, *value;

    make(&made, ctx, &net, gamma);
    n = made.graph.n;
    L = dense_weights(&net, &made.graph, made.gamma);
    normalise(L, n);
    solve(&solver, &made, wanted);
    check_vectors(&solver, L);
    value = least_of(L, n, n);
    for (size_t k = 0; k < wanted; k++)
        assert_true(fabs(solver.value[k] - value[k]) <= share * value[wanted - 1] + 1e-13);
}

TEST(test_pairs)
{
    check_pairs(SHEET, 1000, 11, -1, 1e-3);
    check_pairs(SHEET, 900, 4, 0, 1e-3);
    check_pairs(SMALL_WORLD, 800, 3, -1, 1e-3);
    /* rows whose degrees are no f32; that of a group, to which an eigenvector belongs */
    check_pairs(OUTLIER, 801, 3, -1, 1e-3);
    check_pairs(FAR_GROUP, 805, 3, -1, 1e-3);
    /* λ = 1 − cos(2πk/n) twice each, and the block may end within a pair; n/(n − 1) n − 1 times, of
     * which a block holds a few; 1 n − 2 times */
    check_pairs(CYCLE, 700, 4, -1, 1e-3);
    check_pairs(CYCLE, 700, 5, -1, 1e-3);
    check_pairs(COMPLETE, 600, 4, -1, 1e-3);
    check_pairs(STAR, 800, 4, -1, 1e-3);
    /* small graphs */
    check_pairs(PATH, 2, 2, -1, 1e-12);
    check_pairs(PATH, 2, 1, -1, 1e-12);
    check_pairs(PATH, 3, 3, -1, 1e-12);
    check_pairs(STAR, 9, 9, -1, 1e-12);
    check_pairs(COMPLETE, 40, 7, -1, 1e-12);
    check_pairs(SHEET, 512, 30, -1, 1e-12);
}

/* Halves joined by one edge of weight 1e-7: λ_2 is 1e-10, and found to four digits, though λ_3 is
 * 1e-4. */
TEST(test_nearly_disconnected)
{
    OWNED(made) made;
    OWNED(ny_lobpcg) solver;
    struct net net = net_of(DUMBBELL, 1000);
    double *L, *value;
    size_t n;

    make(&made, ctx, &net, -1);
    n = made.graph.n;
    L = dense_weights(&net, &made.graph, made.gamma);
    normalise(L, n);
    solve(&solver, &made, 2);
    check_vectors(&solver, L);
    value = least_of(L, n, 3);
    assert_true(value[1] < 1e-8 && value[2] > 1e-4);
    assert_true(fabs(solver.value[1] - value[1]) < 1e-4 * value[1]);
    assert_true(solver.at->steps < 15);
}

/* Returns ‖Lu_k‖ by the edges of the graph. */
static double product(const struct ny_lobpcg *solver, size_t k)
{
    const struct ny_affinity *affinity = solver->affinity;
    const struct ny_edges *graph = affinity->graph;
    double square = 0;

    for (size_t i = 0; i < solver->n; i++) {
        double sum = 0;

        for (uint64_t e = graph->head[i]; e < graph->head[i + 1]; e++)
            sum += affinity->weight[e] * (solver->x[i * solver->stride + k] -
                                          solver->x[graph->target[e] * solver->stride + k]);
        square += sum * sum / affinity->degree[i];
    }
    return sqrt(square);
}

/* A ring of sheets with edges of weights of 1e-7 to 1e-28 between them has more eigenvalues that
 * are 0 to rounding than the block holds. Vectors that are off by 1e-7 are mended in a few steps,
 * and take in nothing of what rounding makes of the others. */
TEST(test_many_groups)
{
    enum { GROUPS = 60, SIDE = 30, GROUP = SIDE * SIDE };
    OWNED(made) made;
    OWNED(ny_lobpcg) solver;
    struct net net = net_new(GROUPS * GROUP, 5);

    for (size_t i = 0; i < net.n; i++) {
        size_t x = i % SIDE, y = i % GROUP / SIDE;
        double far = 0.2 + (double)((uint32_t)(i * 2654435761U) >> 25) / 50;

        if (x + 1 < SIDE) net_link(&net, i, i + 1, far);
        if (y + 1 < SIDE) net_link(&net, i, i + SIDE, 2.8 - far);
        if (x + 1 < SIDE && y + 1 < SIDE) net_link(&net, i, i + SIDE + 1, 0.5 + far);
        if (x > 0 && y + 1 < SIDE) net_link(&net, i, i + SIDE - 1, 1 + far / 2);
        if (x == y && x % 10 == 5)
            net_link(&net, i, (i + GROUP) % net.n, 4 + (double)(i / GROUP % 9) / 2);
    }
    make(&made, ctx, &net, 1);
    assert_int_equal(made.graph.n, net.n);
    solve(&solver, &made, 8);
    for (size_t i = 0; i < solver.n * solver.stride; i++)
        solver.x[i] *= 1 + 1e-9 * (double)((uint32_t)(i * 2654435761U) >> 22);
    assert_int_equal(ny_lobpcg_residuals(&solver), NY_OK);
    assert_true(ny_lobpcg_excess(&solver) > 1e4);
    go_on(&solver);
    assert_true(solver.at->steps <= 16);
    for (size_t k = 0; k < 8; k++)
        assert_true(fabs(solver.value[k]) < 1e-16 && product(&solver, k) <= NY_LOBPCG_ROUNDING);
}

/* A torus of squares has 1 − (cos(2πa/N) + cos(2πb/N))/2. Its nodes have few ties, of which small
 * aggregates are made. */
TEST(test_mesh)
{
    enum { SIDE = 150, WANTED = 5 };
    const double expected = (1 - cos(2 * acos(-1) / SIDE)) / 2;
    OWNED(made) made;
    OWNED(ny_lobpcg) solver;
    struct net net = net_new((size_t)SIDE * SIDE, 2);

    for (size_t i = 0; i < net.n; i++) {
        net_link(&net, i, i / SIDE * SIDE + (i + 1) % SIDE, 1);
        net_link(&net, i, (i + SIDE) % net.n, 1);
    }
    make(&made, ctx, &net, 1);
    solve(&solver, &made, WANTED);
    assert_true(solver.at->steps <= 20);
    for (size_t k = 0; k < WANTED; k++)
        assert_true(fabs(solver.value[k] - (k ? expected : 0)) < 1e-3 * expected);
}

/* ---- starts and bytes ------------------------------------------------------------------------ */

/* A coarser graph has degrees that are more than its edges' weights: its dense problem, too. */
TEST(test_loops)
{
    OWNED(made) made;
    OWNED(ny_layout) l = {.ctx = ctx};
    OWNED(ny_lobpcg) solver;
    struct ny_coarse coarse;

    make_shape(&made, SHEET, 600);
    assert_int_equal(ny_coarse_new(&coarse, &l, &made.affinity, false), NY_OK);
    assert_int_equal(ny_lobpcg_new(&solver, &coarse.affinity, 9, 5, NULL), NY_OK);
    assert_true(solver.n < 512 && solver.at->steps == 0);
    for (size_t k = 0; k < 9; k++)
        assert_true(solver.residual[k] < 1e-12);
}

/* Coarser graphs give vectors from which a few steps are left. */
TEST(test_start)
{
    OWNED(made) made;
    OWNED(ny_lobpcg) solver;

    make_shape(&made, SHEET, 5000);
    solve(&solver, &made, 11);
    assert_true(solver.at->steps > 0 && solver.at->steps <= 9);
}

/* A node whose weights are below all numbers counts as hardly there. */
TEST(test_vanishing)
{
    struct ny_components components;
    struct ny_affinity affinity;
    struct ny_edges graph;
    struct net net = net_new(20, 1);

    for (size_t i = 0; i + 1 < 20; i++)
        net_link(&net, i, i + 1, i < 18 ? 1 : 50);
    assert_int_equal(ny_components_find(&components, ctx, &net.lists), NY_OK);
    assert_int_equal(ny_edges_new(&graph, ctx, &net.lists, &components, 0), NY_OK);
    assert_int_equal(ny_affinity_new(&affinity, &graph, 1), NY_OK);
    assert_true(affinity.degree[graph.node[19]] == 0x1p-960);
    assert_true(fabs(affinity.degree[graph.node[18]] / exp(-1) - 1) < 1e-15);
    ny_affinity_release(&affinity);
    ny_edges_release(&graph);
    ny_components_release(&components);
    check_pairs(OUTLIER, 801, 3, 40, 1e-3);
}

/* The bytes are the same for any number of threads, and from a state that was saved at any step. */
TEST(test_bytes)
{
    struct ny_lobpcg solver, other;
    OWNED(made) made;
    size_t bytes;

    ny_context_set_threads(ctx, 1);
    make_shape(&made, SHEET, 5000);
    solve(&solver, &made, 4);
    bytes = ny_lobpcg_state_bytes(solver.n, 4);
    for (unsigned step = 0; step < 4; step++) {
        double *image = ny_alloc(ctx, NY_MEM_SOLVE, bytes);

        ny_context_set_threads(ctx, 3);
        assert_int_equal(ny_lobpcg_new(&other, &made.affinity, 4, 5, NULL), NY_OK);
        for (unsigned s = 0; s < step; s++)
            assert_int_equal(ny_lobpcg_step(&other), NY_OK);
        memcpy(image, other.state, bytes);
        ny_lobpcg_release(&other);
        assert_int_equal(ny_lobpcg_new(&other, &made.affinity, 4, 5, image), NY_OK);
        while (!ny_lobpcg_converged(&other))
            assert_int_equal(ny_lobpcg_step(&other), NY_OK);
        assert_memory_equal(solver.state, other.state, bytes);
        ny_lobpcg_release(&other);
    }
    ny_lobpcg_release(&solver);
}

/* Tests the Gram with W less some columns, as if it depended on X and P: sums of rows of five
 * differ from those of rows of eight. */
TEST(test_gram)
{
    enum { N = 3000, W = 5 };
    double G[(8 + W) * W];
    OWNED(made) made;
    OWNED(ny_lobpcg) solver;

    make_shape(&made, SHEET, N);
    assert_int_equal(ny_lobpcg_new(&solver, &made.affinity, 3, 5, NULL), NY_OK);
    assert_int_equal(solver.columns, 8);
    CHECK(ny_lobpcg_gram(&solver, (struct ny_span){8, 0, W}, solver.w, solver.stride,
                         ny_matrix(G, 8 + W, W)));
    for (size_t i = 0; i < 8 + W; i++)
        for (size_t j = 0; j < W; j++) {
            double sum = 0, size = 0;

            for (size_t v = 0; v < N; v++) {
                const double *row = (i < 8 ? solver.x : solver.w - 8) + v * solver.stride;
                double term = row[i] * solver.affinity->degree[v] * solver.w[v * solver.stride + j];

                sum += term;
                size += fabs(term);
            }
            assert_true(fabs(G[i * W + j] - sum) <= 1e-13 * size);
        }
}

/* States that no step has left: they would be read beyond their ends. */
TEST(test_foreign_states)
{
    const double directions[] = {NAN, -1, 1e9, INFINITY};
    struct ny_lobpcg solver;
    struct made made;

    make_shape(&made, SHEET, 2000);
    for (size_t i = 0; i < sizeof(directions) / sizeof(directions[0]); i++) {
        double *image = ny_calloc(ctx, NY_MEM_SOLVE, 1, ny_lobpcg_state_bytes(2000, 4));

        ((struct ny_lobpcg_place *)(void *)image)->directions = directions[i];
        assert_int_equal(ny_lobpcg_new(&solver, &made.affinity, 4, 5, image), NY_ESTORE);
        ny_lobpcg_release(&solver);
    }
    unmake(&made);
    make_shape(&made, SHEET, 100);
    assert_int_equal(ny_lobpcg_new(&solver, &made.affinity, 4, 5, NULL), NY_OK);
    assert_int_equal(ny_lobpcg_step(&solver), NY_ENUMERIC);
    ny_lobpcg_release(&solver);
    unmake(&made);
}

/* Tests a step of inverse iteration whose block has a vector twice, which leaves fewer columns than
 * it needs: residuals of 0 leave the vectors as they are. */
TEST(test_dependent)
{
    OWNED(made) made;
    OWNED(ny_lobpcg) solver;

    make_shape(&made, SHEET, 2000);
    assert_int_equal(ny_lobpcg_new(&solver, &made.affinity, 4, 5, NULL), NY_OK);
    memset(solver.w, 0, solver.n * solver.stride * sizeof(double));
    for (size_t j = 0; j < solver.columns; j++)
        solver.value[j] = 0; /* below what rounding leaves, as of many groups */
    for (size_t i = 0; i < solver.n; i++)
        solver.x[i * solver.stride + 1] = solver.x[i * solver.stride];
    assert_int_equal(ny_lobpcg_step(&solver), NY_ENUMERIC);
}

AROUND_ALL(start, stop)
