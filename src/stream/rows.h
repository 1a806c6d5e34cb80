/*
 * The rows of a computation, X: what it may ask of them, wherever they are. This is the only way
 * from the engine to its data: nothing below fit/ knows of a store, a file or a process.
 *
 * Rows are numbered 0 … n−1, without those that were lost. Where peers hold shards of one set
 * (base/peers.h), info, statistics, gather, visit and complete are of all rows of all shards, and
 * all peers make these calls together; source and read are of the rows here, numbered from 0.
 * Errors are told in rows->ctx. All calls but `raw` may come from several threads.
 *
 * There may be no rows behind them yet, for a plan: calls that read rows then return NY_END, and
 * tell nothing. A plan does without what it would have read.
 *
 * Implementations: store/rows.c (a store, or a set of shards), stream/rows_memory.c (rows in the
 * memory of a caller), store/shape.c (the shape of rows that are not there yet).
 */
#ifndef NY_STREAM_ROWS_H
#define NY_STREAM_ROWS_H

#include "base/context.h"
#include "base/dtype.h"
#include "base/layout.h"
#include "base/lengths.h"
#include "base/prepare.h"
#include "base/sparse.h"
#include "stream/statistics.h"

/* Rows first … end − 1. */
struct ny_row_range {
    uint64_t first, end;
};

