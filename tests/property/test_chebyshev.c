/* graph/affinity.h and graph/chebyshev.h against the dense Laplacian, made of the lists and solved
 * by LAPACK: multiple eigenvalues, gaps of all sizes, hubs, graphs of a few nodes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/context.h"

#include "base/random.h"
#include "graph/chebyshev.h"
#include "graph/coarse.h"
#include "linalg/eigen.h"
#include "nystream.h"

struct net {
    size_t n, t;
    uint32_t *row;
    float *distance;
    struct ny_lists lists;
};

static void net_new(struct net *net, size_t n, size_t t)
{
    net->n = n;
    net->t = t;
    net->row = malloc(n * t * sizeof(uint32_t));
    net->distance = malloc(n * t * sizeof(float));
    for (size_t i = 0; i < n * t; i++) {
        net->row[i] = NY_NO_ROW;
        net->distance[i] = INFINITY;
    }
    net->lists = (struct ny_lists){.n = n,
                                   .stored = t,
                                   .t = t,
                                   .row = net->row,
                                   .distance = net->distance,
                                   .limit = INFINITY};
}

static void net_free(struct net *net)
{
    free(net->row);
    free(net->distance);
}

static void link(struct net *net, size_t from, size_t to, double distance)
{
    size_t at = from * net->t;

    while (net->row[at] != NY_NO_ROW)
        at++;
    assert_true(at < (from + 1) * net->t);
    net->row[at] = (uint32_t)to;
    net->distance[at] = (float)distance;
}

/* Points first … first + n − 1 in a square, with their four nearest by brute force. */
static void add_sheet(struct net *net, size_t first, size_t n)
{
    for (size_t i = first; i < first + n; i++)
        for (size_t k = 0; k < 4; k++) {
            double best = INFINITY;
            size_t at = 0;

            for (size_t j = first; j < first + n; j++) {
                double d = hypot(ny_hash01(1, NY_STREAM_DATA, 2 * i) -
                                     ny_hash01(1, NY_STREAM_DATA, 2 * j),
                                 ny_hash01(1, NY_STREAM_DATA, 2 * i + 1) -
                                     ny_hash01(1, NY_STREAM_DATA, 2 * j + 1));
                bool there = j == i;

                for (size_t l = 0; l < k; l++)
                    there = there || net->row[i * net->t + l] == j;
                if (there || d >= best) continue;
                best = d;
                at = j;
            }
            link(net, i, at, best);
        }
}

enum shape { SHEET, SMALL_WORLD, CYCLE, PATH, STAR, COMPLETE, DUMBBELL, OUTLIER, FAR_GROUP };
enum { GROUP = 5 };

static void net_of(struct net *net, enum shape shape, size_t n)
{
    size_t world = shape == SMALL_WORLD ? n
                   : shape == OUTLIER   ? n - 1
                   : shape == FAR_GROUP ? n - GROUP
                                        : 0;

    net_new(net, n, shape == COMPLETE ? n - 1 : 5);
    if (shape == SHEET) add_sheet(net, 0, n);
    if (shape == DUMBBELL) {
        add_sheet(net, 0, n / 2);
        add_sheet(net, n / 2, n - n / 2);
        link(net, 0, n - 1, 0.17);
    }
    if (shape == OUTLIER) link(net, n - 1, 0, 11);
    if (shape == FAR_GROUP) link(net, n - 1, 0, 11);
    for (size_t i = n - GROUP; shape == FAR_GROUP && i < n; i++)
        for (size_t j = n - GROUP; j < n; j++)
            if (j != i) link(net, i, j, 10.9);
    for (size_t i = 0; i < n; i++) {
        if (shape == CYCLE || (shape == PATH && i + 1 < n)) link(net, i, (i + 1) % n, 1);
        if (shape == STAR && i > 0) link(net, i, 0, 1);
        for (size_t j = 0; shape == COMPLETE && j < n; j++)
            if (j != i) link(net, i, j, 1);
        for (size_t k = 0; i < world && k < 5; k++) {
            size_t step = 1 + ny_hash64(k, NY_STREAM_DATA, i) % (world / 5 - 1) + k * (world / 5);
            size_t j = (i + step) % world;

            link(net, i, j, ny_hash01(9, NY_STREAM_DATA, i < j ? i * n + j : j * n + i));
        }
    }
}

