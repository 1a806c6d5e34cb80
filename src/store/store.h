/*
 * The store: a directory with two LMDB environments, points/ (append-only blocks of rows) and
 * results/ (jobs, checkpoints, models, embeddings). The format is described in store/format.h.
 *
 * Only this folder names mdb_*, and only its codec names LZ4F_*.
 *
 * Readers are never in the way. points/ and results/ are separate environments, so that ingesting
 * and fitting do not wait for one another. A job fits the n rows that it found at its start; rows
 * that are appended meanwhile are for an update (update/update.h).
 *
 * A failure leaves what was there. Every change is one LMDB transaction, or becomes current in
 * one. tests/fault/ tests through the public interface what happens after a kill at any moment and
 * at any write, on a full disk, and when every single allocation, read, write, sync and map fails
 * in turn. tests/fault/disk_record.h replays what reaches the disk, so that power may fail at
 * every write. A write that failed closes its environment for writing; where the write was that of
 * a meta page of LMDB's, what the page held is put back (store/write.c). A job that would fail
 * again in the same way (wrong data, wrong usage, numerics: ny_is_final()) is forgotten; one that
 * may go on with more space, memory or time is kept for the same command (api/request.c).
 */
#ifndef NY_STORE_STORE_H
#define NY_STORE_STORE_H

#include "base/names.h"
#include "base/text.h"
#include "base/traits.h"
#include "job/keep.h"
#include "stream/rows.h"

struct ny_store;

/* Opens what exists. NY_EIO: no such path or not readable; NY_ESTORE: not a store, or damaged
 * (structure checked by pread before LMDB maps it); a store of a newer format names the version.
 * A directory that cannot be written is opened read-only with a warning.
 * Processes and handles may share a store; a process opens each environment once (a registry by
 * device and inode shares it between handles). */
int ny_store_open(struct ny_store **out, struct ny_context *ctx, const char *path);
/* Opens it, or creates the directory and both environments, with the same random id, no points. */
int ny_store_create(struct ny_store **out, struct ny_context *ctx, const char *path);
/* Refuses a folder with any entry that knows() does not know: it belongs to others, and a store
 * leaves it alone. NY_EIO, also for a path that is not a folder. */
int ny_check_vacant(struct ny_context *ctx, const char *path, bool (*knows)(const char *entry));
/* Closes the handle, which may be NULL; where it wrote results, points/ first remembers them. */
void ny_store_close(struct ny_store *store);
/* Removes a store that ny_store_create() made for this handle and that nothing came into since, not
 * even rows on their way; leaves any other, and NULL. Sets no error where there is one. */
void ny_store_withdraw(struct ny_store *store);

/* Joins the shards that the peers of the store's context have opened (ny_context_peers(); nothing
 * is done where there are none): from here on points, statistics and gathers are those of all
 * shards, numbered through in their order, and calls for them are made by all peers together. What
 * reads blocks, ranges, labels, names or a pass stays within this store, whose rows are numbered
 * from 0. NY_EDATA where shards are not alike. */
int ny_store_join(struct ny_store *store);
/* NY_EDATA where shards are not alike, or their classes are numbered otherwise. All peers make this
 * call together. */
int ny_store_agree(struct ny_store *store);

/* Returns the points as the rows of a computation; they belong to the store. */
struct ny_rows *ny_store_rows(struct ny_store *store);
/* Returns the context that the store was opened with. */
struct ny_context *ny_store_context(const struct ny_store *store);
/* Returns the path as it was given; it belongs to the store. */
const char *ny_store_path(const struct ny_store *store);
/* Tells whether the store was opened for reading alone, without locks. */
bool ny_store_read_only(const struct ny_store *store);
/* Tells whether other files are in the place of those that are open, as after a compaction: whoever
 * opens the path again can write. */
bool ny_store_replaced(const struct ny_store *store);
/* How far the two tables of a store have come. Each commit raises its epoch; copies and compactions
 * keep it, so that a store whose epoch is less than it was is an older copy. */
