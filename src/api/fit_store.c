#include "api/fit_store.h"

#include "job/stage.h"
#include "results/behind.h"
#include "results/graphs.h"
#include "results/keep.h"
#include "results/record.h"
#include "results/update.h"
#include "update/courses.h"

/* Opens the graph that the settings name, for the copy of them that the engine gets. */
static int open_graph(struct ny_store *store, struct ny_fit_settings *settings,
                      struct ny_named_graph *graph)
{
    if (!settings->graph_name) return NY_OK;
    settings->graph_given = graph;
    return ny_graph_need(store, settings->graph_name, graph);
}

int ny_store_fit_plan(struct ny_store *store, const struct ny_fit_settings *settings, size_t m,
                      struct ny_plan *plan)
{
    struct ny_fit_settings with = *settings;
    struct ny_named_graph graph = {.record.of = NULL};
    int err = open_graph(store, &with, &graph);

    if (!err) err = ny_fit_plan(ny_store_rows(store), &with, m, plan);
    ny_record_free(graph.record);
    return err;
}

/* Says what a job that was to end with its sums is for, and notes in its record that it is there.
 */
static int note_sums(struct ny_store *store, const char *name, json_t *record)
{
    enum ny_stage_id stage = ny_stage_parse(ny_field_text(record, "stage"));
    uint64_t rows = ny_field_count(json_object_get(record, "report"), "n", UINT64_MAX);

    ny_log(
        ny_store_context(store), NY_LOG_NOTE,
        "'%s' has its sums: 'nystream merge' adds them to others, and the same fit without --until "
        "goes on",
        name);
    ny_warn_sums_behind(store, name, record, rows);
    if (stage != NY_STAGE_SOLVE || json_is_true(json_object_get(record, "summed"))) return NY_OK;
    ny_field_set_json(record, "summed", json_true());
    return ny_record_save(store, name, record);
}

int ny_store_fit_start(struct ny_store *store, const char *name,
                       const struct ny_fit_settings *settings, json_t *record,
                       const struct ny_plan *plan)
{
    const struct ny_keep keep = ny_store_keep(store, name);
    struct ny_fit_settings with = *settings;
    struct ny_named_graph graph = {.record.of = NULL};
    int err = open_graph(store, &with, &graph);

    if (!err && !settings->map->graph) err = ny_record_check_lost(store, name, record);
    if (!err)
        err = ny_fit_start(ny_store_rows(store), &keep, &with, ny_record_of(record), plan,
                           ny_update_finish);
    if (!err && settings->until_sums) err = note_sums(store, name, record);
    ny_record_free(graph.record);
    return err;
}
