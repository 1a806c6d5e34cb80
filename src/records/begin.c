/* New records: what `info --json` says of a job that has just begun (records/begin.h). */
#include "records/begin.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "columns/kernels.h"
#include "job/facts.h"
#include "linalg/blas.h"
#include "nystream.h"

void ny_record_describe_machine(json_t *report)
{
    ny_field_set_text(report, "version", ny_version());
    ny_field_set_text(report, "blas", ny_blas_name());
    ny_field_set_text(report, "cpu", ny_cpu_name(ny_cpu_family()));
}

/* Gives a record an id, by which updates of its result are told from a new fit under its NAME. */
static void set_id(json_t *record)
{
    uint64_t number = 0;
    char id[20];

    if (getentropy(&number, sizeof(number))) number = (uint64_t)(ny_now() * 1e9);
    snprintf(id, sizeof(id), "%016llx", (unsigned long long)number);
    ny_field_set_text(record, "id", id);
}

json_t *ny_record_new(const struct ny_rows_info *points, json_t *options, const char *kind)
{
    json_t *record = json_object(), *report = json_object();

    /* `info --json` prints null until a fact is known. */
    for (unsigned place = 1; ny_fact_placed(place); place++)
        ny_field_set_json(report, ny_fact_placed(place)->key, json_null());
    ny_field_set_json(report, "stages", json_object());
    ny_field_set_json(report, "stage_memory_bytes", json_object());
    ny_field_set_count(report, "n", points->n);
    ny_field_set_count(report, "d", points->d);
    ny_field_set_count(report, "updates", 0);
    ny_record_describe_machine(report);
    ny_field_set_json(record, "format", json_integer(NY_RECORD_FORMAT));
    ny_field_set_text(record, "kind", kind);
    set_id(record);
    ny_field_set_text(record, "stage", ny_stage_name(NY_STAGE_STATS));
    ny_field_set_json(record, "options", options);
    ny_field_set_json(record, "checkpoint", json_object());
    ny_field_set_json(record, "report", report);
    return record;
}

void ny_record_begin_graph(json_t *facts, const struct ny_graph_settings *settings)
{
    static const char *const keys[] = {
        "distance_limit",  "edges",           "components",    "largest",
        "largest_share",   "largest_edges",   "isolated",      "degree_mean",
        "degree_max",      "remeasured",      "sweep",         "recall",
        "recall_interval", "trees",           "rounds",        "distances_per_point",
        "bridges",         "bridge_shortest", "bridge_longest"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        ny_field_set_json(facts, keys[i], json_null());
    ny_field_set_count(facts, "neighbors", settings->neighbors);
    ny_field_set_count(facts, "neighbors_stored", settings->stored);
    ny_field_set_text(facts, "metric",
                      settings->metric == &ny_kernel_angular ? "cosine" : "euclidean");
    ny_field_set_text(facts, "knn", ny_knn_way_name(settings->way));
}

void ny_record_begin_edges(json_t *facts, const struct ny_given_edges *given)
{
    static const char *const keys[] = {"distance_limit", "edges",         "components",
                                       "largest",        "largest_share", "largest_edges",
                                       "isolated",       "degree_mean",   "degree_max",
                                       "self_loops",     "repeats"};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        ny_field_set_json(facts, keys[i], json_null());
    ny_field_set_text(facts, "edge_values", given->affinities ? "affinities" : "lengths");
    ny_field_set_count(facts, "entries", given->entries);
}
