/*
 * A few eigenpairs of a large symmetric matrix, by block Lanczos with full orthogonalisation: where
 * the eigenvalues fall as those of kernels do, a basis of some hundred columns holds the wanted
 * vectors to rounding, and the reduction of the whole matrix, which dsyevr begins with, is saved.
 * Its products, of a matrix with 16 columns, are those of linalg/narrow.h: BLAS takes three times
 * as long for them.
 *
 * A block sees at most as many copies of an equal eigenvalue as it has columns. So, at the end,
 * steps from another start must find nothing larger. They are orthogonal to the whole basis at
 * first: what is left of A there is far smaller than the wanted eigenvalues as a rule, and a few
 * steps tell. Else they are orthogonal to the vectors found, and go on until they have settled.
 */
#include "linalg/eigen_few.h"

#include <math.h>
#include <string.h>

#include "base/cpu.h"
#include "base/random.h"
#include "base/thread.h"
#include "linalg/blas.h"
#include "linalg/eigen_dense.h"
#include "linalg/narrow.h"

NY_CPU_FAMILIES(const struct ny_narrow_ops, ny_narrow_ops)

/* Columns of a block; orders below are not worth it: of 1,500, pairs of smooth kernels take a third
 * to the whole of dsyevr's time, and of 1,000 the same or twice as long (one thread, measured). */
enum { BLOCK = NY_NARROW, ORDER = 1500 };

/* Residuals relative to the largest eigenvalue: those of dsyevr itself; and of the last look. */
static const double TOLERANCE = 0x1p-50, LOOK_TOLERANCE = 0x1p-26;

/* Columns of the first look: six blocks. A filter of degree 5 that is 1 at most on [-½, ½] is 362
 * at 1 (Chebyshev's). So 16 random vectors of up to a million elements, in which a unit vector has
 * a share of 16 in n as a rule, would show an eigenvalue of 1 above ½. */
enum { LOOK = 6 * BLOCK };

struct krylov {
    struct ny_context *ctx;
    struct ny_matrix A; /* lower triangle */
    uint64_t seed;
    size_t used, most;     /* columns of Q */
    struct ny_matrix Q;    /* most × n: Qᵀ, whose rows are orthonormal */
    struct ny_matrix H;    /* most × most, QᵀAQ: lower triangle */
    struct ny_matrix S;    /* scratch for its eigenproblem */
    struct ny_matrix X;    /* n × BLOCK: the last block, then the next */
    struct ny_matrix next; /* n × BLOCK */
    struct ny_matrix T, R; /* most × BLOCK, BLOCK × BLOCK */
    double *values;        /* most */
    struct ny_matrix Y;    /* count × most: vectors of H */
};

/* Returns the most columns of Q for `count` pairs: some four a pair, in whole blocks, and a third
 * of the matrix, from where on the reduction costs no more. */
static size_t most_of(size_t m, size_t count)
{
    size_t most = 4 * count + 512 + LOOK;

    return (most < m / 3 ? most : m / 3) / BLOCK * BLOCK;
}

bool ny_eigen_is_few(size_t m, size_t count)
{
    return m >= ORDER && 4 * count + 6 * BLOCK + LOOK <= most_of(m, count);
}

/* Returns the flops with a basis of so many columns. */
static double flops_of(size_t m, double columns)
{
    double M = (double)m;

    return 2 * M * M * columns + 4 * M * columns * columns;
}

double ny_eigen_few_flops(size_t m, size_t count)
{
    return flops_of(m, fmin(230 + 3 * (double)count, (double)most_of(m, count)));
}

double ny_eigen_few_flops_most(size_t m, size_t count)
{
    return flops_of(m, (double)most_of(m, count));
}

static void lay(struct ny_layout *l, struct krylov *k, size_t n, size_t count)
{
    size_t most = most_of(n, count);

    *k = (struct krylov){.ctx = l->ctx, .most = most};
    k->Q = ny_lay_matrix(l, NY_MEM_SOLVE, most, n);
    k->X = ny_lay_matrix(l, NY_MEM_SOLVE, n, BLOCK);
    k->next = ny_lay_matrix(l, NY_MEM_SOLVE, n, BLOCK);
    k->H = ny_lay_matrix(l, NY_MEM_SOLVE, most, most);
    k->S = ny_lay_matrix(l, NY_MEM_SOLVE, most, most);
    k->T = ny_lay_matrix(l, NY_MEM_SOLVE, most, BLOCK);
    k->R = ny_lay_matrix(l, NY_MEM_SOLVE, BLOCK, BLOCK);
    k->Y = ny_lay_matrix(l, NY_MEM_SOLVE, count, most);
    k->values = ny_lay(l, NY_MEM_SOLVE, most, sizeof(double));
}

