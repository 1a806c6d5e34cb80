/*
 * barcodes.tsv and features.tsv (genes.tsv in older files, each also .gz) beside a matrix.mtx: the
 * names of cells, and ids, symbols and kinds of genes, of which the symbols are taken, as Scanpy
 * and Seurat do. What stands before "matrix" in the name of the file stands before theirs, too.
 *
 * In files of 10x Genomics features are rows and cells are columns; others write cells as rows. So
 * the number of names tells whose they are, and --transpose says it where both are as many.
 */
#include "io/mtx_tables.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "io/format.h"
#include "io/refuse.h"
#include "io/row_names.h"

/* A table that is there. */
struct table {
    const char *path;
    unsigned field; /* the field of a line that holds the name */
    uint64_t names;
    bool of_rows; /* they are names of points; else of columns */
};

/* Finds the first of `stems` that is a file; *table is an empty path where none is. */
static void find(char table[PATH_MAX], const char *path, int prefix, const char *const *stems)
{
    for (size_t i = 0; stems[i]; i++)
        for (int packed = 0; packed < 2; packed++) {
            int length =
                snprintf(table, PATH_MAX, "%.*s%s%s", prefix, path, stems[i], packed ? ".gz" : "");

            if (length < PATH_MAX && access(table, F_OK) == 0) return;
        }
    table[0] = '\0';
}

/* Decides whose names a table has. `usual`: it is of rows where both would do. */
static int decide(const struct ny_reader *reader, struct table *table, bool usual)
{
    uint64_t rows = reader->table.rows, columns = reader->table.d;

    table->of_rows = table->names == rows && (rows != columns || usual);
    if (table->names == rows || table->names == columns) return NY_OK;
    return ny_refuse_count(reader->ctx, table->path, reader->path);
}

/* Takes the names of a table, whose place is decided. */
static int take(struct ny_reader *reader, struct table *table)
{
    struct ny_bytes *lines = NULL;
    int err;

    if (table->of_rows ? reader->row_names != NULL : reader->columns.count > 0)
        return ny_refuse_count(reader->ctx, table->path, reader->path);
    if (!table->of_rows)
        return ny_lines_names(reader->ctx, table->path, table->field, &reader->columns,
                              &table->names);
    err = ny_bytes_open(&lines, reader->ctx, table->path);
    if (err) return err;
    reader->table.names = true;
    return ny_row_names_of_lines(&reader->row_names, reader, lines, table->field);
}

/* Bytes of the path before "matrix.mtx" or "matrix.mtx.gz"; −1: it does not end so. */
static int prefix_of(const char *path)
{
    static const char *const ends[] = {"matrix.mtx", "matrix.mtx.gz"};
    size_t length = strlen(path);

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
        size_t end = strlen(ends[i]);

        if (length >= end && strcmp(path + length - end, ends[i]) == 0 && length < PATH_MAX)
            return (int)(length - end);
    }
    return -1;
}

void ny_mtx_tables_find(const char *path, char tables[NY_MTX_TABLES][PATH_MAX])
{
    static const char *const cells[] = {"barcodes.tsv", NULL};
    static const char *const features[] = {"features.tsv", "genes.tsv", NULL};
    int prefix = prefix_of(path);

    tables[0][0] = tables[1][0] = '\0';
    if (prefix < 0) return;
    find(tables[0], path, prefix, cells);
    find(tables[1], path, prefix, features);
}

int ny_mtx_tables_open(struct ny_reader *reader)
{
    char paths[NY_MTX_TABLES][PATH_MAX];
    struct table tables[NY_MTX_TABLES] = {{.path = paths[0], .field = 0},
                                          {.path = paths[1], .field = 1}};
    bool turned = reader->options.transpose;
    int err = NY_OK;

    ny_mtx_tables_find(reader->path, paths);
    if (reader->options.column_names) paths[1][0] = '\0';
    for (size_t i = 0; !err && i < NY_MTX_TABLES; i++) {
        if (!tables[i].path[0]) continue;
        err = ny_lines_names(reader->ctx, paths[i], tables[i].field, NULL, &tables[i].names);
        if (!err) err = decide(reader, &tables[i], i == 0 ? turned : !turned);
        if (!err) err = take(reader, &tables[i]);
    }
    if (!err && reader->options.notes && tables[1].path[0] && tables[1].of_rows)
        ny_log(reader->ctx, NY_LOG_NOTE,
               "%s: its rows are features; --transpose makes cells of rows, or features of cells",
               reader->path);
    return err;
}
