/*
 * Counter-based random numbers (Philox 4×32-10, Salmon et al. 2011): a fixed function of
 * (seed, stream, index). Nothing depends on the order in which numbers are drawn, so results do
 * not depend on threads, tiles or resumption.
 */
#ifndef NY_BASE_RANDOM_H
#define NY_BASE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* One stream a purpose; the values are part of the results' definition: never renumber. */
enum ny_stream {
    NY_STREAM_LANDMARKS = 1, /* of rule uniform */
    NY_STREAM_WEIGHTED = 2,  /* of rule weighted */
    NY_STREAM_PAIRS = 3,     /* of points: the width, distances that isomap keeps */
    NY_STREAM_PROBES = 4,    /* columns of K, vectors of random signs */
    NY_STREAM_REJECTION = 5, /* of rule rpcholesky: candidates and their acceptance */
    NY_STREAM_SHUFFLE = 6,   /* order of rows */
    NY_STREAM_RANGE = 7,     /* Gaussian first vectors of eigensolvers */
    NY_STREAM_SAMPLE = 8,    /* rows that stand for all where something is only estimated */
    NY_STREAM_DATA = 9,      /* generated data sets */
    NY_STREAM_CLUSTERS = 13, /* initial centres of k-means */
    NY_STREAM_SPLITS = 14,   /* of rows into those to learn from and those to test */
    NY_STREAM_RECALL = 17,   /* rows whose neighbours are found exactly */
    NY_STREAM_CHECKS = 18,   /* candidates for check rows, which measure errors of components */
    NY_STREAM_CHOICE = 19    /* check rows among these */
};

/* Four independent 32-bit words. */
void ny_philox(uint64_t seed, uint64_t stream, uint64_t index, uint32_t out[4]);
/* Returns the first two words as one number. */
uint64_t ny_hash64(uint64_t seed, uint64_t stream, uint64_t index);
/* Uniform in the open interval (0,1), 52 bits. */
double ny_hash01(uint64_t seed, uint64_t stream, uint64_t index);
/* x[i] = standard normal number `first + i` of the stream (Box–Muller on pairs). */
void ny_gaussian(uint64_t seed, uint64_t stream, uint64_t first, double *x, size_t count);

#endif
