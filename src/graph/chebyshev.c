#include "graph/chebyshev.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "graph/coarse.h"
#include "linalg/eigen.h"
#include "stream/source.h"

/* A block of at least this many columns costs less than the rounds that it would save. */
enum { SMALL_GRAPH = 512 };

/* The trivial vector grows by at most this much in a round: what limits the degree is that columns
 * must stay independent. */
static const double gain = 50;

/* By how much more than they lack residuals are to fall, as predictions err. */
static const double margin = 1.2;

/* Residuals of a coarser graph's vectors, in shares of what is allowed, with which they will do as
 * the first ones of this graph; and from how many times that on residuals are of far vectors. */
static const double coarse_excess = 10, far = 30;
static const double coarse_rounds = 20;

/* A cut below which few eigenvalues lie, where what has to go is of all vectors alike. */
static const double bottom = 0.05;

/* Columns beyond those wanted: the gap between λ_wanted and the cut, which sets the degree, grows
 * with them, and so does the cost of a product. */
static size_t columns_of(uint64_t n, size_t wanted)
{
    size_t columns = wanted + (wanted / 2 > 5 ? wanted / 2 : 5);

    columns = (columns + NY_BLOCK_LANES - 1) / NY_BLOCK_LANES * NY_BLOCK_LANES;
    return n <= SMALL_GRAPH || n <= 3 * columns ? (size_t)n : columns;
}

static size_t stride_of(size_t columns)
{
    return (columns + NY_BLOCK_LANES - 1) / NY_BLOCK_LANES * NY_BLOCK_LANES;
}

static size_t head_doubles(size_t columns)
{
    size_t doubles = sizeof(struct ny_chebyshev_place) / sizeof(double) + 2 * columns;

    return (doubles + NY_BLOCK_LANES - 1) / NY_BLOCK_LANES * NY_BLOCK_LANES;
}

size_t ny_chebyshev_state_bytes(uint64_t n, size_t wanted)
{
    size_t columns = columns_of(n, wanted);

    return (head_doubles(columns) + 2 * (size_t)n * stride_of(columns)) * sizeof(double);
}

static void point_to_blocks(struct ny_chebyshev *solver)
{
    double *first = solver->state + head_doubles(solver->columns);
    double *second = first + solver->n * solver->stride;

    solver->x = solver->at->turned > 0 ? second : first;
    solver->y = solver->at->turned > 0 ? first : second;
}

/* ---- Rayleigh–Ritz -------------------------------------------------------------------------- */

struct ritz {
    struct ny_chebyshev *solver;
    struct ny_matrix V; /* columns × columns, a Ritz vector a row */
    double *square;     /* units × columns: share of ‖Lu − λu‖² */
};

static struct ny_matrix block(const struct ny_chebyshev *solver, double *at)
{
    return (struct ny_matrix){at, solver->n, solver->columns, solver->stride, false};
}

/* D^±½ times the columns `at`, and column j times factor[j]. */
struct scaling {
    struct ny_chebyshev *solver;
    double *at;
    const double *factor; /* NULL: 1 */
    bool to_walk;
};

static int scale_rows(void *arg, size_t first, size_t count)
{
    const struct scaling *s = arg;
    const struct ny_chebyshev *solver = s->solver;

    for (size_t i = first; i < first + count; i++) {
        double *row = s->at + i * solver->stride;
        double root = sqrt(s->to_walk ? solver->affinity->inverse[i] : solver->affinity->degree[i]);

        for (size_t j = 0; j < solver->columns; j++)
            row[j] *= s->factor ? root * s->factor[j] : root;
    }
    return NY_OK;
}

static int scale(struct ny_chebyshev *solver, double *at, const double *factor, bool to_walk)
{
    struct scaling scaling = {solver, at, factor, to_walk};

    return ny_parallel_ranges(solver->ctx, solver->n, scale_rows, &scaling);
}

/* Y = LX, of orthonormal X. */
static int apply_laplacian(struct ny_chebyshev *solver)
{
    struct ny_walk product = {.affinity = solver->affinity,
                              .stride = solver->stride,
                              .x = solver->x,
                              .y = solver->y,
                              .own = 1,
                              .walk = -1};
    int err = scale(solver, solver->x, NULL, true);

    if (err == NY_OK) err = ny_walk(&product);
    if (err == NY_OK) err = scale(solver, solver->x, NULL, false);
    if (err == NY_OK) err = scale(solver, solver->y, NULL, false);
    solver->at->products++;
    return err;
}

