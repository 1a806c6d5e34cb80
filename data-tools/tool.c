#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/dtype.h"
#include "base/memory.h"
#include "io/output.h"
#include "io/reader.h"

/* The file that is being written; it is removed when the tool fails. */
enum { OUTPUTS_MAX = 4 };
static struct {
    struct ny_context *ctx;
    struct ny_writer *writer;
} outputs[OUTPUTS_MAX];

void tool_fail(int status, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    for (int i = 0; i < OUTPUTS_MAX; i++)
        ny_writer_abort(outputs[i].writer);
    exit(status);
}

void tool_check(struct ny_context *ctx, int err)
{
    if (err) tool_fail(err, "%s", ctx ? ny_context_message(ctx) : ny_status_meaning(err));
}

static void set_option(const struct tool_option *option, char **words)
{
    char *end = words[0];

    switch (option->kind) {
    case TOOL_SWITCH:
        *(bool *)option->value = true;
        return;
    case TOOL_TEXT:
        *(const char **)option->value = words[0];
        return;
    case TOOL_PAIR:
        ((const char **)option->value)[0] = words[0];
        ((const char **)option->value)[1] = words[1];
        return;
    case TOOL_COUNT:
        *(uint64_t *)option->value = words[0][0] == '-' ? 0 : strtoull(words[0], &end, 10);
        break;
    case TOOL_NUMBER:
        *(double *)option->value = strtod(words[0], &end);
        break;
    }
    if (end == words[0] || *end)
        tool_fail(NY_EUSAGE, "%s wants a number, not \"%s\".", option->name, words[0]);
}

void tool_arguments(int argc, char **argv, const char *usage, const struct tool_option *options,
                    struct tool_positional positional)
{
    int have = 0;

    for (int i = 1; i < argc; i++) {
        const struct tool_option *option = options;
        int values;

        if (!strcmp(argv[i], "--help")) {
            fputs(usage, stdout);
            exit(0);
        }
        if (argv[i][0] != '-' || !argv[i][1]) {
            if (have == positional.count)
                tool_fail(NY_EUSAGE, "One argument too many: %s (see --help).", argv[i]);
            positional.values[have++] = argv[i];
            continue;
        }
        while (option->name && strcmp(option->name, argv[i]))
            option++;
        if (!option->name) tool_fail(NY_EUSAGE, "Unknown option %s (see --help).", argv[i]);
        values = option->kind == TOOL_PAIR ? 2 : option->kind != TOOL_SWITCH;
        if (argc - i <= values)
            tool_fail(NY_EUSAGE, "%s wants %d value%s.", argv[i], values, values > 1 ? "s" : "");
        set_option(option, argv + i + 1);
        i += values;
    }
    if (have < positional.count - positional.optional)
        tool_fail(NY_EUSAGE, "An argument is missing: %.*s (see --help).",
                  (int)strcspn(usage, "\n"), usage);
}

/* tool_end() frees these. */
enum { OWNED_MAX = 64 };
static void *owned[OWNED_MAX];
static size_t owned_count;

static void *own(void *memory)
{
    if (owned_count == OWNED_MAX) tool_fail(NY_EINTERNAL, "Too many pieces of memory.");
    return owned[owned_count++] = memory;
}

struct ny_context *tool_start(void)
{
    struct ny_context *ctx = NULL;

    tool_check(NULL, ny_context_new(&ctx));
    return ctx;
}

void tool_end(struct ny_context *ctx)
{
    while (owned_count)
        ny_free(ctx, owned[--owned_count]);
    ny_context_free(ctx);
}

void *tool_alloc(struct ny_context *ctx, size_t count, size_t size)
{
    void *memory = ny_calloc(ctx, NY_MEM_OTHER, count, size);

    if (!memory) tool_check(ctx, NY_EBUDGET);
    return own(memory);
}

struct ny_writer *tool_create(struct ny_context *ctx, const char *path)
{
    int at = 0;

    if (!path || !strcmp(path, "-")) {
        if (isatty(STDOUT_FILENO))
            tool_fail(NY_EUSAGE, "Rows are not for a terminal: give -o OUT, or a pipe.");
        path = "-";
    }
    while (at < OUTPUTS_MAX && outputs[at].writer)
        at++;
    if (at == OUTPUTS_MAX) tool_fail(NY_EINTERNAL, "Too many files.");
    outputs[at].ctx = ctx;
    tool_check(ctx,
               ny_writer_open(&outputs[at].writer, ctx, path, NY_OUT_BYTES, NY_ROWS_COUNTED, 1));
    return outputs[at].writer;
}

