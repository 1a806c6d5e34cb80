/*
 * Draws the legend of a picture at the right of its axes, and the names of classes among its points
 * (report/legend.h); report/picture.c calls both.
 *
 * The legend is a list of classes, or a ramp with numbers beside it, and below it the counts:
 * points, those outside the axes, those without a value, landmarks. Many classes have smaller
 * lines, and up to three columns; a last line stands for the rows of none. A class's name stands at
 * the point of the sample that is nearest to the medians of the class, because the middle of a ring
 * is in its hole; names that would cover each other move up or down (report/placing.h). A single
 * class gets no name there, and neither do more than 40 classes.
 */
#include "report/legend.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "report/placing.h"

/* Beyond CLASSES_LISTED classes, marks repeat in both colour and shape. SIZE is that of letters. */
enum { CLASSES_LISTED = NY_CLASS_COLORS * NY_SHAPES, CLASSES_NAMED = 40, SIZE = 22 };

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

/* The ways to list classes, from the most legible one to that which has room for the most. */
static const struct layout {
    double line, size; /* of the letters */
    size_t columns;
} layouts[] = {{36, SIZE, 1}, {28, 18, 1}, {28, 18, 2}, {22, 15, 3}};

/* The lines that list classes, column by column. */
struct list {
    const struct layout *layout;
    size_t classes; /* that are listed */
    size_t rows;    /* of a column */
    double width;   /* of a column */
    double scale;   /* of marks and what is around them */
};

/* Tells whether an image has marks on some points of the classes beyond the colours. */
static bool has_shapes(const struct ny_legend *legend)
{
    return legend->raster && legend->tint->kind == NY_RASTER_CLASSES &&
           legend->tint->count > NY_CLASS_COLORS;
}

/* Returns how many lines go below one another above the counts at the end of the legend. */
static size_t rows_of(const struct pen *pen, const struct ny_legend *legend, double line)
{
    size_t notes = 1 + (size_t)(legend->outside > 0) + (legend->missing > 0) +
                   has_shapes(legend) + (legend->landmarks > 0);
    double below = (34 + 32 * (double)notes) * pen->unit;
    double room = (double)pen->canvas->height - pen->y - below;

    return (size_t)fmax(1, room / (line * pen->unit));
}

/* Chooses the first layout that has room for all classes; if none has, classes are left out of the
 * last one. */
static struct list plan_list(const struct pen *pen, const struct ny_legend *legend)
{
    const struct ny_tint *tint = legend->tint;
    size_t rest = tint->nameless > 0, most = 0, lines;
    struct list list = {.classes = tint->count};

    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        list.layout = &layouts[i];
        most = rows_of(pen, legend, layouts[i].line) * layouts[i].columns;
        if (tint->count + rest <= most) break;
    }
    if (tint->count + rest > most || tint->count > CLASSES_LISTED) {
        list.classes = most - rest - 1;
        if (list.classes > CLASSES_LISTED) list.classes = CLASSES_LISTED;
    }
    lines = list.classes + (list.classes < tint->count) + rest;
    list.rows = (lines + list.layout->columns - 1) / list.layout->columns;
    list.width =
        ((double)pen->canvas->width - 12 * pen->unit - pen->x) / (double)list.layout->columns;
    list.scale = pen->unit * list.layout->size / SIZE;
    return list;
}

/* Shortens the names of the classes that are listed to the room that they have: at the end or,
 * where another would then be the same, in the middle. */
static void shorten_names(const struct pen *pen, const struct list *list,
                          const struct ny_tint *tint, char (*names)[NY_SHORT_BYTES])
{
    const struct ny_lettering how = {.size = list->layout->size};
    double gap = list->layout->columns > 1 ? 8 * pen->unit : 0;
    double room = list->width - 30 * list->scale - gap;
    bool twin[CLASSES_LISTED] = {false};

    for (size_t k = 0; k < list->classes; k++)
        ny_letters_shorten(pen->canvas, &how, tint->classes[tint->order[k]].name, room, false,
                           names[k]);
    for (size_t k = 0; k < list->classes; k++)
        for (size_t j = 0; j < list->classes; j++)
            twin[k] = twin[k] || (j != k && strcmp(names[j], names[k]) == 0);
    for (size_t k = 0; k < list->classes; k++)
        if (twin[k])
            ny_letters_shorten(pen->canvas, &how, tint->classes[tint->order[k]].name, room, true,
                               names[k]);
}

/* The mark before a name. */
struct sign {
    uint32_t color;
    enum ny_shape shape;
};