/* Rows of B ← B·Vᵀ, through room of the same size. */
static void rotate(struct ny_matrix B, struct ny_matrix V, double *room)
{
    struct ny_matrix R = ny_matrix(room, B.rows, B.cols);

    ny_gemm(1, B, ny_t(V), 0, R);
    for (size_t i = 0; i < B.rows; i++)
        memcpy(B.at + i * B.stride, room + i * B.cols, B.cols * sizeof(double));
}

static int rotate_units(void *arg, size_t first, size_t count)
{
    const struct ritz *ritz = arg;
    const struct ny_chebyshev *solver = ritz->solver;
    size_t columns = solver->columns;
    size_t most = solver->n < NY_UNIT_ROWS ? solver->n : NY_UNIT_ROWS;
    double *room = ny_alloc(solver->ctx, NY_MEM_SOLVE, most * columns * sizeof(double));

    if (!room) return NY_EBUDGET;
    for (size_t u = first; u < first + count; u++) {
        size_t row = u * NY_UNIT_ROWS, left = solver->n - row;
        size_t rows = left < NY_UNIT_ROWS ? left : NY_UNIT_ROWS;
        struct ny_matrix X = ny_rows(block(solver, solver->x), row, rows);
        struct ny_matrix Y = ny_rows(block(solver, solver->y), row, rows);
        double *square = ritz->square + u * columns;

        rotate(X, ritz->V, room);
        rotate(Y, ritz->V, room);
        memset(square, 0, columns * sizeof(double));
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < columns; j++) {
                double r = Y.at[i * Y.stride + j] - solver->value[j] * X.at[i * X.stride + j];

                square[j] += r * r;
            }
    }
    ny_free(solver->ctx, room);
    return NY_OK;
}

/* Ritz vectors in place of X, their residuals, from Y = LX. */
static int find_pairs(struct ny_chebyshev *solver, struct ritz *ritz, struct ny_matrix H)
{
    size_t columns = solver->columns, units = (size_t)ny_units_of(solver->n);
    struct ny_matrix Y = block(solver, solver->y);
    int err;

    ny_gemm(-1, ny_t(block(solver, solver->x)), Y, 0, H);
    for (size_t i = 0; i < columns; i++)
        for (size_t j = 0; j < i; j++)
            H.at[i * columns + j] = (H.at[i * columns + j] + H.at[j * columns + i]) / 2;
    err = ny_eigen_top(solver->ctx, H, columns, solver->value, ritz->V);
    if (err) return err;
    for (size_t j = 0; j < columns; j++)
        solver->value[j] = -solver->value[j];
    err = ny_parallel_ranges(solver->ctx, units, rotate_units, ritz);
    for (size_t j = 0; j < columns && err == NY_OK; j++) {
        double sum = 0;

        for (size_t u = 0; u < units; u++)
            sum += ritz->square[u * columns + j];
        solver->residual[j] = sqrt(sum);
    }
    return err;
}

static int rayleigh_ritz(struct ny_chebyshev *solver)
{
    size_t columns = solver->columns, units = (size_t)ny_units_of(solver->n);
    double *space = ny_alloc(solver->ctx, NY_MEM_SOLVE,
                             (2 * columns + units) * columns * sizeof(double));
    struct ritz ritz = {solver, ny_matrix(space, columns, columns), NULL};
    int err;

    if (!space) return NY_EBUDGET;
    ritz.square = space + 2 * columns * columns;
    err = ny_orthonormalise(solver->ctx, block(solver, solver->x));
    if (err == NY_OK) err = apply_laplacian(solver);
    if (err == NY_OK)
        err = find_pairs(solver, &ritz, ny_matrix(space + columns * columns, columns, columns));
    ny_free(solver->ctx, space);
    solver->at->rounds++;
    return err;
}

/* ---- filters -------------------------------------------------------------------------------- */

static double allowed(const struct ny_chebyshev *solver)
{
    double residual = NY_CHEBYSHEV_RESIDUAL * solver->value[solver->wanted - 1];

    return residual > NY_CHEBYSHEV_ROUNDING ? residual : NY_CHEBYSHEV_ROUNDING;
}