/* Returns the range that holds a row, of `count` ranges that begin with the rows first[k]. */
static inline size_t ny_range_of(const uint64_t *first, size_t count, uint64_t row)
{
    size_t low = 0, high = count;

    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;

        if (first[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Returns the number that a row of a fit over shards has now: another one than then where a shard
 * before its own has grown. `then` and `now` count the rows before each shard. */
static inline uint64_t ny_row_now(const uint64_t *then, const uint64_t *now, size_t shards,
                                  uint64_t row)
{
    size_t k = ny_range_of(then, shards, row);

    return now[k] + (row - then[k]);
}

/* Facts of the rows, which a computation asks for before it reads any. */
struct ny_rows_info {
    uint64_t n, d;
    struct ny_row_range here; /* the rows, among the n, that are here: all, unless these are a shard
                               * of a larger set (base/peers.h) */
    bool aligned;             /* each shard but the last has a multiple of NY_UNIT_ROWS rows */
    uint64_t lost;            /* rows that cannot be read; they count in n, unless skipped */
    enum ny_dtype dtype; /* type of the rows that are read: f32 or f64 where they are prepared */
    enum ny_dtype stored_dtype;
    struct ny_prepared preparation; /* done to rows as they are read */
    enum ny_row_layout layout;
    uint64_t nnz;                     /* values that are kept: of dense rows all */
    uint64_t row_slots;               /* sparse: values of the fullest row, at least 1; dense: 0 */
    uint64_t unit_values;             /* sparse: of a unit of rows, at most; 0: not known */
    struct ny_lengths lengths;        /* sparse: bounds of the values of any rows */
    uint64_t block_rows;              /* that are read together; a power of two */
    uint64_t kept_bytes;              /* that a pass over the rows here reads, as they are kept */
    size_t block_bytes;               /* that a block takes while it is read, */
    size_t reader_bytes;              /* that each thread which reads keeps beside it, and */
    size_t gather_bytes, stats_bytes; /* that these calls charge beside it */
};

/* Returns how many of the rows are here. */
static inline uint64_t ny_rows_here(const struct ny_rows_info *info)
{
    return info->here.end - info->here.first;
}

/* Column statistics over all rows, gathered during import; arrays of d, owned by the caller's
 * struct and freed by _release. */
struct ny_rows_stats {
    uint64_t n, d;
    double *mean, *minimum, *maximum, *variance; /* variance: population, 1/n */
    double *missing; /* genotypes: how many are missing, where a pass has counted; else NULL */
    double mean_square_norm; /* of the rows as they are, not centred */
    double mean_norm; /* of ‖x‖; NaN where rows came in before it was kept (version 1.0) */
};

/* Takes the sparse row at a position of a list, which is there until it returns. */
typedef int ny_gathered_fn(void *arg, size_t position, struct ny_sparse row);

/* Bytes that the words of a column take. */
enum { NY_COLUMN_WORDS_BYTES = 128 };

struct ny_rows;
struct ny_source;

/* `slots`: 0 of dense rows; of sparse ones those of a record (base/sparse.h), info->row_slots. */
struct ny_rows_ops {
    /* The rows as of now; n = 0: there are none. Cheap. */
    int (*info)(struct ny_rows *X, struct ny_rows_info *info);
    /* Statistics of all columns; ny_rows_stats_release() them. */
    int (*stats)(struct ny_rows *X, struct ny_rows_stats *stats);
    /* How messages call a column: "column 'age'", or "column 3 of the store (from 0)". */
    int (*column_words)(struct ny_rows *X, uint64_t column, char words[NY_COLUMN_WORDS_BYTES]);
    /* The first n rows, as of a job's start, or those of them that are here, for a pass of so many
     * workers. Memory: ny_rows_source_count(), under NY_MEM_STORE. */
    int (*source)(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                  struct ny_source **out);
    /* Rows first … first+count−1 of those here, one after another, of type info->dtype. */
    int (*read)(struct ny_rows *X, size_t slots, uint64_t first, size_t count, void *out);
    /* The rows listed, in the order of the list, each block of them read once. */
    int (*gather)(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count, void *out);
    /* Shows the sparse rows listed, in the order in which they lie. An error of take() ends it. */
    int (*visit)(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count,
                 ny_gathered_fn *take, void *arg);
    /* For the calls below: NULL where all rows are here, none is lost, and none is read. */
    int (*complete)(struct ny_rows *X, uint64_t rows, void *array, size_t element);
    uint64_t (*number)(const struct ny_rows *X, uint64_t row);
    void (*raw)(struct ny_rows *X, bool raw);
};

/* The part that every implementation starts with. */
struct ny_rows {
    const struct ny_rows_ops *ops;
    struct ny_context *ctx;
    const char *name; /* of where they are, for messages */
};

/* Makes a source of the first n rows, *out; NULL where that fails. */
static inline int ny_rows_source(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                                 struct ny_source **out)
{
    *out = NULL;
    return X->ops->source(X, n, slots, workers, out);
}
/* Fills in the elements of other shards in an array with one element for each of the first `rows`
 * rows of all, which has the elements of the rows that are here. */
static inline int ny_rows_complete(struct ny_rows *X, uint64_t rows, void *array, size_t element)
{
    return X->ops->complete ? X->ops->complete(X, rows, array, element) : NY_OK;
}
/* Returns the number by which a user knows a row: that among all rows, lost ones included. */
static inline uint64_t ny_rows_number(const struct ny_rows *X, uint64_t row)
{
    return X->ops->number ? X->ops->number(X, row) : row;
}
/* From here on, rows come as they are kept, or, with false, prepared again. */
static inline void ny_rows_raw(struct ny_rows *X, bool raw)
{
    if (X->ops->raw) X->ops->raw(X, raw);
}
/* Makes the statistics of the rows of these moments, whose norms have this sum; NaN: not known. The
 * arrays, 32 d bytes, are charged to NY_MEM_OTHER. */
int ny_rows_stats_of(struct ny_rows_stats *stats, struct ny_context *ctx,
                     const struct ny_moments *moments, double norms);
/* Frees the arrays of the statistics. */
void ny_rows_stats_release(struct ny_rows_stats *stats, struct ny_context *ctx);

/* Writes what messages call a column with this name; NULL: it has none. */
void ny_rows_name_column(uint64_t column, const char *name, char words[NY_COLUMN_WORDS_BYTES]);

/* Bytes of a row in memory: dense, or a record of info->row_slots (base/sparse.h). */
static inline size_t ny_rows_row_bytes(const struct ny_rows_info *info)
{
    return ny_row_bytes(info->dtype, (size_t)info->d, (size_t)info->row_slots);
}
/* Returns the most values that a unit of sparse rows has where no block has more than so many: it
 * lies in a few blocks. 0: not known. */
uint64_t ny_rows_unit_most(const struct ny_rows_info *info, uint64_t block_values);
/* Counts a source for so many workers: a ring of blocks, one more than workers, and the mapped
 * pages of a block for each of them. */
enum { NY_RING_SLOT_BYTES = 32 };
static inline void ny_rows_source_count(struct ny_layout *l, enum ny_purpose purpose,
                                        const struct ny_rows_info *info, unsigned workers)
{
    ny_layout_add(l, purpose,
                  (workers + 1) * (info->block_bytes + NY_RING_SLOT_BYTES) +
                      workers * info->block_bytes);
}

/* Reads the rows listed, as gather() does, into a type that holds them exactly, f32 or f64, or
 * their own. `out`: count rows of that type. */
int ny_rows_gather_wide(struct ny_rows *X, enum ny_dtype dtype, size_t slots, const uint64_t *rows,
                        size_t count, void *out);
/* Appends the sparse rows listed to `list`, in the order of the list, charged to `purpose`: they
 * take what they have. They are visited twice, first for the sizes. */
struct ny_gather_wish {
    size_t slots, count;
    const uint64_t *rows;
    enum ny_purpose purpose;
};
int ny_rows_gather_list(struct ny_rows *X, const struct ny_gather_wish *wish,
                        struct ny_sparse_list *list);

#endif
