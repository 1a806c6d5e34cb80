#include "model/extension.h"

#include "model/map.h"
#include "spectral/method.h"

/* Returns the method that made the result; NULL for a record without one. */
static const struct ny_method *method_of(const json_t *record)
{
    const char *name = ny_field_text(json_object_get(record, "report"), "approx");

    return name ? ny_method_find(name) : NULL;
}

/* Tells whether the result is that of a map of a graph. */
static bool of_graph(const json_t *record)
{
    const struct ny_map *map = ny_map_of(record);

    return map && map->graph;
}

bool ny_map_needs_points(const struct ny_map *map, const struct ny_method *method)
{
    return (map && map->graph) || (method && method->whole);
}

bool ny_result_needs_points(const json_t *record)
{
    return ny_map_needs_points(ny_map_of(record), method_of(record));
}

int ny_result_has_model(struct ny_context *ctx, const char *name, const json_t *record)
{
    const char *key = of_graph(record) ? "map" : "approx";

    if (!ny_result_needs_points(record)) return NY_OK;
    return ny_fail(
        ctx, NY_EUSAGE,
        "'%s' was made with --%s %s, which places new points by comparing them with all points of "
        "the store, so it has no model of its own; use 'nystream transform STORE %s'",
        name, key, ny_field_text(json_object_get(record, "report"), key), name);
}

size_t ny_extension_bytes(size_t pairs)
{
    return (NY_EXTENSION_HEAD + 2 * pairs) * sizeof(double);
}
