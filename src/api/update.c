/*
 * ny_fit with option update: takes rows into a result that were appended since.
 *
 * api/request.c calls ny_update_run() under the lock of the NAME. The update has a record of its
 * own until it is done, so that the result can be read meanwhile, and an update that fails for good
 * leaves it as it was. The options are those of the result; landmarks that a file or another result
 * gave are read from the result itself.
 */
#include "api/fit.h"

#include <string.h>

#include "api/announce.h"
#include "api/settings.h"
#include "base/memory.h"
#include "base/progress.h"
#include "job/job.h"
#include "update/courses.h"
#include "update/update.h"

/* An update and what it is about. The records belong to the caller of run(). */
struct update {
    struct ny_context *ctx;
    struct ny_store *store;
    const char *name;
    const struct ny_options *options; /* as they were typed */
    enum ny_update_mode mode;
    struct ny_owned_settings settings;
    const json_t *result; /* the record of what is updated */
    json_t *record;       /* that of the update, when there is one */
    uint64_t n;           /* of the store */
};

/* Loads the record to be updated, and refuses what cannot be: a job that is not done, one with
 * other lost rows, a dictionary, and --restart beside --update. */
static int need_result(struct ny_store *store, const char *name, const struct ny_options *options,
                       json_t **record)
{
    static const char *const of_fits[] = {"until", "model"};
    struct ny_context *ctx = ny_store_context(store);
    int err;

    if (ny_options_flag(options, "restart"))
        return ny_fail(ctx, NY_EUSAGE,
                       "--update keeps a result and --restart replaces it; give one of them");
    for (size_t i = 0; i < sizeof(of_fits) / sizeof(of_fits[0]); i++)
        if (ny_options_is_set(options, of_fits[i]))
            return ny_fail(ctx, NY_EUSAGE,
                           "--%s does not go with --update, which keeps what the result is",
                           of_fits[i]);
    err = ny_record_need_done(store, name, record);
    if (err) return err;
    if (ny_field_is(*record, "kind", "fit")) {
        err = ny_store_skip_lost(store);
        return err ? err : ny_record_check_lost(store, name, *record);
    }
    if (ny_field_is(*record, "kind", "graph"))
        return ny_fail(ctx, NY_EUSAGE,
                       "'%s' is a graph; 'nystream graph' makes it again of all rows, with "
                       "--restart",
                       name);
    return ny_fail(ctx, NY_EUSAGE,
                   "'%s' is a dictionary alone; select it again with --restart to have it of all "
                   "rows",
                   name);
}

/* The update that was interrupted, if it is of this mode; another is forgotten. */
static int find_begun(struct update *update)
{
    const char *begun;
    int err = ny_record_load_update(update->store, update->name, &update->record);

    if (err || !update->record) return err;
    if (ny_earlier_of(update->record).mode == update->mode) return NY_OK;
    begun = ny_update_mode_name(ny_earlier_of(update->record).mode);
    ny_log(update->ctx, NY_LOG_NOTE, "an interrupted --update %s of '%s' is given up for this one",
           begun, update->name);
    err = ny_update_discard(update->store, update->name, update->record);
    json_decref(update->record);
    update->record = NULL;
    return err;
}

/* Landmarks of the plan: as before where they depend on the data; 0: what the options say. */
static size_t expected_landmarks(const struct update *update)
{
    const json_t *report = json_object_get(update->result, "report");

    if (update->mode == NY_UPDATE_FULL && !update->settings.fit.rule->by_tolerance) return 0;
    return (size_t)ny_field_count(report, "landmarks", 0);
}

/* Plans and tells the update. One that is resumed is of the rows that it was begun with, even if
 * more were appended since. */
