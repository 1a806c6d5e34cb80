/*
 * The record of a result of a store (results/record.h): every verb that reads or makes a result
 * begins with one. Its lists of lost rows say whether the numbers of a result are still those of
 * the handle.
 */
#include "results/record.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "results/keep.h"
#include "results/resume.h"
#include "results/whole.h"
#include "stream/source.h"

int ny_record_load(struct ny_store *store, const char *name, json_t **out)
{
    struct ny_keep keep = ny_store_keep(store, name);

    return ny_record_get(&keep, out);
}

int ny_record_load_update(struct ny_store *store, const char *name, json_t **out)
{
    struct ny_keep keep = ny_store_keep(store, name);

    return ny_record_get_update(&keep, out);
}

int ny_record_need(struct ny_store *store, const char *name, json_t **out)
{
    int err = ny_record_load(store, name, out);

    return err || *out ? err : ny_result_missing(store, name);
}

static int need_done(struct ny_store *store, const char *name, bool running, json_t **out)
{
    struct ny_context *ctx = ny_store_context(store);
    int err = ny_record_need(store, name, out);

    if (err) return err;
    if (ny_field_is(*out, "stage", "done"))
        err = ny_record_check_whole(store, name, *out);
    else
        err = ny_fail(ctx, NY_EUSAGE, "'%s' is not finished; %s", name,
                      running ? "it is running" : ny_resume_words(store, name, *out).text);
    if (!err) return NY_OK;
    json_decref(*out);
    *out = NULL;
    return err;
}

int ny_record_need_done(struct ny_store *store, const char *name, json_t **out)
{
    return need_done(store, name, ny_name_held(store, name), out);
}

int ny_record_need_done_held(struct ny_store *store, const char *name, json_t **out)
{
    return need_done(store, name, false, out);
}

/* Puts a record, or NULL for none, in a batch of its own, with nothing else under the NAME if it
 * is to be alone. */
static int save(struct ny_store *store, const char *name, const json_t *record, bool alone)
{
    const struct ny_keep keep = ny_store_keep(store, name);
    struct ny_batch *batch;
    int err = keep.ops->begin(&keep, &batch);

    if (err) return err;
    if (alone) err = keep.ops->drop(&keep, batch, NULL);
    if (!err && record) err = ny_record_put(&keep, batch, record);
    if (!err) return keep.ops->commit(batch);
    keep.ops->cancel(batch);
    return err;
}

int ny_record_save(struct ny_store *store, const char *name, const json_t *record)
{
    return save(store, name, record, false);
}

int ny_record_replace(struct ny_store *store, const char *name, const json_t *record)
{
    return save(store, name, record, true);
}

void ny_record_set_lost(json_t *record, const struct ny_lost *gone)
{
    json_t *ranges = json_array();

    for (size_t i = 0; i < gone->count; i++) {
        json_t *range = json_array();

        ny_field_append(range, json_integer((json_int_t)gone->range[i].first));
        ny_field_append(range, json_integer((json_int_t)gone->range[i].end));
        ny_field_append(ranges, range);
    }
    ny_field_set_json(record, "lost", ranges);
}

int ny_record_lost(struct ny_context *ctx, const json_t *record, struct ny_lost *gone)
{
    const json_t *ranges = json_object_get(record, "lost");
    size_t count = json_array_size(ranges);

    *gone = (struct ny_lost){0};
    if (!count) return NY_OK;
    gone->range = ny_calloc(ctx, NY_MEM_OTHER, count, sizeof(*gone->range));
    if (!gone->range) return NY_EBUDGET;
    for (size_t i = 0; i < count; i++) {
        const json_t *range = json_array_get(ranges, i);

        gone->range[i].first = (uint64_t)json_integer_value(json_array_get(range, 0));
        gone->range[i].end = (uint64_t)json_integer_value(json_array_get(range, 1));
        gone->rows += gone->range[i].end - gone->range[i].first;
    }
    gone->count = count;
    if (ny_lost_plausible(gone, UINT64_MAX)) return NY_OK;
    ny_lost_release(gone, ctx);
    return ny_fail_damaged(ctx, NULL, NULL);
}

/* Tells whether a result is a graph or a map of one, whose rows have their numbers in the store. */
static bool is_of_graph(const json_t *record)
{
    return ny_field_is(record, "kind", "graph") ||
           json_is_object(json_object_get(json_object_get(record, "report"), "graph"));
}

int ny_record_check_lost(struct ny_store *store, const char *name, const json_t *record)
{
    struct ny_context *ctx = ny_store_context(store);
    const struct ny_lost *now = ny_store_skipped(store);
    uint64_t n = ny_field_count(json_object_get(record, "report"), "n", 0), end = 0, run;
    bool of_graph = is_of_graph(record);
    struct ny_lost then = {0};
    size_t i = 0;
    int err = of_graph ? NY_OK : ny_record_lost(ctx, record, &then);

    if (err) return err;
    if (n) end = ny_lost_place(&then, n - 1, &run) + 1;
    while (i < now->count && i < then.count && now->range[i].first == then.range[i].first &&
           now->range[i].end == then.range[i].end)
        i++;
    if ((i < now->count && now->range[i].first < end) ||
        (i < then.count && then.range[i].first < end))
        err = ny_fail(ctx, NY_ESTORE,
                      "rows of %s were lost after '%s' was begun; make it again with --restart",
                      ny_store_path(store), name);
    ny_lost_release(&then, ctx);
    return err;
}

static int refuse_if_of_nodes(void *user, const char *name)
{
    struct ny_store *store = user;
    json_t *record;
    int err = ny_record_load(store, name, &record);

    if (!err && ny_of_nodes(record))
        err = ny_fail(ny_store_context(store), NY_EUSAGE,
                      "%s has no points, only graphs such as '%s'", ny_store_path(store), name);
    json_decref(record);
    return err;
}

int ny_refuse_nodes(struct ny_store *store)
{
    return ny_results_list(store, refuse_if_of_nodes, store);
}

int ny_result_lacks(struct ny_store *store, const char *name, const char *what)
{
    struct ny_context *ctx = ny_store_context(store);

    if (!name) return ny_fail(ctx, NY_EUSAGE, "%s has no %s", ny_store_path(store), what);
    return ny_fail(ctx, NY_EUSAGE, "'%s' in %s has no %s", name, ny_store_path(store), what);
}
