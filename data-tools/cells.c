/*
 * Counts of single cells: sparse rows of which the spectrum is known to have one large eigenvalue
 * for each cell type, in any size, so that fits of wide and sparse data can be timed by anybody.
 *
 * Feature j of type t has the probability p_tj ∝ b_j·f_tj, with b_j of a gamma distribution of
 * shape 1/2 (g²/2 of a standard normal g) and f_tj of one of shape 1. Type t has a share of the
 * cells ∝ 1/√(t + 1). The counts of a cell are independent Poisson numbers of means S_t·s·p_tj,
 * where s is lognormal with mean 1 and S_t is chosen so that a cell of each type has the wanted
 * number of non-zeros on average.
 *
 * A row is drawn as a Poisson process: events come after exponential distances along the interval
 * [0, 2³²), of which feature j holds a part of length 2³²·p_tj. So columns come in order, without
 * a look at the features that have no count. Rows are drawn by all threads, some dozens at a time.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "cells.h"

enum {
    CELLS_BLOCK = 256,       /* events that are drawn at a time */
    CELLS_ROWS = 64,         /* rows, at most */
    CELLS_ENTRIES = 1 << 22, /* room for their entries, or for one row */
};

static const char usage[] =
    "cells -o OUT --cells N --features D --mean NNZ [--types T] [--seed S] [--binary]\n"
    "      [--labels-out FILE]\n"
    "\n"
    "Writes N sparse rows of D counts, with NNZ non-zeros on average: cells of T types, of which\n"
    "each has a profile of its own. Row i depends on the options but -o and --cells, and on i,\n"
    "alone.\n"
    "\n"
    "  -o OUT             OUT.npz: a CSR matrix of scipy, stored; OUT.h5ad: AnnData, with types\n"
    "                     as the category \"type\" of obs; any other file, or - (standard\n"
    "                     output): libsvm text, whose labels are types\n"
    "  --cells N          rows (10000)\n"
    "  --features D       columns (20000)\n"
    "  --mean NNZ         non-zeros of a row on average, at most D/2 (1000)\n"
    "  --types T          (20)\n"
    "  --seed S           (0)\n"
    "  --binary           1 in place of each count\n"
    "  --labels-out FILE  the types of the cells, one a line (import --labels FILE)\n"
    "\n"
    "Takes 4 to 8 bytes of memory a type and feature, 8 a cell for .npz, 12 for .h5ad,\n"
    "and 24 MiB for rows.\n";

enum { STREAM_TYPE = 1, STREAM_SIZE, STREAM_BASE, STREAM_FACTOR, STREAM_EVENTS };

/* The streams of this tool do not overlap with those of others, which have smaller indices. */
static uint64_t stream_of(int purpose)
{
    return NY_STREAM_DATA + ((uint64_t)(16 + purpose) << 32);
}

static const double spread = 0.3; /* σ of the lognormal size of a cell */
static const double whole = 0x1p32;

/* Returns the mean number of non-zeros of cells with S events, over five sizes that stand for a
 * fifth of the cells each. Every `step`-th feature stands for those around it. */
static double mean_count(const double *p, uint64_t features, uint64_t step, double S)
{
    static const double quantile[] = {-1.2816, -0.5244, 0, 0.5244, 1.2816};
    double sum = 0;
    uint64_t looked = 0;

    for (uint64_t j = 0; j < features; j += step, looked++)
        for (size_t q = 0; q < sizeof quantile / sizeof *quantile; q++)
            sum -= expm1(-S * p[j] * exp(spread * quantile[q] - spread * spread / 2)) / 5;
    return sum / (double)looked * (double)features;
}

/* Returns S for which cells have so many non-zeros, by bisection of its logarithm. */
static double solve_events(const double *p, uint64_t features, double mean)
{
    enum { LOOKED = 8192, STEPS = 24 };
    uint64_t step = features / LOOKED + 1;
    double low = log(mean / 2), high = log(mean * 1e4);

    for (int i = 0; i < STEPS; i++) {
        double middle = (low + high) / 2;

        if (mean_count(p, features, step, exp(middle)) < mean)
            low = middle;
        else
            high = middle;
    }
    return exp((low + high) / 2);
}

