/*
 * ny_fit with option update: takes rows into a result that were appended since.
 *
 * api/request.c calls ny_update_run() under the lock of the NAME. The update has a record of its
 * own until it is done, so that the result can be read meanwhile, and an update that fails for good
 * leaves it as it was. The options are those of the result; landmarks that a file or another result
 * gave are read from the result itself.
 */
#include "api/accuracy.h"
#include "api/fit.h"

#include <string.h>

#include "api/announce.h"
#include "api/fit_store.h"
#include "api/report.h"
#include "api/settings.h"
#include "base/memory.h"
#include "base/peers.h"
#include "base/progress.h"
#include "job/job.h"
#include "evaluate/new_clusters.h"
#include "fit/shards.h"
#include "results/update.h"
#include "update/courses.h"
#include "update/update.h"

/* An update and what it is about. */
struct update {
    struct ny_context *ctx;
    struct ny_store *store;
    const char *name;
    const struct ny_options *options; /* the typed ones */
    enum ny_update_mode mode;
    bool all_shards;           /* the result of a shard is updated by itself */
    json_t *result;            /* the record of what is updated, */
    struct ny_options *stored; /* its options, from which the settings borrow, */
    struct ny_owned_settings settings;
    json_t *record; /* that of the update, when there is one */
    struct ny_rows_info points;
};

/* Loads the record to be updated, and refuses what cannot be: a job that is not done, one with
 * other lost rows, a dictionary, and --restart beside --update. */
static int need_result(struct ny_store *store, const char *name, const struct ny_options *options,
                       json_t **record)
{
    static const char *const of_fits[] = {"until", "model"};
    struct ny_context *ctx = ny_store_context(store);
    int err;

    if (ny_options_flag(options, "restart")) return ny_fail_both(ctx, "update", "restart");
    for (size_t i = 0; i < sizeof(of_fits) / sizeof(of_fits[0]); i++)
        if (ny_options_is_set(options, of_fits[i])) return ny_fail_both(ctx, of_fits[i], "update");
    err = ny_record_need_done_held(store, name, record);
    if (err) return err;
    if (ny_field_is(*record, "kind", "fit")) {
        err = ny_store_skip_lost(store);
        return err ? err : ny_record_check_lost(store, name, *record);
    }
    return ny_fail(ctx, NY_EUSAGE, "'%s' is a %s; make it again with --restart", name,
                   ny_record_kind(*record));
}

/* Tells that an update under way is forgotten, for one of the other mode or as rows of it are lost.
 * With a full one goes what it has worked out; a frozen one leaves nothing out that a full one does
 * not do. */
static void tell_given_up(const struct update *update, const json_t *other)
{
    ny_log(update->ctx,
           ny_update_mode_of(ny_record_of(other)) != update->mode && update->mode == NY_UPDATE_FULL
               ? NY_LOG_NOTE
               : NY_LOG_WARNING,
           "an interrupted --update %s of '%s' is abandoned for this one",
           ny_update_mode_name(ny_update_mode_of(ny_record_of(other))), update->name);
}

/* The update that was interrupted, if it is of this mode and has its rows still; *other: one that
 * cannot be resumed. */
static int find_begun(struct update *update, json_t **other)
{
    json_t *begun;
    bool goes_on;
    int err = ny_record_load_update(update->store, update->name, &begun);

    *other = NULL;
    if (err || !begun) return err;
    goes_on = ny_update_mode_of(ny_record_of(begun)) == update->mode;
    if (goes_on) err = ny_record_check_lost(update->store, update->name, begun);
    if (err && err != NY_ESTORE) {
        json_decref(begun);
        return err;
    }
    if (err) ny_error_clear(update->ctx);
    if (goes_on && !err)
        update->record = begun;
    else
        *other = begun;
    return NY_OK;
}

/* Begins the update, for which one that cannot be resumed is forgotten. */
static int begin(struct update *update, const json_t *other)
{
    int err = NY_OK;

    if (other) {
        tell_given_up(update, other);
        err = ny_update_discard(update->store, update->name, other);
    }
    return err ? err
               : ny_update_begin(update->store, update->name, update->result, update->mode,
                                 &update->record);
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
    uint64_t here = ny_rows_here(&update->points), n = here;
    int err = ny_fit_plan(ny_store_rows(update->store), settings, expected_landmarks(update), plan);

    if (err) return err;
    if (update->record && !ny_context_peers(update->ctx))
        n = ny_field_count(json_object_get(update->record, "report"), "n", 0);
    ny_update_plan(plan, update->ctx, settings, ny_record_of(update->result), n, update->mode);
    if (update->record) plan->result_bytes = 0; /* some of them are there: no one knows how many */
    err = ny_plan_announce(update->store, NULL, plan, settings);
    return err ? err : ny_plan_check_time(update->options, plan, update->record, "this update");
}