struct ny_store_epochs {
    uint64_t points, results;
};
/* Reads the epochs of this moment. */
int ny_store_epochs(struct ny_store *store, struct ny_store_epochs *epochs);
/* Bytes the two data files take on disk (allocated blocks, not address space). */
uint64_t ny_store_bytes(const struct ny_store *store);

/* Bytes that results can take before the disk is full: those free on the disk, those of the file
 * that no result takes, and those that `name` takes, which is to be replaced (NULL: nothing is).
 * UINT64_MAX where that cannot be told. */
uint64_t ny_results_room(struct ny_store *store, const char *name);

/* ---- points: what is there ---------------------------------------------------------------- */

/* Facts that a store keeps of its points. */
struct ny_stored_points {
    struct ny_rows_info rows; /* what a computation asks */
    uint64_t blocks;          /* all but the last have rows.block_rows rows */
    uint64_t block_nnz;       /* sparse: values of the fullest block */
    uint64_t dropped;         /* rows that --nan drop left out, over all imports */
    bool labels;              /* every row has a label (missing: NaN) */
    bool names;               /* rows have names, empty where one came without */
    bool column_names;
    enum ny_indices indices; /* of LIBSVM files that rows came from */
    uint8_t id[16];
};
/* The points as of now: n = 0 when nothing was imported yet. Cheap (one record). */
int ny_points_stored(struct ny_store *store, struct ny_stored_points *points);
/* Their rows alone. */
int ny_points_info(struct ny_store *store, struct ny_rows_info *info);
/* Returns the bytes of the values as they are stored, before compression; of sparse rows with their
 * column numbers. */
uint64_t ny_points_raw_bytes(const struct ny_rows_info *info);

/* The points as a reader found them: those rows, and none in their place. */
struct ny_points_state {
    uint64_t n, blocks;           /* rows, and full blocks */
    uint64_t digest, tail_digest; /* over the full blocks, and over the last, short one, or 0 */
    uint64_t imports;             /* a digest of the notes of their imports */
    uint64_t txn;                 /* of the manifest */
};
/* Takes the state of the points; of a set nothing is kept. */
int ny_points_state(struct ny_store *store, struct ny_points_state *state);
/* Tells whether the rows of a state are still the first ones of the points, which may have more
 * since. One record is read where nobody has written. */
int ny_points_same(struct ny_store *store, struct ny_points_state *state, bool *same);
/* Tells whether results/ has had a commit since `*commits` were counted, and counts them anew. Of a
 * set it is always true. */
bool ny_results_moved(const struct ny_store *store, uint64_t *commits);

/* Rows whose values are gone: damage that ny_store_repair() has set aside. They keep their numbers,
 * and to read them is NY_ESTORE. */
struct ny_lost {
    size_t count;
    struct ny_row_range *range; /* in order, none touching another */
    uint64_t rows;
};
/* Reads the list of lost rows; ny_lost_release() it. NY_ESTORE where it is damaged. */
int ny_points_lost(struct ny_store *store, struct ny_lost *lost);
/* Tells whether the ranges are as above and within n rows. */
bool ny_lost_plausible(const struct ny_lost *lost, uint64_t n);
/* Frees the ranges and leaves an empty list. */
void ny_lost_release(struct ny_lost *lost, struct ny_context *ctx);
/* The number in the store of row `row` of those that are left; *run of them lie there in a row. */
uint64_t ny_lost_place(const struct ny_lost *lost, uint64_t row, uint64_t *run);
/* Lets the group of a folder write what this process has made in it, at `path`, if that group may
 * write the folder, whatever the umask is. Not for LMDB's files while LMDB has them open in this
 * process: closing them would drop its locks. */
void ny_share(const char *path);

/* Makes this handle skip the lost rows known now: from here on ny_points_info() counts only the
 * rows left, and whoever reads rows numbers them 0 … n − lost − 1. */
int ny_store_skip_lost(struct ny_store *store);
/* Returns the rows that this handle skips, which belong to it; none before ny_store_skip_lost(). */
const struct ny_lost *ny_store_skipped(const struct ny_store *store);

/* The next file of a series is read by this: the columns of the file that held labels and names of
 * rows. A text is empty where there was no such column, or it had no name, or one that is too long
 * to be kept. */