void tool_apart(const char *a, const char *b)
{
    if (a && b && ny_output_is_same(a, b))
        tool_fail(NY_EUSAGE, "Two outputs both go to %s: give two names.", a);
}

static int output_of(const struct ny_writer *out)
{
    int at = 0;

    while (outputs[at].writer != out)
        at++;
    return at;
}

void tool_write(struct ny_writer *out, const void *bytes, size_t count)
{
    int err = ny_writer_rows(out, bytes, count);

    if (err) tool_check(outputs[output_of(out)].ctx, err);
}

void tool_print(struct ny_writer *out, const char *format, ...)
{
    char text[4096 + 256]; /* a path, and more */
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof text) tool_fail(NY_EINTERNAL, "Too long a line.");
    tool_write(out, text, (size_t)length);
}

void tool_close(struct ny_writer *out)
{
    int at = output_of(out);

    outputs[at].writer = NULL;
    tool_check(outputs[at].ctx, ny_writer_commit(out, NY_OK));
}

void tool_write_npy_head(struct ny_writer *out, enum ny_dtype dtype, uint64_t n, uint64_t d)
{
    static const char *const names[] = {
        [NY_U8] = "|u1", [NY_I16] = "<i2", [NY_F32] = "<f4", [NY_F64] = "<f8"};
    char dictionary[118];

    snprintf(dictionary, sizeof dictionary,
             "{'descr': '%s', 'fortran_order': False, 'shape': (%llu, %llu), }", names[dtype],
             (unsigned long long)n, (unsigned long long)d);
    /* magic, version 1.0, length of the dictionary: 118 bytes, so that the whole is 128 */
    tool_write(out, "\x93NUMPY\1\0\166\0", 10);
    tool_print(out, "%-117s\n", dictionary);
}

/* Room for `rows` rows in all. */
static void grow(struct ny_context *ctx, struct tool_table *table, size_t rows, bool labels)
{
    size_t bytes;

    tool_check(ctx, ny_product(ctx, &bytes, rows, table->d, sizeof *table->values));
    table->values = ny_resize(ctx, NY_MEM_OTHER, table->values, bytes);
    if (!table->values) tool_check(ctx, NY_EBUDGET);
    if (!labels) return;
    table->labels = ny_resize(ctx, NY_MEM_OTHER, table->labels, rows * sizeof *table->labels);
    if (!table->labels) tool_check(ctx, NY_EBUDGET);
}

void tool_table_read(struct ny_context *ctx, const char *path, const char *labels,
                     struct ny_classes *classes, struct tool_table *table)
{
    enum { BATCH = 4096 };
    const struct ny_reader_options options = {.labels_file = labels, .classes = classes};
    struct ny_reader *reader = NULL;
    const struct ny_file_table *format;
    struct ny_row_batch batch = {0};
    size_t room = 0;
    int err;

    tool_check(ctx, ny_reader_open(&reader, ctx, path, &options));
    format = ny_reader_table(reader);
    *table = (struct tool_table){.d = format->d};
    batch.values = tool_alloc(ctx, BATCH * table->d, ny_dtype_size(format->dtype));
    if (labels) batch.labels = tool_alloc(ctx, BATCH, sizeof *batch.labels);
    while ((err = ny_reader_next(reader, BATCH, &batch)) == NY_OK) {
        if (table->n + batch.count > room) {
            room = format->rows != NY_ROWS_UNKNOWN ? format->rows : 2 * (room + BATCH);
            grow(ctx, table, room, labels != NULL);
        }
        ny_dtype_to_f32(format->dtype, batch.values, table->values + table->n * table->d,
                        batch.count * table->d);
        if (labels)
            memcpy(table->labels + table->n, batch.labels, batch.count * sizeof *batch.labels);
        table->n += batch.count;
    }
    if (err != NY_END) tool_check(ctx, err);
    ny_reader_close(reader);
    own(table->values);
    own(table->labels);
    if (!table->n) tool_fail(NY_EDATA, "%s has no rows.", path);
}
