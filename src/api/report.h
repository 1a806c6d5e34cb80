/*
 * Reports: a JSON object that the public header reads, its keys in the order in which they were
 * set. The objects are jansson's and are not charged to the budget; a report is a few kilobytes.
 */
#ifndef NY_API_REPORT_H
#define NY_API_REPORT_H

#include <jansson.h>

#include "base/context.h"

/* A report that takes `object` over, filled by ny_field_set_…() (records/fields.h); NY_EBUDGET when
 * there was no memory for it or for a field. `out` NULL: there was nothing wrong with it. */
int ny_report_of_json(struct ny_report **out, struct ny_context *ctx, json_t *object);
/* The object inside the report, borrowed: fields may be added before the report is read. */
json_t *ny_report_object(struct ny_report *report);
/* A text, or null; bytes that are not UTF-8 become "?". */
json_t *ny_json_text(const char *value);

#endif
