#include "results/graphs.h"

#include "maps/graph_map.h"
#include "results/keep.h"
#include "results/record.h"

int ny_graph_need(struct ny_store *store, const char *name, struct ny_named_graph *graph)
{
    const struct ny_keep keep = ny_store_keep(store, name);
    json_t *record;
    int err = ny_record_need_done(store, name, &record);

    graph->record = ny_record_of(record);
    return err ? err
               : ny_stored_graph_need(&graph->graph, ny_store_rows(store), &keep, graph->record);
}

int ny_graph_need_of(struct ny_store *store, const char *map, const json_t *record,
                     struct ny_named_graph *graph)
{
    const char *name = ny_field_text(ny_graph_facts(record), "name");
    json_t *there = NULL;
    int err = name ? ny_record_load(store, name, &there) : NY_OK;
    bool gone = !err && !there;

    json_decref(there);
    *graph = (struct ny_named_graph){.record.of = NULL};
    if (err || !name) return err;
    if (!gone) return ny_graph_need(store, name, graph);
    return ny_fail(ny_store_context(store), NY_EUSAGE,
                   "'%s' was made from graph '%s', which is no longer in %s; make it again", map,
                   name, ny_store_path(store));
}

int ny_graph_find_of(struct ny_store *store, const json_t *record, struct ny_named_graph *graph)
{
    const char *name = ny_field_text(ny_graph_facts(record), "name");
    const struct ny_keep keep = ny_store_keep(store, name);
    bool there = false;
    json_t *found = NULL;
    int err = name ? ny_record_load(store, name, &found) : NY_OK;

    graph->record = ny_record_of(found);
    if (!err && ny_field_is(found, "stage", ny_stage_name(NY_STAGE_DONE)) &&
        ny_stored_graph_of(&graph->graph, ny_store_rows(store), &keep, graph->record))
        err = ny_graph_is_adopted(ny_record_of(record), &graph->graph, graph->record, &there);
    if (err || there) return err;
    ny_record_free(graph->record);
    graph->record.of = NULL;
    return NY_OK;
}
