/*
 * The file `shards` as JSON (shards/held.h):
 *
 *   format    NY_SHARDS_FORMAT
 *   shards    how many there are
 *   agreed    null as long as no import has opened its files; else an object:
 *             d, dtype, layout; rows and values (how they are prepared);
 *             labels ("none", "some", "numbers", "words"); row_names;
 *             column_names (a digest, or null); indices (of LIBSVM files:
 *             "from 0", "from 1"; null, or not there: not known)
 *   columns   names of columns in their order, whose digest is agreed; not there
 *             in files of 1.1
 *   classes   names of classes, in the order of their numbers
 *   closed    true: the facts are those of another folder, and no class comes
 *             in addition
 *   deal      digests of the options and of the files whose rows were dealt
 *             out to the shards; null, or not there: imported one by one
 *   arrived   [{shard, id, rows, points, results}] of the shards whose import
 *             has begun; rows 0: it has not ended; epochs of points and results,
 *             0 or not there: not noted
 */
#include "shards/held.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/traits.h"
#include "io/classes.h"
#include "store/format.h"

enum { NY_SHARDS_FORMAT = 1, HEX_BYTES = 33, PATH_TAIL = 24 };

static const char *const label_words[] = {"none", "some", "numbers", "words", NULL};
static const char *const indices_words[] = {"from 0", "from 1", NULL}; /* enum ny_indices − 1 */

/* ---- reading ------------------------------------------------------------------------------- */

/* Returns a whole number from `least` to `most`; false: there is none. */
static bool take_count(const json_t *object, const char *key, uint64_t least, uint64_t most,
                       uint64_t *value)
{
    const json_t *number = json_object_get(object, key);

    if (!json_is_integer(number) || json_integer_value(number) < 0) return false;
    *value = (uint64_t)json_integer_value(number);
    return *value >= least && *value <= most;
}

static bool take_flag(const json_t *object, const char *key, bool *flag)
{
    const json_t *value = json_object_get(object, key);

    *flag = json_is_true(value);
    return json_is_boolean(value);
}

/* Returns the place of a word in the list; −1: it is not there. */
static int word_of(const json_t *object, const char *key, const char *const *words)
{
    const char *text = json_string_value(json_object_get(object, key));

    for (int i = 0; text && words[i]; i++)
        if (strcmp(words[i], text) == 0) return i;
    return -1;
}

/* Parses `digits` hexadecimal digits and nothing else. */
static bool take_hex(const char *text, size_t digits, uint8_t *bytes)
{
    if (!text || strlen(text) != digits || strspn(text, "0123456789abcdef") != digits) return false;
    for (size_t i = 0; i < digits / 2; i++) {
        const char pair[] = {text[2 * i], text[2 * i + 1], '\0'};

        bytes[i] = (uint8_t)strtoul(pair, NULL, 16);
    }
    return true;
}

/* Reads the facts that are words and numbers. */
static bool take_facts(const json_t *agreed, struct ny_shard_facts *facts)
{
    static const char *const layouts[] = {"dense", "sparse", NULL};
    const char *dtype = json_string_value(json_object_get(agreed, "dtype"));
    const char *rows = json_string_value(json_object_get(agreed, "rows"));
    const char *values = json_string_value(json_object_get(agreed, "values"));
    const json_t *columns = json_object_get(agreed, "column_names");
    int layout = word_of(agreed, "layout", layouts),
        labels = word_of(agreed, "labels", label_words);
    uint8_t digest[8];

    *facts = (struct ny_shard_facts){.dtype = dtype ? ny_dtype_parse(dtype) : NY_DTYPE_NONE};
    if (!take_count(agreed, "d", 1, NY_STORE_COLUMNS_MAX, &facts->d) || layout < 0 || labels < 0)
        return false;
    facts->layout = layout ? NY_CSR : NY_DENSE;
    facts->labels = (enum ny_shard_labels)labels;
    facts->indices = (enum ny_indices)(1 + word_of(agreed, "indices", indices_words));
    facts->column_names = json_is_string(columns);
    if (facts->column_names && !take_hex(json_string_value(columns), 16, digest)) return false;
    for (size_t i = 0; facts->column_names && i < sizeof(digest); i++)
        facts->column_digest = facts->column_digest << 8 | digest[i];
    return facts->dtype != NY_DTYPE_NONE && rows && values &&
           ny_prepared_parse(&facts->preparation, rows, values) &&
           (facts->column_names || json_is_null(columns)) &&
           take_flag(agreed, "row_names", &facts->row_names);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Tells whether no two names are equal: their numbers would not be those of the list. */
static int check_distinct(struct ny_shards *shards, const char **wrong)
{
    struct ny_names *names = &shards->classes;
    const char **sorted = ny_calloc(shards->ctx, NY_MEM_IO, names->count + 1, sizeof(*sorted));
    const char *name = names->text;

    if (!sorted) return NY_EBUDGET;
    for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1)
        sorted[i] = name;
    qsort(sorted, names->count, sizeof(*sorted), by_text);
    for (size_t i = 1; i < names->count; i++)
        if (strcmp(sorted[i - 1], sorted[i]) == 0) *wrong = "two classes have the same name";
    ny_free(shards->ctx, sorted);
    return *wrong ? NY_ESTORE : NY_OK;
}