double ny_chebyshev_excess(const struct ny_chebyshev *solver)
{
    double most = 0;

    for (size_t j = 0; j < solver->wanted; j++)
        if (!(solver->residual[j] <= most)) most = solver->residual[j];
    return most / allowed(solver);
}

bool ny_chebyshev_converged(const struct ny_chebyshev *solver)
{
    return solver->at->degree == 0 && ny_chebyshev_excess(solver) <= 1;
}

/* ln growth a degree, of what is at λ beside what is in [cut, 2]. */
static double growth(double cut, double value)
{
    double above = value < cut ? 2 * (cut - value) / (2 - cut) : 0;

    return log1p(above + sqrt(above * (2 + above))); /* acosh(1 + above) */
}

/* It stays away from λ_wanted, of which there may be more than columns: what is between the two may
 * remain, as it is within the tolerance. */
static double choose_cut(const struct ny_chebyshev *solver)
{
    double last = solver->value[solver->columns - 1];
    double apart = 1.03 * solver->value[solver->wanted - 1];
    double cut = last > apart ? last : apart;

    return fmin(fmax(cut, 1e-12), 1.9);
}

/* Of the polynomial that would make all residuals small enough, were the Ritz values right. */
static double degree_wanted(const struct ny_chebyshev *solver, double cut)
{
    double speed = growth(cut, solver->value[solver->wanted - 1]);
    double need = margin * ny_chebyshev_excess(solver);

    return need > 1 && speed > 0 ? ceil(acosh(need) / speed) : 1;
}

/* While residuals are large, most of them is of vectors far above the block, and a cut up there has
 * them removed by few products. */
static double raise_cut(const struct ny_chebyshev *solver, double cut)
{
    return fmin(cut * fmax(ny_chebyshev_excess(solver) / far, 1), 1.9);
}

/* Where a polynomial in f32 has T_k of even and of odd k: in Y, which nobody else needs then. */
static float *block32(const struct ny_chebyshev *solver, double k)
{
    return (float *)(void *)solver->y + (fmod(k, 2) > 0 ? solver->n * solver->stride : 0);
}

static int narrow_rows(void *arg, size_t first, size_t count)
{
    const struct ny_chebyshev *solver = arg;
    float *to = block32(solver, 0);

    for (size_t i = first * solver->stride; i < (first + count) * solver->stride; i++)
        to[i] = (float)solver->x[i];
    return NY_OK;
}

static int widen_rows(void *arg, size_t first, size_t count)
{
    const struct ny_chebyshev *solver = arg;
    const float *from = block32(solver, solver->at->degree);

    for (size_t i = first * solver->stride; i < (first + count) * solver->stride; i++)
        solver->x[i] = (double)from[i];
    return NY_OK;
}

/* Residuals that an f32 polynomial leaves, in shares of what is allowed, at most: as errors of
 * 2⁻²⁴ a product add up while columns grow e-fold. Half of that was measured. */
static double excess32(const struct ny_chebyshev *solver, double cut)
{
    return 2 * 0x1p-24 / sqrt(growth(cut, 0)) / allowed(solver);
}

/* Begins a round: X in the walk's form, of the polynomial's degree 0; in f32 as long as residuals
 * are above its errors and fall. Those errors are of all vectors alike, few of which lie below a
 * cut far up. Where residuals do not fall, neither is what remains far. */
static int begin(struct ny_chebyshev *solver)
{
    struct ny_chebyshev_place *at = solver->at;
    double excess = ny_chebyshev_excess(solver), most;
    bool falls = excess < at->excess / 2 || at->excess == 0, was_single = at->single > 0;
    bool rounded;
    int err;

    at->cut = choose_cut(solver);
    rounded = excess <= excess32(solver, at->cut);
    at->single = solver->narrow && !rounded && (falls || !was_single);
    at->excess = excess;
    if (rounded && was_single)
        at->cut = fmax(at->cut, bottom);
    else if (falls)
        at->cut = raise_cut(solver, at->cut);
    most = ceil(acosh(gain) / growth(at->cut, 0));
    at->degree = fmax(fmin(degree_wanted(solver, at->cut), most), 2);
    at->done = 0;
    err = scale(solver, solver->x, NULL, true);
    if (err || at->single == 0) return err;
    return ny_parallel_ranges(solver->ctx, solver->n, narrow_rows, solver);
}

