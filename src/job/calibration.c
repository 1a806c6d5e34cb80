/* Measures the machine (job/calibration.h): products, Grams, exponentials and the disk, in all
 * threads at once; keeps the rates in the cache folder; looks again before it believes them. */
#include "job/calibration.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
#include "stream/source.h"

/* Grams of few rows, so that several in f64 are timed where time is short. */
enum { TILE_COLS = 512, TILE_DEPTH = 512, GRAM_ROWS = 128, EIGEN_SIZE = 512, EIGEN_COUNT = 16 };
enum {
    BYTE_ROWS = 4 * NY_BYTE_ROWS,
    DIRECT_ROWS = 4 * NY_DIRECT_ROWS,
    DIRECT_DEPTH = 8,
    EXACT_COUNT = 4096,
    A_CELLS = NY_STRIP_ROWS * TILE_DEPTH,
    B_CELLS = TILE_COLS * TILE_DEPTH,
    C_CELLS = TILE_COLS * TILE_COLS,
    PROBE_BYTES = (A_CELLS + B_CELLS + C_CELLS) * sizeof(double),
    PROBE_ROOM = PROBE_BYTES + 4096 /* with the threads' own */
};

/* Each kind is timed at two moments, as some see few runs and a pause spoils them all. */
enum { ROUNDS = 2 };

static const double quick_s = 0.003, full_s = 0.075;

/* A look on an idle machine finds at least this share of the stored rates. */
static const double least_share = 0.8;

/* The first CHECKED of them tell whether what was kept is true of this moment. */
enum { GEMM32, GRAM32, CHECKED, GEMM64 = CHECKED, GRAM64, BYTES, DIRECT, EXP32, EXP64, KINDS };

/* Each thread repeats the first kinds of work, on matrices of its own, until its time is up. */
struct probe {
    struct ny_context *ctx;
    double seconds;
    int kinds;
    double (*rates)[KINDS]; /* one a worker; operations a second */
};

/* The key and the place of a rate, and a guess of it for one thread, used where there is no memory
 * to measure it. */
static const struct rate {
    const char *key;
    size_t offset;
    double guess;
} kinds[KINDS] = {
    [GEMM32] = {"gemm32_flops", offsetof(struct ny_calibration, gemm32), 1e11},
    [GRAM32] = {"gram32_flops", offsetof(struct ny_calibration, gram32), 8e10},
    [GEMM64] = {"gemm64_flops", offsetof(struct ny_calibration, gemm64), 5e10},
    [GRAM64] = {"gram64_flops", offsetof(struct ny_calibration, gram64), 4e10},
    [BYTES] = {"bytes_flops", offsetof(struct ny_calibration, bytes), 4e11},
    [DIRECT] = {"direct_flops", offsetof(struct ny_calibration, direct), 4e10},
    [EXP32] = {"exp32", offsetof(struct ny_calibration, exp32), 3e9},
    [EXP64] = {"exp64", offsetof(struct ny_calibration, exp64), 1e9},
};

static double *rate_at(struct ny_calibration *c, int kind)
{
    return (double *)(void *)((char *)c + kinds[kind].offset);
}

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

/* Exact distances of groups of rows from panels of landmarks, as columns/strip.c takes them. */
static void run_bytes(const double *A, const double *B, float *c)
{
    const struct ny_byte_ops *bytes = ny_vector_bytes();
    static const uint32_t norms[NY_PANEL];
    struct ny_byte_rows rows = {.term = {0}};

    for (size_t p = 0; p < TILE_COLS / NY_PANEL; p++)
        for (size_t i = 0; i + NY_BYTE_ROWS <= BYTE_ROWS; i += NY_BYTE_ROWS) {
            for (size_t r = 0; r < NY_BYTE_ROWS; r++)
                rows.row[r] = (const uint8_t *)A + (i + r) * TILE_DEPTH;
            bytes->square(&rows, TILE_DEPTH / 4, (const int8_t *)B + p * NY_PANEL * TILE_DEPTH,
                          norms, (float(*)[NY_PANEL])c);
        }
}

