/*
 * Writes text into HTML and JSON so that it stays text (report/markup.h), and templates with holes.
 * Every name and label in a report passes through here.
 */
#include "report/markup.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* `escape` puts a letter in another way, and returns true, or leaves it. */
static void put_escaped(struct ny_sink *sink, const char *text,
                        bool (*escape)(struct ny_sink *sink, char letter))
{
    while (*text) {
        size_t bytes = ny_utf8_bytes(text);

        if (!bytes || (bytes == 1 && ((unsigned char)*text < 0x20 || *text == 0x7f)))
            ny_put(sink, *text == '\n' || *text == '\t' ? " " : "?");
        else if (bytes > 1 || !escape(sink, *text))
            ny_put_bytes(sink, text, bytes);
        text += bytes ? bytes : 1;
    }
}

static bool escape_html(struct ny_sink *sink, char letter)
{
    if (!strchr("<>&\"'", letter)) return false;
    ny_putf(sink, "&#%d;", letter);
    return true;
}

void ny_put_html(struct ny_sink *sink, const char *text)
{
    put_escaped(sink, text, escape_html);
}

static bool escape_json(struct ny_sink *sink, char letter)
{
    if (!strchr("<>&\"\\'", letter)) return false;
    ny_putf(sink, "\\u%04x", (unsigned)letter);
    return true;
}

void ny_put_json(struct ny_sink *sink, const char *text)
{
    ny_put(sink, "\"");
    put_escaped(sink, text, escape_json);
    ny_put(sink, "\"");
}

void ny_put_number(struct ny_sink *sink, double number)
{
    if (isfinite(number))
        ny_putf(sink, "%.17g", number);
    else
        ny_put(sink, "null");
}

void ny_put_base64(struct ny_sink *sink, const void *data, size_t bytes)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *at = data;
    char text[1024];
    size_t used = 0;

    for (; bytes > 0; at += 3) {
        size_t some = bytes < 3 ? bytes : 3;
        unsigned word =
            (unsigned)at[0] << 16 | (some > 1 ? (unsigned)at[1] << 8 : 0) | (some > 2 ? at[2] : 0U);

        for (unsigned k = 0; k < 4; k++)
            text[used++] = k <= some ? digits[word >> (18 - 6 * k) & 63] : '=';
        bytes -= some;
        if (used < sizeof(text)) continue;
        ny_put_bytes(sink, text, used);
        used = 0;
    }
    ny_put_bytes(sink, text, used);
}

int ny_put_template(struct ny_sink *sink, const unsigned char *text, ny_hole_fn *fill, void *user)
{
    const char *at = (const char *)text, *hole, *end;
    char name[32];
    int err = NY_OK;

    while (err == NY_OK && sink->err == NY_OK && (hole = strstr(at, "{{"))) {
        ny_put_bytes(sink, at, (size_t)(hole - at));
        end = strstr(hole, "}}");
        snprintf(name, sizeof(name), "%.*s", (int)(end - hole - 2), hole + 2);
        err = fill(user, name, sink);
        at = end + 2;
    }
    if (err == NY_OK) ny_put(sink, at);
    return err ? err : sink->err;
}
