/*
 * The greedy selection against Algorithm 1 of Ouimet & Bengio (2005) written literally, one point
 * at a time: (a) in f64 with M⁻¹ kept by eq. 9, dgemv + dsymv; (b) in f32 with L, sgemv + strsv;
 * both on one thread. 60,000 × 784 u8: MNIST where NYSTREAM_DATA is set, else blobs.
 *
 *   bench_greedy [tolerance [gamma [u1|u2|f1|f2]]]   gamma for pixels in 0…1; the last argument
 *                runs nystream alone, on u8 or f32 rows, with so many threads
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cblas.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/random.h"
#include "select/greedy.h"

enum { N = 60000, D = 784 };

static void die(const char *message)
{
    fprintf(stderr, "bench_greedy: %s\n", message);
    exit(1);
}

static int load_mnist(uint8_t *pixels)
{
    const char *data = getenv("NYSTREAM_DATA");
    char path[4096], head[16];
    gzFile file;
    int ok;

    if (!data || !*data) return 0;
    snprintf(path, sizeof(path), "%s/mnist/train-images-idx3-ubyte.gz", data);
    file = gzopen(path, "rb");
    if (!file) return 0;
    ok = gzread(file, head, sizeof(head)) == sizeof(head) && gzread(file, pixels, N * D) == N * D;
    gzclose(file);
    return ok;
}

/* A hundred clusters that spread along a few directions each, as images do. */
static void make_blobs(uint8_t *pixels)
{
    enum { CLUSTERS = 100, DIRECTIONS = 12 };
    double *centre = malloc(sizeof(double) * CLUSTERS * D);
    double *along = malloc(sizeof(double) * CLUSTERS * DIRECTIONS * D), t[DIRECTIONS];

    ny_gaussian(1, NY_STREAM_DATA, 0, centre, CLUSTERS * D);
    ny_gaussian(2, NY_STREAM_DATA, 0, along, CLUSTERS * DIRECTIONS * D);
    for (size_t i = 0; i < N; i++) {
        size_t c = ny_hash64(3, NY_STREAM_DATA, i) % CLUSTERS;

        ny_gaussian(4, NY_STREAM_DATA, i * DIRECTIONS, t, DIRECTIONS);
        for (size_t k = 0; k < D; k++) {
            double x = 100 + 40 * centre[c * D + k];
            for (size_t j = 0; j < DIRECTIONS; j++)
                x += 14 * t[j] * along[(c * DIRECTIONS + j) * D + k];
            pixels[i * D + k] = (uint8_t)(x < 0 ? 0 : x > 255 ? 255 : x);
        }
    }
    free(centre);
    free(along);
}

/* Pixels about their mean, in 0…1. */
static double *centred(const uint8_t *pixels, double *mean)
{
    double *x = malloc(sizeof(double) * N * D);

    for (size_t k = 0; k < D; k++)
        mean[k] = 0;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < D; k++)
            mean[k] += (double)pixels[i * D + k] / N;
    for (size_t i = 0; i < N; i++)
        for (size_t k = 0; k < D; k++)
            x[i * D + k] = ((double)pixels[i * D + k] - mean[k]) / 255;
    return x;
}

struct result {
    size_t m, *rows;
    double seconds;
};

enum { MOST = 6000 };

static struct result literal64(const double *x, double gamma, double tolerance)
{
    struct result r = {0, malloc(sizeof(size_t) * MOST), 0};
    double *inverse = calloc((size_t)MOST * MOST, sizeof(double));
    double *landmarks = malloc(sizeof(double) * MOST * D), *norms = malloc(sizeof(double) * MOST);
    double *k = malloc(sizeof(double) * MOST), *a = malloc(sizeof(double) * MOST);
    double start = ny_now();