/* A as the lists have it: node by node, each pair that is listed at least once. */
static double *dense_weights(const struct net *net, const struct ny_edges *graph, double gamma)
{
    double *A = calloc((size_t)graph->n * graph->n, sizeof(double));

    for (size_t i = 0; i < net->n; i++)
        for (size_t k = 0; k < net->t; k++) {
            uint32_t j = net->row[i * net->t + k];
            double d = (double)net->distance[i * net->t + k];

            if (j == NY_NO_ROW || graph->node[i] == NY_NO_ROW) continue;
            A[(size_t)graph->node[i] * graph->n + graph->node[j]] = fmax(exp(-gamma * d * d), 0x1p-960);
            A[(size_t)graph->node[j] * graph->n + graph->node[i]] = fmax(exp(-gamma * d * d), 0x1p-960);
        }
    return A;
}

/* L in place of A. */
static void normalise(double *A, size_t n)
{
    double *degree = calloc(n, sizeof(double));

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            degree[i] += A[i * n + j];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            A[i * n + j] = (i == j) - A[i * n + j] / sqrt(degree[i]) / sqrt(degree[j]);
    free(degree);
}

struct made {
    struct ny_components components;
    struct ny_edges graph;
    struct ny_affinity affinity;
    double gamma;
};

static void make(struct made *made, const struct net *net, double gamma)
{
    assert_int_equal(ny_components_find(&made->components, ctx, &net->lists), NY_OK);
    assert_int_equal(ny_edges_new(&made->graph, ctx, &net->lists, &made->components, 0), NY_OK);
    made->gamma = gamma;
    if (gamma < 0) assert_int_equal(ny_affinity_gamma(&made->graph, &made->gamma), NY_OK);
    assert_int_equal(ny_affinity_new(&made->affinity, &made->graph, made->gamma), NY_OK);
}

static void unmake(struct made *made)
{
    ny_affinity_release(&made->affinity);
    ny_edges_release(&made->graph);
    ny_components_release(&made->components);
}

static void solve(struct ny_chebyshev *solver, const struct made *made, size_t wanted)
{
    assert_int_equal(ny_chebyshev_new(solver, &made->affinity, wanted, 5, NULL), NY_OK);
    while (!ny_chebyshev_converged(solver)) {
        assert_int_equal(ny_chebyshev_step(solver), NY_OK);
        assert_true(solver->at->products < 20000);
    }
}

/* ---- pairs ---------------------------------------------------------------------------------- */

static void check_vectors(const struct ny_chebyshev *solver, const double *L)
{
    size_t n = solver->n, stride = solver->stride;
    double last = solver->value[solver->wanted - 1];
    double allowed = fmax(NY_CHEBYSHEV_RESIDUAL * last, NY_CHEBYSHEV_ROUNDING);

    for (size_t k = 0; k < solver->wanted; k++) {
        double square = 0;

        for (size_t l = 0; l <= k; l++) {
            double dot = 0;

            for (size_t i = 0; i < n; i++)
                dot += solver->x[i * stride + k] * solver->x[i * stride + l];
            assert_true(fabs(dot - (k == l)) < 1e-11);
        }
        for (size_t i = 0; i < n; i++) {
            double r = -solver->value[k] * solver->x[i * stride + k];

            for (size_t j = 0; j < n; j++)
                r += L[i * n + j] * solver->x[j * stride + k];
            square += r * r;
        }
        assert_true(fabs(sqrt(square) - solver->residual[k]) <= 1e-6 * last + 1e-14);
        assert_true(solver->residual[k] <= allowed);
    }
}

/* Values are those of L one by one, so that none is missing. A residual r moves a value by r at
 * most, and by r²/gap where others are far. */
