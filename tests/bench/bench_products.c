/*
 * The yardstick of the fits: their matrix products alone, on random data of the same shapes in
 * memory, with OpenBLAS's own threads.
 *
 *   bench_products nystrom|projected N D M P   → seconds, on one line
 *
 * nystrom: kernel and projection products over all rows, and those of the randomized inner solver
 * (k + 5 columns, q = 2). projected: kernel and projection products, the tile Grams, and the exact
 * eigenproblem of size M for P pairs.
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

static double passes(int n, int d, int m, int p, int gram)
{
    float *X = filled((size_t)TILE * (size_t)d, 4), *D = filled((size_t)m * (size_t)d, 4);
    float *C = filled((size_t)TILE * (size_t)m, 4), *P = filled((size_t)m * (size_t)p, 4);
    float *Y = filled((size_t)TILE * (size_t)p, 4);
    float *G = gram ? filled((size_t)m * (size_t)m, 4) : NULL;
    double start = now();

    for (int first = 0; first < n; first += TILE) {
        int rows = n - first < TILE ? n - first : TILE;

        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, m, d, 1, X, d, D, d, 0, C, m);
        if (gram) {
            cblas_ssyrk(CblasRowMajor, CblasLower, CblasTrans, m, rows, 1, C, m, 0, G, m);
            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, m, d, 1, X, d, D, d, 0, C,
                        m);
        }
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

int main(int argc, char **argv)
{
    int n, d, m, p, projected;

    if (argc != 6) {
        fprintf(stderr, "usage: bench_products nystrom|projected N D M P\n");
        return 2;
    }
    projected = strcmp(argv[1], "projected") == 0;
    n = atoi(argv[2]);
    d = atoi(argv[3]);
    m = atoi(argv[4]);
    p = atoi(argv[5]);
    passes(TILE, d, m, p, projected); /* warm up */
    printf("%.4f\n", passes(n, d, m, p, projected) +
                         (projected ? eigenproblem(m, p) : inner_products(m, p)));
    return 0;
}
