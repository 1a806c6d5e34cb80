/*
 * Draws on paper with cairo (report/canvas.h): lines, letters, marks, images, axes and titles, as a
 * png, svg or pdf. Pictures, legends, marks and scree plots are drawn through it.
 *
 * All lengths are in pixels of the picture; sizes of letters and lines grow with canvas->scale,
 * which is 1 at 1600 × 1200. The pixels of a png are charged to the budget, and what cairo keeps of
 * a svg or pdf is reserved, before anything is drawn. Errors of cairo and of the writer become one
 * status at the commit. A svg or pdf stays small, since marks are thick strokes rather than filled
 * outlines, and their places are whole numbers. The same picture is the same bytes.
 */
#include "report/canvas.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/writer.h"
#include "report/markup.h"

/* Bytes that svg and pdf keep until they are complete, for each pixel that the picture may have: an
 * image, a copy, and its compressed form in letters. */
enum { PAGE_BYTES_A_PIXEL = 12, SHORT_BYTES = 256 };

static const double points_a_pixel = 0.5, full_turn = 6.283185307179586477;

/* Hands bytes to the writer, unless it has failed. */
static void put(struct ny_canvas *canvas, const void *data, size_t bytes)
{
    if (!canvas->failed) canvas->failed = ny_writer_rows(canvas->writer, data, bytes);
}

static int put_text(void *canvas, const char *text, size_t bytes)
{
    put(canvas, text, bytes);
    return NY_OK;
}

/* Writes the title as the first element of a svg. */
static void put_title(struct ny_canvas *canvas)
{
    struct ny_sink sink = {.write = put_text, .user = canvas};

    ny_put(&sink, "\n<title>");
    ny_put_html(&sink, canvas->title);
    ny_put(&sink, "</title>");
}

/* Hands bytes of cairo to the writer and remembers its first error, which cairo cannot pass on. The
 * title of a svg, which cairo does not know, comes behind its second tag: that of the document. */
