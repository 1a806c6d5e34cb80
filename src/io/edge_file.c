/*
 * Reads files of edges (io/edge_file.h) for graphs that come from elsewhere (neighbors/given.c).
 *
 * A file is read as a stream, in the memory of its window, of a line of a matrix for .npz. What it
 * says is not believed: a node has to be there, a weight has to be a length or an affinity that f32
 * holds, and the message of one that is not names its line. All formats
 * go by the readers of points: io/mtx_text.c, io/npz.c, and io/csv.c for lines of text. A
 * symmetric matrix is read as it is written, half of it, since an edge that has one direction has
 * both.
 */
#include "io/edge_file.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/format.h"
#include "io/mtx_text.h"
#include "io/npz_lines.h"
#include "io/refuse.h"

#define ULL(x) ((unsigned long long)(x))

enum { FIELDS_MAX = 3 }; /* of a line of text: two nodes and a weight */

/* The numbers that nodes may have, as the graph keeps them in 32 bits. */
static const uint64_t nodes_most = UINT32_MAX;

/* An entry as the file has it. */
struct raw_entry {
    uint64_t from, to; /* from 0 */
    double weight;
};

struct edge_file {
    struct ny_edge_source base;
    struct ny_reader reader; /* for the parsers of matrices: path, bytes and their state */
    int (*next)(struct edge_file *file, struct raw_entry *entry);
    uint64_t line; /* line of the entry that was read last; its number in .npz */
    struct ny_mtx_text mtx;
    struct ny_npz_line row; /* .npz: the line under way, and how much of it was read */
    uint64_t rows_read;
    size_t row_at;
    struct ny_reader *text; /* a table of nodes and weights; NULL: it is none */
};

/* Fails because of the entry under way. */
static int wrong(const struct edge_file *file, const char *what)
{
    return ny_refuse_line(file->reader.ctx, file->reader.path, file->line, what);
}

/* ---- matrices ------------------------------------------------------------------------------- */

static int next_of_mtx(struct edge_file *file, struct raw_entry *entry)
{
    struct ny_mtx_entry found;
    int err = ny_mtx_next(&file->reader, &file->mtx, &found);

    if (err) return err;
    file->line = file->reader.bytes->line - 1;
    *entry = (struct raw_entry){found.row, found.column, found.value};
    return NY_OK;
}

/* Returns a column number of the line under way; a negative one becomes a large one. */
static uint64_t column_at(const struct ny_npz_line *row, size_t k)
{
    if (row->index_bytes == sizeof(uint32_t))
        return (uint64_t)(int64_t)((const int32_t *)row->entries.column)[k];
    return ((const uint64_t *)row->entries.column)[k];
}

static int next_of_npz(struct edge_file *file, struct raw_entry *entry)
{
    struct ny_npz_line *row = &file->row;
    size_t at;

    while (file->row_at == row->entries.count) {
        int err = ny_npz_lines_next(&file->reader, row);

        if (err) return err;
        file->rows_read++;
        file->row_at = 0;
    }
    at = file->row_at++;
    file->line++;
    entry->from = file->rows_read - 1;
    entry->to = column_at(row, at);
    ny_dtype_to_f64(row->type, (const char *)row->entries.value + at * ny_dtype_size(row->type),
                    &entry->weight, 1);
    return NY_OK;
}

/* Compares the shape of a matrix with itself and with the nodes that are given. */
static int check_shape(struct edge_file *file, uint64_t rows, uint64_t columns)
{
    const struct ny_reader *reader = &file->reader;

    if (rows != columns || (file->base.nodes && rows != file->base.nodes) || rows > nodes_most)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s is of %llu rows and %llu columns; give one of each for a node",
                          reader->path, ULL(rows), ULL(columns));
    file->base.nodes = rows;
    return NY_OK;
}

static int open_mtx(struct edge_file *file)
{
    int err = ny_mtx_begin(&file->reader, &file->mtx);

    file->next = next_of_mtx;
    if (!err && file->mtx.array)
        return ny_fail_at(file->reader.ctx, NY_EDATA, file->reader.path, NY_NO_LINE,
                          "%s is not a general or symmetric matrix in coordinates",
                          file->reader.path);
    return err ? err : check_shape(file, file->mtx.rows, file->mtx.columns);
}

static int open_npz(struct edge_file *file)
{
    int err = ny_npz_lines_open(&file->reader);

    file->next = next_of_npz;
    return err ? err : check_shape(file, file->reader.table.rows, file->reader.table.d);
}

/* ---- text ----------------------------------------------------------------------------------- */

/* Returns a node, which the caller checks; a number that is none becomes one that is not there. */
static uint64_t node_of(double value)
{
    return value >= 0 && value < (double)nodes_most && value == floor(value) ? (uint64_t)value
                                                                             : UINT64_MAX;
}

static int next_of_text(struct edge_file *file, struct raw_entry *entry)
{
    double fields[FIELDS_MAX] = {0, 0, 1};
    struct ny_row_batch batch = {.values = fields};
    int err = ny_table_next(file->text, 1, &batch);

    if (err) return err;
    file->line = file->text->bytes->line - 1;
    *entry = (struct raw_entry){node_of(fields[0]), node_of(fields[1]), fields[2]};
    return NY_OK;
}

