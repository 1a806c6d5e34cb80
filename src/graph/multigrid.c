/*
 * Applies the preconditioner of lobpcg (graph/multigrid.h): builds the grids, sets their shift, and
 * runs a W cycle on eight vectors at a time. graph/lobpcg_rows.c calls ny_multigrid_solve() in a
 * team of workers, all of which go through the same steps.
 *
 * A cycle relaxes, restricts the residual to the next grid, solves there from 0 by two cycles (by
 * one on the coarsest), adds the correction and relaxes again. Both relaxations are one polynomial
 * of N = Δ⁻¹(D − A + σD), so that the cycle is symmetric in the scalar product of Δ. The coarsest
 * grid is relaxed twice and not solved. Grids of fewer than 256 nodes are left to worker 0, while
 * the others wait for it.
 */
#include "graph/multigrid.h"

#include "base/layout.h"

/* Relaxation reduces the errors of eigenvalues of N = Δ⁻¹(D − A + σD) in [smooth, 2] by the
 * polynomial q(N) = κ₁ + κ₂N whose 1 − tq(t) = T₂((c − t)/e)/T₂(c/e) is least there. c and e are
 * the middle and the half length of the interval. */
static const double smooth = 0.3;

/* The most nodes of a graph that is relaxed where its aggregates are small. */
enum { RELAXED = 512 };

/* Nodes from which on workers share a graph: meeting takes longer than what fewer need. */
enum { SHARED = NY_TEAM_ITEMS };

static void polynomial(double *constant, double *linear)
{
    double middle = (2 + smooth) / 2, half = (2 - smooth) / 2;
    double at_zero = 2 * middle * middle / (half * half) - 1; /* T₂(c/e) */

    *constant = 4 * middle / (half * half * at_zero);
    *linear = -2 / (half * half * at_zero);
}

/* ---- the grids ------------------------------------------------------------------------------ */

static void lay(struct ny_layout *l, struct ny_grid *grid, size_t n)
{
    grid->delta = ny_lay(l, NY_MEM_SOLVE, n, sizeof(double));
    grid->inverse = ny_lay(l, NY_MEM_SOLVE, n, sizeof(double));
    grid->x = ny_lay(l, NY_MEM_SOLVE, n, NY_STRIP_COLUMNS * sizeof(double));
    grid->b = ny_lay(l, NY_MEM_SOLVE, n, NY_STRIP_COLUMNS * sizeof(double));
    grid->r = ny_lay(l, NY_MEM_SOLVE, n, NY_STRIP_COLUMNS * sizeof(double));
}

/* Tells whether the coarser graph pays, which takes at most half of the nodes and edges. */
static bool worth(const struct ny_coarse *coarse, const struct ny_affinity *fine)
{
    return coarse->graph.n <= fine->graph->n / 2 &&
           coarse->graph.head[coarse->graph.n] <= fine->graph->head[fine->graph->n] / 2;
}

/* Makes the coarser graph. Where nodes have few strong ties, as in a mesh or a net of roads, some
 * of its aggregates are joined, unless the graph is so small that relaxing it will do. */
static int coarsen(struct ny_coarse *coarse, struct ny_layout *l, const struct ny_affinity *fine)
{
    const struct ny_layout_mark mark = ny_layout_mark(l);
    int err = ny_coarse_new(coarse, l, fine, false);

    if (!err && !worth(coarse, fine) && fine->graph->n > RELAXED) {
        ny_layout_back(l, &mark);
        err = ny_coarse_new(coarse, l, fine, true);
    }
    if (!err && worth(coarse, fine)) return NY_OK;
    ny_layout_back(l, &mark);
    *coarse = (struct ny_coarse){0};
    return err;
}

int ny_multigrid_new(struct ny_multigrid *grids, struct ny_layout *l,
                     const struct ny_affinity *affinity)
{
    *grids = (struct ny_multigrid){0};
    for (;;) {
        struct ny_grid *grid = &grids->grid[grids->count++];
        int err;

        *grid = (struct ny_grid){.affinity = affinity};
        lay(l, grid, affinity->graph->n);
        err = l->err ? l->err : ny_check_interrupt(affinity->ctx);
        if (err || affinity->graph->n < 2) return err;
        err = coarsen(&grid->coarse, l, affinity);
        if (err || !grid->coarse.of) return err;
        affinity = &grid->coarse.affinity;
    }
}

void ny_multigrid_shift(struct ny_multigrid *grids, double shift)
{
    grids->shift = shift;
    for (size_t g = 0; g < grids->count; g++) {
        struct ny_grid *grid = &grids->grid[g];

        for (uint32_t v = 0; v < grid->affinity->graph->n; v++) {
            grid->delta[v] = grid->affinity->outward[v] + shift * grid->affinity->degree[v];
            grid->inverse[v] = 1 / grid->delta[v];
        }
    }
}