/* Reads names of at most so many bytes each; NY_ESTORE where one is none. */
static int take_names(struct ny_shards *shards, const json_t *array, size_t most,
                      struct ny_names *names)
{
    const json_t *name;
    size_t i;
    int err = NY_OK;

    json_array_foreach(array, i, name)
    {
        const char *text = json_string_value(name);
        size_t length = json_string_length(name);

        if (!text || length > most || strlen(text) != length) return NY_ESTORE;
        err = ny_names_add(names, shards->ctx, text, length);
        if (err) return err;
    }
    return NY_OK;
}

static int take_classes(struct ny_shards *shards, const json_t *classes, const char **wrong)
{
    size_t count = json_array_size(classes);
    int err;

    *wrong = "its names of classes are invalid";
    if (!json_is_array(classes) || count > NY_CLASSES_COUNT_MAX ||
        (shards->facts.d && (count > 0) != (shards->facts.labels == NY_LABELS_WORDS)))
        return NY_ESTORE;
    if (count > 0) shards->facts.labels = NY_LABELS_WORDS;
    err = take_names(shards, classes, NY_CLASS_BYTES_MAX, &shards->classes);
    if (err) return err;
    *wrong = NULL;
    return check_distinct(shards, wrong);
}

/* Reads the names of columns, which have to be those of the digest. */
static int take_columns(struct ny_shards *shards, const json_t *columns, const char **wrong)
{
    const struct ny_shard_facts *facts = &shards->facts;
    int err;

    *wrong = "its names of columns are invalid";
    if (columns && (!facts->column_names || json_array_size(columns) != facts->d)) return NY_ESTORE;
    err = take_names(shards, columns, NY_NAME_BYTES_MAX, &shards->columns);
    if (err) return err;
    if (columns && ny_names_digest(&shards->columns) != facts->column_digest) return NY_ESTORE;
    *wrong = NULL;
    return NY_OK;
}

/* Reads the list of the shards that have arrived. */
static bool take_arrived(struct ny_shards *shards, const json_t *arrived)
{
    for (size_t i = 0; i < json_array_size(arrived); i++) {
        const json_t *entry = json_array_get(arrived, i);
        const char *id = json_string_value(json_object_get(entry, "id"));
        struct ny_store_epochs *noted;
        uint64_t number;

        if (!take_count(entry, "shard", 0, shards->count - 1, &number)) return false;
        if (shards->shard[number].listed) return false;
        shards->shard[number].listed = true;
        if (!take_hex(id, 32, shards->shard[number].id) ||
            !take_count(entry, "rows", 0, NY_ROWS_MAX, &shards->shard[number].listed_rows))
            return false;
        noted = &shards->shard[number].noted;
        noted->points = (uint64_t)json_integer_value(json_object_get(entry, "points"));
        noted->results = (uint64_t)json_integer_value(json_object_get(entry, "results"));
    }
    return json_is_array(arrived);
}

int ny_shards_room(struct ny_shards *shards, unsigned count)
{
    size_t length = strlen(shards->path), bytes = length + PATH_TAIL;
    char *paths;

    shards->count = count;
    shards->shard = ny_calloc(shards->ctx, NY_MEM_OTHER, count, sizeof(*shards->shard) + bytes);
    if (!shards->shard) return NY_EBUDGET;
    while (length > 1 && shards->path[length - 1] == '/')
        length--;
    paths = (char *)(shards->shard + count);
    for (unsigned k = 0; k < count; k++) {
        shards->shard[k].path = paths + k * bytes;
        snprintf(shards->shard[k].path, bytes, "%.*s/shard-%05u", (int)length, shards->path, k);
    }
    return NY_OK;
}

/* Fills in all from the object of the file. */
static int take_all(struct ny_shards *shards, const json_t *root, const char **wrong)
{
    uint64_t format, count;
    const char *deal;
    int err;

    *wrong = "it is of a later version; use the nystream that made it";
    if (take_count(root, "format", NY_SHARDS_FORMAT + 1, INT64_MAX, &format)) return NY_ESTORE;
    *wrong = "it does not say how many shards there are";
    if (!take_count(root, "format", 1, NY_SHARDS_FORMAT, &format) ||
        !take_count(root, "shards", 1, NY_SHARDS_MAX, &count))
        return NY_ESTORE;
    err = ny_shards_room(shards, (unsigned)count);
    if (err) return err;
    *wrong = "its facts common to all shards are invalid";
    if ((!json_is_null(json_object_get(root, "agreed")) &&
         !take_facts(json_object_get(root, "agreed"), &shards->facts)) ||
        !take_flag(root, "closed", &shards->closed))
        return NY_ESTORE;
    err = take_columns(shards, json_object_get(root, "columns"), wrong);
    if (!err) err = take_classes(shards, json_object_get(root, "classes"), wrong);
    if (err) return err;
    deal = json_string_value(json_object_get(root, "deal"));
    if (deal && !(shards->deal = ny_strdup(shards->ctx, deal))) return NY_EBUDGET;
    *wrong = "its list of shards is invalid";
    if (!take_arrived(shards, json_object_get(root, "arrived"))) return NY_ESTORE;
    *wrong = NULL;
    return NY_OK;
}

