/*
 * Randomized eigenpairs of K itself: Li, Kwok & Lu 2010, Algorithm 1 (Halko, Martinsson & Tropp),
 * whose steps are the numbers in brackets, with Y orthonormalised between products [2], and for
 * step 4 B = QᵀKQ, their eq. 4, by one more product. Steps 5 and 6 are left to the caller.
 */

#include "base/random.h"
#include "base/thread.h"
#include "spectral/methods.h"
#include "spectral/whole.h"

/* Fills rows of Ω. A number depends on its place alone, so that it can be made again by any thread.
 * */
static int gaussian_rows(void *arg, size_t first, size_t count)
{
    const struct ny_sketch *sketch = arg;
    size_t r = sketch->V.cols;

    for (size_t i = first; i < first + count; i++)
        ny_gaussian(sketch->randomized.seed, NY_STREAM_RANGE, (uint64_t)i * r,
                    sketch->V.at + i * sketch->V.stride, r);
    return NY_OK;
}

int ny_sketch_gaussian(struct ny_sketch *sketch)
{
    return ny_parallel_ranges(sketch->ctx, sketch->V.rows, gaussian_rows, sketch);
}

void ny_symmetrise(struct ny_matrix B)
{
    for (size_t i = 0; i < B.rows; i++)
        for (size_t j = 0; j < i; j++) {
            double mean = (B.at[i * B.stride + j] + B.at[j * B.stride + i]) / 2;

            B.at[i * B.stride + j] = B.at[j * B.stride + i] = mean;
        }
}

/* Returns the products with K that the method makes: `power` of them for the range, one for B. */
static unsigned products(const struct ny_randomized *how)
{
    return how->power + 1;
}

static int start(struct ny_sketch *sketch)
{
    int err = ny_sketch_gaussian(sketch); /* [1] Ω */

    return err || sketch->randomized.power ? err : ny_orthonormalise(sketch->ctx, sketch->V);
}

/* Makes V = orth(Y) after every product but the last, whose Y = KQ is what B is made of. */
static int next(struct ny_sketch *sketch, unsigned step)
{
    if (step == sketch->randomized.power) return NY_OK; /* Y = KQ: what B is made of */
    ny_copy(sketch->Y, sketch->V);
    return ny_orthonormalise(sketch->ctx, sketch->V); /* [2, 3] Q = orth(Y) */
}

static int reduce(struct ny_sketch *sketch, struct ny_matrix B)
{
    ny_gemm(1, ny_t(sketch->V), sketch->Y, 0, B); /* [4] B = Qᵀ(KQ) */
    ny_symmetrise(B);
    return NY_OK;
}

static double flops(double n, double r, const struct ny_randomized *how)
{
    return n * r * r * (4.0 * how->power + 2);
}

static const struct ny_whole whole = {.basis_last = true,
                                      .products = products,
                                      .start = start,
                                      .next = next,
                                      .reduce = reduce,
                                      .count = ny_orthonormalise_count,
                                      .flops = flops};

const struct ny_method ny_method_randomized = {
    .name = "randomized",
    .summary = "products with all of K, n^2 kernel values each, or two passes for linear and "
               "cosine kernels",
    .options = "rank|oversample|power",
    .without = "landmarks|averages|columns-file",
    .implicit = true,
    .whole = &whole,
};
