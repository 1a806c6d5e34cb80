#include "report/page_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/decimal.h"
#include "base/text.h"
#include "report/axis.h"
#include "report/markup.h"
#include "job/facts.h"

/* Writes three digits and the unit. */
static const char *scaled(double value, const char *unit, char text[48])
{
    int digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    ny_decimal_print(text, 48, "%.*f\u00a0%s", digits, value, unit);
    return text;
}

const char *ny_size_words(double bytes, char text[48])
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;

    if (bytes < 1023.5) {
        snprintf(text, 48, "%.0f\u00a0byte%s", bytes, bytes < 1.5 && bytes > 0.5 ? "" : "s");
        return text;
    }
    for (bytes /= 1024; bytes >= 1023.5 && unit < 4; unit++)
        bytes /= 1024;
    return scaled(bytes, units[unit], text);
}

const char *ny_time_words(double seconds, char text[48])
{
    double whole = floor(seconds + 0.5);

    if (seconds < 0.9995)
        ny_decimal_print(text, 48, "%.*f\u00a0ms", seconds < 0.00995 ? 1 : 0, 1000 * seconds);
    else if (seconds < 59.95)
        ny_decimal_print(text, 48, "%.1f\u00a0s", seconds);
    else if (whole < 3600)
        snprintf(text, 48, "%.0f\u00a0min %02.0f\u00a0s", floor(whole / 60), fmod(whole, 60));
    else
        snprintf(text, 48, "%.0f\u00a0h %02.0f\u00a0min", floor(whole / 3600),
                 floor(fmod(whole, 3600) / 60));
    return text;
}

static const char *work_words(double flops, char text[48])
{
    static const char *const units[] = {"flop", "kflop", "Mflop", "Gflop", "Tflop", "Pflop"};
    size_t unit = 0;

    for (; flops >= 999.5 && unit < 5; unit++)
        flops /= 1000;
    return scaled(flops, units[unit], text);
}

static const char *number_words(const char *key, const json_t *value, char text[48])
{
    const struct ny_fact *fact = ny_fact_find(key);
    double number = json_number_value(value);

    if ((fact && fact->unit == NY_FACT_BYTES) || ny_ends_with(key, "_bytes"))
        return ny_size_words(number, text);
    if (fact && fact->unit == NY_FACT_SECONDS) return ny_time_words(number, text);
    if (fact && fact->unit == NY_FACT_FLOPS) return work_words(number, text);
    if (json_is_integer(value) && strcmp(key, "seed") == 0) { /* it is there to be typed again */
        snprintf(text, 48, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return text;
    }
    if (json_is_integer(value) && number >= 0) /* exact, also where f64 is not */
        return ny_grouped((uint64_t)json_integer_value(value), text);
    return ny_short_number(number, text);
}

void ny_put_key(struct ny_sink *sink, const char *key)
{
    const struct ny_fact *fact = ny_fact_find(key);
    char words[128];

    if (fact && fact->label) {
        ny_put(sink, fact->label);
        return;
    }
    ny_clean_text(key, words, sizeof(words)); /* a record may have any key */
    for (char *at = words; (at = strchr(at, '_'));)
        *at = ' ';
    ny_put_html(sink, words);
}

void ny_put_value(struct ny_sink *sink, const char *key, const json_t *value)
{
    char text[48];

    if (json_is_string(value))
        ny_put_html(sink, json_string_value(value));
    else if (json_is_boolean(value))
        ny_put(sink, json_is_true(value) ? "yes" : "no");
    else
        ny_put(sink, json_is_number(value) ? number_words(key, value, text) : "–");
}