/* Each grid has at most half of the nodes and edges of the finer one once it is made. */
void ny_multigrid_count(struct ny_layout *l, uint64_t nodes, uint64_t edges)
{
    size_t entries = 2 * (size_t)edges;

    for (size_t n = (size_t)nodes; n > 0; n /= 2, entries /= 2) {
        struct ny_grid grid;

        lay(l, &grid, n);
        ny_coarse_count(l, n, entries);
    }
}

/* ---- a cycle -------------------------------------------------------------------------------- */

struct cycle {
    struct ny_multigrid *grids;
    const struct ny_worker *worker;
};

/* y ← base + own·x + factor·Nx */
static void product(const struct cycle *cycle, const struct ny_grid *grid, const double *x,
                    double *y, struct ny_laplacian with)
{
    with.affinity = grid->affinity;
    with.inverse = grid->inverse;
    with.shift = cycle->grids->shift;
    with.x = x;
    with.y = y;
    with.x_stride = with.y_stride = NY_STRIP_COLUMNS;
    ny_laplacian_step(cycle->worker, &with);
}

/* r = b − Nx */
static void residual(const struct cycle *cycle, const struct ny_grid *grid)
{
    product(cycle, grid, grid->x, grid->r, (struct ny_laplacian){.base = grid->b, .factor = -1});
}

/* x ← x + q(N)(b − Nx); x may be 0 without having been written. */
static void relax(const struct cycle *cycle, const struct ny_grid *grid, bool zero)
{
    struct ny_laplacian q = {.base = zero ? NULL : grid->x};

    if (!zero) residual(cycle, grid);
    polynomial(&q.own, &q.factor);
    product(cycle, grid, zero ? grid->b : grid->r, grid->x, q);
}

/* Sets b of the next grid to Rᵀ of the residuals r, which have no Δ⁻¹ there. */
static void restrict_rows(void *arg, size_t first, size_t count)
{
    const struct ny_grid *grid = arg, *next = grid + 1;

    for (size_t k = first; k < first + count; k++) {
        double sum[NY_STRIP_COLUMNS] = {0};

        for (uint32_t i = grid->coarse.first[k]; i < grid->coarse.first[k + 1]; i++) {
            uint32_t v = grid->coarse.member[i];

            for (size_t j = 0; j < NY_STRIP_COLUMNS; j++)
                sum[j] += grid->delta[v] * grid->r[(size_t)v * NY_STRIP_COLUMNS + j];
        }
        for (size_t j = 0; j < NY_STRIP_COLUMNS; j++)
            next->b[k * NY_STRIP_COLUMNS + j] = next->inverse[k] * sum[j];
    }
}

/* x ← x + R times x of the next grid. */
static void prolong_rows(void *arg, size_t first, size_t count)
{
    const struct ny_grid *grid = arg, *next = grid + 1;

    for (size_t v = first; v < first + count; v++)
        for (size_t j = 0; j < NY_STRIP_COLUMNS; j++)
            grid->x[v * NY_STRIP_COLUMNS + j] +=
                next->x[(size_t)grid->coarse.of[v] * NY_STRIP_COLUMNS + j];
}

static int run_cycle(const struct cycle *cycle, size_t at, bool zero);

/* Finds x of a grid from 0 by as many cycles as pay: two, but one on the coarsest, a relaxation. */
static int run_cycles(const struct cycle *cycle, size_t at)
{
    int err = run_cycle(cycle, at, true);

    return err || at + 1 == cycle->grids->count ? err : run_cycle(cycle, at, false);
}

/* Corrects by the next grids, which worker 0 does alone where they are small. */
static int correct(const struct cycle *cycle, size_t at)
{
    struct ny_team one = {.workers = 1};
    const struct ny_worker alone = {&one, 0};
    const struct cycle small = {cycle->grids, &alone};

    if (cycle->grids->grid[at].affinity->graph->n >= SHARED) return run_cycles(cycle, at);
    if (cycle->worker->index == 0) (void)run_cycles(&small, at);
    ny_team_meet(cycle->worker);
    return NY_OK;
}

static int run_cycle(const struct cycle *cycle, size_t at, bool zero)
{
    struct ny_grid *grid = &cycle->grids->grid[at];
    size_t n = grid->affinity->graph->n;
    int err = at < 2 && n >= SHARED ? ny_team_check(cycle->worker) : NY_OK;

    if (err) return err;
    relax(cycle, grid, zero);
    if (at + 1 == cycle->grids->count) {
        relax(cycle, grid, false);
        return NY_OK;
    }
    residual(cycle, grid);
    ny_team_step(cycle->worker, grid->coarse.graph.n, restrict_rows, grid);
    err = correct(cycle, at + 1);
    if (err) return err;
    ny_team_step(cycle->worker, n, prolong_rows, grid);
    relax(cycle, grid, false);
    return NY_OK;
}

int ny_multigrid_solve(struct ny_multigrid *grids, size_t at, const struct ny_worker *worker)
{
    return run_cycle(&(struct cycle){grids, worker}, at, true);
}
