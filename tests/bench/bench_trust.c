/*
 * Measures the price of safety in a fit: its wall time with checkpoints and checksums over that
 * without, pair by pair. Without them, there are checkpoints only at the ends of stages, and values
 * longer than a page have no checksum, in a store that was written so (the Makefile wraps
 * ny_checksum()).
 *
 *   bench_trust FILE DIRECTORY LANDMARKS COMPONENTS PAIRS      the points; where the stores go
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "nystream.h"

#include "base/checksum.h"
#include "base/clock.h"
#include "base/context.h"

enum { PAGE = 4096 };

static bool trusted = true;

uint64_t __real_ny_checksum(const void *data, size_t bytes);
uint64_t __wrap_ny_checksum(const void *data, size_t bytes);

uint64_t __wrap_ny_checksum(const void *data, size_t bytes)
{
    return trusted || bytes <= PAGE ? __real_ny_checksum(data, bytes) : 0;
}

static void check(struct ny_context *ctx, int status)
{
    if (status == NY_OK) return;
    fprintf(stderr, "bench_trust: %s\n", ny_context_message(ctx));
    exit(status);
}

static struct ny_context *begin(bool with)
{
    struct ny_context *ctx;

    trusted = with;
    if (ny_context_new(&ctx) != NY_OK) exit(NY_EBUDGET);
    if (!with) ny_context_set_checkpoint(ctx, INFINITY);
    return ctx;
}

static void import_points(const char *file, const char *store, bool with)
{
    struct ny_context *ctx = begin(with);

    check(ctx, ny_import(ctx, store, &file, 1, NULL, NULL));
    ny_context_free(ctx);
}

static double fit(const char *store, char **sizes, bool with)
{
    const char *const set[][2] = {{"select", "uniform"}, {"landmarks", sizes[0]},
                                  {"components", sizes[1]}, {"restart", "yes"}};
    struct ny_context *ctx = begin(with);
    struct ny_options *options;
    double start_s;

    check(ctx, ny_options_new(&options, ctx));
    for (size_t i = 0; i < sizeof(set) / sizeof(*set); i++)
        check(ctx, ny_options_set(options, set[i][0], set[i][1]));
    start_s = ny_now();
    check(ctx, ny_fit(ctx, store, "a", options, NULL));
    start_s = ny_now() - start_s;
    ny_options_free(options);
    ny_context_free(ctx);
    return start_s;
}

int main(int argc, char **argv)
{
    char stores[2][4096];

    if (argc != 6) return NY_EUSAGE;
    for (int with = 0; with < 2; with++) {
        snprintf(stores[with], sizeof(stores[with]), "%s/trust-%d.nys", argv[2], with);
        import_points(argv[1], stores[with], with);
    }
    for (int pair = 0; pair < atoi(argv[5]); pair++) {
        double without_s = fit(stores[0], argv + 3, false);
        double with_s = fit(stores[1], argv + 3, true);

        printf("%.4f %.3f %.3f\n", with_s / without_s, with_s, without_s);
        fflush(stdout);
    }
    return 0;
}
