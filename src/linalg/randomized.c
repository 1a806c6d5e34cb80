/* Randomized eigenpairs: Li, Kwok & Lu 2010, "Making large-scale Nyström approximation possible",
 * Algorithm 1, whose steps are the numbers in brackets, with an orthonormal basis kept between the
 * products and, for step 4, B = QᵀAQ (eq. 4). */
#include "base/random.h"
#include "base/thread.h"
#include "linalg/blas.h"
#include "linalg/eigen.h"

/* Returns the columns of the range: count + oversample, at most m. */
static size_t range_columns(size_t m, size_t count, const struct ny_randomized *how)
{
    return how->oversample < m - count ? count + how->oversample : m;
}

/* Doubles of the buffers below. */
static size_t sketch_size(size_t m, size_t count, size_t r)
{
    return 2 * m * r + r * r + count * r;
}

size_t ny_eigen_randomized_bytes(size_t m, size_t count, const struct ny_randomized *how)
{
    size_t r = range_columns(m, count, how);
    size_t basis = ny_orthonormalise_bytes(r), small = ny_eigen_top_bytes(r, count);

    return sketch_size(m, count, r) * sizeof(double) + (basis > small ? basis : small);
}

struct gaussian {
    double *at;
    uint64_t seed;
};

/* Fills a share of Ω; a number depends on its place alone. */
static int gaussian_share(void *arg, size_t first, size_t count)
{
    const struct gaussian *g = arg;

    ny_gaussian(g->seed, NY_STREAM_RANGE, first, g->at + first, count);
    return NY_OK;
}

/* [1–3] Q ← an orthonormal basis of the range of A^q Ω; Z is of Q's shape. They may come back
 * swapped. */
static int find_range(struct ny_context *ctx, struct ny_matrix A, const struct ny_randomized *how,
                      struct ny_matrix *Q, struct ny_matrix *Z)
{
    struct gaussian omega = {Q->at, how->seed};
    int err = ny_parallel_ranges(ctx, Q->rows * Q->cols, gaussian_share, &omega);

    if (!err && !how->power) err = ny_orthonormalise(ctx, *Q);
    for (unsigned q = 0; q < how->power && !err; q++) {
        struct ny_matrix Y = *Z;

        ny_gemm(1, A, *Q, 0, Y);
        *Z = *Q;
        *Q = Y;
        err = ny_orthonormalise(ctx, Y);
        if (!err) err = ny_check_interrupt(ctx);
    }
    return err;
}

int ny_eigen_randomized(struct ny_context *ctx, struct ny_matrix A, size_t count,
                        const struct ny_randomized *how, double *values, struct ny_matrix V)
{
    size_t m = A.rows, r, bytes;
    struct ny_matrix Q, Z, B, U;
    double *space = NULL;
    int err;

    assert(A.rows == A.cols && count <= m);
    assert(V.rows == count && V.cols == m && !V.transposed);
    if (!count) return NY_OK;
    r = range_columns(m, count, how);
    err = ny_product(ctx, &bytes, m + r, r, 4 * sizeof(double)); /* above the true size */
    if (err) goto done;
    space = ny_alloc(ctx, NY_MEM_SOLVE, sketch_size(m, count, r) * sizeof(double));
    err = NY_EBUDGET;
    if (!space) goto done;
    Q = ny_matrix(space, m, r);
    Z = ny_matrix(Q.at + m * r, m, r);
    B = ny_matrix(Z.at + m * r, r, r);
    U = ny_matrix(B.at + r * r, count, r);
    err = find_range(ctx, A, how, &Q, &Z);
    if (err) goto done;
    ny_gemm(1, A, Q, 0, Z);
    ny_gemm(1, ny_t(Q), Z, 0, B);                 /* [4] B = QᵀAQ */
    err = ny_eigen_top(ctx, B, count, values, U); /* [5] */
    if (err) goto done;
    ny_gemm(1, U, ny_t(Q), 0, V); /* [6] rows of V: (Q·u)ᵀ */
done:
    ny_free(ctx, space);
    return err;
}
