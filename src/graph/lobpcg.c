/*
 * Takes the steps of the eigensolver of eigenmaps (graph/lobpcg.h): the start on coarser graphs,
 * the new directions W, Rayleigh–Ritz over [X P W], and the test of convergence. maps/eigenmaps.c
 * runs it; work on tall blocks is in graph/lobpcg_rows.c, the preconditioner in graph/multigrid.c.
 *
 * X and P are orthonormal in the scalar product of D at every step, and XᵀLP = 0. W is therefore
 * made orthonormal to both in up to four rounds, so that Rayleigh–Ritz is an ordinary dense
 * eigenproblem of at most three times the block's columns. It uses what is known already: Θ = XᵀLX
 * is diagonal and PᵀLP is kept in `bend`, so that it multiplies only W by the graph. A graph with
 * at most 512 nodes, or three times the block's columns, is a dense problem and takes no steps at
 * all.
 */
#include <math.h>
#include <string.h>

#include "base/layout.h"
#include "base/random.h"
#include "graph/lobpcg_private.h"
#include "linalg/eigen.h"

/* A dense problem of this order costs less than the steps that it would save. */
enum { SMALL_GRAPH = 512 };

/* Residuals of a coarser graph's vectors, in shares of what is allowed, with which they will do as
 * the first ones of the next; and steps after which they will do as they are. */
static const double coarse_excess = 10;
static const double coarse_steps = 20;

/* σ in shares of λ_wanted: small beside it, so that wanted vectors are told apart, and large beside
 * what rounding makes of the trivial one. */
static const double shift_share = 0.01;

/* Columns beyond those wanted: steps make errors smaller by a factor that is λ_wanted/λ of the
 * first vector that the block does not hold. */
static size_t block_columns(size_t wanted)
{
    return ny_stride_of(wanted + (wanted / 2 > 5 ? wanted / 2 : 5));
}

/* Tells whether the graph is solved as a dense problem: it has few nodes, or [X P W] would have a
 * column for each of them. */
static bool is_small(uint64_t n, size_t wanted)
{
    return n <= SMALL_GRAPH || n <= 3 * block_columns(wanted);
}

/* Returns the columns of the block: those wanted, and of graphs that take steps some more. */
static size_t columns_of(uint64_t n, size_t wanted)
{
    return is_small(n, wanted) ? wanted : block_columns(wanted);
}

/* Returns the doubles of a state before X, filled up to whole strips. */
static size_t head_doubles(size_t columns)
{
    size_t doubles = sizeof(struct ny_lobpcg_place) / sizeof(double) + (2 + columns) * columns;

    return (doubles + NY_STRIP_COLUMNS - 1) / NY_STRIP_COLUMNS * NY_STRIP_COLUMNS;
}

static size_t state_doubles(size_t n, size_t columns)
{
    return head_doubles(columns) + 2 * n * ny_stride_of(columns);
}

size_t ny_lobpcg_state_bytes(uint64_t n, size_t wanted)
{
    return state_doubles((size_t)n, columns_of(n, wanted)) * sizeof(double);
}

/* Lays out a block of n rows; the state, unless it was saved. The sums are those of the largest
 * Gram matrix or, in a small graph, whose vectors are all found at once, of residuals. */
static void lay(struct ny_layout *l, struct ny_lobpcg *solver, size_t n)
{
    size_t columns = solver->columns, stride = ny_stride_of(columns);
    size_t sums = NY_LOBPCG_GROUPS * (is_small(n, solver->wanted) ? 1 : 3 * columns);

    solver->state = solver->image;
    if (!solver->image)
        solver->state = ny_lay(l, NY_MEM_SOLVE, state_doubles(n, columns), sizeof(double));
    solver->w = ny_lay(l, NY_MEM_SOLVE, n, stride * sizeof(double));
    solver->sums = ny_lay(l, NY_MEM_SOLVE, sums, stride * sizeof(double));
}

/* Returns the largest residual that a wanted pair may have. */
static double allowed(const struct ny_lobpcg *solver)
{
    return fmax(NY_LOBPCG_RESIDUAL * solver->value[solver->wanted - 1], NY_LOBPCG_ROUNDING);
}

double ny_lobpcg_excess(const struct ny_lobpcg *solver)
{
    double most = 0;

    for (size_t j = 0; j < solver->wanted; j++) {
        if (isnan(solver->residual[j])) return INFINITY;
        most = fmax(most, solver->residual[j]);
    }
    return most / allowed(solver);
}