    for (size_t i = 0; i < N; i++) {
        const double *row = x + i * D;
        double norm = cblas_ddot(D, row, 1, row, 1), delta = 1;
        int m = (int)r.m;

        if (m) {
            cblas_dgemv(CblasRowMajor, CblasNoTrans, m, D, 1, landmarks, D, row, 1, 0, k, 1);
            for (int j = 0; j < m; j++)
                k[j] = exp(-gamma * fmax(norm + norms[j] - 2 * k[j], 0));
            cblas_dsymv(CblasRowMajor, CblasLower, m, 1, inverse, MOST, k, 1, 0, a, 1);
            delta -= cblas_ddot(m, k, 1, a, 1);
        }
        if (delta <= tolerance) continue;
        if (m == MOST) die("more landmarks than expected: raise the tolerance");
        a[m] = -1;
        cblas_dsyr(CblasRowMajor, CblasLower, m + 1, 1 / delta, a, 1, inverse, MOST);
        memcpy(landmarks + (size_t)m * D, row, sizeof(double) * D);
        norms[m] = norm;
        r.rows[r.m++] = i;
    }
    r.seconds = ny_now() - start;
    free(inverse);
    free(landmarks);
    free(norms);
    free(k);
    free(a);
    return r;
}

static struct result literal32(const double *x64, double gamma, double tolerance)
{
    struct result r = {0, malloc(sizeof(size_t) * MOST), 0};
    float *x = malloc(sizeof(float) * N * D), *L = calloc((size_t)MOST * MOST, sizeof(float));
    float *landmarks = malloc(sizeof(float) * MOST * D), *norms = malloc(sizeof(float) * MOST);
    float *k = malloc(sizeof(float) * MOST);
    double start;

    for (size_t i = 0; i < (size_t)N * D; i++)
        x[i] = (float)x64[i];
    start = ny_now();
    for (size_t i = 0; i < N; i++) {
        const float *row = x + i * D;
        float norm = cblas_sdot(D, row, 1, row, 1), delta = 1;
        int m = (int)r.m;

        if (m) {
            cblas_sgemv(CblasRowMajor, CblasNoTrans, m, D, 1, landmarks, D, row, 1, 0, k, 1);
            for (int j = 0; j < m; j++)
                k[j] = expf(-(float)gamma * fmaxf(norm + norms[j] - 2 * k[j], 0));
            cblas_strsv(CblasRowMajor, CblasLower, CblasNoTrans, CblasNonUnit, m, L, MOST, k, 1);
            delta -= cblas_sdot(m, k, 1, k, 1);
        }
        if (delta <= (float)tolerance) continue;
        if (m == MOST) die("more landmarks than expected: raise the tolerance");
        memcpy(L + (size_t)m * MOST, k, sizeof(float) * (size_t)m);
        L[(size_t)m * MOST + (size_t)m] = sqrtf(delta);
        memcpy(landmarks + (size_t)m * D, row, sizeof(float) * D);
        norms[m] = norm;
        r.rows[r.m++] = i;
    }
    r.seconds = ny_now() - start;
    free(x);
    free(L);
    free(landmarks);
    free(norms);
    free(k);
    return r;
}

