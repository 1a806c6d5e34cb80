#include "model/extension.h"

#include "model/map.h"
#include "spectral/method.h"

/* Returns the method that made the result; NULL for a record without one. */
static const struct ny_method *method_of(struct ny_record record)
{
    const char *name = ny_state_of(record).facts.approx;

    return name ? ny_method_find(name) : NULL;
}

/* Tells whether the result is that of a map of a graph. */
static bool of_graph(struct ny_record record)
{
    const struct ny_map *map = ny_map_of(record);

    return map && map->graph;
}

bool ny_map_needs_points(const struct ny_map *map, const struct ny_method *method)
{
    return (map && map->graph) || (method && method->whole);
}

bool ny_result_needs_points(struct ny_record record)
{
    return ny_map_needs_points(ny_map_of(record), method_of(record));
}

int ny_result_has_model(struct ny_context *ctx, const char *name, struct ny_record record)
{
    const struct ny_state_facts facts = ny_state_of(record).facts;
    bool map = of_graph(record);

    if (!ny_result_needs_points(record)) return NY_OK;
    return ny_fail(
        ctx, NY_EUSAGE,
        "'%s' was made with --%s %s, which places new points by comparing them with all points of "
        "the store, so it has no model of its own; use 'nystream transform STORE %s'",
        name, map ? "map" : "approx", map ? facts.map : facts.approx, name);
}

size_t ny_extension_bytes(size_t pairs)
{
    return (NY_EXTENSION_HEAD + 2 * pairs) * sizeof(double);
}