/* Fills the edges and the guide of a type from its probabilities. */
static void fill_type(struct cells *cells, uint64_t type, const double *p)
{
    uint32_t *edge = cells->edge + type * cells->features;
    uint32_t *guide = cells->guide + (type << cells->guide_bits);
    unsigned shift = 32 - cells->guide_bits;
    double sum = 0;
    uint64_t j = 0;

    for (uint64_t k = 0; k < cells->features; k++) {
        sum += p[k] * whole;
        edge[k] = sum < whole - 1 ? (uint32_t)sum : UINT32_MAX;
    }
    edge[cells->features - 1] = UINT32_MAX;
    for (uint64_t k = 0; k < UINT64_C(1) << cells->guide_bits; k++) {
        while (edge[j] <= k << shift)
            j++;
        guide[k] = (uint32_t)j;
    }
}

/* Types, whose profiles have this base. */
struct profiles {
    struct cells *cells;
    struct ny_context *ctx;
    const double *base;
};

static int make_some_types(void *arg, size_t first, size_t count)
{
    const struct profiles *profiles = arg;
    struct cells *cells = profiles->cells;
    uint64_t features = cells->features;
    double *p = ny_alloc(profiles->ctx, NY_MEM_OTHER, features * sizeof *p);

    if (!p) return NY_EBUDGET;
    for (uint64_t t = first; t < first + count; t++) {
        double sum = 0;

        for (uint64_t j = 0; j < features; j++) {
            double u = ny_hash01(cells->seed, stream_of(STREAM_FACTOR), t * features + j);

            p[j] = profiles->base[j] * profiles->base[j] * -log(u);
            sum += p[j];
        }
        for (uint64_t j = 0; j < features; j++)
            p[j] /= sum;
        fill_type(cells, t, p);
        cells->events[t] = solve_events(p, features, cells->mean);
    }
    ny_free(profiles->ctx, p);
    return NY_OK;
}

static void make_types(struct cells *cells, struct ny_context *ctx)
{
    uint64_t features = cells->features;
    double *base = tool_alloc(ctx, features, sizeof *base), shares = 0;
    struct profiles profiles = {cells, ctx, base};

    cells->guide_bits = 1;
    while (UINT64_C(1) << cells->guide_bits < features / 4)
        cells->guide_bits++;
    cells->edge = tool_alloc(ctx, cells->types * features, sizeof *cells->edge);
    cells->guide = tool_alloc(ctx, cells->types << cells->guide_bits, sizeof *cells->guide);
    cells->events = tool_alloc(ctx, cells->types, sizeof *cells->events);
    cells->share = tool_alloc(ctx, cells->types, sizeof *cells->share);
    ny_gaussian(cells->seed, stream_of(STREAM_BASE), 0, base, features);
    tool_check(ctx, ny_parallel_ranges(ctx, cells->types, make_some_types, &profiles));
    for (uint64_t t = 0; t < cells->types; t++)
        cells->share[t] = shares += 1 / sqrt((double)t + 1);
    for (uint64_t t = 0; t < cells->types; t++)
        cells->share[t] /= shares;
}

/* Fills the block with exponential numbers, two from each 64 bits of splitmix64. */
static void draw_exponentials(uint64_t *state, float *block)
{
    for (size_t i = 0; i < CELLS_BLOCK; i += 2) {
        uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        z ^= z >> 31;
        block[i] = -logf(((float)(z >> 40) + 0.5f) * 0x1p-24f);
        block[i + 1] = -logf(((float)(z & 0xffffff) + 0.5f) * 0x1p-24f);
    }
}

