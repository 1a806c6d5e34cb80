/*
 * The operations that this machine does in a second, for the times of plans and for gemm_ratio.
 * Never for results.
 *
 * A tile can be computed in several ways (enum ny_way), and their rates differ by far. Measured are
 * products in f32, products of bytes, the exponentials of tiles and a small eigenproblem, when a
 * plan is made; the rates of f64, of Grams and of sums of differences follow from these. Plans
 * (job/prices.h) and gemm_ratio then use the rate of the way and of the precision that the job has.
 * For instance, ny_calibration_tile() returns the rate `bytes` for rows of bytes in f32 tiles, and
 * `gemm64` for the same rows in f64.
 *
 * Constants for one thread are a guess where there is no memory to measure, or the work is hardly
 * longer than a measurement.
 */
#ifndef NY_JOB_CALIBRATION_H
#define NY_JOB_CALIBRATION_H

#include "columns/columns.h"

struct ny_calibration {
    char key[256];  /* CPU family, threads, BLAS */
    bool guessed;   /* not measured: the work is shorter than a measurement, or memory is short */
    double threads; /* that work at a time: rates are those of all of them */
    double gemm32;  /* flop/s of C tiles and projections: all threads, one strip each */
    double gram32;  /* flop/s (m² a row) of f32 tile Grams */
    double gemm64;  /* flop/s of f64 products: W, the small problem */
    double gram64;
    double bytes, direct; /* flop/s (2d an entry) of tiles by NY_WAY_BYTES and NY_WAY_DIRECT */
    double exp32, exp64;  /* exponentials/s in tiles, and of exact values */
    double date, load; /* when they were measured, seconds since 1970; how many threads wanted each
                        * CPU then, others' included. NaN: not known */
    double eigen;      /* flop/s of dsyevr on (4/3)m³ */
    double disk_write; /* bytes/s, fsync included */
};

/* Measures the rates shortly (some 50 ms), or guesses them for work of few flop. At most `workers`
 * threads measure, those of the work to come, so that BLAS has no buffers that the work does not
 * pay for; their rates are scaled to all threads. */
int ny_calibration_get(struct ny_context *ctx, double flops, unsigned workers,
                       struct ny_calibration *calibration);
/* Counts what the short measurement holds where `room` bytes are left. */
void ny_calibration_count(struct ny_layout *l, unsigned workers, size_t room);
/* Measures for about a second, and the disk, too. */
int ny_calibration_measure(struct ny_context *ctx, struct ny_calibration *calibration);
/* Returns the flop/s of a tile before its exponentials, by its way and its precision. */
double ny_calibration_tile(const struct ny_calibration *calibration, enum ny_way way, bool f64);
/* Returns the seconds of so many beats of one thread, shared by all. A beat is a nanosecond of the
 * machine on which constants of plans were found, whose threads did 3.27·10⁹ exponentials of f32
 * tiles a second each; on another it is as long as an exponential says. */
double ny_calibration_beats(const struct ny_calibration *calibration, double beats);
/* Returns the seconds of beats while the other threads wait. */
double ny_calibration_alone(const struct ny_calibration *calibration, double beats);

#endif
