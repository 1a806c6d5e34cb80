/* Reads the texts of options as numbers, counts, sizes and words, and says what is wrong with a
 * text that means nothing. The values of one option are judged alone; api/options_rules.c judges
 * options together. */
#ifndef NY_API_OPTION_VALUES_H
#define NY_API_OPTION_VALUES_H

#include "base/context.h"

/* The whole text as a whole number of at most INT64_MAX, without a sign. */
bool ny_value_count(const char *text, uint64_t *value);
/* A size such as "2G", "1.5 GiB", "512 mb" or "300000000"; units are powers of 1,024, whatever B or
 * iB they end in. */
bool ny_value_bytes(const char *text, uint64_t *bytes);
/* A time such as "90", "90s", "1.5h" or "2d" (s, m or min, h, d), in seconds; above 0. */
bool ny_value_seconds(const char *text, double *seconds);
/* Reads a percentage, "1%", as a share. */
bool ny_value_percent(const char *text, double *value);
/* Checks a text that is to be the value of option `index`: NY_EUSAGE, with what it should be. */
int ny_value_check(struct ny_context *ctx, int index, const char *value);

#endif