/* Writes line `at` of the list: a name, and a mark before it unless `sign` is NULL. */
static void put_line(const struct pen *pen, const struct list *list, size_t at,
                     const struct sign *sign, const char *name)
{
    const struct ny_lettering how = {.size = list->layout->size};
    double x = pen->x + (double)(at / list->rows) * list->width;
    double y = pen->y + (double)(at % list->rows) * list->layout->line * pen->unit;

    if (sign) {
        ny_ink(pen->canvas, sign->color, 1);
        ny_mark(pen->canvas, x + 9 * list->scale, y, 9 * list->scale, sign->shape);
    }
    ny_ink(pen->canvas, sign ? ink_dark : ink_light, 1);
    ny_letters(pen->canvas, x + 30 * list->scale, y, &how, name);
}

/* Lists the classes with their marks; those for which there is no room are counted in a line, "12
 * more", and the last line stands for the rows of none. */
static void list_classes(struct pen *pen, const struct ny_legend *legend)
{
    const struct ny_tint *tint = legend->tint;
    const struct list list = plan_list(pen, legend);
    char names[CLASSES_LISTED][NY_SHORT_BYTES], more[64], number[32];
    size_t at = 0;

    shorten_names(pen, &list, tint, names);
    for (; at < list.classes; at++) {
        size_t k = tint->order[at];
        const struct sign sign = {ny_class_color[k % NY_CLASS_COLORS],
                                  legend->raster ? ny_image_shape(k) : ny_class_shape(k)};

        put_line(pen, &list, at, &sign, names[at]);
    }
    if (list.classes < tint->count) {
        snprintf(more, sizeof(more), "%s more", ny_grouped(tint->count - list.classes, number));
        put_line(pen, &list, at++, NULL, more);
    }
    if (tint->nameless) {
        const struct sign none = {NY_NO_CLASS_COLOR, NY_SQUARE};

        put_line(pen, &list, at, &none, ny_tint_rest(tint));
    }
    pen->y += (double)list.rows * list.layout->line * pen->unit;
}

/* ---- quantities --------------------------------------------------------------------------- */

enum { BAR_TICKS = 12 };
struct bar_ticks {
    size_t count;
    double place[BAR_TICKS]; /* 0 … 1 */
    char text[BAR_TICKS][32];
};

/* Powers of ten, up to the most that a cell has. */
static void amount_ticks(struct bar_ticks *ticks, uint64_t most)
{
    for (uint64_t count = 1; ticks->count < BAR_TICKS - 1 && count <= most / 2; count *= 10) {
        ticks->place[ticks->count] = ny_raster_level(count, most);
        ny_grouped(count, ticks->text[ticks->count++]);
    }
    ticks->place[ticks->count] = 1;
    ny_grouped(most, ticks->text[ticks->count++]);
}

