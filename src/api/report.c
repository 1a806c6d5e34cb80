/*
 * Reports: the object of JSON that a call hands back, and the public functions that read it.
 * ny_report_of_json() is the only way to make one, so that a field that could not be set for lack
 * of memory fails the call there (records/fields.h).
 */
#include "api/report.h"

#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "results/record.h"

struct ny_report {
    struct ny_context *ctx;
    json_t *object;
    char *text; /* of ny_report_json(), made when it is first asked for */
};

int ny_report_of_json(struct ny_report **out, struct ny_context *ctx, json_t *object)
{
    struct ny_report *report = NULL;
    int err = ny_fields_check(ctx);

    if (out) *out = NULL;
    if (err == NY_OK && !object) err = ny_fail_memory(ctx);
    if (err == NY_OK && out) {
        report = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*report));
        if (!report) err = NY_EBUDGET;
    }
    if (!report) {
        json_decref(object);
        return err;
    }
    report->ctx = ctx;
    report->object = object;
    *out = report;
    return NY_OK;
}

json_t *ny_report_object(struct ny_report *report)
{
    return report->object;
}

void ny_report_free(struct ny_report *report)
{
    if (!report) return;
    json_decref(report->object);
    ny_free(report->ctx, report->text);
    ny_free(report->ctx, report);
}

json_t *ny_json_text(const char *value)
{
    char clean[1024];
    size_t out = 0;
    json_t *json;

    if (!value) return json_null();
    json = json_string(value);
    if (json) return json;
    for (size_t in = 0; value[in] != '\0' && out + 4 < sizeof(clean);) {
        size_t bytes = ny_utf8_bytes(value + in);

        if (bytes)
            memcpy(clean + out, value + in, bytes);
        else
            clean[out] = '?';
        in += bytes ? bytes : 1;
        out += bytes ? bytes : 1;
    }
    return json_stringn(clean, out);
}

/* ---- the public side ---------------------------------------------------------------------- */

const char *ny_report_json(const struct ny_report *report)
{
    const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(17);
    struct ny_report *cache = (struct ny_report *)report; /* the text is not part of its value */
    size_t bytes;

    if (!report) return NULL;
    if (report->text) return report->text;
    bytes = json_dumpb(report->object, NULL, 0, flags);
    if (bytes == 0) return NULL;
    cache->text = ny_alloc(report->ctx, NY_MEM_OTHER, bytes + 1);
    if (!cache->text) return NULL;
    json_dumpb(report->object, cache->text, bytes, flags);
    cache->text[bytes] = '\0';
    return report->text;
}

int ny_report_number(const struct ny_report *report, const char *key, double *value)
{
    const json_t *json = report ? json_object_get(report->object, key) : NULL;

    if (!json_is_boolean(json) && !json_is_number(json)) return 0;
    if (value) *value = json_is_boolean(json) ? json_is_true(json) : json_number_value(json);
    return 1;
}

const char *ny_report_text(const struct ny_report *report, const char *key)
{
    return report ? json_string_value(json_object_get(report->object, key)) : NULL;
}
