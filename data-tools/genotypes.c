/*
 * A cohort of genotypes whose populations are known, as PLINK 1 binary files, so that components of
 * genotypes can be judged and timed at any size. Populations have the allele frequencies of Balding
 * and Nichols (1995): of an ancestral frequency p, each draws Beta(p(1−F)/F, (1−p)(1−F)/F).
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "io/writer.h"
#include "tool.h"

static const char usage[] =
    "genotypes -o PREFIX [--samples N] [--first I] [--variants D] [--populations K] [--fst F]\n"
    "          [--seed S]\n"
    "\n"
    "Writes PREFIX.bed, .bim and .fam: N samples at D variants in linkage equilibrium. Sample i\n"
    "is of population i mod K, whose name, P0 to PK-1, stands in the sixth column of the .fam\n"
    "file. The same options make the same files, whatever the number of threads.\n"
    "\n"
    "  -o PREFIX           where to\n"
    "  --samples N         (1000)\n"
    "  --first I           number of the first of them, from 0: further samples of the cohort\n"
    "                      of the same seed (0)\n"
    "  --variants D        (10000)\n"
    "  --populations K     (4)\n"
    "  --fst F             how far apart the populations are (0.05)\n"
    "  --missing SHARE     of genotypes that are missing (0.01)\n"
    "  --admixed SHARE     of samples with each allele from one of two populations, in shares\n"
    "                      that are uniform from 0 to 1; the .fam file calls them MIXED (0)\n"
    "  --seed S            (0)\n";

enum { POPULATIONS_MAX = 64, CODES = 4 };
static const double rarest = 0.05; /* ancestral frequency */

struct cohort {
    uint64_t samples, first, variants, populations, seed;
    double fst, missing, admixed;
    double *share; /* of the first of a sample's two populations; 1 of those that are not admixed */
};

/* Streams of random numbers. */
enum { FREQUENCIES, MIXTURES, GENOTYPES };

/* A generator of its own for each variant (xorshift64*), seeded by a hash. */
static uint64_t next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545f4914f6cdd1d);
}

static double uniform(uint64_t *state)
{
    return ((double)(next(state) >> 11) + 0.5) * 0x1p-53;
}

static uint64_t begin_at(const struct cohort *cohort, int stream, uint64_t index)
{
    double hash = ny_hash01(cohort->seed, NY_STREAM_DATA + ((uint64_t)stream << 32), index);

    return 1 + (uint64_t)(hash * 0x1p62);
}

static double gaussian(uint64_t *state)
{
    const double turn = 6.283185307179586;
    double radius = sqrt(-2 * log(uniform(state)));

    return radius * cos(turn * uniform(state));
}

/* A number of the gamma distribution (Marsaglia and Tsang 2000). */
static double gamma_of(uint64_t *state, double shape)
{
    double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3, c = 1 / sqrt(9 * d), v, x;

    do {
        x = gaussian(state);
        v = pow(1 + c * x, 3);
    } while (v <= 0 || log(uniform(state)) >= 0.5 * x * x + d * (1 - v + log(v)));
    return shape < 1 ? d * v * pow(uniform(state), 1 / shape) : d * v;
}

/* Draws the frequencies of a variant in all populations. */
static void draw_frequencies(const struct cohort *cohort, uint64_t variant, double *frequency)
{
    uint64_t state = begin_at(cohort, FREQUENCIES, variant);
    double p = rarest + (1 - 2 * rarest) * uniform(&state);
    double spread = (1 - cohort->fst) / cohort->fst;

    for (uint64_t k = 0; k < cohort->populations; k++) {
        double a = gamma_of(&state, p * spread), b = gamma_of(&state, (1 - p) * spread);

        frequency[k] = cohort->fst > 0 ? a / (a + b) : p;
    }
}

/* Draws the share of the first population of each sample. */
static void draw_shares(struct cohort *cohort)
{
    for (uint64_t i = 0; i < cohort->samples; i++) {
        uint64_t state = begin_at(cohort, MIXTURES, cohort->first + i);

        cohort->share[i] = uniform(&state) < cohort->admixed ? uniform(&state) : 1;
    }
}

/* One allele of 16 random bits. */
static unsigned allele(uint64_t bits, double frequency)
{
    return (double)(bits & 0xffff) < frequency * 0x1p16;
}

/* Draws the genotypes of a variant in the codes of PLINK: 0 two of the first allele, 1 missing, 2
 * one, 3 none. */
