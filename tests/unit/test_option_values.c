/* Texts of options that stand for times. */
#include "api/option_values.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void times_have_units(void **state)
{
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"90", 90},    {"90s", 90},    {"0.5", 0.5},   {"1.5h", 5400}, {"30m", 1800},
                {"2min", 120}, {"2d", 172800}, {".25s", 0.25}, {"1e3", 1000},  {"1e-2s", 0.01}};

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        double seconds = -1;

        assert_true(ny_value_seconds(good[i].text, &seconds));
        assert_true(seconds == good[i].seconds);
    }
}

static void other_texts_are_no_times(void **state)
{
    static const char *const bad[] = {"",    "0",  "0s",   "-1",     "+1",   "s",   "h",   "1 h",
                                      " 1h", "1w", "1hh",  "1.2.3s", "2 s",  "inf", "nan", "0x10",
                                      "1e",  "h1", "1:30", "1e999",  "1h30", "30M", "1,5h"};
    double seconds = -1;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(ny_value_seconds(bad[i], &seconds));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_have_units),
        cmocka_unit_test(other_texts_are_no_times),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