static struct result ours(const void *rows, enum ny_dtype dtype, const double *mean, double gamma,
                          double tolerance, unsigned workers)
{
    struct result r = {0, NULL, 0};
    double factor[D];
    struct ny_context *ctx;
    struct ny_geometry *geometry = NULL;
    struct ny_columns_spec spec = {.kernel = ny_kernel_find("rbf"),
                                   .params = {.gamma = gamma / (255.0 * 255.0)},
                                   .dtype = dtype};
    struct ny_selection_request request = {.n = N,
                                           .spec = &spec,
                                           .landmarks = SIZE_MAX,
                                           .greedy.dictionary.tolerance = tolerance,
                                           .workers = workers};
    struct ny_selection selection;
    struct ny_source *source = NULL;

    for (size_t k = 0; k < D; k++)
        factor[k] = 1;
    if (ny_context_new(&ctx)) die("no context");
    ny_context_set_threads(ctx, workers);
    if (ny_geometry_copy(&geometry, ctx, mean, factor, D)) die(ny_context_message(ctx));
    request.ctx = spec.ctx = ctx;
    spec.geometry = geometry;
    if (ny_source_of_memory(&source, ctx, rows, dtype, N, D)) die(ny_context_message(ctx));
    r.seconds = ny_now();
    if (ny_greedy_select_from(&request, NULL, source, &selection)) die(ny_context_message(ctx));
    r.seconds = ny_now() - r.seconds;
    r.m = selection.m;
    r.rows = malloc(sizeof(size_t) * r.m);
    for (size_t i = 0; i < r.m; i++)
        r.rows[i] = (size_t)selection.rows[i];
    ny_selection_release(&selection, ctx);
    ny_source_free(source);
    ny_geometry_free(geometry, ctx);
    ny_context_free(ctx);
    return r;
}

static int same(const struct result *a, const struct result *b)
{
    return a->m == b->m && memcmp(a->rows, b->rows, a->m * sizeof(size_t)) == 0;
}

static void print(const char *what, const struct result *r, const struct result *truth)
{
    printf("%-34s m %zu  %8.2f s  %9.0f rows/s  dictionary %s\n", what, r->m, r->seconds,
           N / r->seconds, same(r, truth) ? "as in f64" : "DIFFERS from f64");
}

int main(int argc, char **argv)
{
    double tolerance = argc > 1 ? atof(argv[1]) : 0.37, gamma = argc > 2 ? atof(argv[2]) : 0.01;
    uint8_t *pixels = malloc((size_t)N * D);
    float *floats = malloc(sizeof(float) * N * D);
    double mean[D], *x;
    int mnist = load_mnist(pixels), differs;
    struct result f64, f32, best, two, one;

    if (!mnist) make_blobs(pixels);
    for (size_t i = 0; i < (size_t)N * D; i++)
        floats[i] = pixels[i];
    x = centred(pixels, mean);
    openblas_set_num_threads(1);
    printf("%s %d x %d, rbf gamma %g, tolerance %g\n", mnist ? "MNIST" : "blobs", N, D, gamma,
           tolerance);
    if (argc > 3) {
        best = argv[3][0] == 'u' ? ours(pixels, NY_U8, mean, gamma, tolerance,
                                        (unsigned)atoi(argv[3] + 1))
                                 : ours(floats, NY_F32, mean, gamma, tolerance,
                                        (unsigned)atoi(argv[3] + 1));
        printf("%g s, m = %zu\n", best.seconds, best.m);
        return 0;
    }
    best = ours(pixels, NY_U8, mean, gamma, tolerance, 2);
    two = ours(floats, NY_F32, mean, gamma, tolerance, 2);
    one = ours(pixels, NY_U8, mean, gamma, tolerance, 1);
    f32 = literal32(x, gamma, tolerance);
    f64 = literal64(x, gamma, tolerance);
    print("literal f64 (dgemv, dsymv)", &f64, &f64);
    print("literal f32 (sgemv, strsv)", &f32, &f64);
    print("nystream, u8, 1 thread", &one, &f64);
    print("nystream, f32, 2 threads", &two, &f64);
    print("nystream, u8, 2 threads", &best, &f64);
    printf("2 threads, f32: %.1f x literal f64, %.1f x literal f32\n", f64.seconds / two.seconds,
           f32.seconds / two.seconds);
    printf("2 threads, u8:  %.1f x literal f64 (goal 20), %.1f x literal f32 (goal 8)\n",
           f64.seconds / best.seconds, f32.seconds / best.seconds);
    differs = !same(&best, &f64) || !same(&two, &f64) || !same(&one, &f64);
    free(pixels);
    free(floats);
    free(x);
    free(f64.rows);
    free(f32.rows);
    free(best.rows);
    free(two.rows);
    free(one.rows);
    return differs;
}