static void run_direct(const float *a, const float *b, float *c)
{
    const float *rows[NY_DIRECT_ROWS];

    for (size_t p = 0; p < TILE_COLS / NY_PANEL; p++)
        for (size_t i = 0; i < DIRECT_ROWS; i += NY_DIRECT_ROWS) {
            for (size_t r = 0; r < NY_DIRECT_ROWS; r++)
                rows[r] = a + (i + r) * DIRECT_DEPTH;
            ny_vector()->direct->absolute(rows, DIRECT_DEPTH, b + p * NY_PANEL * DIRECT_DEPTH,
                                          c + i * TILE_COLS + p * NY_PANEL, TILE_COLS);
        }
}

static void run_exponentials(float *c)
{
    static const float zeros[TILE_COLS];
    const struct ny_kernel_params params = {.gamma = 1};
    struct ny_pointwise how = {
        .params = &params, .y_norm = zeros, .shift = zeros, .shift_low = zeros};

    for (size_t i = 0; i < DIRECT_ROWS; i++)
        ny_vector()->pointwise->exponential(&how, 1, c + i * TILE_COLS, TILE_COLS);
}

static void run_exact_exponentials(double *C)
{
    const struct ny_kernel_params params = {.gamma = 1};
    const struct ny_kernel *rbf = ny_kernel_find("rbf");

    for (size_t i = 0; i < EXACT_COUNT; i++)
        C[i] = (double)i * (1.0 / EXACT_COUNT);
    rbf->apply(&params, 0, NULL, C, EXACT_COUNT);
}

static void run_once(int kind, double *A, double *B, double *C)
{
    float *a = (float *)A, *b = (float *)B, *c = (float *)C;

    switch (kind) {
    case BYTES:
        run_bytes(A, B, c);
        break;
    case DIRECT:
        run_direct(a, b, c);
        break;
    case EXP32:
        run_exponentials(c);
        break;
    case EXP64:
        run_exact_exponentials(C);
        break;
    case GEMM32:
        ny_gemm32(1, ny_matrix32(a, NY_STRIP_ROWS, TILE_DEPTH),
                  ny_t32(ny_matrix32(b, TILE_COLS, TILE_DEPTH)), 0,
                  ny_matrix32(c, NY_STRIP_ROWS, TILE_COLS));
        break;
    case GRAM32:
        ny_gram32(ny_matrix32(b, GRAM_ROWS, TILE_COLS), 0, ny_matrix32(c, TILE_COLS, TILE_COLS));
        break;
    case GEMM64:
        ny_gemm(1, ny_matrix(A, NY_STRIP_ROWS, TILE_DEPTH),
                ny_t(ny_matrix(B, TILE_COLS, TILE_DEPTH)), 0,
                ny_matrix(C, NY_STRIP_ROWS, TILE_COLS));
        break;
    case GRAM64:
        ny_gram(ny_matrix(B, GRAM_ROWS, TILE_COLS), 0, ny_matrix(C, TILE_COLS, TILE_COLS));
        break;
    default:
        break;
    }
}

/* Operations of run_once(): flops, or exponentials. */
static double operations(int kind)
{
    double cols = TILE_COLS, depth = TILE_DEPTH;

    switch (kind) {
    case GRAM32:
    case GRAM64:
        return cols * cols * GRAM_ROWS;
    case BYTES:
        return 2 * BYTE_ROWS * cols * depth;
    case DIRECT:
        return 2 * DIRECT_ROWS * cols * DIRECT_DEPTH;
    case EXP32:
        return DIRECT_ROWS * cols;
    case EXP64:
        return EXACT_COUNT;
    default:
        return 2 * NY_STRIP_ROWS * cols * depth;
    }
}

