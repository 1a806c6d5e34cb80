#include "report/page_values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "base/units.h"
#include "report/axis.h"
#include "report/markup.h"
#include "job/facts.h"

/* Between a number and its unit. */
static const char no_break[] = "\u00a0";

static const char *number_words(const char *key, const json_t *value, char text[48])
{
    const struct ny_fact *fact = ny_fact_find(key);
    double number = json_number_value(value);

    if ((fact && fact->unit == NY_FACT_BYTES) || ny_ends_with(key, "_bytes"))
        return ny_size_words(number, no_break, text);
    if (fact && fact->unit == NY_FACT_SECONDS) return ny_time_words(number, no_break, text);
    if (fact && fact->unit == NY_FACT_FLOPS) return ny_scaled_words(number, "flop", no_break, text);
    if (json_is_integer(value) && fact && fact->unit == NY_FACT_COUNT)
        return ny_grouped((uint64_t)json_integer_value(value), text);
    if (json_is_integer(value)) { /* exact, also where f64 is not */
        snprintf(text, 48, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return text;
    }
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
