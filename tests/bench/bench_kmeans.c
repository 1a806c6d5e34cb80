/*
 * Lloyd's iterations of several initialisations on rows in memory.
 *
 *   bench_kmeans ROWS COLUMNS CLUSTERS INITS ITERATIONS POINTS CENTRES
 *
 * Prints the seconds of the iterations, and the inertia of each initialisation. POINTS and CENTRES
 * are files to write, f32 without a header, for others to take the same way (tests/bench/kmeans.py).
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "evaluate/kmeans.h"

static struct ny_context *ctx;

/* Overlapping groups, so that centres move for long. */
static int make_rows(void *arg, uint64_t first, size_t count, float *out)
{
    const struct ny_cloud_reader *reader = arg;
    size_t p = reader->p;

    for (size_t i = 0; i < count; i++)
        for (size_t c = 0; c < p; c += 4) {
            uint64_t row = first + i;
            uint32_t word[4];

            ny_philox(1, NY_STREAM_DATA, row * p + c, word);
            for (size_t k = 0; k < 4 && c + k < p; k++)
                out[i * p + c + k] = (float)(0x1p-32 * word[k] +
                                             0.5 * ny_hash01(2, NY_STREAM_DATA,
                                                             row % 37 * p + c + k));
        }
    return NY_OK;
}

static int fail(void)
{
    fprintf(stderr, "bench_kmeans: %s\n", ny_context_message(ctx));
    return 1;
}

static int write_file(const char *path, const float *values, size_t count)
{
    FILE *file = fopen(path, "wb");
    int failed = !file || fwrite(values, sizeof(*values), count, file) != count;

    return (file && fclose(file)) || failed;
}

int main(int argc, char **argv)
{
    struct ny_cloud_reader reader = {.read = make_rows, .arg = &reader};
    struct ny_cloud cloud;
    struct ny_kmeans how = {.cloud = &cloud};
    struct ny_centres centres = {0};
    float *seeds;
    size_t count;
    double started, inertia;
    uint32_t *cluster;

    if (argc != 8 || ny_context_new(&ctx)) return 2;
    reader.n = strtoull(argv[1], NULL, 10);
    reader.p = strtoull(argv[2], NULL, 10);
    how.ctx = ctx;
    how.k = strtoull(argv[3], NULL, 10);
    how.inits = (unsigned)strtoul(argv[4], NULL, 10);
    how.iterations = (unsigned)strtoul(argv[5], NULL, 10);
    how.workers = ny_context_threads(ctx);
    if (ny_cloud_open(&cloud, ctx, &reader, how.workers, true)) return fail();
    count = how.inits * how.k * reader.p;
    seeds = malloc(count * sizeof(*seeds));
    started = ny_now();
    if (ny_kmeans_seed(&how, seeds)) return fail();
    started = ny_now() - started; /* is made once more by the run */
    if (write_file(argv[6], cloud.held, reader.n * reader.p) ||
        write_file(argv[7], seeds, count)) {
        fprintf(stderr, "bench_kmeans: cannot write %s or %s\n", argv[6], argv[7]);
        return 1;
    }
    started = ny_now() + started;
    if (ny_kmeans_run(&how, &centres)) return fail();
    printf("%.3f", ny_now() - started);
    cluster = malloc(reader.n * sizeof(*cluster));
    for (unsigned r = 0; r < how.inits; r++) {
        const float *last = centres.at + r * how.k * reader.p;

        if (ny_kmeans_assign(&how, last, cluster, &inertia)) return fail();
        printf(" %.9g", inertia);
    }
    putchar('\n');
    free(cluster);
    ny_centres_release(&centres);
    ny_cloud_close(&cloud);
    free(seeds);
    ny_context_free(ctx);
    return 0;
}
