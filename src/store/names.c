/*
 * Names of rows and of columns, as they are read.
 *
 * The names of the rows of a block lie in an entry of their own beside the block, those of columns
 * in entries of NY_COLUMN_NAMES. An entry holds as many names as its header says rows, each ended
 * by a zero byte; how many bytes they have follows from nothing, so that its size is asked for
 * before it is read. Whoever reads names holds one entry at a time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "store/store_private.h"

#define ULL(x) ((unsigned long long)(x))

/* ---- entries ------------------------------------------------------------------------------- */

int ny_names_read(struct ny_snapshot *view, const struct ny_names_entry *entry,
                  struct ny_names *names, const char **wrong)
{
    enum ny_kind kind = (enum ny_kind)(entry->kind & ~(unsigned)NY_STAGED);
    struct ny_want want = {
        .key = ny_points_key(entry->kind, entry->number),
        .frame = {.store = view->store->id, .number = entry->number, .kind = kind}};
    size_t bytes = 0;
    bool whole;
    int err = ny_snapshot_size(view, &want.key, &bytes);

    *wrong = err == NY_END ? "it is missing" : "it is too short";
    if (!err && bytes > NY_NAMES_BYTES_MAX) *wrong = "it is larger than it can be";
    if (err || bytes > NY_NAMES_BYTES_MAX) return NY_ESTORE;
    *wrong = NULL;
    err = ny_names_reserve(names, view->store->ctx, bytes);
    if (err) return err;
    want.capacity = bytes;
    if (ny_snapshot_read(view, &want, names->text + names->bytes, wrong)) return NY_ESTORE;
    bytes = want.frame.raw_bytes;
    if (want.frame.rows != entry->count ||
        ny_names_count(names->text + names->bytes, bytes, &whole) != entry->count || !whole) {
        *wrong = "it has another number of names than the store says";
        return NY_ESTORE;
    }
    names->bytes += bytes;
    names->count += entry->count;
    return NY_OK;
}

uint64_t ny_column_entries(uint64_t d)
{
    return (d + NY_COLUMN_NAMES - 1) / NY_COLUMN_NAMES;
}

struct ny_names_entry ny_column_entry(uint64_t d, uint64_t number)
{
    uint64_t left = d - number * NY_COLUMN_NAMES;

    return (struct ny_names_entry){NY_KIND_COLUMNS, number,
                                   (size_t)(left < NY_COLUMN_NAMES ? left : NY_COLUMN_NAMES)};
}

/* Sets the error for damaged names of columns. */
static int columns_damaged(struct ny_store *store, const char *wrong)
{
    return ny_damaged(store->ctx, store->points->path, "the names of columns are", wrong);
}

/* Reads an entry in a view of its own, with the manifest of that view. Names that the store does
 * not have are empty. */
static int load(struct ny_store *store, unsigned kind, uint64_t number, struct ny_names *names)
{
    struct ny_names_entry entry = {kind, number, 0};
    const char *wrong = NULL;
    struct ny_manifest m;
    struct ny_snapshot *view;
    bool has;
    int end, err = ny_snapshot_begin(&view, store, store->points);

    if (err) return err;
    err = ny_manifest_read(view, &m);
    if (kind == NY_KIND_COLUMNS)
        entry = ny_column_entry(m.d, number);
    else
        entry.count = (size_t)ny_rows_in_block(&m, number);
    has = (m.flags & (kind == NY_KIND_COLUMNS ? NY_FLAG_COLUMNS : NY_FLAG_NAMES)) != 0;
    if (!err && !has) err = ny_names_add_empty(names, store->ctx, entry.count);
    if (!err && has) err = ny_names_read(view, &entry, names, &wrong);
    end = ny_snapshot_end(view, NY_OK); /* what was torn looks like damage, and is none */
    if (end || !wrong) return end ? end : err;
    return kind == NY_KIND_COLUMNS ? columns_damaged(store, wrong)
                                   : ny_block_damaged(store, &m, NY_KIND_NAMES, number, wrong);
}

/* ---- ranges -------------------------------------------------------------------------------- */

/* Names first … first + count − 1 of entries that hold `width` each. */
static int read_range(struct ny_store *store, unsigned kind, uint64_t width, uint64_t first,
                      size_t count, struct ny_names *names)
{
    struct ny_names entry = {0};
    int err = NY_OK;

    while (!err && count > 0) {
        size_t at = (size_t)(first % width);
        size_t piece = count < width - at ? count : (size_t)(width - at);

        ny_names_clear(&entry);
        err = load(store, kind, first / width, &entry);
        if (!err) err = ny_names_append(names, store->ctx, ny_names_skip(entry.text, at), piece);
        first += piece;
        count -= piece;
    }
    ny_names_release(&entry, store->ctx);
    return err;
}

static int names_of_set(void *names, struct ny_store *store, size_t k, struct ny_set_rows rows)
{
    (void)k;
    return ny_points_names(store, rows.first, rows.count, names);
}

int ny_points_names(struct ny_store *store, uint64_t first, size_t count, struct ny_names *names)
{
    struct ny_stored_points points;
    int err;

    if (store->set) return ny_set_each(store, first, count, names_of_set, names);
    err = ny_points_stored_all(store, &points);
    if (err) return err;
    if (first > points.rows.n || count > points.rows.n - first) return NY_BUG(store->ctx);
    if (store->in_memory) return ny_in_memory_names(store, first, count, names);
    return read_range(store, NY_KIND_NAMES, points.rows.block_rows, first, count, names);
}

int ny_points_column_names(struct ny_store *store, uint64_t first, size_t count,
                           struct ny_names *names)
{
    struct ny_stored_points points;
    int err = NY_OK;

