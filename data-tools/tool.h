/* The data tools share this: arguments, errors, tables in memory. A tool ends at its first error:
 * the sentence goes to stderr, the status (those of the library) to the caller. */
#ifndef NY_DATA_TOOLS_TOOL_H
#define NY_DATA_TOOLS_TOOL_H

#include <stddef.h>
#include <stdint.h>

#include "base/context.h"
#include "base/dtype.h"
#include "io/classes.h"
#include "io/writer.h"

enum tool_kind {
    TOOL_SWITCH, /* value: bool *, from no argument */
    TOOL_TEXT,   /* value: const char ** */
    TOOL_COUNT,  /* value: uint64_t *   */
    TOOL_NUMBER, /* value: double *     */
    TOOL_PAIR    /* value: const char *[2], from two arguments */
};

struct tool_option {
    const char *name; /* "--seed"; the table ends with NULL */
    enum tool_kind kind;
    void *value;
};

/* Fills in option values and `count` positional arguments, the last `optional` of which may be
 * missing (NULL). --help prints `usage` and ends with 0; a mistake ends with NY_EUSAGE. */
struct tool_positional {
    const char **values;
    int count, optional;
};
void tool_arguments(int argc, char **argv, const char *usage, const struct tool_option *options,
                    struct tool_positional positional);

/* Ends the tool unless err is NY_OK, with the context's sentence. */
void tool_check(struct ny_context *ctx, int err);
/* Ends the tool with a sentence of its own. */
_Noreturn void tool_fail(int status, const char *format, ...) NY_PRINTF(2, 3);

/* The context of the tool; tool_end() frees it and all that tool_alloc() and tool_table_read()
 * gave out. */
struct ny_context *tool_start(void);
void tool_end(struct ny_context *ctx);

/* Zeroed; ends the tool when there is no memory. */
void *tool_alloc(struct ny_context *ctx, size_t count, size_t size);

/* A file that appears under its name, whole, when it is closed; a tool that ends before leaves
 * nothing behind. NULL or "-": standard output, which must not be a terminal. */
struct ny_writer *tool_create(struct ny_context *ctx, const char *path);
/* Ends the tool where two outputs have one name, so that one would replace the other; NULL: that
 * output was not asked for. */
void tool_apart(const char *a, const char *b);
void tool_write(struct ny_writer *out, const void *bytes, size_t count);
void tool_print(struct ny_writer *out, const char *format, ...) NY_PRINTF(2, 3);
void tool_close(struct ny_writer *out);
/* The header of an n × d npy file in row order. */
void tool_write_npy_head(struct ny_writer *out, enum ny_dtype dtype, uint64_t n, uint64_t d);

struct tool_table {
    float *values;  /* n × d */
    double *labels; /* n, or NULL */
    size_t n, d;
};
/* Reads any format of the library, with the labels of another file (NULL: none). Labels that are
 * words are numbered by `classes`, the same ones in all tables that share it. */
void tool_table_read(struct ny_context *ctx, const char *path, const char *labels,
                     struct ny_classes *classes, struct tool_table *table);

#endif
