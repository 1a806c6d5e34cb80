/* Columns by their names (io/like.h): csv, and formats with a name for each column, call this. */
#include "io/like.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/number.h"

enum { TOLD = 5 };

/* Writes "'id', 'day' and 3 more". */
struct list {
    size_t count, used;
    char text[TOLD * (sizeof(struct ny_shown) + 4) + 40];
};

static void add_to_list(struct list *list, const char *name)
{
    if (list->count++ < TOLD)
        list->used +=
            (size_t)snprintf(list->text + list->used, sizeof(list->text) - list->used, "%s'%s'",
                             list->used ? ", " : "", ny_shown(name, strlen(name)).text);
}

static void end_list(struct list *list)
{
    if (list->count > TOLD)
        snprintf(list->text + list->used, sizeof(list->text) - list->used, " and %zu more",
                 list->count - TOLD);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct ny_like_column *)a)->name,
                  ((const struct ny_like_column *)b)->name);
}

/* The columns of a file on their way to those that are wanted. */
struct match {
    struct ny_reader *reader;
    const struct ny_like_column *columns; /* of the file */
    size_t count;
    struct ny_like_column *sorted; /* the same by their names; `column` is the place in columns */
    bool *is_found;                /* of each of columns */
    struct ny_names names;         /* that are wanted */
    struct list lost;              /* of them: the file does not have these */
};

/* Lists the columns by their names, and loads the names that are wanted. */
static int begin(struct match *match)
{
    struct ny_context *ctx = match->reader->ctx;
    const struct ny_columns_like *like = match->reader->options.like;
    size_t count = match->count;

    match->sorted = ny_calloc(ctx, NY_MEM_IO, count, sizeof(*match->sorted));
    match->is_found = ny_calloc(ctx, NY_MEM_IO, count, sizeof(*match->is_found));
    if (!match->sorted || !match->is_found) return NY_EBUDGET;
    for (size_t i = 0; i < count; i++)
        match->sorted[i] = (struct ny_like_column){match->columns[i].name, i};
    qsort(match->sorted, count, sizeof(*match->sorted), by_name);
    return like->load(like->arg, &match->names);
}

static void end(struct match *match)
{
    struct ny_context *ctx = match->reader->ctx;

    ny_names_release(&match->names, ctx);
    ny_free(ctx, match->sorted);
    ny_free(ctx, match->is_found);
}

/* NY_EDATA: the file lacks columns that rows are to have. */
static int refuse_lost(const struct match *match)
{
    const struct ny_reader *reader = match->reader;
    bool many = match->lost.count > 1;

    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s has no column%s %s, which %s has; give %s", reader->path, many ? "s" : "",
                      match->lost.text, reader->options.like->whose,
                      many ? "a file with these" : "a file with it");
}

/* Finds each name; *unique: each is that of one column alone. NY_EDATA where some are missing, and
 * cannot be taken for 0. */
static int find_all(struct match *match, size_t *found, bool *unique)
{
    const struct ny_reader *reader = match->reader;
    const struct ny_like_column *sorted = match->sorted;
    const char *name = match->names.text;
    bool is_zero = reader->is_sparse && reader->options.reading == NY_READ_SPARSE;

    *unique = true;
    for (size_t i = 0; i < match->names.count; i++, name += strlen(name) + 1) {
        const struct ny_like_column sought = {name, 0};
        const struct ny_like_column *at =
            bsearch(&sought, sorted, match->count, sizeof(*sorted), by_name);

        found[i] = NY_LIKE_NONE;
        if (!at) {
            add_to_list(&match->lost, name);
            continue;
        }
        *unique &= !match->is_found[at->column] && (at == sorted || by_name(at - 1, at) != 0) &&
                   (at + 1 == sorted + match->count || by_name(at + 1, at) != 0);
        match->is_found[at->column] = true;
        found[i] = match->columns[at->column].column;
    }
    end_list(&match->lost);
    if (!match->lost.count || (is_zero && *unique && match->lost.count < match->names.count))
        return NY_OK;
    return refuse_lost(match);
}

/* Writes which options take labels or names of rows from the columns that are left out, where the
 * rows that are there have such and these rows would get none: they cannot be given later. Where it
 * is known which column they were in, the file lacks it. `only` is the column that is left out, in
 * quotes, where there is one. */
static void advise(const struct ny_reader *reader, const char *only, char *text, size_t size)
{
    const struct ny_reader_options *options = &reader->options;
    const struct ny_columns_like *like = options->like;
    bool names = like->names && !options->id_column && !like->id_column;
    bool labels = like->labels && !options->label_column && !options->labels_file &&
                  !like->label_column;

    text[0] = '\0';
    if (!reader->entry->format->takes_id_column || (!names && !labels)) return;
    if (only && names != labels)
        snprintf(text, size,
                 "; the rows already there have %s: --%s-column %s takes those of the new ones, if "
                 "this column holds them",
                 names ? "names" : "labels", names ? "id" : "label", only);
    else
        snprintf(text, size,
                 "; the rows already there have %s%s%s: %s%s%s take%s those of the new ones, if "
                 "these columns hold them",
                 names ? "names" : "", names && labels ? " and " : "", labels ? "labels" : "",
                 names ? "--id-column NAME" : "", names && labels ? " and " : "",
                 labels ? "--label-column NAME" : "", names && labels ? "" : "s");
}

