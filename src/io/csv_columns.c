/*
 * The uses of the columns of delimited text: points, label, names of rows, or none.
 *
 * ny_csv_choose_columns() is called once, behind the header. Options take columns by names or
 * numbers. A column of labels or of names is never among the points, even if --columns lists it.
 * Columns of points stand in the rows as --columns lists them, or where the rows join others, as
 * these have them (io/like.h).
 */
#include <string.h>

#include "base/memory.h"
#include "io/csv.h"
#include "io/like.h"
#include "io/number.h"
#include "io/refuse.h"

/* Takes the names of the columns of points. */
static int take_names(struct ny_reader *reader, const size_t *order)
{
    const struct ny_csv *csv = reader->state;
    int err = NY_OK;

    for (size_t i = 0; !err && i < reader->table.d; i++) {
        const char *name = csv->header.names[order[i]], *wrong = ny_name_wrong(name, strlen(name));

        if (wrong) return ny_refuse_name(reader->ctx, reader->path, order[i], wrong);
        err = ny_names_add(&reader->columns, reader->ctx, name, strlen(name));
    }
    return err;
}

/* Finds the column of an option, and gives it its use. *name is what the header calls it. */
static int set_use(struct ny_reader *reader, const char *option, const char *wanted,
                   enum ny_csv_use use, const char **name)
{
    struct ny_csv *csv = reader->state;
    size_t column;
    int err;

    *name = NULL;
    if (!wanted) return NY_OK;
    err = ny_column_find(reader->ctx, &csv->header, option, wanted, &column);
    if (err) return err;
    if (csv->use[column] == NY_CSV_LABEL)
        return ny_fail_both(reader->ctx, "label-column", option + 2);
    csv->use[column] = (uint8_t)use;
    if (csv->header.names) *name = csv->header.names[column];
    return NY_OK;
}

/* Tells whether the file has one column of the name, which options do not leave out. */
static bool has_one(const struct ny_reader *reader, const struct ny_kept_columns *kept,
                    const char *name)
{
    const struct ny_csv *csv = reader->state;
    size_t found = 0, last = 0;
    uint64_t number;

    if (!name || ny_number_whole(name, strlen(name), &number)) return false;
    for (size_t i = 0; i < csv->columns; i++) {
        if (strcmp(csv->header.names[i], name) != 0) continue;
        found++;
        last = i;
    }
    return found == 1 && (kept->keep[last] || !reader->options.drop_columns);
}

/* Takes labels and names of rows from the columns that held those of the rows that are there,
 * unless options say where they are. */
static void take_known(struct ny_reader *reader, const struct ny_kept_columns *kept)
{
    struct ny_reader_options *options = &reader->options;
    const struct ny_columns_like *like = options->like;
    bool label = !options->label_column && !options->labels_file, id = !options->id_column;

    if (!like || !((struct ny_csv *)reader->state)->header.names) return;
    if (label && has_one(reader, kept, like->label_column))
        options->label_column = like->label_column;
    if (id && has_one(reader, kept, like->id_column)) options->id_column = like->id_column;
}

/* Leaves the columns of points in the order, and counts them; fails where there is none. */
static int count_points(struct ny_reader *reader, struct ny_kept_columns *kept)
{
    const struct ny_csv *csv = reader->state;
    size_t count = 0;

    for (size_t i = 0; i < kept->count; i++)
        if (csv->use[kept->order[i]] == NY_CSV_VALUE) kept->order[count++] = kept->order[i];
    kept->count = count;
    reader->table.d = count;
    return count ? NY_OK : ny_refuse_empty(reader->ctx, reader->path);
}

/* Decides the uses by the options alone. Another order than that of the file is for columns whose
 * names the store keeps, by which rows to append find it again. */