static void check_pairs(enum shape shape, size_t n, size_t wanted, double gamma, double share)
{
    struct ny_chebyshev solver;
    struct made made;
    struct net net;
    double *L, *value, *V, last;

    net_of(&net, shape, n);
    make(&made, &net, gamma);
    n = made.graph.n;
    L = dense_weights(&net, &made.graph, made.gamma);
    value = malloc(n * sizeof(double));
    V = malloc(n * n * sizeof(double));
    normalise(L, n);
    solve(&solver, &made, wanted);
    check_vectors(&solver, L);
    for (size_t i = 0; i < n * n; i++)
        L[i] = -L[i];
    assert_int_equal(ny_eigen_top(ctx, ny_matrix(L, n, n), n, value, ny_matrix(V, n, n)), NY_OK);
    last = -value[wanted - 1];
    for (size_t k = 0; k < wanted; k++)
        assert_true(fabs(solver.value[k] + value[k]) <= share * last + 1e-13);
    free(V);
    free(value);
    free(L);
    ny_chebyshev_release(&solver);
    unmake(&made);
    net_free(&net);
}

static void test_pairs(void **state)
{
    (void)state;
    check_pairs(SHEET, 1000, 11, -1, 1e-3);
    check_pairs(SHEET, 900, 4, 0, 1e-3);
    check_pairs(SMALL_WORLD, 800, 3, -1, 1e-3);
}

/* Rows whose degrees are no f32; that of a group, to which an eigenvector belongs. */
static void test_outlier(void **state)
{
    (void)state;
    check_pairs(OUTLIER, 801, 3, -1, 1e-3);
    check_pairs(FAR_GROUP, 805, 3, -1, 1e-3);
}

/* λ = 1 − cos(2πk/n) twice each, and the block may end within a pair; n/(n − 1) n − 1 times, of
 * which a block holds a few; 1 n − 2 times. */
static void test_multiple(void **state)
{
    (void)state;
    check_pairs(CYCLE, 700, 4, -1, 1e-3);
    check_pairs(CYCLE, 700, 5, -1, 1e-3);
    check_pairs(COMPLETE, 600, 4, -1, 1e-3);
    check_pairs(STAR, 800, 4, -1, 1e-3);
}

static void test_small(void **state)
{
    (void)state;
    check_pairs(PATH, 2, 2, -1, 1e-12);
    check_pairs(PATH, 2, 1, -1, 1e-12);
    check_pairs(PATH, 3, 3, -1, 1e-12);
    check_pairs(STAR, 9, 9, -1, 1e-12);
    check_pairs(COMPLETE, 40, 7, -1, 1e-12);
    check_pairs(SHEET, 512, 30, -1, 1e-12);
}

/* Halves joined by one edge of weight 1e-7: λ_2 is 1e-10, and found to four digits, though λ_3 is 1e-4. */
static void test_nearly_disconnected(void **state)
{
    struct ny_chebyshev solver;
    struct made made;
    struct net net;
    double *L, value[3], *V;
    size_t n = 1000;

    (void)state;
    net_of(&net, DUMBBELL, n);
    make(&made, &net, -1);
    n = made.graph.n;
    L = dense_weights(&net, &made.graph, made.gamma);
    V = malloc(3 * n * sizeof(double));
    normalise(L, n);
    solve(&solver, &made, 2);
    check_vectors(&solver, L);
    for (size_t i = 0; i < n * n; i++)
        L[i] = -L[i];
    assert_int_equal(ny_eigen_top(ctx, ny_matrix(L, n, n), 3, value, ny_matrix(V, 3, n)), NY_OK);
    assert_true(-value[1] < 1e-8 && -value[2] > 1e-4);
    assert_true(fabs(solver.value[1] + value[1]) < -1e-4 * value[1]);
    assert_true(solver.at->products < 500); /* of polynomials that are cut where λ_3 is */
    free(V);
    free(L);
    ny_chebyshev_release(&solver);
    unmake(&made);
    net_free(&net);
}

/* ---- coarser graphs ------------------------------------------------------------------------- */

