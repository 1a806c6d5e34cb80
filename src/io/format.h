/* A format, and the reader that serves it. For io/ alone. */
#ifndef NY_IO_FORMAT_H
#define NY_IO_FORMAT_H

#include "base/layout.h"
#include "io/bytes.h"
#include "io/classes.h"
#include "io/convert.h"
#include "io/reader.h"

/* Rows longer than any machine holds are a file that lies. */
#define NY_FILE_COLUMNS_MAX ((uint64_t)INT32_MAX)
/* The most bytes of a file that a probe sees. */
#define NY_PROBE_BYTES ((size_t)4096)

/* Rows of a batch whose caller wants no row numbers, but labels or names do. */
enum { NY_SOURCE_ROWS = 4096 };

/* The place of a column that is left out. */
#define NY_NO_PLACE UINT32_MAX

enum ny_guess { NY_GUESS_NO, NY_GUESS_MAYBE, NY_GUESS_SURE };

/* The functions of a format; its line in the table of formats.c gives it a name. */
struct ny_format {
    /* Guesses by the first bytes; NY_GUESS_MAYBE loses to a file name. NULL: by name alone. */
    enum ny_guess (*probe)(const char *head, size_t length);
    /* Reads the header from reader->bytes; fills reader->table (but `format`) and ->state. On
     * failure close() is called too. */
    int (*open)(struct ny_reader *reader);
    /* Reads at most max_rows rows of the file and adds the kept ones to the batch (values, source,
     * and labels when the format has them); advances reader->consumed and ->dropped. NY_END when
     * no row is left and none was read. */
    int (*next)(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *batch);
    /* Passes over at most `rows` rows and advances reader->consumed; NULL: by reading them. */
    int (*skip)(struct ny_reader *reader, uint64_t rows);
    void (*close)(struct ny_reader *reader); /* NULL: all of it is in reader->own */
    bool takes_columns, takes_label_column, takes_id_column;
    bool has_header;         /* a first line may name the columns */
    bool has_lines;          /* text, a row a line, without the number of rows */
    bool takes_transpose;    /* rows of the file may be columns of the points */
    bool takes_matrix;       /* a file may hold several tables */
    bool takes_column_names; /* from a file of their own */
    bool takes_new_columns;  /* options.new_columns_drop acts where its rows are sparse */
};

struct ny_format_entry {
    struct ny_format_info info;
    const struct ny_format *format;
    const char *suffixes; /* " .csv .txt " */
};

/* All of them, in the order in which they are tried. */
const struct ny_format_entry *ny_format_table(size_t *count);
/* Returns their names, "npy, idx, …". */
const char *ny_format_list(void);

struct ny_reader {
    struct ny_context *ctx;
    const char *path; /* for messages */
    struct ny_reader_options options;
    enum { NY_NAN_ERROR, NY_NAN_DROP, NY_NAN_KEEP } nan;
    struct ny_bytes *bytes;        /* NULL: the rows are in memory: */
    const struct ny_table *memory; /* these */
    const struct ny_format_entry *entry;
    struct ny_file_table table;
    void *state;               /* of the format, in: */
    struct ny_layout own;      /* what is kept until the reader is closed */
    struct ny_layout unsorted; /* room of io/sparse_rows.c */
    struct ny_row_sort *sort;  /* NULL: rows come in their order (io/row_sort.h) */
    uint64_t consumed, dropped;
    uint64_t first_dropped[NY_DROPPED_TOLD];
    struct ny_classes *classes;     /* of label words */
    struct ny_labels *labels;       /* from options.labels_file */
    uint64_t labels_read;           /* of them */
    struct ny_row_names *row_names; /* NULL: the rows have none, or they are not wanted */
    uint64_t names_read;            /* so many of these have been read */
    struct ny_names columns;        /* names of columns; count 0: there are none */
    uint32_t *place; /* of each column of the file among those of the points, or NY_NO_PLACE; NULL:
                      * as they stand (io/like.h) */
    uint64_t file_columns; /* so many, also where those from table.d on are left out; 0: table.d */
    bool is_sparse;        /* the file lists values that are not 0; set before names are matched */
    uint64_t left_out;     /* values in columns from table.d on */
    bool ended;            /* the end was read, and all is told that is told there */
    uint64_t *source; /* NY_SOURCE_ROWS row numbers, by which labels or names are found; or NULL */
};

/* The format of some bytes and a name; *entry = NULL when nothing fits. */
int ny_format_guess(struct ny_bytes *bytes, const struct ny_format_entry **entry);

/* ---- table.c ---- */

/* Finds the format of `bytes`, checks the options and reads the header; no file of labels is
 * opened. Takes `bytes` over, also on failure. */
int ny_table_open(struct ny_reader **out, struct ny_bytes *bytes,
                  const struct ny_reader_options *options);
/* Opens rows that are no file's, by their format. */
int ny_table_open_as(struct ny_reader **out, struct ny_context *ctx, const struct ny_table *rows,
                     const struct ny_format_entry *entry, const struct ny_reader_options *options);
/* Finds the format that the options name, or else the one of the content and the name; NULL: none
 * fits. */
int ny_table_format(struct ny_bytes *bytes, const struct ny_reader_options *options,
                    const struct ny_format_entry **entry);
/* Reads on until a row is kept, or up to rows->until; NY_END after the last. */
int ny_table_next(struct ny_reader *reader, size_t max_rows, struct ny_row_batch *rows);
/* Judges a file that was read to its end: NY_END, or NY_EDATA where it has held no row, or none to
 * be kept. */
int ny_table_end(struct ny_reader *reader);
/* Closes the table with its bytes and its state. */
void ny_table_close(struct ny_reader *reader);

/* ---- dropped.c ---- */

/* The end of a message about NaN: names the option that leaves such rows out, or is "". */
const char *ny_reader_nan_cure(const struct ny_reader *reader);
/* Counts a row that is left out. */
void ny_reader_drop(struct ny_reader *reader);
/* A row with NaN or Inf (row from 0, column from 0 of the points where these have names, else of
 * the file): counted as dropped, or NY_EDATA. */
int ny_reader_fail_row(struct ny_reader *reader, uint64_t row, uint64_t column);
/* Fails because a number of row reader->consumed (column from 0) is none of the type. */
int ny_reader_fail_value(struct ny_reader *reader, uint64_t column, enum ny_dtype dtype);

#endif
