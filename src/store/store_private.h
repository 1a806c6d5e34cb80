/*
 * Shared by the files of this folder. From the bottom up:
 *
 *   codec, structure          bytes: frames, the check before mapping
 *   environment, residency    an LMDB environment, one per process and directory; its mapped pages
 *   meta                      LMDB's meta pages, under the guard
 *   locks                     our own lock files
 *   epoch                     what one environment remembers of the other
 *   write, view               its transactions
 *   manifest, lost            the records of rows; rows that are gone
 *   older, store              an environment put back from a copy; the handle
 *   set, in_memory, shape          several stores as one; rows in memory; rows that are not there
 *   points_info, block, csr, points, names, ingest, imports, truncate  rows
 *   result_names, results     NAMEs, and their chunks
 *   verify, repair, compact   all of it
 *
 * Invariants.
 *  1. A value leaves this folder only as a copy, after its checksum was verified.
 *  2. Every write transaction ends by rewriting the pulse; every entry is counted in it.
 *  3. Rows below the manifest's n are never rewritten, but for the short last block at a commit;
 *     only a truncation makes n less.
 *  4. No LMDB call that may write runs without our lock: points.lock for points/, commit.lock for
 *     results/.
 *  5. After a failed write an environment takes no more of them until it was closed.
 */
#ifndef NY_STORE_STORE_PRIVATE_H
#define NY_STORE_STORE_PRIVATE_H

#include <limits.h>
#include <lmdb.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/layout.h"
#include "base/mutex.h"
#include "base/peers.h"
#include "store/codec.h"
#include "store/store.h"
#include "store/structure.h"

/* ---- environment --------------------------------------------------------------------------- */

/* One slot of the process' registry. */
struct ny_env {
    MDB_env *lmdb; /* NULL: a free slot */
    MDB_dbi table;
    dev_t device;
    ino_t inode;
    pid_t process; /* a fork's copies of these slots are not its own */
    unsigned users;
    bool read_only; /* without LMDB's locks, too */
    bool twin;      /* read_only because another process has the number of this one */
    size_t map_bytes, page_bytes;
    uint8_t id[16];
    struct ny_mutex lock; /* guards what follows */
    struct ny_cond idle;
    unsigned active; /* transactions of this process */
    char *map;       /* where the file is mapped, and how much; NULL: to be found out */
    size_t map_length;
    unsigned small_reads;
    bool growing;
    int failed; /* status of the first write that failed */
    char path[PATH_MAX];
};

/* `environment` as in format.h. Shares the slot of one that is open already. NY_EIO: not there or
 * not readable; NY_ESTORE: damaged, or not one of ours. */
int ny_env_open(struct ny_env **out, struct ny_context *ctx, const char *directory,
                uint32_t environment);
/* Gives the slot back; the last user of an environment closes it. NULL is fine. */
void ny_env_close(struct ny_env *env);
/* Makes one in a new directory beside and moves it into place. */
int ny_env_create(struct ny_context *ctx, const char *directory, uint32_t environment,
                  const uint8_t id[16]);
/* Removes one that is not in use, and what a creation of it that was killed has left. */
int ny_env_remove(struct ny_context *ctx, const char *directory);
/* Sets the path of the compact copy of a part of the store; false: it is too long. */
bool ny_env_copy_path(char path[PATH_MAX], const char *store, const char *part);
/* Removes copies that a compaction which was killed has left; under the lock of commits, which one
 * that runs has from its beginning to its end. */
void ny_env_remove_copies(struct ny_context *ctx, const char *store);
/* Checks that something of a store is a plain file or directory (S_IFREG, S_IFDIR), or, where it is
 * not needed, not there. Nothing of ours is ever a symbolic link: following one would write outside
 * the store. NY_ESTORE otherwise. */
int ny_env_entry(struct ny_context *ctx, const char *path, mode_t type, bool needed,
                 struct stat *info);
