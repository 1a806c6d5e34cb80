/*
 * Makes as many images as one likes from a finite set, after Loosli, Canu & Bottou, "Training
 * invariant SVMs using selective sampling" (2007): the first images are the originals; every
 * further one is
 *
 *     x + α (f · ∂x/∂column + g · ∂x/∂row),   shifted by −1, 0 or 1 pixel each way,
 *
 * the first-order effect of moving each pixel by α (f, g), with f, g from a pool of smooth random
 * fields. Image i depends on the seed and i alone, so any slice can be made by itself.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "tool.h"

static const char usage[] =
    "infinite-digits IMAGES [LABELS] -n N [-o OUT] [options]\n"
    "\n"
    "Makes N images from an IDX image set (plain or .gz): the originals first, then deformed "
    "ones.\n"
    "\n"
    "  -n N               images to write\n"
    "  -o OUT             where to; standard output without it\n"
    "  --labels-out FILE  their labels as IDX, from LABELS (IDX, plain or .gz)\n"
    "  --classes 0,1,…    only the originals with these LABELS\n"
    "  --first I          start at image I of the endless list (0)\n"
    "  --format idx|npy   of OUT (idx); npy is N x pixels, uint8\n"
    "  --seed S           (0)\n"
    "  --alpha A          pixels moved, root mean square (1.2)\n"
    "  --smooth S         width of the fields' Gaussian in pixels (4)\n";

enum { FIELDS = 1024, CHUNK = 8192, WIDTH_MAX = 64 };
/* Streams of random numbers: values of the fields, choices for the images. */
#define STREAM_FIELDS ((uint64_t)NY_STREAM_DATA)
#define STREAM_IMAGES (STREAM_FIELDS + (UINT64_C(1) << 32))

struct digits {
    struct ny_context *ctx;
    unsigned char *images; /* originals × pixels */
    unsigned char *labels; /* originals, or NULL */
    uint64_t originals;
    size_t rows, columns, pixels;
    float *fields;                      /* FIELDS × pixels, mean square 1 */
    double gaussian[2 * WIDTH_MAX + 1]; /* weights from −reach to reach */
    long reach;
    double alpha;
    uint64_t seed;
    uint64_t first;     /* number of the first image in `out` */
    unsigned char *out; /* CHUNK × pixels */
};

/* An IDX file of unsigned bytes with `dimensions` sizes; the payload is returned. */
static unsigned char *read_idx(struct ny_context *ctx, const char *path, int dimensions,
                               uint32_t *sizes)
{
    gzFile file = gzopen(path, "rb");
    unsigned char head[16] = {0};
    unsigned char *payload;
    size_t bytes = 1, at = 0;
    int length = 4 + 4 * dimensions;

    if (!file) tool_fail(NY_EIO, "Cannot open %s.", path);
    gzbuffer(file, 1u << 18);
    if (gzread(file, head, (unsigned)length) != length || head[0] || head[1] || head[2] != 8 ||
        head[3] != dimensions)
        tool_fail(NY_EDATA, "%s is not an IDX file of bytes in %d dimension(s).", path, dimensions);
    for (int i = 0; i < dimensions; i++) {
        const unsigned char *b = head + 4 + 4 * i;

        sizes[i] = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
        tool_check(ctx, ny_product(ctx, &bytes, bytes, sizes[i], 1));
    }
    if (bytes == 0) tool_fail(NY_EDATA, "%s is empty.", path);
    payload = tool_alloc(ctx, bytes, 1);
    while (at < bytes) {
        size_t want = bytes - at < (1u << 30) ? bytes - at : 1u << 30;
        int got = gzread(file, payload + at, (unsigned)want);

        if (got <= 0) tool_fail(NY_EDATA, "%s ends after %zu of %zu bytes.", path, at, bytes);
        at += (size_t)got;
    }
    gzclose(file);
    return payload;
}

/* The Gaussian along `lines` lines of `length` values; the lines wrap around. */
struct lines {
    size_t lines, step, length, stride;
};
static void smooth(const struct digits *d, struct lines l, const float *in, float *out)
{
    for (size_t line = 0; line < l.lines; line++)
        for (size_t at = 0; at < l.length; at++) {
            double sum = 0;

            for (long k = -d->reach; k <= d->reach; k++) {
                long wrapped = ((long)at + k) % (long)l.length;
                size_t from = (size_t)(wrapped < 0 ? wrapped + (long)l.length : wrapped);

                sum += d->gaussian[k + d->reach] * (double)in[line * l.step + from * l.stride];
            }
            out[line * l.step + at * l.stride] = (float)sum;
        }
}

/* Uniform random fields, smoothed, scaled to mean square 1 (a mean of their own is left in: it is
 * a shift by part of a pixel). Field f is made of numbers f·pixels … of its stream. */
