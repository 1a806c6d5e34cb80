/*
 * The yardstick of exact neighbours: the products of all pairs of rows alone, n²/2 of them, on random
 * data in memory.
 *
 *   bench_pairs f32|u8 N D   → seconds, on one line
 *
 * f32: by OpenBLAS with its own threads. u8: by the integer products of columns/vector.h, on as many
 * threads.
 */
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/random.h"
#include "base/thread.h"
#include "columns/vector.h"

enum { TILE = 2048 };

static double floats(size_t n, size_t d)
{
    float *X = malloc(n * d * sizeof(float)), *V = malloc(TILE * TILE * sizeof(float));
    double start;

    if (!X || !V) exit(1);
    for (size_t i = 0; i < n * d; i++)
        X[i] = (float)(i * 2654435761U % 1000) / 1000;
    start = ny_now();
    for (size_t p = 0; p < n; p += TILE)
        for (size_t u = p; u < n; u += TILE) {
            int rows = (int)(n - u < TILE ? n - u : TILE), cols = (int)(n - p < TILE ? n - p : TILE);

            cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, rows, cols, (int)d, 1, X + u * d,
                        (int)d, X + p * d, (int)d, 0, V, TILE);
        }
    start = ny_now() - start;
    free(X), free(V);
    return start;
}

struct bytes {
    const struct ny_byte_ops *ops;
    size_t n, d;
    uint8_t *rows;  /* n × d */
    int8_t *panels; /* as the kernel wants them, what is in them does not matter */
    float sum;      /* so that nothing is left out */
};

/* A worker's share: every so many-th panel of landmarks, with the rows from it on. */
static int multiply(void *arg, size_t first, size_t count)
{
    struct bytes *b = arg;
    size_t quads = (b->d + 3) / 4, panels = (b->n + NY_PANEL - 1) / NY_PANEL;
    uint32_t norms[NY_PANEL] = {0};
    float out[NY_BYTE_ROWS][NY_PANEL];
    struct ny_byte_rows rows = {.term = {0}};

    for (size_t k = first; k < first + count; k++) {
        size_t p = k % 2 ? panels - 1 - k / 2 : k / 2; /* long and short ones in turn */

        for (size_t i = p * NY_PANEL; i + NY_BYTE_ROWS <= b->n; i += NY_BYTE_ROWS) {
            for (size_t r = 0; r < NY_BYTE_ROWS; r++)
                rows.row[r] = b->rows + (i + r) * b->d;
            b->ops->square(&rows, quads, b->panels + p * quads * NY_PANEL * 4, norms, out);
        }
    }
    b->sum = out[0][0];
    return NY_OK;
}

static double bytes(struct ny_context *ctx, size_t n, size_t d)
{
    struct bytes b = {.ops = ny_vector_bytes(), .n = n, .d = d};
    size_t panels = (n + NY_PANEL - 1) / NY_PANEL;
    double start;

    b.rows = malloc(n * d + 4);
    b.panels = malloc(panels * ((d + 3) / 4) * NY_PANEL * 4);
    if (!b.rows || !b.panels) exit(1);
    for (size_t i = 0; i < n * d; i++)
        b.rows[i] = (uint8_t)(i * 2654435761U >> 8);
    memset(b.panels, 1, panels * ((d + 3) / 4) * NY_PANEL * 4);
    start = ny_now();
    ny_parallel_ranges(ctx, panels, multiply, &b);
    start = ny_now() - start;
    free(b.rows), free(b.panels);
    return start;
}

int main(int argc, char **argv)
{
    struct ny_context *ctx;
    size_t n, d;

    if (argc != 4 || (strcmp(argv[1], "f32") != 0 && strcmp(argv[1], "u8") != 0)) {
        fprintf(stderr, "usage: bench_pairs f32|u8 N D\n");
        return 2;
    }
    n = (size_t)atol(argv[2]);
    d = (size_t)atol(argv[3]);
    if (ny_context_new(&ctx)) return 1;
    printf("%.4f\n", strcmp(argv[1], "u8") == 0 ? bytes(ctx, n, d) : floats(n, d));
    ny_context_free(ctx);
    return 0;
}