static int apply_options(struct ny_reader *reader, struct ny_kept_columns *kept)
{
    struct ny_csv *csv = reader->state;
    const struct ny_reader_options *options = &reader->options;
    const struct ny_column_lists lists = {options->columns, options->drop_columns};
    int err = ny_columns_choose(reader->ctx, &csv->header, &lists, kept);

    for (size_t i = 0; !err && i < csv->columns; i++)
        csv->use[i] = kept->keep[i] ? NY_CSV_VALUE : NY_CSV_IGNORED;
    if (!err) take_known(reader, kept);
    if (!err)
        err = set_use(reader, "--label-column", options->label_column, NY_CSV_LABEL,
                      &reader->table.label_column);
    if (!err)
        err = set_use(reader, "--id-column", options->id_column,
                      options->names ? NY_CSV_NAME : NY_CSV_IGNORED, &reader->table.id_column);
    if (!err) err = count_points(reader, kept);
    if (err || !kept->turned) return err;
    return csv->header.names ? NY_OK : ny_columns_refuse_turned(reader->ctx);
}

/* Notes where the columns of points stand in a row. */
static int set_places(struct ny_reader *reader, const size_t *order)
{
    struct ny_csv *csv = reader->state;

    csv->place = ny_lay(&reader->own, NY_MEM_IO, csv->columns, sizeof(*csv->place));
    if (!csv->place) return NY_EBUDGET;
    for (size_t i = 0; i < reader->table.d; i++)
        csv->place[order[i]] = (uint32_t)i;
    return NY_OK;
}

/* Takes the columns that are found: the others have no use. */
static void take(struct ny_reader *reader, const size_t *found, size_t *order)
{
    struct ny_csv *csv = reader->state;

    for (size_t i = 0; i < reader->table.d; i++)
        csv->use[order[i]] = NY_CSV_IGNORED;
    reader->table.d = reader->options.like->count;
    memcpy(order, found, (size_t)reader->table.d * sizeof(*order));
    for (size_t i = 0; i < reader->table.d; i++)
        csv->use[order[i]] = NY_CSV_VALUE;
}

/* Finds the columns of options.like among those of points: order[i], of table.d, is then the one
 * that is called as column i there. */
static int match(struct ny_reader *reader, size_t *order)
{
    const struct ny_csv *csv = reader->state;
    size_t count = (size_t)reader->table.d;
    struct ny_layout l = {.ctx = reader->ctx};
    struct ny_like_column *columns = ny_lay(&l, NY_MEM_IO, count, sizeof(*columns));
    size_t *found = ny_lay(&l, NY_MEM_IO, (size_t)reader->options.like->count, sizeof(*found));
    bool matched = false;
    int err = l.err;

    for (size_t i = 0; !err && i < count; i++)
        columns[i] = (struct ny_like_column){csv->header.names[order[i]], order[i]};
    if (!err) err = ny_like_match(reader, columns, count, found, &matched);
    if (!err && matched) take(reader, found, order);
    ny_layout_free(&l);
    return err;
}

int ny_csv_choose_columns(struct ny_reader *reader)
{
    struct ny_csv *csv = reader->state;
    const struct ny_reader_options *options = &reader->options;
    struct ny_layout l = {.ctx = reader->ctx};
    struct ny_kept_columns kept = {.keep = ny_lay(&l, NY_MEM_IO, csv->columns, sizeof(*kept.keep)),
                                   .order =
                                       ny_lay(&l, NY_MEM_IO, csv->columns, sizeof(*kept.order))};
    int err;

    csv->use = ny_lay(&reader->own, NY_MEM_IO, csv->columns, 1);
    err = l.err ? l.err : reader->own.err;
    if (!err) err = apply_options(reader, &kept);
    if (!err && csv->header.names && options->like) err = match(reader, kept.order);
    if (!err) err = set_places(reader, kept.order);
    reader->table.labels = options->label_column != NULL;
    reader->table.names = options->id_column && options->names;
    if (!err && csv->header.names && options->names) err = take_names(reader, kept.order);
    ny_layout_free(&l);
    return err;
}