enum { NY_HOW_COLUMN_BYTES = 64 };
struct ny_import_how {
    char label_column[NY_HOW_COLUMN_BYTES], id_column[NY_HOW_COLUMN_BYTES];
};

/* One import that is in the points, as far as it is known. */
struct ny_import_note {
    uint64_t first, end; /* its rows */
    int64_t time;        /* of its commit, seconds since 1970 */
    uint64_t dropped;    /* rows that it left out */
    uint32_t classes;    /* names of classes that the store had then */
    bool raw;            /* it packed no blocks */
    char from[216];      /* the file; empty for rows in memory */
    struct ny_import_how how;
};
struct ny_imports {
    size_t count;
    struct ny_import_note *note; /* in the order of their rows */
};
/* Reads the notes of all imports; ny_imports_release() them. Rows that an earlier version imported
 * have none, and a note that is damaged is left out. */
int ny_points_imports(struct ny_store *store, struct ny_imports *imports);
/* Finds the columns of labels and of names that rows came from last, whichever import it was. */
int ny_points_import_how(struct ny_store *store, struct ny_import_how *how);
/* Frees the notes and leaves an empty list. */
void ny_imports_release(struct ny_imports *imports, struct ny_context *ctx);

/* Names of label classes when the labels were words (label value = index); count 0 when numeric.
 * Free with ny_free() (one block). */
int ny_points_class_names(struct ny_store *store, char ***names, size_t *count);

/* ---- several stores as one ---------------------------------------------------------------- */

/* A set of stores, whose rows are numbered through: the shards of a store (shards/open.h). Its
 * handle serves what reads rows, names, labels and results; what belongs to a result as a whole,
 * such as its record and model, is that of the first store that has it. All that writes is
 * NY_EUSAGE. */
struct ny_set {
    struct ny_stored_points points; /* all rows; the id is that of the first store */
    uint64_t digest;                /* of the ids of the stores */
    size_t count;                   /* stores */
    const uint64_t *first;          /* row of the set with which each begins; the end at `count` */
    const uint64_t *source;         /* likewise of the files that they came from */
    const uint64_t *block_first;    /* likewise of the blocks, */
    const uint64_t *block_rows;     /* which have so many rows in each store */
    size_t block_bytes;             /* of the largest one */
    int (*open)(void *arg, size_t k, struct ny_store **store); /* until others are asked for */
    void (*close)(void *arg);
    void *arg;
};
/* Makes the handle, which ny_store_close() closes with the set; the path is for messages. */
int ny_store_open_set(struct ny_store **out, struct ny_context *ctx, const char *path,
                      const struct ny_set *set);
/* Lends the rows of a set to a store without rows of its own, which keeps results of all of them,
 * and closes the set. All stores of the set have to stay open, so that threads may read from them.
 * Messages show `path` from here on. */
int ny_store_lend_set(struct ny_store *store, const char *path, const struct ny_set *set);
/* Points that are not imported yet, for a plan. */
struct ny_points_shape {
    uint64_t rows, columns;
    uint64_t values; /* of sparse rows, that are not 0; 0: rows are dense */
    enum ny_dtype dtype;
};
/* Makes a handle of rows that have this shape and cannot be read. The path is for messages. */
int ny_store_of_shape(struct ny_store **out, struct ny_context *ctx, const char *path,
                      const struct ny_points_shape *shape);

/* Rows that something else reads. */
struct ny_given_rows {
    struct ny_rows *X;
    const struct ny_names *columns; /* their names; NULL: they have none */
    const uint64_t *source;         /* their numbers where they came from; NULL: those of X */
    uint64_t dropped;               /* rows that were left out there */
    struct ny_given_names names;    /* their own names */
    const char *folder;             /* for results and temporary files; NULL: results are in memory,
                                     * and the others in $TMPDIR, or /tmp */
    bool none;                      /* they are to come: X stands for them */
    void (*free)(void *arg);        /* frees all of it; NULL: nothing is to be freed */
    void *arg;
};
/* Makes a handle of rows that are given over to it, after an error, too. Their results are in
 * memory, or in a temporary file, where its other handles find them. What imports, locks or numbers
 * through shards is NY_EUSAGE. */
