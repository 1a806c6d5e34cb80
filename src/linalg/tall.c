#include "linalg/tall.h"

#include <string.h>

#include "base/thread.h"

enum { CHUNK = 4096, LANES = 8 };

/* A product under way. Of those in place, A is what is written. */
struct lanes {
    struct ny_matrix A, B, C;
    double *sums;        /* one set a lane */
    size_t rows, chunks; /* rows: of a chunk, CHUNK at most */
    void (*chunk)(const struct lanes *lanes, size_t lane, size_t first, size_t rows);
};

static int run_lanes(void *arg, size_t first, size_t count)
{
    const struct lanes *lanes = arg;

    for (size_t lane = first; lane < first + count; lane++)
        for (size_t chunk = lane; chunk < lanes->chunks; chunk += LANES) {
            size_t row = chunk * lanes->rows, left = lanes->A.rows - row;

            lanes->chunk(lanes, lane, row, left < lanes->rows ? left : lanes->rows);
        }
    return NY_OK;
}

static int over_rows(struct ny_context *ctx, struct lanes *lanes)
{
    size_t n = lanes->A.rows, share = (n + LANES - 1) / LANES;

    lanes->rows = share < CHUNK ? (share ? share : 1) : CHUNK;
    lanes->chunks = (n + lanes->rows - 1) / lanes->rows;
    return ny_parallel_ranges(ctx, LANES, run_lanes, lanes);
}

/* ---- sums over the rows ---------------------------------------------------------------------- */

void ny_tall_inner_count(struct ny_layout *l, size_t a, size_t b)
{
    ny_lay_peak(l, NY_MEM_SOLVE, LANES, a * b * sizeof(double));
}

/* C (packed) = the sum of the `entries` that each lane has summed up. */
static int sum_lanes(struct ny_context *ctx, struct lanes *lanes, size_t entries, double *C)
{
    int err;

    if (!entries) return NY_OK;
    lanes->sums = ny_calloc(ctx, NY_MEM_SOLVE, LANES, entries * sizeof(double));
    if (!lanes->sums) return NY_EBUDGET;
    err = over_rows(ctx, lanes);
    memcpy(C, lanes->sums, entries * sizeof(double));
    for (size_t lane = 1; lane < LANES; lane++)
        for (size_t i = 0; i < entries; i++)
            C[i] += lanes->sums[lane * entries + i];
    ny_free(ctx, lanes->sums);
    return err;
}

static void add_product(const struct lanes *lanes, size_t lane, size_t first, size_t rows)
{
    size_t entries = lanes->A.cols * lanes->B.cols;

    ny_gemm(1, ny_t(ny_rows(lanes->A, first, rows)), ny_rows(lanes->B, first, rows), 1,
            ny_matrix(lanes->sums + lane * entries, lanes->A.cols, lanes->B.cols));
}

int ny_tall_inner(struct ny_context *ctx, struct ny_matrix A, struct ny_matrix B, double *C)
{
    struct lanes lanes = {.A = A, .B = B, .chunk = add_product};

    return sum_lanes(ctx, &lanes, A.cols * B.cols, C);
}

static void add_gram(const struct lanes *lanes, size_t lane, size_t first, size_t rows)
{
    size_t r = lanes->A.cols;

    ny_gram(ny_rows(lanes->A, first, rows), 1, ny_matrix(lanes->sums + lane * r * r, r, r));
}

int ny_tall_gram(struct ny_context *ctx, struct ny_matrix A, double *G)
{
    struct lanes lanes = {.A = A, .chunk = add_gram};

    return sum_lanes(ctx, &lanes, A.cols * A.cols, G);
}

/* ---- rows by themselves ---------------------------------------------------------------------- */

static void subtract_chunk(const struct lanes *lanes, size_t lane, size_t first, size_t rows)
{
    (void)lane;
    ny_gemm(-1, ny_rows(lanes->A, first, rows), lanes->B, 1, ny_rows(lanes->C, first, rows));
}

int ny_tall_subtract(struct ny_context *ctx, struct ny_matrix A, struct ny_matrix B,
                     struct ny_matrix C)
{
    struct lanes lanes = {.A = A, .B = B, .C = C, .chunk = subtract_chunk};

    return A.cols ? over_rows(ctx, &lanes) : NY_OK;
}

void ny_tall_turn_count(struct ny_layout *l, size_t columns)
{
    ny_lay_peak(l, NY_MEM_SOLVE, LANES * CHUNK, columns * sizeof(double));
}

static void turn_chunk(const struct lanes *lanes, size_t lane, size_t first, size_t rows)
{
    struct ny_matrix product =
        ny_matrix(lanes->sums + lane * CHUNK * lanes->B.cols, rows, lanes->B.cols);

    ny_gemm(1, ny_rows(lanes->A, first, rows), lanes->B, 0, product);
    ny_copy(product, ny_rows(lanes->C, first, rows));
}

int ny_tall_turn(struct ny_context *ctx, struct ny_matrix A, struct ny_matrix B, struct ny_matrix C)
{
    struct lanes lanes = {.A = A, .B = B, .C = C, .chunk = turn_chunk};
    int err;

    lanes.sums = ny_alloc(ctx, NY_MEM_SOLVE, LANES * CHUNK * B.cols * sizeof(double));
    if (!lanes.sums) return NY_EBUDGET;
    err = over_rows(ctx, &lanes);
    ny_free(ctx, lanes.sums);
    return err;
}

static void solve_chunk(const struct lanes *lanes, size_t lane, size_t first, size_t rows)
{
    (void)lane;
    ny_solve_rows(lanes->B, ny_rows(lanes->A, first, rows));
}

int ny_tall_solve_rows(struct ny_context *ctx, struct ny_matrix L, struct ny_matrix X)
{
    struct lanes lanes = {.A = X, .B = L, .chunk = solve_chunk};

    return X.cols ? over_rows(ctx, &lanes) : NY_OK;
}
