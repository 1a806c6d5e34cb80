/* Options that tests set by words, and tables that they give. */
#ifndef TESTS_SUPPORT_OPTIONS_H
#define TESTS_SUPPORT_OPTIONS_H

#include "nystream.h"

/* Options, to be freed: options_with(ctx, "map=%s landmarks=%d", map, m). The test fails where one
 * is refused. */
__attribute__((format(printf, 2, 3))) struct ny_options *options_with(struct ny_context *ctx,
                                                                      const char *format, ...);
/* Sets more of them; the status of the first one that is refused. */
int options_set(struct ny_options *options, const char *words);

struct ny_table dense_table(int dtype, uint64_t rows, uint64_t columns, const void *values);

#endif