int ny_store_of_rows(struct ny_store **out, struct ny_context *ctx, const char *path,
                     const struct ny_given_rows *rows);
/* Makes such a handle of a store without rows, whose results are in a temporary file in the folder
 * (NULL: in memory), which is copied. Its first import fills it. */
int ny_store_of_none(struct ny_store **out, struct ny_context *ctx, const char *path,
                     const char *folder);
/* Tells whether a store is one of these, and has no rows yet. */
bool ny_store_takes_rows(const struct ny_store *store);
/* Gives it the rows, which are given over to it. */
void ny_store_fill(struct ny_store *store, const struct ny_given_rows *rows);
/* Returns the folder for temporary files of an import into a store. */
const char *ny_store_folder(const struct ny_store *store);
/* Tells where the results of a store are kept: those of such a handle in a file if its rows came
 * with a folder. */
enum ny_kept ny_store_kept(const struct ny_store *store);
/* Returns the results of such a store; NULL: the store is another one. */
struct ny_memory_results *ny_store_memory_results(const struct ny_store *store);
/* Sets the keep of a result of such a store; false: the store is another one. */
bool ny_store_memory_keep(const struct ny_store *store, const char *name, struct ny_keep *keep);
/* Gives such a handle over to the context, whose calls open its path from then on, in place of the
 * one that it had; NULL: none. */
void ny_store_hold(struct ny_context *ctx, struct ny_store *store);

/* Returns the set behind a handle; NULL: it is that of a store, also of one with a set's rows, */
const struct ny_set *ny_store_set(const struct ny_store *store);
/* which this returns, too. */
const struct ny_set *ny_store_lent(const struct ny_store *store);
/* Opens the k-th store of a set, which belongs to the set. */
int ny_set_store(struct ny_store *store, size_t k, struct ny_store **out);
/* Finds the store that has a row. */
int ny_set_place(const struct ny_set *set, uint64_t row, size_t *k);

/* ---- points: reading ---------------------------------------------------------------------- */

/* Bytes that a block takes while it is read. */
size_t ny_points_block_bytes(const struct ny_stored_points *points);

/* Decodes block `block` of dense rows into `rows` (ny_points_block_bytes() of room, packed); *count
 * = rows in it, cut at the store's n. Verifies checksum, id, number, sizes: NY_ESTORE names block
 * and rows. Thread-safe. Copies; never hands out a pointer into the map. */
int ny_points_read_block(struct ny_store *store, uint64_t block, void *rows, size_t *count);
/* Like ny_points_read_block(), for sparse rows, cut at their n, into ny_points_block_bytes() of
 * room, where ny_sparse_block_row() finds a row. */
int ny_points_read_sparse(struct ny_store *store, const struct ny_stored_points *points,
                          uint64_t block, void *room, size_t *count);
/* Returns row i of a block that ny_points_read_sparse() has put in `room`, which it points into. */
struct ny_sparse ny_sparse_block_row(const void *room, size_t i);
/* Labels (NaN where missing; 0 where the store has none) and source row numbers (the row number
 * itself where none are kept). */
int ny_points_labels(struct ny_store *store, uint64_t first, size_t count, double *labels);
/* Reads the source row numbers of rows first … first+count−1. */
int ny_points_source(struct ny_store *store, uint64_t first, size_t count, uint64_t *source);
/* Adds the names of rows first … first+count−1 to `names`; empty ones where the store has none. It
 * holds the names of one block beside them. */
int ny_points_names(struct ny_store *store, uint64_t first, size_t count, struct ny_names *names);
/* Adds the names of columns first … first+count−1, likewise. */
int ny_points_column_names(struct ny_store *store, uint64_t first, size_t count,
                           struct ny_names *names);
/* Returns what the points have in common; `names`, empty before, gets those of their columns, which
 * the party borrows. */
