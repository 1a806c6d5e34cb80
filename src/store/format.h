/*
 * The store format, version 3. Integers are little-endian, as other machines are refused; keys are
 * big-endian, so that byte order is numeric order.
 *
 *   STORE/points/data.mdb    one LMDB table: blocks of rows and their records
 *   STORE/results/data.mdb   one LMDB table: chunks of results
 *   STORE/locks/             our own lock files, see store/locks.c
 *
 * Every value is a frame: a header of 32 bytes, then the stored bytes (LZ4 frame, or as they are
 * where LZ4 saves less than a quarter; genotypes in two bits each). The checksum is XXH3-64 of the
 * 40 bytes
 *
 *   header with the checksum field zero ‖ XXH3-64 of the stored bytes
 *
 * so that a block which was swapped, or comes from another store, fails as a flipped bit does.
 *
 * The first key of each table, one zero byte, is the pulse. It is rewritten by every transaction
 * and says which transaction that was, how many other entries the table has and a sum over their
 * keys, sizes and, where the value lies in the tree's own pages, its checksum: the check at open
 * recomputes both from those pages (store/structure.c), so that no entry can vanish, appear, move,
 * change its size, or come back as it was in silence. Version 1 had no checksums in the sum, and
 * version 2 (nystream 1.0) neither memories nor norms; a store keeps its own until it is compacted.
 *
 * A value on pages of its own has no checksum in the sum, and LMDB uses the pages of a value that
 * was replaced again, often for the same key two commits later: where the disk has lost the last
 * write of such a page, a sound value of an earlier commit is there. So a chunk of results/ on
 * pages of its own has a voucher, an entry behind it with the checksum of the chunk's header. The
 * voucher is small, so that the sum covers it; whoever reads the chunk compares the two.
 * In points/ the manifest does this: a block that is full is never written again, and the sizes of
 * the last block, its labels and the statistics follow from n.
 *
 * Points: key = kind, number. Block b holds rows b·B … b·B + B − 1; all but the last are full.
 * Blocks of sparse rows are encoded as store/csr.h says; all else is as for dense ones.
 * Blocks whose rows were lost to damage are empty; a record lists the rows (store/repair.c).
 * Readers do not see the rows that an unfinished import has staged: blocks beyond the manifest's n,
 * and, under kind | NY_STAGED, the block that was the short last one and the one being filled.
 */
#ifndef NY_STORE_FORMAT_H
#define NY_STORE_FORMAT_H

#include <stdint.h>

#include "base/lengths.h"
#include "base/prepare.h"
#include "base/sparse.h"
#include "stream/blocks.h"

#define NY_FORMAT_VERSION 3u
#define NY_FORMAT_OF_1_0 2u
#define NY_FORMAT_MAGIC "nystream"

enum ny_kind {
    NY_KIND_PULSE = 0,
    NY_KIND_POINTS = 1,
    NY_KIND_LABELS = 2, /* f64 */
    NY_KIND_SOURCE = 3, /* u64 */
    NY_KIND_STATS = 4,  /* struct ny_stats_record, then 4·d f64: mean, M2, minimum, maximum */
    NY_KIND_MANIFEST = 5,
    NY_KIND_CHUNK = 6,
    NY_KIND_CLASSES = 7,  /* zero-terminated names, one after another */
    NY_KIND_PROGRESS = 8, /* struct ny_progress_record, then, until it ends, the pieces that
                           * store/ingest_staged.c lists */
    NY_KIND_LOST = 9,     /* ranges of rows that are gone: first, end; see store/lost.c */
    NY_KIND_NORMS = 10,   /* struct ny_norms_record, where all rows were counted by it */
    NY_KIND_NAMES = 11,   /* names of a block's rows: zero-terminated, one behind another */
    NY_KIND_COLUMNS = 12, /* likewise of the columns, NY_COLUMN_NAMES in each entry but the last */
    NY_KIND_IMPORT = 13,  /* struct ny_import_record, by the first row that it added */
    NY_KIND_LENGTHS = 14  /* struct ny_lengths_record, of sparse rows */
};
enum { NY_STAGED = 0x40 };

/* The rows in the header of a chunk that has a voucher. Chunks of nystream 1.0 have none, and 0. */
enum { NY_VOUCHED = 1 };

/* Crumbs: bytes of 0 to 3 in two bits each, four to a byte, the first in the lowest bits. */
enum ny_codec { NY_CODEC_RAW = 0, NY_CODEC_LZ4 = 1, NY_CODEC_CRUMBS = 2 };

/* The second key of a table, two bytes 0 and 1, in a frame as of a chunk: what this table remembers
 * of the other one. The epoch of a table is base + the number of its last transaction; it grows
 * with every commit, and over compactions. */
struct ny_memory {
    uint64_t base;  /* epoch before the last compaction, when the transactions began anew */
    uint64_t own;   /* epoch of the transaction that wrote this */
    uint64_t other; /* epoch of the other table when this one was last written, at least */
};
_Static_assert(sizeof(struct ny_memory) == 24, "part of the format");

struct ny_header {
    uint64_t store;     /* first 8 bytes of the store's id */
    uint64_t number;    /* block; of a chunk: a hash of its key */
    uint32_t raw_bytes; /* decoded */
    uint32_t packed;    /* rows | codec << 24 | kind << 28 */
    uint64_t checksum;
};
_Static_assert(sizeof(struct ny_header) == 32, "part of the format");