/* Sets round numbers within the range, less the power of ten that they have in common. */
static void value_ticks(struct bar_ticks *ticks, const struct ny_axis *range, int *exponent)
{
    struct ny_ticks at;

    ny_ticks_make(&at, range, 5);
    *exponent = at.exponent;
    for (; ticks->count < at.count && ticks->count < BAR_TICKS; ticks->count++) {
        ticks->place[ticks->count] = ny_axis_place(range, at.at[ticks->count]);
        snprintf(ticks->text[ticks->count], sizeof(ticks->text[0]), "%s", at.text[ticks->count]);
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
    double height = 420 * pen->unit;
    struct bar_ticks ticks = {0};
    int exponent = 0;
    char text[48];

    if (amount)
        amount_ticks(&ticks, most);
    else
        value_ticks(&ticks, &legend->tint->range, &exponent);
    draw_ramp(pen, height, amount ? ny_amount_color : ny_viridis);
    ny_ink(pen->canvas, ink_light, 1);
    ny_cairo.set_line_width(pen->canvas->cr, 1.5 * pen->unit);
    for (size_t i = 0; i < ticks.count; i++) {
        double y = pen->y + height * (1 - ticks.place[i]);

        ny_line(pen->canvas, pen->x + 24 * pen->unit, y, pen->x + 31 * pen->unit, y);
        ny_letters(pen->canvas, pen->x + 38 * pen->unit, y, &how, ticks.text[i]);
    }
    pen->y += height + 36 * pen->unit;
    if (exponent) say(pen, ny_power_of_ten(exponent, text));
}

void ny_draw_landmark(struct ny_canvas *canvas, double x, double y, size_t count)
{
    double radius = fmin(7, fmax(2.5, 90 / sqrt((double)count)));

    ny_ink(canvas, 0x000000, 1);
    ny_mark(canvas, x, y, radius * canvas->scale, NY_CROSS);
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
    if (has_shapes(legend)) say(&pen, "other marks: some points");
    if (!legend->landmarks) return;
    ny_draw_landmark(canvas, pen.x + 9 * unit, pen.y, (size_t)legend->landmarks);
    pen.x += 26 * unit;
    say_count(&pen, legend->landmarks, legend->landmarks == 1 ? "landmark" : "landmarks");
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

/* The point of a class that is nearest to its medians: those of a ring are in its hole. */
static void place_name(const struct ny_plot_frame *frame, const struct ny_plot_sample *sample,
                       const double *class, double wanted, double at[2])
{
    const double *x = ny_plot_sample_column(sample, 0), *y = ny_plot_sample_column(sample, 1);
    double middle[2] = {at[0], at[1]}, least = INFINITY;

    for (size_t i = 0; i < sample->count; i++) {
        double to_x = ny_data_frame_x(frame, x[i]), to_y = ny_data_frame_y(frame, y[i]);
        double dx = to_x - middle[0], dy = to_y - middle[1], away = dx * dx + dy * dy;

        if (class[i] != wanted || !(away < least)) continue;
        least = away;
        at[0] = to_x;
        at[1] = to_y;
    }
}

/* Tells whether a name there, this far to each side, would hide most points of its class. */
static bool hides_class(const struct ny_plot_frame *frame, const struct ny_plot_sample *sample,
                        const double *class, double wanted, const double at[2],
                        const double half[2])
{
    const double *x = ny_plot_sample_column(sample, 0), *y = ny_plot_sample_column(sample, 1);
    size_t hidden = 0, all = 0;

    for (size_t i = 0; i < sample->count; i++) {
        if (class[i] != wanted || !isfinite(x[i]) || !isfinite(y[i])) continue;
        all++;
        hidden += fabs(ny_data_frame_x(frame, x[i]) - at[0]) < half[0] &&
                  fabs(ny_data_frame_y(frame, y[i]) - at[1]) < half[1];
    }
    return hidden > all / 2;
}

/* Returns where a name of this width begins: its middle is at a point of the class or, where it
 * would hide the class, it stands at the right of the point, or at the left. */
static double begin_name(const struct ny_plot_frame *frame, double x, double width, bool aside,
                         double margin)
{
    double begin = aside ? x + 2 * margin : x - width / 2;

    if (aside && begin + width > frame->right - margin) begin = x - 2 * margin - width;
    return fmax(fmin(begin, frame->right - margin - width), frame->left + margin);
}

int ny_draw_class_names(struct ny_canvas *canvas, const struct ny_plot_frame *frame,
                        const struct ny_tint *tint, const struct ny_plot_sample *sample)
{
    const struct ny_lettering how = {.size = 25, .bold = true, .halo = true};
    const double *class = ny_plot_sample_column(sample, tint->column);
    const double margin = 8 * canvas->scale, line = 30 * canvas->scale;
    const struct ny_name_room inside = {frame->top + margin / 2, frame->bottom - margin / 2, line,
                                        2 * margin};
    struct ny_name_place names[CLASSES_NAMED];
    size_t count = 0;
    double *room;
    bool aside;

    if (tint->kind != NY_RASTER_CLASSES || tint->count < 2 || tint->count > CLASSES_NAMED)
        return NY_OK;
    room = ny_calloc(canvas->ctx, NY_MEM_OTHER, sample->count, sizeof(double));
    if (!room) return NY_EBUDGET;
    for (size_t k = 0; k < tint->count; k++) {
        double value = tint->classes[k].value;
        double at[2] = {ny_data_frame_x(frame, median_of(sample, 0, class, value, room)),
                        ny_data_frame_y(frame, median_of(sample, 1, class, value, room))};
        double width = ny_letters_width(canvas, &how, tint->classes[k].name);

        if (!isfinite(at[0]) || !isfinite(at[1])) continue;
        place_name(frame, sample, class, value, at);
        width = fmin(width, frame->right - frame->left - 2 * margin);
        aside = hides_class(frame, sample, class, value, at,
                            (const double[]){width / 2 + margin / 2, line / 2});
        at[0] = begin_name(frame, at[0], width, aside, margin);
        names[count++] = (struct ny_name_place){tint->classes[k].name, at[0], at[1], width,
                                                tint->classes[k].rows, false};
    }
    ny_free(canvas->ctx, room);
    ny_place_names(names, count, &inside);
    for (size_t k = 0; k < count; k++)
        if (!names[k].left_out)
            ny_letters_within(canvas, names[k].x, names[k].y, &how, names[k].text,
                              names[k].width + 1);
    return NY_OK;
}