/* Tells whether its file is still where it was opened. To remove it takes a lock of its store. */
bool ny_env_in_place(const struct ny_env *env);
/* Sets the error for an LMDB code: "cannot <action> <path>: <LMDB's text>; <what to do>". */
int ny_env_fail(struct ny_context *ctx, const char *path, const char *action, int code);
/* NY_ESTORE: something in a file of a store is damaged, which `wrong` says how. */
int ny_damaged(struct ny_context *ctx, const char *path, const char *what, const char *wrong);
/* Says that another process has the number of this one, by the path of the store and the number. */
#define NY_TWINS                                                                                   \
    "%s can only be read: another container has a process with the same id, %ld; start both with " \
    "one pid namespace (--pid=host)"
/* There is no store at the path. */
int ny_no_store(struct ny_context *ctx, int status, const char *path);

/* A transaction of this process begins, ends; the map does not move between them. */
void ny_env_enter(struct ny_env *env);
/* Ends a transaction of this process, so that the map may move again. */
void ny_env_leave(struct ny_env *env);
/* Maps at least `bytes`, with no transaction alive: call it before ny_env_enter(). */
int ny_env_grow(struct ny_env *env, struct ny_context *ctx, size_t bytes);
/* Begins an LMDB transaction inside enter and leave, following a file that another process grew. */
int ny_env_begin(struct ny_env *env, struct ny_context *ctx, unsigned flags, MDB_txn **txn);
/* Begins a transaction, and returns LMDB's code: MDB_CORRUPTED where its meta pages cannot be read.
 * A writer looks at them first. */
int ny_env_start(const struct ny_env *env, unsigned flags, MDB_txn **txn);
/* Renews a transaction that reads; false: it cannot be, and has to be aborted. */
bool ny_env_renew(const struct ny_env *env, MDB_txn *txn);
/* Returns what LMDB tells of the environment: zeros where its meta pages cannot be read. */
MDB_envinfo ny_env_info(const struct ny_env *env);
/* Ends a transaction that reads, inside enter and leave. It may be renewed, or is NULL: its place
 * is given back where many are taken, since LMDB has a number of them for all processes. */
void ny_env_rest(const struct ny_env *env, MDB_txn **txn);

/* Says that `bytes` of the map at `at` were read, and are not needed any more: mapped pages are
 * given back, so that the resident set holds those of the reads under way and of the tree. `at` is
 * NULL where the bytes may be a dirty page, which is not in the map. Inside enter and leave. */
void ny_env_touched(struct ny_env *env, const void *at, size_t bytes);

/* ---- keys ---------------------------------------------------------------------------------- */

/* The longest key is a voucher's; one byte more makes its successor. */
enum { NY_NAME_MAX = 64, NY_KEY_MAX = 2 * (NY_NAME_MAX + 1) + 10 };

struct ny_key {
    size_t bytes;
    char data[NY_KEY_MAX];
};

/* Returns the key of the pulse, one zero byte. */
struct ny_key ny_pulse_key(void);
/* Returns the key of the memory, the bytes 0 and 1. */
struct ny_key ny_memory_key(void);
/* `kind` may carry NY_STAGED. */
struct ny_key ny_points_key(unsigned kind, uint64_t number);
/* Makes the key name ‖ 0 ‖ part ‖ 0 ‖ index; name and part have at most NY_NAME_MAX bytes. */
struct ny_key ny_chunk_key(const char *name, const char *part, uint64_t index);
/* The key of a chunk's voucher (store/format.h): the chunk's key ‖ 1. */
struct ny_key ny_voucher_key(const struct ny_key *chunk);
/* The kind and number of a key of points/; false when it is not one. */
bool ny_points_key_parse(const MDB_val *key, unsigned *kind, uint64_t *number);

/* ---- writing ------------------------------------------------------------------------------- */

