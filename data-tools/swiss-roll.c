/*
 * The Swiss roll of Tenenbaum, de Silva & Langford (2000): a sheet rolled up in space, whose flat
 * coordinates are known, so that a map of it can be judged.
 */
#include <math.h>

#include "base/random.h"
#include "io/writer.h"
#include "tool.h"

static const char usage[] =
    "swiss-roll -o OUT.npy [-n N] [--noise S] [--seed S] [--parameters FILE.npy]\n"
    "\n"
    "Writes N points (t cos t, h, t sin t) as N x 3 float32, t in [1.5 pi, 4.5 pi], h in [0, 21].\n"
    "Point i depends on the seed and i alone.\n"
    "\n"
    "  -o OUT.npy          where to (- is standard output)\n"
    "  -n N                points (2000)\n"
    "  --noise S           standard deviation of Gaussian noise on each coordinate (0)\n"
    "  --seed S            (0)\n"
    "  --parameters FILE   also the N x 2 flat coordinates: arc length along the spiral, h\n";

/* Length of the spiral r = t from its centre to t. */
static double arc_length(double t)
{
    return 0.5 * (t * sqrt(1 + t * t) + asinh(t));
}

static void roll_point(uint64_t seed, uint64_t i, double noise, float point[3], float flat[2])
{
    const double pi = 3.14159265358979323846;
    /* numbers 2i and 2i+1 of the data stream; the noise has a stream of its own */
    double t = 1.5 * pi * (1 + 2 * ny_hash01(seed, NY_STREAM_DATA, 2 * i));
    double h = 21 * ny_hash01(seed, NY_STREAM_DATA, 2 * i + 1);
    double g[3] = {0};

    if (noise > 0) ny_gaussian(seed, NY_STREAM_DATA + (UINT64_C(1) << 32), 3 * i, g, 3);
    point[0] = (float)(t * cos(t) + noise * g[0]);
    point[1] = (float)(h + noise * g[1]);
    point[2] = (float)(t * sin(t) + noise * g[2]);
    flat[0] = (float)arc_length(t);
    flat[1] = (float)h;
}

int main(int argc, char **argv)
{
    const char *out = NULL, *parameters = NULL;
    uint64_t n = 2000, seed = 0;
    double noise = 0;
    const struct tool_option options[] = {{"-o", TOOL_TEXT, &out},
                                          {"-n", TOOL_COUNT, &n},
                                          {"--noise", TOOL_NUMBER, &noise},
                                          {"--seed", TOOL_COUNT, &seed},
                                          {"--parameters", TOOL_TEXT, &parameters},
                                          {NULL, TOOL_TEXT, NULL}};
    struct ny_context *ctx;
    struct ny_writer *points = NULL, *flats = NULL;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){NULL, 0, 0});
    if (!out) tool_fail(NY_EUSAGE, "Say where to: -o OUT.npy (see --help).");
    if (n == 0 || noise < 0) tool_fail(NY_EUSAGE, "-n must be positive, --noise not negative.");
    ctx = tool_start();
    tool_check(ctx, ny_writer_open(&points, ctx, out, NY_OUT_F32, n, 3));
    if (parameters) tool_check(ctx, ny_writer_open(&flats, ctx, parameters, NY_OUT_F32, n, 2));
    for (uint64_t i = 0; i < n; i++) {
        float point[3], flat[2];

        roll_point(seed, i, noise, point, flat);
        tool_check(ctx, ny_writer_rows(points, point, 1));
        if (flats) tool_check(ctx, ny_writer_rows(flats, flat, 1));
    }
    tool_check(ctx, ny_writer_commit(points));
    if (flats) tool_check(ctx, ny_writer_commit(flats));
    tool_end(ctx);
    return 0;
}