static int make_fields(void *arg, size_t first, size_t count)
{
    struct digits *d = arg;
    const struct lines across = {d->rows, d->columns, d->columns, 1};
    const struct lines down = {d->columns, 1, d->rows, d->columns};
    float *noise = ny_alloc(d->ctx, NY_MEM_OTHER, 2 * d->pixels * sizeof *noise);

    if (!noise) return NY_EBUDGET;
    for (size_t f = first; f < first + count; f++) {
        float *field = d->fields + f * d->pixels;
        double square = 0;

        for (size_t i = 0; i < d->pixels; i++)
            noise[i] = (float)(2 * ny_hash01(d->seed, STREAM_FIELDS, f * d->pixels + i) - 1);
        smooth(d, across, noise, noise + d->pixels);
        smooth(d, down, noise + d->pixels, field);
        for (size_t i = 0; i < d->pixels; i++)
            square += (double)field[i] * (double)field[i];
        for (size_t i = 0; i < d->pixels; i++)
            field[i] *= (float)sqrt((double)d->pixels / square);
    }
    ny_free(d->ctx, noise);
    return NY_OK;
}

/* `original` moved by (down, right) pixels into `padded`, which has a border of one zero pixel. */
static void shift_into(const struct digits *d, const unsigned char *original, const int move[2],
                       float *padded)
{
    size_t width = d->columns + 2;

    memset(padded, 0, (d->rows + 2) * width * sizeof *padded);
    for (size_t r = 0; r < d->rows; r++) {
        long to = (long)r + move[0];

        if (to < 0 || to >= (long)d->rows) continue;
        for (size_t c = 0; c < d->columns; c++) {
            long at = (long)c + move[1];

            if (at >= 0 && at < (long)d->columns)
                padded[(size_t)(to + 1) * width + (size_t)(at + 1)] = original[r * d->columns + c];
        }
    }
}

/* out = x + α (f · ∂x/∂column + g · ∂x/∂row), the derivatives by Sobel's masks. */
static void deform(const struct digits *d, const float *padded, const float *f, const float *g,
                   unsigned char *out)
{
    size_t width = d->columns + 2;
    float eighth = (float)(d->alpha / 8);

    for (size_t r = 0; r < d->rows; r++) {
        const float *up = padded + r * width, *here = up + width, *down = here + width;

        for (size_t c = 0; c < d->columns; c++) {
            size_t at = r * d->columns + c;
            float right = up[c + 2] + 2 * here[c + 2] + down[c + 2];
            float left = up[c] + 2 * here[c] + down[c];
            float below = down[c] + 2 * down[c + 1] + down[c + 2];
            float above = up[c] + 2 * up[c + 1] + up[c + 2];
            float x = here[c + 1] + eighth * (f[at] * (right - left) + g[at] * (below - above));

            x = x < 0 ? 0 : x;
            out[at] = (unsigned char)(x > 255 ? 255.0f : x + 0.5f);
        }
    }
}

static int make_images(void *arg, size_t first, size_t count)
{
    struct digits *d = arg;
    float *padded =
        ny_alloc(d->ctx, NY_MEM_OTHER, (d->rows + 2) * (d->columns + 2) * sizeof *padded);

    if (!padded) return NY_EBUDGET;
    for (size_t i = first; i < first + count; i++) {
        uint64_t number = d->first + i;
        const unsigned char *original = d->images + number % d->originals * d->pixels;
        unsigned char *out = d->out + i * d->pixels;
        uint32_t w[4];

        if (number < d->originals) {
            memcpy(out, original, d->pixels);
            continue;
        }
        ny_philox(d->seed, STREAM_IMAGES, number, w);
        shift_into(d, original, (int[2]){(int)(w[0] % 3) - 1, (int)(w[1] % 3) - 1}, padded);
        deform(d, padded, d->fields + w[2] % FIELDS * d->pixels,
               d->fields + w[3] % FIELDS * d->pixels, out);
    }
    ny_free(d->ctx, padded);
    return NY_OK;
}

static void write_idx_head(struct ny_writer *out, const uint64_t *sizes, int dimensions)
{
    unsigned char head[16] = {0, 0, 8, (unsigned char)dimensions};

    for (int i = 0; i < dimensions; i++)
        for (int b = 0; b < 4; b++)
            head[4 + 4 * i + b] = (unsigned char)(sizes[i] >> (24 - 8 * b));
    tool_write(out, head, (size_t)(4 + 4 * dimensions));
}

static void write_images(struct digits *d, struct ny_writer *out, uint64_t first, uint64_t n)
{
    for (uint64_t at = 0; at < n; at += CHUNK) {
        size_t count = n - at < CHUNK ? (size_t)(n - at) : CHUNK;

        d->first = first + at;
        tool_check(d->ctx, ny_parallel_ranges(d->ctx, count, make_images, d));
        tool_write(out, d->out, count * d->pixels);
    }
    tool_close(out);
}

