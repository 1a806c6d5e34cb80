/*
 * Parses --features and keeps the columns of a list with the job. A text word:N is a rule; any
 * other names a file with one column number or name a line, or a table of numbers. Where the
 * columns of the store have names, lines are taken as numbers only if all of them are.
 */
#include "api/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/option_tables.h"
#include "api/option_table.h"
#include "base/checksum.h"
#include "base/compare.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "io/lines.h"
#include "io/number.h"
#include "io/refuse.h"
#include "model/choice.h"
#include "results/keep.h"
#include "results/record.h"

/* ---- rules ---------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    enum ny_choice_rule id;
} rules[] = {{"variable", NY_CHOOSE_VARIABLE},
             {"variance", NY_CHOOSE_VARIANCE},
             {"min-rows", NY_CHOOSE_MIN_ROWS},
             {"maf", NY_CHOOSE_MAF},
             {"missing", NY_CHOOSE_MISSING}};
enum { RULES = sizeof(rules) / sizeof(rules[0]) };

/* Finds a rule by its word; RULES: there is none. */
static size_t find_rule(const char *word)
{
    size_t at = 0;

    while (at < RULES && strcmp(rules[at].word, word) != 0)
        at++;
    return at;
}

/* Refuses a word that is no rule. */
static int no_such_rule(struct ny_context *ctx, const char *text)
{
    return ny_fail_value(
        ctx, "features",
        "variable:N, variance:N, min-rows:N, maf:0.01, missing:0.05 or a file of columns", text);
}

/* Tells whether the text has the form of a rule, word:N, or is the word alone. Any other names a
 * file, as ./word:N does. */
static bool is_rule(const char *text)
{
    size_t word = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_");

    return word && (text[word] == ':' || find_rule(text) < RULES);
}

static int parse_rule(struct ny_context *ctx, const char *text, struct ny_column_choice *choice)
{
    size_t length = strcspn(text, ":"), at;
    char word[40];
    uint64_t number = 0;
    double share = 0;

    snprintf(word, sizeof(word), "%.*s", (int)length, text);
    at = find_rule(word);
    if (at == RULES) return no_such_rule(ctx, text);
    if (!text[length]) return no_such_rule(ctx, text);
    if (rules[at].id == NY_CHOOSE_MAF || rules[at].id == NY_CHOOSE_MISSING) {
        if (!ny_decimal_whole(text + length + 1, &share) || !(share >= 0 && share < 1))
            return no_such_rule(ctx, text);
    } else if (!ny_value_count(text + length + 1, &number) || number == 0) {
        return no_such_rule(ctx, text);
    }
    *choice =
        (struct ny_column_choice){.rule = rules[at].id, .number = (size_t)number, .share = share};
    return NY_OK;
}

/* ---- a list --------------------------------------------------------------------------------- */

/* Sorts the list, and refuses columns that the store does not have, or that come twice. */
static int check_list(struct ny_store *store, const char *path, uint64_t d,
                      struct ny_given_choice *given)
{
    size_t count = given->choice.number;

    qsort(given->columns, count, sizeof(*given->columns), ny_compare_rows);
    for (size_t i = 0; i < count; i++)
        if (given->columns[i] >= d || (i && given->columns[i - 1] == given->columns[i]))
            return ny_fail_at(ny_store_context(store), NY_EDATA, path, NY_NO_LINE,
                              "%s names column %llu twice, or %s does not have it", path,
                              (unsigned long long)given->columns[i], ny_store_path(store));
    return NY_OK;
}

/* A list that is being read. */
struct list {
    struct ny_context *ctx;
    const char *path;
    struct ny_given_choice *given;
    size_t room;
    bool may_name; /* the columns of the store have names */
    bool named;    /* some line is no number, and so all are names */
    struct ny_names names;
};

static int add_column(struct list *list, uint64_t column)
{
    struct ny_given_choice *given = list->given;

    if (given->choice.number == list->room) {
        size_t room = list->room ? 2 * list->room : 1024;
        int err =
            ny_resize_array(list->ctx, NY_MEM_DICTIONARY, &given->columns, room, sizeof(column));

        if (err) return err;
        list->room = room;
    }
    given->columns[given->choice.number++] = column;
    return NY_OK;
}

/* Takes one line of a text file. */
static int add_line(void *arg, uint64_t number, const char *text, size_t length)
{
    struct list *list = arg;
    uint64_t column;
    bool whole = ny_number_whole(text, length, &column);
    int err = list->may_name ? ny_names_add(&list->names, list->ctx, text, length) : NY_OK;

    if (err) return err;
    list->named |= !whole && list->may_name;
    if (list->named) return NY_OK;
    if (!whole)
        return ny_refuse_word(list->ctx, list->path, number, text, length,
                              "is not a column number, from 0");
    return add_column(list, column);
}

