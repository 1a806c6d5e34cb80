/* Measures the machine (job/calibration.h): products, bytes and exponentials in all threads at
 * once, a small eigenproblem in one, and for reports the disk. Runs take less than a millisecond
 * each, so that some are whole on a busy machine, too. */
#include "job/calibration.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/scratch.h"
#include "base/thread.h"
#include "columns/vector.h"
#include "job/record.h"
#include "linalg/blas.h"
#include "linalg/eigen.h"

enum {
    TILE_ROWS = 128,
    TILE_COLS = 512,
    TILE_DEPTH = 512,
    BYTE_ROWS = 4 * NY_BYTE_ROWS,
    VALUE_ROWS = 48,
    A_CELLS = TILE_ROWS * TILE_DEPTH,
    B_CELLS = TILE_COLS * TILE_DEPTH,
    C_CELLS = TILE_ROWS * TILE_COLS,
    PROBE_BYTES = (A_CELLS + B_CELLS + C_CELLS) * sizeof(float),
    EIGEN_SIZE = 128,
    EIGEN_COUNT = 8,
    EIGEN_BYTES = (EIGEN_SIZE * (EIGEN_SIZE + EIGEN_COUNT + 1)) * sizeof(double),
    PROBE_ROOM = PROBE_BYTES + 4096 /* with the threads' own */
};

/* These are measured, each at several moments. */
enum { PRODUCTS, BYTES, EXPONENTIALS, KINDS, ROUNDS = 4 };

/* Rates of one thread, which are used where nothing is measured. */
static const double guess[KINDS] = {[PRODUCTS] = 1e11, [BYTES] = 4e11, [EXPONENTIALS] = 3e9};
static const double eigen_guess = 5.5e9;

/* Each thread repeats each kind of work, on matrices of its own, until its time is up. */
struct probe {
    struct ny_context *ctx;
    double seconds;
    double (*rates)[KINDS]; /* one a worker; operations a second */
};

double ny_calibration_tile(const struct ny_calibration *c, enum ny_way way, bool f64)
{
    switch (way) {
    case NY_WAY_GIVEN:
        return INFINITY;
    case NY_WAY_BYTES:
        return f64 ? c->gemm64 : c->bytes;
    case NY_WAY_DIRECT:
        return f64 ? c->gemm64 : c->direct;
    case NY_WAY_SPARSE: /* sums that go everywhere, one at a time */
        return c->exp32;
    default:
        return f64 ? c->gemm64 : c->gemm32;
    }
}

double ny_calibration_beats(const struct ny_calibration *c, double beats)
{
    const double exponentials_then = 3.27e9;

    return beats * 1e-9 * exponentials_then / c->exp32;
}

double ny_calibration_alone(const struct ny_calibration *c, double beats)
{
    return c->threads * ny_calibration_beats(c, beats);
}

/* Returns the operations of one run: flops, or exponentials. Of bytes they are exact distances of
 * groups of rows from panels of landmarks, as columns/strip.c takes them. */
static double run_once(int kind, float *at)
{
    static const float zeros[TILE_COLS];
    static const uint32_t norms[NY_PANEL];
    const struct ny_kernel_params params = {.gamma = 1};
    struct ny_pointwise how = {
        .params = &params, .y_norm = zeros, .shift = zeros, .shift_low = zeros};
    struct ny_byte_rows rows = {.term = {0}};
    float *B = at + A_CELLS, *C = B + B_CELLS;

    switch (kind) {
    case BYTES:
        for (size_t p = 0; p < TILE_COLS / NY_PANEL; p++)
            for (size_t i = 0; i < BYTE_ROWS; i += NY_BYTE_ROWS) {
                for (size_t r = 0; r < NY_BYTE_ROWS; r++)
                    rows.row[r] = (const uint8_t *)at + (i + r) * TILE_DEPTH;
                ny_vector_bytes()->square(&rows, TILE_DEPTH / 4,
                                          (const int8_t *)B + p * NY_PANEL * TILE_DEPTH, norms,
                                          (float(*)[NY_PANEL])C);
            }
        return 2.0 * BYTE_ROWS * TILE_COLS * TILE_DEPTH;
    case EXPONENTIALS:
        for (size_t i = 0; i < VALUE_ROWS; i++)
            ny_vector()->pointwise->exponential(&how, 1, C + i * TILE_COLS, TILE_COLS);
        return (double)VALUE_ROWS * TILE_COLS;
    default:
        ny_gemm32(1, ny_matrix32(at, TILE_ROWS, TILE_DEPTH),
                  ny_t32(ny_matrix32(B, TILE_COLS, TILE_DEPTH)), 0,
                  ny_matrix32(C, TILE_ROWS, TILE_COLS));
        return 2.0 * TILE_ROWS * TILE_COLS * TILE_DEPTH;
    }
}