struct ny_write {
    struct ny_store *store;
    struct ny_env *env;
    MDB_txn *txn; /* NULL: none alive */
    struct ny_pulse pulse;
    size_t dirty_bytes; /* pages of LMDB's that wait for the commit, without tree pages */
    bool mends;         /* a value to be replaced may be damaged */
    uint64_t other;     /* epoch of the other table when this began; 0: there is none */
    bool accepts;       /* it is remembered also where it is older than what was */
};

/* Begins; `room_bytes` bounds what the transaction will write. The thread that begins must end. */
int ny_write_begin(struct ny_write *write, struct ny_store *store, struct ny_env *env,
                   size_t room_bytes);
/* Makes room for a value with this checksum, header included, in place of an older one; to be
 * filled before the next call. */
int ny_write_room(struct ny_write *write, const struct ny_key *key, size_t bytes, uint64_t checksum,
                  void **room);
/* Writes a value whose frame was sealed around `raw` (ny_frame_seal()). */
int ny_write_sealed(struct ny_write *write, const struct ny_key *key,
                    const struct ny_header *header, const void *raw);
/* Tells whether LMDB keeps a value of so many bytes, header included, on pages of its own, which
 * the check at open does not read. */
bool ny_write_apart(const struct ny_write *write, const struct ny_key *key, size_t bytes);
/* A framed value around raw bytes. */
int ny_write_record(struct ny_write *write, const struct ny_key *key, const struct ny_frame *frame,
                    const void *raw);
/* Writes so many bytes as the record of a kind in points/, or as its entry of this number. */
int ny_points_put(struct ny_write *write, enum ny_kind kind, uint64_t number, const void *raw,
                  size_t bytes);
/* Deletes such an entry, of a staged kind as well, which may be absent. */
int ny_points_delete(struct ny_write *write, unsigned kind, uint64_t number);
/* Deletes an entry, which may be absent. */
int ny_write_delete(struct ny_write *write, const struct ny_key *key);
/* Bytes of a stored value, the checksum in its header; 0 where there is none. */
int ny_write_size(struct ny_write *write, const struct ny_key *key, size_t *bytes);
/* Sets *checksum to that in the header of a stored value; 0 where there is none. */
int ny_write_checksum(struct ny_write *write, const struct ny_key *key, uint64_t *checksum);
/* Lets the batch delete chunks that are damaged. */
void ny_batch_mend(struct ny_batch *batch);
/* Deletes entries from `first` on as long as `match` says so, at most `most`; *count of them. */
typedef bool ny_match_fn(const void *arg, const MDB_val *key);
/* Deletes entries whose keys match, from `first` on, and counts them. */
int ny_write_delete_from(struct ny_write *write, const struct ny_key *first, ny_match_fn *match,
                         const void *arg, size_t most, size_t *count);
/* Deletes a part of a result; NULL: all of them. */
int ny_write_delete_part(struct ny_write *write, const char *name, const char *part);
/* Writes the record of what the table remembers (store/epoch.c). */
int ny_memory_write(struct ny_write *write, const struct ny_memory *memory);
/* Writes memory and pulse and commits; with an `err` ends without a change, and returns it. After a
 * failure nothing is changed, and the environment takes no more writes until it was closed. */
int ny_write_commit(struct ny_write *write, int err);
/* Ends the transaction without a change; nothing where none is alive. */
void ny_write_abort(struct ny_write *write);

/* ---- epochs -------------------------------------------------------------------------------- */

/* The present epoch of a table and its memory. */
struct ny_epoch {
    struct ny_memory memory;
    uint64_t now;
};
/* Reads the memory of an environment and computes its epoch of this moment. */
int ny_epoch_read(struct ny_store *store, struct ny_env *env, struct ny_epoch *epoch);
/* The frame of a table's record: that of a chunk in both tables, so that a reader which knows only
 * chunks can check it. */
struct ny_frame ny_memory_frame(const struct ny_store *store);
/* The record of the table as this transaction sees it; zeros where there is none. */
int ny_memory_read(struct ny_store *store, struct ny_env *env, MDB_txn *txn,
                   struct ny_memory *memory);

