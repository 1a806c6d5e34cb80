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

/* Q and Z are m × r, B is r × r, and U count × r. */
struct sketch {
    struct ny_matrix Q, Z, B, U;
};

static void lay(struct ny_layout *l, struct sketch *sketch, size_t m, size_t count, size_t r)
{
    sketch->Q = ny_lay_matrix(l, NY_MEM_SOLVE, m, r);
    sketch->Z = ny_lay_matrix(l, NY_MEM_SOLVE, m, r);
    sketch->B = ny_lay_matrix(l, NY_MEM_SOLVE, r, r);
    sketch->U = ny_lay_matrix(l, NY_MEM_SOLVE, count, r);
}

void ny_eigen_randomized_count(struct ny_layout *l, size_t m, size_t count,
                               const struct ny_randomized *how)
{
    struct ny_layout_mark mark = ny_layout_mark(l);
    size_t r = range_columns(m, count, how);

    lay(l, &(struct sketch){0}, m, count, r);
    ny_orthonormalise_count(l, r);
    ny_eigen_top_count(l, r, count);
    ny_layout_back(l, &mark);
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
    struct ny_layout l = {.ctx = ctx};
    struct sketch s;
    int err;

    assert(A.rows == A.cols && count <= A.rows);
    assert(V.rows == count && V.cols == A.rows && !V.transposed);
    if (!count) return NY_OK;
    lay(&l, &s, A.rows, count, range_columns(A.rows, count, how));
    err = l.err ? l.err : find_range(ctx, A, how, &s.Q, &s.Z);
    if (err) goto done;
    ny_gemm(1, A, s.Q, 0, s.Z);
    ny_gemm(1, ny_t(s.Q), s.Z, 0, s.B);               /* [4] B = QᵀAQ */
    err = ny_eigen_top(ctx, s.B, count, values, s.U); /* [5] */
    if (err) goto done;
    ny_gemm(1, s.U, ny_t(s.Q), 0, V); /* [6] rows of V: (Q·u)ᵀ */
done:
    ny_layout_free(&l);
    return err;
}
