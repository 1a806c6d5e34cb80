/*
 * Points of shapes whose flat coordinates or classes are known, so that a map of them can be
 * judged. A shape is a function and a line of the table: name, function, columns of the points and
 * of what is known of them, formula.
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "io/writer.h"
#include "tool.h"

enum { COLUMNS_MAX = 64, KNOWN_MAX = 2 };

/* U, U' are uniform in (0,1), i is the number of the point. */
#define SHAPES(X)                                                                                  \
    X("swiss-roll", roll, 3, 2,                                                                    \
      "(t cos t, h, t sin t), t = 1.5 pi (1 + 2U), h = 21 U' (Tenenbaum, de Silva\n"               \
      "      & Langford 2000); known: arc length of the spiral from 0 to t; h")                    \
    X("s-curve", s_curve, 3, 2,                                                                    \
      "(sin t, 2U', sign(t) (cos t - 1)), t = 3 pi (U - 1/2); known: t, which is\n"                \
      "      the arc length; 2U'")                                                                 \
    X("fishbowl", fishbowl, 3, 2,                                                                  \
      "(cos u sin v, sin u sin v, 2/3 cos v), u = 2 pi i/N, v = pi/4 + 3/4 pi U\n"                 \
      "      (Homrighausen & McDonald 2011: an ellipsoid with an opening); known:\n"               \
      "      u, v")                                                                                \
    X("halo", halo, 3, 1,                                                                          \
      "4/5 of the points (cos u sin v, sin u sin v, cos v), v = pi/4 + 0.55 pi U,\n"               \
      "      u as above over their number: the bowl without its bottom; then a\n"                  \
      "      ball of Gaussian points, standard deviation 0.1, round (0, 0, mean\n"                 \
      "      of cos v) (same paper); known: the class, 0 halo, 1 ball")                            \
    X("spiral", spiral, 2, 1,                                                                      \
      "(t cos 5 pi t, t sin 5 pi t), t = sqrt(0.01 + 0.99 U): two turns and a half\n"              \
      "      (after Ouimet & Bengio 2005, who have noise too: --noise 0.01);\n"                    \
      "      known: arc length from 0 to t")                                                       \
    X("spheres", spheres, 0, 1,                                                                    \
      "a mixture of K manifolds of dimension D: unit spheres in D + 1 columns round\n"             \
      "      (3c, 0, ...), c = i mod K, of which point i is one; known: the class c")

#define SHAPE_HELP(name, function, columns, known, formula) "  " name "\n      " formula "\n"
static const char usage[] =
    "manifold KIND -o OUT.npy [-n N] [--noise S] [--seed S] [--parameters FILE.npy]\n"
    "\n"
    "Writes N points of a shape as float32, and what is known of them. Point i depends on the\n"
    "options and i alone, in any number: -n 18000000 takes seconds and no memory. U, U' are\n"
    "uniform in (0,1). KIND:\n"
    "\n" SHAPES(SHAPE_HELP) "\n"
    "  -o OUT.npy          where to (- is standard output)\n"
    "  -n N                points (2000)\n"
    "  --noise S           standard deviation of Gaussian noise on each coordinate (0)\n"
    "  --seed S            (0)\n"
    "  --parameters FILE   also what is known, N rows; classes serve as import --labels FILE\n"
    "  --pieces K          of spheres (3)\n"
    "  --dimension D       of spheres (2)\n";

struct points {
    uint64_t n, seed, pieces, dimension;
    double noise;
};

/* Streams of random numbers: what shapes are made of, noise, Gaussians of shapes. */
enum { SHAPE, NOISE, GAUSSIANS };
static uint64_t stream(int which)
{
    return NY_STREAM_DATA + ((uint64_t)which << 32);
}

static const double pi = 3.14159265358979323846;

/* Two numbers of the stream a point. */
static double uniform(const struct points *p, uint64_t i, int which)
{
    return ny_hash01(p->seed, stream(SHAPE), 2 * i + (uint64_t)which);
}

/* Length of the spiral r = t from its centre to t. */
static double arc_length(double t)
{
    return 0.5 * (t * sqrt(1 + t * t) + asinh(t));
}

static void roll(const struct points *p, uint64_t i, double *x, double *known)
{
    double t = 1.5 * pi * (1 + 2 * uniform(p, i, 0));
    double h = 21 * uniform(p, i, 1);

    x[0] = t * cos(t);
    x[1] = h;
    x[2] = t * sin(t);
    known[0] = arc_length(t);
    known[1] = h;
}

static void s_curve(const struct points *p, uint64_t i, double *x, double *known)
{
    double t = 3 * pi * (uniform(p, i, 0) - 0.5);

    x[0] = sin(t);
    x[1] = 2 * uniform(p, i, 1);
    x[2] = copysign(1, t) * (cos(t) - 1);
    known[0] = t;
    known[1] = x[1];
}

static void ellipsoid(double u, double v, double height, double *x)
{
    x[0] = cos(u) * sin(v);
    x[1] = sin(u) * sin(v);
    x[2] = height * cos(v);
}

static void fishbowl(const struct points *p, uint64_t i, double *x, double *known)
{
    known[0] = 2 * pi * (double)i / (double)p->n;
    known[1] = pi / 4 + 0.75 * pi * uniform(p, i, 0);
    ellipsoid(known[0], known[1], 2.0 / 3, x);
}

