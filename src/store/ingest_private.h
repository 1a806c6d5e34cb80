/*
 * An import in progress. Rows collect in a buffer of `group` blocks; when it is full, its blocks
 * are packed in parallel, counted in the statistics, and put.
 *
 *   filling ──buffer full──▶ packing ──dirty──▶ commit of blocks (progress record unchanged)
 *      ▲                                            │
 *      └── end of a batch of rows, much dirty: commit with the progress record and the open block
 *
 * The progress record always tells a state at the end of a batch: source rows consumed and rows
 * staged belong together only there, as rows may have been dropped in between.
 */
#ifndef NY_STORE_INGEST_PRIVATE_H
#define NY_STORE_INGEST_PRIVATE_H

#include "store/csr.h"
#include "store/store_private.h"
#include "stream/counting.h"

/* The largest kind of blocks of rows; arrays are indexed by kind. */
enum { NY_BLOCK_KINDS = NY_KIND_NAMES };

/* Returns the next of the kinds of blocks of rows: points, labels, source, names; 0 behind them. */
static inline unsigned ny_kind_after(unsigned kind)
{
    return kind < NY_KIND_SOURCE ? kind + 1 : kind == NY_KIND_SOURCE ? NY_KIND_NAMES : 0;
}

/* Room that grows with what is packed in it. */
struct ny_ingest_room {
    char *at;
    size_t bytes;
};

/* Sparse points of an import, which are packed here, and not in the buffer. */
struct ny_ingest_sparse {
    struct ny_csr csr;              /* the block that is being filled */
    struct ny_sparse_progress full; /* of the blocks that are full */
    struct ny_lengths lengths;      /* likewise */
    struct ny_ingest_room room;     /* that block encoded, then packed */
    size_t encoded_bytes;
};

struct ny_ingest_names {
    struct ny_names rows;       /* of the rows in the buffer */
    size_t *start;              /* each block of the buffer: the place of its first name */
    const char *next;           /* of the batch that is taken; NULL: its rows have none */
    struct ny_ingest_room room; /* for packing those of a block, or of an entry of columns */
};

/* Names of classes, one behind another, as they are stored. */
struct ny_ingest_classes {
    char *text;
    size_t bytes;
    uint32_t count;
};

struct ny_ingest {
    struct ny_store *store;
    struct ny_context *ctx;
    struct ny_ingest_spec spec;
    struct ny_lock lock;
    struct ny_manifest base; /* what readers see */
    enum ny_dtype dtype;     /* of the store */
    bool is_sparse;
    bool has[NY_BLOCK_KINDS + 1];
    size_t row_bytes[NY_BLOCK_KINDS + 1]; /* in the buffer */
    uint64_t block_rows;

    struct ny_layout own;             /* of the buffers: */
    size_t group;                     /* blocks that the buffer holds */
    char *buffer[NY_BLOCK_KINDS + 1]; /* group × block_rows rows of each kind */
    uint64_t first_block;             /* whose rows the buffer begins with */
    size_t filled;                    /* rows in the buffer */
    char *room;                       /* for packing: group × room_bytes */
    size_t room_bytes, kind_room_bytes[NY_BLOCK_KINDS + 1];
    struct ny_packed *packed; /* group × (NY_BLOCK_KINDS + 1) */
    struct ny_ingest_sparse sparse;
    struct ny_ingest_names names;
    struct ny_names columns; /* names for a store that holds no points yet; count 0: none */
    struct ny_ingest_classes classes;

    struct ny_counting counting;   /* of the rows below first_block × block_rows, and of base */
    struct ny_stats_record *stats; /* record around the cells of the moments */
    uint64_t full_bytes, digest, source_from;
    uint64_t consumed, dropped;

    struct ny_write write;
    size_t dirty_max, reserved;
    uint64_t staged_open; /* block staged unfinished by the last progress record; or none */
    int failed;           /* status of the first failure: nothing more is taken */
    bool ended;           /* committed or discarded */
    bool told;            /* published: the progress record still says so */
};

