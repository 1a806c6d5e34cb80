/* Tests the parts of pictures: axes and ticks, numbers in words, colours, rasters, clean text. */
#include "base/text.h"
#include "report/axis.h"
#include "report/palette.h"
#include "report/raster.h"
#include "report/tint.h"
#include "report/words.h"
#include "support/context.h"

OWNS(ny_raster, ny_raster_release(at))

TEST(test_axis)
{
    double values[2001];
    struct ny_axis axis;

    for (int i = 0; i < 2001; i++)
        values[i] = i / 1000.0; /* 0 … 2 */
    axis = ny_axis_of(values, 2001, false);
    assert_float_equal(axis.low, -0.08, 1e-9);
    assert_float_equal(axis.high, 2.08, 1e-9);
    assert_float_equal(ny_axis_place(&axis, 1), 0.5, 1e-9);
    values[0] = 1e6; /* an outlier is left out, unless all are wanted */
    values[1] = NAN;
    axis = ny_axis_of(values, 2001, false);
    assert_true(axis.high < 3);
    values[0] = 1e6;
    axis = ny_axis_of(values, 1000, true);
    assert_true(axis.high > 1e6);
}

TEST(test_axis_without_extent)
{
    double same[] = {7, 7, 7}, zeros[] = {0, 0}, none[] = {NAN, INFINITY};
    struct ny_axis axis = ny_axis_of(same, 3, false);

    assert_true(axis.low < 7 && axis.high > 7);
    assert_float_equal(ny_axis_place(&axis, 7), 0.5, 1e-9);
    axis = ny_axis_of(zeros, 2, false);
    assert_float_equal(ny_axis_place(&axis, 0), 0.5, 1e-9);
    axis = ny_axis_of(none, 2, false);
    assert_true(axis.low < axis.high);
}

/* The largest numbers that there are have colours between the ends, and infinite ones have none. */
TEST(test_largest)
{
    double values[] = {-1.7e308, 1.7e308, 0, INFINITY};
    struct ny_tint tint = {.kind = NY_RASTER_VALUES};

    tint.range = ny_axis_of(values, 4, false);
    assert_true(isfinite(tint.range.high - tint.range.low));
    assert_float_equal(ny_tint_of(&tint, -1.7e308), 0, 0);
    assert_float_equal(ny_tint_of(&tint, 0), 0.5, 1e-9);
    assert_float_equal(ny_tint_of(&tint, 1.7e308), 1, 0);
    assert_true(isnan(ny_tint_of(&tint, INFINITY)));
    assert_true(isnan(ny_tint_of(&tint, -INFINITY)));
}

/* Each label, read as a number, is the place of its tick; steps are 1, 2 or 5 and even. */
static void check_ticks(double low, double high)
{
    struct ny_axis axis = {low, high};
    struct ny_ticks ticks;

    ny_ticks_make(&ticks, &axis, 7);
    assert_in_range(ticks.count, 3, 15);
    for (size_t i = 0; i < ticks.count; i++) {
        const char *text = ticks.text[i];
        int minus = strncmp(text, "−", strlen("−")) == 0;
        double read = strtod(text + (minus ? strlen("−") : 0), NULL) * pow(10, ticks.exponent);

        assert_true(ticks.at[i] >= low && ticks.at[i] <= high);
        assert_true(fabs((minus ? -read : read) - ticks.at[i]) < (high - low) * 1e-6);
        assert_true(strlen(text) < 12);
        if (i) assert_string_not_equal(text, ticks.text[i - 1]);
    }
}

TEST(test_ticks)
{
    check_ticks(-0.42, 0.53);
    check_ticks(0, 1);
    check_ticks(-1e-9, 3e-9);
    check_ticks(0, 6e6);
    check_ticks(99990, 100010);
    check_ticks(-3, 12345);
    check_ticks(0, 1e300);
}

