/* Pictures of embeddings: every point is where it should be, and looks as it should. */
#include <cairo.h>
#include <unistd.h>

#include "report/palette.h"
#include "support/api_case.h"
#include "support/options.h"
#include "support/results.h"

/* The rectangle of the axes in 1600 × 1200. */
enum { LEFT = 150, TOP = 122, RIGHT = 1300, BOTTOM = 1082, FEW = 12, MANY = 6000 };

static char picture[192];

static void setup(void)
{
    api_case_begin("points.nys");
    snprintf(picture, sizeof(picture), "%s/picture.png", in.folder);
}

/* `rows` in two columns, `labels` of them; pca is then a rotation. */
static void make_store(const float *rows, size_t count, const double *labels)
{
    assert_int_equal(ny_append_rows(in.ctx, in.store, rows, count, 2, labels), NY_OK);
    must_fit(in.ctx, in.store, "a", NULL, "map=pca approx=exact");
}

static cairo_surface_t *plot(const char *option, const char *value)
{
    OWNED(ny_options) *o = NULL;
    cairo_surface_t *image;

    assert_int_equal(ny_options_new(&o, in.ctx), NY_OK);
    if (option) assert_int_equal(ny_options_set(o, option, value), NY_OK);
    if (ny_plot(in.ctx, in.store, "a", picture, o)) fail_msg("%s", ny_context_message(in.ctx));
    image = cairo_image_surface_create_from_png(picture);
    assert_int_equal(cairo_surface_status(image), CAIRO_STATUS_SUCCESS);
    assert_int_equal(cairo_image_surface_get_width(image), 1600);
    assert_int_equal(cairo_image_surface_get_height(image), 1200);
    return image;
}

static uint32_t pixel(cairo_surface_t *image, double x, double y)
{
    const uint32_t *pixels = (const void *)cairo_image_surface_get_data(image);
    size_t stride = (size_t)cairo_image_surface_get_stride(image) / 4;

    return pixels[(size_t)y * stride + (size_t)x] & 0xffffff;
}

/* Computes where a row of two columns should be. The axes reach 4 % beyond the farthest; if both
 * are components of pca (`equal`), the shorter axis is widened about its middle to the scale of the
 * longer. */
static void place_in(const float *y, size_t count, size_t row, bool equal, double at[2])
{
    const double size[2] = {RIGHT - LEFT, BOTTOM - TOP};
    double middle[2], length[2], scale = 0;

    for (int k = 0; k < 2; k++) {
        double low = INFINITY, high = -INFINITY;

        for (size_t i = 0; i < count; i++) {
            low = fmin(low, (double)y[2 * i + (size_t)k]);
            high = fmax(high, (double)y[2 * i + (size_t)k]);
        }
        middle[k] = (low + high) / 2;
        length[k] = 1.08 * (high - low);
        scale = fmax(scale, length[k] / size[k]);
    }
    for (int k = 0; k < 2; k++) {
        double unit = equal ? scale : length[k] / size[k];
        double away = ((double)y[2 * row + (size_t)k] - middle[k]) / unit;

        at[k] = k ? (TOP + BOTTOM) / 2.0 - away : (LEFT + RIGHT) / 2.0 + away;
    }
}

static void place(const float *y, size_t count, size_t row, double at[2])
{
    place_in(y, count, row, true, at);
}

static int distance(uint32_t a, uint32_t b)
{
    int sum = 0;

    for (int shift = 0; shift < 24; shift += 8)
        sum += abs((int)(a >> shift & 255) - (int)(b >> shift & 255));
    return sum;
}

/* Cells without a point are white, or lines of the grid. */
static bool is_paper(uint32_t color)
{
    return (color & 255) > 0xe0 && (color >> 8 & 255) > 0xe0 && (color >> 16 & 255) > 0xe0;
}

TEST(test_few_points)
{
    float rows[2 * FEW], y[2 * FEW];
    double labels[FEW];
    cairo_surface_t *image;

    for (int i = 0; i < FEW; i++) {
        rows[2 * i] = (float)(10 * cos(0.52 * i));
        rows[2 * i + 1] = (float)(4 * sin(0.52 * i));
        labels[i] = i % 4 ? i % 4 : (double)NAN;
    }
    make_store(rows, FEW, labels);
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", 0, FEW, y), NY_OK);
    image = plot(NULL, NULL);
    for (size_t i = 0; i < FEW; i++) {
        uint32_t wanted = i % 4 ? ny_class_color[i % 4 - 1] : NY_NO_CLASS_COLOR;
        double at[2];

        place(y, FEW, i, at);
        if (distance(pixel(image, at[0], at[1]), wanted) > 140)
            fail_msg("row %zu: %06x and not %06x", i, pixel(image, at[0], at[1]), wanted);
    }
    cairo_surface_destroy(image);
}

static void make_many(float *y)
{
    float *rows = lend(2 * MANY * sizeof(float));
    double *labels = lend(MANY * sizeof(double));

    for (int i = 0; i < MANY; i++) { /* two crescents, and one point by itself */
        double t = 3.1 * (i / 2) / MANY * 2;

        rows[2 * i] = (float)(i % 2 ? 30 * cos(t) : 30 - 30 * cos(t));
        rows[2 * i + 1] = (float)(i % 2 ? 10 * sin(t) : 4 - 10 * sin(t));
        labels[i] = i % 2;
    }
    rows[0] = 15;
    rows[1] = 12;
    make_store(rows, MANY, labels);
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", 0, MANY, y), NY_OK);
}

