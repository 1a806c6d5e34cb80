/*
 * The directions of a sieve (nearest/sieve.h): nearly those of the largest variance about the
 * centre, by two rounds of subspace iteration from random ones over a sample of the points. They
 * are not rotated to be the principal ones, so that the spread is shared by many of them and a byte
 * suits each. The first of them are those of an iteration with fewer.
 */
#include <math.h>
#include <stdlib.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/random.h"
#include "columns/kernels.h"
#include "nearest/sieve_private.h"
#include "linalg/eigen.h"

/* Rows of the sample; fewer of very long rows, but not below the least. */
enum { SAMPLE_ROWS = 1024, SAMPLE_LEAST = 256, ROUNDS = 2, SEED = 1 };

/* The largest row of the sample is at most so many times as large as those of even numbers. */
enum { UNEVEN = 1000 };

static size_t sample_rows(const struct ny_knn *knn)
{
    size_t fit = ((size_t)1 << 20) / knn->spec->geometry->d, rows = SAMPLE_ROWS;

    if (fit < rows) rows = fit;
    if (rows < SAMPLE_LEAST) rows = SAMPLE_LEAST;
    return knn->n < rows ? (size_t)knn->n : rows;
}

/* The sample, its parts, and the axes that these are along. */
struct basis {
    double *sample, *parts, *axes; /* rows × d, rows × columns, d × columns */
};

static void lay(struct ny_layout *l, struct basis *basis, size_t rows, size_t d, size_t columns)
{
    basis->sample = ny_lay(l, NY_MEM_TILES, rows, d * sizeof(double));
    basis->parts = ny_lay(l, NY_MEM_TILES, rows, columns * sizeof(double));
    basis->axes = ny_lay(l, NY_MEM_TILES, d, columns * sizeof(double));
}

void ny_sieve_basis_count(struct ny_layout *l, const struct ny_knn *knn)
{
    size_t rows = sample_rows(knn), d = knn->spec->geometry->d;
    size_t columns = d < NY_SIEVE_FINE ? d : NY_SIEVE_FINE;

    lay(l, &(struct basis){0}, rows, d, columns);
    ny_lay(l, NY_MEM_TILES, rows, ny_raw_bytes(knn->spec) + sizeof(double));
    ny_columns_count(l, knn->spec, 1);
    ny_lay(l, NY_MEM_TILES, columns, columns * sizeof(double));
    ny_orthonormalise_count(l, columns);
}

double ny_sieve_basis_flops(const struct ny_knn *knn)
{
    size_t d = knn->spec->geometry->d;
    double columns = (double)ny_smaller(d, NY_SIEVE_FINE), rows = (double)sample_rows(knn);

    /* Products with the sample, and Grams and solutions, twice each time. */
    return (double)d * columns * (2 * (2 * ROUNDS + 1) * rows + 4 * (ROUNDS + 1) * columns);
}

/* Reads and prepares the sample: one row of each of as many equal stretches. */
static int read_sample(const struct ny_sieve *sieve, struct ny_matrix S)
{
    const struct ny_knn *knn = sieve->knn;
    struct ny_context *ctx = knn->spec->ctx;
    uint64_t row[SAMPLE_ROWS];
    char *raw = ny_calloc(ctx, NY_MEM_TILES, S.rows, ny_raw_bytes(knn->spec));
    struct ny_columns *columns = NULL;
    int err = raw ? ny_columns_new(&columns, knn->spec) : NY_EBUDGET;

    if (err == NY_OK) err = ny_held_draw(&sieve->held, SEED, NY_STREAM_SAMPLE, S.rows, row, raw);
    if (err == NY_OK) ny_columns_prepare(columns, ny_raw_rows(raw), S.rows, S.at);
    ny_columns_free(columns);
    ny_free(ctx, raw);
    return err;
}

/* Gives the rows of a cosine unit length. */
static void make_units(struct ny_matrix S)
{
    for (size_t i = 0; i < S.rows; i++) {
        double *row = S.at + i * S.stride, length = sqrt(ny_dot(row, row, S.cols));

        for (size_t k = 0; k < S.cols && length > 0; k++)
            row[k] /= length;
    }
}

