/*
 * Seconds of pieces of the work, with all threads: products at their measured rates, and what
 * comes beside them, which is counted in beats (ny_calibration_beats()).
 *
 * A tile costs its products, at the rate of the way in which it is computed and of its precision
 * (job/calibration.h), its exponentials where the kernel has them, and the beats in which its
 * entries are stored. Stages call these functions from their `work`, to fill in the seconds of a
 * plan.
 */
#ifndef NY_JOB_PRICES_H
#define NY_JOB_PRICES_H

#include "job/calibration.h"
#include "stream/rows.h"

struct ny_prices {
    const struct ny_calibration *rate;
    const struct ny_columns_spec *spec;
    enum ny_way way;
    bool f64;                    /* tiles are in f64 */
    double d;                    /* products that an entry takes */
    double values;               /* numbers that a row holds */
    double row_bytes, raw_bytes; /* a row as it is read, and in memory */
    double blocks;               /* blocks of the points */
    double block_rows;
};

/* Returns the prices of these points and this kernel by `rate`; `rate` and `spec` are borrowed. */
struct ny_prices ny_prices_of(const struct ny_calibration *rate, const struct ny_rows_info *points,
                              const struct ny_columns_spec *spec, bool f64);

/* Returns the seconds of so many beats of one thread, shared by all. */
double ny_price_beats(const struct ny_prices *prices, double beats);

/* The factor by which a pass over n rows takes longer with so many workers than with all threads:
 * units go to one worker each, so that a few rows keep few workers busy. */
double ny_price_share(uint64_t n, unsigned workers, unsigned threads);
/* Returns how many threads work at a time. */
unsigned ny_price_threads(unsigned threads);

/* Returns the seconds to decode and prepare the rows of a pass. */
double ny_price_rows(const struct ny_prices *prices, double rows);
/* Returns the seconds to read rows one by one, each from its block, on one of `threads` threads. */
double ny_price_gather(const struct ny_prices *prices, double rows, unsigned threads);
/* Returns the seconds of entries with products, stores and exponentials. */
double ny_price_tile(const struct ny_prices *prices, double entries);
/* Returns the seconds of CᵀC of n rows. */
double ny_price_gram(const struct ny_prices *prices, bool f64, double n, double m);
/* Returns the seconds of C times p columns, by the entries of C. */
double ny_price_map(const struct ny_prices *prices, double entries, double p);
/* Returns the seconds of W, of which one half is computed, in f64. */
double ny_price_square(const struct ny_prices *prices, double m);
/* Returns the seconds of the distances of pairs for --gamma auto, on one of `threads` threads. */
double ny_price_pairs(const struct ny_prices *prices, double pairs, unsigned threads);
/* Returns the seconds of a commit of so many bytes at the end of a stage. */
double ny_price_commit(const struct ny_prices *prices, double bytes);

#endif
