/* An import whose rows are committed while the file is still being read: each step is an append
 * that readers see. */
#ifndef NY_API_IMPORT_H
#define NY_API_IMPORT_H

#include <jansson.h>

#include "api/options.h"
#include "io/reader.h"
#include "store/store.h"

struct ny_import;

/* Rows that were left out for NaN or infinity, and the first of them, counted over all files. */
struct ny_import_dropped {
    uint64_t rows;
    size_t told;
    uint64_t first[NY_DROPPED_TOLD];
};
/* Files of an import, or those of one of the shards that the rows of all files are dealt out to. */
struct ny_import_files {
    const char *const *names;
    size_t count;
    const struct ny_row_range *rows; /* a range for each file; NULL: all rows */
    const char *shard;               /* "I/N", as of option shard; NULL: as the options say */
    const struct ny_deal *deal;      /* whose shard it is (shards/claim.h); NULL: of none */
};
/* Imports the files as ny_import() does, and tells in *dropped what was left out: also where rows
 * with NaN are to be kept apart (--nan keep). *dropped may be NULL. */
int ny_import_all(struct ny_context *context, const char *path, const struct ny_import_files *files,
                  const struct ny_options *options, struct ny_import_dropped *dropped,
                  struct ny_report **report);
/* Imports the files with option shards: deals their rows out to so many shards
 * (api/import_dealt.c). */
int ny_import_dealt(struct ny_context *context, const char *path,
                    const struct ny_import_files *files, const struct ny_options *options,
                    struct ny_report **report);
/* The rows that an import in steps left out so far; valid until the import is freed. */
const struct ny_import_dropped *ny_import_left_out(const struct ny_import *import);
/* "dropped" and "dropped_rows" of a report. */
void ny_import_tell_dropped(json_t *object, const struct ny_import_dropped *dropped);

/* Begins the import of one file into a new store, in the order of the file; reads no row yet. */
int ny_import_begin(struct ny_import **out, struct ny_context *context, const char *path,
                    const char *file, const struct ny_options *options);
/* Reads on until the store has `rows` rows, and its last block is full, or the file ends. *n: how
 * many it has. Sparse rows come all at once, as the fullest of them decides how long they are. */
int ny_import_next(struct ny_import *import, uint64_t rows, uint64_t *n);
/* Frees an import in steps; what it has committed stays. */
void ny_import_end(struct ny_import *import);

#endif