/* Turns the names of the lines into column numbers. */
static int find_named(struct list *list, struct ny_store *store)
{
    size_t count = list->names.count;
    const char **name = ny_calloc(list->ctx, NY_MEM_OTHER, count, sizeof(*name));
    uint64_t *columns = ny_calloc(list->ctx, NY_MEM_OTHER, count, sizeof(*columns));
    int err = NY_EBUDGET;

    if (!name || !columns) goto done;
    for (size_t i = 0; i < count; i++)
        name[i] = i ? ny_names_skip(name[i - 1], 1) : list->names.text;
    err = ny_store_find_columns(store, name, count, columns);
    list->given->choice.number = 0;
    for (size_t i = 0; i < count && !err; i++)
        err = add_column(list, columns[i]);
done:
    ny_free(list->ctx, name);
    ny_free(list->ctx, columns);
    return err;
}

/* Reads the lines of a text file. */
static int read_lines(struct list *list, struct ny_store *store)
{
    struct ny_stored_points points;
    int err = ny_points_stored(store, &points);

    list->may_name = !err && points.column_names;
    if (!err) err = ny_lines_read(list->ctx, list->path, add_line, list);
    if (!err && list->named) err = find_named(list, store);
    ny_names_release(&list->names, list->ctx);
    return err;
}

/* Reads the list that --features names. */
static int read_list(struct ny_store *store, const struct ny_options *options, uint64_t d,
                     struct ny_given_choice *given)
{
    struct list list = {.ctx = ny_store_context(store),
                        .path = ny_options_source(options, "features"),
                        .given = given};
    const char *text = ny_options_get(options, "features"), *end = strrchr(text, '.');
    bool table = list.path != text || (end && strcmp(end, ".npy") == 0);
    struct ny_numbers numbers = {0};
    int err;

    if (table) {
        err = ny_options_numbers(options, "features", &numbers);
        given->columns = numbers.number;
        given->choice.number = numbers.count;
    } else {
        err = read_lines(&list, store);
    }
    given->choice.rule = NY_CHOOSE_LISTED;
    if (!err && !given->choice.number) err = ny_refuse_empty(list.ctx, list.path);
    if (!err) err = check_list(store, list.path, d, given);
    if (!err)
        err = ny_resize_array(list.ctx, NY_MEM_DICTIONARY, &given->columns, given->choice.number,
                              sizeof(*given->columns));
    if (!err) given->choice.listed = given->columns;
    return err;
}

/* ---- what was kept -------------------------------------------------------------------------- */

/* Takes the columns that the job itself has chosen, if it has. */
static int read_kept(struct ny_given_choice *given, struct ny_store *store, uint64_t d,
                     const struct ny_own_landmarks *own)
{
    const struct ny_keep keep = ny_store_keep(store, own->name);
    json_t *record = NULL;
    int err = NY_OK;

    if (own->done)
        err = ny_record_need_done(store, own->name, &record);
    else
        record = json_incref((json_t *)own->record);
    if (!err && ny_stored_choice_count(ny_record_of(record))) {
        err = ny_stored_choice(&keep, ny_record_of(record), d, &given->columns);
        given->kept = !own->again;
        given->choice =
            (struct ny_column_choice){.rule = NY_CHOOSE_LISTED,
                                      .number = ny_stored_choice_count(ny_record_of(record)),
                                      .listed = given->columns};
    }
    json_decref(record);
    return err;
}

int ny_given_choice_read(struct ny_given_choice *given, struct ny_store *store,
                         const struct ny_options *options, const struct ny_own_landmarks *own)
{
    const char *text = ny_options_get(options, "features");
    struct ny_rows_info points;
    int err;

    *given = (struct ny_given_choice){.kept = !text};
    if (!text) return NY_OK;
    err = ny_points_info(store, &points);
    if (!err && own && !(own->again && is_rule(text))) err = read_kept(given, store, points.d, own);
    if (err || given->kept || given->columns) return err;
    return is_rule(text) ? parse_rule(ny_store_context(store), text, &given->choice)
                         : read_list(store, options, points.d, given);
}

int ny_given_choice_keep(const struct ny_given_choice *given, struct ny_store *store,
                         const char *name, json_t *record)
{
    const struct ny_keep keep = ny_store_keep(store, name);
    struct ny_context *ctx = ny_store_context(store);
    struct ny_rows_info points;
    struct ny_state state = ny_state_of(ny_record_of(record));
    unsigned char *chosen;
    int err;

    if (given->kept || !given->columns || ny_stored_choice_count(ny_record_of(record)))
        return NY_OK;
    err = ny_points_info(store, &points);
    if (err) return err;
    chosen = ny_calloc(ctx, NY_MEM_OTHER, (size_t)points.d, 1);
    if (!chosen) return NY_EBUDGET;
    for (size_t i = 0; i < given->choice.number; i++)
        chosen[given->columns[i]] = 1;
    err = ny_stored_choice_put(&keep, chosen, (size_t)points.d, &state);
    ny_codec_put(ny_record_of(record), &state);
    ny_free(ctx, chosen);
    return err ? err : ny_record_save(store, name, record);
}

uint64_t ny_given_choice_digest(const struct ny_given_choice *given)
{
    size_t bytes = given->choice.number * sizeof(*given->columns);

    return given->columns ? ny_checksum(given->columns, bytes) : 0;
}

void ny_given_choice_release(struct ny_given_choice *given, struct ny_context *ctx)
{
    ny_free(ctx, given->columns);
    *given = (struct ny_given_choice){0};
}
