/* Puts numbers in words for people, measures text and wraps it to the screen. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

#include "base/units.h"

struct words cli_bytes(double bytes)
{
    struct words words;

    ny_size_words(bytes, " ", words.text);
    return words;
}

struct words cli_bytes_option(double bytes)
{
    struct words words;

    snprintf(words.text, sizeof(words.text), "%.0fM", ceil(bytes / 1048576));
    return words;
}

struct words cli_duration(double seconds)
{
    struct words words;

    ny_time_words(seconds, " ", words.text);
    return words;
}

struct words cli_count(double count)
{
    struct words words;

    ny_grouped((uint64_t)(count + 0.5), words.text);
    return words;
}

struct words cli_counted(double count, const char *one, const char *many)
{
    struct words words = cli_count(count);
    size_t length = strlen(words.text);

    snprintf(words.text + length, sizeof(words.text) - length, " %s", count == 1 ? one : many);
    return words;
}

struct words cli_number(double value, int digits)
{
    double left = 1 - value;
    int needed = left >= 1e-7 && left < 0.5 ? (int)ceil(-log10(left)) + 1 : 0;
    struct words words;

    snprintf(words.text, sizeof(words.text), "%.*g", needed > digits ? needed : digits, value);
    return words;
}

struct words cli_scaled(double x, const char *unit)
{
    struct words words;

    ny_scaled_words(x, unit, " ", words.text);
    return words;
}

void cli_sizes(const json_t *sizes, int columns, char text[CLI_SIZES_BYTES])
{
    enum { LISTED = 12 };
    json_int_t least = json_integer_value(json_array_get(sizes, 0)), most = least;
    size_t count = json_array_size(sizes), used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        json_int_t size = json_integer_value(json_array_get(sizes, i));

        if (size < least) least = size;
        if (size > most) most = size;
        if (i < LISTED)
            used += (size_t)snprintf(text + used, CLI_SIZES_BYTES - used, "%s%s", i ? ", " : "",
                                     cli_count((double)size).text);
    }
    if (!count)
        snprintf(text, CLI_SIZES_BYTES, "-");
    else if (count > LISTED || cli_columns(text) > columns)
        snprintf(text, CLI_SIZES_BYTES, "%s to %s", cli_count((double)least).text,
                 cli_count((double)most).text);
}

int cli_first_sentence(const char *text)
{
    const char *end = strstr(text, ". ");

    return (int)(end ? (size_t)(end - text) : strlen(text));
}

void cli_wrap(FILE *file, const char *text, int column, int indent, int width)
{
    bool first = true;

    while (*text) {
        size_t length = strcspn(text, " ");
        char word[256];
        int columns;

        if (length >= sizeof(word)) length = sizeof(word) - 1;
        memcpy(word, text, length);
        word[length] = '\0';
        columns = cli_columns(word);
        if (!first && column + 1 + columns > width) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            fputc(' ', file);
            column++;
        }
        cli_print_text(file, word);
        column += columns;
        first = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', file);
}
