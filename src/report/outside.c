/*
 * Reads what colours a picture and is no part of its result (report/outside.h), for the columns of
 * report/frame.c.
 *
 * A column of the points is read again for each pass over the rows: dense rows some 4 MiB at a
 * time, sparse ones block by block, of which only the one value is kept. A file is read once into
 * memory, 8 bytes a row.
 */
#include "report/outside.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/text.h"
#include "io/labels.h"
#include "io/number.h"

enum { DENSE_BYTES = 4 << 20, ROWS_MOST = 65536 };

#define ULL(x) ((unsigned long long)(x))

static int begin(struct ny_outside *outside, struct ny_store *store, const char *title)
{
    *outside = (struct ny_outside){.ctx = ny_store_context(store), .store = store};
    ny_clean_text(title, outside->title, sizeof(outside->title));
    return ny_points_info(store, &outside->info);
}

void ny_outside_close(struct ny_outside *outside)
{
    if (!outside->ctx) return;
    ny_free(outside->ctx, outside->values);
    ny_free(outside->ctx, outside->local);
    ny_free(outside->ctx, outside->room);
    ny_free(outside->ctx, outside->words);
    ny_classes_free(outside->classes);
    outside->ctx = NULL;
}

/* ---- a column of the points --------------------------------------------------------------- */

int ny_outside_has(struct ny_store *store, const char *name, bool *has)
{
    struct ny_names names = {0};
    struct ny_rows_info info;
    const char *text;
    int err = ny_points_info(store, &info);

    *has = false;
    if (err || !info.column_names) return err;
    err = ny_points_all_columns(store, &names);
    text = names.text;
    for (size_t k = 0; !err && !*has && k < names.count; k++, text = ny_names_skip(text, 1))
        *has = strcmp(text, name) == 0;
    ny_names_release(&names, ny_store_context(store));
    return err;
}

static int find_column(struct ny_outside *outside, const char *name)
{
    if (outside->info.column_names)
        return ny_store_find_columns(outside->store, &name, 1, &outside->column);
    if (!ny_number_whole(name, strlen(name), &outside->column))
        return ny_fail(outside->ctx, NY_EUSAGE,
                       "the columns of %s have no names; give the number of one, from 0 to %llu",
                       ny_store_path(outside->store), ULL(outside->info.d - 1));
    if (outside->column >= outside->info.d)
        return ny_fail(outside->ctx, NY_EUSAGE,
                       "%s has no column %s: they are numbered from 0 to "
                       "%llu",
                       ny_store_path(outside->store), name, ULL(outside->info.d - 1));
    snprintf(outside->title, sizeof(outside->title), "column %llu", ULL(outside->column));
    return NY_OK;
}

int ny_outside_column(struct ny_outside *outside, struct ny_store *store, const char *name)
{
    size_t row_bytes;
    int err = begin(outside, store, name);

    if (err == NY_OK) err = find_column(outside, name);
    if (err) return err;
    outside->local = ny_calloc(outside->ctx, NY_MEM_IO, ROWS_MOST, sizeof(uint64_t));
    if (!outside->local) return NY_EBUDGET;
    if (outside->info.row_slots) return NY_OK;
    row_bytes = ny_rows_row_bytes(&outside->info);
    outside->piece = row_bytes < DENSE_BYTES ? DENSE_BYTES / row_bytes : 1;
    outside->room = ny_calloc(outside->ctx, NY_MEM_IO, outside->piece, row_bytes);
    return outside->room ? NY_OK : NY_EBUDGET;
}

/* Reads dense rows, some at a time, of which one value is taken. */
static int read_dense(struct ny_outside *outside, const uint64_t *rows, size_t count,
                      double *values)
{
    size_t row_bytes = ny_rows_row_bytes(&outside->info);
    int err = NY_OK;

    for (size_t at = 0, piece; err == NY_OK && at < count; at += piece) {
        piece = count - at < outside->piece ? count - at : outside->piece;
        err = ny_points_gather(outside->store, 0, rows + at, piece, outside->room);
        for (size_t i = 0; err == NY_OK && i < piece; i++)
            values[at + i] =
                ny_dtype_at(outside->info.dtype, (const char *)outside->room + i * row_bytes,
                            (size_t)outside->column);
    }
    return err;
}

/* Takes the value of the column out of each sparse row. */
struct taking {
    const struct ny_outside *outside;
    double *values;
};