static const uint64_t ny_no_block = UINT64_MAX;

/* The short last block that the import completes, or none. */
static inline uint64_t ny_ingest_tail_block(const struct ny_ingest *ingest)
{
    return ingest->base.n % ingest->block_rows ? ingest->base.n / ingest->block_rows : ny_no_block;
}

/* Rows so far, those of the store included. */
static inline uint64_t ny_ingest_total(const struct ny_ingest *ingest)
{
    return ingest->first_block * ingest->block_rows + ingest->filled;
}

/* ---- packing (ingest_pack.c) ---- */

/* Returns where the rows of block `index` of the buffer begin. */
char *ny_ingest_block(const struct ny_ingest *ingest, unsigned kind, size_t index);
/* Packs `rows` rows of block `index` of the buffer, all kinds. Thread-safe for different blocks. */
void ny_ingest_pack_block(struct ny_ingest *ingest, size_t index, size_t rows);
/* Puts the packed block under its key, `flag` 0 or NY_STAGED. */
int ny_ingest_put(struct ny_ingest *ingest, size_t index, unsigned flag);
/* Puts one record under its key; what is dirty is committed before, where it would get too much. */
int ny_ingest_put_packed(struct ny_ingest *ingest, const struct ny_key *key,
                         const struct ny_packed *packed);
/* Begins the write transaction of the import, unless one is alive. */
int ny_ingest_write_begin(struct ny_ingest *ingest);

/* ---- full blocks (ingest_flush.c) ---- */

/* The full blocks of the buffer: counts, packs, puts, and moves the rest to the front. */
int ny_ingest_flush(struct ny_ingest *ingest);
/* Counts the first `rows` rows of the buffer that are not counted yet, as they are when prepared.
 * *packs: full blocks that are to be packed; 0 afterwards where that was done beside the counting,
 * as it is for sparse rows. NY_EDATA where a value cannot be prepared. */
int ny_ingest_count(struct ny_ingest *ingest, size_t rows, size_t *packs);

/* ---- sparse rows (ingest_sparse.c) ---- */

/* Fails because the store's type has no such value; row: its number in the source. */
int ny_ingest_misfit(struct ny_ingest *ingest, uint64_t row, size_t column);
/* Allocates what an import of sparse rows needs besides the buffers of all imports. */
int ny_ingest_sparse_allocate(struct ny_ingest *ingest);
/* Frees what ny_ingest_sparse_allocate() and the blocks have taken. */
void ny_ingest_sparse_free(struct ny_ingest *ingest);
/* Rows at … at+count−1 of the batch behind those of the block, sparse or dense. */
int ny_ingest_sparse_take(struct ny_ingest *ingest, const struct ny_ingest_rows *rows, size_t at,
                          size_t count);
/* Room for blocks of so many values. */
int ny_ingest_sparse_reserve(struct ny_ingest *ingest, size_t nnz);
/* Encodes and packs the first `rows` rows of the block. */
void ny_ingest_sparse_pack(struct ny_ingest *ingest, struct ny_packed *packed, size_t rows);
/* The full block is counted in sparse.full, and gone. */
void ny_ingest_sparse_clear(struct ny_ingest *ingest);
/* Returns sparse.full with the rows of the unfinished block added. */
struct ny_sparse_progress ny_ingest_sparse_total(const struct ny_ingest *ingest);
/* Raises the greatest rows and blocks of sparse.full to those of the unfinished block, whose values
 * are counted when it is full. */
void ny_ingest_sparse_raise(struct ny_ingest *ingest);
/* Counts the rows of the unfinished block in `lengths`. */
void ny_ingest_sparse_lengths(const struct ny_ingest *ingest, struct ny_lengths *lengths);
/* Loads `rows` rows of an unfinished block, under its key, from what the manifest or the progress
 * record says; as ny_csr_read(). */
