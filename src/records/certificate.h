/* The certificate of a result in sentences: how far off it is, and what is known of that. */
#ifndef NY_RECORDS_CERTIFICATE_H
#define NY_RECORDS_CERTIFICATE_H

#include <jansson.h>
#include <stdbool.h>

/* Returns an array of sentences about the report of a result or of sums, the most telling first:
 * empty where nothing is known, NULL where there is no memory. `done`: a fit that could have
 * measured an error and has not says so. */
json_t *ny_certificate(const json_t *report, bool done);

#endif
