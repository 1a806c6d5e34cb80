/*
 * Draws the legend of a picture at the right of its axes, and the names of classes among its points
 * (report/legend.h); report/picture.c calls both.
 *
 * The legend is a list of classes, or a ramp with numbers beside it, and below it the counts:
 * points, those outside the axes, those without a value, landmarks. Many classes have smaller
 * lines; a last line stands for the rows of none. A class's name stands at the medians of the
 * class, within the axes, and is left out where it would cover one before it. A single class gets
 * no name there, and neither do more than 40 classes.
 */
#include "report/legend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"

/* Heights of the lines that list classes; lines of counts below them, at most. */
enum { CLASSES_NAMED = 40, LINE_MOST = 36, LINE_LEAST = 20, NOTES = 4 };

static const uint32_t ink_dark = 0x33333a, ink_light = 0x5a5a64;

/* A place that goes down the legend. */
struct pen {
    struct ny_canvas *canvas;
    double x, y, unit;
};

/* Writes a line and moves the pen below it. */
static void say(struct pen *pen, const char *text)
{
    const struct ny_lettering how = {.size = 20};

    ny_ink(pen->canvas, ink_light, 1);
    ny_letters(pen->canvas, pen->x, pen->y, &how, text);
    pen->y += 32 * pen->unit;
}

/* Writes a line such as "60,000 points"; none for a count of 0. */
static void say_count(struct pen *pen, uint64_t count, const char *what)
{
    char text[96], number[32];

    if (!count) return;
    snprintf(text, sizeof(text), "%s %s", ny_grouped(count, number), what);
    say(pen, text);
}

/* ---- classes ------------------------------------------------------------------------------ */

/* The mark before a name. */
struct sign {
    uint32_t color;
    enum ny_shape shape;
};

/* Writes a name, and a mark before it unless `sign` is NULL; moves the pen below it. */
static void put_line(struct pen *pen, double line, const struct sign *sign, const char *name)
{
    const struct ny_lettering how = {.size = 0.62 * line};
    double radius = line / 4 * pen->unit, x = pen->x + 3.2 * radius;

    if (sign) {
        ny_ink(pen->canvas, sign->color, 1);
        ny_mark(pen->canvas, pen->x + radius, pen->y, radius, sign->shape);
    }
    ny_ink(pen->canvas, sign ? ink_dark : ink_light, 1);
    ny_letters_within(pen->canvas, x, pen->y, &how, name,
                      (double)pen->canvas->width - 12 * pen->unit - x);
    pen->y += line * pen->unit;
}

/* Lists the classes with their marks; those for which there is no room are counted in a line, "12
 * more", and the last line stands for the rows of none
 * and of classes beyond the most that are told apart. */
static void list_classes(struct pen *pen, const struct ny_legend *legend)
{
    const struct ny_tint *tint = legend->tint;
    double room = (double)pen->canvas->height - pen->y - (34 + 32 * NOTES) * pen->unit;
    size_t rest = tint->nameless > 0, listed = tint->count, most;
    double line = fmin(LINE_MOST, room / pen->unit / (double)(listed + rest));
    char more[64], number[32];

    line = fmax(line, LINE_LEAST);
    most = (size_t)fmax(room / (line * pen->unit) + 0.5, 2);
    if (listed + rest > most) listed = most - rest - 1;
    for (size_t i = 0; i < listed; i++) {
        const struct sign sign = {ny_class_color[i % NY_CLASS_COLORS],
                                  legend->raster ? NY_SQUARE : ny_class_shape(i)};

        put_line(pen, line, &sign, tint->classes[i].name);
    }
    snprintf(more, sizeof(more), "%s more", ny_grouped(tint->count - listed, number));
    if (listed < tint->count) put_line(pen, line, NULL, more);
    if (rest) put_line(pen, line, &(struct sign){NY_NO_CLASS_COLOR, NY_SQUARE}, "others");
}

/* ---- quantities --------------------------------------------------------------------------- */

/* Powers of ten on the logarithmic scale of amounts, up to the most that a cell has. */
static void amount_ticks(struct ny_ticks *ticks, uint64_t most)
{
    char number[32];

    *ticks = (struct ny_ticks){0};
    for (uint64_t count = 1; ticks->count < NY_TICKS && count <= most; count *= 10) {
        if (count > most / 2) count = most;
        ticks->at[ticks->count] = ny_raster_level(count, most);
        snprintf(ticks->text[ticks->count++], sizeof(ticks->text[0]), "%s",
                 ny_grouped(count, number));
    }
}

