/*
 * The identity of a job's options: names and values in force, each in one spelling. Requests and
 * updates compare it with the one that a record keeps, and imports are resumed by its hash. For
 * example, --tolerance .1 and 1e-1 are the same value.
 *
 * A value that is missing in a stored identity counts as its default, so that a version with more
 * options can still go on with the jobs of an older one.
 */
#include <stdio.h>
#include <string.h>

#include "api/option_table.h"
#include "api/report.h"
#include "base/decimal.h"
#include "base/memory.h"
#include "columns/kernel.h"
#include "graph/settings.h"

/* Room for a double of 17 digits, or a whole number of 64 bits, as text. */
enum { NUMBER_BYTES = 40 };

/* A value in messages: "tolerance: unset → 0.1". */
static const char *shown(const char *value)
{
    return value ? value : "unset";
}

/* The shortest decimal that reads back as the same number. */
static void write_number(double value, char *text)
{
    for (int digits = 1; digits <= 17; digits++) {
        ny_decimal_print(text, NUMBER_BYTES, "%.*g", digits, value);
        if (ny_decimal_read(text, NULL) == value) return;
    }
}

/* Tells whether all neighbours are asked for: the ways to find them then give the same lists, and
 * the record says which of them a job goes by. */
static bool wants_all_neighbors(const struct ny_options *options)
{
    enum ny_knn_way way = (enum ny_knn_way)ny_options_choice(options, "knn");
    double recall = 1;

    if (way == NY_KNN_AUTO) ny_options_number(options, "recall", &recall);
    return way != NY_KNN_SIEVE && recall >= 1;
}

/* The value in force of option `index` in its one spelling: itself, or written to `buffer`. */
static const char *canonical(const struct ny_options *options, int index, char *buffer)
{
    const char *name = ny_option_at(index)->name;
    enum ny_option_kind kind = ny_option_rule(index)->kind;
    const char *text = ny_options_get(options, name);
    uint64_t count;
    double number;

    if (strcmp(name, "recall") == 0 && wants_all_neighbors(options)) return NULL;
    if ((kind == NY_NUMBER || kind == NY_NUMBER_FROM || kind == NY_SHARE || kind == NY_WIDTH) &&
        ny_options_number(options, name, &number)) {
        write_number(number, buffer);
        return buffer;
    }
    if (kind == NY_COUNT && ny_options_size(options, name, &count)) {
        snprintf(buffer, NUMBER_BYTES, "%llu", (unsigned long long)count);
        return buffer;
    }
    if (strcmp(name, "knn") == 0 && text && wants_all_neighbors(options)) return "exact";
    return text;
}

/* Tells whether the option is a parameter that this kernel does not list; NULL: there is none. */
static bool of_another_kernel(const struct ny_option_info *info, const char *kernel)
{
    const struct ny_kernel *found = kernel ? ny_kernel_find(kernel) : NULL;

    return info->kernels && !(found && ny_kernel_param(found, info->name));
}

/* Tells whether the option is in the identity of these groups. */
static bool counts(const struct ny_options *options, int index, unsigned groups)
{
    const struct ny_option_info *info = ny_option_at(index);
    const struct ny_param *param = ny_option_rule(index)->param;

    if (groups & NY_GROUP_FIT && !ny_options_of_map(options, index)) return false;
    if (param && !param->of_all && of_another_kernel(info, ny_options_get(options, "kernel")))
        return false;
    return info->groups & groups && ny_option_rule(index)->identity;
}

json_t *ny_options_to_json(const struct ny_options *options, unsigned groups)
{
    json_t *object = json_object();
    char buffer[NUMBER_BYTES];

    for (int i = 0; object && i < (int)ny_option_count(); i++) {
        const char *text;

        if (!counts(options, i, groups)) continue;
        text = canonical(options, i, buffer);
        if (json_object_set_new(object, ny_option_at(i)->name, ny_json_text(text))) {
            json_decref(object);
            object = NULL;
        }
    }
    return object;
}

/* FNV-1a, with a 0 byte after each text. */
static uint64_t hash_text(uint64_t hash, const char *text)
{
    do {
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
    } while (*text++);
    return hash;
}

uint64_t ny_options_fingerprint(const struct ny_options *options, unsigned groups)
{
    uint64_t hash = 0xcbf29ce484222325u;
    char buffer[NUMBER_BYTES];

    for (int i = 0; i < (int)ny_option_count(); i++) {
        const char *text;

        if (!counts(options, i, groups)) continue;
        text = canonical(options, i, buffer);
        if (!text) continue; /* so that options of later versions keep old fingerprints */
        hash = hash_text(hash, ny_option_at(i)->name);
        hash = hash_text(hash, text);
    }
    return hash;
}

/* ---- words -------------------------------------------------------------------------------- */

/* A text that grows by words. A failed allocation leaves NULL, and later words are dropped, so
 * that only the end has to be checked. */
struct line {
    struct ny_context *ctx;
    char *text; /* NULL after a failure */
    size_t length;
};

static void append(struct line *line, const char *text)
{
    size_t bytes = strlen(text);
    char *grown;

    if (!line->text) return;
    grown = ny_resize(line->ctx, NY_MEM_OTHER, line->text, line->length + bytes + 1);
    if (!grown) ny_free(line->ctx, line->text);
    line->text = grown;
    if (!grown) return;
    memcpy(grown + line->length, text, bytes + 1);
    line->length += bytes;
}

