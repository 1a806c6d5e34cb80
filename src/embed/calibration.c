#include "embed/calibration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/random.h"
#include "base/thread.h"
#include "embed/record.h"
#include "linalg/eigen.h"
#include "stream/source.h"

enum { TILE_COLS = 512, TILE_DEPTH = 512, EIGEN_SIZE = 512, EIGEN_COUNT = 16 };
enum {
    A_CELLS = NY_STRIP_ROWS * TILE_DEPTH,
    B_CELLS = TILE_COLS * TILE_DEPTH,
    C_CELLS = TILE_COLS * TILE_COLS,
    PROBE_BYTES = (A_CELLS + B_CELLS + C_CELLS) * sizeof(double),
    PROBE_ROOM = PROBE_BYTES + 4096 /* with the threads' own */
};

static const double quick_s = 0.005, full_s = 0.3;

/* One product to time: each thread repeats it on matrices of its own until the time is up. */
struct probe {
    struct ny_context *ctx;
    double seconds;
    int kind;      /* an index of `rates` below */
    double *flops; /* one a worker */
};

enum { GEMM32, GRAM32, GEMM64, GRAM64, KINDS };

static void run_once(int kind, double *A, double *B, double *C)
{
    float *a = (float *)A, *b = (float *)B, *c = (float *)C;

    switch (kind) {
    case GEMM32:
        ny_gemm32(1, ny_matrix32(a, NY_STRIP_ROWS, TILE_DEPTH),
                  ny_t32(ny_matrix32(b, TILE_COLS, TILE_DEPTH)), 0,
                  ny_matrix32(c, NY_STRIP_ROWS, TILE_COLS));
        break;
    case GRAM32:
        ny_gram32(ny_matrix32(b, TILE_DEPTH, TILE_COLS), 0, ny_matrix32(c, TILE_COLS, TILE_COLS));
        break;
    case GEMM64:
        ny_gemm(1, ny_matrix(A, NY_STRIP_ROWS, TILE_DEPTH),
                ny_t(ny_matrix(B, TILE_COLS, TILE_DEPTH)), 0,
                ny_matrix(C, NY_STRIP_ROWS, TILE_COLS));
        break;
    case GRAM64:
        ny_gram(ny_matrix(B, TILE_DEPTH, TILE_COLS), 0, ny_matrix(C, TILE_COLS, TILE_COLS));
        break;
    default:
        break;
    }
}

static double flops_once(int kind)
{
    double cols = TILE_COLS, depth = TILE_DEPTH;

    return kind == GRAM32 || kind == GRAM64 ? cols * cols * depth
                                            : 2 * NY_STRIP_ROWS * cols * depth;
}

static int run_probe(void *arg, unsigned worker)
{
    struct probe *probe = arg;
    double *at = ny_alloc(probe->ctx, NY_MEM_OTHER, PROBE_BYTES);
    double start_s, elapsed_s, done = 0;

    if (!at) return NY_EBUDGET;
    ny_gaussian(1, NY_STREAM_SAMPLE, 0, at, 4096);
    for (size_t i = 4096; i < A_CELLS + B_CELLS; i++)
        at[i] = at[i % 4096];
    start_s = ny_now();
    do {
        run_once(probe->kind, at, at + A_CELLS, at + A_CELLS + B_CELLS);
        done += flops_once(probe->kind);
        elapsed_s = ny_now() - start_s;
    } while (elapsed_s < probe->seconds);
    probe->flops[worker] = done / elapsed_s;
    ny_free(probe->ctx, at);
    return NY_OK;
}

/* Threads that measure at a time: what does not fit the budget is left out. */
static unsigned probes(unsigned threads, size_t room)
{
    return room / PROBE_ROOM < threads ? (unsigned)(room / PROBE_ROOM) : threads;
}

size_t ny_calibration_bytes(unsigned threads, size_t room)
{
    return probes(threads, room) * (size_t)PROBE_ROOM;
}