/* ---- a part that is older (older.c) ---- */

/* Has points/ remember what results/ is now; on success of the call that wrote there alone. */
void ny_store_remember_results(struct ny_store *store);
/* Finds out whether one of the two is older than the other remembers: store->older. */
int ny_store_compare_epochs(struct ny_store *store);
enum { NY_OLDER_BYTES = 200 };
/* Writes the sentence about the older part into text and returns it; NULL if neither is older. */
const char *ny_store_older(const struct ny_store *store, char text[NY_OLDER_BYTES]);
/* Has the store taken as it is from now on. */
int ny_store_accept_older(struct ny_store *store);

/* Bytes of rows that travel together between shards, at least one row; and sparse rows whose sizes
 * are told at a time. */
enum { NY_PARCEL_BYTES = 4 << 20, NY_LOT_ROWS = 4096 };

/* ---- reading ------------------------------------------------------------------------------- */

/* A short read transaction, with a decoder; kept by the store for the next one. */
struct ny_snapshot {
    struct ny_snapshot *next;
    struct ny_store *store;
    struct ny_env *env;
    MDB_txn *txn;
    struct ny_decoder *decoder;
    int twin_lock; /* −1: not needed */
};

/* Begins a view, one that is not in use where there is one; end it with ny_snapshot_end(). */
int ny_snapshot_begin(struct ny_snapshot **out, struct ny_store *store, struct ny_env *env);
/* Returns `err`, what the reading came to. NY_EBUSY: the store has no locks and was changed
 * meanwhile; what was read may be torn, and an NY_ESTORE about it is forgotten. */
int ny_snapshot_end(struct ny_snapshot *view, int err);
/* Makes *key that of the first entry from it on. *code is LMDB's, MDB_NOTFOUND behind the last; a
 * failure says that the disk cannot read it, and sets no error. */
int ny_snapshot_next(struct ny_snapshot *view, struct ny_key *key, int *code);

/* The properties that a value must have. */
struct ny_want {
    struct ny_key key;
    struct ny_frame frame; /* store, number, kind; rows and raw_bytes with exact */
    bool exact;            /* rows and raw_bytes must be as given; else raw_bytes ≤ capacity */
    size_t capacity;
};
/* Finds, verifies and decodes one value into `out`; want->frame is filled. NY_END: no such key.
 * NY_ESTORE: *wrong says what is. Sets no error. */
int ny_snapshot_read(struct ny_snapshot *view, struct ny_want *want, void *out, const char **wrong);
/* Size of the raw bytes of a value; NY_END, NY_ESTORE as above, without verifying the content. */
int ny_snapshot_size(struct ny_snapshot *view, const struct ny_key *key, size_t *raw_bytes);

/* Reads one chunk into `out`, as ny_snapshot_read() does, and compares it with its voucher: a chunk
 * that is sound, but not the one that was written last, is NY_ESTORE. */
int ny_snapshot_chunk(struct ny_snapshot *view, struct ny_want *want, void *out,
                      const char **wrong);

/* ---- the store ----------------------------------------------------------------------------- */

struct ny_store {
    struct ny_rows rows; /* first: a pointer to the one is one to the other */
    struct ny_context *ctx;
    char *path;
    struct ny_env *points, *results;
    uint64_t id; /* first 8 bytes */
    bool read_only;
    bool made; /* its folder, by ny_store_create() */
    bool wrote_results;
    const struct ny_env *older; /* than the other one remembers; NULL: neither is */
    uint64_t behind;            /* by so many commits */
    bool mending;               /* it may be written although it is so */
    bool unprepared;            /* rows come as they are stored */
    const struct ny_set *set;   /* see ny_store_open_set(); */
    char *shown; /* the path of the set that was lent to it (ny_store_lend_set()); else NULL */
    struct ny_in_memory *in_memory; /* and ny_store_of_rows(); then there are no environments */
    struct ny_lost skipped;         /* see ny_store_skip_lost() */
    struct ny_peers *peers;         /* see ny_store_join(); NULL: it is nobody's shard */
    uint64_t *shard_first;          /* each shard's first row, and the rows of all */
    uint64_t shards_nnz, shards_slots, shards_unit; /* values of all, of the fullest row, and
                                                     * of any unit at most */
    struct ny_lengths shards_lengths;
    struct ny_mutex lock;
    struct ny_snapshot *views; /* not in use */
};