/* Draws the ramp with its upper end at the pen. */
static void draw_ramp(struct pen *pen, double height, uint32_t (*color)(double))
{
    enum { STOPS = 32 };
    cairo_t *cr = pen->canvas->cr;
    cairo_pattern_t *ramp = ny_cairo.pattern_create_linear(0, pen->y + height, 0, pen->y);

    for (int i = 0; i <= STOPS; i++) {
        uint32_t rgb = color((double)i / STOPS);

        ny_cairo.pattern_add_color_stop_rgb(ramp, (double)i / STOPS, (rgb >> 16 & 255) / 255.0,
                                            (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0);
    }
    ny_cairo.rectangle(cr, pen->x, pen->y, 24 * pen->unit, height);
    ny_cairo.set_source(cr, ramp);
    ny_cairo.fill(cr);
    ny_cairo.pattern_destroy(ramp);
}

/* Draws the ramp of a quantity or of the number of points, with numbers beside it. */
static void draw_bar(struct pen *pen, const struct ny_legend *legend, uint64_t most)
{
    const struct ny_lettering how = {.size = 20};
    bool amount = legend->tint->kind == NY_RASTER_AMOUNT;
    const struct ny_axis range = amount ? (struct ny_axis){0, 1} : legend->tint->range;
    double height = 420 * pen->unit;
    struct ny_ticks ticks;
    char text[48];

    if (amount)
        amount_ticks(&ticks, most);
    else
        ny_ticks_make(&ticks, &range, 5);
    draw_ramp(pen, height, amount ? ny_amount_color : ny_viridis);
    ny_ink(pen->canvas, ink_light, 1);
    ny_cairo.set_line_width(pen->canvas->cr, 1.5 * pen->unit);
    for (size_t i = 0; i < ticks.count; i++) {
        double y = pen->y + height * (1 - ny_axis_place(&range, ticks.at[i]));

        ny_line(pen->canvas, pen->x + 24 * pen->unit, y, pen->x + 31 * pen->unit, y);
        ny_letters(pen->canvas, pen->x + 38 * pen->unit, y, &how, ticks.text[i]);
    }
    pen->y += height + 36 * pen->unit;
    if (ticks.exponent) say(pen, ny_power_of_ten(ticks.exponent, text));
}

void ny_draw_legend(struct ny_canvas *canvas, const struct ny_plot_frame *frame,
                    const struct ny_legend *legend)
{
    const struct ny_lettering bold = {.size = 22, .bold = true};
    double unit = canvas->scale;
    struct pen pen = {canvas, frame->right + 36 * unit, frame->top + 14 * unit, unit};
    uint64_t most = legend->raster ? ny_raster_most(legend->raster) : 1;

    if (legend->tint->kind != NY_RASTER_AMOUNT || most > 1) {
        ny_ink(canvas, ink_dark, 1);
        ny_letters_within(canvas, pen.x, pen.y, &bold, legend->title,
                          (double)canvas->width - 12 * unit - pen.x);
        pen.y += 36 * unit;
        if (legend->tint->kind == NY_RASTER_CLASSES)
            list_classes(&pen, legend);
        else
            draw_bar(&pen, legend, most);
        pen.y += 14 * unit;
    }
    say_count(&pen, legend->points, legend->points == 1 ? "point" : "points");
    say_count(&pen, legend->outside, "outside the axes");
    say_count(&pen, legend->missing, "without a value");
}

/* ---- names among the points --------------------------------------------------------------- */

/* The median of a column over the rows of a class; NaN where the sample has none. */
static double median_of(const struct ny_plot_sample *sample, size_t column, const double *class,
                        double wanted, double *room)
{
    const double *values = ny_plot_sample_column(sample, column);
    size_t count = 0;

    for (size_t i = 0; i < sample->count; i++)
        if (class[i] == wanted && isfinite(values[i])) room[count++] = values[i];
    if (!count) return NAN;
    qsort(room, count, sizeof(*room), ny_compare_doubles);
    return room[count / 2];
}

/* The rectangle that a name takes, in pixels. */
struct box {
    double left, top, right, bottom;
};

static bool is_free(const struct box *taken, size_t count, struct box box)
{
    for (size_t k = 0; k < count; k++)
        if (box.left < taken[k].right && taken[k].left < box.right && box.top < taken[k].bottom &&
            taken[k].top < box.bottom)
            return false;
    return true;
}

/* Returns the rectangle of a name whose middle is to be at these pixels: within the frame. */
static struct box box_of(const struct ny_plot_frame *frame, double x, double y, double width,
                         double line)
{
    double margin = line / 4, most = frame->right - frame->left - 2 * margin;
    struct box box;

    width = fmin(width, most);
    box.left = fmax(fmin(x - width / 2, frame->right - margin - width), frame->left + margin);
    box.top = fmax(fmin(y - line / 2, frame->bottom - margin - line), frame->top + margin);
    box.right = box.left + width;
    box.bottom = box.top + line;
    return box;
}

int ny_draw_class_names(struct ny_canvas *canvas, const struct ny_plot_frame *frame,
                        const struct ny_tint *tint, const struct ny_plot_sample *sample)
{
    const struct ny_lettering how = {.size = 25, .bold = true, .halo = true};
    const double *class = ny_plot_sample_column(sample, tint->column);
    const double line = 34 * canvas->scale;
    struct box taken[CLASSES_NAMED];
    size_t count = 0;
    double *room;

    if (tint->kind != NY_RASTER_CLASSES || tint->count < 2 || tint->count > CLASSES_NAMED)
        return NY_OK;
    room = ny_calloc(canvas->ctx, NY_MEM_OTHER, sample->count, sizeof(double));
    if (!room) return NY_EBUDGET;
    for (size_t k = 0; k < tint->count; k++) {
        const struct ny_tint_class *of = &tint->classes[k];
        double x = ny_data_frame_x(frame, median_of(sample, 0, class, of->value, room));
        double y = ny_data_frame_y(frame, median_of(sample, 1, class, of->value, room));
        struct box box = box_of(frame, x, y, ny_letters_width(canvas, &how, of->name), line);

        if (!isfinite(x) || !isfinite(y) || !is_free(taken, count, box)) continue;
        taken[count++] = box;
        ny_letters_within(canvas, box.left, (box.top + box.bottom) / 2, &how, of->name,
                          box.right - box.left + 1);
    }
    ny_free(canvas->ctx, room);
    return NY_OK;
}