void ny_eigen_few_count(struct ny_layout *l, size_t m, size_t count)
{
    struct ny_layout_mark mark = ny_layout_mark(l);
    struct krylov k;

    lay(l, &k, m, count);
    ny_orthonormalise_lanes_count(l, BLOCK);
    ny_eigen_dense_count(l, k.most, count);
    ny_layout_back(l, &mark);
}

/* A product, of whose rows threads have shares. */
struct shared_product {
    ny_narrow_fn *rows;
    struct ny_narrow_product product;
};

static int multiply_rows(void *arg, size_t first, size_t count)
{
    const struct shared_product *shared = arg;

    shared->rows(&shared->product, first, count);
    return NY_OK;
}

/* Computes `rows` rows of a product, in threads where that takes some times longer than they take
 * to start. */
static int run_product(struct ny_context *ctx, ny_narrow_fn *how, struct ny_narrow_product product,
                       size_t rows)
{
    const size_t few = 1 << 20;
    struct shared_product shared = {how, product};

    if (product.inner * rows < few) return multiply_rows(&shared, 0, rows);
    return ny_parallel_ranges(ctx, rows, multiply_rows, &shared);
}

/* X ← X − QQᵀX; T = QᵀX. */
static int project(struct krylov *k)
{
    const struct ny_narrow_ops *ops = ny_narrow_ops_families[ny_cpu_family()];
    struct ny_matrix Q = k->Q;
    int err;

    if (!k->used) return NY_OK;
    err =
        run_product(k->ctx, ops->multiply,
                    (struct ny_narrow_product){Q.at, Q.stride, Q.cols, k->X.at, k->T.at}, k->used);
    if (err) return err;
    return run_product(k->ctx, ops->subtract,
                       (struct ny_narrow_product){Q.at, Q.stride, k->used, k->T.at, k->X.at},
                       Q.cols);
}

/* Returns the largest element of H's diagonal: a lower bound of the largest eigenvalue of A that
 * takes no eigenproblem. */
static double scale_of(const struct krylov *k)
{
    double scale = 0;

    for (size_t i = 0; i < k->used; i++)
        scale = fmax(scale, fabs(k->H.at[i * k->most + i]));
    return scale;
}

/* Adds random directions to X, far below the tolerance, so that a block that A maps into Q goes on;
 * the first block, and those of a matrix of zeros, are random as a whole. */
static void disturb(struct krylov *k)
{
    size_t first = k->used * k->X.rows / 4, count = k->X.rows * BLOCK / 4;
    double share = 0x1p-64 * scale_of(k);
    uint32_t words[4];

    for (size_t i = 0; i < count; i++) {
        ny_philox(k->seed, NY_STREAM_RANGE, first + i, words);
        for (size_t j = 0; j < 4; j++)
            k->X.at[4 * i + j] += (share > 0 ? share : 1) * (0x1p-31 * words[j] - 1);
    }
}

/* Makes X, of which Q has been taken off, the next columns of Q. */
static int append(struct krylov *k)
{
    int err = ny_orthonormalise_lanes(k->ctx, k->X);

    if (!err) err = project(k);
    if (!err) err = ny_orthonormalise_lanes(k->ctx, k->X);
    for (size_t j = 0; j < BLOCK && !err; j++)
        for (size_t i = 0; i < k->X.rows; i++)
            k->Q.at[(k->used + j) * k->Q.stride + i] = k->X.at[i * BLOCK + j];
    k->used += BLOCK;
    return err;
}

/* X = A Q_last off Q, and the rows of H that belong to Q_last, which X is when this is called. */
static int multiply(struct krylov *k)
{
    const struct ny_narrow_product product = {k->A.at, k->A.stride, k->A.rows, k->X.at, k->next.at};
    struct ny_matrix last = k->X;
    size_t first = k->used - BLOCK;
    int err =
        run_product(k->ctx, ny_narrow_ops_families[ny_cpu_family()]->symmetric, product, k->A.rows);

    if (err) return err;
    k->X = k->next;
    k->next = last;
    err = project(k);
    for (size_t i = 0; i < BLOCK && !err; i++)
        for (size_t j = 0; j <= first + i; j++)
            k->H.at[(first + i) * k->most + j] = k->T.at[j * BLOCK + i];
    if (err) return err;
    disturb(k);
    return project(k);
}

/* Returns a copy of H[first …, first …]: its lower triangle. */
static struct ny_matrix copy_of(struct krylov *k, size_t first)
{
    size_t order = k->used - first;
    struct ny_matrix S = ny_matrix(k->S.at, order, order);