int ny_points_party(struct ny_store *store, struct ny_party *party, struct ny_names *names);
/* Adds the names of all columns of a struct ny_store, which have some (struct ny_columns_like). */
int ny_points_all_columns(void *store, struct ny_names *names);
/* NY_EDATA where rows whose columns have these names are of other columns than the points, or have
 * them in another order. Names that are not known, or of another number, are not compared. */
int ny_points_check_columns(struct ny_store *store, const struct ny_party *party);
/* Finds columns by their names: columns[i] is that of names[i]. NY_EUSAGE where the columns have no
 * names; NY_EDATA with a list of the names that no column has, or for a name that several have.
 * Genotypes go by the name of their variant, too, without the allele. Reads the names of all
 * columns once, and holds 4,096 of them. */
int ny_store_find_columns(struct ny_store *store, const char *const *names, size_t count,
                          uint64_t *columns);
/* Hints for the mapped pages of blocks first … first+count−1: start reading them / drop them from
 * the resident set. Never fails; thread-safe. */
void ny_points_will_need(struct ny_store *store, uint64_t first, uint64_t count);
/* Drops the mapped pages of these blocks from the resident set. */
void ny_points_done_with(struct ny_store *store, uint64_t first, uint64_t count);

/* Reads every byte of every block and record. Damaged pieces are reported in order to `damaged`
 * (what: a sentence); the return value is NY_OK when the walk itself went through. Stages "verify"
 * (rows) and "verify results" (chunks) of the progress. */
enum ny_damaged {
    NY_DAMAGED_OTHER,  /* trees, manifest, statistics, class names */
    NY_DAMAGED_POINTS, /* of a block */
    NY_DAMAGED_LABELS,
    NY_DAMAGED_SOURCE, /* row numbers */
    NY_DAMAGED_DIGEST, /* some block is sound, but not the one that was there */
    NY_DAMAGED_RESULT,
    NY_DAMAGED_OLDER, /* points/ or results/ is from an older copy of the store */
    NY_DAMAGED_NAMES, /* names of a block's rows */
    NY_DAMAGED_COLUMN_NAMES,
    NY_DAMAGED_IMPORTS /* notes of imports */
};
struct ny_damage {
    enum ny_damaged kind;
    uint64_t block, first_row, rows; /* rows 0: not a block of points */
    const char *name, *part;         /* of a result, and the chunk of the part */
    uint64_t chunk;
    const char *what;
};
typedef int ny_damage_fn(void *user, const struct ny_damage *damage);
/* Reads all of the store and calls `damaged` for each piece that is. */
int ny_store_verify(struct ny_store *store, ny_damage_fn *damaged, void *user);

/* Sets aside what cannot be read: rows of points are lost from then on, labels missing, names of
 * rows empty, source row numbers 2^64−1, results with a damaged chunk removed, and names of columns
 * and notes of imports as a whole. Tells each. NY_ESTORE, and nothing is
 * changed, where that does not help: the trees, the manifest, the statistics. NY_EBUSY while an
 * import or a job runs. Reads every byte first. */
struct ny_repaired {
    enum ny_damaged kind;
    uint64_t first_row, rows;
    const char *name; /* of a result */
};
typedef int ny_repaired_fn(void *user, const struct ny_repaired *done);
/* Repairs the store and calls `told` for each thing that was done. */
int ny_store_repair(struct ny_store *store, ny_repaired_fn *told, void *user);

/* Called while points are cut off, with the lock of the points: at the beginning, and once more,
 * with `now` true, just before it is done. A failure ends it, with nothing changed. */
typedef int ny_truncate_fn(void *user, bool now);
/* Keeps the first `rows` rows, as if the others had never been imported, in one transaction; reads
 * the rows that stay, for their statistics. Names of classes and the count of dropped rows become
 * those of then where imports are noted. NY_EUSAGE for no rows, or more than there are; NY_ESTORE
 * where one that stays is lost or damaged; NY_EBUSY while an import or a job runs. */
int ny_store_truncate(struct ny_store *store, uint64_t rows, ny_truncate_fn *ready, void *user);

/* Calls `each` with the parts of a result that only who has opened it before its last change may
 * still read. */