/* RᵀAR entry by entry, degrees, and that every aggregate is of two nodes at least. */
static void check_coarse(enum shape shape, size_t n)
{
    struct ny_coarse coarse;
    struct made made;
    struct net net;
    double *A, *C;
    size_t m, *nodes;

    net_of(&net, shape, n);
    make(&made, &net, -1);
    n = made.graph.n;
    assert_int_equal(ny_coarse_new(&coarse, &made.affinity), NY_OK);
    m = coarse.graph.n;
    A = dense_weights(&net, &made.graph, made.gamma);
    C = calloc(m * m, sizeof(double));
    nodes = calloc(m, sizeof(size_t));
    for (size_t i = 0; i < n; i++) {
        assert_true(coarse.of[i] < m);
        nodes[coarse.of[i]]++;
        for (size_t j = 0; j < n; j++)
            C[coarse.of[i] * m + coarse.of[j]] += A[i * n + j];
    }
    for (size_t k = 0; k < m; k++) {
        double degree = 0;

        for (size_t l = 0; l < m; l++)
            degree += C[k * m + l];
        assert_true(nodes[k] >= 2);
        assert_true(fabs(coarse.affinity.degree[k] - degree) < 1e-12 * degree);
        assert_true(coarse.affinity.inverse[k] == 1 / coarse.affinity.degree[k]);
        for (uint64_t e = coarse.graph.head[k]; e < coarse.graph.head[k + 1]; e++)
            C[k * m + coarse.graph.target[e]] -= coarse.affinity.weight[e];
        for (size_t l = 0; l < m; l++)
            assert_true(fabs(C[k * m + l]) < 1e-12 * degree);
    }
    free(nodes);
    free(C);
    free(A);
    ny_coarse_release(&coarse);
    unmake(&made);
    net_free(&net);
}

static void test_coarse(void **state)
{
    (void)state;
    check_coarse(SHEET, 600);
    check_coarse(SMALL_WORLD, 300);
    check_coarse(STAR, 40);
    check_coarse(PATH, 2);
    check_coarse(COMPLETE, 50);
    check_coarse(DUMBBELL, 200);
}

/* Coarser graphs give vectors from which 181 products are left. */
static void test_start(void **state)
{
    struct ny_chebyshev solver;
    struct made made;
    struct net net;

    (void)state;
    net_of(&net, SHEET, 5000);
    make(&made, &net, -1);
    solve(&solver, &made, 11);
    assert_true(solver.at->products < 220);
    ny_chebyshev_release(&solver);
    unmake(&made);
    net_free(&net);
}

/* ---- products ------------------------------------------------------------------------------- */

/* Blocks of f64, or of f32. */
static double value_of(const void *block, bool single, size_t at)
{
    return single ? (double)((const float *)block)[at] : ((const double *)block)[at];
}

static void set_value(void *block, bool single, size_t at, double value)
{
    if (single)
        ((float *)block)[at] = (float)value;
    else
        ((double *)block)[at] = value;
}

static void check_product(const struct made *made, const double *A, size_t stride, bool single,
                          bool before)
{
    size_t n = made->graph.n, count = n * stride;
    double share = single ? 1e-5 : 1e-12;
    void *x = ny_alloc(ctx, NY_MEM_SOLVE, count * sizeof(double));
    void *y = ny_alloc(ctx, NY_MEM_SOLVE, count * sizeof(double));
    struct ny_walk product = {.affinity = &made->affinity,
                              .stride = stride,
                              .single = single,
                              .x = x,
                              .y = y,
                              .own = 0.5,
                              .walk = -3,
                              .before = before ? -1 : 0};

    for (size_t i = 0; i < count; i++)
        set_value(x, single, i, ny_hash01(1, NY_STREAM_DATA, i) - 0.5);
    for (size_t i = 0; i < count; i++)
        set_value(y, single, i, before ? value_of(x, single, count - 1 - i) : NAN);
    assert_int_equal(ny_walk(&product), NY_OK);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < stride; l++) {
            double sum = 0, degree = 0, wanted, last = before ? 1 : 0;

            for (size_t j = 0; j < n; j++) {
                sum += A[i * n + j] * value_of(x, single, j * stride + l);
                degree += A[i * n + j];
            }
            wanted = 0.5 * value_of(x, single, i * stride + l) - 3 * sum / degree -
                     last * value_of(x, single, count - 1 - (i * stride + l));
            assert_true(fabs(value_of(y, single, i * stride + l) - wanted) < share);
        }
    ny_free(ctx, x);
    ny_free(ctx, y);
}

