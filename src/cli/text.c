/* Writes text that files, stores and people gave, so that it harms neither a terminal nor JSON. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/cli.h"

void cli_print_text(FILE *file, const char *text)
{
    for (size_t bytes; *text; text += bytes ? bytes : 1) {
        bytes = ny_utf8_bytes(text);
        if (!bytes || ny_utf8_is_control(text, bytes))
            fputc('?', file);
        else
            fwrite(text, 1, bytes, file);
    }
}

int cli_columns(const char *text)
{
    int columns = 0;

    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
}

void cli_print_padded(FILE *file, const char *text, int columns)
{
    int pad = columns - cli_columns(text);

    cli_print_text(file, text);
    fprintf(file, "%*s", pad > 0 ? pad : 0, "");
}

bool cli_read_whole(const char *text, size_t length, uint64_t *number)
{
    if (!length || strspn(text, "0123456789") != length) return false;
    errno = 0;
    *number = strtoull(text, NULL, 10);
    return !errno;
}

void cli_write_json_string(FILE *file, const char *text)
{
    if (!text) {
        fputs("null", file);
        return;
    }
    fputc('"', file);
    for (size_t bytes; *text; text += bytes ? bytes : 1) {
        bytes = ny_utf8_bytes(text);
        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if (!bytes)
            fputc('?', file);
        else if (ny_utf8_is_control(text, bytes)) /* the last byte is the letter's number */
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)text[bytes - 1]);
        else
            fwrite(text, 1, bytes, file);
    }
    fputc('"', file);
}
