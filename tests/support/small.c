#include "support/small.h"

#include "base/random.h"
#include "spectral/krylov.h"
#include "stream/source.h"
#include "support/test.h"

/* Rows per tile: small, so that several are folded. */
enum { TILE = 32 };

static double kernel_value(enum small_kernel kernel, const double *x, const double *y, size_t d)
{
    double dot = 0, square = 0, dims = (double)d;

    for (size_t k = 0; k < d; k++) {
        dot += x[k] * y[k];
        square += (x[k] - y[k]) * (x[k] - y[k]);
    }
    switch (kernel) {
    case SMALL_WIDE:
        return exp(-square / (200 * dims));
    case SMALL_NARROW:
        return exp(-square / (0.2 * dims));
    case SMALL_LINEAR:
        return dot;
    case SMALL_POLYNOMIAL:
        return pow(dot / dims + 1, 2);
    default:
        return exp(-square / (2 * dims));
    }
}

struct small small_of(enum small_kernel kernel, size_t n, size_t d, size_t m)
{
    struct small set = {.n = n, .d = d, .m = m, .K = lend(n * n * sizeof(double))};
    double *x = lend(n * d * sizeof(*x));

    ny_gaussian(11, NY_STREAM_DATA, 0, x, n * d);
    for (size_t i = 0; i < n * d && kernel == SMALL_LINEAR; i++)
        x[i] += 10;
    for (size_t j = 0; j < m; j++)
        set.D[j] = (j * 17 + 5) % n;
    for (size_t j = 0; j < m / 4 && kernel == SMALL_DUPLICATES; j++)
        memcpy(x + set.D[m - 1 - j] * d, x + set.D[j] * d, d * sizeof(*x));
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            set.K[i * n + j] = kernel_value(kernel, x + i * d, x + j * d, d);
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            set.a[j] += set.K[set.D[i] * n + set.D[j]] / (double)m;
    return set;
}

static double shifted(const struct small *set, size_t row, size_t j)
{
    return set->K[row * set->n + set->D[j]] - set->a[j];
}

static void fill_tile(const struct small *set, size_t first, size_t rows, float *c32, double *c64)
{
    memset(c32, 0, NY_UNIT_ROWS * set->m * sizeof(*c32));
    memset(c64, 0, NY_UNIT_ROWS * set->m * sizeof(*c64));
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < set->m; j++) {
            c64[i * set->m + j] = shifted(set, first + i, j);
            c32[i * set->m + j] = (float)c64[i * set->m + j];
        }
}

/* d_i = c_i·v, the reciprocal of its root. */
static double root_of(const struct small *set, size_t i, const double *v)
{
    double d = 0;

    for (size_t j = 0; j < set->m; j++)
        d += set->K[i * set->n + set->D[j]] * v[j];
    return 1 / sqrt(d);
}

/* The sums over tiles that a fit makes; those that are NULL are left out. */
struct sums {
    struct ny_partial *part;
    struct ny_accumulator *acc;
    struct ny_krylov_partial *product;
    struct ny_krylov *krylov;
};

static void add_product(const struct sums *sums, enum small_tiles tiles, struct ny_matrix32 C32,
                        struct ny_matrix C64)
{
    struct ny_matrix U = sums->krylov->U;

    if (tiles == SMALL_F64)
        ny_krylov_partial_set64(sums->product, C64, U);
    else
        ny_krylov_partial_set(sums->product, C32, U);
    ny_krylov_fold(sums->krylov, sums->product);
}

static void accumulate(const struct small *set, enum small_tiles tiles, const double *v,
                       const struct sums *sums)
{
    float *c32 = lend(NY_UNIT_ROWS * set->m * sizeof(*c32));
    double *c64 = lend(NY_UNIT_ROWS * set->m * sizeof(*c64)), diagonal[TILE];
    double roots[TILE];

    for (size_t first = 0; first < set->n; first += TILE) {
        size_t rows = set->n - first < TILE ? set->n - first : TILE;

        struct ny_tile_rows tile_rows = {
            .count = rows, .diagonal = diagonal, .weights = v ? roots : NULL};

        for (size_t i = 0; i < rows; i++) {
            diagonal[i] = set->K[(first + i) * (set->n + 1)];
            if (v) roots[i] = root_of(set, first + i, v);
        }
        fill_tile(set, first, rows, c32, c64);
        if (tiles == SMALL_F64)
            ny_partial_set64(sums->part, ny_matrix(c64, NY_UNIT_ROWS, set->m), &tile_rows);
        else
            ny_partial_set(sums->part, ny_matrix32(c32, NY_UNIT_ROWS, set->m), &tile_rows);
        if (sums->acc) ny_accumulator_fold(sums->acc, sums->part);
        if (sums->krylov)
            add_product(sums, tiles, ny_matrix32(c32, NY_UNIT_ROWS, set->m),
                        ny_matrix(c64, NY_UNIT_ROWS, set->m));
    }
}

