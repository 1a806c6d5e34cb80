/*
 * The yardstick of the fits: their matrix products alone, on random data of the same shapes in
 * memory, with OpenBLAS's own threads.
 *
 *   bench_products METHOD N D M P [K [TIMES]]   → seconds, on one line
 *
 * nystrom: kernel and projection products over all rows, and those of the randomized inner solver
 * (K + 5 columns, q = 2; K is P if not given). projected: kernel products of two passes and those
 * of the projection, the tile Grams, and the exact eigenproblem of size M for P pairs. implicit:
 * projected with the kernel products of one more pass, for degrees. gram32, gram64: the tile Grams
 * in that precision and the eigenproblem alone. What is done for each row is counted TIMES times:
 * a share of the rows then stands for all.
 */
#include <cblas.h>
#include <lapacke.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TILE = 2048, OVERSAMPLE = 5, PRODUCTS = 3 };

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void *filled(size_t count, size_t size)
{
    float *f = aligned_alloc(64, (count * size + 63) / 64 * 64);
    double *d = (double *)(void *)f;

    if (!f) exit(1);
    srand(1);
    for (size_t i = 0; i < count; i++) {
        double value = (double)rand() / RAND_MAX - 0.5;

        if (size == sizeof(float)) f[i] = (float)value;
        else d[i] = value;
    }
    return f;
}

static double passes(int n, int d, int m, int p, int kernels)
{
    int gram = kernels > 1;
    float *X = filled((size_t)TILE * (size_t)d, 4), *D = filled((size_t)m * (size_t)d, 4);
    float *C = filled((size_t)TILE * (size_t)m, 4), *P = filled((size_t)m * (size_t)p, 4);
    float *Y = filled((size_t)TILE * (size_t)p, 4);
    float *G = gram ? filled((size_t)m * (size_t)m, 4) : NULL;
    double start = now();

    for (int first = 0; first < n; first += TILE) {
        int rows = n - first < TILE ? n - first : TILE;

        for (int kernel = 0; kernel < kernels; kernel++)
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, m, d, 1, X, d, D, d, 0, C,
                        m);
        if (gram) cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, m, rows, 1, C, m, 0, G, m);
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, p, m, 1, C, m, P, p, 0, Y, p);
    }
    start = now() - start;
    free(X), free(D), free(C), free(P), free(Y), free(G);
    return start;
}

static double inner_products(int m, int k)
{
    int r = k + OVERSAMPLE;
    double *W = filled((size_t)m * (size_t)m, 8), *Q = filled((size_t)m * (size_t)r, 8);
    double *Z = filled((size_t)m * (size_t)r, 8), *B = filled((size_t)r * (size_t)r, 8);
    double start = now();

    for (int product = 0; product < PRODUCTS; product++)
        cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, r, m, 1, W, m, Q, r, 0, Z, r);
    cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, r, r, m, 1, Q, r, Z, r, 0, B, r);
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, k, r, 1, Q, r, B, r, 0, Z, r);
    start = now() - start;
    free(W), free(Q), free(Z), free(B);
    return start;
}

static double eigenproblem(int m, int p)
{
    double *A = filled((size_t)m * (size_t)m, 8), *w = filled((size_t)m, 8);
    double *Z = filled((size_t)m * (size_t)p, 8), start;
    lapack_int found, *support = malloc(2 * (size_t)p * sizeof(*support));

    for (int i = 0; i < m; i++)
        A[(size_t)i * (size_t)m + (size_t)i] += m;
    start = now();
    LAPACKE_dsyevr(LAPACK_COL_MAJOR, 'V', 'I', 'U', m, A, m, 0, 0, m - p + 1, m, 0, &found, w, Z, m,
                   support);
    start = now() - start;
    free(A), free(w), free(Z), free(support);
    return start;
}

static double grams(int n, int m, int f64)
{
    float *C32 = f64 ? NULL : filled((size_t)TILE * (size_t)m, 4);
    float *G32 = f64 ? NULL : filled((size_t)m * (size_t)m, 4);
    double *C64 = f64 ? filled((size_t)TILE * (size_t)m, 8) : NULL;
    double *G64 = f64 ? filled((size_t)m * (size_t)m, 8) : NULL;
    double start = now();

    for (int first = 0; first < n; first += TILE) {
        int rows = n - first < TILE ? n - first : TILE;

        if (f64)
            cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, m, rows, 1, C64, m, 0, G64, m);
        else
            cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, m, rows, 1, C32, m, 0, G32, m);
    }
    start = now() - start;
    free(C32), free(G32), free(C64), free(G64);
    return start;
}

/* Measures the seconds of the work for all rows, and of the work done once. */
static void measure(const char *method, const int size[5], double *rows_s, double *once_s)
{
    int n = size[0], d = size[1], m = size[2], p = size[3];
    int kernels = method[0] == 'n' ? 1 : method[0] == 'p' ? 2 : 3;

    if (method[0] == 'g') {
        *rows_s = grams(n, m, strcmp(method, "gram64") == 0);
    } else {
        passes(TILE, d, m, p, kernels); /* warm up */
        *rows_s = passes(n, d, m, p, kernels);
    }
    *once_s = method[0] == 'n' ? inner_products(m, size[4]) : eigenproblem(m, p);
}

int main(int argc, char **argv)
{
    static const char *const methods[] = {"nystrom", "projected", "implicit", "gram32", "gram64"};
    int size[5] = {0}, known = 0;
    double rows_s, once_s;

    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]) && argc > 1; i++)
        known = known || strcmp(argv[1], methods[i]) == 0;
    if (!known || argc < 6 || argc > 8) {
        fprintf(stderr, "usage: bench_products METHOD N D M P [K [TIMES]]\n");
        return 2;
    }
    for (int i = 0; i < 5; i++)
        size[i] = atoi(argv[i + 2 < argc ? i + 2 : 5]);
    measure(argv[1], size, &rows_s, &once_s);
    printf("%.4f\n", rows_s * (argc > 7 ? atof(argv[7]) : 1) + once_s);
    return 0;
}
