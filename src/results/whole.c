#include "results/whole.h"

#include <stdio.h>
#include <string.h>

#include "model/graph.h"

bool ny_record_rows_here(const json_t *record)
{
    return !ny_of_nodes(record) && !json_object_get(record, "whole");
}

/* Writes a digest of the shards. */
static void name_shards(const struct ny_set *set, char text[20])
{
    snprintf(text, 20, "%016llx", (unsigned long long)set->digest);
}

void ny_record_set_whole(json_t *record, const struct ny_store *store)
{
    const struct ny_set *set = ny_store_lent(store);
    json_t *whole, *first;
    char shards[20];

    if (!set) return;
    name_shards(set, shards);
    whole = json_object();
    first = json_array();
    for (size_t k = 0; k < set->count; k++)
        ny_field_append(first, json_integer((json_int_t)set->first[k]));
    ny_field_set_text(whole, "shards", shards);
    ny_field_set_json(whole, "first", first);
    ny_field_set_json(record, "whole", whole);
}

int ny_record_check_whole(const struct ny_store *store, const char *name, const json_t *record)
{
    const struct ny_set *set = ny_store_lent(store);
    const json_t *whole = json_object_get(record, "whole"),
                 *first = json_object_get(whole, "first");
    char shards[20];
    bool there;

    if (!set || !whole) return NY_OK;
    name_shards(set, shards);
    there = ny_field_is(whole, "shards", shards) && json_array_size(first) == set->count &&
            ny_field_count(json_object_get(record, "report"), "n", 0) <= set->first[set->count];
    for (size_t k = 0; there && k < set->count; k++)
        there = (uint64_t)json_integer_value(json_array_get(first, k)) == set->first[k];
    if (there) return NY_OK;
    return ny_fail(ny_store_context(store), NY_EUSAGE,
                   "rows of %s have other numbers than those of '%s'; make it again with --restart",
                   ny_store_path(store), name);
}
