#include "api/report.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"

struct ny_report {
    struct ny_context *ctx;
    json_t *object;
    char *text; /* of ny_report_json(), made when it is first asked for */
    bool failed;
};

static int adopt(struct ny_report **out, struct ny_context *ctx, json_t *object)
{
    struct ny_report *report = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*report));

    *out = report;
    if (!report) {
        json_decref(object);
        return ny_context_error(ctx)->status;
    }
    report->ctx = ctx;
    report->object = object;
    return NY_OK;
}

int ny_report_new(struct ny_report **out, struct ny_context *ctx)
{
    json_t *object = json_object();

    *out = NULL;
    if (!object) return ny_fail(ctx, NY_EBUDGET, "the system has no memory for a report");
    return adopt(out, ctx, object);
}

int ny_report_parse(struct ny_report **out, struct ny_context *ctx, const char *text, size_t bytes)
{
    json_error_t error;
    json_t *object = json_loadb(text, bytes, 0, &error);

    *out = NULL;
    if (!json_is_object(object)) {
        json_decref(object);
        return ny_fail(ctx, NY_ESTORE, "a stored report is not a JSON object: %s", error.text);
    }
    return adopt(out, ctx, object);
}

void ny_report_free(struct ny_report *report)
{
    if (!report) return;
    json_decref(report->object);
    ny_free(report->ctx, report->text);
    ny_free(report->ctx, report);
}

void ny_report_set_json(struct ny_report *report, const char *key, json_t *value)
{
    if (report->failed) {
        json_decref(value);
        return;
    }
    if (json_object_set_new(report->object, key, value)) report->failed = true;
    ny_free(report->ctx, report->text);
    report->text = NULL;
}

json_t *ny_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
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

void ny_report_set_number(struct ny_report *report, const char *key, double value)
{
    ny_report_set_json(report, key, ny_json_number(value));
}

void ny_report_set_size(struct ny_report *report, const char *key, uint64_t value)
{
    ny_report_set_json(report, key,
                       value <= INT64_MAX ? json_integer((json_int_t)value)
                                          : json_real((double)value));
}

void ny_report_set_text(struct ny_report *report, const char *key, const char *value)
{
    ny_report_set_json(report, key, ny_json_text(value));
}

void ny_report_set_flag(struct ny_report *report, const char *key, bool value)
{
    ny_report_set_json(report, key, json_boolean(value));
}

void ny_report_set_null(struct ny_report *report, const char *key)
{
    ny_report_set_json(report, key, json_null());
}

json_t *ny_report_object(const struct ny_report *report)
{
    return report->object;
}

int ny_report_status(const struct ny_report *report)
{
    if (!report->failed) return NY_OK;
    return ny_fail(report->ctx, NY_EBUDGET, "the system has no memory for a report");
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