bool ny_lobpcg_converged(const struct ny_lobpcg *solver)
{
    return ny_lobpcg_excess(solver) <= 1;
}

double ny_lobpcg_ahead(const struct ny_lobpcg *solver)
{
    double excess = ny_lobpcg_excess(solver), fell = solver->at->before / excess;

    if (excess <= 1) return 0;
    return fell > 1 ? ceil(log(excess) / log(fell)) : INFINITY;
}

/* ---- W -------------------------------------------------------------------------------------- */

/* T with TᵀGT = 1 of as many columns as G, W's Gram, is safely of rank (Stathopoulos & Wu 2002);
 * the least eigenvalue beside the largest. */
static int whiten(const struct ny_lobpcg *solver, struct ny_matrix G, struct ny_matrix *T,
                  double *least)
{
    const double lost = 1e-13;
    struct ny_context *ctx = solver->ctx;
    size_t m = G.rows, kept = 0;
    double *space = ny_alloc(ctx, NY_MEM_SOLVE, (m + 2) * m * sizeof(double)), *scale, *value;
    struct ny_matrix V;
    int err;

    if (!space) return NY_EBUDGET;
    scale = space;
    value = space + m;
    V = ny_matrix(value + m, m, m);
    for (size_t i = 0; i < m; i++)
        scale[i] = G.at[i * m + i] > 0 ? 1 / sqrt(G.at[i * m + i]) : 0;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            G.at[i * m + j] *= scale[i] * scale[j];
    err = ny_eigen_top(ctx, G, m, value, V);
    while (err == NY_OK && kept < m && value[kept] > lost * value[0])
        kept++;
    *least = err == NY_OK && kept ? value[kept - 1] / value[0] : 0;
    *T = ny_matrix(T->at, m, kept);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < kept; j++)
            T->at[i * kept + j] = scale[i] * V.at[j * m + i] / sqrt(value[j]);
    ny_free(ctx, space);
    return err;
}

/* W's columns orthonormal to X, P and each other; span->w is how many they are then. The first
 * round only takes out X and P, so that what is left is known to all its digits in the second. */
static int orthonormalise(const struct ny_lobpcg *solver, struct ny_span *span)
{
    enum { ROUNDS = 4 };
    size_t m = solver->columns, basis = span->x + span->p;
    double *space = ny_alloc(solver->ctx, NY_MEM_SOLVE, (basis + 2 * m) * m * sizeof(double));
    double least = 0;
    int err = space ? NY_OK : NY_EBUDGET;

    span->w = m;
    for (int round = 0; round < ROUNDS && span->w && least < 1e-3 && err == NY_OK; round++) {
        size_t w = span->w;
        struct ny_matrix M = ny_matrix(space, basis + w, w);
        struct ny_matrix G = ny_rows(M, basis, w), T = ny_matrix(space + (basis + m) * m, w, w);

        err = ny_lobpcg_gram(solver, *span, solver->w, solver->stride, M);
        if (err == NY_OK && round > 0) {
            err = whiten(solver, G, &T, &least);
        } else if (err == NY_OK) {
            memset(T.at, 0, w * w * sizeof(double));
            for (size_t i = 0; i < w; i++)
                T.at[i * w + i] = G.at[i * w + i] > 0 ? 1 / sqrt(G.at[i * w + i]) : 0;
        }
        if (err == NY_OK) err = ny_lobpcg_project(solver, *span, M, T);
        span->w = T.cols;
    }
    ny_free(solver->ctx, space);
    return err;
}

/* ---- Rayleigh–Ritz -------------------------------------------------------------------------- */

struct ritz {
    size_t size, columns, directions;
    struct ny_matrix H, S; /* size × size; a vector of H a row of S */
    struct ny_matrix K;    /* P among the vectors beyond X: (size − columns) × directions */
    struct ny_matrix V;    /* size × (columns + directions): X and P in the old basis */
    struct ny_matrix M;    /* size × NY_STRIP_COLUMNS */
    double *value;         /* size */
};