typedef int ny_part_fn(void *user, const char *part);
typedef int ny_unneeded_fn(struct ny_store *store, const char *name, ny_part_fn *each, void *user);
/* Gives back to the disk what removed results, replaced chunks and parts that are not needed (NULL:
 * all are) have held: points/ and results/, each where a sixteenth of its file is free, are copied
 * and put in place of the old ones, in one step each. This handle, and others that were opened
 * before, then read the old files, all parts included, and write no more. NY_EBUSY while an import
 * or a job runs; NY_EIO without disk for the copy. */
int ny_store_compact(struct ny_store *store, ny_unneeded_fn *unneeded);

/* Charged, and kept, for each thread that reads at a time: its decoder, and the view around it. */
enum { NY_READING_BYTES = (576 << 10) + 512 };

/* ---- points: ingesting -------------------------------------------------------------------- */

struct ny_ingest;

struct ny_ingest_spec {
    uint64_t d;
    enum ny_dtype dtype; /* that of rows handed over; an append converts to the store's dtype: f64
                          * is rounded to f32, with a warning; else NY_EDATA if inexact */
    enum ny_row_layout
        layout;       /* of a store that holds no points yet; one that does keeps its own */
    uint64_t row_nnz; /* sparse: values of a row on average, for the size of blocks */
    struct ny_prepared preparation; /* likewise, where the store holds no points yet */
    bool labels, source;
    enum ny_indices indices; /* of the files, for a store that does not know those of its rows */
    bool names;       /* rows have names; a store that holds points keeps them if it has some */
    bool raw;         /* keep blocks as they are: no LZ4 even where it would save */
    const char *from; /* the file, for the note of the import; NULL: none. It stays until the end */
    struct ny_import_how how; /* for the note */
    bool append;              /* false: the store must hold no points yet, else NY_EUSAGE */
    bool expects;             /* the store must hold `expected` points, else NY_EUSAGE */
    uint64_t expected;
    const char *whole;    /* the larger store whose points are meant; NULL: this one; */
    uint64_t rows_before; /* and those that it has before those of this store */
    uint64_t fingerprint; /* of the command; a staged import with the same one is resumed, another
                           * is discarded */
};

struct ny_ingest_rows {
    const void *values;          /* count × d, packed, in the spec's dtype; or: */
    const struct ny_csr *sparse; /* the rows; the store must be sparse, too */
    const double
        *labels; /* count, or NULL when spec.labels is false: then NaN, if points have some */
    const uint64_t *source; /* count source row numbers, or NULL when spec.source is false */
    const char *names;      /* count names, zero-terminated, one behind another; NULL: none */
    size_t count;
    uint64_t consumed; /* rows of the source read so far, dropped ones included */
    uint64_t dropped;  /* of them, dropped so far */
};

/* Takes the points lock (NY_EBUSY names pid and verb of the holder). From here to the commit all
 * calls come from one thread. *consumed = source rows whose
 * fate was committed by an earlier, killed run of the same import: the caller skips those.
 * NY_END: such a run committed all of it, *consumed rows, and was killed before it could say so:
 * nothing is left to do (*out is NULL, no error is set). */
int ny_ingest_begin(struct ny_ingest **out, struct ny_store *store,
                    const struct ny_ingest_spec *spec, uint64_t *consumed);
/* Tells whether a process imports into the store at the moment: readers do not see its rows yet. */
bool ny_ingest_runs(struct ny_store *store);
/* Sets *waits to whether rows of an import that was interrupted are staged: the same one goes
 * on. */
int ny_ingest_waits(struct ny_store *store, bool *waits);
/* Adds rows; commits by itself whenever min(64 MiB, budget/8) are dirty. Everything stays staged,
 * invisible to readers. */
int ny_ingest_rows(struct ny_ingest *ingest, const struct ny_ingest_rows *rows);
/* Class names of word labels, before the commit. */
int ny_ingest_class_names(struct ny_ingest *ingest, const char *const *names, size_t count);
/* Names of the columns, one each, before the commit; copied. Points that are there keep theirs, or
 * none: NY_EDATA names the first column that is called otherwise. */
