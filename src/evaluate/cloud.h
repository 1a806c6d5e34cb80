/*
 * The rows of an embedding as the measures take them: f32, less their mean, and divided by a power
 * of two that keeps squares in range. They are held in memory, or read again in each pass: the
 * values are the same.
 */
#ifndef NY_EVALUATE_CLOUD_H
#define NY_EVALUATE_CLOUD_H

#include "base/layout.h"
#include "stream/pass.h"

/* The source of the rows: reads rows first … first + count − 1, one after another. */
struct ny_cloud_reader {
    int (*read)(void *arg, uint64_t first, size_t count, float *out);
    void *arg;
    uint64_t n;
    size_t p;
};

struct ny_cloud {
    struct ny_source source; /* for passes, whose units look at ny_cloud_unit() and no strips */
    struct ny_cloud_reader reader;
    uint64_t n;
    size_t p;
    double *mean;
    double scale;   /* a row is (y − mean)·scale */
    double squares; /* Σ over all of them of their squared entries */
    float *held;    /* n × p; NULL: they are not */
    float *piece;   /* else the rows that were read last */
    uint64_t piece_first;
    size_t piece_count, piece_rows;
    float *units; /* workers × NY_UNIT_ROWS × p */
    struct ny_layout own;
};

/* NY_ENUMERIC where a value is not finite. */
int ny_cloud_open(struct ny_cloud *cloud, struct ny_context *ctx,
                  const struct ny_cloud_reader *reader, unsigned workers, bool hold);
/* Frees the rows; right also after a failure, and of a zeroed cloud. */
void ny_cloud_close(struct ny_cloud *cloud);
/* Lays out what ny_cloud_open() allocates for n rows of p values, held or not. */
void ny_cloud_lay(struct ny_layout *l, struct ny_cloud *cloud, unsigned workers, bool hold);

/* Rows that are asked of the reader at a time, at most. */
size_t ny_cloud_piece(size_t p);

/* Returns the rows of a tile, tile->rows × p. Called in a pass over cloud->source, once a unit, by
 * its worker. */
const float *ny_cloud_unit(const struct ny_cloud *cloud, const struct ny_tile *tile);
/* Reads some rows, listed in ascending order. */
int ny_cloud_gather(struct ny_cloud *cloud, const uint64_t *list, size_t count, float *out);
/* Lists all rows if there are no more than `count`, else those of the smallest hash; ascending. */
int ny_cloud_sample(struct ny_context *ctx, uint64_t n, size_t count, uint64_t seed,
                    uint64_t *list);
/* Counts what this holds while it runs. */
void ny_cloud_sample_count(struct ny_layout *l, size_t count);

#endif