int ny_shards_parse(struct ny_shards *shards, const char *text, size_t bytes, const char **wrong)
{
    json_error_t error;
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &error);
    int err;

    *wrong = "it is not JSON";
    /* jansson gives a reason if it cannot read a text, but not always if it lacks the memory. */
    if (!root && (!error.text[0] || json_error_code(&error) == json_error_out_of_memory)) {
        *wrong = NULL;
        return ny_fail_memory(shards->ctx);
    }
    if (!root) return NY_ESTORE;
    err = take_all(shards, root, wrong);
    if (err != NY_ESTORE) *wrong = NULL;
    json_decref(root);
    return err;
}

/* ---- writing ------------------------------------------------------------------------------- */

/* Writes bytes as hexadecimal digits. */
static const char *hex_of(const uint8_t *bytes, size_t count, char text[HEX_BYTES])
{
    for (size_t i = 0; i < count; i++)
        snprintf(text + 2 * i, HEX_BYTES - 2 * i, "%02x", bytes[i]);
    return text;
}

static json_t *facts_of(const struct ny_shard_facts *facts)
{
    char rows[NY_PREPARED_WORD_BYTES], hex[HEX_BYTES];

    if (!facts->d) return json_null();
    snprintf(hex, sizeof(hex), "%016llx", (unsigned long long)facts->column_digest);
    return json_pack(
        "{s:I, s:s, s:s, s:s, s:s, s:s, s:b, s:s?, s:s?}", "d", (json_int_t)facts->d, "dtype",
        ny_dtype_name(facts->dtype), "layout", facts->layout == NY_CSR ? "sparse" : "dense", "rows",
        ny_prepared_rows(&facts->preparation, rows), "values",
        ny_prepared_values(&facts->preparation), "labels", label_words[facts->labels], "row_names",
        facts->row_names, "column_names", facts->column_names ? hex : NULL, "indices",
        facts->indices ? indices_words[facts->indices - 1] : NULL);
}

/* Makes an array of names; NULL: there is no memory. */
static json_t *names_of(const struct ny_names *names)
{
    const char *name = names->text;
    json_t *array = json_array();
    int failed = 0;

    for (size_t i = 0; i < names->count; i++, name += strlen(name) + 1)
        failed |= json_array_append_new(array, json_string(name));
    if (!failed) return array;
    json_decref(array);
    return NULL;
}

/* Fills in the array of shards; false: there is no memory. */
static bool fill_arrived(const struct ny_shards *shards, json_t *arrived)
{
    char hex[HEX_BYTES];
    int failed = !arrived;

    for (unsigned k = 0; k < shards->count; k++) {
        const struct ny_shard *shard = &shards->shard[k];

        if (!shard->listed) continue;
        failed |= json_array_append_new(
            arrived, json_pack("{s:i, s:s, s:I, s:I, s:I}", "shard", (int)k, "id",
                               hex_of(shard->id, 16, hex), "rows", (json_int_t)shard->listed_rows,
                               "points", (json_int_t)shard->noted.points, "results",
                               (json_int_t)shard->noted.results));
    }
    return !failed;
}

int ny_shards_print(const struct ny_shards *shards, char **text, size_t *bytes)
{
    const size_t flags = JSON_INDENT(1) | JSON_ENSURE_ASCII;
    json_t *classes = names_of(&shards->classes), *columns = names_of(&shards->columns);
    json_t *arrived = json_array(), *root = NULL;
    int err = NY_EBUDGET;

    *text = NULL;
    *bytes = 0;
    if (classes && columns && fill_arrived(shards, arrived))
        root = json_pack("{s:i, s:i, s:o, s:O*, s:O, s:b, s:s?, s:O}", "format", NY_SHARDS_FORMAT,
                         "shards", (int)shards->count, "agreed", facts_of(&shards->facts),
                         "columns", shards->columns.count ? columns : NULL, "classes", classes,
                         "closed", shards->closed, "deal", shards->deal, "arrived", arrived);
    *bytes = root ? json_dumpb(root, NULL, 0, flags) : 0;
    if (*bytes) *text = ny_alloc(shards->ctx, NY_MEM_OTHER, *bytes + 1);
    if (*text && json_dumpb(root, *text, *bytes, flags) == *bytes) {
        (*text)[(*bytes)++] = '\n';
        err = NY_OK;
    }
    json_decref(root);
    json_decref(columns);
    json_decref(classes);
    json_decref(arrived);
    if (!err) return err;
    ny_free(shards->ctx, *text);
    *text = NULL;
    return ny_fail_memory(shards->ctx);
}
