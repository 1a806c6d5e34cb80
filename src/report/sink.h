/* Text on its way out, a piece at a time. The first failure sticks. */
#ifndef NY_REPORT_SINK_H
#define NY_REPORT_SINK_H

#include "base/context.h"

struct ny_sink {
    int (*write)(void *user, const char *text, size_t bytes);
    void *user;
    int err;
};

/* Writes a text that ends with 0; nothing after a failure. */
void ny_put(struct ny_sink *sink, const char *text);
/* Writes so many bytes; nothing after a failure. */
void ny_put_bytes(struct ny_sink *sink, const char *text, size_t bytes);
/* Writes at most 1023 bytes. */
void ny_putf(struct ny_sink *sink, const char *format, ...) NY_PRINTF(2, 3);

#endif