static cairo_status_t write_bytes(void *user, const unsigned char *data, unsigned bytes)
{
    struct ny_canvas *canvas = user;
    const unsigned char *end = data + bytes, *tag;

    while (canvas->kind == NY_CANVAS_SVG && canvas->tags < 2 &&
           (tag = memchr(data, '>', (size_t)(end - data)))) {
        put(canvas, data, (size_t)(tag + 1 - data));
        data = tag + 1;
        if (++canvas->tags == 2) put_title(canvas);
    }
    put(canvas, data, (size_t)(end - data));
    return canvas->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

static int check(struct ny_canvas *canvas, cairo_status_t status)
{
    if (status == CAIRO_STATUS_SUCCESS) return NY_OK;
    return canvas->failed ? canvas->failed : ny_cairo_error(canvas->ctx, status);
}

static enum ny_canvas_kind kind_of(const char *output)
{
    return ny_ends_with(output, ".svg")   ? NY_CANVAS_SVG
           : ny_ends_with(output, ".pdf") ? NY_CANVAS_PDF
                                          : NY_CANVAS_PNG;
}

/* Makes the image in memory or the page that writes to the file as it is drawn. */
static int make_surface(struct ny_canvas *canvas)
{
    double width = points_a_pixel * (double)canvas->width;
    double height = points_a_pixel * (double)canvas->height;

    if (canvas->kind == NY_CANVAS_PNG) {
        canvas->pixels =
            ny_calloc(canvas->ctx, NY_MEM_IO, canvas->height * canvas->width, sizeof(uint32_t));
        if (!canvas->pixels) return NY_EBUDGET;
        canvas->surface = ny_cairo.image_surface_create_for_data(
            (unsigned char *)canvas->pixels, CAIRO_FORMAT_ARGB32, (int)canvas->width,
            (int)canvas->height, (int)(canvas->width * sizeof(uint32_t)));
    } else {
        size_t bytes = canvas->width * canvas->height * PAGE_BYTES_A_PIXEL;
        int err = ny_reserve(canvas->ctx, NY_MEM_IO, bytes);

        if (err) return err;
        canvas->reserved = bytes;
        canvas->surface =
            canvas->kind == NY_CANVAS_SVG
                ? ny_cairo.svg_surface_create_for_stream(write_bytes, canvas, width, height)
                : ny_cairo.pdf_surface_create_for_stream(write_bytes, canvas, width, height);
        if (canvas->kind == NY_CANVAS_PDF) /* the same picture is the same bytes */
            ny_cairo.pdf_surface_set_metadata(canvas->surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    }
    canvas->cr = ny_cairo.create(canvas->surface);
    if (canvas->kind != NY_CANVAS_PNG) ny_cairo.scale(canvas->cr, points_a_pixel, points_a_pixel);
    return check(canvas, ny_cairo.status(canvas->cr));
}

int ny_canvas_open(struct ny_canvas *canvas, struct ny_context *ctx, const char *output,
                   size_t width, size_t height)
{
    int err = ny_cairo_load(ctx);

    if (err) return err;
    *canvas = (struct ny_canvas){.ctx = ctx, .width = width, .height = height};
    canvas->scale = fmin((double)width / 1600, (double)height / 1200);
    canvas->kind = kind_of(output);
    err = ny_writer_open(&canvas->writer, ctx, output, NY_OUT_BYTES, NY_ROWS_COUNTED, 0);
    if (err) return err;
    err = make_surface(canvas);
    if (err) return err;
    ny_ink(canvas, 0xffffff, 1);
    ny_cairo.paint(canvas->cr);
    return NY_OK;
}

int ny_canvas_commit(struct ny_canvas *canvas)
{
    struct ny_writer *writer = canvas->writer;
    int err = check(canvas, ny_cairo.status(canvas->cr));

    if (err == NY_OK && canvas->kind == NY_CANVAS_PNG)
        err = check(canvas,
                    ny_cairo.surface_write_to_png_stream(canvas->surface, write_bytes, canvas));
    ny_cairo.surface_finish(canvas->surface);
    if (err == NY_OK) err = check(canvas, ny_cairo.surface_status(canvas->surface));
    if (err) return err;
    canvas->writer = NULL;
    return ny_writer_commit(writer, NY_OK);
}

void ny_canvas_close(struct ny_canvas *canvas)
{
    if (!canvas->ctx) return;
    canvas->failed = NY_EINTERNAL; /* what cairo would still write is not wanted */
    ny_cairo.destroy(canvas->cr);
    ny_cairo.surface_destroy(canvas->surface);
    ny_writer_abort(canvas->writer);
    ny_free(canvas->ctx, canvas->pixels);
    ny_unreserve(canvas->ctx, NY_MEM_IO, canvas->reserved);
    canvas->ctx = NULL;
}

/* ---- ink ---------------------------------------------------------------------------------- */

void ny_ink(struct ny_canvas *canvas, uint32_t color, double alpha)
{
    ny_cairo.set_source_rgba(canvas->cr, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0,
                             (color & 255) / 255.0, alpha);
}

void ny_line(struct ny_canvas *canvas, double x, double y, double to_x, double to_y)
{
    ny_cairo.move_to(canvas->cr, x, y);
    ny_cairo.line_to(canvas->cr, to_x, to_y);
    ny_cairo.stroke(canvas->cr);
}

/* Sets the font that text is measured and drawn in. */
static void choose_font(struct ny_canvas *canvas, const struct ny_lettering *how)
{
    ny_cairo.select_font_face(canvas->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                              how->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    ny_cairo.set_font_size(canvas->cr, how->size * canvas->scale);
}

double ny_letters_width(struct ny_canvas *canvas, const struct ny_lettering *how, const char *text)
{
    cairo_text_extents_t all;

    choose_font(canvas, how);
    ny_cairo.text_extents(canvas->cr, text, &all);
    return all.x_advance;
}

/* White around letters, so that they can be read among points. Leaves the ink of the letters. */
static void draw_halo(struct ny_canvas *canvas, double left, double height, const char *text)
{
    ny_ink(canvas, 0xffffff, 0.85);
    ny_cairo.move_to(canvas->cr, left, height / 2);
    ny_cairo.text_path(canvas->cr, text);
    ny_cairo.set_line_width(canvas->cr, 7 * canvas->scale);
    ny_cairo.set_line_join(canvas->cr, CAIRO_LINE_JOIN_ROUND);
    ny_cairo.stroke(canvas->cr);
    ny_ink(canvas, 0x1a1a20, 1);
}

void ny_letters(struct ny_canvas *canvas, double x, double y, const struct ny_lettering *how,
                const char *text)
{
    double width = ny_letters_width(canvas, how, text);
    cairo_text_extents_t digit;

    ny_cairo.text_extents(canvas->cr, "0", &digit);
    ny_cairo.save(canvas->cr);
    ny_cairo.translate(canvas->cr, x, y);
    if (how->upwards) ny_cairo.rotate(canvas->cr, -full_turn / 4);
    if (how->halo) draw_halo(canvas, -how->anchor * width, digit.height, text);
    ny_cairo.move_to(canvas->cr, -how->anchor * width, digit.height / 2);
    ny_cairo.show_text(canvas->cr, text);
    ny_cairo.restore(canvas->cr);
}

/* Goes back to where a character begins. */
static size_t character_at(const char *text, size_t at)
{
    while (at && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

/* Shortens text to `room` pixels, behind which … stands for the rest. */
static void shorten(struct ny_canvas *canvas, const struct ny_lettering *how, const char *text,
                    double room, char shorter[SHORT_BYTES])
{
    const size_t most = SHORT_BYTES - sizeof("…"); /* cairo draws nothing of half a character */
    size_t length = strlen(text), keep = length <= most ? length : character_at(text, most);

    snprintf(shorter, SHORT_BYTES, "%.*s", (int)keep, text);
    while (keep && ny_letters_width(canvas, how, shorter) > room) {
        keep = character_at(text, keep - 1);
        snprintf(shorter, SHORT_BYTES, "%.*s…", (int)keep, text);
    }
}

void ny_letters_within(struct ny_canvas *canvas, double x, double y, const struct ny_lettering *how,
                       const char *text, double room)
{
    char shorter[SHORT_BYTES];

    shorten(canvas, how, text, room, shorter);
    ny_letters(canvas, x, y, how, shorter);
}

/* A shape is a thick line: a short one with round or square ends, two bars, or a small outline
 * whose line is as thick as its inside. A svg needs a third of the letters for it that the outline
 * takes. Corners for a radius of 1; all shapes have about the same area. */
struct skeleton {
    cairo_line_cap_t cap;
    double width;
    size_t corners; /* 1: a dot; 2: a line; 3 or 4: an outline */
    bool crossed;   /* a second line at right angles to the first */
    double at[4][2];
};

static const struct skeleton skeletons[] = {
    [NY_DISC] = {CAIRO_LINE_CAP_ROUND, 2, 1, false, {{0}}},
    [NY_SQUARE] = {CAIRO_LINE_CAP_SQUARE, 1.68, 2, false, {{-.05, 0}, {.05, 0}}},
    [NY_TRIANGLE] =
        {CAIRO_LINE_CAP_BUTT, .9456, 3, false, {{0, -.4928}, {.4375, .2772}, {-.4375, .2772}}},
    [NY_DIAMOND] =
        {CAIRO_LINE_CAP_BUTT, 1.195, 4, false, {{0, -.455}, {.455, 0}, {0, .455}, {-.455, 0}}},
    [NY_CROSS] = {CAIRO_LINE_CAP_BUTT, .8, 2, true, {{-.8485, -.8485}, {.8485, .8485}}},
    [NY_PLUS] = {CAIRO_LINE_CAP_BUTT, .8, 2, true, {{-1.2, 0}, {1.2, 0}}},
};

void ny_mark_add(struct ny_canvas *canvas, double x, double y, double radius, enum ny_shape shape)
{
    const struct skeleton *s = &skeletons[shape];
    cairo_t *cr = canvas->cr;

    if (canvas->kind != NY_CANVAS_PNG) { /* whole numbers are short, and exact enough on a page */
        x = round(x);
        y = round(y);
    }
    ny_cairo.move_to(cr, x + radius * s->at[0][0], y + radius * s->at[0][1]);
    if (s->corners == 1) ny_cairo.line_to(cr, x, y);
    for (size_t k = 1; k < s->corners; k++)
        ny_cairo.line_to(cr, x + radius * s->at[k][0], y + radius * s->at[k][1]);
    if (s->corners > 2) ny_cairo.close_path(cr);
    if (!s->crossed) return;
    ny_cairo.move_to(cr, x - radius * s->at[0][1], y + radius * s->at[0][0]);
    ny_cairo.line_to(cr, x - radius * s->at[1][1], y + radius * s->at[1][0]);
}

void ny_marks_draw(struct ny_canvas *canvas, double radius, enum ny_shape shape, bool edges)
{
    const struct skeleton *s = &skeletons[shape];
    double edge = fmax(0.12 * radius, 0.8 * canvas->scale);
    cairo_t *cr = canvas->cr;

    ny_cairo.save(cr);
    ny_cairo.set_line_cap(cr, s->cap);
    ny_cairo.set_line_join(cr, CAIRO_LINE_JOIN_MITER);
    if (edges) {
        ny_cairo.save(cr);
        ny_cairo.set_line_width(cr, s->width * radius + edge);
        ny_ink(canvas, 0xffffff, 0.8);
        ny_cairo.stroke_preserve(cr);
        ny_cairo.restore(cr);
    }
    ny_cairo.set_line_width(cr, s->width * radius - (edges ? edge : 0));
    ny_cairo.stroke(cr);
    ny_cairo.restore(cr);
}

void ny_mark(struct ny_canvas *canvas, double x, double y, double radius, enum ny_shape shape)
{
    ny_cairo.new_path(canvas->cr);
    ny_mark_add(canvas, x, y, radius, shape);
    ny_marks_draw(canvas, radius, shape, true);
}

int ny_image(struct ny_canvas *canvas, uint32_t *argb, const size_t cells[2], const double at[4])
{
    int stride = (int)(cells[0] * sizeof(uint32_t));
    cairo_surface_t *image = ny_cairo.image_surface_create_for_data(
        (unsigned char *)argb, CAIRO_FORMAT_ARGB32, (int)cells[0], (int)cells[1], stride);

    ny_cairo.save(canvas->cr);
    ny_cairo.translate(canvas->cr, at[0], at[1]);
    ny_cairo.scale(canvas->cr, at[2] / (double)cells[0], at[3] / (double)cells[1]);
    ny_cairo.set_source_surface(canvas->cr, image, 0, 0);
    ny_cairo.pattern_set_filter(ny_cairo.get_source(canvas->cr), CAIRO_FILTER_NEAREST);
    ny_cairo.paint(canvas->cr);
    ny_cairo.restore(canvas->cr);
    ny_cairo.surface_destroy(image);
    return check(canvas, ny_cairo.status(canvas->cr));
}

/* ---- axes --------------------------------------------------------------------------------- */

double ny_data_frame_x(const struct ny_plot_frame *frame, double value)
{
    return frame->left + ny_axis_place(&frame->x, value) * (frame->right - frame->left);
}

double ny_data_frame_y(const struct ny_plot_frame *frame, double value)
{
    return frame->bottom - ny_axis_place(&frame->y, value) * (frame->bottom - frame->top);
}

/* Returns the power of ten that the numbers leave out, or "". */
static const char *power_text(int exponent, char text[32])
{
    return exponent ? ny_power_of_ten(exponent, text) : "";
}

/* Returns the width of the widest number along an axis. */
static double widest_of(struct ny_canvas *canvas, const struct ny_ticks *ticks,
                        const struct ny_lettering *how)
{
    double widest = 0;

    for (size_t i = 0; i < ticks->count; i++)
        widest = fmax(widest, ny_letters_width(canvas, how, ticks->text[i]));
    return widest;
}

/* Draws a line for each number, and the numbers that have room beside one another: all of them, or
 * every second, third, …. */
static void draw_x_ticks(struct ny_canvas *canvas, const struct ny_plot_frame *f)
{
    const struct ny_lettering how = {.size = 22, .anchor = 0.5}, power = {.size = 20, .anchor = 1};
    const struct ny_ticks *ticks = &f->x_ticks;
    double unit = canvas->scale, room = f->right - f->left;
    size_t every;
    char text[32];

    if (ticks->count > 1)
        room = ny_data_frame_x(f, ticks->at[1]) - ny_data_frame_x(f, ticks->at[0]);
    every = 1 + (size_t)((widest_of(canvas, ticks, &how) + 14 * unit) / fmax(room, 1));
    for (size_t i = 0; i < ticks->count; i++) {
        double x = ny_data_frame_x(f, ticks->at[i]);

        ny_ink(canvas, 0xe6e6ea, 1);
        ny_line(canvas, x, f->top, x, f->bottom);
        ny_ink(canvas, 0x5a5a64, 1);
        if (i % every == 0) ny_letters(canvas, x, f->bottom + 26 * unit, &how, ticks->text[i]);
    }
    ny_letters(canvas, f->right, f->bottom + 56 * unit, &power, power_text(ticks->exponent, text));
}

/* Numbers along the y axis end here, to the left of the frame. */
static const double y_numbers_away = 12;

static const struct ny_lettering y_number = {.size = 22, .anchor = 1};

/* Returns how far the title of the y axis is to the left of the frame: behind the numbers. */
static double y_title_away(struct ny_canvas *canvas, const struct ny_ticks *ticks)
{
    double unit = canvas->scale;

    return fmax(96 * unit, widest_of(canvas, ticks, &y_number) + (y_numbers_away + 20) * unit);
}

double ny_axes_left(struct ny_canvas *canvas, const struct ny_ticks *y_ticks)
{
    double unit = canvas->scale;

    return round(fmax(150 * unit, y_title_away(canvas, y_ticks) + 18 * unit));
}

static void draw_y_ticks(struct ny_canvas *canvas, const struct ny_plot_frame *f)
{
    const struct ny_lettering power = {.size = 20};
    double unit = canvas->scale;
    char text[32];

    for (size_t i = 0; i < f->y_ticks.count; i++) {
        double y = ny_data_frame_y(f, f->y_ticks.at[i]);

        ny_ink(canvas, 0xe6e6ea, 1);
        ny_line(canvas, f->left, y, f->right, y);
        ny_ink(canvas, 0x5a5a64, 1);
        ny_letters(canvas, f->left - y_numbers_away * unit, y, &y_number, f->y_ticks.text[i]);
    }
    ny_letters(canvas, f->left - 78 * unit, f->top - 18 * unit, &power,
               power_text(f->y_ticks.exponent, text));
}

void ny_draw_axes(struct ny_canvas *canvas, const struct ny_plot_frame *f, const char *x_title,
                  const char *y_title)
{
    const struct ny_lettering across = {.size = 24, .anchor = 0.5};
    const struct ny_lettering upwards = {.size = 24, .anchor = 0.5, .upwards = true};
    double unit = canvas->scale;

    ny_cairo.set_line_width(canvas->cr, 1.5 * unit);
    draw_x_ticks(canvas, f);
    draw_y_ticks(canvas, f);
    ny_ink(canvas, 0x33333a, 1);
    ny_letters_within(canvas, (f->left + f->right) / 2, f->bottom + 72 * unit, &across, x_title,
                      f->right - f->left);
    ny_letters_within(canvas, f->left - y_title_away(canvas, &f->y_ticks), (f->top + f->bottom) / 2,
                      &upwards, y_title, f->bottom - f->top);
    ny_ink(canvas, 0x9a9aa4, 1);
    ny_cairo.rectangle(canvas->cr, f->left, f->top, f->right - f->left, f->bottom - f->top);
    ny_cairo.stroke(canvas->cr);
}

void ny_draw_title(struct ny_canvas *canvas, const struct ny_plot_frame *frame, const char *title,
                   const char *subtitle)
{
    const struct ny_lettering bold = {.size = 34, .bold = true}, plain = {.size = 22};
    double unit = canvas->scale, room = (double)canvas->width - frame->left - 24 * unit;

    snprintf(canvas->title, sizeof(canvas->title), "%s: %s", title, subtitle);
    if (canvas->kind == NY_CANVAS_PDF)
        ny_cairo.pdf_surface_set_metadata(canvas->surface, CAIRO_PDF_METADATA_TITLE, canvas->title);
    ny_ink(canvas, 0x1a1a20, 1);
    ny_letters_within(canvas, frame->left, 40 * unit, &bold, title, room);
    ny_ink(canvas, 0x5a5a64, 1);
    ny_letters_within(canvas, frame->left, 82 * unit, &plain, subtitle, room);
}