/* Rates of all threads; of a machine that we know where there is no memory to measure. */
static int measure_products(struct ny_context *ctx, double seconds, double rates[KINDS])
{
    static const double guess[KINDS] = {
        [GEMM32] = 1e11, [GRAM32] = 8e10, [GEMM64] = 5e10, [GRAM64] = 4e10};
    unsigned threads = ny_context_threads(ctx), at_once = probes(threads, ny_memory_left(ctx));
    double *flops;
    int err = NY_OK;

    for (int kind = 0; kind < KINDS; kind++)
        rates[kind] = guess[kind] * threads;
    if (!at_once) return NY_OK;
    flops = ny_calloc(ctx, NY_MEM_OTHER, at_once, sizeof(double));
    if (!flops) return NY_EBUDGET;
    for (int kind = 0; kind < KINDS && err == NY_OK; kind++) {
        struct probe probe = {ctx, seconds, kind, flops};

        err = ny_parallel(ctx, at_once, run_probe, &probe);
        rates[kind] = 0;
        for (unsigned w = 0; err == NY_OK && w < at_once; w++)
            rates[kind] += flops[w] * threads / at_once;
    }
    ny_free(ctx, flops);
    return err;
}

static int measure_eigen(struct ny_context *ctx, double *rate)
{
    size_t m = EIGEN_SIZE;
    double *at = ny_calloc(ctx, NY_MEM_OTHER, m * m + m * EIGEN_COUNT + m, sizeof(double));
    double start_s, M = EIGEN_SIZE;
    int err;

    if (!at) return NY_EBUDGET;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++)
            at[i * m + j] = 1.0 / (1 + (double)(i - j)) + (i == j);
    ny_blas_parallel(ctx, SIZE_MAX);
    start_s = ny_now();
    err = ny_eigen_top(ctx, ny_matrix(at, m, m), EIGEN_COUNT, at + m * m + m * EIGEN_COUNT,
                       ny_matrix(at + m * m, EIGEN_COUNT, m));
    *rate = 4.0 / 3 * M * M * M / (ny_now() - start_s);
    ny_blas_serial();
    ny_free(ctx, at);
    return err;
}

static void make_key(struct ny_context *ctx, char *key, size_t size)
{
    snprintf(key, size, "%s, %u threads, %s", ny_cpu_name(ny_cpu_family()), ny_context_threads(ctx),
             ny_blas_name());
}

/* $XDG_CACHE_HOME/nystream or ~/.cache/nystream; false where there is neither. */
static bool cache_path(char *folder, char *file, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache && cache[0] == '/')
        snprintf(folder, size, "%s/nystream", cache);
    else if (home && home[0] == '/')
        snprintf(folder, size, "%s/.cache/nystream", home);
    else
        return false;
    snprintf(file, size, "%.900s/calibration.json", folder);
    return true;
}

json_t *ny_calibration_json(const struct ny_calibration *c)
{
    json_t *json = json_object();

    ny_field_set_text(json, "key", c->key);
    ny_field_set_number(json, "gemm32_flops", c->gemm32);
    ny_field_set_number(json, "gram32_flops", c->gram32);
    ny_field_set_number(json, "gemm64_flops", c->gemm64);
    ny_field_set_number(json, "gram64_flops", c->gram64);
    ny_field_set_number(json, "eigen_flops", c->eigen);
    ny_field_set_number(json, "disk_write_bytes", c->disk_write);
    return json;
}

static bool load(struct ny_calibration *c)
{
    char folder[1024], file[1024];
    json_t *json, *entry;

    if (!cache_path(folder, file, sizeof(folder))) return false;
    json = json_load_file(file, 0, NULL);
    entry = json_object_get(json, c->key);
    c->gemm32 = ny_field_number(entry, "gemm32_flops", 0);
    c->gram32 = ny_field_number(entry, "gram32_flops", 0);
    c->gemm64 = ny_field_number(entry, "gemm64_flops", 0);
    c->gram64 = ny_field_number(entry, "gram64_flops", 0);
    c->eigen = ny_field_number(entry, "eigen_flops", 0);
    c->disk_write = ny_field_number(entry, "disk_write_bytes", 0);
    json_decref(json);
    return c->gemm32 > 0 && c->gram32 > 0 && c->gemm64 > 0 && c->gram64 > 0 && c->eigen > 0 &&
           c->disk_write > 0;
}

