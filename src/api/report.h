/*
 * Reports: a JSON object that calls fill in and the public header reads.
 *
 * Keys keep the order in which they were first set. Setters are sticky: after one that failed (no
 * memory) the others do nothing, and ny_report_status() says so once at the end. The objects are
 * jansson's and are not charged to the budget; a report is a few kilobytes.
 */
#ifndef NY_API_REPORT_H
#define NY_API_REPORT_H

#include <jansson.h>

#include "base/context.h"

int ny_report_new(struct ny_report **out, struct ny_context *ctx);
/* NaN and infinity are null: "does not apply". */
void ny_report_set_number(struct ny_report *report, const char *key, double value);
/* Above 2^63−1 it becomes a real. */
void ny_report_set_size(struct ny_report *report, const char *key, uint64_t value);
/* NULL is null; bytes that are not UTF-8 become "?". */
void ny_report_set_text(struct ny_report *report, const char *key, const char *value);
void ny_report_set_flag(struct ny_report *report, const char *key, bool value);
void ny_report_set_null(struct ny_report *report, const char *key);
/* Takes `value` over; NULL counts as no memory. */
void ny_report_set_json(struct ny_report *report, const char *key, json_t *value);
/* A number, or null where it is NaN or infinite: for arrays and objects of one's own. */
json_t *ny_json_number(double value);
/* A text, or null; bytes that are not UTF-8 become "?". */
json_t *ny_json_text(const char *value);
/* The object, to read or to add to; the report owns it. */
json_t *ny_report_object(const struct ny_report *report);
/* A report from stored JSON text: NY_ESTORE when it is not one JSON object. */
int ny_report_parse(struct ny_report **out, struct ny_context *ctx, const char *text, size_t bytes);
/* NY_OK, or NY_EBUDGET with the error set when some setter failed. */
int ny_report_status(const struct ny_report *report);

#endif