/* The value stored earlier; what is not there had its default. */
static const char *stored_value(const json_t *stored, const struct ny_option_info *info)
{
    const json_t *value = json_object_get(stored, info->name);

    if (!value && of_another_kernel(info, json_string_value(json_object_get(stored, "kernel"))))
        return NULL;
    return value ? json_string_value(value) : info->fallback;
}

/* Compares two values of which either may be missing. */
static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

const char *ny_options_other(const json_t *stored, const json_t *other)
{
    const struct ny_option_info *info;

    for (int i = 0; (info = ny_option_at(i)); i++)
        if (!same(stored_value(stored, info), stored_value(other, info))) return info->name;
    return NULL;
}

/* Tells whether the option makes a map of a kernel one of a graph, whose options count from then
 * on. */
static bool makes_graph(const char *name)
{
    return strcmp(name, "graph") == 0 || strcmp(name, "neighbors") == 0;
}

/* ---- differences -------------------------------------------------------------------------- */

/* Returns the value of an option in a stored identity. Maps of kernels do not store what makes a
 * map one of a graph: a value that is missing is not the default there. */
static const char *value_in(const json_t *identity, const struct ny_option_info *info)
{
    return makes_graph(info->name) ? json_string_value(json_object_get(identity, info->name))
                                   : stored_value(identity, info);
}

/* Tells whether two identities differ in an option that counts in the first. */
static bool differs(const json_t *now, const json_t *stored, int index)
{
    const struct ny_option_info *info = ny_option_at(index);
    const char *value = value_in(now, info), *then = value_in(stored, info);

    if (!json_object_get(now, info->name) && !makes_graph(info->name)) return false;
    if (!value && !json_object_get(stored, info->name)) return false; /* an option of later days */
    return !same(value, then) && !(value && then && ny_option_rule(index)->digest);
}

char *ny_options_differences(const struct ny_options *options, unsigned groups,
                             const json_t *stored)
{
    json_t *now = ny_options_to_json(options, groups);
    struct line line = {.ctx = options->ctx, .text = now ? ny_strdup(options->ctx, "") : NULL};
    const struct ny_option_info *info;

    for (int i = 0; now && (info = ny_option_at(i)); i++) {
        if (!differs(now, stored, i)) continue;
        append(&line, line.length ? ", " : "");
        append(&line, info->name);
        append(&line, ": ");
        append(&line, shown(value_in(stored, info)));
        append(&line, " → ");
        append(&line, shown(value_in(now, info)));
    }
    if (!now) ny_fail_memory(options->ctx);
    json_decref(now);
    return line.text;
}

/* Refuses an option that is typed beside an update with another value than the result has: an
 * update keeps all of them. */
static int check_typed(const struct ny_options *typed, unsigned groups, const json_t *stored,
                       const char *result)
{
    char buffer[NUMBER_BYTES];

    for (int i = 0; i < (int)ny_option_count(); i++) {
        const struct ny_option_info *info = ny_option_at(i);
        const char *now, *then;

        if (!counts(typed, i, groups) || !ny_options_is_set(typed, info->name)) continue;
        now = canonical(typed, i, buffer);
        then = stored_value(stored, info);
        if (same(now, then)) continue;
        return ny_fail(
            typed->ctx, NY_EUSAGE,
            "'%s' was made with other options (%s: %s → %s); fit it again with --restart", result,
            info->name, shown(then), shown(now));
    }
    return NY_OK;
}

/* Tells whether a stored value has to be set, because the options do not have it. What makes a map
 * one of a graph is set even where its value is the default: it is stored of a graph alone. */
static bool lacks(const struct ny_options *options, int index, unsigned groups, const char *then)
{
    char buffer[NUMBER_BYTES];

    if (!counts(options, index, groups)) return makes_graph(ny_option_at(index)->name);
    return !same(canonical(options, index, buffer), then);
}

int ny_options_of_stored(struct ny_options **out, const struct ny_options *typed, unsigned groups,
                         const json_t *stored, const char *name)
{
    struct ny_options *options;
    bool changed = true;
    int err;

    *out = NULL;
    err = check_typed(typed, groups, stored, name);
    if (!err) err = ny_options_new(&options, typed->ctx);
    if (err) return err;
    while (changed && !err) { /* one option may imply another's default */
        changed = false;
        for (int i = 0; i < (int)ny_option_count() && !err; i++) {
            const struct ny_option_info *info = ny_option_at(i);
            const char *then = json_string_value(json_object_get(stored, info->name));

            if (!then || options->typed[i] || !lacks(options, i, groups, then)) continue;
            err = ny_options_set(options, info->name, then);
            changed = true;
        }
    }
    if (err)
        ny_options_free(options);
    else
        *out = options;
    return err;
}

bool ny_options_choose(const struct ny_options *options)
{
    for (int i = 0; i < (int)ny_option_count(); i++) {
        const char *name = ny_option_at(i)->name;

        if ((ny_option_rule(i)->identity || strcmp(name, "model") == 0) &&
            ny_options_is_set(options, name))
            return true;
    }
    return false;
}

int ny_options_again(struct ny_options **out, const struct ny_options *typed, unsigned groups,
                     const json_t *stored, const char *name)
{
    int err = ny_options_of_stored(out, typed, groups, stored, name);

    for (int i = 0; i < (int)ny_option_count() && !err; i++)
        if (typed->typed[i])
            err = ny_options_set(*out, ny_option_at(i)->name,
                                 ny_options_get(typed, ny_option_at(i)->name));
    return err;
}
