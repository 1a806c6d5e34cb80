/*
 * Columns by their names: the rows of a file that join others have the columns of these, in their
 * order, whatever else the file has. So the next file of a series is read right without the first
 * one's options, and also if a program has written its columns in another order.
 *
 * Names are compared as they are. If one of them is missing, or is that of two columns, nothing is
 * guessed: the columns stay as they came, and whoever compares them says what is wrong.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/csv.h"
#include "io/number.h"

/* A column of points of the file. */
struct candidate {
    const char *name;
    size_t column;
};

enum { TOLD = 5 };

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct candidate *)a)->name, ((const struct candidate *)b)->name);
}

/* Lists the columns of points by their names. */
static void list_candidates(const struct ny_reader *reader, const size_t *order,
                            struct candidate *list)
{
    const struct ny_csv *csv = reader->state;

    for (size_t i = 0; i < reader->table.d; i++)
        list[i] = (struct candidate){csv->header.names[order[i]], order[i]};
    qsort(list, (size_t)reader->table.d, sizeof(*list), by_name);
}

/* Finds the only candidate of each name; found[i] is its column. Returns false where a name has
 * none, or more than one. */
static bool find_all(const struct candidate *list, size_t count, const struct ny_names *names,
                     size_t *found)
{
    const char *name = names->text;

    for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1) {
        const struct candidate sought = {name, 0};
        const struct candidate *at = bsearch(&sought, list, count, sizeof(*list), by_name);

        if (!at) return false;
        if ((at > list && by_name(at - 1, at) == 0) ||
            (at + 1 < list + count && by_name(at + 1, at) == 0))
            return false;
        found[i] = at->column;
    }
    return true;
}

/* Marks the columns that are found; false where two names have found the same one. */
static bool mark_found(const size_t *found, size_t count, bool *is_found)
{
    for (size_t i = 0; i < count; i++) {
        if (is_found[found[i]]) return false;
        is_found[found[i]] = true;
    }
    return true;
}

/* Writes "'id', 'day' and 3 more": the columns of points that are not found. */
static void list_others(const struct ny_csv *csv, const bool *is_found, char *text, size_t size)
{
    size_t used = 0, count = 0;

    text[0] = '\0';
    for (size_t i = 0; i < csv->columns; i++) {
        const char *name = csv->header.names[i];

        if (csv->use[i] != NY_CSV_VALUE || is_found[i] || count++ >= TOLD) continue;
        used += (size_t)snprintf(text + used, size - used, "%s'%s'", count > 1 ? ", " : "",
                                 ny_shown(name, strlen(name)).text);
    }
    if (count > TOLD) snprintf(text + used, size - used, " and %zu more", count - TOLD);
}

/* Writes which options take labels or names of rows from the columns that are left out, where the
 * rows that are there have such and these rows would get none: they cannot be given later. `only`
 * is the column that is left out, in quotes, where there is one. */
static void advise(const struct ny_reader_options *options, const char *only, char *text,
                   size_t size)
{
    const struct ny_columns_like *like = options->like;
    bool names = like->names && !options->id_column;
    bool labels = like->labels && !options->label_column && !options->labels_file;

    text[0] = '\0';
    if (!names && !labels) return;
    if (only && names != labels)
        snprintf(text, size,
                 "; the rows there have %s: give --%s-column %s if this column holds them, as they "
                 "cannot be added later",
                 names ? "names" : "labels", names ? "id" : "label", only);
    else
        snprintf(text, size,
                 "; the rows there have %s%s%s: give %s%s%s if these columns hold them, as they "
                 "cannot be added later",
                 names ? "names" : "", names && labels ? " and " : "", labels ? "labels" : "",
                 names ? "--id-column NAME" : "", names && labels ? " and " : "",
                 labels ? "--label-column NAME" : "");
}

/* Tells which columns are left out, and that the others are taken by their names. Labels and names
 * that would be lost are a warning. */
static void tell(const struct ny_reader *reader, const bool *is_found, bool turned)
{
    const struct ny_columns_like *like = reader->options.like;
    size_t left = (size_t)(reader->table.d - like->count);
    char others[TOLD * (sizeof(struct ny_shown) + 4) + 40], advice[400];

    if (like->quiet || !(left || turned)) return;
    list_others(reader->state, is_found, others, sizeof(others));
    advise(&reader->options, left == 1 ? others : NULL, advice, sizeof(advice));
    if (left)
        ny_log(reader->ctx, advice[0] ? NY_LOG_WARNING : NY_LOG_NOTE,
               "%s: %zu column%s that %s does not have %s left out: %s%s%s", reader->path, left,
               left == 1 ? "" : "s", like->whose, left == 1 ? "is" : "are", others,
               turned ? "; the others are put in its order" : "", advice);
    else
        ny_log(reader->ctx, NY_LOG_NOTE,
               "%s: its columns stand in another order than those of %s, and are taken by their "
               "names",
               reader->path, like->whose);
}

/* Takes the columns that are found: the others have no use. */
static void take(struct ny_reader *reader, const size_t *found, const bool *is_found, size_t *order)
{
    struct ny_csv *csv = reader->state;
    size_t count = (size_t)reader->options.like->count;

    for (size_t i = 0; i < csv->columns; i++)
        if (csv->use[i] == NY_CSV_VALUE && !is_found[i]) csv->use[i] = NY_CSV_IGNORED;
    memcpy(order, found, count * sizeof(*order));
    reader->table.d = count;
}

int ny_csv_match_columns(struct ny_reader *reader, size_t *order)
{
    const struct ny_columns_like *like = reader->options.like;
    const struct ny_csv *csv = reader->state;
    size_t d = (size_t)reader->table.d, count = (size_t)like->count;
    bool listed = reader->options.columns || reader->options.drop_columns, turned = false;
    struct ny_names names = {0};
    struct candidate *list;
    size_t *found;
    bool *is_found;
    int err = NY_EBUDGET;

    if (like->count > d || (listed && like->count != d)) return NY_OK;
    list = ny_calloc(reader->ctx, NY_MEM_IO, d, sizeof(*list));
    found = ny_calloc(reader->ctx, NY_MEM_IO, d, sizeof(*found));
    is_found = ny_calloc(reader->ctx, NY_MEM_IO, csv->columns, sizeof(*is_found));
    if (list && found && is_found) err = like->load(like->arg, &names);
    if (err || names.count != count) goto done;
    list_candidates(reader, order, list);
    if (!find_all(list, d, &names, found) || !mark_found(found, count, is_found)) goto done;
    for (size_t i = 1; i < count; i++)
        turned |= found[i] < found[i - 1];
    tell(reader, is_found, turned);
    take(reader, found, is_found, order);
done:
    ny_names_release(&names, reader->ctx);
    ny_free(reader->ctx, list);
    ny_free(reader->ctx, found);
    ny_free(reader->ctx, is_found);
    return err;
}
