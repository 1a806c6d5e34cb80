/*
 * The operations that this machine does in a second, measured once per CPU, threads and BLAS, kept
 * in the user's cache folder, used for the times of plans and for gemm_ratio. Never for results.
 *
 * A tile can be computed in several ways (enum ny_way), and their rates differ by far. So the
 * measurement times, besides general products and Grams in f32 and f64, the products of bytes, the
 * sums of differences and the exponentials. Plans (job/prices.h) and gemm_ratio then use the rate
 * of the way and of the precision that the job has. For instance, ny_calibration_tile() returns
 * the rate `bytes` for rows of bytes in f32 tiles, and `gemm64` for the same rows in f64.
 *
 * All kinds are timed in two rounds, since some runs are few and one pause would spoil them.
 * Before rates that were kept are used, a short look at products and Grams in f32 tells which
 * share of them a busy machine has to give. Where there is no memory to measure, or the work is
 * shorter than a measurement, constants for one thread serve as a guess.
 */
#ifndef NY_JOB_CALIBRATION_H
#define NY_JOB_CALIBRATION_H

#include <jansson.h>

#include "columns/columns.h"

struct ny_calibration {
    char key[256]; /* CPU family, threads, BLAS */
    bool guessed;  /* not measured: the work is shorter than a measurement, or memory is short */
    double gemm32; /* flop/s of C tiles and projections: all threads, one strip each */
    double gram32; /* flop/s (m² a row) of f32 tile Grams */
    double gemm64; /* flop/s of f64 products: W, the small problem */
    double gram64;
    double bytes, direct; /* flop/s (2d an entry) of tiles by NY_WAY_BYTES and NY_WAY_DIRECT */
    double exp32, exp64;  /* exponentials/s in tiles, and of exact values */
    double date, load; /* when they were measured, seconds since 1970; how many threads wanted each
                        * CPU then, others' included. NaN: not known */
    double now; /* share of the kept rates that a busy machine has to give, which these are */
    double eigen;      /* flop/s of dsyevr on (4/3)m³ */
    double disk_write; /* bytes/s, fsync included */
};

/* Gets the rates for work of about so many flop: those kept, or the share of them that a busy
 * machine has to give, as a short look (≤ 50 ms) tells. If it was busy when they were measured, or
 * none were kept, measures shortly and does not keep that. Work that takes hardly longer than that
 * gets the rates that were kept, or a guess. `patient`: a look that disagrees is repeated. At most
 * `workers` threads look, those of the work to come, so that BLAS has no buffers that the work does
 * not pay for; their rates are scaled to all threads. */
int ny_calibration_get(struct ny_context *ctx, double flops, bool patient, unsigned workers,
                       struct ny_calibration *calibration);
/* Bytes that the short measurement charges where `room` bytes are left. */
size_t ny_calibration_bytes(unsigned workers, size_t room);
/* Measures for about two seconds, on a busy machine for more of them, and keeps it, unless the
 * budget leaves threads out of it; a cache folder that cannot be written is only noted. */
int ny_calibration_measure(struct ny_context *ctx, struct ny_calibration *calibration);
/* Returns the flop/s of a tile before its exponentials, by its way and its precision. */
double ny_calibration_tile(const struct ny_calibration *calibration, enum ny_way way, bool f64);
/* Returns the rates as a new JSON object: for plans, and for the file in the cache folder. */
json_t *ny_calibration_json(const struct ny_calibration *calibration);

#endif