static int take_value(void *arg, size_t position, struct ny_sparse row)
{
    struct taking *taking = arg;
    size_t low = 0, high = row.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (row.index[middle] < taking->outside->column)
            low = middle + 1;
        else
            high = middle;
    }
    taking->values[position] = low < row.count && row.index[low] == taking->outside->column
                                   ? ny_dtype_at(taking->outside->info.dtype, row.value, low)
                                   : 0;
    return NY_OK;
}

/* Reads the value of a run of sparse rows that one store has, which `*run` counts. */
static int read_run(struct ny_outside *outside, const uint64_t *rows, size_t count, double *values,
                    size_t *run)
{
    const struct ny_set *set = ny_store_set(outside->store);
    struct ny_store *store = outside->store;
    struct taking taking = {outside, values};
    size_t slots = (size_t)outside->info.row_slots, k = 0;
    int err = NY_OK;

    *run = count;
    if (!set) return ny_points_visit(store, slots, rows, count, take_value, &taking);
    if (ny_set_place(set, rows[0], &k))
        return ny_fail(outside->ctx, NY_EINTERNAL, "row %llu is in no shard", ULL(rows[0]));
    for (*run = 0; *run < count; ++*run) {
        if (rows[*run] < set->first[k] || rows[*run] >= set->first[k + 1]) break;
        outside->local[*run] = rows[*run] - set->first[k];
    }
    err = ny_set_store(outside->store, k, &store);
    return err ? err : ny_points_visit(store, slots, outside->local, *run, take_value, &taking);
}

static int read_sparse(struct ny_outside *outside, const uint64_t *rows, size_t count,
                       double *values)
{
    int err = NY_OK;

    for (size_t at = 0, run; err == NY_OK && at < count; at += run)
        err = read_run(outside, rows + at, count - at, values + at, &run);
    return err;
}

/* ---- a file ------------------------------------------------------------------------------- */

static bool is_ending(const char *text)
{
    static const char *const ends[] = {".npy",    ".csv",    ".tsv",    ".txt",   ".idx",
                                       ".npy.gz", ".csv.gz", ".tsv.gz", ".txt.gz"};

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (strcmp(text, ends[i]) == 0) return true;
    return false;
}

bool ny_outside_is_file(const char *text)
{
    for (size_t at = 1; text[0] && text[at]; at++)
        if (is_ending(text + at)) return true;
    return false;
}

/* Opens the file, behind its first line where that is a header, with no words known yet. */
static int open_values(struct ny_outside *outside, const char *path, bool header,
                       struct ny_labels **labels)
{
    uint64_t told;
    int err;

    ny_classes_free(outside->classes);
    outside->classes = NULL;
    err = ny_classes_new(&outside->classes, outside->ctx);
    if (err == NY_OK) err = ny_labels_open(labels, outside->ctx, path, outside->classes, &told);
    if (err) return err;
    ny_labels_trust_quotes(*labels);
    return header ? ny_labels_skip_line(*labels) : NY_OK;
}

enum first { MISSING, NUMBER, WORD };

/* Finds what the first value is, or the one behind the first line. */
static int look_at_first(struct ny_outside *outside, const char *path, bool header,
                         enum first *first)
{
    struct ny_labels *labels = NULL;
    const char *const *names;
    double value = NAN;
    size_t got;
    int err = open_values(outside, path, header, &labels);

    *first = MISSING;
    if (err == NY_OK) err = ny_labels_next(labels, &value, 1, &got);
    ny_labels_close(labels);
    if (err != NY_OK || isnan(value)) return err;
    ny_classes_names(outside->classes, &names, &got);
    *first = got > 0 ? WORD : NUMBER;
    return err;
}

/* Reads as many values as the store has rows; *got is one more where the file has more. */
static int read_values(struct ny_outside *outside, const char *path, bool header, uint64_t *got)
{
    struct ny_labels *labels = NULL;
    size_t some = 0, more = 0;
    double spare;
    int err = open_values(outside, path, header, &labels);

    if (err == NY_OK) err = ny_labels_next(labels, outside->values, (size_t)outside->info.n, &some);
    if (err == NY_OK && some == outside->info.n) err = ny_labels_next(labels, &spare, 1, &more);
    ny_labels_close(labels);
    *got = (uint64_t)some + more;
    return err;
}