int ny_ingest_column_names(struct ny_ingest *ingest, const struct ny_names *names,
                           const char *from);
/* Makes all of it visible in one transaction. Until ny_ingest_free() the same import, begun by
 * another process after a kill, is known as done; afterwards it adds its rows again. */
int ny_ingest_commit(struct ny_ingest *ingest);
/* Drops what was staged: the store is as before. */
int ny_ingest_discard(struct ny_ingest *ingest);
/* Frees the import. Without a commit, the rows that were staged stay for a resume. */
void ny_ingest_free(struct ny_ingest *ingest);

/* ---- results ------------------------------------------------------------------------------ */

/* A result NAME owns parts ("job", "model", "embedding", …); a part is a sequence of chunks, each
 * at most NY_CHUNK_BYTES, framed with id, name hash, part hash, index and checksum like a block. */
struct ny_name_lock;
/* One non-blocking lock per NAME for the whole job: NY_EBUSY names the holder. The names allowed
 * are [A-Za-z0-9._-]{1,64}, not starting with a dot or dash: else NY_EUSAGE. */
int ny_name_lock(struct ny_name_lock **out, struct ny_store *store, const char *name);
/* Releases the lock and frees it; NULL is fine. */
void ny_name_unlock(struct ny_name_lock *lock);
/* Tells whether a job holds the NAME's lock at this moment. */
bool ny_name_held(struct ny_store *store, const char *name);

/* Begins a batch, a write transaction on results/, which waits for its turn. Keep it short: at most
 * ny_batch_bytes_max() until the commit. Fails where the store cannot be written, and says why:
 * NY_EIO, NY_EBUSY or NY_ESTORE. */
int ny_batch_begin(struct ny_batch **out, struct ny_store *store);
/* Puts one chunk, of at most NY_CHUNK_BYTES, in place of what is there. After a failure the
 * batch takes no more, and its commit fails in the same way. */
int ny_batch_put(struct ny_batch *batch, const char *name, const char *part, uint64_t index,
                 const void *data, size_t bytes);
/* All chunks of a part (part NULL: of the whole NAME). Absent is fine. */
int ny_batch_delete(struct ny_batch *batch, const char *name, const char *part);
/* Commits the batch; after a failure, nothing of it is there. Frees the batch either way. */
int ny_batch_commit(struct ny_batch *batch);
/* Ends the batch without a change and frees it; NULL is fine. */
void ny_batch_abort(struct ny_batch *batch);

/* A verified copy of one chunk; NY_END when there is none (no error is set); NY_ESTORE when
 * damaged; a capacity that is too small: NY_EINTERNAL. Thread-safe. */
int ny_chunk_get(struct ny_store *store, const char *name, const char *part, uint64_t index,
                 struct ny_chunk *chunk);

/* A whole array as part, cut in chunks, committed in batches; written beside and made current by
 * the caller's last batch. Reads verify that exactly `bytes` bytes are there. */
int ny_blob_put(struct ny_store *store, const char *name, const char *part, const void *data,
                size_t bytes);
/* Stores an array like ny_blob_put(), from its pieces. */
int ny_blob_put_pieces(struct ny_store *store, const char *name, const char *part,
                       const struct ny_pieces *pieces);
/* Reads an array of exactly `bytes` bytes; NY_ESTORE where it is damaged or has another size. */
int ny_blob_get(struct ny_store *store, const char *name, const char *part, void *data,
                size_t bytes);

/* Calls `each` for every NAME, sorted. */
typedef int ny_name_fn(void *user, const char *name);
/* Calls `each` for every NAME until one call fails, and returns what that returned. */
int ny_results_list(struct ny_store *store, ny_name_fn *each, void *user);
/* NY_EUSAGE of a NAME that is not there: which one is meant, or which there are; also of one whose
 * removal was cut short. */
int ny_result_missing(struct ny_store *store, const char *name);
/* Removes a result, a large one in several transactions, the first of which takes its record; what
 * a kill leaves goes by the same call. ny_result_missing() when there is no such NAME. */
int ny_result_remove(struct ny_store *store, const char *name);

#endif
