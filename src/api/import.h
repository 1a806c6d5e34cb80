/* Ways into an import besides the public ones. */
#ifndef NY_API_IMPORT_H
#define NY_API_IMPORT_H

#include <jansson.h>

#include "api/options.h"
#include "io/reader.h"
#include "store/store.h"

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
/* Imports the files as ny_import() does. */
int ny_import_all(struct ny_context *context, const char *path, const struct ny_import_files *files,
                  const struct ny_options *options, struct ny_report **report);
/* A source of rows: a file, or a table in memory. */
struct ny_import_source {
    const char *file;             /* NULL: the table */
    const struct ny_table *table; /* NULL: the file */
    bool alone;                   /* no other source comes: the progress knows the end */
    struct ny_row_range rows;     /* range of the source; end 0: all rows */
};
/* Rows of a source, and which of them were left out. */
struct ny_import_found {
    uint64_t consumed;
    struct ny_import_dropped dropped;
};
/* Imports a source into the store without rows that the context holds by this path, as the options
 * of any call say how to read it. *found is set, also after an error; NULL: it is not wanted. A
 * budget that has hardly room for the process is not asked for it: the plan of a fit then says
 * which one works. */
int ny_import_held(struct ny_context *ctx, const char *path, struct ny_import_source source,
                   const struct ny_options *options, struct ny_import_found *found);
/* "dropped" and "dropped_rows" of a report. */
void ny_import_tell_dropped(json_t *object, const struct ny_import_dropped *dropped);

#endif
