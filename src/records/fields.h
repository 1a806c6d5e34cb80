/* Fields of JSON objects: how a record, its report and what else is JSON are read and filled in. */
#ifndef NY_RECORDS_FIELDS_H
#define NY_RECORDS_FIELDS_H

#include <jansson.h>

#include "base/context.h"

/* Returns a whole number; `fallback` where it is not there or null. */
uint64_t ny_field_count(const json_t *object, const char *key, uint64_t fallback);
/* Returns a number as f64; `fallback` where it is not there or null. */
double ny_field_number(const json_t *object, const char *key, double fallback);
/* Returns a text, which belongs to the object; NULL where there is none. */
const char *ny_field_text(const json_t *object, const char *key);
/* Tells whether the field is there and is this text. */
bool ny_field_is(const json_t *object, const char *key, const char *text);
/* Forgets that a setter failed, at the start of a call of the API. jansson allocates for every
 * setter below and may be refused memory: the setter notes that for its thread, and ny_record_put()
 * and ny_fields_check() then return NY_EBUDGET. */
void ny_fields_begin(void);
/* Returns NY_EBUDGET if a setter of this thread has failed, and forgets it. */
int ny_fields_check(struct ny_context *ctx);
/* Sets the error for a record that jansson had no memory for; returns NY_EBUDGET. */
int ny_fields_no_memory(struct ny_context *ctx);
/* Makes the text of a value, to be freed by ny_free(); it ends without '\0'. NY_EBUDGET. */
int ny_fields_text(struct ny_context *ctx, const json_t *value, size_t flags, char **text,
                   size_t *bytes);
/* Sets a field to `value` and takes it over; NULL: there was no memory for it. */
void ny_field_set_json(json_t *object, const char *key, json_t *value);
/* Appends `value` to an array and takes it over; NULL: there was no memory for it. */
void ny_field_append(json_t *array, json_t *value);
/* Appends a number, or null if it is not finite. */
void ny_field_append_number(json_t *array, double value);
/* Sets a number, or null where it is not finite. */
void ny_field_set_number(json_t *object, const char *key, double value);
/* Sets a whole number. */
void ny_field_set_count(json_t *object, const char *key, uint64_t value);
/* Sets "peak_rss_bytes", the peak of this process; null where the system does not tell. */
void ny_field_set_peak(json_t *object);
/* Sets a copy of the text; NULL sets null. */
void ny_field_set_text(json_t *object, const char *key, const char *text);

#endif