/* Operations a second of the best of several runs: what the machine can do. The first run of each
 * finds caches, and units that the CPU had asleep, cold. */
static double best_rate(const struct probe *probe, int kind, double *at)
{
    double end_s, start_s, best_s = INFINITY;

    run_once(kind, at, at + A_CELLS, at + A_CELLS + B_CELLS);
    end_s = start_s = ny_now();
    for (double stop_s = start_s + probe->seconds; end_s < stop_s; start_s = end_s) {
        run_once(kind, at, at + A_CELLS, at + A_CELLS + B_CELLS);
        end_s = ny_now();
        if (end_s - start_s < best_s) best_s = end_s - start_s;
    }
    return operations(kind) / best_s;
}

/* Floats in [1, 2), of which two make a double near 1: what is denormal takes some CPUs a hundred
 * times as long, and other bits could be anything. */
static void fill_matrices(double *at, size_t count)
{
    float *values = (float *)at;

    for (size_t i = 0; i < 2 * count; i++)
        values[i] = 1 + (float)(i * 7919 % 8192) / 8192;
}

static int run_probe(void *arg, unsigned worker)
{
    struct probe *probe = arg;
    double *at = ny_alloc(probe->ctx, NY_MEM_OTHER, PROBE_BYTES);
    int err = NY_OK;

    if (!at) return NY_EBUDGET;
    fill_matrices(at, A_CELLS + B_CELLS);
    for (int round = 0; round < ROUNDS && err == NY_OK; round++) {
        for (int kind = 0; kind < probe->kinds; kind++)
            probe->rates[worker][kind] =
                fmax(probe->rates[worker][kind], best_rate(probe, kind, at));
        err = ny_check_interrupt(probe->ctx);
    }
    ny_free(probe->ctx, at);
    return err;
}

static unsigned lesser(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Threads that measure at a time: no more than work at a time, and those that fit the budget. */
static unsigned probes(unsigned workers, size_t room)
{
    unsigned most = lesser(workers, ny_cpu_count());

    return room / PROBE_ROOM < most ? (unsigned)(room / PROBE_ROOM) : most;
}

size_t ny_calibration_bytes(unsigned workers, size_t room)
{
    return probes(workers, room) * (size_t)PROBE_ROOM;
}

/* Threads that the budget has room for now, after the buffers that BLAS keeps for them. */
static unsigned probes_now(struct ny_context *ctx, unsigned workers)
{
    size_t left = ny_memory_left(ctx), blas = ny_blas_bytes(workers, workers, 0);

    return left > blas ? probes(workers, left - blas) : 0;
}

/* Threads that can work at a time. */
static unsigned effective_threads(const struct ny_context *ctx)
{
    return lesser(ny_context_threads(ctx), ny_cpu_count());
}

/* Rates of all threads, scaled from those of `at_once` of them, of the first `count` kinds;
 * NY_EBUDGET where there is no memory for it. */
static int measure_products(struct ny_context *ctx, unsigned at_once, double seconds, int count,
                            double rates[KINDS])
{
    unsigned threads = effective_threads(ctx);
    struct probe probe = {ctx, seconds, count, NULL};
    int err = at_once ? ny_blas_make_room(ctx, at_once)
                      : ny_fail(ctx, NY_EBUDGET,
                                "the memory budget leaves no room to measure this machine; give a "
                                "larger --memory");

    if (err) return err;
    memset(rates, 0, (size_t)count * sizeof(*rates));
    ny_blas_serial(); /* each thread has products of its own, as in a pass */
    probe.rates = ny_calloc(ctx, NY_MEM_OTHER, at_once, sizeof(*probe.rates));
    if (!probe.rates) return NY_EBUDGET;
    err = ny_parallel(ctx, at_once, run_probe, &probe);
    for (unsigned w = 0; w < at_once && err == NY_OK; w++)
        for (int kind = 0; kind < count; kind++)
            rates[kind] += probe.rates[w][kind] * threads / at_once;
    ny_free(ctx, probe.rates);
    return err;
}

/* The best of several runs. */
static int measure_eigen(struct ny_context *ctx, bool parallel, double *rate)
{
    enum { RUNS = 3 };
    size_t m = EIGEN_SIZE;
    double *at = ny_calloc(ctx, NY_MEM_OTHER, m * m + m * EIGEN_COUNT + m, sizeof(double));
    double M = EIGEN_SIZE;
    int err = at ? NY_OK : NY_EBUDGET;

    *rate = 0;
    if (parallel) ny_blas_parallel(ctx, SIZE_MAX);
    for (int run = 0; run < RUNS && !err; run++) {
        double start_s;

        for (size_t i = 0; i < m; i++)
            for (size_t j = 0; j <= i; j++)
                at[i * m + j] = 1.0 / (1 + (double)(i - j)) + (i == j);
        start_s = ny_now();
        err = ny_eigen_top(ctx, ny_matrix(at, m, m), EIGEN_COUNT, at + m * m + m * EIGEN_COUNT,
                           ny_matrix(at + m * m, EIGEN_COUNT, m));
        *rate = fmax(*rate, 4.0 / 3 * M * M * M / (ny_now() - start_s));
    }
    ny_blas_serial();
    ny_free(ctx, at);
    return err;
}

static void make_key(struct ny_context *ctx, char *key, size_t size)
{
    snprintf(key, size, "%s, %u threads, %s", ny_cpu_name(ny_cpu_family()), ny_context_threads(ctx),
             ny_blas_name());
}

/* $XDG_CACHE_HOME/nystream or ~/.cache/nystream; false where there is neither, or no room. */
static bool cache_path(char *folder, char *file, size_t size)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = 0;

    if (cache && cache[0] == '/')
        length = snprintf(folder, size, "%s/nystream", cache);
    else if (home && home[0] == '/')
        length = snprintf(folder, size, "%s/.cache/nystream", home);
    return length > 0 && (size_t)length + sizeof("/calibration.json") <= size &&
           snprintf(file, size, "%.*s/calibration.json", length, folder) > 0;
}