/* A process of events along [0, 2³²), and the next of them. */
struct events {
    uint64_t state;
    double scale, x; /* the distance that counts 1; the place of the last event */
    float block[CELLS_BLOCK];
    uint32_t at[CELLS_BLOCK], feature[CELLS_BLOCK];
};

/* Draws the next events; returns how many are left in the interval. What they need of the tables
 * is asked for before it is needed, as it is in no cache. */
static size_t next_events(struct events *events, const uint32_t *edge, const uint32_t *guide,
                          unsigned shift)
{
    size_t count = 0;

    draw_exponentials(&events->state, events->block);
    for (; count < CELLS_BLOCK; count++) {
        events->x += (double)events->block[count] * events->scale;
        if (events->x >= whole - 1) break;
        events->at[count] = (uint32_t)events->x;
        __builtin_prefetch(guide + (events->at[count] >> shift));
    }
    for (size_t i = 0; i < count; i++) {
        events->feature[i] = guide[events->at[i] >> shift];
        __builtin_prefetch(edge + events->feature[i]);
    }
    for (size_t i = 0; i < count; i++)
        while (edge[events->feature[i]] <= events->at[i])
            events->feature[i]++;
    return count;
}

/* Draws a row by its number. */
static void draw(const struct cells *cells, uint64_t number, struct cells_row *row)
{
    double g, u = ny_hash01(cells->seed, stream_of(STREAM_TYPE), number);
    struct events events = {.state = ny_hash64(cells->seed, stream_of(STREAM_EVENTS), number)};
    uint32_t last = UINT32_MAX;
    uint64_t type = 0;
    size_t kept = 0, some;

    while (type + 1 < cells->types && cells->share[type] < u)
        type++;
    ny_gaussian(cells->seed, stream_of(STREAM_SIZE), number, &g, 1);
    events.scale = whole / (cells->events[type] * exp(spread * g - spread * spread / 2));
    do {
        some = next_events(&events, cells->edge + type * cells->features,
                           cells->guide + (type << cells->guide_bits), 32 - cells->guide_bits);
        for (size_t i = 0; i < some; i++)
            if (events.feature[i] != last) {
                row->column[kept] = last = events.feature[i];
                row->count[kept++] = 1;
            } else if (!cells->binary && row->count[kept - 1] < INT16_MAX) {
                row->count[kept - 1]++;
            }
    } while (some == CELLS_BLOCK);
    row->type = type;
    row->kept = kept;
}

static int draw_some(void *arg, size_t first, size_t count)
{
    const struct cells *cells = arg;

    for (size_t i = first; i < first + count; i++)
        draw(cells, cells->first + i, &cells->rows[i]);
    return NY_OK;
}

static void make_rows(struct cells *cells, struct ny_context *ctx)
{
    uint64_t rows = CELLS_ENTRIES / cells->features;
    uint32_t *columns;
    int16_t *counts;

    cells->batch = rows < 1 ? 1 : rows < CELLS_ROWS ? rows : CELLS_ROWS;
    cells->rows = tool_alloc(ctx, cells->batch, sizeof *cells->rows);
    columns = tool_alloc(ctx, cells->batch * cells->features, sizeof *columns);
    counts = tool_alloc(ctx, cells->batch * cells->features, sizeof *counts);
    for (uint64_t i = 0; i < cells->batch; i++) {
        cells->rows[i].column = columns + i * cells->features;
        cells->rows[i].count = counts + i * cells->features;
    }
    cells->first = UINT64_MAX; /* none is drawn */
}

struct cells_row *cells_draw(struct cells *cells, struct ny_context *ctx, uint64_t row)
{
    uint64_t left = cells->cells - row;

    if (row < cells->first || row - cells->first >= cells->batch) {
        cells->first = row;
        tool_check(ctx, ny_parallel_ranges(ctx, left < cells->batch ? left : cells->batch,
                                           draw_some, cells));
    }
    return &cells->rows[row - cells->first];
}

