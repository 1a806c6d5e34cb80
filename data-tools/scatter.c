/*
 * A picture of an embedding: two of its columns, coloured by class. Points are drawn in a shuffled
 * order, so that no class lies on top; held-out points stand out by a dark outline.
 */
#include <cairo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tool.h"

static const char usage[] =
    "scatter EMBEDDING [LABELS] -o OUT.png [options]\n"
    "\n"
    "  -o OUT.png            the picture, 1600 x 1200\n"
    "  --title TEXT\n"
    "  --names A,B,…         names of the classes, in ascending order of label\n"
    "  --also EMB LABELS     a second set, drawn larger and outlined\n"
    "  --also-max N          at most N points of it, drawn at random (400)\n"
    "  --x I, --y J          columns, counted from 1 (1 and 2)\n"
    "Tables and labels: any format that nystream imports.\n";

enum { WIDTH = 1600, HEIGHT = 1200, CLASSES_MAX = 64, PALETTE = 10, TICKS = 6 };

/* "Muted" of P. Tol, "Colour schemes" (2021), distinct to colour-blind eyes, and a grey. */
static const unsigned palette[PALETTE] = {0x332288, 0xcc6677, 0x117733, 0xddaa33, 0x88ccee,
                                          0x882255, 0x44aa99, 0x999933, 0xaa4499, 0x777777};

struct frame {
    double left, top, right, bottom; /* of the axes, in pixels */
    double low[2], high[2];          /* of the data */
    size_t column[2];
};

struct classes {
    double value[CLASSES_MAX]; /* ascending */
    const char *name[CLASSES_MAX];
    char number[CLASSES_MAX][24]; /* names of the nameless */
    size_t count;
};

struct picture {
    cairo_t *cr;
    struct frame frame;
    struct classes classes;
    const struct tool_table *points, *also; /* also: may be NULL */
    size_t also_max;
    const char *title;
};