static void test_products(void **state)
{
    static const size_t strides[] = {16, 32, 48, 64, 112};
    struct made made;
    struct net net;
    double *A;

    (void)state;
    net_of(&net, SHEET, 300);
    make(&made, &net, -1);
    A = dense_weights(&net, &made.graph, made.gamma);
    for (size_t s = 0; s < sizeof(strides) / sizeof(strides[0]); s++)
        for (int way = 0; way < 4; way++)
            check_product(&made, A, strides[s], way & 1, way & 2);
    free(A);
    unmake(&made);
    net_free(&net);
}

/* The median of lengths 1, 2, …, 9 of a path, and none of equal points. */
static void test_gamma(void **state)
{
    struct made made;
    struct net net;

    (void)state;
    net_new(&net, 12, 1);
    for (size_t i = 0; i + 1 < 12; i++)
        link(&net, i, i + 1, i < 9 ? (double)i + 1 : 0);
    make(&made, &net, -1);
    assert_true(fabs(made.gamma - 0.04) < 1e-9);
    unmake(&made);
    net_free(&net);
    net_new(&net, 3, 1);
    link(&net, 0, 1, 0);
    link(&net, 1, 2, 0);
    make(&made, &net, -1);
    assert_true(made.gamma == 1);
    unmake(&made);
    net_free(&net);
}

/* A node whose weights are below all numbers counts as hardly there. */
static void test_vanishing(void **state)
{
    struct ny_components components;
    struct ny_affinity affinity;
    struct ny_edges graph;
    struct net net;

    (void)state;
    net_new(&net, 20, 1);
    for (size_t i = 0; i + 1 < 20; i++)
        link(&net, i, i + 1, i < 18 ? 1 : 50);
    assert_int_equal(ny_components_find(&components, ctx, &net.lists), NY_OK);
    assert_int_equal(ny_edges_new(&graph, ctx, &net.lists, &components, 0), NY_OK);
    assert_int_equal(ny_affinity_new(&affinity, &graph, 1), NY_OK);
    assert_true(affinity.degree[graph.node[19]] == 0x1p-960);
    assert_true(fabs(affinity.degree[graph.node[18]] / exp(-1) - 1) < 1e-15);
    ny_affinity_release(&affinity);
    ny_edges_release(&graph);
    ny_components_release(&components);
    net_free(&net);
    check_pairs(OUTLIER, 801, 3, 40, 1e-3);
}

/* ---- bytes ---------------------------------------------------------------------------------- */

/* The same by any number of threads, and from a state that was put aside at any place. */
static void test_bytes(void **state)
{
    struct ny_chebyshev solver, other;
    struct made made;
    struct net net;
    size_t bytes;

    (void)state;
    net_of(&net, SHEET, 5000);
    ny_context_set_threads(ctx, 1);
    make(&made, &net, -1);
    solve(&solver, &made, 4);
    bytes = ny_chebyshev_state_bytes(solver.n, 4);
    for (unsigned step = 0; step < 60; step += 19) {
        double *image = ny_alloc(ctx, NY_MEM_SOLVE, bytes);

        ny_context_set_threads(ctx, 3);
        assert_int_equal(ny_chebyshev_new(&other, &made.affinity, 4, 5, NULL), NY_OK);
        for (unsigned s = 0; s < step; s++)
            assert_int_equal(ny_chebyshev_step(&other), NY_OK);
        memcpy(image, other.state, bytes);
        ny_chebyshev_release(&other);
        assert_int_equal(ny_chebyshev_new(&other, &made.affinity, 4, 5, image), NY_OK);
        while (!ny_chebyshev_converged(&other))
            assert_int_equal(ny_chebyshev_step(&other), NY_OK);
        assert_memory_equal(solver.state, other.state, bytes);
        ny_chebyshev_release(&other);
    }
    ny_chebyshev_release(&solver);
    unmake(&made);
    net_free(&net);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),    cmocka_unit_test(test_outlier),
        cmocka_unit_test(test_multiple),
        cmocka_unit_test(test_small),    cmocka_unit_test(test_nearly_disconnected),
        cmocka_unit_test(test_products), cmocka_unit_test(test_gamma),
        cmocka_unit_test(test_vanishing), cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_coarse),    cmocka_unit_test(test_start),
    };

    return cmocka_run_group_tests(tests, start, stop);
}