json_t *ny_calibration_json(const struct ny_calibration *c)
{
    struct ny_calibration rates = *c;
    json_t *json = json_object();

    ny_field_set_text(json, "key", c->key);
    json_object_set_new(json, "measured", json_boolean(!c->guessed));
    ny_field_set_number(json, "date", c->date);
    ny_field_set_number(json, "load", c->load);
    ny_field_set_number(json, "now", c->now);
    for (int kind = 0; kind < KINDS; kind++)
        ny_field_set_number(json, kinds[kind].key, *rate_at(&rates, kind));
    ny_field_set_number(json, "eigen_flops", c->eigen);
    ny_field_set_number(json, "disk_write_bytes", c->disk_write);
    return json;
}

static bool load(struct ny_calibration *c)
{
    char folder[1024], file[1024];
    json_t *json, *entry;
    bool whole = true;

    if (!cache_path(folder, file, sizeof(folder))) return false;
    json = json_load_file(file, 0, NULL);
    entry = json_object_get(json, c->key);
    for (int kind = 0; kind < KINDS; kind++) {
        *rate_at(c, kind) = ny_field_number(entry, kinds[kind].key, 0);
        whole = whole && *rate_at(c, kind) > 0; /* older versions measured less */
    }
    c->date = ny_field_number(entry, "date", NAN);
    c->load = ny_field_number(entry, "load", NAN);
    c->now = 1;
    c->eigen = ny_field_number(entry, "eigen_flops", 0);
    c->disk_write = ny_field_number(entry, "disk_write_bytes", 0);
    json_decref(json);
    return whole && c->eigen > 0 && c->disk_write > 0;
}

