/*
 * Fields of delimited text: quotes, blanks, delimiters and line ends. The csv reader and the
 * reader of its header (io/csv.c, io/csv_header.c) call these.
 *
 * A scan reads one field from a window of bytes and may find that the window ends inside it:
 * NY_FIELD_CUT tells the caller to get more bytes and to scan again. Quoted fields may hold
 * delimiters and line ends, and keep their doubled quotes until ny_field_copy(). A field has at
 * most 64 KiB: a quote that is never closed ends there with a message, and not at the end of a
 * large file.
 */
#include "io/fields.h"

#include <string.h>

void ny_dialect_set(struct ny_dialect *dialect, char delimiter)
{
    memset(dialect, 0, sizeof(*dialect));
    dialect->delimiter = delimiter;
    dialect->stop[(unsigned char)delimiter] = true;
    dialect->stop['\n'] = dialect->stop['\r'] = true;
    if (delimiter == ' ') dialect->stop['\t'] = true;
}

static bool is_digit(char c)
{
    return (unsigned char)(c - '0') < 10;
}

char ny_dialect_guess(const char *text, const char *end, bool decimal)
{
    const char *begin = text;
    size_t tabs = 0, semicolons = 0, commas = 0, blanks = 0;
    bool inside = false;

    for (; text < end && (inside || (*text != '\n' && *text != '\r')); text++) {
        if (*text == '"') inside = !inside;
        if (inside) continue;
        tabs += *text == '\t';
        semicolons += *text == ';';
        commas +=
            *text == ',' && !(decimal && text > begin && is_digit(text[-1]) && is_digit(text[1]));
        blanks += *text == ' ';
    }
    /* n fields may have n decimal commas */
    if (tabs && tabs >= semicolons && tabs + 1 >= commas) return '\t';
    if (semicolons && semicolons + 1 >= commas) return ';';
    if (!commas && blanks) return ' ';
    return commas || !decimal ? ',' : ';'; /* a single column has no delimiter */
}

/* Refuses the field, with the end of the sentence that the caller makes of it. */
static enum ny_field_kind bad(struct ny_field *field, const char *wrong)
{
    field->wrong = wrong;
    return NY_FIELD_BAD;
}

/* A tab is a blank too, unless it separates the fields. */
static bool is_blank(const struct ny_dialect *dialect, char c)
{
    return c == ' ' || (c == '\t' && dialect->delimiter != '\t');
}

/* Reads a field in quotes. Its end is a quote that is not doubled, which only the byte after it
 * can tell, so that a quote at the end of the window is CUT. */
static enum ny_field_kind scan_quoted(const char **at, const char *end, bool ended,
                                      struct ny_field *field)
{
    const char *p = *at + 1;

    field->text = p;
    field->quoted = true;
    for (;; p++) {
        if (p - field->text > NY_FIELD_MAX)
            return bad(field, "begins with a quote and is longer than 64 KiB; is its closing quote "
                              "missing?");
        if (p == end) return ended ? bad(field, "has no closing quote") : NY_FIELD_CUT;
        if (*p == '\0') return bad(field, "holds a NUL byte; is this a text file?");
        if (*p == '\n') field->newlines++;
        if (*p != '"') continue;
        if (p + 1 == end && !ended) return NY_FIELD_CUT;
        if (p[1] != '"') break;
        p++;
    }
    field->length = (size_t)(p - field->text);
    *at = p + 1;
    return NY_FIELD;
}

/* Reads a field without quotes, up to a byte that stops it; blanks at its end do not belong
 * to it. */
static enum ny_field_kind scan_plain(const struct ny_dialect *dialect, const char **at,
                                     const char *end, struct ny_field *field)
{
    const char *p = *at;

    field->text = p;
    while (!dialect->stop[(unsigned char)*p] && *p != '\0') {
        p++;
        if (p - field->text > NY_FIELD_MAX) return bad(field, "is longer than 64 KiB");
    }
    if (*p == '\0' && p < end) return bad(field, "holds a NUL byte; is this a text file?");
    field->length = (size_t)(p - field->text);
    while (field->length > 0 && is_blank(dialect, field->text[field->length - 1]))
        field->length--;
    *at = p;
    return NY_FIELD;
}

enum ny_field_kind ny_field_scan(const struct ny_dialect *dialect, const char **at, const char *end,
                                 bool ended, struct ny_field *field)
{
    enum ny_field_kind kind;
    const char *p = *at;

    *field = (struct ny_field){.text = p};
    while (is_blank(dialect, *p))
        p++;
    if (p - *at > NY_FIELD_MAX) return bad(field, "is longer than 64 KiB");
    kind = *p == '"' ? scan_quoted(&p, end, ended, field) : scan_plain(dialect, &p, end, field);
    if (kind != NY_FIELD) return kind;
    while (is_blank(dialect, *p))
        p++;
    *at = p;
    if (p == end) return ended ? NY_FIELD : NY_FIELD_CUT;
    if (dialect->stop[(unsigned char)*p] || (dialect->delimiter == ' ' && is_blank(dialect, p[-1])))
        return NY_FIELD;
    return bad(field, "continues after its closing quote");
}

bool ny_field_follows(const struct ny_dialect *dialect, const char **at)
{
    if (dialect->delimiter == ' ') return **at != '\n' && **at != '\r' && **at != '\0';
    if (**at != dialect->delimiter) return false;
    ++*at;
    return true;
}

enum ny_field_kind ny_line_end(const char **at, const char *end, bool ended)
{
    if (**at == '\r') {
        if (*at + 1 == end && !ended) return NY_FIELD_CUT;
        ++*at;
    }
    if (**at == '\n') ++*at;
    return NY_FIELD;
}

size_t ny_field_copy(const struct ny_field *field, char *to)
{
    size_t n = 0;

    for (size_t i = 0; i < field->length; i++) {
        to[n++] = field->text[i];
        if (field->quoted && field->text[i] == '"') i++;
    }
    to[n] = '\0';
    return n;
}

enum ny_field_kind ny_empty_lines(const struct ny_dialect *dialect, struct ny_bytes *bytes)
{
    for (;;) {
        const char *p = bytes->at;

        while (*p == ' ' || (*p == '\t' && dialect->delimiter != '\t'))
            p++;
        if (p == bytes->end) {
            if (bytes->ended) bytes->at = p;
            return bytes->ended ? NY_FIELD_BAD : NY_FIELD_CUT;
        }
        if (*p != '\n' && *p != '\r') return NY_FIELD;
        if (ny_line_end(&p, bytes->end, bytes->ended) == NY_FIELD_CUT) return NY_FIELD_CUT;
        bytes->at = p;
        bytes->line++;
    }
}