TEST(test_numbers)
{
    char text[48], grouped[32];

    assert_string_equal(ny_grouped(0, grouped), "0");
    assert_string_equal(ny_grouped(999, grouped), "999");
    assert_string_equal(ny_grouped(18446744073709551615ULL, grouped), "18,446,744,073,709,551,615");
    assert_string_equal(ny_short_number(0.025, text), "0.025");
    assert_string_equal(ny_short_number(999.4, text), "999");
    assert_string_equal(ny_short_number(-1033.6, text), "−1,034");
    assert_string_equal(ny_short_number(99999.4, text), "99,999");
    assert_string_equal(ny_short_number(99999.6, text), "1×10⁵");
    assert_string_equal(ny_short_number(1.467e-7, text), "1.47×10⁻⁷");
    assert_string_equal(ny_short_number(-2.5e12, text), "−2.5×10¹²");
    assert_string_equal(ny_short_number(1e100, text), "1×10¹⁰⁰");
    assert_string_equal(ny_short_number(1e-5, text), "1×10⁻⁵");
    assert_string_equal(ny_power_of_ten(-2, text), "×10⁻²"); /* also where 0.01 is short */
    assert_string_equal(ny_power_of_ten(5, text), "×10⁵");
    assert_string_equal(ny_power_of_ten(-300, text), "×10⁻³⁰⁰");
}

/* Y of CIE, relative. */
static double luminance(uint32_t color)
{
    double v[3];

    for (int i = 0; i < 3; i++) {
        v[i] = (color >> (16 - 8 * i) & 255) / 255.0;
        v[i] = v[i] <= 0.04045 ? v[i] / 12.92 : pow((v[i] + 0.055) / 1.055, 2.4);
    }
    return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2];
}

/* The distance of two colours in CIELAB, to a few per cent. */
static double distance_of(uint32_t a, uint32_t b)
{
    const double matrix[3][3] = {{0.4339, 0.3762, 0.1899}, {0.2126, 0.7152, 0.0722},
                                 {0.0178, 0.1095, 0.8727}}; /* to X, Y, Z of white 1 */
    double lab[2][3];

    for (int k = 0; k < 2; k++) {
        uint32_t color = k ? b : a;
        double f[3];

        for (int i = 0; i < 3; i++) {
            double sum = 0;

            for (int c = 0; c < 3; c++)
                sum += matrix[i][c] * luminance((color >> (16 - 8 * c) & 255) * 0x010101);
            f[i] = sum > 0.008856 ? cbrt(sum) : 7.787 * sum + 16.0 / 116;
        }
        lab[k][0] = 116 * f[1] - 16;
        lab[k][1] = 500 * (f[0] - f[1]);
        lab[k][2] = 200 * (f[1] - f[2]);
    }
    return hypot(hypot(lab[0][0] - lab[1][0], lab[0][1] - lab[1][1]), lab[0][2] - lab[1][2]);
}

TEST(test_colors_of_classes)
{
    assert_true(NY_CLASS_COLORS >= 20);
    for (size_t i = 0; i < NY_CLASS_COLORS; i++)
        for (size_t j = 0; j < i; j++)
            assert_true(distance_of(ny_class_color[i], ny_class_color[j]) > 26);
}

TEST(test_colors)
{
    for (int i = 0; i < 100; i++) { /* amounts can be told in black and white */
        assert_true(luminance(ny_viridis((i + 1) / 100.0)) > luminance(ny_viridis(i / 100.0)));
        assert_true(luminance(ny_amount_color((i + 1) / 100.0)) <
                    luminance(ny_amount_color(i / 100.0)));
    }
    assert_int_equal(ny_viridis(0), 0x440154);
    assert_int_equal(ny_viridis(1), 0xfde725);
    assert_int_equal(ny_viridis(-1), 0x440154);
    assert_int_equal(ny_viridis(NAN), 0x440154);
    for (size_t i = 0; i < NY_CLASS_COLORS * NY_SHAPES; i++) /* no two look the same */
        for (size_t j = 0; j < i; j++)
            assert_false(i % NY_CLASS_COLORS == j % NY_CLASS_COLORS &&
                         ny_class_shape(i) == ny_class_shape(j));
}

