/* whole/kernel_product.h against double loops over all pairs of points. */
#include "columns_case.h"

#include "whole/kernel_product.h"

enum { N = 4500, D = 11, W_MAX = 7 };

/* Rows whose products are checked: some of each unit, and all about the cuts. */
static bool is_checked(size_t i)
{
    return i % 37 == 0 || i % NY_UNIT_ROWS < 2 || i % NY_UNIT_ROWS == NY_UNIT_ROWS - 1 ||
           i == N - 1;
}

struct product_case {
    struct data data;
    struct geometry geometry;
    struct ny_columns_spec spec;
    struct data_source source;
    double *V, *scale;
    size_t w;
};

static void case_new(struct product_case *c, const char *kernel, enum ny_dtype dtype, size_t n,
                     size_t w)
{
    const struct ny_kernel *found = ny_kernel_find(kernel);
    bool distance = found->base == NY_BASE_SQUARE || found->base == NY_BASE_ABSOLUTE;
    double gamma;

    *c = (struct product_case){.data = data_random(dtype, n, D, 5), .w = w};
    c->geometry = geometry_of(&c->data, distance, 1);
    gamma = found->auto_gamma ? plain_gamma(kernel, &c->data, &c->geometry) : 1;
    c->spec = spec_of(kernel, gamma, &c->data, &c->geometry);
    c->source = data_source(&c->data);
    c->V = room(n * w, sizeof(double));
    c->scale = room(n, sizeof(double));
    ny_gaussian(3, NY_STREAM_DATA, 0, c->V, n * w);
    for (size_t i = 0; i < n; i++)
        c->scale[i] = 0.5 + ny_hash01(4, NY_STREAM_DATA, i);
}

static struct ny_kernel_product product_of(struct product_case *c, double *Y)
{
    return (struct ny_kernel_product){.spec = &c->spec,
                                      .points = &c->source.source,
                                      .workers = 2,
                                      .seed = 1,
                                      .stage = "test",
                                      .V = ny_matrix(c->V, c->data.rows, c->w),
                                      .Y = ny_matrix(Y, c->data.rows, c->w)};
}

static double *run_product(struct product_case *c, enum ny_precision precision, bool scaled,
                           unsigned workers)
{
    double *Y = room(c->data.rows * c->w, sizeof(double));
    struct ny_kernel_product product = product_of(c, Y);

    product.precision = precision;
    product.workers = workers;
    if (scaled) product.scale = c->scale;
    CHECK(ny_kernel_product_run(&product));
    return Y;
}

/* Row i of NKNV and, beside it, what its sum is made of: Σ |k_ij v_j|. */
static void plain_product(const struct product_case *c, size_t i, bool scaled, double *y,
                          double *size)
{
    double x[D], z[D];

    memset(y, 0, c->w * sizeof(double));
    *size = 0;
    plain_row(&c->data, &c->geometry, i, x);
    for (size_t j = 0; j < c->data.rows; j++) {
        double k;

        plain_row(&c->data, &c->geometry, j, z);
        k = plain_kernel(c->spec.kernel->name, &c->spec.params, plain_pair(x, z, D));
        if (scaled) k *= c->scale[i] * c->scale[j];
        *size += k * k;
        for (size_t l = 0; l < c->w; l++)
            y[l] += k * c->V[j * c->w + l];
    }
    *size = sqrt(*size);
}

static void check(const struct product_case *c, const double *Y, bool scaled, double tolerance)
{
    double y[W_MAX], size;
    char what[80];

    for (size_t i = 0; i < c->data.rows; i++) {
        if (!is_checked(i)) continue;
        plain_product(c, i, scaled, y, &size);
        for (size_t l = 0; l < c->w; l++) {
            snprintf(what, sizeof(what), "%s: row %zu, column %zu", c->spec.kernel->name, i, l);
            assert_entry(Y[i * c->w + l], y[l], tolerance * size, what);
        }
    }
}

TEST(each_kernel_is_multiplied)
{
    static const char *const kernels[] = {"linear", "rbf", "laplacian", "polynomial", "cosine"};
    static const enum ny_dtype types[] = {NY_U8, NY_F32};

    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
        for (size_t t = 0; t < 2; t++) {
            struct product_case c;
            bool scaled = (k + t) % 2;
            double *Y;

            case_new(&c, kernels[k], types[t], N, k % 2 ? 1 : W_MAX);
            Y = run_product(&c, NY_PRECISION_F32, scaled, 2);
            check(&c, Y, scaled, 3e-6);
        }
}

TEST(f64_is_exact_to_rounding)
{
    struct product_case c;
    double *Y;

    case_new(&c, "rbf", NY_F64, N, 3);
    Y = run_product(&c, NY_PRECISION_F64, true, 2);
    check(&c, Y, true, 1e-12);
}

