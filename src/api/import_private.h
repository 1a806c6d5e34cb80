/* Shared by the files of an import: api/import.c imports all files in one call, api/import_steps.c
 * one in steps, and api/import_rows.c moves the rows of both. */
#ifndef NY_API_IMPORT_PRIVATE_H
#define NY_API_IMPORT_PRIVATE_H

#include "api/import.h"
#include "base/progress.h"
#include "io/classes.h"
#include "io/reader.h"
#include "store/store.h"
#include "stream/shuffle.h"

struct ny_import {
    struct ny_context *ctx;
    struct ny_store *store;
    struct ny_reader_options reading;
    struct ny_classes *classes; /* of the store and all files */
    bool append, shuffle, raw;
    enum ny_reading layout; /* --layout */
    uint64_t seed, fingerprint;
    struct ny_ingest_spec spec;
    struct ny_ingest *ingest;
    struct ny_shuffle *order;     /* with --shuffle */
    size_t row_bytes, batch_rows; /* of dense rows; of the file that is being read */
    char *values;
    struct ny_csr sparse; /* the batch, of a file with sparse rows */
    double *labels;
    uint64_t *source;
    char *record; /* one shuffled row, see shuffle_batch() */
    size_t record_bytes;
    uint64_t skip;              /* rows that an earlier run of the same import committed */
    uint64_t drained;           /* shuffled rows that came out again */
    uint64_t consumed, dropped; /* rows of all files so far; of the files before the present one */
    struct ny_import_dropped left_out;
    struct ny_reader *reader;   /* in steps: the file, */
    struct ny_row_batch last;   /* in steps: how far it is read, */
    struct ny_row_batch before; /* and was when the step began */
    struct ny_meter meter;
};

/* ---- api/import.c -------------------------------------------------------------------------- */

/* Prepares an import from its options; NY_EUSAGE. */
int ny_import_prepare(struct ny_import *import, const struct ny_options *options,
                      const char *const *files, size_t count);
/* Opens a file as the store's rows are. */
int ny_import_open(struct ny_import *import, const char *file, struct ny_reader **reader);
/* The first file decides d and dtype, and begins the ingest. */
int ny_import_begin_file(struct ny_import *import, const struct ny_reader *reader);
/* Buffers for a batch of the file. */
int ny_import_allocate(struct ny_import *import, const struct ny_file_table *table);
/* Hands the words of label columns over to the ingest, where there are some. */
int ny_import_class_names(struct ny_import *import, const struct ny_reader *reader);
/* Frees what the import holds; without a commit, its rows stay staged for the next run. */
void ny_import_release(struct ny_import *import);

/* ---- api/import_rows.c --------------------------------------------------------------------- */

/* Imports so many rows of the file; NY_END after its last. */
int ny_import_rows(struct ny_import *import, struct ny_reader *reader, uint64_t rows,
                   struct ny_row_batch *last);
/* Imports all rows of the file but those that an earlier run committed. */
int ny_import_file(struct ny_import *import, struct ny_reader *reader);
/* Adds the rows that a file left out, whose rows begin at import->consumed. */
void ny_import_note_dropped(struct ny_import *import, const struct ny_reader *reader);
/* Takes a record from ny_shuffle_drain(). */
int ny_import_shuffled(void *import, const void *record, size_t bytes);

#endif