static void halo(const struct points *p, uint64_t i, double *x, double *known)
{
    const double first = pi / 4, last = 0.8 * pi;
    uint64_t bowl = p->n - p->n / 5;

    known[0] = i >= bowl;
    if (i < bowl) {
        double v = first + (last - first) * uniform(p, i, 0);

        ellipsoid(2 * pi * (double)i / (double)bowl, v, 1, x);
        return;
    }
    ny_gaussian(p->seed, stream(GAUSSIANS), 3 * i, x, 3);
    for (int j = 0; j < 3; j++)
        x[j] *= 0.1;
    x[2] += (sin(last) - sin(first)) / (last - first);
}

static void spiral(const struct points *p, uint64_t i, double *x, double *known)
{
    double t = sqrt(0.01 + 0.99 * uniform(p, i, 0)), angle = 5 * pi * t;

    x[0] = t * cos(angle);
    x[1] = t * sin(angle);
    known[0] = arc_length(angle) / (5 * pi);
}

static void spheres(const struct points *p, uint64_t i, double *x, double *known)
{
    size_t columns = (size_t)p->dimension + 1;
    double square = 0;

    ny_gaussian(p->seed, stream(GAUSSIANS), columns * i, x, columns);
    for (size_t j = 0; j < columns; j++)
        square += x[j] * x[j];
    for (size_t j = 0; j < columns; j++)
        x[j] /= sqrt(square);
    known[0] = (double)(i % p->pieces);
    x[0] += 3 * known[0];
}

static const struct shape {
    const char *name;
    void (*point)(const struct points *p, uint64_t i, double *x, double *known);
    size_t columns, known; /* columns 0: --dimension + 1 */
} shapes[] = {
#define SHAPE_ENTRY(name, function, columns, known, formula) {name, function, columns, known},
    SHAPES(SHAPE_ENTRY)};

static const struct shape *shape_named(const char *name)
{
    size_t count = sizeof shapes / sizeof *shapes;
    const char *names[sizeof shapes / sizeof *shapes], *near;

    for (size_t i = 0; i < count; i++) {
        names[i] = shapes[i].name;
        if (!strcmp(name, names[i])) return &shapes[i];
    }
    near = ny_suggest(name, names, count);
    tool_fail(NY_EUSAGE, "There is no KIND \"%s\"%s%s%s (see --help).", name,
              near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static void write_points(struct ny_context *ctx, const struct points *p, const struct shape *shape,
                         const char *const files[2])
{
    size_t columns = shape->columns ? shape->columns : (size_t)p->dimension + 1;
    struct ny_writer *points, *parameters = NULL;

    tool_check(ctx, ny_writer_open(&points, ctx, files[0], NY_OUT_F32, p->n, columns));
    if (files[1])
        tool_check(ctx, ny_writer_open(&parameters, ctx, files[1], NY_OUT_F32, p->n, shape->known));
    for (uint64_t i = 0; i < p->n; i++) {
        double x[COLUMNS_MAX], g[COLUMNS_MAX], known[KNOWN_MAX];
        float values[COLUMNS_MAX], told[KNOWN_MAX];

        shape->point(p, i, x, known);
        if (p->noise > 0) {
            ny_gaussian(p->seed, stream(NOISE), columns * i, g, columns);
            for (size_t j = 0; j < columns; j++)
                x[j] += p->noise * g[j];
        }
        for (size_t j = 0; j < columns; j++)
            values[j] = (float)x[j];
        for (size_t j = 0; j < shape->known; j++)
            told[j] = (float)known[j];
        tool_check(ctx, ny_writer_rows(points, values, 1));
        if (parameters) tool_check(ctx, ny_writer_rows(parameters, told, 1));
    }
    tool_check(ctx, ny_writer_commit(points, NY_OK));
    if (parameters) tool_check(ctx, ny_writer_commit(parameters, NY_OK));
}

int main(int argc, char **argv)
{
    struct points p = {.n = 2000, .pieces = 3, .dimension = 2};
    const char *kind = NULL, *files[2] = {NULL, NULL};
    const struct tool_option options[] = {{"-o", TOOL_TEXT, &files[0]},
                                          {"-n", TOOL_COUNT, &p.n},
                                          {"--noise", TOOL_NUMBER, &p.noise},
                                          {"--seed", TOOL_COUNT, &p.seed},
                                          {"--parameters", TOOL_TEXT, &files[1]},
                                          {"--pieces", TOOL_COUNT, &p.pieces},
                                          {"--dimension", TOOL_COUNT, &p.dimension},
                                          {NULL, TOOL_TEXT, NULL}};
    const struct shape *shape;
    struct ny_context *ctx;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){&kind, 1, 0});
    shape = shape_named(kind);
    if (!files[0]) tool_fail(NY_EUSAGE, "Say where to: -o OUT.npy (see --help).");
    if (p.n == 0 || !(p.noise >= 0))
        tool_fail(NY_EUSAGE, "-n must be positive, --noise not negative.");
    if (!p.pieces || !p.dimension || p.dimension >= COLUMNS_MAX)
        tool_fail(NY_EUSAGE, "--pieces must be positive, --dimension 1 to %d.", COLUMNS_MAX - 1);
    tool_apart(files[0], files[1]);
    ctx = tool_start();
    write_points(ctx, &p, shape, files);
    tool_end(ctx);
    return 0;
}