/* All entries near 1, and V so that only their differences count. */
TEST(a_wide_kernel_keeps_its_digits)
{
    struct product_case c;
    double *Y, y[1], size, mean = 0, largest = 0, error = 0;

    case_new(&c, "rbf", NY_F32, N, 1);
    c.spec.params.gamma *= 1e-5;
    for (size_t i = 0; i < N; i++)
        c.V[i] = (i % 2 ? 1 : -1) + (c.data.values[i * D] - 5);
    for (size_t i = 0; i < N; i++)
        mean += c.V[i] / N;
    for (size_t i = 0; i < N; i++)
        c.V[i] -= mean;
    Y = run_product(&c, NY_PRECISION_F32, false, 2);
    for (size_t i = 0; i < N; i += 50) {
        plain_product(&c, i, false, y, &size);
        largest = fmax(largest, fabs(y[0]));
        assert_true(isfinite(Y[i])); /* fmax() leaves NaN out */
        error = fmax(error, fabs(Y[i] - y[0]));
    }
    assert_true(largest < 1e-2 * N); /* the product is small beside its terms, which add up to N */
    assert_entry(error / largest, 0, 1e-4, "a wide kernel");
}

TEST(neither_threads_nor_panels_change_a_byte)
{
    static const size_t sizes[] = {2, 700, NY_UNIT_ROWS, NY_UNIT_ROWS + 1, N};

    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        struct product_case c;
        double *one, *other;

        case_new(&c, "rbf", NY_U8, sizes[s], 5);
        one = run_product(&c, NY_PRECISION_F32, true, 1);
        check(&c, one, true, 3e-6);
        for (unsigned workers = 2; workers < 6; workers += 3) {
            other = run_product(&c, NY_PRECISION_F32, true, workers);
            assert_memory_equal(one, other, sizes[s] * 5 * sizeof(double));
        }
    }
}

/* Stops at a tile, and keeps what a checkpoint would. */
struct stop {
    const double *Y;
    double *kept;
    size_t bytes;
    uint64_t at, tiles;
};

static int keep(void *arg, uint64_t tiles_done)
{
    struct stop *stopped = arg;

    memcpy(stopped->kept, stopped->Y, stopped->bytes);
    stopped->tiles = tiles_done;
    return tiles_done >= stopped->at ? NY_EINTERRUPTED : NY_OK;
}

TEST(it_goes_on_from_any_tile)
{
    struct product_case c;
    uint64_t tiles = ny_pairs_all_tiles(N);
    size_t bytes;
    double *whole;

    case_new(&c, "rbf", NY_F32, N, 4);
    bytes = N * c.w * sizeof(double);
    whole = run_product(&c, NY_PRECISION_F32, true, 2);
    assert_int_equal(tiles, 6);
    for (uint64_t at = 1; at <= tiles; at++) {
        double *Y = room(N * c.w, sizeof(double)), *kept = room(N * c.w, sizeof(double));
        struct stop stopped = {.Y = Y, .kept = kept, .bytes = bytes, .at = at};
        struct ny_kernel_product product = product_of(&c, Y);

        product.scale = c.scale;
        ny_context_set_checkpoint(ctx, 0);
        product.checkpoint = keep;
        product.checkpoint_arg = &stopped;
        assert_int_equal(ny_kernel_product_run(&product), NY_EINTERRUPTED);
        assert_int_equal(stopped.tiles, at);
        product.Y = ny_matrix(kept, N, c.w);
        product.first_tile = stopped.tiles;
        product.checkpoint = NULL;
        product.workers = 3;
        assert_int_equal(ny_kernel_product_run(&product), NY_OK);
        assert_memory_equal(whole, kept, bytes);
    }
}

TEST(what_is_not_finite_is_named)
{
    struct product_case c;
    struct ny_kernel_product product;
    double *Y;

    case_new(&c, "linear", NY_F32, 300, 2);
    Y = room(300 * 2, sizeof(double));
    for (size_t k = 0; k < D; k++)
        data_set(&c.data, 17 * D + k, 3e38);
    product = product_of(&c, Y);
    assert_int_equal(ny_kernel_product_run(&product), NY_ENUMERIC);
    assert_non_null(strstr(ny_context_message(ctx), "not finite"));
    ny_error_clear(ctx);
}

/* The bill of a product is what it charges at most. */
TEST(it_charges_what_it_says)
{
    static const enum ny_precision precisions[] = {NY_PRECISION_F32, NY_PRECISION_F64};

    for (size_t p = 0; p < 2; p++) {
        struct ny_layout counted = {0};
        struct product_case c;
        size_t bill;

        case_new(&c, "rbf", NY_F32, N, 6);
        ny_memory_peak_reset(ctx);
        run_product(&c, precisions[p], false, 2);
        ny_kernel_product_count(&counted, &c.spec, N, 6, precisions[p], 2);
        bill = ny_layout_most(&counted);
        assert_true((double)ny_memory_peak(ctx) >= 0.8 * (double)bill);
        if (precisions[p] == NY_PRECISION_F64)
            ny_columns_exact_count(&counted, &c.spec, 2 * ny_context_threads(ctx));
        assert_true(ny_memory_peak(ctx) <= ny_layout_most(&counted));
    }
}

AROUND_EACH(start, stop)