/* Makes a scale whose numbers are even up to the size `even`, and end at `most` with `end`. */
static struct ny_sieve_scale scale_of(double even, double most, double end)
{
    double units = 1 + log(most / even);

    return (struct ny_sieve_scale){even * units / end, end / units, end};
}

/* Chooses the scales by the parts T of the sample, all of which fit. In signals and counts most
 * rows may be many times as small as the largest: numbers of a code are even for a few of the
 * smallest, which bytes would not tell apart else, and those of a fine code for most rows. */
static int choose_scales(struct ny_sieve *sieve, struct ny_matrix T)
{
    struct ny_context *ctx = sieve->knn->spec->ctx;
    double *far = ny_calloc(ctx, NY_MEM_TILES, T.rows, sizeof(*far)), most;

    if (!far) return NY_EBUDGET;
    for (size_t i = 0; i < T.rows; i++)
        for (size_t k = 0; k < T.cols; k++)
            far[i] = fmax(far[i], fabs(T.at[i * T.stride + k]));
    qsort(far, T.rows, sizeof(*far), ny_compare_doubles);
    most = far[T.rows - 1] > 0 ? far[T.rows - 1] : 1;
    sieve->scale = scale_of(fmax(far[T.rows / 10], most / UNEVEN), most, NY_SIEVE_END);
    sieve->fine_scale = scale_of(fmax(far[T.rows - 1 - T.rows / 10], most / UNEVEN), most,
                                 floor(sqrt(0x1p31 / 4 / (double)sieve->fine)));
    ny_free(ctx, far);
    return NY_OK;
}

/* Bounds by how much a product with Y, which is rounded to f32, makes a vector longer: no more than
 * the root of the greatest row sum of YᵀY. */
static int bound_length(struct ny_sieve *sieve, struct ny_matrix Y)
{
    struct ny_context *ctx = sieve->knn->spec->ctx;
    double *gram = ny_calloc(ctx, NY_MEM_TILES, Y.cols * Y.cols, sizeof(*gram)), most = 0;

    if (!gram) return NY_EBUDGET;
    ny_gemm(1, ny_t(Y), Y, 0, ny_matrix(gram, Y.cols, Y.cols));
    for (size_t i = 0; i < Y.cols; i++) {
        double sum = 0;

        for (size_t j = 0; j < Y.cols; j++)
            sum += fabs(gram[i * Y.cols + j]);
        most = fmax(most, sum);
    }
    sieve->length = sqrt(most) + 1e-5; /* f32 takes 2⁻²⁴ √columns of it */
    ny_free(ctx, gram);
    return NY_OK;
}

int ny_sieve_basis(struct ny_sieve *sieve)
{
    const struct ny_knn *knn = sieve->knn;
    struct ny_context *ctx = knn->spec->ctx;
    size_t rows = sample_rows(knn), d = knn->spec->geometry->d, columns = sieve->fine;
    struct ny_layout l = {.ctx = ctx};
    struct ny_matrix S, T, Y;
    struct basis basis;
    int err;

    lay(&l, &basis, rows, d, columns);
    S = ny_matrix(basis.sample, rows, d);
    T = ny_matrix(basis.parts, rows, columns);
    Y = ny_matrix(basis.axes, d, columns);
    err = l.err ? l.err : read_sample(sieve, S);
    if (err) goto done;
    if (knn->spec->kernel == &ny_kernel_angular) make_units(S);
    if (ny_first_not_finite(S.at, rows * d)) {
        err = ny_fail_infinite(ctx, "basis", NY_NO_LINE);
        goto done;
    }
    ny_gaussian(SEED, NY_STREAM_RANGE, 0, Y.at, d * columns);
    err = ny_orthonormalise(ctx, Y);
    for (int round = 0; round < ROUNDS && !err; round++) {
        ny_gemm(1, S, Y, 0, T);
        ny_gemm(1, ny_t(S), T, 0, Y);
        err = ny_orthonormalise(ctx, Y);
    }
    if (err) goto done;
    ny_gemm(1, S, Y, 0, T);
    err = choose_scales(sieve, T);
    if (!err) err = bound_length(sieve, Y);
    for (size_t k = 0; k < d * columns; k++)
        sieve->basis[k] = (float)Y.at[k];
done:
    ny_layout_free(&l);
    return err;
}
