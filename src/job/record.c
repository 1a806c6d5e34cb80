/* Reads and puts the records of results, and finds what they say of their parts and rows. */
#include "job/record.h"

#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "job/figures.h"
#include "nystream.h"
#include "stream/source.h"

static const char under_way[] = "update"; /* the part of the record of an update */

/* Checks that the record's format and stage are known to this version. */
static int check_record(const struct ny_keep *keep, const json_t *record)
{
    uint64_t format = ny_field_count(record, "format", 0);
    const char *by = ny_field_text(json_object_get(record, "report"), "version");

    if (format > NY_RECORD_FORMAT)
        return ny_fail(keep->ctx, NY_ESTORE,
                       "'%s' in %s is a result of format %llu, made by nystream %s; this nystream "
                       "%s reads up to %d: use that version, or remove it with 'nystream rm'",
                       keep->name, keep->place, (unsigned long long)format, by ? by : "?",
                       ny_version(), NY_RECORD_FORMAT);
    if (format && json_is_object(json_object_get(record, "report")) &&
        json_is_object(json_object_get(record, "checkpoint")) && ny_field_text(record, "stage"))
        return NY_OK;
    return ny_fail_damaged(keep->ctx, keep->name, keep->place);
}

static int get(const struct ny_keep *keep, const char *part, json_t **out)
{
    struct ny_chunk text = {.data = ny_alloc(keep->ctx, NY_MEM_OTHER, NY_CHUNK_BYTES),
                            .capacity = NY_CHUNK_BYTES};
    json_error_t error;
    int err = NY_EBUDGET;

    *out = NULL;
    if (!text.data) goto done;
    err = keep->ops->chunk(keep, part, 0, &text);
    if (err) goto done;
    *out = json_loadb(text.data, text.bytes, 0, &error);
    /* jansson gives a reason if it cannot read a text, but not always if it lacks the memory. */
    if (!*out && (!error.text[0] || json_error_code(&error) == json_error_out_of_memory))
        err = ny_fields_no_memory(keep->ctx);
    else
        err = check_record(keep, *out);
    if (!err) ny_figures_derive(*out);
    if (!err) goto done;
    json_decref(*out);
    *out = NULL;
done:
    ny_free(keep->ctx, text.data);
    return err == NY_END ? NY_OK : err;
}

int ny_record_get(const struct ny_keep *keep, json_t **out)
{
    return get(keep, NY_RECORD_PART, out);
}

int ny_record_get_update(const struct ny_keep *keep, json_t **out)
{
    return get(keep, under_way, out);
}

int ny_record_put(const struct ny_keep *keep, struct ny_batch *batch, const json_t *record)
{
    bool updates = json_is_object(json_object_get(record, "update"));
    char *text = NULL;
    size_t bytes;
    int err = ny_fields_check(keep->ctx);

    if (!err)
        err = ny_fields_text(keep->ctx, record, JSON_COMPACT | JSON_REAL_PRECISION(17), &text,
                             &bytes);
    if (!err)
        err = keep->ops->put(keep, batch, updates ? under_way : NY_RECORD_PART, 0, text, bytes);
    ny_free(keep->ctx, text);
    return err;
}

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
    const json_t *sharded = json_object_get(record, "sharded");
    uint64_t n = ny_field_count(json_object_get(record, "report"), "n", 0);

    n = ny_field_count(sharded, "rows", n);
    if (ny_field_count(sharded, "shard", 0) + 1 < ny_field_count(sharded, "shards", 1)) return n;
    return ny_field_count(record, "selected", n); /* 1.1 counted placed rows among those of all */
}

uint64_t ny_record_selected(const json_t *record)
{
    uint64_t n = ny_field_count(json_object_get(record, "report"), "n", 0), selected;

    n += ny_field_count(json_object_get(record, "sharded"), "first", 0);
    selected =
        ny_field_count(record, "selected", n); /* a fit has looked at the rows of all shards */
    return selected < n ? selected : n;
}

void ny_record_take(json_t *record, json_t *other)
{
    static const char *const own[] = {"checkpoint", "sums",       "command", "command_around",
                                      "first",      "rounded",    "lost",    "update",
                                      "generation", "generations"};
    const char *key;
    json_t *value;

    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        value = json_object_get(record, own[i]);
        json_object_del(other, own[i]);
        if (value) ny_field_set_json(other, own[i], json_incref(value));
    }
    json_object_clear(record);
    json_object_foreach(other, key, value) ny_field_set_json(record, key, json_incref(value));
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
