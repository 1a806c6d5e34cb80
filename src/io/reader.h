/*
 * Readers: a table in some file format becomes batches of rows, in bounded memory.
 *
 * A format is one file here and one line in the table of io/formats.c.
 */
#ifndef NY_IO_READER_H
#define NY_IO_READER_H

#include "base/context.h"
#include "base/dtype.h"
#include "base/names.h"
#include "base/sparse.h"
#include "stream/source.h"

/* Rows of formats that may be sparse: as dense ones, or as the file's density suggests. */
enum ny_reading { NY_READ_DENSE, NY_READ_AUTO, NY_READ_SPARSE };

enum ny_csv_header { NY_HEADER_AUTO, NY_HEADER_YES, NY_HEADER_NO };
/* The sign before the fraction of a number. Auto: a point, or where semicolons separate the
 * columns, as the numbers at the beginning of the file show it. */
enum ny_csv_decimal { NY_DECIMAL_AUTO, NY_DECIMAL_POINT, NY_DECIMAL_COMMA };

/* The columns that rows are to have, of a file that names its columns: they are found by their
 * names. Needed while the file is opened. */
struct ny_columns_like {
    const char *whose; /* for messages: a store */
    uint64_t count;
    int (*load)(void *arg, struct ny_names *names); /* adds all names, in order */
    void *arg;
    const char *label_column, *id_column; /* of labels and names of rows; NULL: not known */
};

struct ny_reader_options {
    const char *format;       /* a name from the table; NULL: by content, then by file name */
    enum ny_dtype dtype;      /* NY_DTYPE_NONE: natural (csv, libsvm: f32) */
    bool dtype_follows;       /* that is the type of rows before, and no option */
    enum ny_csv_header header; /* csv */
    enum ny_csv_decimal decimal; /* csv */
    const char *label_column; /* csv: 1-based number or name; NULL: none */
    const char *id_column;    /* csv: the names of rows, likewise */
    const char *columns;      /* csv, npy: "1,3-5,name,from-to" kept; NULL: all */
    const char *drop_columns; /* likewise, left out; NULL: none. Not beside `columns` */
    const char *column_names; /* a file with a name a line, where the format has none; or NULL */
    const struct ny_columns_like *like; /* NULL: rows may have any columns, or these are unnamed */
    const char *labels_file;  /* labels of this file, one a row: idx, npy or text; NULL: none */
    const char *matrix; /* h5ad, h5: name of the table in the file; NULL: X, or 10x's matrix */
    bool transpose;           /* mtx, npz: rows of the file are columns of the points */
    const char *scratch;      /* folder of scratch files; NULL: $TMPDIR, or /tmp */
    uint64_t dims;            /* libsvm: d; others: must agree; 0: from the data */
    bool new_columns_drop;    /* sparse rows: values in columns from dims on are left out */
    const char *dims_of;      /* who wants dims, for messages; NULL: "--dims says" */
    enum ny_indices indices;  /* libsvm: of the rows that these join; unknown: by the data */
    enum ny_reading
        reading; /* sparse formats; auto: sparse where fewer than one in eight is not 0 */
    struct ny_classes *classes; /* numbers of label words, of the caller; NULL: the reader's own */
    bool no_labels;           /* libsvm: those of the file are left out, as none are kept */
    bool nan_drop;            /* a row with NaN or Inf is left out (else NY_EDATA) */
    bool nan_option;          /* the user has an option for nan_drop: messages name it */
    bool nan_may_stay;        /* the user may have them kept: messages say so */
    bool nan_kept;            /* with nan_drop: its place in the output holds NaN */
    bool names;               /* names of rows and of columns are wanted */
    bool notes;               /* what was read as what, and what looks like a slip, is logged */
    bool again;               /* the file was opened before: what it has is not told once more */
};

