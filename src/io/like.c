/* Columns by their names (io/like.h): csv, and formats with a name for each column, call this. */
#include "io/like.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "io/number.h"

enum { TOLD = 5 };

/* Names of columns in a message: "'id', 'day' and 3 more". */
struct list {
    size_t count, used;
    char text[TOLD * (sizeof(struct ny_shown) + 4) + 40];
};

static void add_to_list(struct list *list, const char *name)
{
    size_t room = sizeof(list->text) - list->used;

    if (list->count++ < TOLD)
        list->used += (size_t)snprintf(list->text + list->used, room, "%s'%s'",
                                       list->used ? ", " : "", ny_shown(name, strlen(name)).text);
    else
        snprintf(list->text + list->used, room, " and %zu more", list->count - TOLD);
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
    struct ny_layout own;
    struct ny_like_column *sorted; /* the same by their names; `column` is the place in columns */
    bool *is_found;                /* of each of columns */
    struct ny_names names;         /* that are wanted */
    struct list lost;              /* of them: the file does not have these */
};

/* Lists the columns by their names, and loads the names that are wanted. */
static int begin(struct match *match)
{
    const struct ny_columns_like *like = match->reader->options.like;
    size_t count = match->count;

    match->own.ctx = match->reader->ctx;
    match->sorted = ny_lay(&match->own, NY_MEM_IO, count, sizeof(*match->sorted));
    match->is_found = ny_lay(&match->own, NY_MEM_IO, count, sizeof(*match->is_found));
    if (match->own.err) return match->own.err;
    for (size_t i = 0; i < count; i++)
        match->sorted[i] = (struct ny_like_column){match->columns[i].name, i};
    qsort(match->sorted, count, sizeof(*match->sorted), by_name);
    return like->load(like->arg, &match->names);
}

static void end(struct match *match)
{
    ny_names_release(&match->names, match->reader->ctx);
    ny_layout_free(&match->own);
}

/* Returns what rows have in columns that the file lacks; NULL: it is to have all. */
static const char *absent_of(const struct ny_reader *reader)
{
    if (reader->table.dtype == NY_GENOTYPE) return "missing";
    return reader->is_sparse && reader->options.reading == NY_READ_SPARSE ? "0" : NULL;
}

/* Finds each name; *unique: each is that of one column alone. NY_EDATA where some are missing, and
 * nothing stands for them, all are, or one that is there is not unique. */
static int find_all(struct match *match, size_t *found, bool *unique)
{
    const struct ny_reader *reader = match->reader;
    const struct ny_like_column *sorted = match->sorted;
    const char *name = match->names.text, *twice = NULL;

    for (size_t i = 0; i < match->names.count; i++, name += strlen(name) + 1) {
        const struct ny_like_column sought = {name, 0};
        const struct ny_like_column *at =
            bsearch(&sought, sorted, match->count, sizeof(*sorted), by_name);

        found[i] = NY_LIKE_NONE;
        if (!at) {
            add_to_list(&match->lost, name);
            continue;
        }
        if (match->is_found[at->column] || (at > sorted && by_name(at - 1, at) == 0) ||
            (at + 1 < sorted + match->count && by_name(at + 1, at) == 0))
            twice = name;
        match->is_found[at->column] = true;
        found[i] = match->columns[at->column].column;
    }
    *unique = !twice;
    if (!match->lost.count ||
        (absent_of(reader) && *unique && match->lost.count < match->names.count))
        return NY_OK;
    if (twice && absent_of(reader))
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s has several columns called '%s'; leave one of them", reader->path,
                          ny_shown(twice, strlen(twice)).text);
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                      "%s lacks columns of %s: %s; give a file with them", reader->path,
                      reader->options.like->whose, match->lost.text);
}

/* Tells that the file lacks some of the columns, or has others. Genotypes that lack most are likely
 * to have these by other names, or alleles of the other strand. */
static void tell(const struct match *match)
{
    const struct ny_reader *reader = match->reader;
    bool odd = reader->table.dtype == NY_GENOTYPE && 2 * match->lost.count > match->names.count;
    size_t others = 0;

    for (size_t i = 0; i < match->count; i++)
        others += !match->is_found[i];
    if (reader->options.again || (!match->lost.count && !others)) return;
    ny_log(
        reader->ctx, odd ? NY_LOG_WARNING : NY_LOG_NOTE,
        "%s: of the columns of %s it lacks %zu, which are %s in its rows; %zu others are left out",
        reader->path, reader->options.like->whose, match->lost.count,
        match->lost.count ? absent_of(reader) : "0", others);
}

int ny_like_match(struct ny_reader *reader, const struct ny_like_column *columns, size_t count,
                  size_t *found, bool *matched)
{
    const struct ny_reader_options *options = &reader->options;
    struct match match = {.reader = reader, .columns = columns, .count = count};
    bool listed = options->columns || options->drop_columns;
    int err = begin(&match);

    *matched = false;
    if (!err && match.names.count == options->like->count) err = find_all(&match, found, matched);
    if (err || (listed && options->like->count != count)) *matched = false;
    if (*matched) tell(&match);
    end(&match);
    return err;
}

/* ---- formats with a name for each column ----------------------------------------------------- */

/* Notes where the columns that are found are among those of the points, and takes their names. */
static int set_places(struct ny_reader *reader, const size_t *found)
{
    const struct ny_columns_like *like = reader->options.like;
    size_t count = reader->columns.count;

    reader->place = ny_lay(&reader->own, NY_MEM_IO, count, sizeof(*reader->place));
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
    struct ny_layout l = {.ctx = reader->ctx};
    struct ny_like_column *columns;
    const char *name = reader->columns.text;
    size_t *found;
    bool matched;
    int err;

    if (!like || !count) return NY_OK;
    columns = ny_lay(&l, NY_MEM_IO, count, sizeof(*columns));
    found = ny_lay(&l, NY_MEM_IO, (size_t)like->count, sizeof(*found));
    if (l.err) return ny_layout_end(&l);
    for (size_t i = 0; i < count; i++, name += strlen(name) + 1)
        columns[i] = (struct ny_like_column){name, i};
    err = ny_like_match(reader, columns, count, found, &matched);
    if (!err && matched && !are_as_they_stand(reader, found)) err = set_places(reader, found);
    ny_layout_free(&l);
    return err;
}