TEST(test_raster)
{
    enum { WIDTH = 10, HEIGHT = 5 };
    OWNED(ny_raster) raster;
    uint32_t pixels[WIDTH * HEIGHT];

    assert_int_equal(ny_raster_new(&raster, ctx, NY_RASTER_CLASSES, WIDTH, HEIGHT, 1000000), NY_OK);
    assert_int_equal(raster.radius, 0);
    for (int i = 0; i < 5; i++) /* top left: most points are of class 1 */
        ny_raster_add(&raster, 0.01, 0.99, i < 3 ? 1 : 2);
    ny_raster_add(&raster, 1, 0, NY_CLASS_COLORS); /* bottom right, the first colour again */
    ny_raster_add(&raster, 0.55, 0.5, -1);
    ny_raster_add(&raster, 1.01, 0.5, 0);
    ny_raster_add(&raster, NAN, 0.5, 0);
    assert_int_equal(raster.outside, 1);
    assert_int_equal(raster.missing, 1);
    assert_int_equal(ny_raster_most(&raster), 5);
    ny_raster_paint(&raster, pixels, WIDTH);
    for (size_t i = 0; i < WIDTH * HEIGHT; i++)
        assert_int_equal(pixels[i] != 0, i == 0 || i == WIDTH * HEIGHT - 1 || i == 2 * WIDTH + 5);
    assert_int_equal(pixels[0], 0xff000000 | ny_class_color[1]);
    assert_int_equal(pixels[WIDTH * HEIGHT - 1], 0xff000000 | ny_class_color[0]);
}

TEST(test_raster_of_values)
{
    OWNED(ny_raster) raster;
    uint32_t pixels[400];

    assert_int_equal(ny_raster_new(&raster, ctx, NY_RASTER_VALUES, 20, 20, 2), NY_OK);
    assert_true(raster.radius > 0); /* few points are seen, and stay inside */
    ny_raster_add(&raster, 0, 0, 0);
    ny_raster_add(&raster, 0, 0, 1);
    ny_raster_add(&raster, 0.5, 0.5, NAN);
    assert_int_equal(raster.missing, 1);
    ny_raster_paint(&raster, pixels, 20);
    assert_int_equal(pixels[19 * 20], 0xff000000 | ny_viridis(0.5)); /* their mean */
    assert_int_equal(pixels[19 * 20 + 1], pixels[19 * 20]);
    assert_int_equal(pixels[0], 0);
}

TEST(test_clean_text)
{
    char clean[16];

    ny_clean_text("naïve", clean, sizeof(clean));
    assert_string_equal(clean, "naïve");
    ny_clean_text("a\033[1m\x7f\xc2\x80\xff", clean, sizeof(clean));
    assert_string_equal(clean, "a?[1m???");
    ny_clean_text("123456789012345", clean, sizeof(clean));
    assert_string_equal(clean, "123456789012345");
    ny_clean_text("1234567890123456", clean, sizeof(clean));
    assert_string_equal(clean, "123456789012…");
    ny_clean_text("éééééééé", clean, sizeof(clean));
    assert_string_equal(clean, "éééééé…");
}

/* A record may say anything; a terminal is not to obey it. */
TEST(test_words_of_a_record)
{
    struct ny_result result = {
        .report = json_pack("{ss ss}", "map", "kpca\033[31m", "approx", "projected")};
    char words[NY_WORDS_BYTES];

    ny_describe_result(&result, words);
    assert_string_equal(words, "kpca?[31m, projected, 0 points");
    json_decref((json_t *)result.report);
}

AROUND_ALL(start, stop)
