/*
 * ny_write_report: a page about some results of a store, or about all that are done.
 *
 * Options are read here, and names are gathered; report/page.c writes the page.
 */
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/options.h"
#include "base/memory.h"
#include "results/record.h"
#include "io/output.h"
#include "report/page.h"
#include "results/shards.h"
#include "shards/open.h"

/* Most results of a page. If a store has more and none is named, the page has the first of them
 * by name, and says so. */
enum { NAMES_MAX = 32 };

/* Gathers the results of the page; the texts are owned. */
struct names {
    struct ny_store *store;
    char *name[NAMES_MAX];
    size_t count;
    size_t left_out; /* done, but not on the page */
};

/* Tells whether a result is done; of a store in shards, in all of them and by one model. */
static int is_done(struct ny_store *store, const char *name, bool *done)
{
    struct ny_result result;
    json_t *record = NULL;
    int err = ny_record_load(store, name, &record);

    *done = err == NY_OK && ny_field_is(record, "stage", "done");
    json_decref(record);
    if (err || !*done || !ny_store_set(store)) return err;
    err = ny_result_open_any(&result, store, name);
    ny_result_close_any(&result);
    if (err != NY_EUSAGE) return err;
    *done = false;
    ny_log(ny_store_context(store), NY_LOG_NOTE, "left out: %s",
           ny_context_message(ny_store_context(store)));
    ny_error_clear(ny_store_context(store));
    return NY_OK;
}

/* Adds a name if its result is done, or counts it where there is no room. */
static int add_name(void *user, const char *name)
{
    struct names *names = user;
    struct ny_context *ctx = ny_store_context(names->store);
    bool done;
    int err = is_done(names->store, name, &done);

    if (err == NY_OK && done && names->count == NAMES_MAX) {
        names->left_out++;
    } else if (err == NY_OK && done) {
        names->name[names->count] = ny_strdup(ctx, name);
        err = names->name[names->count] ? NY_OK : NY_EBUDGET;
        names->count += err == NY_OK;
    }
    return err;
}

/* Takes all results that are done; of a store in shards without any, those of all rows. */
static int take_all(struct names *names)
{
    struct ny_context *ctx = ny_store_context(names->store);
    char path[PATH_MAX];
    int err = ny_results_list(names->store, add_name, names);

    if (err || names->count || !ny_store_set(names->store)) return err;
    if (!ny_whole_path(ny_store_path(names->store), path)) return NY_OK;
    snprintf(path, sizeof(path), "%s", ny_store_path(names->store));
    ny_store_close(names->store);
    err = ny_whole_open(&names->store, ctx, path);
    return err ? err : ny_results_list(names->store, add_name, names);
}

/* Copies the names that were given, or takes all where none was. */
static int take_names(struct names *names, const char *const *given, size_t count)
{
    struct ny_context *ctx = ny_store_context(names->store);
    int err = NY_OK;

    if (!count) err = take_all(names);
    if (count > NAMES_MAX)
        return ny_fail(ctx, NY_EUSAGE, "a report has at most %d results", NAMES_MAX);
    for (size_t k = 0; err == NY_OK && k < count; k++) {
        names->name[k] = ny_strdup(ctx, given[k]);
        err = names->name[k] ? NY_OK : NY_EBUDGET;
        names->count += err == NY_OK;
    }
    if (err == NY_OK && !names->count) err = ny_result_lacks(names->store, NULL, "finished result");
    return err;
}

/* Reads --image: "28x28" is height and width of rows that are images, none shows no rows as
 * images, and auto leaves it to the page. */
static int take_image(struct ny_context *ctx, const struct ny_options *options,
                      struct ny_page_spec *spec)
{
    const char *text = ny_options_get(options, "image");
    unsigned height, width;
    int end = 0;

    spec->images = strcmp(text, "none") != 0;
    if (!spec->images || strcmp(text, "auto") == 0) return NY_OK;
    if (sscanf(text, "%6ux%6u%n", &height, &width, &end) != 2 || text[end] || !height || !width)
        return ny_fail_value(ctx, "image", "height and width, such as 28x28, or auto or none",
                             text);
    spec->image[0] = height;
    spec->image[1] = width;
    return NY_OK;
}

/* Reads --path: "0,41" asks for a path from row 0 to row 41. */
static int take_path(struct ny_context *ctx, const struct ny_options *options, uint64_t rows[2],
                     struct ny_page_spec *spec)
{
    const char *text = ny_options_get(options, "path");
    unsigned long long from, to;
    int end = 0;

    if (!text) return NY_OK;
    if (strspn(text, "0123456789,") != strlen(text) || strlen(text) > 31 ||
        sscanf(text, "%llu,%llu%n", &from, &to, &end) != 2 || text[end])
        return ny_fail_value(ctx, "path", "two rows, such as 0,41", text);
    rows[0] = from;
    rows[1] = to;
    spec->path = rows;
    return NY_OK;
}

int ny_write_report(struct ny_context *context, const char *path, const char *const *names,
                    size_t count, const char *output, const struct ny_options *options)
{
    struct ny_page_spec spec = {0};
    struct names taken = {.count = 0};
    struct ny_options none;
    uint64_t path_rows[2];
    int err = NY_GIVEN(context, path, output);

    for (size_t i = 0; !err && i < count; i++)
        err = names ? NY_GIVEN(context, names[i]) : NY_GIVEN(context, names);
    if (err) return err;
    options = ny_options_given(options, context, &none);
    spec.title = ny_options_get(options, "title");
    err = ny_output_check(context, output, NY_OUTPUT_PAGE);
    if (err == NY_OK) err = take_image(context, options, &spec);
    if (err == NY_OK) err = take_path(context, options, path_rows, &spec);
    if (err) return err;
    err = ny_call_begin(context);
    if (err) return err;
    err = ny_shards_open(&taken.store, context, path, count ? names[0] : NULL, NY_SHARDS_ALL);
    if (err == NY_OK) err = take_names(&taken, names, count);
    spec.names = (const char *const *)taken.name;
    spec.count = taken.count;
    spec.left_out = taken.left_out;
    if (err == NY_OK) err = ny_page_write(taken.store, &spec, output);
    for (size_t k = 0; k < taken.count; k++)
        ny_free(context, taken.name[k]);
    ny_store_close(taken.store);
    ny_call_end(context);
    return err;
}
