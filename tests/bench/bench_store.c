/* Rates of the store: import and read back, rows of u8 like images and f32 like noise.
 *
 *   bench_store DIRECTORY [MIB] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/dtype.h"
#include "base/random.h"
#include "base/thread.h"
#include "store/store.h"

enum { D = 784, BATCH = 2048 };

static void die(struct ny_context *ctx)
{
    fprintf(stderr, "bench_store: %s\n", ny_context_message(ctx));
    exit(1);
}

/* Fills values; four in five u8 pixels are dark, as in handwritten digits. */
static void fill(enum ny_dtype dtype, void *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t h = ny_hash64(1, NY_STREAM_DATA, i);

        if (dtype == NY_U8) {
            size_t run = i / 24;
            int dark = ny_hash64(2, NY_STREAM_DATA, run) % 5 != 0;
            ((uint8_t *)rows)[i] = (uint8_t)(dark ? 0 : h & 0xff);
        } else {
            ((float *)rows)[i] = (float)h / 1e19f;
        }
    }
}

struct reading {
    struct ny_store *store;
    struct ny_rows_info info;
    unsigned workers;
    char *rows;
};

static int read_share(void *arg, unsigned worker)
{
    struct reading *r = arg;
    size_t row_bytes = (size_t)r->info.d * ny_dtype_size(r->info.dtype), count;

    for (uint64_t b = worker; b < r->info.blocks; b += r->workers) {
        int err = ny_points_read_block(r->store, b,
                                       r->rows + worker * r->info.block_rows * row_bytes, &count);
        if (err) return err;
    }
    return NY_OK;
}

static void read_all(struct ny_context *ctx, struct ny_store *store, unsigned workers)
{
    struct reading r = {.store = store, .workers = workers};
    double best = INFINITY;

    if (ny_points_info(store, &r.info)) die(ctx);
    r.rows = malloc(workers * r.info.block_rows * r.info.d * ny_dtype_size(r.info.dtype));
    for (int run = 0; run < 3; run++) {
        double start = ny_now();

        if (ny_parallel(ctx, workers, read_share, &r)) die(ctx);
        if (ny_now() - start < best) best = ny_now() - start;
    }
    printf("  read, %u thread%s: %.2f GB/s\n", workers, workers > 1 ? "s" : "",
           (double)r.info.raw_bytes / best / 1e9);
    free(r.rows);
}

static void bench(struct ny_context *ctx, const char *path, enum ny_dtype dtype, double bytes)
{
    size_t batch_bytes = (size_t)BATCH * D * ny_dtype_size(dtype);
    uint64_t batches = (uint64_t)(bytes / (double)batch_bytes), consumed;
    struct ny_ingest_spec spec = {.d = D, .dtype = dtype, .fingerprint = 1};
    char *rows = malloc(16 * batch_bytes);
    struct ny_rows_info info;
    struct ny_ingest *ingest;
    struct ny_store *store;
    double start, cpu;

    fill(dtype, rows, (size_t)16 * BATCH * D);
    if (ny_store_create(&store, ctx, path)) die(ctx);
    start = ny_now();
    cpu = (double)clock();
    if (ny_ingest_begin(&ingest, store, &spec, &consumed)) die(ctx);
    for (uint64_t i = 0; i < batches; i++) {
        struct ny_ingest_rows batch = {
            .values = rows + i % 16 * batch_bytes, .count = BATCH, .consumed = (i + 1) * BATCH};
        if (ny_ingest_rows(ingest, &batch)) die(ctx);
    }
    if (ny_ingest_commit(ingest)) die(ctx);
    start = ny_now() - start;
    cpu = ((double)clock() - cpu) / CLOCKS_PER_SEC;
    ny_ingest_free(ingest);
    if (ny_points_info(store, &info)) die(ctx);
    printf("%s: %.2f GB, import %.0f MB/s (%.0f MB a CPU second), ratio %.2f\n", ny_dtype_name(dtype),
           (double)info.raw_bytes / 1e9, (double)info.raw_bytes / start / 1e6,
           (double)info.raw_bytes / cpu / 1e6,
           (double)info.raw_bytes / (double)info.stored_bytes);
    read_all(ctx, store, 1);
    read_all(ctx, store, 2);
    ny_store_close(store);
    start = ny_now();
    if (ny_store_open(&store, ctx, path)) die(ctx);
    printf("  open: %.1f ms\n", 1e3 * (ny_now() - start));
    ny_store_close(store);
    free(rows);
}

int main(int argc, char **argv)
{
    double bytes = (argc > 2 ? atof(argv[2]) : 1024) * 1048576;
    struct ny_context *ctx;
    char path[4096];

    if (argc < 2 || ny_context_new(&ctx)) return 2;
    snprintf(path, sizeof(path), "%s/u8.nys", argv[1]);
    bench(ctx, path, NY_U8, bytes);
    snprintf(path, sizeof(path), "%s/f32.nys", argv[1]);
    bench(ctx, path, NY_F32, bytes);
    ny_context_free(ctx);
    return 0;
}
