/* Shared by the files of an import: api/import.c imports all files in one call, api/import_open.c
 * opens them, and api/import_rows.c moves their rows. */
#ifndef NY_API_IMPORT_PRIVATE_H
#define NY_API_IMPORT_PRIVATE_H

#include "base/layout.h"
#include "api/import.h"
#include "base/progress.h"
#include "io/classes.h"
#include "io/reader.h"
#include "shards/claim.h"
#include "store/store.h"
#include "stream/shuffle.h"

/* Hashes of the names of rows to append. */
struct ny_import_repeats {
    uint64_t *hash; /* room of them; 0: free */
    size_t room, count;
    bool off; /* there is no memory for them */
};

/* Says what was asked for. Nothing of it changes once the first source comes. */
struct ny_import_asked {
    struct ny_reader_options reading; /* its `reading` is --layout */
    struct ny_ingest_spec spec;       /* what options, and the shard, say of it */
    bool rows_typed, values_typed;    /* --rows, --values were given */
    bool shuffle;
    uint64_t seed;
    uint64_t min_values;        /* rows with fewer are left out; 0: none are */
    const char *shard, *like;   /* --shard, --like; NULL: not given */
    const struct ny_deal *deal; /* the shard is one of these; NULL: it is imported alone */
    size_t memory;              /* the most bytes that the import takes of the budget */
};

/* Tells of the rows that are there already when the first source comes. */
struct ny_import_there {
    struct ny_stored_points points; /* of the store */
    struct ny_import_how how;       /* as the imports before have read their files */
    struct ny_shard_facts facts;    /* where the store is a new shard; d 0: no others are there */
    enum ny_reading layout;         /* as was asked for, or else of the other shards; */
    struct ny_prepared preparation; /* likewise */
    struct ny_columns_like columns; /* of the store, or the other shards; whose NULL: unnamed */
};

/* Rows of the present source, a batch at a time. */
struct ny_import_batch {
    struct ny_layout own;   /* of the arrays: */
    size_t rows, row_bytes; /* room for so many rows, each of so many bytes if dense */
    char *values;
    double *labels;
    uint64_t *source;
    struct ny_csr sparse;  /* rows of a source with sparse ones */
    struct ny_names names; /* of the rows, where the source has some and the store keeps them */
    char *record;          /* one shuffled row, see shuffle_batch() */
    size_t record_bytes;
    uint64_t others; /* first rows of the source that are another shard's */
    uint64_t few;    /* rows of the source that --min-values left out */
};

struct ny_import {
    struct ny_context *ctx;
    struct ny_import_asked asked;
    struct ny_store *store;
    struct ny_claim *claim; /* on a shard; NULL: the store is an ordinary one */
    struct ny_import_there there;
    struct ny_classes *classes; /* of the store and all sources */
    struct ny_ingest_spec spec; /* as asked for, and as the first source is */
    struct ny_ingest *ingest;
    struct ny_import_kept *kept; /* in its place where the store is in memory */
    struct ny_shuffle *order;    /* with --shuffle */
    bool arrived, discarded;     /* the rows are committed; a failure has left none of them */
    char from[256];              /* the file, or the first of several, for the note */
    size_t from_end, files;      /* bytes of its name; files so far */
    struct ny_import_batch batch;
    struct ny_import_repeats repeats;
    uint64_t skip;              /* rows that an earlier run of the same import committed */
    uint64_t drained;           /* shuffled rows that came out again */
    uint64_t consumed, dropped; /* rows of all sources so far; of those before the present one */
    struct ny_import_dropped left_out;
    uint64_t values_left_out; /* by --new-columns drop */
    struct ny_meter meter;
    size_t held;  /* bytes that it holds between two calls, */
    size_t used;  /* when all that the context holds is this */
    bool working; /* in a call: ny_import_work() */
};

/* ---- api/import.c -------------------------------------------------------------------------- */

/* Reads what the options ask for, which begins the fingerprint; NY_EUSAGE. */
int ny_import_prepare(struct ny_import *import, const struct ny_options *options);
/* Begins an import: takes no more memory of the budget than one needs, beside what the context
 * holds, unless option memory says so, and makes the store where there is none; and ends it. */
int ny_import_enter(struct ny_import *import, const char *path);
void ny_import_leave(struct ny_import *import);
/* Ends and begins one of several calls that make an import. Between them the budget is the
 * caller's. */
