/*
 * Names of outputs. The end of a regular file's name says how the file is written; a name that ends
 * in anything else is refused before the work begins, so that nobody finds an npy in "map.parquet".
 * An output that is no regular file ("-", a pipe, /dev/null) may have any name and is written as
 * is.
 */
#ifndef NY_IO_OUTPUT_H
#define NY_IO_OUTPUT_H

#include "base/context.h"

/* The kind of an output, which decides the endings that there are. */
enum ny_output {
    NY_OUTPUT_TABLE,   /* npy csv csv.gz tsv eigenvec eigenval */
    NY_OUTPUT_GRAPH,   /* npz mtx txt csv tsv: edges of a graph */
    NY_OUTPUT_NAMES,   /* txt csv csv.gz tsv: one a line */
    NY_OUTPUT_MODEL,   /* nym */
    NY_OUTPUT_PICTURE, /* png svg pdf */
    NY_OUTPUT_PAGE     /* html htm */
};

/* NY_EUSAGE where `path` names a regular file, there or not, that does not end as `what` does, or
 * that is in the folder of a store. The message lists the endings. */
int ny_output_check(struct ny_context *ctx, const char *path, enum ny_output what);
/* Tells whether `path` is the standard output, a pipe, a terminal or another device: these are
 * written to as they are, and not replaced as a whole. */
bool ny_output_is_stream(const char *path);
/* Tells whether `path` is the standard output. */
bool ny_output_is_stdout(const char *path);
/* Tells whether two paths are the same name in the same folder, however they are spelled; the files
 * need not be there. */
bool ny_output_is_same(const char *a, const char *b);

/* The form of a text table, which the end of its name decides. */
struct ny_table_text {
    char delimiter; /* between the numbers of a line; NUL: not text, but npy */
    bool packed;    /* by gzip */
    bool samples;   /* as PLINK has it: #FID IID PC1 …, of rows whose names are "FID IID" */
};
/* Returns the form of a table that is written to `path`. */
struct ny_table_text ny_output_text(const char *path);

#endif