/* Tells whether nothing is to be taken in, in any shard. Rows that a frozen update has placed are
 * still to be taken in by a full one. */
static int find_up_to_date(const struct update *update, bool *up_to_date)
{
    const json_t *report = json_object_get(update->result, "report");
    bool placed = ny_field_is(report, "mode", ny_update_mode_name(NY_UPDATE_FROZEN));
    uint64_t here = !update->record &&
                    ny_rows_here(&update->points) <= ny_field_count(report, "n", 0) &&
                    !(update->mode == NY_UPDATE_FULL && placed);
    int err = ny_peers_least(ny_context_peers(update->ctx), &here);

    *up_to_date = here;
    return err;
}

/* Refuses what this result cannot have. */
static int check_allowed(const struct update *update)
{
    int err = ny_update_allowed(update->ctx, &update->settings.fit, update->mode, update->name,
                                ny_record_of(update->result));

    if (!err && update->mode == NY_UPDATE_FULL &&
        json_is_true(json_object_get(update->result, "placed")))
        err = ny_fail(update->ctx, NY_EUSAGE, "'%s' was placed by a model; give --update frozen",
                      update->name);
    if (!err && ny_context_peers(update->ctx))
        err = ny_update_check_shards(update->ctx, update->name, update->result);
    else if (!err && !update->all_shards && json_object_get(update->result, "sharded"))
        err = ny_fail(update->ctx, NY_EUSAGE, "'%s' is of all shards; update it by their path",
                      update->name);
    return err;
}

/* ---- updates of all shards ----------------------------------------------------------------- */

/* All updates begin before the first exchange of a stage, and all are made before the first is
 * shown, so that the records tell how far an interrupted one was. */
enum stand { NONE, UNDER_WAY, MADE };

struct standing {
    uint64_t stand;
    uint64_t rows; /* of all shards, as the update that was made counts them, or else the result */
};

int ny_update_check_shards(struct ny_context *ctx, const char *name, const json_t *result)
{
    uint64_t shards = ny_field_count(json_object_get(result, "sharded"), "shards", 0);

    if (shards == ny_peers_shards(ny_context_peers(ctx))) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "'%s' is another result in each shard; update it there", name);
}

/* Tells how far the update of this shard is. One of rows that are numbered otherwise now, or are
 * gone, counts as none. */
static int standing_of(const struct update *update, struct standing *mine)
{
    const json_t *begun = update->record;
    bool made = ny_field_is(begun, "stage", "done");
    uint64_t first = ny_field_count(begun, "first", 0);
    uint64_t n = ny_field_count(json_object_get(begun, "report"), "n", 0);
    const json_t *sharded = json_object_get(made ? begun : update->result, "sharded");
    struct ny_rows_info points;
    int err = ny_points_info(update->store, &points);

    if (err) return err;
    mine->stand = made ? MADE : UNDER_WAY;
    if (!begun || (!made && (first != points.here.first || n > points.n))) mine->stand = NONE;
    mine->rows = ny_field_count(sharded, "rows", 0);
    return NY_OK;
}

/* Tells whether all updates are made: a shard without one shows it already. */
static bool are_made(const struct standing *all, unsigned shards)
{
    uint64_t rows = 0;
    bool made = false;

    for (unsigned k = 0; k < shards; k++) {
        if (all[k].stand == MADE) rows = all[k].rows;
        made = made || all[k].stand == MADE;
    }
    for (unsigned k = 0; k < shards; k++)
        made = made && all[k].stand != UNDER_WAY && all[k].rows == rows;
    return made;
}

/* Finds where the updates of all shards go on: that of this shard, if it was begun, moves to *other
 * where all have to begin anew. *whole: all updates are made, and some shards show theirs already.
 * Alone, what was begun goes on. */
static int compare_shards(struct update *update, json_t **other, bool *whole)
{
    struct ny_peers *peers = ny_context_peers(update->ctx);
    unsigned shards = ny_peers_shards(peers);
    struct standing mine, *all;
    bool anew = false;
    int err;

    if (!peers) return NY_OK;
    all = ny_calloc(update->ctx, NY_MEM_OTHER, shards, sizeof(*all));
    err = all ? standing_of(update, &mine) : NY_EBUDGET;
    if (!err) err = ny_peers_gather_equal(peers, &mine, sizeof(mine), all);
    if (!err) *whole = are_made(all, shards);
    for (unsigned k = 0; !err && k < shards; k++)
        anew = anew || all[k].stand == NONE;
    if (!err && !*whole && anew && update->record) {
        *other = update->record;
        update->record = NULL;
    }
    ny_free(update->ctx, all);
    return err;
}