/* T_{k+1} = 2·t·T_k − T_{k−1} of t = (L − c)/e, c and e the middle and the half of [cut, 2], on the
 * block: X holds T_k, Y T_{k−1}, which the next one replaces. */
static int multiply(struct ny_chebyshev *solver)
{
    double middle = (2 + solver->at->cut) / 2, half = (2 - solver->at->cut) / 2;
    double twice = solver->at->done > 0 ? 2 : 1;
    struct ny_walk product = {.affinity = solver->affinity,
                              .stride = solver->stride,
                              .single = solver->at->single > 0,
                              .x = solver->x,
                              .y = solver->y,
                              .own = twice * (1 - middle) / half,
                              .walk = -twice / half,
                              .before = solver->at->done > 0 ? -1 : 0};
    if (product.single) {
        product.x = block32(solver, solver->at->done);
        product.y = block32(solver, solver->at->done + 1);
    } else {
        solver->at->turned = 1 - solver->at->turned;
        point_to_blocks(solver);
    }
    solver->at->done++;
    solver->at->products++;
    return ny_walk(&product);
}

/* Columns as long as before, as far as Ritz values tell how much they grew. */
static int end(struct ny_chebyshev *solver)
{
    size_t columns = solver->columns;
    double *factor = ny_alloc(solver->ctx, NY_MEM_SOLVE, columns * sizeof(double));
    int err = NY_OK;

    if (!factor) return NY_EBUDGET;
    for (size_t j = 0; j < columns; j++)
        factor[j] = 1 / cosh(solver->at->degree * growth(solver->at->cut, solver->value[j]));
    if (solver->at->single > 0)
        err = ny_parallel_ranges(solver->ctx, solver->n, widen_rows, solver);
    if (err == NY_OK) err = scale(solver, solver->x, factor, false);
    ny_free(solver->ctx, factor);
    solver->at->degree = 0;
    return err ? err : rayleigh_ritz(solver);
}

int ny_chebyshev_step(struct ny_chebyshev *solver)
{
    int err = solver->at->degree == 0 ? begin(solver) : NY_OK;

    if (err == NY_OK) err = multiply(solver);
    if (err == NY_OK && solver->at->done == solver->at->degree) err = end(solver);
    return err;
}

double ny_chebyshev_ahead(const struct ny_chebyshev *solver)
{
    const double falling = 50; /* above, Ritz values are not yet near */
    double degree = degree_wanted(solver, choose_cut(solver));

    if (ny_chebyshev_excess(solver) > falling) return INFINITY;
    return fmax(degree - (solver->at->degree > 0 ? solver->at->done : 0), 0);
}

/* ---- the state ------------------------------------------------------------------------------ */

struct start {
    struct ny_chebyshev *solver;
    uint64_t seed;
};

/* The trivial vector, D^½1, and random ones, as large where degrees are small; of a small graph the
 * unit vectors. */
static int start_rows(void *arg, size_t first, size_t count)
{
    const struct start *start = arg;
    const struct ny_chebyshev *solver = start->solver;

    for (size_t i = first; i < first + count; i++) {
        double *row = solver->x + i * solver->stride;

        if (solver->columns == solver->n) {
            row[i] = 1;
            continue;
        }
        ny_gaussian(start->seed, NY_STREAM_RANGE, i * solver->stride, row, solver->columns);
        row[0] = sqrt(solver->affinity->degree[i]);
    }
    return NY_OK;
}

struct prolongation {
    struct ny_chebyshev *solver;
    const struct ny_coarse *coarse;
    const struct ny_chebyshev *small;
};

/* Rz_c as vectors u of this graph. */
static int prolong_rows(void *arg, size_t first, size_t count)
{
    const struct prolongation *p = arg;
    const struct ny_affinity *fine = p->solver->affinity, *coarse = &p->coarse->affinity;

    for (size_t i = first; i < first + count; i++) {
        uint32_t of = p->coarse->of[i];
        double factor = sqrt(fine->degree[i] * coarse->inverse[of]);

        for (size_t j = 0; j < p->solver->columns; j++)
            p->solver->x[i * p->solver->stride + j] =
                factor * p->small->x[of * p->small->stride + j];
    }
    return NY_OK;
}

