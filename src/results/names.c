/* Names of rows, columns and classes, read and written in pieces (results/names.h). A result has
 * the names of its own rows: those that were lost before it, or that a map of a graph leaves out,
 * are not among them. */
#include "results/names.h"

#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "io/output.h"
#include "io/writer.h"
#include "results/current.h"
#include "results/shards.h"

enum { PIECE_NAMES = 1 << 14, LOOK_ROWS = 1024 };

static const char *const parts[] = {
    [NY_NAMES_ROWS] = "ids", [NY_NAMES_COLUMNS] = "columns", [NY_NAMES_CLASSES] = "classes"};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

/* Returns the number of the part, or PARTS. */
static int number_of(const char *name)
{
    int of = 0;

    while (of < PARTS && strcmp(name, parts[of]) != 0)
        of++;
    return of;
}

bool ny_is_names_part(const char *name)
{
    return number_of(name) < PARTS;
}

/* Counts the classes that have names; there is to be one. */
static int find_classes(struct ny_names_part *part)
{
    struct ny_context *ctx = ny_store_context(part->store);
    char **names;
    size_t count;
    int err = ny_points_class_names(part->store, &names, &count);

    ny_free(ctx, names);
    part->count = count;
    if (err || count) return err;
    return ny_result_lacks(part->store, NULL, "classes");
}

int ny_names_part_find(struct ny_names_part *part, struct ny_store *store, struct ny_result *result,
                       const char *name)
{
    struct ny_stored_points points;
    bool columns;
    int err = ny_points_stored(store, &points);

    if (err) return err;
    *part = (struct ny_names_part){
        .store = store, .result = result, .of = (enum ny_names_of)number_of(name)};
    if (part->of == NY_NAMES_CLASSES) return find_classes(part);
    columns = part->of == NY_NAMES_COLUMNS;
    part->count = columns ? points.rows.d : result ? result->rows.count : points.rows.n;
    if (columns ? points.column_names : points.names) return NY_OK;
    return ny_result_lacks(store, NULL, name);
}

/* Adds the names of rows of a result, run by run of rows that lie together in the store. */
static int read_result(const struct ny_names_part *part, uint64_t first, size_t count,
                       struct ny_names *names)
{
    uint64_t row[LOOK_ROWS];
    int err = NY_OK;

    while (!err && count > 0) {
        size_t look = count < LOOK_ROWS ? count : LOOK_ROWS;

        if (part->result->span)
            err = ny_part_fill(part->result, ny_part_find("rows"), first, look, row);
        else
            err = ny_result_current(part->result, NULL,
                                    ny_result_rows_numbers(&part->result->rows, first, look, row));
        for (size_t i = 0, run; !err && i < look; i += run) {
            run = ny_run_of_rows(row + i, look - i);
            err = ny_points_names(part->store, row[i], run, names);
        }
        first += look;
        count -= look;
    }
    return err;
}

/* Adds names of classes, of which there are few enough to read them all. */
static int read_classes(const struct ny_names_part *part, uint64_t first, size_t count,
                        struct ny_names *names)
{
    struct ny_context *ctx = ny_store_context(part->store);
    char **all;
    size_t have;
    int err = ny_points_class_names(part->store, &all, &have);

    for (size_t i = 0; !err && i < count && first + i < have; i++)
        err = ny_names_add(names, ctx, all[first + i], strlen(all[first + i]));
    ny_free(ctx, all);
    return err;
}

int ny_names_part_read(const struct ny_names_part *part, uint64_t first, size_t count,
                       struct ny_names *names)
{
    if (part->of == NY_NAMES_CLASSES) return read_classes(part, first, count, names);
    if (part->of == NY_NAMES_COLUMNS)
        return ny_points_column_names(part->store, first, count, names);
    if (part->result) return read_result(part, first, count, names);
    return ny_points_names(part->store, first, count, names);
}

/* Writes one name and the end of its line. Names of classes may have line ends in them: a table
 * quotes these, and in text, where a line is a name, they are blanks. */
static int write_line(struct ny_writer *out, const char *name, struct ny_table_text form)
{
    int err = NY_OK;

    if (form.delimiter && !*name) return ny_writer_text(out, "\"\"\n", 3); /* is no empty line */
    if (form.delimiter) return ny_writer_field(out, name, form.delimiter, '\n');
    while (!err) {
        size_t plain = strcspn(name, "\n\r");

        err = ny_writer_text(out, name, plain);
        name += plain;
        if (!err) err = ny_writer_text(out, *name ? " " : "\n", 1);
        if (!*name++) break;
    }
    return err;
}

/* Reads the names of a piece, and writes them. With `missing` those that are damaged are empty, and
 * counted there. */
static int write_piece(const struct ny_names_part *part, uint64_t first, size_t count,
                       struct ny_writer *out, struct ny_table_text form, uint64_t *missing)
{
    struct ny_context *ctx = ny_store_context(part->store);
    struct ny_names names = {0};
    const char *name;
    int err = ny_names_part_read(part, first, count, &names);

    if (err == NY_ESTORE && missing) {
        ny_error_clear(ctx);
        ny_names_clear(&names);
        err = ny_names_add_empty(&names, ctx, count);
        *missing += count;
    }
    name = names.text;
    for (size_t i = 0; !err && i < names.count; i++, name += strlen(name) + 1)
        err = write_line(out, name, form);
    ny_names_release(&names, ctx);
    return err;
}

/* Writes all names. No piece reaches from one block into the next, so that a damaged block takes no
 * other names along. */
static int write_all(const struct ny_names_part *part, struct ny_writer *out,
                     struct ny_table_text form, uint64_t *missing)
{
    struct ny_rows_info info;
    uint64_t width = PIECE_NAMES;
    int err = ny_points_info(part->store, &info);

    if (part->of == NY_NAMES_ROWS && info.block_rows < width) width = info.block_rows;
    for (uint64_t first = 0, count; !err && first < part->count; first += count) {
        count = part->count - first < width ? part->count - first : width;
        err = ny_check_interrupt(ny_store_context(part->store));
        if (!err) err = write_piece(part, first, (size_t)count, out, form, missing);
    }
    return err;
}

int ny_names_part_export(const struct ny_names_part *part, const char *output, uint64_t *missing)
{
    static const char *const words[] = {"rows", "columns", "classes"};
    struct ny_context *ctx = ny_store_context(part->store);
    struct ny_points_state state;
    struct ny_writer *out;
    int err = ny_points_state(part->store, &state);

    if (!err) err = ny_writer_open(&out, ctx, output, NY_OUT_TEXT, NY_ROWS_COUNTED, 0);
    if (err) return err;
    err = write_all(part, out, ny_output_text(output), missing);
    err = ny_points_current(part->store, &state, err);
    err = ny_writer_commit(out, err);
    if (!err && !ny_output_is_stream(output))
        ny_context_wrote(ctx, (struct ny_written){.rows = part->count, .type = "text"});
    if (!err && missing && *missing)
        ny_log(ctx, NY_LOG_WARNING, "%llu names of %s are damaged; in %s they are empty",
               (unsigned long long)*missing, words[part->of], output);
    return err;
}
