/* Writes text that files, stores and people gave, so that it harms neither a terminal nor JSON. */
#include "cli/cli.h"

void cli_print_text(FILE *file, const char *text)
{
    for (; *text; text++)
        fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, file);
}

/* Bytes of a well-formed UTF-8 sequence; overlong and surrogate forms are jansson's to judge. */
static size_t utf8_bytes(const char *text)
{
    unsigned char lead = (unsigned char)text[0];
    size_t bytes = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc2 ? 2 : 0;

    for (size_t i = 1; i < bytes; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80) return 0;
    return lead > 0xf4 ? 0 : bytes;
}

void cli_write_json_string(FILE *file, const char *text)
{
    fputc('"', file);
    while (*text) {
        size_t bytes = utf8_bytes(text);

        if (*text == '"' || *text == '\\')
            fprintf(file, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            fprintf(file, "\\u%04x", (unsigned)(unsigned char)*text);
        else if (bytes)
            fwrite(text, 1, bytes, file);
        else
            fputc('?', file);
        text += bytes ? bytes : 1;
    }
    fputc('"', file);
}