/* From the vectors of a coarser graph, found in the same way. */
static int start_from(struct ny_chebyshev *solver, const struct ny_coarse *coarse, uint64_t seed)
{
    struct ny_chebyshev small;
    struct prolongation prolongation = {solver, coarse, &small};
    int err = ny_chebyshev_new(&small, &coarse->affinity, solver->wanted, seed, NULL);

    while (err == NY_OK && small.at->rounds < coarse_rounds &&
           (small.at->degree > 0 || ny_chebyshev_excess(&small) > coarse_excess)) {
        err = ny_check_interrupt(solver->ctx);
        if (err == NY_OK) err = ny_chebyshev_step(&small);
    }
    if (err == NY_OK)
        err = ny_parallel_ranges(solver->ctx, solver->n, prolong_rows, &prolongation);
    ny_chebyshev_release(&small);
    return err;
}

/* Where half of the nodes and edges is not enough to stand for all, from random vectors. */
static int make_start(struct ny_chebyshev *solver, uint64_t seed)
{
    struct start start = {solver, seed};
    struct ny_coarse coarse = {0};
    const struct ny_edges *fine = solver->affinity->graph;
    bool worth = false;
    int err = NY_OK;

    if (solver->columns < solver->n) {
        err = ny_coarse_new(&coarse, solver->affinity);
        worth = err == NY_OK && coarse.graph.n >= 2 * solver->columns &&
                coarse.graph.head[coarse.graph.n] <= fine->head[fine->n] / 2;
    }
    if (worth)
        err = start_from(solver, &coarse, seed);
    else if (err == NY_OK)
        err = ny_parallel_ranges(solver->ctx, solver->n, start_rows, &start);
    ny_coarse_release(&coarse);
    return err ? err : rayleigh_ritz(solver);
}

static bool fits_f32(const struct ny_affinity *affinity)
{
    for (uint32_t v = 0; v < affinity->graph->n; v++)
        if (affinity->inverse[v] > 0x1p100) return false;
    return true;
}

int ny_chebyshev_new(struct ny_chebyshev *solver, const struct ny_affinity *affinity, size_t wanted,
                     uint64_t seed, double *image)
{
    struct ny_context *ctx = affinity->ctx;
    size_t n = affinity->graph->n, columns = columns_of(n, wanted);
    double *state = image;

    if (!image) state = ny_calloc(ctx, NY_MEM_SOLVE, 1, ny_chebyshev_state_bytes(n, wanted));
    *solver = (struct ny_chebyshev){.ctx = ctx,
                                    .affinity = affinity,
                                    .n = n,
                                    .wanted = wanted,
                                    .columns = columns,
                                    .stride = stride_of(columns),
                                    .narrow = fits_f32(affinity),
                                    .state = state};
    if (!state) return NY_EBUDGET;
    solver->at = (struct ny_chebyshev_place *)(void *)state;
    solver->value = state + sizeof(*solver->at) / sizeof(double);
    solver->residual = solver->value + columns;
    point_to_blocks(solver);
    return image ? NY_OK : make_start(solver, seed);
}

void ny_chebyshev_release(struct ny_chebyshev *solver)
{
    if (!solver->ctx) return;
    ny_free(solver->ctx, solver->state);
    *solver = (struct ny_chebyshev){0};
}

/* Of the steps at a round's end. */
static size_t workspace_bytes(uint64_t n, size_t wanted, unsigned threads)
{
    size_t columns = columns_of(n, wanted), units = (size_t)ny_units_of(n);
    size_t small = (2 * columns + units) * columns * sizeof(double);
    size_t rows = units > 1 ? NY_UNIT_ROWS : (size_t)n;
    size_t rotation = (threads < units ? threads : units) * rows * columns * sizeof(double);
    size_t eigen = ny_eigen_top_bytes(columns, columns), basis = ny_orthonormalise_bytes(columns);
    size_t most = rotation > eigen ? rotation : eigen;

    return small + (most > basis ? most : basis);
}

size_t ny_chebyshev_bytes(uint64_t n, uint64_t edges, size_t wanted, unsigned threads)
{
    size_t most = 0, held = 0;

    for (uint64_t entries = 2 * edges;; n /= 2, entries /= 2) {
        size_t work = workspace_bytes(n, wanted, threads), coarse = ny_coarse_bytes(n, entries);
        bool last = columns_of(n, wanted) == n;

        held += ny_chebyshev_state_bytes(n, wanted);
        if (!last && coarse > work) work = coarse;
        if (held + work > most) most = held + work;
        if (last) return most;
        held += coarse;
    }
}