struct ny_file_table {
    uint64_t d;
    uint64_t rows; /* NY_ROWS_UNKNOWN when the file does not say */
    enum ny_dtype dtype;
    enum ny_row_layout layout;
    uint64_t nnz;   /* sparse: values of a row on average, rounded up */
    uint64_t slots; /* sparse: values of the fullest row; of an average one where that is unknown */
    bool labels;
    bool names; /* rows have names, where options.names asks for them */
    const char *label_column, *id_column; /* that hold these, if columns have names; or NULL */
    enum ny_indices indices; /* libsvm: those that it was read with */
    const char *format;
};

/* The first rows that were left out. */
enum { NY_DROPPED_TOLD = 5 };

struct ny_reader;

/* path "-" is standard input. ".gz" and gzip content are unpacked for every format but npy files
 * read by seeking. NY_EDATA: file, line or row, column named in the message. */
int ny_reader_open(struct ny_reader **out, struct ny_context *ctx, const char *path,
                   const struct ny_reader_options *options);
/* Finds the number of rows of a file whose rows can be found without reading those before them: of
 * npy, idx, fvecs and bvecs that are not packed; NY_ROWS_UNKNOWN of all others, of which no more is
 * read than tells that. */
int ny_reader_count_rows(struct ny_context *ctx, const char *path,
                         const struct ny_reader_options *options, uint64_t *rows);
/* Closes the file and its labels and frees the reader; NULL is fine. */
void ny_reader_close(struct ny_reader *reader);
/* Returns what is known of the table; it belongs to the reader. */
const struct ny_file_table *ny_reader_table(const struct ny_reader *reader);

/* Buffers of the caller, each for max_rows; labels and source may be NULL. */
struct ny_row_batch {
    void *values;     /* max_rows × d in the table's dtype; of a sparse table: */
    struct ny_csr *sparse; /* rows are added to those that are there; grows under NY_MEM_IO */
    double *labels;   /* NaN where missing */
    uint64_t *source; /* row number in this file, 0-based */
    struct ny_names *names; /* the rows' names are added, if the table has some; NULL: not wanted */
    size_t count;     /* out: rows delivered */
    uint64_t consumed; /* out: rows of the file read so far, dropped ones included */
    uint64_t dropped;  /* out: of them, dropped so far */
    uint64_t until;    /* no row of the file from this one on is read; 0: no bound */
};
/* NY_OK with count ≥ 1, or NY_END after the last row (truncation and trailing garbage are
 * NY_EDATA). Count is 0 where all rows up to batch->until were dropped. */
int ny_reader_next(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch);
/* Skips `rows` rows of the file (a resumed import): by seeking where possible. `dropped` is what
 * the earlier run had dropped. */
int ny_reader_skip(struct ny_reader *reader, uint64_t rows, uint64_t dropped);
/* Reads to the end, for the sake of what is wrong: NY_OK where nothing is. */
int ny_reader_judge(struct ny_reader *reader);
/* The first of the rows left out so far; *count of them, at most NY_DROPPED_TOLD. */
uint64_t ny_reader_dropped_count(const struct ny_reader *reader);
/* Returns how many values so far were in columns that are left out (options.new_columns_drop). */
uint64_t ny_reader_left_out(const struct ny_reader *reader);
/* Returns the first rows that were left out; they belong to the reader. */
const uint64_t *ny_reader_dropped(const struct ny_reader *reader, size_t *count);
/* Word labels met so far (csv): label value = index into names; count 0 when labels are numbers. */
void ny_reader_class_names(const struct ny_reader *reader, const char *const **names,
                           size_t *count);

/* Names of the columns, one for each of table.d; count 0: the file has none, or they were not asked
 * for. They belong to the reader. */
const struct ny_names *ny_reader_column_names(const struct ny_reader *reader);

/* The formats, for --help: *count names with a one-line description each. */
struct ny_format_info {
    const char *name, *summary;
};
/* Returns the table of formats, which is constant. */
const struct ny_format_info *ny_formats(size_t *count);

#endif