/* Kept under a temporary name first, so that readers never see half of it. */
static bool keep(const struct ny_calibration *c)
{
    char folder[1024], file[1024], temporary[1100], *slash;
    json_t *json;
    bool kept;

    if (!cache_path(folder, file, sizeof(folder))) return false;
    slash = strrchr(folder, '/');
    *slash = '\0';
    mkdir(folder, 0777);
    *slash = '/';
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) return false;
    json = json_load_file(file, 0, NULL);
    if (!json) json = json_object();
    json_object_set_new(json, c->key, ny_calibration_json(c));
    snprintf(temporary, sizeof(temporary), "%s.%ld", file, (long)getpid());
    kept = json_dump_file(json, temporary, JSON_INDENT(1)) == 0 && rename(temporary, file) == 0;
    if (!kept) unlink(temporary);
    json_decref(json);
    return kept;
}

/* Writes and syncs a file in the cache folder's place for temporary files. */
static double measure_disk(struct ny_context *ctx, size_t bytes)
{
    const char *folder = getenv("TMPDIR");
    void *data = ny_calloc(ctx, NY_MEM_OTHER, 1, bytes);
    double start_s = ny_now(), rate = 5e8;
    int fd;

    if (!data) return rate;
    fd = open(folder ? folder : "/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0 && write(fd, data, bytes) == (ssize_t)bytes && fdatasync(fd) == 0)
        rate = (double)bytes / (ny_now() - start_s);
    if (fd >= 0) close(fd);
    ny_free(ctx, data);
    return rate;
}

static void fill(struct ny_calibration *c, const double rates[KINDS])
{
    c->gemm32 = rates[GEMM32];
    c->gram32 = rates[GRAM32];
    c->gemm64 = rates[GEMM64];
    c->gram64 = rates[GRAM64];
}

int ny_calibration_get(struct ny_context *ctx, struct ny_calibration *calibration)
{
    /* What a quick look leaves out, in the proportions of the machines we know. */
    const double eigen_of_gemm64 = 0.11, disk_guess = 5e8, rate_guess = 5e10;
    double rates[KINDS];
    int err;

    *calibration = (struct ny_calibration){0};
    make_key(ctx, calibration->key, sizeof(calibration->key));
    if (load(calibration)) return NY_OK;
    err = measure_products(ctx, quick_s, rates);
    if (err == NY_EBUDGET) {
        /* A plan is made under any budget: it says which one would do. */
        ny_error_clear(ctx);
        for (int kind = 0; kind < KINDS; kind++)
            rates[kind] = rate_guess * ny_context_threads(ctx);
    } else if (err) {
        return err;
    }
    fill(calibration, rates);
    calibration->eigen = eigen_of_gemm64 * calibration->gemm64;
    calibration->disk_write = disk_guess;
    calibration->quick = true;
    return NY_OK;
}

int ny_calibration_measure(struct ny_context *ctx, struct ny_calibration *calibration)
{
    double rates[KINDS];
    int err;

    *calibration = (struct ny_calibration){0};
    make_key(ctx, calibration->key, sizeof(calibration->key));
    err = measure_products(ctx, full_s, rates);
    if (err) return err;
    fill(calibration, rates);
    err = measure_eigen(ctx, &calibration->eigen);
    if (err) return err;
    calibration->disk_write = measure_disk(ctx, 64 << 20);
    if (!keep(calibration))
        ny_log(ctx, NY_LOG_NOTE, "the measurement could not be kept in the cache folder");
    return NY_OK;
}