/* ---- the steps ----------------------------------------------------------------------------- */

/* Runs the stages. Shards wait for one another before any of them shows its update, and count as
 * many as the one that has had most. */
static int run_stages(struct update *update, const struct ny_plan *plan)
{
    const json_t *before = json_object_get(update->result, "report");
    struct ny_peers *peers = ny_context_peers(update->ctx);
    uint64_t left = UINT64_MAX - ny_field_count(before, "updates", 0);
    int err;

    ny_stages_begin(update->ctx, plan->stage_s);
    err = ny_store_fit_start(update->store, update->name, &update->settings.fit, update->record,
                             plan);
    ny_progress_end(update->ctx);
    if (ny_is_final(err)) /* it would fail again: the result is as it was */
        ny_update_discard(update->store, update->name, update->record);
    if (!err) err = ny_peers_least(peers, &left);
    if (err || !peers) return err;
    ny_field_set_count(json_object_get(update->record, "report"), "updates", UINT64_MAX - left);
    return ny_update_put(update->store, update->name, update->record);
}

/* Begins the update, or goes on with the one that was interrupted; `other` cannot go on. Nothing
 * stored is changed before the plan fits. */
static int take_in(struct update *update, const json_t *other)
{
    struct ny_plan plan;
    int err = announce(update, &plan);

    ny_memory_lend(update->ctx, 0);
    if (!err && !update->record) err = begin(update, other);
    return err ? err : run_stages(update, &plan);
}

/* Takes the rows in that there are; without new ones there is nothing to do, and a note says so. */
static int run(struct update *update)
{
    json_t *other = NULL;
    bool up_to_date = false, whole = false;
    int err = check_allowed(update);

    if (!err) err = find_begun(update, &other);
    if (!err) err = compare_shards(update, &other, &whole);
    if (!err && !whole) err = find_up_to_date(update, &up_to_date);
    if (!err && up_to_date) {
        ny_memory_lend(update->ctx, 0);
        ny_log(update->ctx, NY_LOG_NOTE, "'%s' has all rows of %s", update->name,
               ny_store_path(update->store));
    } else if (!err && !whole) {
        err = take_in(update, other);
    } else if (!err && update->record) { /* a kill was between those of two shards */
        err = ny_update_put(update->store, update->name, update->record);
    }
    json_decref(other);
    return err ? err : ny_clusters_carry(update->store, update->name);
}

/* Reads the result, and refuses what cannot be updated, or not with these options. Landmarks of one
 * of all shards are among the rows of all of them. */
static int read_result(struct update *update)
{
    struct ny_own_landmarks own = {.name = update->name, .done = true};
    const json_t *sharded;
    int err = need_result(update->store, update->name, update->options, &update->result);

    if (!err) err = ny_points_info(update->store, &update->points);
    sharded = json_object_get(update->result, "sharded");
    if (update->all_shards) /* those of the fit, and those that this shard has got since */
        own.rows = ny_field_count(sharded, "rows", 0) + ny_field_count(sharded, "first", 0) +
                   update->points.n - ny_record_selected(ny_record_of(update->result));
    if (!err)
        err = ny_options_of_stored(&update->stored, update->options, NY_GROUP_FIT,
                                   json_object_get(update->result, "options"), own.name);
    if (!err)
        err = ny_settings_new(&update->settings, update->store, update->stored, NY_GROUP_FIT, &own);
    if (!err)
        err = ny_shards_rows_now(update->ctx, ny_field_count(sharded, "first", 0), &update->points,
                                 update->settings.given.rows, update->settings.given.count);
    if (!err && ny_accuracy_landmarks(update->result))
        update->settings.fit.landmarks = ny_accuracy_landmarks(update->result);
    return err;
}

/* Returns the mode that the options name. */
static enum ny_update_mode mode_of(const struct ny_options *options)
{
    const char *mode = ny_options_get(options, "update");

    return strcmp(mode, ny_update_mode_name(NY_UPDATE_FROZEN)) == 0 ? NY_UPDATE_FROZEN
                                                                    : NY_UPDATE_FULL;
}

int ny_update_run(struct ny_store *store, const char *name, const struct ny_options *options,
                  bool of_all, json_t **record)
{
    struct update update = {.ctx = ny_store_context(store),
                            .store = store,
                            .name = name,
                            .options = options,
                            .mode = mode_of(options),
                            .all_shards = of_all};
    int err = read_result(&update);

    if (!err) err = run(&update);
    if (!err) *record = json_incref(update.record ? update.record : update.result);
    json_decref(update.record);
    json_decref(update.result);
    ny_settings_release(&update.settings, update.ctx);
    ny_options_free(update.stored);
    return err;
}
