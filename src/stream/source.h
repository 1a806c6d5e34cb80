/* The source of the rows of a pass, and the tile: one unit of them in a worker's hands. */
#ifndef NY_STREAM_SOURCE_H
#define NY_STREAM_SOURCE_H

#include "base/borrowed.h"
#include "base/context.h"
#include "base/dtype.h"
#include "base/prepare.h"
#include "base/sparse.h"

/* Every BLAS call of a pass has the shape of a unit or of a strip, padded with zero rows: another
 * height would give other bits. A strip of C is small enough to be still in cache after its GEMM.
 */
enum { NY_UNIT_ROWS = 2048, NY_STRIP_ROWS = 512 };

/* Returns how many units hold so many rows. */
static inline uint64_t ny_units_of(uint64_t rows)
{
    return (rows + NY_UNIT_ROWS - 1) / NY_UNIT_ROWS;
}

struct ny_source;
struct ny_sharing;

struct ny_tile {
    struct ny_source *source;
    uint64_t unit, first_row;
    size_t rows; /* NY_UNIT_ROWS but in the last unit */
    unsigned worker;
    bool skipped; /* no strip of it will be asked for */
    struct ny_sharing *sharing;  /* of the pass, whose workers may help (stream/share.h), or NULL */
    const struct ny_tile *whole; /* another worker's, of which this is a view; NULL: it is none */
};

/* Takes one row, which is there until it returns; NY_END: no more are wanted. */
typedef int ny_sparse_row_fn(void *arg, struct ny_sparse row);

/* The contract of a source. */
struct ny_source_ops {
    /* Called in unit order, never two at a time: fills tile->rows for tile->unit and prepares what
     * its strips need; NY_END after the last unit. */
    int (*take)(struct ny_source *source, struct ny_tile *tile);
    /* Rows first … first+count−1 of the tile (0-based in it), one after another: dense, or records
     * of the source's slots.
     * Called by the tile's worker in ascending order of first, or by others through views of it. */
    int (*strip)(struct ny_source *source, const struct ny_tile *tile, size_t first, size_t count,
                 void *rows);
    void (*free)(struct ny_source *source);
    /* Shows the sparse rows of the tile from row `first` on, where they lie in the source, until
     * row() is not NY_OK; NY_END of it ends the visit without an error. NULL: rows come by strip
     * alone. Called as strip is. */
    int (*visit)(struct ny_source *source, const struct ny_tile *tile, size_t first,
                 ny_sparse_row_fn *row, void *arg);
};

/* The part that every source starts with. */
struct ny_source {
    const struct ny_source_ops *ops;
    struct ny_context *ctx;
    enum ny_dtype dtype;
    size_t d;
    size_t slots;                /* rows are records with so many (base/sparse.h); 0: dense */
    uint64_t n;                  /* rows in all; 0: not known before the end */
    double stored_bytes_per_row; /* read from disk, for the progress */
};

/* Reads rows first … first+count−1 of the tile (0-based in it) to `rows`; errors are those of the
 * source. */
static inline int ny_tile_strip(const struct ny_tile *tile, size_t first, size_t count, void *rows)
{
    return tile->source->ops->strip(tile->source, tile, first, count, rows);
}

/* Frees a source; NULL is allowed. */
static inline void ny_source_free(struct ny_source *source)
{
    if (source) source->ops->free(source);
}

/* Returns the rows that a unit's buffer of a source of a file has room for, where at most n come
 * (0: that is not known): one more than these, as the end is known where a next row is asked for.
 */
static inline size_t ny_source_unit_rows(uint64_t n)
{
    return n && n < NY_UNIT_ROWS ? (size_t)n + 1 : NY_UNIT_ROWS;
}

/* In place of a number of rows that only their end tells. */
#define NY_ROWS_UNKNOWN UINT64_MAX
/* Raw rows: dense, or sparse of at most so many slots. */
struct ny_raw_shape {
    enum ny_dtype dtype;
    uint64_t n;
    size_t d, slots;
};

/* Rows in memory as a caller keeps them, to whom all of it belongs, and who leaves it as it is.
 * Sparse rows are in order: row_start rises, and so do the columns of a row, which are below d; no
 * value is 0; and each array lies where its type may, while dense rows may lie anywhere. */
struct ny_kept_rows {
    enum ny_dtype dtype;
    uint64_t n;
    size_t d;
    struct ny_borrowed_rows values; /* dense: ny_borrowed_of(); sparse: of all rows, one after
                                     * another */
    size_t row_bytes;               /* dense: from one row to the next; 0: rows without gaps */
    const void *row_start;          /* sparse: n + 1 integers, row i has entries row_start[i] to
                                     * row_start[i + 1] − 1; NULL: the rows are dense */
    const void *column;             /* sparse: that of each entry */
    unsigned index_bytes;           /* 4 or 8, of an integer of column */
    unsigned start_bytes;           /* and of row_start */
    struct ny_prepared how;         /* done to rows as they are handed out */
};
/* Returns the first entry of row i of sparse rows, or, of i = n, the end of all. */
uint64_t ny_kept_start(const struct ny_kept_rows *rows, uint64_t i);
/* Gives pages of rows first … end − 1 back to the system, which have been read, where `values` says
 * that they are shared: of sparse rows those of all three arrays then are. */
void ny_kept_done(const struct ny_kept_rows *rows, uint64_t first, uint64_t end);
/* Dense rows, copied as they are handed out. Pages of a mapped file are asked for ahead, and given
 * back when they have been read; NY_EIO where it was cut short. */
int ny_source_of_kept(struct ny_source **out, struct ny_context *ctx,
                      const struct ny_kept_rows *rows);
/* Sparse rows; its visit() shows them where they are, unless that takes other values (rows that are
 * prepared) or column numbers (of 8 bytes). These take ny_kept_room() bytes a worker, under
 * NY_MEM_STORE. */
int ny_source_of_kept_csr(struct ny_source **out, struct ny_context *ctx,
                          const struct ny_kept_rows *rows, size_t slots, unsigned workers);
size_t ny_kept_room(const struct ny_kept_rows *rows, size_t slots);

/* Rows in memory, which must stay valid. */
int ny_source_of_memory(struct ny_source **out, struct ny_context *ctx, const void *rows,
                        enum ny_dtype dtype, uint64_t n, size_t d);
/* They are handed out as records of so many slots, which they are already, or are made from dense
 * rows. */
void ny_source_of_memory_slots(struct ny_source *source, size_t slots, bool dense);

/* Raw rows in memory, which must stay valid, handed out as they are. */
int ny_source_of_raw(struct ny_source **out, struct ny_context *ctx, struct ny_raw_rows rows,
                     const struct ny_raw_shape *shape);

/* The rows of `points` in a type that holds them exactly, f32 or f64, or in their own; `workers`
 * read at a time. Takes `points` over, whatever happens. Memory: workers × one strip. */
int ny_source_widen(struct ny_source **out, struct ny_source *points, enum ny_dtype dtype,
                    unsigned workers);

#endif