    if (store->set) err = ny_set_store(store, 0, &store);
    if (!err) err = ny_points_stored_all(store, &points);
    if (err) return err;
    if (first > points.rows.d || count > points.rows.d - first) return NY_BUG(store->ctx);
    if (store->in_memory) return ny_in_memory_column_names(store, first, count, names);
    return read_range(store, NY_KIND_COLUMNS, NY_COLUMN_NAMES, first, count, names);
}

int ny_points_column_words(struct ny_rows *X, uint64_t column, char words[NY_COLUMN_WORDS_BYTES])
{
    struct ny_store *store = ny_store_of(X);
    struct ny_names name = {0};
    struct ny_stored_points points;
    int err = ny_points_stored(store, &points);

    if (!err && points.column_names) err = ny_points_column_names(store, column, 1, &name);
    ny_rows_name_column(column, name.count ? name.text : NULL, words);
    ny_names_release(&name, store->ctx);
    return err;
}

int ny_points_all_columns(void *store, struct ny_names *names)
{
    struct ny_rows_info info;
    int err = ny_points_info(store, &info);

    return err ? err : ny_points_column_names(store, 0, (size_t)info.d, names);
}

int ny_points_party(struct ny_store *store, struct ny_party *party, struct ny_names *names)
{
    struct ny_stored_points points;
    int err = ny_points_stored(store, &points);

    if (!err && points.column_names) err = ny_points_all_columns(store, names);
    *party = (struct ny_party){.whose = store->path,
                               .traits = {.d = points.rows.d,
                                          .dtype = points.rows.stored_dtype,
                                          .layout = points.rows.layout,
                                          .preparation = points.rows.preparation,
                                          .columns = ny_names_digest(names)},
                               .columns = names};
    return err;
}

int ny_points_check_columns(struct ny_store *store, const struct ny_party *party)
{
    struct ny_names names = {0};
    struct ny_rows_info info;
    struct ny_party own = {.whose = store->path};
    int err = ny_points_info(store, &info);

    if (err) return err;
    own.traits = (struct ny_traits){.d = info.d, .dtype = info.stored_dtype};
    if (party->traits.columns) err = ny_points_party(store, &own, &names);
    if (!err && own.traits.d == party->traits.d)
        err = ny_traits_compare(store->ctx, party, &own, NY_SAME_COLUMNS, NULL);
    ny_names_release(&names, store->ctx);
    return err;
}

/* ---- columns by their names ---------------------------------------------------------------- */

/* A name that is looked for, and the columns that have it. */
struct sought {
    const char *name;
    size_t place; /* in the list of the caller */
    uint64_t column, second;
};

static int by_name(const void *a, const void *b)
{
    const struct sought *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order ? order : (x->place > y->place) - (x->place < y->place);
}

static int compare_name(const void *name, const void *sought)
{
    return strcmp(name, ((const struct sought *)sought)->name);
}

/* Notes a column that goes by this name. */
static void note(struct sought *sought, size_t count, const char *name, uint64_t column)
{
    struct sought *found =
        *name ? bsearch(name, sought, count, sizeof(*sought), compare_name) : NULL;

    while (found && found > sought && strcmp(found[-1].name, name) == 0)
        found--;
    for (; found && found < sought + count && strcmp(found->name, name) == 0; found++) {
        if (found->column == UINT64_MAX)
            found->column = column;
        else if (found->second == UINT64_MAX)
            found->second = column;
    }
}

/* Notes the columns of one entry. Lists of PLINK have variants without the allele behind them. */
static void match(struct sought *sought, size_t count, struct ny_names *names, uint64_t first,
                  bool variants)
{
    char *name = names->text;

    for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1) {
        char *allele = variants ? strrchr(name, '_') : NULL;

        note(sought, count, name, first + i);
        if (!allele) continue;
        *allele = '\0';
        note(sought, count, name, first + i);
        *allele = '_';
    }
}

/* Judges what was found: a name that no column has, or one of two columns. */
static int judge(struct ny_store *store, const struct sought *sought, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool found = sought[i].column != UINT64_MAX;

        if (found && sought[i].second == UINT64_MAX) continue;
        return ny_fail_at(store->ctx, NY_EDATA, store->path, NY_NO_LINE,
                          found ? "several columns of %s are called '%.60s'; give a number"
                                : "%s has no column '%.60s'",
                          store->path, sought[i].name);
    }
    return NY_OK;
}

int ny_store_find_columns(struct ny_store *store, const char *const *names, size_t count,
                          uint64_t *columns)
{
    struct ny_context *ctx = store->ctx;
    struct ny_names entry = {0};
    struct ny_stored_points points;
    struct sought *sought;
    int err = ny_points_stored_all(store, &points);

    if (err) return err;
    if (!points.column_names)
        return ny_fail(ctx, NY_EUSAGE,
                       "the columns of %s have no names; give their numbers, from 0", store->path);
    sought = ny_calloc(ctx, NY_MEM_STORE, count + 1, sizeof(*sought));
    if (!sought) return NY_EBUDGET;
    for (size_t i = 0; i < count; i++)
        sought[i] = (struct sought){names[i], i, UINT64_MAX, UINT64_MAX};
    qsort(sought, count, sizeof(*sought), by_name);
    for (uint64_t number = 0; !err && number < ny_column_entries(points.rows.d); number++) {
        ny_names_clear(&entry);
        err = load(store, NY_KIND_COLUMNS, number, &entry);
        if (!err)
            match(sought, count, &entry, number * NY_COLUMN_NAMES,
                  points.rows.stored_dtype == NY_GENOTYPE);
    }
    for (size_t i = 0; i < count; i++)
        columns[sought[i].place] = sought[i].column;
    if (!err) err = judge(store, sought, count);
    ny_names_release(&entry, ctx);
    ny_free(ctx, sought);
    return err;
}