/* Operations a second of the best of several runs: what the machine can do. The first run of each
 * finds caches, and units that the CPU had asleep, cold. */
static double best_rate(double seconds, int kind, float *at)
{
    double operations = run_once(kind, at), best_s = INFINITY, start_s = ny_now(), end_s;

    for (double stop_s = start_s + seconds; start_s < stop_s; start_s = end_s) {
        run_once(kind, at);
        end_s = ny_now();
        best_s = fmin(best_s, end_s - start_s);
    }
    return operations / best_s;
}

static int run_probe(void *arg, unsigned worker)
{
    struct probe *probe = arg;
    float *at = ny_alloc(probe->ctx, NY_MEM_OTHER, PROBE_BYTES);
    int err = NY_OK;

    if (!at) return NY_EBUDGET;
    for (size_t i = 0; i < A_CELLS + B_CELLS; i++) /* what is denormal would be slow */
        at[i] = 1 + (float)(i * 7919 % 8192) / 8192;
    for (int round = 0; round < ROUNDS && err == NY_OK; round++) {
        for (int kind = 0; kind < KINDS; kind++)
            probe->rates[worker][kind] =
                fmax(probe->rates[worker][kind], best_rate(probe->seconds, kind, at));
        err = ny_check_interrupt(probe->ctx);
    }
    ny_free(probe->ctx, at);
    return err;
}

/* Threads that measure at a time: no more than work at a time, and those that fit the budget. */
static unsigned probes(unsigned workers, size_t room)
{
    unsigned most = workers < ny_cpu_count() ? workers : ny_cpu_count();

    return room / PROBE_ROOM < most ? (unsigned)(room / PROBE_ROOM) : most;
}

void ny_calibration_count(struct ny_layout *l, unsigned workers, size_t room)
{
    ny_layout_add(l, NY_MEM_OTHER, probes(workers, room) * (size_t)PROBE_ROOM);
}

/* Threads that can work at a time. */
static unsigned effective_threads(const struct ny_context *ctx)
{
    return probes(ny_context_threads(ctx), SIZE_MAX);
}

/* Measures in `at_once` threads and scales to all of them; NY_EBUDGET where there is no memory for
 * it. */
static int measure_products(struct ny_context *ctx, unsigned at_once, double seconds,
                            double rates[KINDS])
{
    struct probe probe = {ctx, seconds,
                          ny_calloc(ctx, NY_MEM_OTHER, at_once, sizeof(*probe.rates))};
    int err = probe.rates ? ny_parallel(ctx, at_once, run_probe, &probe) : NY_EBUDGET;

    for (int kind = 0; kind < KINDS && !err; kind++) {
        rates[kind] = 0;
        for (unsigned w = 0; w < at_once; w++)
            rates[kind] += probe.rates[w][kind] * effective_threads(ctx) / at_once;
    }
    ny_free(ctx, probe.rates);
    return err;
}

/* Returns the seconds of one eigenproblem; INFINITY where it fails. */
static double eigen_s(struct ny_context *ctx, double *at)
{
    double *values = at + EIGEN_SIZE * EIGEN_SIZE, start_s;
    int err;

    for (size_t i = 0; i < EIGEN_SIZE; i++)
        for (size_t j = 0; j <= i; j++)
            at[i * EIGEN_SIZE + j] = 1.0 / (1 + (double)(i - j)) + (i == j);
    start_s = ny_now();
    err = ny_eigen_top(ctx, ny_matrix(at, EIGEN_SIZE, EIGEN_SIZE), EIGEN_COUNT, values,
                       ny_matrix(values + EIGEN_COUNT, EIGEN_COUNT, EIGEN_SIZE));
    return err ? INFINITY : ny_now() - start_s;
}

/* The best of several runs of one thread, scaled to all. */
static int measure_eigen(struct ny_context *ctx, double seconds, double *rate)
{
    const double larger = 1.5; /* problems whose time counts run at so much more of the rate */
    const double m = EIGEN_SIZE, stop_s = ny_now() + seconds;
    double *at = ny_alloc(ctx, NY_MEM_OTHER, EIGEN_BYTES), best_s = INFINITY;
    unsigned crew = ny_context_crew(ctx);

    ny_context_set_crew(ctx, 1);
    do {
        if (at) best_s = fmin(best_s, eigen_s(ctx, at));
    } while (ny_now() < stop_s && isfinite(best_s));
    ny_context_set_crew(ctx, crew < ny_context_threads(ctx) ? crew : 0);
    *rate = larger * 4 / 3 * m * m * m / best_s * effective_threads(ctx);
    ny_free(ctx, at);
    return isfinite(best_s) ? NY_OK : NY_EBUDGET;
}

