/* Reads and puts records as JSON (records/record.h). */
#include "records/record.h"

#include <string.h>

#include "base/memory.h"
#include "nystream.h"
#include "records/figures.h"

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

uint64_t ny_record_generation(const json_t *record)
{
    return ny_field_count(record, "generation", 0);
}

const char *ny_record_kind(const json_t *record)
{
    const char *kind = ny_field_text(record, "kind");

    return kind ? kind : "result";
}

bool ny_of_nodes(const json_t *record)
{
    return json_is_true(json_object_get(record, "nodes"));
}

/* ---- the contract ---------------------------------------------------------------------------- */

struct ny_record ny_record_of(const json_t *object)
{
    return (struct ny_record){&ny_records_json, (json_t *)object};
}

json_t *ny_record_json(struct ny_record record)
{
    return record.of;
}

static uint64_t generation_of(struct ny_record record, const char *part)
{
    return ny_field_count(json_object_get(record.of, "generations"), part, 0);
}

static void set_generation(struct ny_record record, const char *part, uint64_t generation)
{
    ny_field_set_count(json_object_get(record.of, "generations"), part, generation);
}

static bool has_same(struct ny_record one, struct ny_record other)
{
    return json_equal(json_object_get(one.of, "report"), json_object_get(other.of, "report"));
}

static int load(const struct ny_keep *keep, struct ny_record *out)
{
    json_t *object;
    int err = ny_record_get(keep, &object);

    *out = ny_record_of(object);
    return err;
}

static int save(const struct ny_keep *keep, struct ny_batch *batch, struct ny_record record)
{
    return ny_record_put(keep, batch, record.of);
}

static void free_record(struct ny_record record)
{
    json_decref(record.of);
}

const struct ny_record_ops ny_records_json = {.state = ny_codec_state,
                                              .put = ny_codec_put,
                                              .begin_list = ny_codec_begin_list,
                                              .append = ny_codec_append,
                                              .count = ny_codec_count,
                                              .at = ny_codec_at,
                                              .generation = generation_of,
                                              .set_generation = set_generation,
                                              .same = has_same,
                                              .load = load,
                                              .save = save,
                                              .share = ny_record_share,
                                              .free = free_record};
