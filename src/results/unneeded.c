#include "results/unneeded.h"

#include "results/clusters.h"

int ny_unneeded_of(const json_t *record, ny_part_fn *each, void *user)
{
    const json_t *stale = json_object_get(record, "stale");
    int err = NY_OK;

    for (size_t i = 0; !err && i < json_array_size(stale); i++) {
        const char *part = json_string_value(json_array_get(stale, i));

        if (part) err = each(user, part);
    }
    return err ? err : ny_stored_clusters_unneeded(record, each, user);
}

int ny_unneeded_parts(struct ny_store *store, const char *name, ny_part_fn *each, void *user)
{
    json_t *record = NULL;
    int err = ny_record_load(store, name, &record);

    if (err == NY_ESTORE) {
        ny_error_clear(ny_store_context(store));
        return NY_OK;
    }
    if (!err && record) err = ny_unneeded_of(record, each, user);
    json_decref(record);
    return err;
}