/* Sets store->rows (store/rows.c). */
void ny_store_init_rows(struct ny_store *store);
/* Returns the store that these rows are a part of. */
static inline struct ny_store *ny_store_of(const struct ny_rows *X)
{
    return (struct ny_store *)(uintptr_t)X;
}
/* Calls of the rows contract. A pass decodes a block once for all workers (a ring of workers + 1
 * blocks), asks the kernel for the blocks ahead and drops those behind; the others read each block
 * once, in the order of the blocks. */
int ny_points_stats(struct ny_rows *X, struct ny_rows_stats *stats);
int ny_points_column_words(struct ny_rows *X, uint64_t column, char words[NY_COLUMN_WORDS_BYTES]);
int ny_points_pass(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                   struct ny_source **out);
int ny_points_read(struct ny_rows *X, size_t slots, uint64_t first, size_t count, void *rows);
int ny_points_gather(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count,
                     void *out);
int ny_points_visit(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count,
                    ny_gathered_fn *take, void *arg);
int ny_points_complete(struct ny_rows *X, uint64_t rows, void *array, size_t element);

/* The entries of a directory survive a loss of power. */
int ny_directory_sync(struct ny_context *ctx, const char *path);
/* Refuses on a read-only store. */
int ny_store_writable(struct ny_store *store);
/* Frees the views that are not in use, when the store is closed. */
void ny_snapshots_free(struct ny_store *store);

/* ---- sets ---------------------------------------------------------------------------------- */

/* Rows of one store of a set, and which of those that were asked for is the first of them. */
struct ny_set_rows {
    uint64_t first;
    size_t count, at;
};
/* Calls `each` for the rows of each store among rows first … first + count − 1 of the set. */
typedef int ny_set_fn(void *arg, struct ny_store *store, size_t k, struct ny_set_rows rows);
/* Walks over the stores until one call fails. NY_EINTERNAL where there are not so many rows. */
int ny_set_each(struct ny_store *store, uint64_t first, size_t count, ny_set_fn *each, void *arg);
/* NY_EUSAGE: this takes no set, which is at this path. */
int ny_set_refuse(struct ny_context *ctx, const char *path);

/* ---- rows in memory ------------------------------------------------------------------------- */

/* Rows and results that the handles of ny_store_of_rows() share. */
struct ny_in_memory {
    struct ny_context *ctx;
    char *path;
    struct ny_given_rows given;
    struct ny_memory_results *results;
    unsigned users;
};
/* Closes a handle, and frees what it had with the last one. */
void ny_in_memory_close(struct ny_store *store);
/* Tells whether the context holds a store in memory by this path. */
bool ny_in_memory_at(const struct ny_context *ctx, const char *path);
/* Opens it; to add rows, which it has to be without. */
int ny_in_memory_open(struct ny_store **out, struct ny_context *ctx);
int ny_in_memory_create(struct ny_store **out, struct ny_context *ctx);
/* NY_EUSAGE: this takes no store in memory. */
int ny_in_memory_refuse(const struct ny_store *store);
/* Adds names of rows, or of columns, empty where they have none. */
int ny_in_memory_names(const struct ny_store *store, uint64_t first, size_t count,
                       struct ny_names *names);
int ny_in_memory_column_names(const struct ny_store *store, uint64_t first, size_t count,
                              struct ny_names *names);
/* Puts the name of the result that follows `name` in its place; NY_END: there is none. */
int ny_in_memory_next_name(const struct ny_store *store, char name[NY_NAME_MAX + 1]);
/* Returns how many batches were committed. */
uint64_t ny_in_memory_commits(const struct ny_store *store);