/* The whole file anew, among what other machines and settings have in it. */
static bool write_cache(const char *file, const json_t *json)
{
    char fresh[1100];
    bool whole;
    int fd;

    snprintf(fresh, sizeof(fresh), "%s.XXXXXX", file);
    fd = mkstemp(fresh);
    if (fd < 0) return false;
    whole = json_dumpfd(json, fd, JSON_INDENT(1)) == 0;
    whole = close(fd) == 0 && whole;
    if (whole && rename(fresh, file) == 0) return true;
    unlink(fresh);
    return false;
}

static bool keep(struct ny_context *ctx, const struct ny_calibration *c)
{
    char folder[1024], file[1024], *slash;
    json_t *json;
    bool kept;

    if (!cache_path(folder, file, sizeof(folder))) return false;
    slash = strrchr(folder, '/');
    *slash = '\0';
    mkdir(folder, 0700);
    *slash = '/';
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return false;
    json = json_load_file(file, 0, NULL);
    if (!json_is_object(json)) {
        json_decref(json);
        json = json_object();
    }
    json_object_set_new(json, c->key, ny_calibration_json(c));
    kept = write_cache(file, json);
    json_decref(json);
    ny_error_clear(ctx); /* what is not kept is measured again */
    return kept;
}

/* Writes and syncs a file in the cache folder's place for temporary files. */
static double measure_disk(struct ny_context *ctx, size_t bytes)
{
    const char *set = getenv("TMPDIR");
    struct ny_scratch file = {.ctx = ctx, .folder = set ? set : "/tmp", .what = "a measurement"};
    void *data = ny_calloc(ctx, NY_MEM_OTHER, 1, bytes);
    double start_s = ny_now(), rate = 5e8;

    if (!data) return rate;
    if (!ny_scratch_open(&file) && !ny_scratch_put(&file, data, bytes, 0) && !fsync(file.fd))
        rate = (double)bytes / (ny_now() - start_s);
    ny_scratch_close(&file);
    ny_error_clear(ctx); /* the rate is then a usual one */
    ny_free(ctx, data);
    return rate;
}

static void fill(struct ny_calibration *c, const double rates[KINDS])
{
    for (int kind = 0; kind < KINDS; kind++)
        *rate_at(c, kind) = rates[kind];
}

/* Speed of the machine now ÷ stored speed, as the geometric mean of two rates. */
static double share_of(const struct ny_calibration *kept, const double now[KINDS])
{
    return sqrt(now[GEMM32] / kept->gemm32 * now[GRAM32] / kept->gram32);
}

/* Takes the best of several looks until one agrees, as other users of the machine may pause. */
static int look(struct ny_context *ctx, const struct ny_calibration *kept, unsigned at_once,
                bool patient, double *share)
{
    enum { LOOKS = 6 };
    const struct timespec pause = {.tv_nsec = 50000000};
    double now[KINDS] = {0};
    int err = NY_OK;

    *share = 0;
    for (int i = 0; i < (patient ? LOOKS : 1) && !err && *share < least_share; i++) {
        if (i) nanosleep(&pause, NULL);
        err = measure_products(ctx, at_once, quick_s, CHECKED, now);
        if (!err) *share = fmax(*share, share_of(kept, now));
    }
    return err;
}

static void scale(struct ny_calibration *c, double share)
{
    for (int kind = 0; kind < KINDS; kind++)
        *rate_at(c, kind) *= share;
    c->eigen *= share;
    c->now = share;
}

static void guess(struct ny_context *ctx, struct ny_calibration *c, double rates[KINDS])
{
    c->guessed = true;
    for (int kind = 0; kind < KINDS; kind++)
        rates[kind] = kinds[kind].guess * effective_threads(ctx);
}

int ny_calibration_get(struct ny_context *ctx, double flops, bool patient, unsigned workers,
                       struct ny_calibration *calibration)
{
    const double few = 1e11; /* a second of one thread: twenty times what looking takes */
    /* A quick look leaves these out; they are guessed in the proportions of known machines. */
    const double eigen_of_gemm64 = 0.11, disk_guess = 5e8;
    unsigned at_once = probes_now(ctx, workers);
    double rates[KINDS], share;
    bool kept;
    int err = NY_OK;

