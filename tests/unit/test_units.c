/* Sizes, times and rates in words: three digits, and no unit is passed by rounding. */
#include "base/units.h"
#include "support/test.h"

#define SAYS(call, wanted) assert_string_equal(call, wanted)

TEST(numbers_have_three_digits_and_a_unit)
{
    char text[NY_UNIT_BYTES];

    SAYS(ny_size_words(0, " ", text), "0 bytes");
    SAYS(ny_size_words(1023, " ", text), "1023 bytes");
    SAYS(ny_size_words(1023.7 * 1024, " ", text), "1.00 MiB");
    SAYS(ny_size_words(15.0 * (1 << 30), "\u00a0", text), "15.0\u00a0GiB");
    SAYS(ny_scaled_words(999.4, "flop", " ", text), "999 flop");
    SAYS(ny_scaled_words(999.6, "flop", " ", text), "1.00 kflop");
    SAYS(ny_scaled_words(4.46e11, "F/s", " ", text), "446 GF/s");
    SAYS(ny_scaled_words(1.2e6, "rows/s", " ", text), "1.20 M rows/s");
    SAYS(ny_time_words(0.0002, " ", text), "0.2 ms");
    SAYS(ny_time_words(0.9996, " ", text), "1.0 s");
    SAYS(ny_time_words(59.96, " ", text), "1 min 00 s");
    SAYS(ny_time_words(7500, " ", text), "2 h 05 min");
    SAYS(ny_time_words(3 * 86400.0 + 4 * 3600, " ", text), "3 days 04 h");
}