/* ---- locks --------------------------------------------------------------------------------- */

struct ny_lock {
    int fd; /* −1: not held */
    bool removed_after;
    bool brief; /* who finds it held waits for it */
    char path[PATH_MAX];
};

/* STORE/locks/<file>.lock. NY_EBUSY: "<what> is held by process 12 (nystream import); …". */
int ny_lock_try(struct ny_lock *lock, struct ny_store *store, const char *file, const char *what);
/* Takes it for a moment: whoever wants it meanwhile waits, and is not refused. */
int ny_lock_brief(struct ny_lock *lock, struct ny_store *store, const char *file);
/* Keeps writers from an environment with a twin while it is read; *fd is to be closed, or −1.
 * NY_EBUSY while an import runs. */
int ny_twin_lock(struct ny_store *store, const struct ny_env *env, int *fd);
/* Tells whether somebody holds it now; disturbs nobody who is about to take it. */
bool ny_lock_held(struct ny_store *store, const char *file);
/* NY_EBUSY, as of ny_lock_try(), where somebody holds it now; takes nothing. */
int ny_lock_refuse(struct ny_store *store, const char *file, const char *what);
/* Tells whether a NAME is allowed, and refuses one that is not: NY_EUSAGE. */
bool ny_name_valid(const char *name);
int ny_name_check(struct ny_context *ctx, const char *name);
/* NY_EBUSY where a job holds this NAME; takes nothing. */
int ny_name_refuse(struct ny_store *store, const char *name);
/* Takes the lock in the directory `path` like ny_lock_try(), but waits for it. */
int ny_lock_wait(struct ny_lock *lock, struct ny_context *ctx, const char *path, const char *file);
/* Releases the lock and removes its file if removed_after says so; nothing where it is not held. */
void ny_lock_release(struct ny_lock *lock);
/* Refuses where the store's files are not those that are open: it was removed, or compacted. */
int ny_store_check_place(struct ny_store *store);

/* ---- points -------------------------------------------------------------------------------- */

/* Gather and show rows of this store alone, by their numbers here, and its own statistics
 * (store/shard.c, store/shard_rows.c). */
int ny_points_gather_here(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                          void *out);
int ny_points_visit_here(struct ny_store *store, size_t slots, const uint64_t *rows, size_t count,
                         ny_gathered_fn *take, void *arg);
int ny_points_stats_here(struct ny_store *store, struct ny_rows_stats *stats);
/* Counts what rows of several shards take on their way. */
void ny_points_travel_count(struct ny_layout *l, const struct ny_rows_info *info, unsigned shards);
/* The points of all, skipped ones included. */
int ny_points_stored_all(struct ny_store *store, struct ny_stored_points *points);
/* The list that the manifest of this view speaks of. */
int ny_lost_read(struct ny_snapshot *view, const struct ny_manifest *manifest,
                 struct ny_lost *lost);
/* Reads the manifest in a view of its own, and that list; NULL: this is not wanted. */
int ny_manifest_now(struct ny_store *store, struct ny_manifest *manifest, struct ny_lost *lost);
/* Tells whether rows first … end − 1 are all within one lost range. */
bool ny_lost_covers(const struct ny_lost *lost, uint64_t first, uint64_t end);
/* Tells whether one of rows first … end − 1 is lost. */
bool ny_lost_meets(const struct ny_lost *lost, uint64_t first, uint64_t end);
/* Adds rows first … end − 1 and joins ranges that touch. */
int ny_lost_add(struct ny_lost *lost, struct ny_context *ctx, uint64_t first, uint64_t end);

/* Writes a note of an import; nothing in a store of version 1.0. */
int ny_import_note_put(struct ny_write *write, const struct ny_import_note *note);
/* Deletes the notes of imports whose rows begin at `first` or behind it. */
int ny_import_notes_drop(struct ny_write *write, uint64_t first);
/* Reads the notes that are sound; *wrong: what is wrong with another, or NULL. */
int ny_imports_read(struct ny_snapshot *view, struct ny_imports *imports, const char **wrong);

