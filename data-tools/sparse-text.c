/*
 * Documents as sparse rows: terms drawn by Zipf's law, half of them from the vocabulary of the
 * document's topic, weighted (1 + ln tf)·idf and scaled to unit length, as tf-idf tables are.
 */
#include <math.h>
#include <stdlib.h>

#include "base/random.h"
#include "tool.h"

enum { LENGTH_MAX = 65536 };

static const char usage[] =
    "sparse-text -o OUT.libsvm [-n N] [--terms D] [--length L] [--topics T] [--seed S]\n"
    "\n"
    "Writes N rows 'topic term:weight ...' of unit length. The number of words of a row has a\n"
    "lognormal distribution with mean L. Row i depends on the options and i alone.\n"
    "\n"
    "  -o OUT.libsvm   where to (- is standard output)\n"
    "  -n N            rows (10000)\n"
    "  --terms D       columns (47236)\n"
    "  --length L      words of a row on average (88: about 75 different ones)\n"
    "  --topics T      (20)\n"
    "  --seed S        (0)\n";

struct corpus {
    uint64_t terms, topics, seed;
    double length;
};

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

/* A rank from 0 with a probability ∝ 1/(rank + 1), nearly. */
static uint64_t zipf_rank(double uniform, uint64_t terms)
{
    uint64_t rank = (uint64_t)(pow((double)terms + 1, uniform) - 1);

    return rank < terms ? rank : terms - 1;
}

static size_t draw_words(const struct corpus *corpus, uint64_t row, uint64_t topic, uint32_t *words)
{
    const double spread = 0.6;
    double g;
    size_t count;

    ny_gaussian(corpus->seed, NY_STREAM_DATA + (UINT64_C(1) << 32), row, &g, 1);
    count = (size_t)(corpus->length * exp(spread * g - spread * spread / 2)) + 1;
    if (count > LENGTH_MAX) count = LENGTH_MAX;
    for (size_t i = 0; i < count; i++) {
        uint64_t number = (row * LENGTH_MAX + i) * 2;
        uint64_t rank = zipf_rank(ny_hash01(corpus->seed, NY_STREAM_DATA, number), corpus->terms);

        if (ny_hash01(corpus->seed, NY_STREAM_DATA, number + 1) < 0.5)
            rank = (rank * 7919 + topic * 104729) % corpus->terms;
        words[i] = (uint32_t)rank;
    }
    qsort(words, count, sizeof(*words), by_number);
    return count;
}

static void write_row(struct ny_writer *out, const struct corpus *corpus, uint64_t row,
                      uint32_t *words, double *weights)
{
    uint64_t topic = (uint64_t)(ny_hash01(corpus->seed, NY_STREAM_DATA + (UINT64_C(2) << 32), row) *
                                (double)corpus->topics);
    size_t count = draw_words(corpus, row, topic, words), kept = 0;
    double square = 0;

    for (size_t i = 0, run; i < count; i += run) {
        double idf = log1p((double)words[i]) + 1;

        for (run = 1; i + run < count && words[i + run] == words[i]; run++)
            continue;
        words[kept] = words[i];
        weights[kept] = (1 + log((double)run)) * idf;
        square += weights[kept] * weights[kept];
        kept++;
    }
    tool_print(out, "%llu", (unsigned long long)topic + 1);
    for (size_t i = 0; i < kept; i++)
        tool_print(out, " %u:%.5g", words[i] + 1, weights[i] / sqrt(square));
    tool_print(out, "\n");
}

int main(int argc, char **argv)
{
    struct corpus corpus = {.terms = 47236, .topics = 20, .length = 88};
    const char *path = NULL;
    uint64_t n = 10000;
    const struct tool_option options[] = {{"-o", TOOL_TEXT, &path},
                                          {"-n", TOOL_COUNT, &n},
                                          {"--terms", TOOL_COUNT, &corpus.terms},
                                          {"--length", TOOL_NUMBER, &corpus.length},
                                          {"--topics", TOOL_COUNT, &corpus.topics},
                                          {"--seed", TOOL_COUNT, &corpus.seed},
                                          {NULL, TOOL_TEXT, NULL}};
    struct ny_context *ctx;
    uint32_t *words;
    double *weights;
    struct ny_writer *out;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){NULL, 0, 0});
    if (!path) tool_fail(NY_EUSAGE, "Say where to: -o OUT.libsvm (see --help).");
    if (n == 0 || corpus.terms == 0 || corpus.terms > INT32_MAX || corpus.topics == 0 ||
        !(corpus.length > 0))
        tool_fail(NY_EUSAGE, "-n, --terms, --length and --topics must be positive.");
    ctx = tool_start();
    words = tool_alloc(ctx, LENGTH_MAX, sizeof(*words));
    weights = tool_alloc(ctx, LENGTH_MAX, sizeof(*weights));
    out = tool_create(ctx, path);
    for (uint64_t i = 0; i < n; i++)
        write_row(out, &corpus, i, words, weights);
    tool_close(out);
    tool_end(ctx);
    return 0;
}
