/* Texts of options that stand for times and numbers. */
#include "api/option_table.h"

#include "base/decimal.h"
#include "support/test.h"

TEST(times_have_units)
{
    static const struct {
        const char *text;
        double seconds;
    } good[] = {{"90", 90},    {"90s", 90},    {"0.5", 0.5},   {"1.5h", 5400}, {"30m", 1800},
                {"2min", 120}, {"2d", 172800}, {".25s", 0.25}, {"1e3", 1000},  {"1e-2s", 0.01}};

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        double seconds = -1;

        assert_true(ny_value_seconds(good[i].text, &seconds));
        assert_true(seconds == good[i].seconds);
    }
}

TEST(other_texts_are_no_times)
{
    static const char *const bad[] = {"",    "0",  "0s",   "-1",     "+1",   "s",   "h",   "1 h",
                                      " 1h", "1w", "1hh",  "1.2.3s", "2 s",  "inf", "nan", "0x10",
                                      "1e",  "h1", "1:30", "1e999",  "1h30", "30M", "1,5h"};
    double seconds = -1;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_false(ny_value_seconds(bad[i], &seconds));
}

/* One function tells for options, grids of widths and shares what a decimal number is. */
TEST(numbers_are_decimal)
{
    static const char *const bad[] = {"",    " 1",    "1 ",     "+",    "e5",
                                      "1e",  "1.2.3", "0x10",   "inf",  "nan",
                                      "1,5", "1e999", "-1e999", "1e5x", "1f"};
    double value = 0;

    assert_true(ny_decimal_whole("-2.5e-3", &value) && value == -2.5e-3);
    assert_true(ny_decimal_whole("+.5", &value) && value == 0.5);
    assert_true(ny_decimal_whole("1E5", &value) && value == 1e5);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        if (ny_decimal_whole(bad[i], &value)) fail_msg("'%s' is no number", bad[i]);
}