static void draw_record(const struct cohort *cohort, uint64_t variant, unsigned char *record)
{
    static const unsigned char code[] = {3, 2, 0};
    uint64_t state = begin_at(cohort, GENOTYPES, variant), K = cohort->populations;
    double frequency[POPULATIONS_MAX];

    draw_frequencies(cohort, variant, frequency);
    for (uint64_t i = 0; i < cohort->first; i++)
        next(&state);
    memset(record, 0, (size_t)(cohort->samples + CODES - 1) / CODES);
    for (uint64_t i = 0; i < cohort->samples; i++) {
        uint64_t sample = cohort->first + i;
        double own = frequency[sample % K], p = own, share = cohort->share[i];
        uint64_t bits = next(&state);
        unsigned count;

        if (share < 1) p = share * own + (1 - share) * frequency[(sample + 1) % K];
        count = allele(bits, p) + allele(bits >> 16, p);
        record[i / CODES] |=
            (unsigned char)(((double)(bits >> 32) < cohort->missing * 0x1p32 ? 1 : code[count])
                            << 2 * (i % CODES));
    }
}

static void write_bed(struct ny_context *ctx, const struct cohort *cohort, const char *path)
{
    static const char magic[] = {0x6c, 0x1b, 1};
    size_t bytes = (size_t)(cohort->samples + CODES - 1) / CODES;
    unsigned char *record = tool_alloc(ctx, bytes, 1);
    struct ny_writer *out = tool_create(ctx, path);

    tool_write(out, magic, sizeof(magic));
    for (uint64_t j = 0; j < cohort->variants; j++) {
        draw_record(cohort, j, record);
        tool_write(out, record, bytes);
    }
    tool_close(out);
}

/* Alleles are A and G, or A and T at every hundredth variant, which the other strand has, too. */
static void write_bim(struct ny_context *ctx, const struct cohort *cohort, const char *path)
{
    struct ny_writer *out = tool_create(ctx, path);

    for (uint64_t j = 0; j < cohort->variants; j++) {
        const char *other = j % 100 == 99 ? "T" : "G";

        tool_print(out, "%u\trs%llu\t0\t%llu\tA\t%s\n", (unsigned)(1 + j * 22 / cohort->variants),
                   (unsigned long long)j, (unsigned long long)(1000 * (j + 1)), other);
    }
    tool_close(out);
}

static void write_fam(struct ny_context *ctx, const struct cohort *cohort, const char *path)
{
    struct ny_writer *out = tool_create(ctx, path);

    for (uint64_t i = 0; i < cohort->samples; i++) {
        unsigned long long sample = cohort->first + i;

        tool_print(out, "F%llu\tS%llu\t0\t0\t%u\t", sample, sample, (unsigned)(1 + sample % 2));
        if (cohort->share[i] < 1)
            tool_print(out, "MIXED\n");
        else
            tool_print(out, "P%llu\n", sample % cohort->populations);
    }
    tool_close(out);
}

/* Checks what the options ask for. */
static void check(const struct cohort *cohort, const char *prefix)
{
    if (!prefix) tool_fail(NY_EUSAGE, "where to? give -o PREFIX");
    if (!cohort->samples || !cohort->variants)
        tool_fail(NY_EUSAGE, "--samples and --variants are 1 at least");
    if (!cohort->populations || cohort->populations > POPULATIONS_MAX)
        tool_fail(NY_EUSAGE, "--populations are 1 to %d", POPULATIONS_MAX);
    if (!(cohort->fst >= 0 && cohort->fst < 1)) tool_fail(NY_EUSAGE, "--fst is from 0 to below 1");
}

int main(int argc, char **argv)
{
    static const char *const endings[] = {".bed", ".bim", ".fam"};
    static void (*const writers[])(struct ny_context *, const struct cohort *,
                                   const char *) = {write_bed, write_bim, write_fam};
    struct cohort cohort = {1000, 0, 10000, 4, 0, 0.05, 0.01, 0, NULL};
    const char *prefix = NULL;
    const struct tool_option options[] = {{"-o", TOOL_TEXT, &prefix},
                                          {"--samples", TOOL_COUNT, &cohort.samples},
                                          {"--first", TOOL_COUNT, &cohort.first},
                                          {"--variants", TOOL_COUNT, &cohort.variants},
                                          {"--populations", TOOL_COUNT, &cohort.populations},
                                          {"--fst", TOOL_NUMBER, &cohort.fst},
                                          {"--missing", TOOL_NUMBER, &cohort.missing},
                                          {"--admixed", TOOL_NUMBER, &cohort.admixed},
                                          {"--seed", TOOL_COUNT, &cohort.seed},
                                          {NULL, TOOL_TEXT, NULL}};
    struct ny_context *ctx;
    char path[4096];

    tool_arguments(argc, argv, usage, options, (struct tool_positional){NULL, 0, 0});
    check(&cohort, prefix);
    ctx = tool_start();
    cohort.share = tool_alloc(ctx, (size_t)cohort.samples, sizeof(double));
    draw_shares(&cohort);
    for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
        if ((size_t)snprintf(path, sizeof(path), "%s%s", prefix, endings[i]) >= sizeof(path))
            tool_fail(NY_EUSAGE, "-o: the name is too long");
        writers[i](ctx, &cohort, path);
    }
    tool_end(ctx);
    return 0;
}