int ny_ingest_sparse_load(struct ny_ingest *ingest, struct ny_snapshot *view, unsigned flag,
                          size_t rows, uint64_t block_nnz, const char **wrong);

/* ---- names of rows (ingest_names.c) ---- */

/* Makes a room so large, and raises what may be dirty to the last two blocks of all kinds, which
 * the last transaction writes. */
int ny_ingest_grow(struct ny_ingest *ingest, struct ny_ingest_room *room, size_t bytes);
/* Makes room for packing names of so many bytes. */
int ny_ingest_names_reserve(struct ny_ingest *ingest, size_t bytes);
/* Adds the names of the next `count` rows of the batch to those of the buffer, which has `filled`
 * rows before. */
int ny_ingest_names_take(struct ny_ingest *ingest, size_t count);
/* Packs the names of block `index` of the buffer, into the one room that there is for names. */
void ny_ingest_names_pack(struct ny_ingest *ingest, size_t index);
/* Drops the names of the first `blocks` blocks of the buffer. */
void ny_ingest_names_drop(struct ny_ingest *ingest, size_t blocks);
/* Loads the names of an unfinished block, under its key; as ny_names_read(). */
int ny_ingest_names_load(struct ny_ingest *ingest, struct ny_snapshot *view, unsigned flag,
                         size_t rows, const char **wrong);
/* Makes room for the completed tail, which an earlier run may have packed. */
int ny_ingest_names_reserve_tail(struct ny_ingest *ingest);

/* ---- names of columns (ingest_columns.c) ---- */

/* Writes the names of columns, in transactions of bounded size; nobody sees them before the
 * manifest says so. */
int ny_ingest_columns_put(struct ny_ingest *ingest);

/* ---- what is staged (ingest_staged.c) ---- */

/* Writes the progress record and the unfinished block, and commits. */
int ny_ingest_stage(struct ny_ingest *ingest);
/* Takes up what an earlier run of the same import staged; NY_END: there is none to take up. */
int ny_ingest_resume(struct ny_ingest *ingest);
/* Tells whether the progress record is of this very import and says that all of it is published:
 * the run that did it was killed before it could say so. *rows: that it added. */
int ny_ingest_finished(struct ny_ingest *ingest, bool *finished, uint64_t *rows);
/* Deletes the progress record: whoever asked for the import knows how it ended. */
int ny_ingest_drop_progress(struct ny_ingest *ingest);
/* Loads rows that readers see, those of block ingest->first_block as this manifest has it, to the
 * front of the buffer. */
int ny_ingest_load(struct ny_ingest *ingest, struct ny_snapshot *view, const struct ny_manifest *m,
                   enum ny_kind kind);
/* Loads the short last block that readers see. */
int ny_ingest_load_tail(struct ny_ingest *ingest);
/* Deletes what is staged beyond `rows` rows; base.n: all of it, and the progress record. */
int ny_ingest_drop(struct ny_ingest *ingest, uint64_t rows);
/* The last transaction: all of it becomes visible. */
int ny_ingest_publish(struct ny_ingest *ingest);
/* Writes statistics, norms, class names and manifest of all rows so far into the transaction under
 * way; *now: that manifest. */
int ny_ingest_put_records(struct ny_ingest *ingest, struct ny_manifest *now);

/* ---- the beginning (ingest.c) ---- */

/* Makes an import that has nothing yet, not even its lock; NULL: there is no memory for it. */
struct ny_ingest *ny_ingest_new(struct ny_store *store);
/* Chooses type, layout and buffers for rows on top of ingest->base, and allocates them. */
int ny_ingest_allocate(struct ny_ingest *ingest);

/* ---- notes of imports (imports.c) ---- */

/* Writes the note of the import, whose rows end with those of this manifest. */
int ny_ingest_note(struct ny_ingest *ingest, const struct ny_manifest *now);

#endif
