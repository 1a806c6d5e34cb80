/*
 * What this machine does in a second: measured once per CPU, threads and BLAS, kept in the user's
 * cache folder, used for the times of plans and for gemm_ratio. Never for results.
 */
#ifndef NY_EMBED_CALIBRATION_H
#define NY_EMBED_CALIBRATION_H

#include <jansson.h>

#include "base/context.h"

struct ny_calibration {
    char key[256]; /* CPU family, threads, BLAS */
    double gemm32; /* flop/s of C tiles and projections: all threads, one strip each */
    double gram32; /* flop/s (m² a row) of f32 tile Grams */
    double gemm64; /* flop/s of f64 products: W, the small problem */
    double gram64;
    double eigen;      /* flop/s of dsyevr on (4/3)m³ */
    double disk_write; /* bytes/s, fsync included */
    bool quick;        /* from the short measurement */
};

/* From the cache, else a short measurement (≤ 50 ms) that is not kept. */
int ny_calibration_get(struct ny_context *ctx, struct ny_calibration *calibration);
/* What the short measurement charges where `room` bytes are left. */
size_t ny_calibration_bytes(unsigned threads, size_t room);
/* Measures for about two seconds and keeps it; a cache folder that cannot be written is only noted.
 */
int ny_calibration_measure(struct ny_context *ctx, struct ny_calibration *calibration);
json_t *ny_calibration_json(const struct ny_calibration *calibration);

#endif
