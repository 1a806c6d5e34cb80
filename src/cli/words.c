/*
 * Puts numbers in words for people (sizes in binary units, durations, counts), measures text and
 * wraps it to the screen.
 *
 * A limit between two units lies half a unit of the last digit below the round number, so that
 * rounding never prints "1000 ms", "60.0 s" or "1024 KiB".
 */
#include "cli/cli.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Writes three significant digits and the unit: "1.50 GiB", "15.0 GiB", "150 GiB". */
static void put_scaled(struct words *words, double value, const char *unit)
{
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(words->text, sizeof(words->text), "%.*f %s", digits, value, unit);
}

struct words cli_bytes(double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    struct words words;
    size_t unit = 0;

    if (bytes < 1024) {
        snprintf(words.text, sizeof(words.text), "%.0f bytes", bytes);
        return words;
    }
    while (bytes >= 1023.5 && unit + 1 < sizeof(units) / sizeof(units[0])) {
        bytes /= 1024;
        unit++;
    }
    put_scaled(&words, bytes, units[unit]);
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
    double whole = floor(seconds + 0.5);

    if (seconds < 0.9995)
        snprintf(words.text, sizeof(words.text), "%.*f ms", seconds < 0.00995 ? 1 : 0,
                 1000 * seconds);
    else if (seconds < 59.95)
        snprintf(words.text, sizeof(words.text), "%.1f s", seconds);
    else if (whole < 3600)
        snprintf(words.text, sizeof(words.text), "%.0f min %02.0f s", floor(whole / 60),
                 fmod(whole, 60));
    else if (whole < 48 * 3600)
        snprintf(words.text, sizeof(words.text), "%.0f h %02.0f min", floor(whole / 3600),
                 floor(fmod(whole, 3600) / 60));
    else
        snprintf(words.text, sizeof(words.text), "%.0f days %.0f h", floor(whole / 86400),
                 floor(fmod(whole, 86400) / 3600));
    return words;
}

struct words cli_count(double count)
{
    struct words words;
    char digits[40];
    size_t length, out = 0;

    snprintf(digits, sizeof(digits), "%.0f", count);
    length = strlen(digits);
    for (size_t i = 0; i < length && out + 2 < sizeof(words.text); i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-') words.text[out++] = ',';
        words.text[out++] = digits[i];
    }
    words.text[out] = '\0';
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
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    struct words words;
    char scaled_unit[32];
    size_t power = 0;

    while (x >= 999.5 && power + 1 < sizeof(prefixes) / sizeof(prefixes[0])) {
        x /= 1000;
        power++;
    }
    /* Words keep away from their prefix: "M rows/s", but "GB/s". */
    snprintf(scaled_unit, sizeof(scaled_unit), "%s%s%s", prefixes[power],
             power > 0 && strncmp(unit, "rows", 4) == 0 ? " " : "", unit);
    put_scaled(&words, x, scaled_unit);
    return words;
}

bool cli_ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcasecmp(text + length - end_length, end) == 0;
}

int cli_columns(const char *text)
{
    int columns = 0;

    for (; *text; text++)
        columns += ((unsigned char)*text & 0xc0) != 0x80;
    return columns;
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