/* Writes digits before `end`, and returns the first of them. */
static char *put_digits(char *end, uint64_t number)
{
    do
        *--end = (char)('0' + number % 10);
    while (number /= 10);
    return end;
}

static void write_text(struct cells *cells, struct ny_context *ctx, const char *path,
                       struct ny_writer *labels)
{
    enum { ENTRY = 24 }; /* bytes of " column:count", at most */
    struct ny_writer *out = tool_create(ctx, path);
    char *line = tool_alloc(ctx, cells->features + 1, ENTRY), *end;

    end = line + (cells->features + 1) * ENTRY;
    for (uint64_t row = 0; row < cells->cells; row++) {
        const struct cells_row *drawn = cells_draw(cells, ctx, row);
        char *at = end;

        *--at = '\n';
        for (size_t i = drawn->kept; i-- > 0;) {
            at = put_digits(at, (uint64_t)drawn->count[i]);
            *--at = ':';
            at = put_digits(at, (uint64_t)drawn->column[i] + 1);
            *--at = ' ';
        }
        at = put_digits(at, drawn->type);
        tool_write(out, at, (size_t)(end - at));
        if (labels) tool_print(labels, "%llu\n", (unsigned long long)drawn->type);
    }
    tool_close(out);
}

static bool ends_with(const char *path, const char *end)
{
    size_t length = strlen(path), wanted = strlen(end);

    return length > wanted && !strcmp(path + length - wanted, end);
}

static void check_options(const struct cells *cells, const char *path)
{
    if (!path) tool_fail(NY_EUSAGE, "Say where to: -o OUT (see --help).");
    if (!cells->cells || !cells->types || cells->features < 2 || cells->features > INT32_MAX)
        tool_fail(NY_EUSAGE, "--cells and --types must be positive, --features from 2 to %d.",
                  INT32_MAX);
    if (!(cells->mean >= 1 && cells->mean <= (double)cells->features / 2))
        tool_fail(NY_EUSAGE, "--mean is from 1 to half of --features.");
    if (ends_with(path, ".h5ad") && !cells_write_h5ad)
        tool_fail(NY_EUSAGE, "This cells was built without libhdf5, and writes no .h5ad: give -o "
                             "OUT.npz, or build it where data-tools/setup tools has run.");
    if (cells->types > INT32_MAX / cells->features)
        tool_fail(NY_EUSAGE, "--types times --features are at most %d.", INT32_MAX);
}

int main(int argc, char **argv)
{
    static struct cells cells = {.cells = 10000, .features = 20000, .types = 20, .mean = 1000};
    const char *path = NULL, *labels_path = NULL;
    const struct tool_option options[] = {{"-o", TOOL_TEXT, &path},
                                          {"--cells", TOOL_COUNT, &cells.cells},
                                          {"--features", TOOL_COUNT, &cells.features},
                                          {"--mean", TOOL_NUMBER, &cells.mean},
                                          {"--types", TOOL_COUNT, &cells.types},
                                          {"--seed", TOOL_COUNT, &cells.seed},
                                          {"--binary", TOOL_SWITCH, &cells.binary},
                                          {"--labels-out", TOOL_TEXT, &labels_path},
                                          {NULL, TOOL_TEXT, NULL}};
    struct ny_context *ctx;
    struct ny_writer *labels;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){NULL, 0, 0});
    check_options(&cells, path);
    tool_apart(path, labels_path);
    ctx = tool_start();
    make_types(&cells, ctx);
    make_rows(&cells, ctx);
    labels = labels_path ? tool_create(ctx, labels_path) : NULL;
    if (ends_with(path, ".npz"))
        cells_write_npz(&cells, ctx, path, labels);
    else if (ends_with(path, ".h5ad"))
        cells_write_h5ad(&cells, ctx, path, labels);
    else
        write_text(&cells, ctx, path, labels);
    if (labels) tool_close(labels);
    tool_end(ctx);
    return 0;
}
