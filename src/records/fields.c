#include "records/fields.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* A field could not be set on this thread. */
static _Thread_local bool lost;

int ny_fields_no_memory(struct ny_context *ctx)
{
    return ny_fail(ctx, NY_EBUDGET,
                   "the system has no memory for the record of a result; free "
                   "some and run the same command again");
}

int ny_fields_text(struct ny_context *ctx, const json_t *value, size_t flags, char **text,
                   size_t *bytes)
{
    *bytes = json_dumpb(value, NULL, 0, flags);
    *text = *bytes ? ny_alloc(ctx, NY_MEM_OTHER, *bytes) : NULL;
    if (*text && json_dumpb(value, *text, *bytes, flags) == *bytes) return NY_OK;
    if (*bytes && !*text) return NY_EBUDGET;
    ny_free(ctx, *text);
    *text = NULL;
    return ny_fields_no_memory(ctx);
}

void ny_fields_begin(void)
{
    lost = false;
}

int ny_fields_check(struct ny_context *ctx)
{
    if (!lost) return NY_OK;
    lost = false;
    return ny_fields_no_memory(ctx);
}

void ny_field_set_json(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, value)) lost = true;
}

void ny_field_append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, value)) lost = true;
}

static json_t *number_of(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void ny_field_append_number(json_t *array, double value)
{
    ny_field_append(array, number_of(value));
}

void ny_field_set_number(json_t *object, const char *key, double value)
{
    ny_field_set_json(object, key, number_of(value));
}

void ny_field_set_count(json_t *object, const char *key, uint64_t value)
{
    ny_field_set_json(object, key, json_integer((json_int_t)value));
}

void ny_field_set_peak(json_t *object)
{
    size_t peak = ny_rss_peak_bytes();

    if (peak) ny_field_set_count(object, "peak_rss_bytes", peak);
    if (!peak) ny_field_set_json(object, "peak_rss_bytes", json_null());
}

void ny_field_set_text(json_t *object, const char *key, const char *text)
{
    ny_field_set_json(object, key, text ? json_string(text) : json_null());
}

uint64_t ny_field_count(const json_t *object, const char *key, uint64_t fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) && json_integer_value(value) >= 0
               ? (uint64_t)json_integer_value(value)
               : fallback;
}

double ny_field_number(const json_t *object, const char *key, double fallback)
{
    const json_t *value = json_object_get(object, key);

    return json_is_number(value) ? json_number_value(value) : fallback;
}

const char *ny_field_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

bool ny_field_is(const json_t *object, const char *key, const char *text)
{
    const char *there = ny_field_text(object, key);

    return there && strcmp(there, text) == 0;
}
