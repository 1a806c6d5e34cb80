#include "job/record.h"

#include <stdio.h>
#include <string.h>

#include "stream/source.h"

struct ny_part ny_part_of(const char *part, uint64_t generation)
{
    struct ny_part stored;

    if (generation)
        snprintf(stored.name, sizeof(stored.name), "%s@%llu", part, (unsigned long long)generation);
    else
        snprintf(stored.name, sizeof(stored.name), "%s", part);
    return stored;
}

struct ny_part ny_record_part(const json_t *record, const char *part)
{
    return ny_part_of(part, ny_field_count(json_object_get(record, "generations"), part, 0));
}

/* Tells whether both are of one fit. Records of earlier versions, which have no id, are. */
static bool is_one_fit(const json_t *one, const json_t *other)
{
    const char *id = ny_field_text(one, "id"), *others = ny_field_text(other, "id");

    return one && other && (id && others ? strcmp(id, others) == 0 : !id && !others);
}

bool ny_record_same(const json_t *one, const json_t *other)
{
    return is_one_fit(one, other) && ny_record_generation(one) == ny_record_generation(other) &&
           json_equal(json_object_get(one, "report"), json_object_get(other, "report"));
}

bool ny_record_continues(const json_t *now, const json_t *earlier)
{
    return is_one_fit(now, earlier) && ny_record_generation(now) > ny_record_generation(earlier);
}

uint64_t ny_record_generation(const json_t *record)
{
    return ny_field_count(record, "generation", 0);
}

void ny_record_renew(json_t *record, const char *part)
{
    uint64_t generation = ny_record_generation(record);

    if (generation) ny_field_set_count(json_object_get(record, "generations"), part, generation);
}

uint64_t ny_record_fitted(const json_t *record)
{
    uint64_t n = ny_field_count(json_object_get(record, "report"), "n", 0);

    n = ny_field_count(json_object_get(record, "sharded"), "rows", n);
    return ny_field_count(record, "selected", n);
}

const char *ny_record_kind(const json_t *record)
{
    const char *kind = ny_field_text(record, "kind");

    return kind ? kind : "result";
}

bool ny_record_rows_done(const json_t *record, uint64_t *rows)
{
    const json_t *report = json_object_get(record, "report");
    uint64_t units = ny_units_of(ny_field_count(report, "n", 0)), done;

    done = ny_field_count(json_object_get(record, "checkpoint"), "rows", 0);
    *rows = ny_field_count(report, "n", 0);
    if (done < *rows) *rows = done;
    return !json_is_object(json_object_get(report, "graph")) && done <= units * NY_UNIT_ROWS;
}

bool ny_of_nodes(const json_t *record)
{
    return json_is_true(json_object_get(record, "nodes"));
}
