/*
 * Gaussian projection: Homrighausen & McDonald 2011, Algorithm 2, whose steps are the numbers in
 * brackets: one product Y = KΩ [2]. Their B, the least squares solution of B QᵀΩ = QᵀY [4], is not
 * symmetric; (B + Bᵀ)/2 is taken. Its eigenpairs and U = QÛ [5, 6] are left to the caller.
 */
#include <math.h>

#include "base/random.h"
#include "spectral/methods.h"
#include "spectral/whole.h"

/* Rows of Ω that are made again at a time. */
enum { CHUNK_ROWS = 256 };

/* Returns the products with K that the method makes: one, Y = KΩ. */
static unsigned products(const struct ny_randomized *how)
{
    (void)how;
    return 1;
}

/* Makes Q = orth(Y) in V; Y is kept, as the least squares need it. */
static int next(struct ny_sketch *sketch, unsigned step)
{
    (void)step;
    ny_copy(sketch->Y, sketch->V);
    return ny_orthonormalise(sketch->ctx, sketch->V); /* [3] Q = orth(Y) */
}

/* S = QᵀΩ; Ω is made again. */
static void project_gaussian(const struct ny_sketch *sketch, double *chunk, struct ny_matrix S)
{
    size_t n = sketch->V.rows, r = sketch->V.cols;

    for (size_t first = 0; first < n; first += CHUNK_ROWS) {
        size_t count = n - first < CHUNK_ROWS ? n - first : CHUNK_ROWS;

        ny_gaussian(sketch->randomized.seed, NY_STREAM_RANGE, (uint64_t)first * r, chunk,
                    count * r);
        ny_gemm(1, ny_t(ny_rows(sketch->V, first, count)), ny_matrix(chunk, count, r), first > 0,
                S);
    }
}

/* [4] B S = T by orthogonal factors of Sᵀ = Z Lᵀ: B = T Z L⁻¹. Z comes in place of Sᵀ, whose
 * columns are S's rows; X (r × r) is left with Bᵀ = L⁻ᵀ Zᵀ Tᵀ. */
static int least_squares(struct ny_context *ctx, struct ny_matrix S, struct ny_matrix T,
                         struct ny_matrix Z, struct ny_matrix L, struct ny_matrix X)
{
    size_t r = S.rows;
    int err;

    for (size_t i = 0; i < r; i++)
        for (size_t j = 0; j < r; j++)
            Z.at[j * r + i] = S.at[i * r + j];
    err = ny_orthonormalise(ctx, Z);
    if (err) return err;
    ny_gemm(1, S, Z, 0, L);
    ny_gemm(1, ny_t(Z), ny_t(T), 0, X);
    ny_solve_lower_t(L, X);
    if (ny_first_not_finite(X.at, r * r))
        return ny_fail(ctx, NY_ENUMERIC,
                       "the random columns of --approx gaussian happen to be dependent; give "
                       "another --seed or another number of --landmarks");
    return NY_OK;
}

/* ‖L⁻¹‖_F, L⁻¹ in place of X. */
static double inverse_norm(struct ny_matrix L, struct ny_matrix X)
{
    double sum = 0;

    for (size_t i = 0; i < X.rows; i++)
        for (size_t j = 0; j < X.cols; j++)
            X.at[i * X.stride + j] = i == j;
    ny_solve_lower(L, X);
    for (size_t i = 0; i < X.rows; i++)
        sum += ny_dot(X.at + i * X.stride, X.at + i * X.stride, X.cols);
    return sqrt(sum);
}

/* Makes B from Q, Ω and Y, and the factor by which rounding of Y is larger in B. */
static int reduce(struct ny_sketch *sketch, struct ny_matrix B)
{
    size_t r = B.rows;
    double *at = ny_calloc(sketch->ctx, NY_MEM_SOLVE, 4 * r + CHUNK_ROWS, r * sizeof(double));
    struct ny_matrix S, T, Z, L;
    int err;

    if (!at) return NY_EBUDGET;
    S = ny_matrix(at, r, r);
    T = ny_matrix(at + r * r, r, r);
    Z = ny_matrix(at + 2 * r * r, r, r);
    L = ny_matrix(at + 3 * r * r, r, r);
    project_gaussian(sketch, at + 4 * r * r, S);  /* S = QᵀΩ */
    ny_gemm(1, ny_t(sketch->V), sketch->Y, 0, T); /* T = QᵀY */
    err = least_squares(sketch->ctx, S, T, Z, L, B);
    /* Columns of Ω have length √n, and so has what is lost of Y; S⁻¹ takes it into B, as it takes
     * what the least squares themselves lose. */
    sketch->noise = 4 * sqrt((double)sketch->V.rows) * inverse_norm(L, S);
    ny_symmetrise(B);
    ny_free(sketch->ctx, at);
    return err;
}

static void count(struct ny_layout *l, size_t r)
{
    struct ny_layout_mark mark = ny_layout_mark(l);

    ny_lay(l, NY_MEM_SOLVE, 4 * r + CHUNK_ROWS, r * sizeof(double));
    ny_orthonormalise_count(l, r);
    ny_layout_back(l, &mark);
}

static double flops(double n, double r, const struct ny_randomized *how)
{
    (void)how;
    return 8 * n * r * r + 10 * r * r * r;
}

static const struct ny_whole whole = {.landmarks = true,
                                      .products = products,
                                      .start = ny_sketch_gaussian, /* [1] */
                                      .next = next,
                                      .reduce = reduce,
                                      .count = count,
                                      .flops = flops};

const struct ny_method ny_method_gaussian = {
    .name = "gaussian",
    .summary = "one such product, with random columns",
    .without = "averages|columns-file",
    .implicit = true,
    .whole = &whole,
};
