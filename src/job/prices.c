/*
 * Seconds of pieces of the work (job/prices.h), from measured rates and from constants in beats.
 *
 * The `work` functions of stages call these while a plan is made; nothing is run or measured here.
 * The constants in the functions are beats (ny_calibration_beats()). For instance, 30 beats for a
 * row and 0.7 for each of its bytes are the time to decompress dense rows and to check them.
 *
 * Results are seconds with all threads at work; ny_price_share() turns them into those of a pass
 * whose workers are fewer, or whose rows are few.
 */
#include "job/prices.h"

#include <math.h>

#include "base/cpu.h"

struct ny_prices ny_prices_of(const struct ny_calibration *rate, const struct ny_rows_info *points,
                              const struct ny_columns_spec *spec, bool f64)
{
    const double encoded = 6; /* bytes of a value of a sparse row */
    bool sparse = spec->slots != 0;
    double values = sparse ? spec->row_nnz : (double)points->d;
    double number_bytes = (double)(sizeof(uint32_t) + ny_dtype_size(points->dtype));

    return (struct ny_prices){
        .rate = rate,
        .spec = spec,
        .way = ny_way_of(spec),
        .f64 = f64,
        .d = ny_entry_products(spec),
        .values = values,
        .row_bytes = sparse ? encoded * values : values * (double)ny_dtype_size(points->dtype),
        .raw_bytes = sparse ? values * number_bytes : (double)ny_raw_bytes(spec),
        .blocks = ceil((double)ny_rows_here(points) / (double)points->block_rows),
        .block_rows = (double)points->block_rows};
}

double ny_price_beats(const struct ny_prices *prices, double beats)
{
    return ny_calibration_beats(prices->rate, beats);
}

unsigned ny_price_threads(unsigned threads)
{
    unsigned cpus = ny_cpu_count();

    return threads < cpus ? threads : cpus;
}

double ny_price_share(uint64_t n, unsigned workers, unsigned threads)
{
    uint64_t whole = n / NY_STRIP_ROWS;
    double crew = (double)ny_price_threads(workers ? workers : 1);
    double left = (double)(n % NY_STRIP_ROWS) / NY_STRIP_ROWS;
    double rounds = floor((double)whole / crew), over = (double)whole - rounds * crew;
    /* A pass takes as long as the worker with the most strips, which are shared out where units are
     * few. Example: 10 whole strips and 4 workers, on 4 CPUs, take the time of 3 strips and not of
     * 2.5, and the share is 1.2. */
    double longest = rounds + (over > 0 ? 1 : left);

    return longest * NY_STRIP_ROWS * (double)ny_price_threads(threads) / (double)n;
}

/* ---- rows ----------------------------------------------------------------------------------- */

/* Returns the beats to decompress a row and to check it. */
static double decode_beats(const struct ny_prices *prices)
{
    const double row = 30, byte = 0.7, sparse = 6;

    return row + byte * prices->row_bytes + (prices->spec->slots ? sparse * prices->values : 0);
}

double ny_price_rows(const struct ny_prices *prices, double rows)
{
    const double row = 40, value = 1, byte = 0.15;
    double prepare = row + prices->values * (prices->way == NY_WAY_BYTES ? byte : value);

    if (prices->way == NY_WAY_GIVEN) prepare = row;
    return ny_price_beats(prices, rows * (decode_beats(prices) + prepare));
}

double ny_price_gather(const struct ny_prices *prices, double rows, unsigned threads)
{
    const double row = 150, byte = 0.5;
    double blocks = prices->blocks * (1 - exp(-rows / fmax(prices->blocks, 1)));
    double beats = blocks * prices->block_rows * decode_beats(prices) +
                   rows * (row + byte * prices->raw_bytes);

    return ny_price_beats(prices, beats) * ny_price_threads(threads);
}

/* ---- entries -------------------------------------------------------------------------------- */

/* Blocks of exact values are small and are loaded again and again: about half the rate of large
 * products is left, and less where a block of landmarks is not in the cache. */
static double exact_products_s(const struct ny_prices *prices, double entries)
{
    const double efficiency = 0.5, direct_efficiency = 0.5, cached = 2000, byte_beats = 0.03;
    double flops = 2 * entries * prices->d;
    enum ny_base_quantity base = prices->spec->kernel->base;

    if (base == NY_BASE_ABSOLUTE || prices->d <= 16)
        return flops / (direct_efficiency * prices->rate->direct);
    return flops / (efficiency * prices->rate->gemm64) +
           ny_price_beats(prices, entries * byte_beats * fmax(0, prices->d - cached));
}

/* Returns how many columns two sparse rows have in common. Columns are not used alike: in counts of
 * words and of peaks, rows meet 3 to 16 times as often as if they were. */
static double common_values(const struct ny_prices *prices)
{
    const double often = 8;
    double share = often * prices->d / (double)prices->spec->geometry->d;

    return prices->d * fmin(share, 1);
}

/* Returns the seconds of the products of so many entries of C. */
static double products_s(const struct ny_prices *prices, double entries)
{
    const double start = 1, each = 1; /* sums of sparse rows go everywhere, one at a time */

    switch (prices->way) {
    case NY_WAY_GIVEN:
        return 0;
    case NY_WAY_SPARSE:
        return ny_price_beats(prices, entries * (start + each * common_values(prices)));
    default:
        return prices->f64 ? exact_products_s(prices, entries)
                           : 2 * entries * prices->d /
                                 ny_calibration_tile(prices->rate, prices->way, false);
    }
}

double ny_price_tile(const struct ny_prices *prices, double entries)
{
    const double store32 = 0.6, store64 = 3;
    double exponentials = prices->f64 ? prices->rate->exp64 : prices->rate->exp32;

    return products_s(prices, entries) +
           ny_price_beats(prices, entries * (prices->f64 ? store64 : store32)) +
           (prices->spec->kernel->can_minus_one ? entries / exponentials : 0);
}

double ny_price_gram(const struct ny_prices *prices, bool f64, double n, double m)
{
    return n * m * m / (f64 ? prices->rate->gram64 : prices->rate->gram32);
}

double ny_price_map(const struct ny_prices *prices, double entries, double p)
{
    const double narrow = 16; /* reading C takes as long as a product with so many columns */

    return 2 * entries * fmax(p, narrow) /
           (prices->f64 ? prices->rate->gemm64 : prices->rate->gemm32);
}

double ny_price_square(const struct ny_prices *prices, double m)
{
    struct ny_prices exact = *prices;

    exact.f64 = true;
    return ny_price_tile(&exact, m * m / 2);
}

double ny_price_pairs(const struct ny_prices *prices, double pairs, unsigned threads)
{
    const double value = 2.2, sparse = 15;
    double each = prices->values * (prices->spec->slots ? sparse : value);

    return ny_price_gather(prices, 2 * pairs, threads) +
           ny_price_beats(prices, pairs * each) * ny_price_threads(threads);
}

double ny_price_commit(const struct ny_prices *prices, double bytes)
{
    const double sync_s = 0.012;

    return sync_s + bytes / prices->rate->disk_write;
}