static void lay_ritz(struct ny_layout *l, struct ritz *ritz, size_t size, size_t m)
{
    size_t beyond = size - m, directions = beyond < m ? beyond : m;

    *ritz = (struct ritz){.size = size, .columns = m, .directions = directions};
    ritz->H = ny_lay_matrix(l, NY_MEM_SOLVE, size, size);
    ritz->S = ny_lay_matrix(l, NY_MEM_SOLVE, size, size);
    ritz->K = ny_lay_matrix(l, NY_MEM_SOLVE, beyond, directions);
    ritz->V = ny_lay_matrix(l, NY_MEM_SOLVE, size, m + directions);
    ritz->M = ny_lay_matrix(l, NY_MEM_SOLVE, size, NY_STRIP_COLUMNS);
    ritz->value = ny_lay(l, NY_MEM_SOLVE, size, sizeof(double));
}

/* −[X P W]ᵀ(D − A)[X P W], its lower triangle: Θ and PᵀLP are known, and XᵀLP is 0. */
static int fill_products(const struct ny_lobpcg *solver, struct ny_span span, struct ritz *ritz)
{
    size_t size = ritz->size, w = span.x + span.p;
    double *H = ritz->H.at;
    int err = NY_OK;

    memset(H, 0, size * size * sizeof(double));
    for (size_t i = 0; i < span.x; i++)
        H[i * size + i] = -solver->value[i];
    for (size_t i = 0; i < span.p; i++)
        for (size_t j = 0; j < span.p; j++)
            H[(span.x + i) * size + span.x + j] = -solver->bend[i * span.p + j];
    for (size_t s = 0; s * NY_STRIP_COLUMNS < span.w && err == NY_OK; s++) {
        size_t column = w + s * NY_STRIP_COLUMNS;
        const struct ny_grid *grid = &solver->grids->grid[solver->grid];

        err = ny_lobpcg_apply(solver, s);
        if (err == NY_OK) err = ny_check_interrupt(solver->ctx);
        if (err == NY_OK) err = ny_lobpcg_gram(solver, span, grid->r, NY_STRIP_COLUMNS, ritz->M);
        for (size_t j = 0; j < NY_STRIP_COLUMNS && column + j < size && err == NY_OK; j++)
            for (size_t i = 0; i < size; i++)
                H[i < w ? (column + j) * size + i : i * size + column + j] =
                    -ritz->M.at[i * NY_STRIP_COLUMNS + j];
    }
    for (size_t i = w; i < size; i++) /* both triangles of WᵀLW are there */
        for (size_t j = w; j < i; j++)
            H[i * size + j] = (H[i * size + j] + H[j * size + i]) / 2;
    return err;
}

/* Makes P of the part of the new X that is not in the old, orthonormal within the vectors beyond X,
 * so that it is orthogonal to X twice over; and PᵀLP. */
static int find_directions(struct ny_lobpcg *solver, size_t x, struct ritz *ritz)
{
    size_t m = ritz->columns, beyond = ritz->K.rows, d = ritz->directions;
    struct ny_matrix K = ritz->K, S = ny_rows(ritz->S, m, beyond);
    int err = NY_OK;

    if (beyond > m) {
        ny_gemm(1, ny_cols(S, x, ritz->size - x),
                ny_t(ny_cols(ny_rows(ritz->S, 0, m), x, ritz->size - x)), 0, K);
        err = ny_orthonormalise(solver->ctx, K);
    } else {
        memset(K.at, 0, beyond * d * sizeof(double));
        for (size_t i = 0; i < beyond; i++)
            K.at[i * d + i] = 1;
    }
    for (size_t i = 0; i < d; i++)
        for (size_t j = 0; j < d; j++) {
            double sum = 0;

            for (size_t k = 0; k < beyond; k++)
                sum -= K.at[k * d + i] * ritz->value[m + k] * K.at[k * d + j];
            solver->bend[i * d + j] = sum;
        }
    for (size_t i = 0; i < ritz->size; i++)
        for (size_t j = 0; j < m; j++)
            ritz->V.at[i * ritz->V.stride + j] = ritz->S.at[j * ritz->size + i];
    if (d) ny_gemm(1, ny_t(S), K, 0, ny_cols(ritz->V, m, d));
    return err;
}

