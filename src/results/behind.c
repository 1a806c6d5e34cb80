/* Rows that a result does not have yet (results/behind.h): its record counts those that it has, and
 * those that were lost by then; the store counts all. */
#include "results/behind.h"

#include "results/graph.h"

uint64_t ny_rows_behind(struct ny_store *store, const json_t *record)
{
    const json_t *report = json_object_get(record, "report");
    uint64_t all, has = ny_field_count(report, "n", UINT64_MAX);
    struct ny_points_info points;

    /* A set tells the rows of all shards, and a record those of one. */
    if (ny_store_set(store) || ny_of_nodes(record) || !ny_field_is(record, "stage", "done"))
        return 0;
    if (ny_points_info(store, &points)) {
        ny_error_clear(ny_store_context(store));
        return 0;
    }
    all = points.n + ny_store_skipped(store)->rows;
    has = ny_field_count(json_object_get(record, "sharded"), "rows", has);
    has = has == UINT64_MAX ? has : has + ny_field_count(report, "lost", 0);
    return all > has ? all - has : 0;
}

/* Says how the rows come in. */
static const char *cure_of(struct ny_store *store, const json_t *record)
{
    const json_t *report = json_object_get(record, "report");

    if (!ny_field_is(record, "kind", "fit")) return "--restart makes it again with them";
    if (json_is_object(json_object_get(report, "graph")))
        return "fit --restart makes it again with them, and transform places them on it as it is";
    return ny_context_peers(ny_store_context(store)) ? "fit --update frozen takes them in"
                                                     : "fit --update full or frozen takes them in";
}

void ny_warn_behind(struct ny_store *store, const char *name, const json_t *record)
{
    uint64_t behind = ny_rows_behind(store, record);

    if (behind)
        ny_log(ny_store_context(store), NY_LOG_WARNING, "'%s' lacks %llu %s appended since; %s",
               name, (unsigned long long)behind, behind == 1 ? "row that was" : "rows that were",
               cure_of(store, record));
}