void ny_import_rest(struct ny_import *import);
int ny_import_work(struct ny_import *import);
/* Imports all rows of a source; the first one decides columns, type and layout. */
int ny_import_source(struct ny_import *import, struct ny_import_source source);
/* Tells whether the first source has come. */
static inline bool ny_import_began(const struct ny_import *import)
{
    return import->ingest || import->kept;
}
/* Tells whether rows keep their names: those of the store have some, or those of the first source.
 */
static inline bool ny_import_names(const struct ny_import *import)
{
    return import->there.points.rows.n ? import->there.points.names : import->spec.names;
}
/* Commits what was imported, or after an error leaves what the same call can go on with. */
int ny_import_finish(struct ny_import *import, int err);
/* Reports the points as they are now, with the rows that this import added and left out. */
int ny_import_describe(struct ny_import *import, double seconds, struct ny_report **report);

/* The figures of an import that are not those of the points by then. */
struct ny_import_told {
    uint64_t rows, values_left_out, stored_bytes, bytes_added, budget;
    const struct ny_import_dropped *dropped;
    double seconds;
};
/* Makes the report of an import, whose "shard" is null. */
json_t *ny_import_report(const struct ny_rows_info *info, const struct ny_import_told *told);

/* ---- api/import_open.c --------------------------------------------------------------------- */

/* Opens a source, to be read as the rows that are there are, and those of the sources before. */
int ny_import_open(struct ny_import *import, struct ny_import_source source,
                   struct ny_reader **reader);
/* Returns how the indices of LIBSVM files begin, by the rows that are there and the sources. */
enum ny_indices ny_import_indices(const struct ny_import *import, const struct ny_reader *reader);
/* Returns the name by which messages call a source. */
const char *ny_import_name(struct ny_import_source source);

/* ---- api/import_shard.c -------------------------------------------------------------------- */

/* Finds out whether the call means a shard, and then makes the claim on it. *store: the path of the
 * store that the rows go to, which belongs to the caller or the claim. */
int ny_import_claim(struct ny_import *import, const char *path, const char **store);
/* Takes over what other shards have settled. */
void ny_import_follow(struct ny_import *import);
/* Settles the facts of the first source, or compares them; where the store has points, nothing is
 * done. */
int ny_import_tell_facts(struct ny_import *import, const struct ny_reader *reader);
/* Frees the claim, and takes it back where nothing of the shard is there. */
void ny_import_unclaim(struct ny_import *import);

/* ---- api/import_kept.c --------------------------------------------------------------------- */

/* Begins to keep rows of an import into a store in memory; adds rows and names of columns; gives
 * all of it to the store; and frees what is left. */
int ny_import_keep_begin(struct ny_import *import, const struct ny_file_table *table);
int ny_import_keep_rows(struct ny_import *import, const struct ny_row_batch *batch);
int ny_import_keep_columns(struct ny_import *import, const struct ny_names *names,
                           const char *from);
/* Keeps the rows of a file where they are; NY_END: it does not have them as they are read. */
int ny_import_keep_in_place(struct ny_import *import, struct ny_reader *reader);
int ny_import_keep_commit(struct ny_import *import);
void ny_import_keep_free(struct ny_import *import);

/* ---- api/import_rows.c --------------------------------------------------------------------- */

/* Imports the rows of the file, called `name`, but those that an earlier run committed. A range of
 * them (end 0: all) is for imports that leave out none, in the order of the file. */
int ny_import_file(struct ny_import *import, struct ny_reader *reader, const char *name,
                   struct ny_row_range rows);
/* Takes a record from ny_shuffle_drain(). */
int ny_import_shuffled(void *import, const void *record, size_t bytes);

/* ---- api/import_repeats.c ------------------------------------------------------------------ */

/* Notes the names of a batch of rows to append. */
void ny_import_note_names(struct ny_import *import, const struct ny_row_batch *batch);
/* Tells how many of them are names of rows that the store has, before the commit: where these are
 * most of them, it is a warning. */
int ny_import_tell_repeats(struct ny_import *import);

/* ---- api/import_few.c ---------------------------------------------------------------------- */

/* Takes the rows with fewer values than --min-values out of a batch of import->batch. */
void ny_import_drop_few(struct ny_import *import, struct ny_row_batch *batch);
/* Tells at the end of a file, whose last batch this is, how many of its rows were left out;
 * NY_EDATA where all were. */
int ny_import_end_few(struct ny_import *import, const char *name, const struct ny_row_batch *last);

#endif
