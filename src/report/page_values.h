/*
 * Writes facts into a report's page for people: labels, and values with their units. Labels and
 * units are those of job/facts.h, as in `nystream info`; a no-break space is between a number
 * and its unit, so that both stay in one line.
 */
#ifndef NY_REPORT_PAGE_VALUES_H
#define NY_REPORT_PAGE_VALUES_H

#include <jansson.h>

#include "report/sink.h"

/* Writes the label of a fact; one that has none is its key with blanks for underscores. */
void ny_put_key(struct ny_sink *sink, const char *key);
/* Writes the value of a fact; a dash where there is none. */
void ny_put_value(struct ny_sink *sink, const char *key, const json_t *value);

#endif