/* Tells which columns the file lacks. A few that are 0 in all its rows are usual. Many are a
 * warning: they may be of another vocabulary, or were left out. */
static void tell_lost(const struct match *match)
{
    const double few = 0.01;
    const struct ny_reader *reader = match->reader;
    const struct ny_columns_like *like = reader->options.like;
    size_t count = match->lost.count;
    double share = (double)count / (double)match->names.count;

    if (!count || reader->options.again) return;
    ny_log(reader->ctx, share > few ? NY_LOG_WARNING : NY_LOG_NOTE,
           "%s: %zu of the %zu columns of %s %s missing, and %s 0 in its rows: %s%s", reader->path,
           count, match->names.count, like->whose, count == 1 ? "is" : "are",
           count == 1 ? "is" : "are", match->lost.text,
           share > few ? "; if they are not 0, but were left out of the file, its rows will be in "
                         "wrong places"
                       : "");
}

/* Tells which columns are left out, and that the others are taken by their names. Labels and names
 * that would be lost are a warning. */
static void tell(const struct match *match, bool turned)
{
    const struct ny_reader *reader = match->reader;
    const struct ny_columns_like *like = reader->options.like;
    struct list others = {.count = 0};
    char advice[600];

    for (size_t i = 0; i < match->count; i++)
        if (!match->is_found[i]) add_to_list(&others, match->columns[i].name);
    if (reader->options.again || !(others.count || turned)) return;
    end_list(&others);
    advise(reader, others.count == 1 ? others.text : NULL, advice, sizeof(advice));
    if (others.count)
        ny_log(reader->ctx, advice[0] ? NY_LOG_WARNING : NY_LOG_NOTE,
               "%s: %zu column%s that %s does not have %s left out: %s%s%s", reader->path,
               others.count, others.count == 1 ? "" : "s", like->whose,
               others.count == 1 ? "is" : "are", others.text,
               turned ? "; the others are put in its order" : "", advice);
    else
        ny_log(reader->ctx, NY_LOG_NOTE,
               "%s: its columns are in another order than those of %s, and are matched by name",
               reader->path, like->whose);
}

int ny_like_match(struct ny_reader *reader, const struct ny_like_column *columns, size_t count,
                  size_t *found, bool *matched)
{
    const struct ny_reader_options *options = &reader->options;
    struct match match = {.reader = reader, .columns = columns, .count = count};
    bool listed = options->columns || options->drop_columns, turned = false;
    int err = begin(&match);

    *matched = false;
    if (!err && match.names.count == options->like->count) err = find_all(&match, found, matched);
    if (err || (listed && options->like->count != count)) *matched = false;
    for (size_t i = 0, last = 0; *matched && i < match.names.count; i++) {
        if (found[i] == NY_LIKE_NONE) continue;
        turned |= found[i] < last;
        last = found[i];
    }
    if (*matched) tell_lost(&match);
    if (*matched) tell(&match, turned);
    end(&match);
    return err;
}

/* ---- formats with a name for each column ----------------------------------------------------- */

/* Notes where the columns that are found are among those of the points, and takes their names. */
static int set_places(struct ny_reader *reader, const size_t *found)
{
    const struct ny_columns_like *like = reader->options.like;
    size_t count = reader->columns.count;

    reader->place = ny_calloc(reader->ctx, NY_MEM_IO, count, sizeof(*reader->place));
    if (!reader->place) return NY_EBUDGET;
    reader->file_columns = count;
    for (size_t i = 0; i < count; i++)
        reader->place[i] = NY_NO_PLACE;
    for (size_t i = 0; i < like->count; i++)
        if (found[i] != NY_LIKE_NONE) reader->place[found[i]] = (uint32_t)i;
    ny_names_clear(&reader->columns);
    return like->load(like->arg, &reader->columns);
}

/* Tells whether the file has the columns that are wanted, in their order, and no others. */
static bool are_as_they_stand(const struct ny_reader *reader, const size_t *found)
{
    size_t i = 0, count = (size_t)reader->options.like->count;

    while (i < count && found[i] == i)
        i++;
    return i == count && i == reader->columns.count;
}

int ny_like_place(struct ny_reader *reader)
{
    const struct ny_columns_like *like = reader->options.like;
    size_t count = reader->columns.count;
    struct ny_like_column *columns;
    const char *name = reader->columns.text;
    size_t *found;
    bool matched;
    int err = NY_EBUDGET;

    if (!like || !count) return NY_OK;
    columns = ny_calloc(reader->ctx, NY_MEM_IO, count, sizeof(*columns));
    found = ny_calloc(reader->ctx, NY_MEM_IO, (size_t)like->count, sizeof(*found));
    if (!columns || !found) goto done;
    for (size_t i = 0; i < count; i++, name += strlen(name) + 1)
        columns[i] = (struct ny_like_column){name, i};
    err = ny_like_match(reader, columns, count, found, &matched);
    if (!err && matched && !are_as_they_stand(reader, found)) err = set_places(reader, found);
done:
    ny_free(reader->ctx, columns);
    ny_free(reader->ctx, found);
    return err;
}
