/*
 * The sizes that a fit is planned by: its settings, points and landmarks. Each stage tells by them
 * what it holds; pieces that several stages hold are here.
 */
#ifndef NY_FIT_SIZES_H
#define NY_FIT_SIZES_H

#include "spectral/krylov.h"
#include "model/degrees.h"
#include "columns/tiles.h"
#include "fit/earlier.h"
#include "fit/settings.h"
#include "job/stage.h"

struct ny_look; /* fit/timing.h */

struct ny_sizes {
    struct ny_job_sizes job;
    const struct ny_fit_settings *settings;
    const struct ny_rows_info *points;
    struct ny_columns_spec spec;
    size_t m;
    enum ny_gram_precision gram; /* precision of tile Grams: F64 as long as W is not known */
    size_t blas_bytes;           /* bytes that BLAS keeps from earlier stages */
    const struct ny_look *look;  /* forecast from a sample of the rows, when seconds are planned */
};

/* Returns the sizes that begin with these. */
static inline const struct ny_sizes *ny_sizes_of(const struct ny_job_sizes *job)
{
    return (const struct ny_sizes *)job;
}

/* Returns the bytes of an entry of a tile: 4, or 8 where the fit is in f64. */
size_t ny_sizes_element(const struct ny_sizes *f);
/* Returns the bytes of a row of the points in memory. */
size_t ny_sizes_row(const struct ny_sizes *f);
/* Returns the bytes of the store while `rows` rows are gathered: a block in memory, one in the map.
 */
size_t ny_sizes_gather(const struct ny_sizes *f, size_t rows);
/* Returns the bytes that OpenBLAS keeps of its buffers with so many workers, or of stages
 * before, where that is more. */
size_t ny_sizes_blas(const struct ny_sizes *f, unsigned workers);
/* Returns the bytes of `count` arrays of one f64 for each column of the points. */
size_t ny_sizes_arrays(const struct ny_sizes *f, size_t count);
/* Counts what all stages hold: the process, BLAS, decoders and the geometry. */
void ny_sizes_common(struct ny_layout *l, const struct ny_sizes *f, unsigned workers,
                     unsigned readers);
/* Counts the source of a pass over the points; for given columns, with the reader's buffers. */
void ny_sizes_source(struct ny_layout *l, const struct ny_sizes *f, unsigned workers);
/* Counts the workers' room for exact values, which f64 tiles consist of; none in f32. */
void ny_sizes_exact(struct ny_layout *l, const struct ny_sizes *f, unsigned workers);
/* Counts an update's list of new landmarks and the landmarks before it. */
void ny_sizes_earlier(struct ny_layout *l, const struct ny_sizes *f);
/* Bytes that pass 1 saves when W is dropped and computed again for stage solve. */
size_t ny_sizes_spare(const struct ny_sizes *f);
/* Counts landmarks and the shift, which all stages between select and project hold, and W. */
void ny_sizes_landmarks(struct ny_layout *l, const struct ny_sizes *f, bool with_W);
/* The sums of a worker over one unit. */
struct ny_sums_share {
    struct ny_partial *sums;
    struct ny_joined_partial *joined;   /* in its place, where columns joined */
    struct ny_krylov_partial *products; /* where the pass makes products */
};

/* Each array has one place for each worker. */
struct ny_sums_room {
    struct ny_tiles tiles;
    struct ny_sums_share *share;
    double *roots;                     /* NY_UNIT_ROWS each; divided: d_i^-½ */
    struct ny_unreached_rows *of_tile; /* those of the last tile */
};

/* The shape of a room: its m columns and tiles, and which sums there are. */
struct ny_sums_shape {
    const struct ny_columns_spec *spec;
    size_t m;
    enum ny_precision precision;
    enum ny_gram_precision gram;
    bool joins; /* only columns that joined are summed, so many: */
    size_t joined;
    size_t width; /* columns of a product; 0: there is none */
    unsigned workers;
};

/* Lays out a room. */
void ny_sums_lay(struct ny_layout *l, struct ny_sums_room *room, const struct ny_sums_shape *shape);

/* Counts what a pass that sums up holds: its tiles and the workers' shares, of a shape that has the
 * kind of the sums and the workers. */
void ny_sizes_sums(struct ny_layout *l, const struct ny_sizes *f, const struct ny_sums_shape *of);
/* Counts the small problem beyond W and the accumulator. */
void ny_problem_count(struct ny_layout *l, const struct ny_sizes *f);

/* Counts what ny_fit_prepare() holds: landmarks are gathered, then compared with one another, then
 * looked at. */
void ny_prepare_count(struct ny_layout *l, const struct ny_sizes *f, unsigned workers);

#endif