/* Writes and syncs a file in the place for temporary files. */
static double measure_disk(struct ny_context *ctx, size_t bytes, double usual)
{
    const char *set = getenv("TMPDIR");
    struct ny_scratch file = {.ctx = ctx, .folder = set ? set : "/tmp", .what = "a measurement"};
    void *data = ny_calloc(ctx, NY_MEM_OTHER, 1, bytes);
    double start_s = ny_now(), rate = usual;

    if (data && !ny_scratch_open(&file) && !ny_scratch_put(&file, data, bytes, 0) &&
        !fsync(file.fd))
        rate = (double)bytes / (ny_now() - start_s);
    if (data) ny_scratch_close(&file);
    ny_error_clear(ctx);
    ny_free(ctx, data);
    return rate;
}

/* Fills in the rates that follow: a vector holds half as many numbers in f64, and the other
 * proportions are those of known machines. */
static void fill(struct ny_calibration *c, const double rates[KINDS])
{
    const double half = 0.5, gram = 0.8, exact = 1.0 / 3, differences = 40.0 / 3;

    c->gemm32 = rates[PRODUCTS];
    c->gemm64 = half * c->gemm32;
    c->gram32 = gram * c->gemm32;
    c->gram64 = gram * c->gemm64;
    c->bytes = rates[BYTES];
    c->exp32 = rates[EXPONENTIALS];
    c->exp64 = exact * c->exp32;
    c->direct = differences * c->exp32;
}

static void begin(struct ny_context *ctx, struct ny_calibration *c)
{
    const double usual_disk = 5e8;
    double rates[KINDS];

    *c = (struct ny_calibration){
        .guessed = true, .date = NAN, .load = NAN, .disk_write = usual_disk};
    c->threads = effective_threads(ctx);
    snprintf(c->key, sizeof(c->key), "%s, %u threads, %s", ny_cpu_name(ny_cpu_family()),
             ny_context_threads(ctx), ny_blas_name());
    for (int kind = 0; kind < KINDS; kind++)
        rates[kind] = guess[kind] * c->threads;
    fill(c, rates);
    c->eigen = eigen_guess * c->threads;
}

/* Replaces guesses by what the machine has to give now. */
static int measure(struct ny_context *ctx, unsigned workers, double seconds,
                   struct ny_calibration *c)
{
    size_t left = ny_memory_left(ctx), blas = ny_blas_bytes(workers, workers, 0);
    unsigned at_once = left > blas ? probes(workers, left - blas) : 0;
    double rates[KINDS], eigen;
    int err = at_once ? ny_blas_make_room(ctx, at_once)
                      : ny_fail(ctx, NY_EBUDGET,
                                "the memory budget leaves no room to measure this machine; give a "
                                "larger --memory");

    if (err) return err;
    ny_blas_serial(); /* each thread has products of its own, as in a pass */
    err = measure_products(ctx, at_once, seconds, rates);
    if (!err) err = measure_eigen(ctx, ROUNDS * KINDS * seconds, &eigen);
    if (err) return err;
    fill(c, rates);
    c->eigen = eigen;
    c->guessed = false;
    c->date = (double)time(NULL);
    if (getloadavg(&c->load, 1) == 1) c->load /= ny_cpu_count();
    return NY_OK;
}

int ny_calibration_get(struct ny_context *ctx, double flops, unsigned workers,
                       struct ny_calibration *calibration)
{
    const double few = 3e10, seconds = 0.002; /* work that takes ten times as long as to measure */
    int err;

    begin(ctx, calibration);
    err = flops < few ? NY_OK : measure(ctx, workers, seconds, calibration);
    if (err != NY_EBUDGET) return err;
    ny_error_clear(ctx); /* a plan is made under any budget: it says which one would do */
    return NY_OK;
}

int ny_calibration_measure(struct ny_context *ctx, struct ny_calibration *calibration)
{
    const double seconds = 0.1;
    int err;

    begin(ctx, calibration);
    err = measure(ctx, ny_context_threads(ctx), seconds, calibration);
    if (err) return err;
    calibration->disk_write = measure_disk(ctx, 64 << 20, calibration->disk_write);
    return ny_check_interrupt(ctx);
}