static void write_labels(const struct digits *d, const char *path, const uint64_t range[2])
{
    struct ny_writer *out = tool_create(d->ctx, path);

    write_idx_head(out, &range[1], 1);
    for (uint64_t i = range[0]; i < range[0] + range[1]; i++)
        tool_write(out, d->labels + i % d->originals, 1);
    tool_close(out);
}

static void read_labels(struct digits *d, const char *path)
{
    uint32_t count;

    d->labels = read_idx(d->ctx, path, 1, &count);
    if (count != d->originals)
        tool_fail(NY_EDATA, "%s has %u labels for %llu images.", path, count,
                  (unsigned long long)d->originals);
}

/* Leaves out the originals of other classes. */
static void keep_classes(struct digits *d, const char *classes)
{
    bool wanted[256] = {false};
    uint64_t kept = 0;

    for (const char *at = classes; *at;) {
        char *end;
        unsigned long class = strtoul(at, &end, 10);

        if (end == at || class > 255 || (*end && *end != ','))
            tool_fail(NY_EUSAGE, "--classes is a list like 0,1,9, not \"%s\".", classes);
        wanted[class] = true;
        at = *end ? end + 1 : end;
    }
    for (uint64_t i = 0; i < d->originals; i++) {
        if (!wanted[d->labels[i]]) continue;
        memmove(d->images + kept * d->pixels, d->images + i * d->pixels, d->pixels);
        d->labels[kept++] = d->labels[i];
    }
    if (!kept) tool_fail(NY_EDATA, "No image is of the classes %s.", classes);
    d->originals = kept;
}

static void prepare(struct digits *d, const char *const paths[2], const char *classes, double width)
{
    uint32_t sizes[3];

    d->ctx = tool_start();
    d->images = read_idx(d->ctx, paths[0], 3, sizes);
    d->originals = sizes[0];
    d->rows = sizes[1];
    d->columns = sizes[2];
    d->pixels = d->rows * d->columns;
    if (paths[1]) read_labels(d, paths[1]);
    if (classes) keep_classes(d, classes);
    d->reach = (long)ceil(3 * width);
    for (long k = -d->reach; k <= d->reach; k++)
        d->gaussian[k + d->reach] = exp(-0.5 * (double)(k * k) / (width * width));
    d->out = tool_alloc(d->ctx, CHUNK * d->pixels, 1);
    d->fields = tool_alloc(d->ctx, FIELDS * d->pixels, sizeof *d->fields);
    tool_check(d->ctx, ny_parallel_ranges(d->ctx, FIELDS, make_fields, d));
}

int main(int argc, char **argv)
{
    struct digits d = {.alpha = 1.2};
    const char *paths[2] = {0}, *path = NULL, *labels_out = NULL, *format = "idx";
    const char *classes = NULL;
    uint64_t range[2] = {0, 0}; /* first, count */
    double width = 4;
    const struct tool_option options[] = {{"-n", TOOL_COUNT, &range[1]},
                                          {"-o", TOOL_TEXT, &path},
                                          {"--labels-out", TOOL_TEXT, &labels_out},
                                          {"--classes", TOOL_TEXT, &classes},
                                          {"--first", TOOL_COUNT, &range[0]},
                                          {"--format", TOOL_TEXT, &format},
                                          {"--seed", TOOL_COUNT, &d.seed},
                                          {"--alpha", TOOL_NUMBER, &d.alpha},
                                          {"--smooth", TOOL_NUMBER, &width},
                                          {NULL, TOOL_TEXT, NULL}};
    struct ny_writer *out;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){paths, 2, 1});
    if (range[1] == 0) tool_fail(NY_EUSAGE, "Say how many images: -n N (see --help).");
    if (strcmp(format, "idx") && strcmp(format, "npy"))
        tool_fail(NY_EUSAGE, "--format is idx or npy, not \"%s\".", format);
    if (!strcmp(format, "idx") && range[1] > UINT32_MAX)
        tool_fail(NY_EUSAGE, "An IDX file holds at most %u images; use --format npy.", UINT32_MAX);
    if (!(width > 0 && 3 * width <= WIDTH_MAX))
        tool_fail(NY_EUSAGE, "--smooth must be above 0 and at most %d.", WIDTH_MAX / 3);
    if ((labels_out || classes) && !paths[1])
        tool_fail(NY_EUSAGE, "--labels-out and --classes need the LABELS of the originals (see "
                             "--help).");
    tool_apart(path ? path : "-", labels_out);
    prepare(&d, paths, classes, width);
    if (labels_out) write_labels(&d, labels_out, range);
    out = tool_create(d.ctx, path);
    if (!strcmp(format, "idx"))
        write_idx_head(out, (const uint64_t[3]){range[1], d.rows, d.columns}, 3);
    else
        tool_write_npy_head(out, NY_U8, range[1], d.pixels);
    write_images(&d, out, range[0], range[1]);
    tool_end(d.ctx);
    return 0;
}