/* A line of a table of several columns reads as one word. */
static int check_columns(const struct ny_outside *outside, const char *path)
{
    size_t count;
    const char *const *words;
    char mark = strstr(path, ".tsv") ? '\t' : ',';

    ny_classes_names(outside->classes, &words, &count);
    if (!count || !strchr(words[0], mark) || (!strstr(path, ".tsv") && !strstr(path, ".csv")))
        return NY_OK;
    return ny_fail(outside->ctx, NY_EDATA,
                   "%s has several columns; a file to colour points by has one value a line", path);
}

int ny_outside_compare(const char *x, const char *y)
{
    char *x_end, *y_end;
    double of_x = ny_decimal_read(x, &x_end), of_y = ny_decimal_read(y, &y_end);
    bool x_counts = x_end > x && !*x_end, y_counts = y_end > y && !*y_end;

    if (x_counts != y_counts) return x_counts ? -1 : 1;
    return x_counts && of_x != of_y ? (of_x < of_y ? -1 : 1) : strcmp(x, y);
}

static int by_word(const void *a, const void *b)
{
    return ny_outside_compare(*(const char *const *)a, *(const char *const *)b);
}

/* Numbers the words by their order, so that colours do not depend on that of the rows. */
static int order_words(struct ny_outside *outside)
{
    const char *const *met;
    double *number;

    ny_classes_names(outside->classes, &met, &outside->word_count);
    if (!outside->word_count) return NY_OK;
    outside->words = ny_calloc(outside->ctx, NY_MEM_OTHER, outside->word_count, sizeof(*met));
    number = ny_calloc(outside->ctx, NY_MEM_OTHER, outside->word_count, sizeof(*number));
    if (outside->words && number) {
        memcpy(outside->words, met, outside->word_count * sizeof(*met));
        qsort(outside->words, outside->word_count, sizeof(*met), by_word);
        for (size_t k = 0; k < outside->word_count; k++)
            number[k] =
                (double)((const char **)bsearch(&met[k], outside->words, outside->word_count,
                                                sizeof(*met), by_word) -
                         outside->words);
        for (uint64_t i = 0; i < outside->info.n; i++)
            if (!isnan(outside->values[i])) outside->values[i] = number[(size_t)outside->values[i]];
    }
    ny_free(outside->ctx, number);
    return outside->words && number ? NY_OK : NY_EBUDGET;
}

/* Leaves the folder and the end of a file's name out of its title. */
static int begin_file(struct ny_outside *outside, struct ny_store *store, const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    int err = begin(outside, store, name);

    for (size_t at = 1; outside->title[at]; at++)
        if (is_ending(outside->title + at)) outside->title[at] = '\0';
    return err;
}

/* A word above numbers is a header; one above another, or above none, where lines are too many. */
int ny_outside_file(struct ny_outside *outside, struct ny_store *store, const char *path)
{
    enum first first, second = NUMBER;
    uint64_t got = 0, n;
    int err = begin_file(outside, store, path);

    if (err) return err;
    n = outside->info.n;
    outside->values = ny_calloc(outside->ctx, NY_MEM_OTHER, (size_t)n, sizeof(double));
    if (!outside->values) return NY_EBUDGET;
    err = look_at_first(outside, path, false, &first);
    if (err == NY_OK) err = check_columns(outside, path);
    if (err == NY_OK && first == WORD) err = look_at_first(outside, path, true, &second);
    if (err == NY_OK) err = read_values(outside, path, first == WORD && second == NUMBER, &got);
    if (err == NY_OK && second != NUMBER && got > n) err = read_values(outside, path, true, &got);
    if (err) return err;
    if (got == n) return order_words(outside);
    return ny_fail(outside->ctx, NY_EDATA,
                   "%s has %s%llu values, but %s has %llu rows; give a value for each row", path,
                   got > n ? "more than " : "", ULL(got > n ? n : got), ny_store_path(store),
                   ULL(n));
}

const char *const *ny_outside_words(const struct ny_outside *outside, size_t *count)
{
    *count = outside->word_count;
    return outside->words;
}

int ny_outside_read(struct ny_outside *outside, const uint64_t *rows, size_t count, double *values)
{
    if (!outside->values)
        return outside->info.row_slots ? read_sparse(outside, rows, count, values)
                                       : read_dense(outside, rows, count, values);
    for (size_t i = 0; i < count; i++)
        values[i] = rows[i] < outside->info.n ? outside->values[rows[i]] : (double)NAN;
    return NY_OK;
}