/* The manifest as this view sees it; NULL, or what is wrong. */
const char *ny_manifest_fetch(struct ny_snapshot *view, struct ny_manifest *manifest);
/* Like ny_manifest_fetch(), but sets the error. */
int ny_manifest_read(struct ny_snapshot *view, struct ny_manifest *manifest);
/* The statistics record, header and cells, into room for all of it. */
int ny_stats_read(struct ny_snapshot *view, uint64_t d, struct ny_stats_record *record);
/* The sum of the norms of n rows; false: none is kept of them. *wrong: it is damaged; NULL: it is
 * not. */
bool ny_norms_read(struct ny_snapshot *view, uint64_t n, double *sum, const char **wrong);
/* Reads the lengths of the manifest's sparse rows; false: they are not known, and *lengths has what
 * holds of any rows. *wrong: what is wrong with the record, or NULL. */
bool ny_lengths_read(struct ny_snapshot *view, const struct ny_manifest *m,
                     struct ny_lengths *lengths, const char **wrong);
/* Bytes of a manifest, which depend on its layout and flags. */
size_t ny_manifest_bytes(const struct ny_manifest *manifest);
/* Returns how the rows of points are prepared before this handle hands them out. */
struct ny_prepared ny_manifest_preparation(const struct ny_store *store,
                                           const struct ny_manifest *manifest);
/* Rows of a block under this manifest. */
uint64_t ny_rows_in_block(const struct ny_manifest *manifest, uint64_t block);
/* Bytes of a row of blocks of this kind, of points in this type; those of sparse points have no
 * fixed size. */
size_t ny_block_row_bytes(const struct ny_manifest *manifest, enum ny_kind kind,
                          enum ny_dtype dtype);
/* Wants a value of exactly so many bytes: block `number` of a kind, staged or not, or its record 0.
 */
struct ny_want ny_points_want(const struct ny_store *store, unsigned kind, uint64_t number,
                              uint64_t rows, size_t bytes);
/* A block of points, labels or source as the manifest has it, into rows × element bytes.
 * NY_ESTORE: *wrong says what is; no error is set. */
int ny_block_read(struct ny_snapshot *view, const struct ny_manifest *manifest, enum ny_kind kind,
                  uint64_t block, void *rows, const char **wrong);
/* An entry of names: those of the rows of a block (NY_KIND_NAMES), or of NY_COLUMN_NAMES columns
 * (NY_KIND_COLUMNS), as the manifest has it; `kind` may carry NY_STAGED. */
struct ny_names_entry {
    unsigned kind;
    uint64_t number;
    size_t count; /* names */
};
/* Reads an entry behind the names that are there. NY_ESTORE: *wrong says what is; no error is set,
 * and nothing is added. */
int ny_names_read(struct ny_snapshot *view, const struct ny_names_entry *entry,
                  struct ny_names *names, const char **wrong);
/* Number of entries that the names of d columns take. */
uint64_t ny_column_entries(uint64_t d);
/* The entry of this number. */
struct ny_names_entry ny_column_entry(uint64_t d, uint64_t number);
/* Sets the error for a damaged block; `wrong` is NULL where rows of it are lost. */
int ny_block_damaged(struct ny_store *store, const struct ny_manifest *manifest, enum ny_kind kind,
                     uint64_t block, const char *wrong);
/* Next link of the digest chain. */
uint64_t ny_digest_add(uint64_t digest, uint64_t checksum);
/* The checksum in the header of a stored value; 0 where there is none. */
uint64_t ny_snapshot_checksum(struct ny_snapshot *view, const struct ny_key *key);
/* The digest of the first full blocks, as the manifest's is that of all. */
uint64_t ny_snapshot_digest(struct ny_snapshot *view, uint64_t blocks);

#endif