/* Passes over comments. */
static int pass_comments(struct ny_bytes *bytes)
{
    const char *newline = bytes->at;
    int err = NY_OK;

    while (!err && newline && (*bytes->at == '#' || *bytes->at == '%')) {
        err = ny_bytes_line(bytes, &newline);
        if (err || !newline) break;
        bytes->at = newline + 1;
        bytes->line++;
        err = ny_bytes_need(bytes, 1);
    }
    return err;
}

/* Opens the lines as a table of two or three columns. */
static int open_text(struct edge_file *file)
{
    const struct ny_reader_options options = {
        .format = "csv", .dtype = NY_F64, .header = NY_HEADER_NO, .decimal = NY_DECIMAL_POINT};
    struct ny_bytes *bytes = file->reader.bytes;
    int err = pass_comments(bytes);

    if (err) return err;
    file->next = next_of_text;
    file->reader.bytes = NULL;
    err = ny_table_open(&file->text, bytes, &options);
    if (err) return err;
    file->line = bytes->line;
    if (file->text->table.d == 2 || file->text->table.d == FIELDS_MAX) return NY_OK;
    return wrong(file, "it is no edge; write i j, or i j weight, with nodes from 0");
}

/* ---- opening -------------------------------------------------------------------------------- */

/* Finds the format: that of the first bytes, else MatrixMarket by the name, else text. */
static int open_format(struct edge_file *file)
{
    static const char magic[] = "%%MatrixMarket";
    struct ny_bytes *bytes = file->reader.bytes;
    int err = ny_bytes_need(bytes, sizeof(magic));

    if (err) return err;
    if (bytes->end - bytes->at >= 4 && memcmp(bytes->at, "PK\3\4", 4) == 0) return open_npz(file);
    if (strncasecmp(bytes->at, magic, sizeof(magic) - 1) == 0 ||
        ny_ends_with(file->reader.path, ".mtx") || ny_ends_with(file->reader.path, ".mtx.gz"))
        return open_mtx(file);
    return open_text(file);
}

/* Refuses more nodes than numbers of 32 bits tell apart. */
static int check_count(const struct edge_file *file)
{
    if (file->base.nodes <= nodes_most) return NY_OK;
    return ny_fail(file->reader.ctx, NY_EUSAGE, "a graph has %llu nodes at most", ULL(nodes_most));
}

/* Refuses what cannot be read twice, as edges are counted before they are kept. */
static int check_regular(const struct edge_file *file, const char *path)
{
    if (file->reader.bytes->regular && strcmp(path, "-") != 0) return NY_OK;
    return ny_refuse_pipe(file->reader.ctx, NY_EUSAGE, file->reader.path);
}

/* ---- entries -------------------------------------------------------------------------------- */

/* Refuses a node that is not there. */
static int check_node(const struct edge_file *file, uint64_t node)
{
    uint64_t most = file->base.nodes ? file->base.nodes : nodes_most;
    char text[160];

    if (node < most) return NY_OK;
    snprintf(text, sizeof(text), "a node is not there; nodes are 0 to %llu", ULL(most - 1));
    return wrong(file, text);
}

/* Refuses what is neither a length nor an affinity. */
static int check_weight(const struct edge_file *file, double weight)
{
    if (weight >= 0 && weight <= (double)FLT_MAX) return NY_OK;
    return wrong(file, "the weight is not a number of f32 that is at least 0");
}

static int next(struct ny_edge_source *source, struct ny_edge_entry *entry)
{
    struct edge_file *file = (struct edge_file *)source;
    struct raw_entry raw;
    int err = file->next(file, &raw);

    if (!err) err = check_node(file, raw.from);
    if (!err) err = check_node(file, raw.to);
    if (!err) err = check_weight(file, raw.weight);
    if (err) return err;
    *entry = (struct ny_edge_entry){(uint32_t)raw.from, (uint32_t)raw.to, raw.weight};
    return NY_OK;
}

/* ---- a file --------------------------------------------------------------------------------- */

static void close_file(struct ny_edge_source *source)
{
    struct edge_file *file = (struct edge_file *)source;

    ny_table_close(file->text);
    ny_npz_lines_close(&file->reader);
    ny_layout_free(&file->reader.own);
    ny_bytes_close(file->reader.bytes);
    ny_free(file->reader.ctx, file);
}

int ny_edge_file_open(struct ny_edge_source **out, struct ny_context *ctx, const char *path,
                      uint64_t nodes)
{
    struct edge_file *file = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*file));
    int err = NY_EBUDGET;

    *out = NULL;
    if (!file) return err;
    *file = (struct edge_file){.base = {next, close_file, nodes},
                               .reader = {.ctx = ctx, .own.ctx = ctx, .nan = NY_NAN_KEEP}};
    err = ny_bytes_open(&file->reader.bytes, ctx, path);
    if (err) goto done;
    file->reader.path = file->reader.bytes->path;
    file->reader.bytes->line = 1;
    err = check_count(file);
    if (!err) err = check_regular(file, path);
    if (!err) err = open_format(file);
    if (err) goto done;
    *out = &file->base;
    return NY_OK;
done:
    close_file(&file->base);
    return err;
}