/* The best block in the span of X, P and W, which are orthonormal. */
static int rayleigh_ritz(struct ny_lobpcg *solver, struct ny_span span)
{
    struct ny_layout l = {.ctx = solver->ctx};
    struct ritz ritz;
    int err;

    lay_ritz(&l, &ritz, ny_span_columns(span), solver->columns);
    err = l.err;
    if (err == NY_OK) err = fill_products(solver, span, &ritz);
    if (err == NY_OK) err = ny_eigen_top(solver->ctx, ritz.H, ritz.size, ritz.value, ritz.S);
    if (err == NY_OK) err = find_directions(solver, span.x, &ritz);
    if (err == NY_OK) err = ny_lobpcg_rotate(solver, span, ritz.V);
    for (size_t j = 0; j < solver->columns && err == NY_OK; j++)
        solver->value[j] = -ritz.value[j];
    if (err == NY_OK) solver->at->directions = (double)ritz.directions;
    ny_layout_free(&l);
    return err;
}

/* ---- steps ---------------------------------------------------------------------------------- */

/* Fails where the span has fewer columns than the block, which Rayleigh–Ritz could not fill. */
static int check_columns(const struct ny_lobpcg *solver, struct ny_span span)
{
    if (ny_span_columns(span) >= solver->columns) return NY_OK;
    return ny_fail(solver->ctx, NY_ENUMERIC,
                   "%zu vectors of the graph depend on each other: the weights of its edges are "
                   "too far apart; give a smaller --gamma, or --edge-weights binary",
                   solver->columns);
}

/* Chooses the shift, and a new one once λ_wanted has fallen below it. */
static void choose_shift(struct ny_lobpcg *solver)
{
    double wanted = solver->value[solver->wanted - 1];

    if (solver->at->shift > 0 && wanted >= solver->at->shift) return;
    solver->at->shift = fmax(shift_share * wanted, NY_LOBPCG_ROUNDING / 100);
    ny_multigrid_shift(solver->grids, solver->at->shift);
}

/* Returns how far X goes against a preconditioned residual: one over each root in turn of the
 * Chebyshev polynomial of degree 4 on 0.2 … 1.1, where multigrid leaves eigenvalues that are not 0.
 * The last one of a round is short. */
static double refinement(const struct ny_lobpcg *solver)
{
    static const double roots[] = {0.2343, 1.0657, 0.4778, 0.8222};

    return 1 / roots[(size_t)solver->at->steps % (sizeof(roots) / sizeof(roots[0]))];
}

int ny_lobpcg_step(struct ny_lobpcg *solver)
{
    struct ny_span span = {solver->columns, (size_t)solver->at->directions, 0};
    double before = ny_lobpcg_excess(solver);
    int err;

    if (is_small(solver->n, solver->wanted)) /* whose vectors are those of a dense problem */
        return ny_fail(solver->ctx, NY_ENUMERIC,
                       "the eigenvectors of a graph of %zu nodes have residuals %.2g times as "
                       "large as allowed",
                       solver->n, before);
    choose_shift(solver);
    err = ny_lobpcg_precondition(solver);
    if (err == NY_OK && solver->value[solver->wanted - 1] < NY_LOBPCG_ROUNDING) {
        /* all are 0: new directions would not tell them apart (graph/lobpcg.h) */
        span = (struct ny_span){0};
        err = ny_lobpcg_refine(solver, refinement(solver));
    }
    if (err == NY_OK) err = orthonormalise(solver, &span);
    if (err == NY_OK) err = check_columns(solver, span);
    if (err == NY_OK) err = rayleigh_ritz(solver, span);
    if (err) return err;
    solver->at->before = before;
    solver->at->steps++;
    return ny_lobpcg_residuals(solver);
}

/* ---- the start ------------------------------------------------------------------------------ */

/* Points the members of the solver into its state. */
static void lay_out(struct ny_lobpcg *solver)
{
    size_t columns = solver->columns;

    solver->at = (struct ny_lobpcg_place *)(void *)solver->state;
    solver->value = solver->state + sizeof(*solver->at) / sizeof(double);
    solver->residual = solver->value + columns;
    solver->bend = solver->residual + columns;
    solver->x = solver->state + head_doubles(columns);
    solver->p = solver->x + solver->n * solver->stride;
}

/* Makes the solver of a grid. image: a state that was saved (taken over), or NULL. */
static int block_new(struct ny_lobpcg *solver, struct ny_multigrid *grids, size_t grid,
                     size_t wanted, size_t columns, double *image)
{
    const struct ny_affinity *affinity = grids->grid[grid].affinity;
    struct ny_context *ctx = affinity->ctx;
    size_t n = affinity->graph->n;

    *solver = (struct ny_lobpcg){.own = solver->own,
                                 .ctx = ctx,
                                 .affinity = affinity,
                                 .grids = grids,
                                 .grid = grid,
                                 .n = n,
                                 .wanted = wanted,
                                 .columns = columns,
                                 .stride = ny_stride_of(columns),
                                 .image = image};
    solver->own.ctx = ctx;
    lay(&solver->own, solver, n);
    if (!solver->own.err) lay_out(solver);
    return solver->own.err;
}