    for (size_t i = 0; i < order; i++)
        memcpy(S.at + i * order, k->H.at + (first + i) * k->most + first, (i + 1) * sizeof(double));
    return S;
}

/* Finds the eigenpairs skip … count−1 of H[first …, first …] and tells whether they have settled:
 * ‖Av − θv‖ = ‖X y_last‖ for v = Qy. Squares that over- or underflow tell nothing, and let no pair
 * settle but those of a matrix of zeros. */
static int solve(struct krylov *k, size_t first, size_t skip, size_t count, double limit,
                 bool *settled)
{
    struct ny_matrix S = copy_of(k, first), Y = ny_matrix(k->Y.at, count - skip, S.rows);
    double r[BLOCK], square = limit * limit;
    int err = ny_eigen_dense_behind(k->ctx, S, skip, Y.rows, k->values, Y);

    *settled = !err && (isnormal(square) || limit == 0);
    if (!err) ny_gemm(1, ny_t(k->X), k->X, 0, k->R);
    for (size_t j = 0; j < Y.rows && *settled; j++) {
        const double *last = Y.at + (j + 1) * S.rows - BLOCK;

        ny_gemv(1, k->R, last, 0, r);
        *settled = ny_dot(last, r, BLOCK) <= square;
    }
    return err;
}

/* Makes X a random block, orthogonal to Q, and the next columns of it. */
static int begin(struct krylov *k)
{
    int err;

    memset(k->X.at, 0, k->X.rows * BLOCK * sizeof(double));
    disturb(k);
    err = project(k);
    return err ? err : append(k);
}

/* Makes Lanczos steps from a random block beside the columns that are there, which A keeps apart,
 * until the residuals have settled, the last one first, or Q has `most` columns. */
static int iterate(struct krylov *k, size_t count, double tolerance, size_t most, bool *found)
{
    size_t first = k->used, due = first + 2 * count + 3 * BLOCK;
    int err = begin(k);

    *found = false;
    while (!err) {
        bool full = k->used + BLOCK > most;

        err = multiply(k);
        if (!err && (k->used >= due || full)) {
            double limit = tolerance * scale_of(k);

            err = solve(k, first, count - 1, count, limit, found);
            if (!err && *found) err = solve(k, first, 0, count, limit, found);
            due = k->used + (k->used - first) / 8;
        }
        if (err || *found || full) break;
        err = ny_check_interrupt(k->ctx);
        if (!err) err = append(k);
    }
    return err;
}

/* Tells whether nothing as large as `least` is orthogonal to Q: *small is not set where that would
 * take more than a few steps. */
static int look_behind(struct krylov *k, double least, bool *small)
{
    size_t first = k->used;
    int err;

    k->seed = 1;
    err = begin(k);
    while (!err && k->used < first + LOOK) {
        err = multiply(k);
        if (!err) err = append(k);
    }
    if (!err) err = multiply(k);
    if (!err) err = ny_eigenvalues(k->ctx, copy_of(k, first), k->values);
    *small = !err && fmax(k->values[0], -k->values[LOOK - 1]) <= least / 2;
    return err;
}

/* Tells whether anything is missing above the last value. Q is overwritten by the vectors found. */
static int look_again(struct krylov *k, struct ny_matrix V, const double *values, bool *found)
{
    size_t count = V.rows;
    double least = values[count - 1] + 1e-9 * fabs(values[count - 1]) + 1e-13 * fabs(values[0]);
    int err;

    ny_copy(V, ny_rows(k->Q, 0, count));
    k->used = count;
    err = iterate(k, 1, LOOK_TOLERANCE, k->most, found);
    if (k->values[0] > least) *found = false;
    return err;
}

int ny_eigen_few(struct ny_context *ctx, struct ny_matrix A, double *values, struct ny_matrix V,
                 bool *found)
{
    size_t count = V.rows;
    struct ny_layout l = {.ctx = ctx};
    int err, threads = openblas_get_num_threads();
    struct krylov k;
    bool small = false;

    lay(&l, &k, A.rows, count);
    if (l.err) return ny_layout_end(&l);
    ny_blas_serial(); /* its threads would wait busily between calls, beside those of products */
    k.A = A;
    err = iterate(&k, count, TOLERANCE, k.most - LOOK, found);
    if (err || !*found) goto done;
    memcpy(values, k.values, count * sizeof(double));
    ny_gemm(1, ny_matrix(k.Y.at, count, k.used), ny_rows(k.Q, 0, k.used), 0, V);
    err = look_behind(&k, values[count - 1], &small);
    if (!err && !small) err = look_again(&k, V, values, found);
done:
    openblas_set_num_threads(threads);
    ny_layout_free(&l);
    return err;
}