static void set_colour(cairo_t *cr, unsigned rgb, double alpha)
{
    cairo_set_source_rgba(cr, (rgb >> 16) / 255.0, (rgb >> 8 & 255) / 255.0, (rgb & 255) / 255.0,
                          alpha);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void collect_classes(struct classes *classes, const struct tool_table *table)
{
    for (size_t i = 0; table->labels && i < table->n; i++) {
        size_t k = 0;

        while (k < classes->count && classes->value[k] != table->labels[i])
            k++;
        if (k < classes->count || isnan(table->labels[i])) continue;
        if (k == CLASSES_MAX)
            tool_fail(NY_EDATA, "More than %zu different labels: these are not classes.", k);
        classes->value[classes->count++] = table->labels[i];
    }
    qsort(classes->value, classes->count, sizeof *classes->value, compare_doubles);
}

static void name_classes(struct ny_context *ctx, struct classes *classes, const char *names)
{
    char *rest = names ? tool_alloc(ctx, strlen(names) + 1, 1) : NULL;

    if (names) memcpy(rest, names, strlen(names));
    for (size_t k = 0; k < classes->count; k++) {
        char *name = rest ? strsep(&rest, ",") : NULL;

        snprintf(classes->number[k], sizeof classes->number[k], "%g", classes->value[k]);
        classes->name[k] = name ? name : classes->number[k];
    }
}

static size_t class_of(const struct classes *classes, const struct tool_table *table, size_t i)
{
    for (size_t k = 0; table->labels && k < classes->count; k++)
        if (classes->value[k] == table->labels[i]) return k;
    return PALETTE - 1;
}

/* The middle 99.8 % of a column and a margin, inside the column's own range and a smaller one. */
static void set_range(struct ny_context *ctx, struct frame *frame, int axis,
                      const struct tool_table *table)
{
    double *values = tool_alloc(ctx, table->n, sizeof *values);
    size_t tail = table->n / 1000;
    double low, high, margin;

    for (size_t i = 0; i < table->n; i++)
        values[i] = (double)table->values[i * table->d + frame->column[axis]];
    qsort(values, table->n, sizeof *values, compare_doubles);
    low = values[tail];
    high = values[table->n - 1 - tail];
    margin = 0.06 * (high - low);
    frame->low[axis] = fmax(low - margin, values[0] - 0.03 * (high - low));
    frame->high[axis] = fmin(high + margin, values[table->n - 1] + 0.03 * (high - low));
    if (!(high > low)) {
        frame->low[axis] = low - 1;
        frame->high[axis] = low + 1;
    }
}

static void to_pixels(const struct frame *f, const struct tool_table *table, size_t i, double at[2])
{
    const float *row = table->values + i * table->d;
    double x = ((double)row[f->column[0]] - f->low[0]) / (f->high[0] - f->low[0]);
    double y = ((double)row[f->column[1]] - f->low[1]) / (f->high[1] - f->low[1]);

    at[0] = f->left + x * (f->right - f->left);
    at[1] = f->bottom - y * (f->bottom - f->top);
}

static void set_font(cairo_t *cr, double size, bool bold)
{
    cairo_select_font_face(cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(cr, size);
}

/* anchor: 0 the text begins at x, 0.5 is centred there, 1 ends there; y is the middle of digits. */
static void show_text(cairo_t *cr, double x, double y, double anchor, const char *text)
{
    cairo_text_extents_t all, digit;

    cairo_text_extents(cr, text, &all);
    cairo_text_extents(cr, "0", &digit);
    cairo_move_to(cr, x - anchor * all.x_advance, y + digit.height / 2);
    cairo_show_text(cr, text);
}

/* 1, 2 or 5 times a power of ten. */
static double tick_step(double range)
{
    double raw = range / TICKS, power = pow(10, floor(log10(raw))), part = raw / power;

    return power * (part < 1.5 ? 1 : part < 3.5 ? 2 : part < 7.5 ? 5 : 10);
}

static void draw_grid(cairo_t *cr, const struct frame *f)
{
    set_font(cr, 22, false);
    for (int axis = 0; axis < 2; axis++) {
        double range = f->high[axis] - f->low[axis], step = tick_step(range);

        for (double tick = ceil(f->low[axis] / step); tick * step <= f->high[axis]; tick++) {
            double share = (tick * step - f->low[axis]) / range;
            double x = f->left + share * (f->right - f->left);
            double y = f->bottom - share * (f->bottom - f->top);
            char text[32];

            snprintf(text, sizeof text, "%s%g", tick < -0.5 ? "\u2212" : "", fabs(tick * step));
            set_colour(cr, 0xe4e4e8, 1);
            cairo_set_line_width(cr, 1.5);
            cairo_move_to(cr, axis ? f->left : x, axis ? y : f->top);
            cairo_line_to(cr, axis ? f->right : x, axis ? y : f->bottom);
            cairo_stroke(cr);
            set_colour(cr, 0x666670, 1);
            if (axis)
                show_text(cr, f->left - 14, y, 1, text);
            else
                show_text(cr, x, f->bottom + 26, 0.5, text);
        }
    }
}

static void draw_axis_titles(cairo_t *cr, const struct picture *p)
{
    const struct frame *f = &p->frame;
    char text[48];

    set_colour(cr, 0x33333a, 1);
    set_font(cr, 24, false);
    snprintf(text, sizeof text, "component %zu", f->column[0] + 1);
    show_text(cr, (f->left + f->right) / 2, f->bottom + 68, 0.5, text);
    snprintf(text, sizeof text, "component %zu", f->column[1] + 1);
    cairo_save(cr);
    cairo_translate(cr, 34, (f->top + f->bottom) / 2);
    cairo_rotate(cr, -1.57079632679489661923);
    show_text(cr, 0, 0, 0.5, text);
    cairo_restore(cr);
    set_font(cr, 32, true);
    show_text(cr, f->left, f->top / 2, 0, p->title);
}

/* An order of 0 … n−1 that depends on n alone (Fisher–Yates). */
static size_t *shuffled(struct ny_context *ctx, size_t n)
{
    size_t *order = tool_alloc(ctx, n, sizeof *order);

    for (size_t i = 0; i < n; i++) {
        size_t j = (size_t)(ny_hash64(0, NY_STREAM_SHUFFLE, i) % (i + 1));

        order[i] = order[j];
        order[j] = i;
    }
    return order;
}

static void draw_points(struct ny_context *ctx, const struct picture *p)
{
    const size_t *order = shuffled(ctx, p->points->n);
    /* many points: small and translucent; few: large */
    double radius = fmin(9, fmax(2.2, 560 / sqrt((double)p->points->n)));
    double alpha = p->points->n > 3000 ? 0.5 : 0.8;

    for (size_t i = 0; i < p->points->n; i++) {
        double at[2];

        to_pixels(&p->frame, p->points, order[i], at);
        set_colour(p->cr, palette[class_of(&p->classes, p->points, order[i]) % PALETTE], alpha);
        cairo_arc(p->cr, at[0], at[1], radius, 0, 6.283185307179586477);
        cairo_fill(p->cr);
    }
}

static void draw_outlined(cairo_t *cr, const double at[2], double radius, unsigned rgb)
{
    cairo_new_path(cr);
    cairo_arc(cr, at[0], at[1], radius, 0, 6.283185307179586477);
    set_colour(cr, rgb, 1);
    cairo_fill_preserve(cr);
    set_colour(cr, 0x1a1a20, 1);
    cairo_set_line_width(cr, 1.6);
    cairo_stroke(cr);
}

static size_t also_count(const struct picture *p)
{
    return p->also->n < p->also_max ? p->also->n : p->also_max;
}

static void draw_also(struct ny_context *ctx, const struct picture *p)
{
    const size_t *order = shuffled(ctx, p->also->n);

    for (size_t i = 0; i < also_count(p); i++) {
        double at[2];

        to_pixels(&p->frame, p->also, order[i], at);
        draw_outlined(p->cr, at, 5.5, palette[class_of(&p->classes, p->also, order[i]) % PALETTE]);
    }
}

struct label {
    const char *text;
    unsigned rgb;
    double x, y, width; /* middle of the left end, length */
};

/* The name of class k at the medians of its points; an empty text where it has none. */
static struct label place_label(const struct picture *p, size_t k, double *x, double *y)
{
    struct label label = {.text = "", .rgb = palette[k % PALETTE]};
    cairo_text_extents_t size;
    size_t members = 0;

    for (size_t i = 0; i < p->points->n; i++) {
        double at[2];

        if (class_of(&p->classes, p->points, i) != k) continue;
        to_pixels(&p->frame, p->points, i, at);
        x[members] = at[0];
        y[members++] = at[1];
    }
    if (!members) return label;
    qsort(x, members, sizeof *x, compare_doubles);
    qsort(y, members, sizeof *y, compare_doubles);
    cairo_text_extents(p->cr, p->classes.name[k], &size);
    label.text = p->classes.name[k];
    label.width = size.x_advance;
    label.x = x[members / 2] - label.width / 2;
    label.y = y[members / 2];
    return label;
}

static int compare_heights(const void *a, const void *b)
{
    return compare_doubles(&((const struct label *)a)->y, &((const struct label *)b)->y);
}

/* From top to bottom: a label that would cover an earlier one moves below it. */
static void separate_labels(struct label *labels, size_t count)
{
    const double line = 30;

    qsort(labels, count, sizeof *labels, compare_heights);
    for (size_t i = 1; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (labels[i].x < labels[j].x + labels[j].width &&
                labels[j].x < labels[i].x + labels[i].width &&
                fabs(labels[i].y - labels[j].y) < line)
                labels[i].y = labels[j].y + line;
}

/* Names on a halo, in a darker shade of their colours. */
static void draw_names(struct ny_context *ctx, const struct picture *p)
{
    double *x = tool_alloc(ctx, p->points->n, 2 * sizeof *x);
    struct label labels[CLASSES_MAX];

    set_font(p->cr, 25, true);
    for (size_t k = 0; k < p->classes.count; k++)
        labels[k] = place_label(p, k, x, x + p->points->n);
    separate_labels(labels, p->classes.count);
    cairo_set_line_join(p->cr, CAIRO_LINE_JOIN_ROUND);
    cairo_set_line_width(p->cr, 8);
    for (size_t k = 0; k < p->classes.count; k++) {
        unsigned rgb = labels[k].rgb;

        cairo_new_path(p->cr);
        cairo_move_to(p->cr, labels[k].x, labels[k].y + 9);
        cairo_text_path(p->cr, labels[k].text);
        cairo_set_source_rgba(p->cr, 1, 1, 1, 0.9);
        cairo_stroke_preserve(p->cr);
        set_colour(p->cr, rgb - (rgb >> 2 & 0x3f3f3f) - (rgb >> 3 & 0x1f1f1f), 1);
        cairo_fill(p->cr);
    }
}

/* 60000 as "60,000". */
static const char *grouped(size_t n, char text[32])
{
    char plain[24];
    int length = snprintf(plain, sizeof plain, "%zu", n), at = 0;

    for (int i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0) text[at++] = ',';
        text[at++] = plain[i];
    }
    text[at] = 0;
    return text;
}

static void draw_legend(const struct picture *p)
{
    cairo_t *cr = p->cr;
    double x = p->frame.right + 40, y = p->frame.top + 18;
    char text[96], number[32];

    set_font(cr, 24, false);
    for (size_t k = 0; k < p->classes.count; k++, y += 40) {
        cairo_new_path(cr);
        cairo_arc(cr, x, y, 9, 0, 6.283185307179586477);
        set_colour(cr, palette[k % PALETTE], 1);
        cairo_fill(cr);
        set_colour(cr, 0x33333a, 1);
        show_text(cr, x + 24, y, 0, p->classes.name[k]);
    }
    y += 20;
    set_font(cr, 20, false);
    set_colour(cr, 0x666670, 1);
    snprintf(text, sizeof text, "%s points", grouped(p->points->n, number));
    show_text(cr, x - 9, y, 0, text);
    if (!p->also) return;
    draw_outlined(cr, (const double[2]){x, y + 40}, 7, 0xffffff);
    set_colour(cr, 0x666670, 1);
    snprintf(text, sizeof text, "held out: %s", grouped(also_count(p), number));
    show_text(cr, x + 24, y + 40, 0, text);
    if (also_count(p) == p->also->n) return;
    snprintf(text, sizeof text, "of %s, at random", grouped(p->also->n, number));
    show_text(cr, x + 24, y + 68, 0, text);
}

static void draw(struct ny_context *ctx, const struct picture *p)
{
    const struct frame *f = &p->frame;

    cairo_set_source_rgb(p->cr, 1, 1, 1);
    cairo_paint(p->cr);
    draw_grid(p->cr, f);
    cairo_save(p->cr);
    cairo_rectangle(p->cr, f->left, f->top, f->right - f->left, f->bottom - f->top);
    cairo_clip(p->cr);
    draw_points(ctx, p);
    if (p->also) draw_also(ctx, p);
    if (p->classes.count > 1) draw_names(ctx, p);
    cairo_restore(p->cr);
    set_colour(p->cr, 0x9a9aa4, 1);
    cairo_set_line_width(p->cr, 1.5);
    cairo_rectangle(p->cr, f->left, f->top, f->right - f->left, f->bottom - f->top);
    cairo_stroke(p->cr);
    draw_axis_titles(p->cr, p);
    draw_legend(p);
}

static void check_columns(const struct tool_table *table, const uint64_t columns[2])
{
    for (int axis = 0; axis < 2; axis++)
        if (columns[axis] < 1 || columns[axis] > table->d)
            tool_fail(NY_EUSAGE, "Column %llu: the embedding has columns 1 to %zu.",
                      (unsigned long long)columns[axis], table->d);
}

int main(int argc, char **argv)
{
    const char *paths[2] = {0}, *out = NULL, *title = "", *names = NULL, *also[2] = {0};
    uint64_t columns[2] = {1, 2}, also_max = 400;
    const struct tool_option options[] = {{"-o", TOOL_TEXT, &out},
                                          {"--title", TOOL_TEXT, &title},
                                          {"--names", TOOL_TEXT, &names},
                                          {"--also", TOOL_PAIR, also},
                                          {"--x", TOOL_COUNT, &columns[0]},
                                          {"--y", TOOL_COUNT, &columns[1]},
                                          {"--also-max", TOOL_COUNT, &also_max},
                                          {NULL, TOOL_TEXT, NULL}};
    struct picture picture = {.frame = {130, 100, 1290, 1090, {0}, {0}, {0}}};
    struct tool_table points, second;
    struct ny_context *ctx;
    cairo_surface_t *surface;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){paths, 2, 1});
    if (!out) tool_fail(NY_EUSAGE, "Say where to: -o OUT.png (see --help).");
    ctx = tool_start();
    tool_table_read(ctx, paths[0], paths[1], &points);
    check_columns(&points, columns);
    collect_classes(&picture.classes, &points);
    if (also[0]) {
        tool_table_read(ctx, also[0], also[1], &second);
        if (second.d != points.d) tool_fail(NY_EDATA, "%s has other columns.", also[0]);
        picture.also = &second;
    }
    name_classes(ctx, &picture.classes, names);
    picture.points = &points;
    picture.also_max = also_max;
    picture.title = title;
    for (int axis = 0; axis < 2; axis++) {
        picture.frame.column[axis] = columns[axis] - 1;
        set_range(ctx, &picture.frame, axis, &points);
    }
    surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, WIDTH, HEIGHT);
    picture.cr = cairo_create(surface);
    draw(ctx, &picture);
    if (cairo_status(picture.cr) || cairo_surface_write_to_png(surface, out))
        tool_fail(NY_EIO, "Cannot write %s.", out);
    cairo_destroy(picture.cr);
    cairo_surface_destroy(surface);
    tool_end(ctx);
    return 0;
}