struct ny_pulse {
    char magic[8];
    uint32_t version;
    uint32_t environment; /* 1 points, 2 results */
    uint8_t id[16];       /* the same in both environments */
    uint64_t txn;         /* the LMDB transaction that wrote it */
    uint64_t entries;     /* without the pulse */
    uint64_t key_sum;     /* Σ hash(key, size of the value, checksum), modulo 2^64, without it */
};
_Static_assert(sizeof(struct ny_pulse) == 56, "part of the format");
enum { NY_POINTS_ENVIRONMENT = 1, NY_RESULTS_ENVIRONMENT = 2 };

enum {
    NY_FLAG_LABELS = 1,
    NY_FLAG_SOURCE = 2,
    NY_FLAG_LOST = 4,
    NY_FLAG_PREPARED = 8,
    NY_FLAG_NAMES = 16,   /* rows have names, from the first on */
    NY_FLAG_COLUMNS = 32, /* columns have names */
    NY_FLAG_FROM_0 = 64,  /* LIBSVM files of these rows have indices from 0, */
    NY_FLAG_FROM_1 = 128  /* or from 1; neither: not known, as of 1.0, which passes over both */
};

/* Returns the flag of a manifest that says them; 0: they are not known. */
static inline uint32_t ny_indices_flag(enum ny_indices indices)
{
    return indices == NY_INDICES_FROM_0   ? NY_FLAG_FROM_0
           : indices == NY_INDICES_FROM_1 ? NY_FLAG_FROM_1
                                          : 0u;
}

struct ny_manifest {
    uint32_t dtype, layout, flags, classes;
    uint64_t n, d, block_rows;
    uint64_t full_bytes, tail_bytes; /* stored bytes of the full blocks, of the last, short one */
    uint64_t dropped, txn;
    uint64_t source_from; /* first block with row numbers of the source */
    uint64_t digest;      /* chain over the checksums of the full blocks */
    uint64_t tail_digest; /* checksum of the short one */
    /* For sparse rows, and prepared ones; the manifest of others ends here. */
    uint64_t nnz, row_nnz, block_nnz; /* values in all, in the fullest row, in the fullest block */
    /* With NY_FLAG_PREPARED alone. Statistics and norms are of prepared values. */
    struct ny_prepared preparation;
};
_Static_assert(sizeof(struct ny_manifest) == 136, "part of the format");
#define NY_DENSE_MANIFEST_BYTES ((size_t)96)
#define NY_SPARSE_MANIFEST_BYTES ((size_t)120)

struct ny_stats_record {
    uint64_t n, d;
};

/* Written with the statistics; it is of the points if n is theirs. */
struct ny_norms_record {
    uint64_t n;
    double sum; /* of ‖x‖ over the rows, in order */
};
_Static_assert(sizeof(struct ny_norms_record) == 16, "part of the format");

/* Written with the statistics; it is of the points if both numbers are theirs. */
struct ny_lengths_record {
    uint64_t n, nnz;
    struct ny_lengths lengths;
};
_Static_assert(sizeof(struct ny_lengths_record) == 720, "part of the format");

/* Tells what is known of one import, up to the end of `from`. Rows of an earlier version have none.
 */
#define NY_IMPORT_FROM_BYTES 216
#define NY_IMPORT_COLUMN_BYTES 64
struct ny_import_record {
    uint64_t end;     /* the row behind its last one */
    int64_t time;     /* of its commit, seconds since 1970 */
    uint64_t dropped; /* rows that it left out */
    uint32_t classes; /* names of classes that the store had then */
    uint32_t raw;     /* 1: it packed no blocks */
    char from[NY_IMPORT_FROM_BYTES]; /* zero-terminated: the file, empty for rows in memory */
    /* They are those of struct ny_import_how. A record without them ends behind `from`. */
    char label_column[NY_IMPORT_COLUMN_BYTES], id_column[NY_IMPORT_COLUMN_BYTES];
    uint64_t unused; /* version 1.1.0: --min-values of the import */
};
_Static_assert(sizeof(struct ny_import_record) == 384, "part of the format");

struct ny_progress_record {
    uint64_t fingerprint, base_n, d;
    uint32_t dtype, layout, flags;           /* as in the spec of the import */
    uint32_t unused;                         /* versions 1.0 to 1.1.1: a digest of rows of a pipe */
    uint64_t rows;                           /* committed and staged */
    uint64_t stat_rows;                      /* of them, in the statistics */
    uint64_t consumed, dropped;
    uint64_t full_bytes, digest;
};
_Static_assert(sizeof(struct ny_progress_record) == 88, "part of the format");

/* Totals of the full blocks, behind the statistics in the progress record of sparse rows. */
struct ny_sparse_progress {
    uint64_t block_rows, nnz, row_nnz, block_nnz;
};

/* Bounds of the format, beside those of stream/blocks.h. */
#define NY_COLUMN_NAMES ((uint64_t)4096)       /* in an entry of names of columns */
#define NY_NAMES_BYTES_MAX ((uint64_t)1 << 30) /* for the names of a block, or of an entry */
#define NY_BLOCK_NNZ_MAX ((uint64_t)1 << 27)   /* of sparse rows */
#define NY_ROW_BYTES_MAX ((uint64_t)1 << 30)
#define NY_STORE_COLUMNS_MAX ((uint64_t)1 << 24)
#define NY_ROWS_MAX ((uint64_t)1 << 44)

#endif