/* Leaves X alone, which a finer graph starts from. */
static int block_shrink(struct ny_lobpcg *solver)
{
    struct ny_layout left = {.ctx = solver->ctx};
    double *x = ny_lay(&left, NY_MEM_SOLVE, solver->n, solver->stride * sizeof(double));

    if (!x) return ny_layout_end(&left);
    memcpy(x, solver->x, solver->n * solver->stride * sizeof(double));
    ny_layout_free(&solver->own);
    *solver = (struct ny_lobpcg){.own = left, .x = x, .stride = solver->stride};
    return NY_OK;
}

/* Finds X of a small graph from all of D^-½AD^-½ − 1. */
static int solve_dense(struct ny_lobpcg *solver)
{
    const struct ny_affinity *affinity = solver->affinity;
    struct ny_layout l = {.ctx = solver->ctx};
    size_t n = solver->n, m = solver->columns;
    struct ny_matrix L = ny_lay_matrix(&l, NY_MEM_SOLVE, n, n);
    struct ny_matrix V = ny_lay_matrix(&l, NY_MEM_SOLVE, m, n);
    int err;

    if (l.err) return ny_layout_end(&l);
    for (size_t i = 0; i < n; i++) {
        double root = sqrt(affinity->degree[i]);

        L.at[i * n + i] = -affinity->outward[i] * affinity->inverse[i];
        for (uint64_t e = affinity->graph->head[i]; e < affinity->graph->head[i + 1]; e++) {
            size_t j = affinity->graph->target[e];

            L.at[i * n + j] = affinity->weight[e] / root / sqrt(affinity->degree[j]);
        }
    }
    err = ny_eigen_top(solver->ctx, L, m, solver->value, V);
    for (size_t j = 0; j < m && err == NY_OK; j++) {
        solver->value[j] = -solver->value[j];
        for (size_t i = 0; i < n; i++)
            solver->x[i * solver->stride + j] = V.at[j * n + i] / sqrt(affinity->degree[i]);
    }
    ny_layout_free(&l);
    return err;
}

/* Starts with random u, so that z is large where degrees are small, and with the trivial one. */
static void start_random(struct ny_lobpcg *solver, uint64_t seed)
{
    for (size_t i = 0; i < solver->n; i++) {
        double *row = solver->w + i * solver->stride;
        double root = sqrt(solver->affinity->inverse[i]);

        ny_gaussian(seed, NY_STREAM_RANGE, i * solver->stride, row, solver->columns);
        for (size_t j = 0; j < solver->columns; j++)
            row[j] *= root;
        row[0] = 1;
    }
}

/* Puts Rz of the next grid's z into W. */
static void start_from(struct ny_lobpcg *solver, const struct ny_lobpcg *coarse)
{
    const uint32_t *of = solver->grids->grid[solver->grid].coarse.of;

    for (size_t i = 0; i < solver->n; i++)
        memcpy(solver->w + i * solver->stride, coarse->x + of[i] * coarse->stride,
               solver->columns * sizeof(double));
}

static int make_block(struct ny_lobpcg *solver, struct ny_multigrid *grids, size_t grid,
                      size_t wanted, size_t columns, uint64_t seed);

/* Finds X of the next grid, if it has nodes enough. */
static int find_start(struct ny_lobpcg *coarse, struct ny_multigrid *grids, size_t next,
                      size_t wanted, size_t columns, uint64_t seed)
{
    int err;

    if (next == grids->count || grids->grid[next].affinity->graph->n < 2 * columns) return NY_OK;
    err = make_block(coarse, grids, next, wanted, columns, seed);
    while (err == NY_OK && ny_lobpcg_excess(coarse) > coarse_excess &&
           coarse->at->steps < coarse_steps)
        err = ny_lobpcg_step(coarse);
    return err ? err : block_shrink(coarse);
}

/* The first orthonormal X, P and R of a graph that is not small. */
static int start_block(struct ny_lobpcg *solver, const struct ny_lobpcg *coarse, uint64_t seed)
{
    struct ny_span span = {0};
    int err;

    if (coarse->x)
        start_from(solver, coarse);
    else
        start_random(solver, seed);
    err = orthonormalise(solver, &span);
    if (err == NY_OK) err = check_columns(solver, span);
    return err ? err : rayleigh_ritz(solver, span);
}