static void square_of(const struct small *set, double *W)
{
    for (size_t i = 0; i < set->m; i++)
        for (size_t j = 0; j < set->m; j++)
            W[i * set->m + j] = set->K[set->D[i] * set->n + set->D[j]];
}

/* Finds v of a divided kernel, as a fit does. */
static int find_v(const struct small *set, const struct ny_method *method,
                  struct ny_problem *problem, double *v)
{
    double s[SMALL_M_MAX] = {0};

    for (size_t j = 0; j < set->m; j++) {
        v[j] = (double)set->n / (double)set->m;
        for (size_t i = 0; i < set->n; i++)
            s[j] += set->K[i * set->n + set->D[j]];
    }
    problem->v = ny_divided(problem->normalisation) ? v : NULL;
    if (problem->normalisation != NY_DIVIDED_IMPLICIT) return NY_OK;
    return method->degrees(problem, s, v);
}

static int solve_gram(const struct small *set, const struct ny_method *method,
                      enum small_tiles tiles, struct ny_problem *problem,
                      struct ny_solution *solution)
{
    struct ny_layout l = {.ctx = problem->ctx};
    struct sums sums = {.part = ny_partial_lay(&l, set->m, problem->gram)};
    int err = l.err;

    if (!err) err = ny_accumulator_new(&sums.acc, problem->ctx, set->m);
    if (!err) accumulate(set, tiles, problem->v, &sums);
    problem->acc = sums.acc;
    if (!err) err = method->solve(problem, solution);
    ny_layout_free(&l);
    ny_accumulator_free(sums.acc);
    return err;
}

double small_residual;
unsigned small_steps;

static int solve_krylov(const struct small *set, enum small_tiles tiles, struct ny_problem *problem,
                        struct ny_solution *solution)
{
    struct ny_krylov krylov;
    struct ny_layout l = {.ctx = problem->ctx};
    struct sums sums = {.krylov = &krylov};
    bool done = false;
    int err = ny_krylov_new(&krylov, problem, NULL, 0);

    sums.part = ny_partial_lay(&l, set->m, NY_GRAM_NONE);
    if (!err) sums.product = ny_krylov_partial_lay(&l, set->m, krylov.U.cols);
    if (!err) err = l.err;
    while (!err && !done) {
        sums.acc = krylov.step == 0 ? &krylov.sums : NULL;
        accumulate(set, tiles, problem->v, &sums);
        err = ny_krylov_next(&krylov, &done);
    }
    if (!err) err = ny_krylov_solve(&krylov, solution);
    if (!err) small_residual = ny_krylov_residual(&krylov);
    small_steps = krylov.step;
    ny_layout_free(&l);
    ny_krylov_release(&krylov);
    return err;
}

int small_solve(const struct small *set, const struct ny_method *method, enum small_tiles tiles,
                struct ny_problem *problem, struct ny_solution *solution, double *U)
{
    enum ny_gram_precision gram = tiles == SMALL_F32 ? NY_GRAM_F32 : NY_GRAM_F64;
    size_t m = set->m, p = problem->components;
    double *W = lend(m * m * sizeof(*W)), v[SMALL_M_MAX];
    int err;

    square_of(set, W);
    problem->m = m;
    problem->n = set->n;
    problem->W = ny_matrix(W, m, m);
    problem->a = set->a;
    problem->gram = gram;
    problem->f32_tiles = tiles != SMALL_F64;
    err = find_v(set, method, problem, v);
    if (err) goto done;
    square_of(set, W);
    err = method->krylov ? solve_krylov(set, tiles, problem, solution)
                         : solve_gram(set, method, tiles, problem, solution);
    for (size_t i = 0; i < set->n && !err; i++)
        for (size_t k = 0; k < p; k++) {
            U[i * p + k] = solution->q[k];
            for (size_t j = 0; j < m; j++)
                U[i * p + k] += shifted(set, i, j) * solution->P.at[j * solution->P.stride + k];
            if (problem->v) U[i * p + k] *= root_of(set, i, problem->v);
        }
    problem->v = NULL;
done:
    return err;
}