static int announce(const struct update *update, struct ny_plan *plan)
{
    const struct ny_fit_settings *settings = &update->settings.fit;
    uint64_t n = update->record
                     ? ny_field_count(json_object_get(update->record, "report"), "n", 0)
                     : update->n;
    int err = ny_fit_plan(update->store, settings, expected_landmarks(update), plan);

    if (err) return err;
    ny_update_plan(plan, update->ctx, settings, update->result, n, update->mode);
    err = ny_plan_announce(update->store, NULL, plan, settings);
    return err ? err : ny_plan_check_time(update->options, plan, update->record, "this update");
}

/* One that would fail again in the same way is forgotten: the result is as it was. */
static int forget_hopeless(struct update *update, int err)
{
    if (ny_is_final(err)) ny_update_discard(update->store, update->name, update->record);
    return err;
}

/* Rows that a frozen update has placed are still to be taken in by a full one. */
static bool is_up_to_date(const struct update *update, uint64_t rows)
{
    bool placed = ny_field_is(json_object_get(update->result, "report"), "mode",
                              ny_update_mode_name(NY_UPDATE_FROZEN));

    return update->n <= rows && !(update->mode == NY_UPDATE_FULL && placed);
}

/* Begins the update, or goes on with the one that was interrupted. Without new rows there is
 * nothing to do, and a note says so. */
static int run(struct update *update)
{
    uint64_t rows = ny_field_count(json_object_get(update->result, "report"), "n", 0);
    struct ny_plan plan;
    int err = ny_update_allowed(update->ctx, &update->settings.fit, update->mode, update->name,
                                json_object_get(update->result, "report"));

    if (!err && update->mode == NY_UPDATE_FULL &&
        json_is_true(json_object_get(update->result, "placed")))
        err = ny_fail(update->ctx, NY_EUSAGE,
                      "'%s' was placed by a model from elsewhere and has no sums of its own; "
                      "--update frozen places the new rows",
                      update->name);
    if (!err && json_object_get(update->result, "sharded"))
        err = ny_fail(update->ctx, NY_EUSAGE,
                      "'%s' is one of the shards' results of one fit, which --update does not take "
                      "rows into; fit all shards anew with --restart, or place the rows with "
                      "'nystream transform'",
                      update->name);
    if (!err) err = find_begun(update);
    if (err) return err;
    if (!update->record && is_up_to_date(update, rows)) {
        ny_log(update->ctx, NY_LOG_NOTE, "'%s' has all %llu rows of %s: nothing to update",
               update->name, (unsigned long long)rows, ny_store_path(update->store));
        return NY_OK;
    }
    err = announce(update, &plan);
    if (!err && !update->record)
        err = ny_update_begin(update->store, update->name, update->result, update->n,
                              update->mode, &update->record);
    if (err) return err;
    ny_stages_begin(update->ctx, plan.stage_s);
    err = ny_fit_start(update->store, update->name, &update->settings.fit, update->record, &plan);
    ny_progress_end(update->ctx);
    return forget_hopeless(update, err);
}

int ny_update_run(struct ny_store *store, const char *name, const struct ny_options *options,
                  json_t **record)
{
    const char *mode = ny_options_text(options, "update");
    struct update update = {.ctx = ny_store_context(store),
                            .store = store,
                            .name = name,
                            .options = options,
                            .mode =
                                strcmp(mode, "frozen") == 0 ? NY_UPDATE_FROZEN : NY_UPDATE_FULL};
    struct ny_own_landmarks own = {.name = name, .done = true};
    struct ny_options *stored = NULL;
    struct ny_points_info points;
    int err = need_result(store, name, options, record);

    if (err) goto done;
    update.result = *record;
    err = ny_options_of_stored(&stored, options, NY_GROUP_FIT,
                               json_object_get(*record, "options"), name);
    if (!err) err = ny_settings_new(&update.settings, store, stored, NY_GROUP_FIT, &own);
    if (!err) err = ny_points_info(store, &points);
    if (err) goto done;
    update.n = points.n;
    err = run(&update);
    if (!err && update.record) {
        json_decref(*record);
        *record = json_incref(update.record);
    }
done:
    json_decref(update.record);
    ny_settings_release(&update.settings, update.ctx);
    ny_options_free(stored);
    return err;
}