/* Makes X, P and R as they are before a step. */
static int make_block(struct ny_lobpcg *solver, struct ny_multigrid *grids, size_t grid,
                      size_t wanted, size_t columns, uint64_t seed)
{
    struct ny_lobpcg coarse = {0};
    bool small = is_small(grids->grid[grid].affinity->graph->n, wanted);
    int err = small ? NY_OK : find_start(&coarse, grids, grid + 1, wanted, columns, seed);

    if (err == NY_OK) err = block_new(solver, grids, grid, wanted, columns, NULL);
    if (err == NY_OK) err = small ? solve_dense(solver) : start_block(solver, &coarse, seed);
    ny_layout_free(&coarse.own);
    return err ? err : ny_lobpcg_residuals(solver);
}

/* A state that was saved may be anybody's: its numbers are sizes, or end the steps. */
static int check_place(const struct ny_lobpcg *solver)
{
    const struct ny_lobpcg_place *at = solver->at;

    if (at->directions >= 0 && at->directions <= (double)solver->columns && at->steps >= 0 &&
        at->steps < 0x1p32 && isfinite(at->shift))
        return NY_OK;
    return ny_fail_damaged(solver->ctx, NULL, NULL);
}

int ny_lobpcg_new(struct ny_lobpcg *solver, const struct ny_affinity *affinity, size_t wanted,
                  uint64_t seed, double *image)
{
    struct ny_context *ctx = affinity->ctx;
    size_t columns = columns_of(affinity->graph->n, wanted);
    struct ny_multigrid *grids;
    int err;

    *solver = (struct ny_lobpcg){.own.ctx = ctx, .ctx = ctx, .image = image};
    grids = ny_lay(&solver->own, NY_MEM_SOLVE, 1, sizeof(*grids));
    err = grids ? ny_multigrid_new(grids, &solver->own, affinity) : NY_EBUDGET;
    if (err) return err;
    ny_blas_serial(); /* workers multiply rows, each with BLAS calls of one thread */
    if (!image) return make_block(solver, grids, 0, wanted, columns, seed);
    err = block_new(solver, grids, 0, wanted, columns, image);
    if (err == NY_OK) err = check_place(solver);
    if (err) return err;
    ny_multigrid_shift(grids, solver->at->shift);
    return ny_lobpcg_residuals(solver);
}

void ny_lobpcg_release(struct ny_lobpcg *solver)
{
    if (solver->image) ny_free(solver->ctx, solver->image);
    ny_layout_free(&solver->own);
    *solver = (struct ny_lobpcg){0};
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void count_dense(struct ny_layout *l, size_t n, size_t columns)
{
    ny_lay_matrix(l, NY_MEM_SOLVE, n, n);
    ny_lay_matrix(l, NY_MEM_SOLVE, columns, n);
    ny_eigen_top_count(l, n, columns);
}

static void count_step(struct ny_layout *l, size_t columns, unsigned threads)
{
    size_t size = 3 * columns;
    struct ritz ritz;

    lay_ritz(l, &ritz, size, columns);
    ny_eigen_top_count(l, size, size);
    ny_orthonormalise_count(l, columns);
    ny_lobpcg_rows_count(l, columns, threads);
}

/* The dense problem of the coarsest graph comes before a step. X of the graph that the block starts
 * from has at most half of the nodes. */
void ny_lobpcg_count(struct ny_layout *l, uint64_t n, uint64_t edges, size_t wanted,
                     unsigned threads)
{
    size_t columns = columns_of(n, wanted);
    struct ny_lobpcg solver = {.wanted = wanted, .columns = columns};
    struct ny_layout_mark mark;

    ny_lay(l, NY_MEM_SOLVE, 1, sizeof(struct ny_multigrid));
    ny_multigrid_count(l, n, edges);
    lay(l, &solver, (size_t)n);
    mark = ny_layout_mark(l);
    if (is_small(n, wanted)) {
        count_dense(l, (size_t)n, columns);
        return;
    }
    count_dense(l, 3 * columns > SMALL_GRAPH ? 3 * columns : SMALL_GRAPH, columns);
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_SOLVE, (size_t)n / 2, ny_stride_of(columns) * sizeof(double));
    count_step(l, columns, threads);
}