TEST(test_many_points)
{
    float *y = lend(2 * MANY * sizeof(float));
    cairo_surface_t *image;
    size_t ink = 0;

    make_many(y);
    image = plot("color", "density");
    for (size_t i = 0; i < MANY; i++) {
        double at[2];

        place(y, MANY, i, at);
        if (is_paper(pixel(image, at[0], at[1]))) fail_msg("row %zu is not in the picture", i);
    }
    for (int x = LEFT; x < RIGHT; x++) /* and little else is */
        for (int line = TOP; line < BOTTOM; line++)
            ink += !is_paper(pixel(image, x, line));
    assert_in_range(ink, 5000, 120000);
    cairo_surface_destroy(image);
}

TEST(test_colors_of_many)
{
    float *y = lend(2 * MANY * sizeof(float));
    cairo_surface_t *image;
    double at[2];

    make_many(y);
    image = plot(NULL, NULL); /* labels */
    for (size_t i = 0; i < 2; i++) {
        uint32_t seen;

        place(y, MANY, i, at);
        seen = pixel(image, at[0], at[1]);
        assert_true(distance(seen, ny_class_color[i]) < distance(seen, ny_class_color[1 - i]));
    }
    cairo_surface_destroy(image);
    image = plot("color", "1");
    for (size_t i = 0, ends[2] = {0, 0}; i < MANY; i++) {
        if (y[2 * i] < y[2 * ends[0]]) ends[0] = i;
        if (y[2 * i] > y[2 * ends[1]]) ends[1] = i;
        if (i < MANY - 1) continue;
        for (size_t k = 0; k < 2; k++) {
            uint32_t seen;

            place(y, MANY, ends[k], at);
            seen = pixel(image, at[0], at[1]);
            assert_true(distance(seen, ny_viridis((double)k)) <
                        distance(seen, ny_viridis(1.0 - (double)k)));
        }
    }
    cairo_surface_destroy(image);
}

TEST(test_axes)
{
    float rows[2 * FEW], y[2 * FEW], turned[2 * FEW];
    cairo_surface_t *image;
    double at[2];

    for (int i = 0; i < FEW; i++) {
        rows[2 * i] = (float)(i * i);
        rows[2 * i + 1] = (float)(i % 5);
    }
    make_store(rows, FEW, NULL);
    assert_int_equal(ny_embedding_read(in.ctx, in.store, "a", 0, FEW, y), NY_OK);
    image = plot("axes", "2,1");
    for (size_t i = 0; i < FEW; i++) {
        turned[2 * i] = y[2 * i + 1];
        turned[2 * i + 1] = y[2 * i];
    }
    for (size_t i = 0; i < FEW; i++) {
        place(turned, FEW, i, at);
        assert_true(!is_paper(pixel(image, at[0], at[1])));
    }
    cairo_surface_destroy(image);
    image = plot("axes", "row,2");
    for (size_t i = 0; i < FEW; i++)
        turned[2 * i] = (float)i, turned[2 * i + 1] = y[2 * i + 1];
    for (size_t i = 0; i < FEW; i++) {
        place_in(turned, FEW, i, false, at);
        assert_true(!is_paper(pixel(image, at[0], at[1])));
    }
    cairo_surface_destroy(image);
}

/* Tells whether a column of pixels has ink beside the axes, or nothing but ink. */
static bool has_ink(cairo_surface_t *image, int x, bool all)
{
    int ink = 0;

    for (int line = TOP + 4; line < BOTTOM - 4; line++)
        ink += !is_paper(pixel(image, x, line));
    return all ? ink == BOTTOM - TOP - 8 : ink > 0;
}

/* Numbers of seven digits along the y axis do not run into its title: both are to the left of the
 * frame, with white between them, and nothing is cut off. */
TEST(test_wide_numbers)
{
    float rows[2 * FEW];
    double labels[FEW];
    cairo_surface_t *image;
    int parts = 0, white = 0;

    for (int i = 0; i < FEW; i++) {
        rows[2 * i] = (float)(i * i);
        rows[2 * i + 1] = (float)(i % 5);
        labels[i] = 5605000 + i;
    }
    make_store(rows, FEW, labels);
    image = plot("axes", "row,label");
    assert_false(has_ink(image, 0, false));
    for (int x = 0; !has_ink(image, x, true); x++) {
        assert_true(x < RIGHT);
        if (!has_ink(image, x, false)) {
            white++;
            continue;
        }
        parts += white >= 8 || !parts; /* digits are nearer to one another */
        white = 0;
    }
    assert_int_equal(parts, 2);
    cairo_surface_destroy(image);
}

/* A title that is too long ends in …, before the picture does. */
TEST(test_long_title)
{
    float rows[2 * FEW];
    char title[121];
    cairo_surface_t *image;

    for (int i = 0; i < 2 * FEW; i++)
        rows[i] = (float)(i * i % 7);
    memset(title, 'W', sizeof(title) - 1);
    title[sizeof(title) - 1] = '\0';
    make_store(rows, FEW, NULL);
    image = plot("title", title);
    for (int line = 0; line < TOP; line++)
        for (int x = 1590; x < 1600; x++)
            assert_true(is_paper(pixel(image, x, line)));
    cairo_surface_destroy(image);
}

/* All of it is in the budget, whatever the number of rows, and given back. */
TEST(test_memory)
{
    float *y = lend(2 * MANY * sizeof(float));

    make_many(y);
    ny_context_set_memory(in.ctx, 40 << 20);
    assert_int_equal(ny_plot(in.ctx, in.store, "a", picture, NULL), NY_EBUDGET);
    assert_true(access(picture, F_OK) != 0);
    ny_context_set_memory(in.ctx, 128 << 20);
    assert_int_equal(ny_plot(in.ctx, in.store, "a", picture, NULL), NY_OK);
}

AROUND_EACH(setup, api_case_end)
