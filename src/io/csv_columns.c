/*
 * The uses of the columns of delimited text: points, label, names of rows, or none.
 *
 * ny_csv_choose_columns() is called once, behind the header. Options take columns by names or
 * numbers. A column of labels or of names is never among the points, even if --columns lists it.
 */
#include <string.h>

#include "base/memory.h"
#include "io/csv.h"

/* Takes the names of the columns of points. Where one of them is too long or has a line end in it,
 * none is taken: they are no more than a help, and the rows can be read all the same. */
static int take_names(struct ny_reader *reader)
{
    const struct ny_csv *csv = reader->state;
    int err = NY_OK;

    for (size_t i = 0; !err && i < csv->header.count; i++) {
        const char *name = csv->header.names[i];
        size_t length = strlen(name);

        if (csv->use[i] != NY_CSV_VALUE) continue;
        if (ny_name_wrong(name, length)) {
            ny_names_clear(&reader->columns);
            return NY_OK;
        }
        err = ny_names_add(&reader->columns, reader->ctx, name, length);
    }
    return err;
}

/* Finds the column of an option, and gives it its use. */
static int set_use(struct ny_reader *reader, const char *option, const char *wanted,
                   enum ny_csv_use use)
{
    struct ny_csv *csv = reader->state;
    size_t column;
    int err;

    if (!wanted) return NY_OK;
    err = ny_column_find(reader->ctx, &csv->header, option, wanted, &column);
    if (err) return err;
    if (csv->use[column] == NY_CSV_LABEL)
        return ny_fail(reader->ctx, NY_EUSAGE,
                       "--label-column and %s both take column %zu; a column has one use", option,
                       column + 1);
    csv->use[column] = (uint8_t)use;
    return NY_OK;
}

/* Counts the columns of points, and fails where there is none. */
static int count_points(struct ny_reader *reader)
{
    const struct ny_csv *csv = reader->state;

    reader->table.d = 0;
    for (size_t i = 0; i < csv->columns; i++)
        reader->table.d += csv->use[i] == NY_CSV_VALUE;
    if (reader->table.d) return NY_OK;
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s: of %zu columns none is left for the points; give other --columns or "
                      "--drop-columns, or another --label-column or --id-column",
                      reader->path, csv->columns);
}

int ny_csv_choose_columns(struct ny_reader *reader)
{
    struct ny_csv *csv = reader->state;
    const struct ny_reader_options *options = &reader->options;
    const struct ny_column_lists lists = {options->columns, options->drop_columns};
    bool *keep = ny_alloc(reader->ctx, NY_MEM_IO, csv->columns * sizeof(*keep));
    int err = NY_EBUDGET;

    csv->use = ny_alloc(reader->ctx, NY_MEM_IO, csv->columns);
    if (!keep || !csv->use) goto done;
    err = ny_columns_choose(reader->ctx, &csv->header, &lists, keep);
    for (size_t i = 0; !err && i < csv->columns; i++)
        csv->use[i] = keep[i] ? NY_CSV_VALUE : NY_CSV_IGNORED;
    if (!err) err = set_use(reader, "--label-column", options->label_column, NY_CSV_LABEL);
    if (!err)
        err = set_use(reader, "--id-column", options->id_column,
                      options->names ? NY_CSV_NAME : NY_CSV_IGNORED);
    if (!err) err = count_points(reader);
    reader->table.labels = options->label_column != NULL;
    reader->table.names = options->id_column && options->names;
    if (!err && csv->header.names && options->names) err = take_names(reader);
done:
    ny_free(reader->ctx, keep);
    return err;
}