    *calibration = (struct ny_calibration){.date = NAN, .load = NAN, .now = 1};
    make_key(ctx, calibration->key, sizeof(calibration->key));
    kept = load(calibration);
    /* Less than a second of work is planned by rates that were kept, unless these make more of it.
     * Rates of fewer threads, run alone, cannot tell whether those of all threads still hold. */
    if (kept && (flops < fmin(few, calibration->gemm32) || at_once < effective_threads(ctx)))
        return NY_OK;
    if (kept) err = look(ctx, calibration, at_once, patient, &share);
    if (kept && err == NY_OK && share < 1 / least_share) {
        if (share < least_share) scale(calibration, share);
        return NY_OK;
    }
    calibration->date = calibration->load = NAN;
    if (flops < few)
        guess(ctx, calibration, rates);
    else if (err == NY_OK)
        err = measure_products(ctx, at_once, quick_s, KINDS, rates);
    if (err == NY_EBUDGET) {
        /* A plan is made under any budget: it says which one would do. */
        ny_error_clear(ctx);
        if (kept) return NY_OK;
        guess(ctx, calibration, rates);
    } else if (err) {
        return err;
    }
    fill(calibration, rates);
    calibration->eigen = eigen_of_gemm64 * calibration->gemm64;
    if (!kept) calibration->disk_write = disk_guess;
    return NY_OK;
}

/* Returns how many threads wanted each CPU in the last minute. */
static double load_now(void)
{
    double load;

    return getloadavg(&load, 1) == 1 ? load / ny_cpu_count() : NAN;
}

/* Measures several times on a busy machine, whose other users may pause, and keeps the best. */
static int measure_best(struct ny_context *ctx, unsigned at_once, double load, double best[KINDS])
{
    enum { ROUNDS_BUSY = 4 };
    const double busy = 0.3;
    double rates[KINDS];
    int err = measure_products(ctx, at_once, full_s, KINDS, best);

    for (int round = 1; round < ROUNDS_BUSY && load > busy && !err; round++) {
        err = measure_products(ctx, at_once, full_s, KINDS, rates);
        for (int kind = 0; kind < KINDS && !err; kind++)
            best[kind] = fmax(best[kind], rates[kind]);
    }
    if (!err && load > busy)
        ny_log(ctx, NY_LOG_DETAIL,
               "the machine is busy (%.1f threads for each CPU): rates are the best of %d rounds; "
               "run 'nystream bench' again when it is not",
               load, ROUNDS_BUSY);
    return err;
}

int ny_calibration_measure(struct ny_context *ctx, struct ny_calibration *calibration)
{
    unsigned at_once = probes_now(ctx, ny_context_threads(ctx));
    bool all = at_once == effective_threads(ctx);
    double rates[KINDS];
    int err;

    *calibration =
        (struct ny_calibration){.date = (double)time(NULL), .load = load_now(), .now = 1};
    make_key(ctx, calibration->key, sizeof(calibration->key));
    err = measure_best(ctx, at_once, calibration->load, rates);
    if (err) return err;
    fill(calibration, rates);
    err = measure_eigen(ctx, all, &calibration->eigen);
    if (err) return err;
    calibration->disk_write = measure_disk(ctx, 64 << 20);
    err = ny_check_interrupt(ctx);
    if (err) return err;
    if (!all)
        ny_log(ctx, NY_LOG_NOTE,
               "the memory budget leaves room to measure %u of %u threads; their rates are scaled, "
               "and not kept: give a larger --memory",
               at_once, effective_threads(ctx));
    else if (!keep(ctx, calibration))
        ny_log(ctx, NY_LOG_NOTE, "the measurement could not be kept in the cache folder");
    return NY_OK;
}
