#include "report/sink.h"

#include <stdio.h>
#include <string.h>

#include "base/decimal.h"

void ny_put_bytes(struct ny_sink *sink, const char *text, size_t bytes)
{
    if (!sink->err && bytes) sink->err = sink->write(sink->user, text, bytes);
}

void ny_put(struct ny_sink *sink, const char *text)
{
    ny_put_bytes(sink, text, strlen(text));
}

void ny_putf(struct ny_sink *sink, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    ny_decimal_vprint(text, sizeof(text), format, args);
    va_end(args);
    ny_put(sink, text);
}
