/*
 * Reads files of edges (io/edge_file.h) for graphs that come from elsewhere (neighbors/given.c).
 *
 * A file is read as a stream, in the memory of its window, of a line of a matrix for .npz. What it
 * says is not believed: a node has to be there, a weight has to be a length or an affinity that f32
 * holds, and the message of one that is not names its line. MatrixMarket goes by io/mtx_text.c and
 * .npz by io/npz.c, which import reads points with; the lines of a text are parsed here. A
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
#include "io/convert.h"
#include "io/mtx_text.h"
#include "io/npz_lines.h"
#include "io/number.h"
#include "io/refuse.h"

#define ULL(x) ((unsigned long long)(x))

/* Digits of a node number: more than any has, and no overflow. */
enum { INDEX_DIGITS = 18 };
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
    unsigned fields; /* text: fields of the first line; 0: none was read */
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

/* Returns the bytes of a field. */
static size_t field_length(const char *p)
{
    return strcspn(p, " \t\r\n,");
}

/* Fails because of the field at `p`. */
static int wrong_field(const struct edge_file *file, const char *p)
{
    return ny_refuse_word(file->reader.ctx, file->reader.path, file->line, p, field_length(p),
                          "does not belong here; write i j, or i j weight, with nodes from 0");
}

/* Passes over what stands between two fields: blanks, and one comma. Tells whether there is a
 * field behind them. */
static bool next_field(const char **p, const char *end)
{
    *p = ny_skip_blanks(*p);
    if (**p == ',') {
        *p = ny_skip_blanks(*p + 1);
        return true; /* an empty one is refused by who parses it */
    }
    return *p < end;
}

/* Parses a field that is the number of a node. */
static int parse_node(const struct edge_file *file, const char **p, uint64_t *node)
{
    const char *begin = *p, *at = begin;

    *node = 0;
    while ((unsigned char)(*at - '0') < 10 && at - begin < INDEX_DIGITS)
        *node = 10 * *node + (uint64_t)(*at++ - '0');
    if (at == begin || at != begin + field_length(begin)) return wrong_field(file, begin);
    *p = at;
    return NY_OK;
}

/* Parses a field that is a weight; NaN and infinity are refused later. */
static int parse_weight(const struct edge_file *file, const char **p, double *weight)
{
    size_t length = field_length(*p);
    const char *after = ny_number(*p, weight);

    if (!length || (after != *p + length && !ny_number_missing(*p, length, weight)))
        return wrong_field(file, *p);
    *p += length;
    return NY_OK;
}

/* Parses the line from `p` to `end`. All lines have as many fields as the first one. */
static int parse_line(struct edge_file *file, const char *p, const char *end,
                      struct raw_entry *entry)
{
    unsigned fields = 2;
    int err = parse_node(file, &p, &entry->from);

    if (!err && !next_field(&p, end)) return wrong_field(file, p);
    if (!err) err = parse_node(file, &p, &entry->to);
    if (err) return err;
    entry->weight = 1;
    if (next_field(&p, end)) {
        fields++;
        err = parse_weight(file, &p, &entry->weight);
        if (!err && next_field(&p, end)) return wrong_field(file, p);
    }
    if (err) return err;
    if (!file->fields) file->fields = fields;
    if (fields == file->fields) return NY_OK;
    return wrong(file, "all edges need a weight, or none");
}

static int next_of_text(struct edge_file *file, struct raw_entry *entry)
{
    struct ny_bytes *bytes = file->reader.bytes;

    for (;;) {
        const char *newline, *end, *p;
        int err = ny_bytes_line(bytes, &newline);

        if (err) return err;
        if (bytes->at == bytes->end) return NY_END;
        end = newline ? newline : bytes->end;
        p = ny_skip_blanks(bytes->at);
        bytes->at = newline ? newline + 1 : end;
        file->line++;
        if (p < end && *p != '#' && *p != '%') return parse_line(file, p, end, entry);
    }
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
    file->next = next_of_text;
    return NY_OK;
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
    snprintf(text, sizeof(text), "there is no node %llu; nodes are 0 to %llu", ULL(node),
             ULL(most - 1));
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
