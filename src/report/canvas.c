#include "report/canvas.h"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/writer.h"

/* What svg and pdf keep of a picture until they are complete, for each pixel that it may have: an
 * image, a copy, and its compressed form in letters. */
enum { PAGE_BYTES_A_PIXEL = 12 };

static const double points_a_pixel = 0.5, full_turn = 6.283185307179586477;

static cairo_status_t write_bytes(void *user, const unsigned char *data, unsigned bytes)
{
    struct ny_canvas *canvas = user;

    if (!canvas->failed) canvas->failed = ny_writer_rows(canvas->writer, data, bytes);
    return canvas->failed ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

int ny_cairo_error(struct ny_context *ctx, cairo_status_t status)
{
    bool memory = status == CAIRO_STATUS_NO_MEMORY || status == CAIRO_STATUS_PNG_ERROR;

    return ny_fail(ctx, memory ? NY_EBUDGET : NY_EINTERNAL,
                   memory ? "the system has no memory for a picture (cairo: %s)"
                          : "cairo could not draw the picture: %s",
                   cairo_status_to_string(status));
}

static int check(struct ny_canvas *canvas, cairo_status_t status)
{
    if (status == CAIRO_STATUS_SUCCESS) return NY_OK;
    return canvas->failed ? canvas->failed : ny_cairo_error(canvas->ctx, status);
}

static int kind_of(struct ny_canvas *canvas, const char *output)
{
    canvas->kind = ny_ends_with(output, ".svg")   ? NY_CANVAS_SVG
                   : ny_ends_with(output, ".pdf") ? NY_CANVAS_PDF
                                                  : NY_CANVAS_PNG;
    if (canvas->kind != NY_CANVAS_PNG || ny_ends_with(output, ".png") || strcmp(output, "-") == 0)
        return NY_OK;
    return ny_fail(canvas->ctx, NY_EUSAGE,
                   "%s: pictures are written as png, svg or pdf; give a name that ends so", output);
}

static int make_surface(struct ny_canvas *canvas)
{
    double width = points_a_pixel * (double)canvas->width;
    double height = points_a_pixel * (double)canvas->height;
    size_t stride;

    if (canvas->kind == NY_CANVAS_PNG) {
        stride = ny_image_stride(canvas->width);
        canvas->pixels =
            ny_calloc(canvas->ctx, NY_MEM_IO, canvas->height * stride, sizeof(uint32_t));
        if (!canvas->pixels) return NY_EBUDGET;
        canvas->surface = cairo_image_surface_create_for_data(
            (unsigned char *)canvas->pixels, CAIRO_FORMAT_ARGB32, (int)canvas->width,
            (int)canvas->height, (int)(stride * sizeof(uint32_t)));
    } else {
        size_t bytes = canvas->width * canvas->height * PAGE_BYTES_A_PIXEL;
        int err = ny_reserve(canvas->ctx, NY_MEM_IO, bytes);

        if (err) return err;
        canvas->reserved = bytes;
        canvas->surface =
            canvas->kind == NY_CANVAS_SVG
                ? cairo_svg_surface_create_for_stream(write_bytes, canvas, width, height)
                : cairo_pdf_surface_create_for_stream(write_bytes, canvas, width, height);
        if (canvas->kind == NY_CANVAS_PDF) /* the same picture is the same bytes */
            cairo_pdf_surface_set_metadata(canvas->surface, CAIRO_PDF_METADATA_CREATE_DATE, "");
    }
    canvas->cr = cairo_create(canvas->surface);
    if (canvas->kind != NY_CANVAS_PNG) cairo_scale(canvas->cr, points_a_pixel, points_a_pixel);
    return check(canvas, cairo_status(canvas->cr));
}

int ny_canvas_open(struct ny_canvas *canvas, struct ny_context *ctx, const char *output,
                   size_t width, size_t height)
{
    int err;

    *canvas = (struct ny_canvas){.ctx = ctx, .width = width, .height = height};
    canvas->scale = fmin((double)width / 1600, (double)height / 1200);
    err = kind_of(canvas, output);
    if (err) return err;
    err = ny_writer_open(&canvas->writer, ctx, output, NY_OUT_BYTES, NY_ROWS_COUNTED, 0);
    if (err) return err;
    err = make_surface(canvas);
    if (err) return err;
    ny_ink(canvas, 0xffffff, 1);
    cairo_paint(canvas->cr);
    return NY_OK;
}

int ny_canvas_commit(struct ny_canvas *canvas)
{
    struct ny_writer *writer = canvas->writer;
    int err = check(canvas, cairo_status(canvas->cr));

    if (err == NY_OK && canvas->kind == NY_CANVAS_PNG)
        err =
            check(canvas, cairo_surface_write_to_png_stream(canvas->surface, write_bytes, canvas));
    cairo_surface_finish(canvas->surface);
    if (err == NY_OK) err = check(canvas, cairo_surface_status(canvas->surface));
    if (err) return err;
    canvas->writer = NULL;
    return ny_writer_commit(writer);
}

void ny_canvas_close(struct ny_canvas *canvas)
{
    if (!canvas->ctx) return;
    canvas->failed = NY_EINTERNAL; /* what cairo would still write is not wanted */
    cairo_destroy(canvas->cr);
    cairo_surface_destroy(canvas->surface);
    ny_writer_abort(canvas->writer);
    ny_free(canvas->ctx, canvas->pixels);
    ny_unreserve(canvas->ctx, NY_MEM_IO, canvas->reserved);
    canvas->ctx = NULL;
}

/* ---- ink ---------------------------------------------------------------------------------- */

void ny_ink(struct ny_canvas *canvas, uint32_t color, double alpha)
{
    cairo_set_source_rgba(canvas->cr, (color >> 16 & 255) / 255.0, (color >> 8 & 255) / 255.0,
                          (color & 255) / 255.0, alpha);
}

void ny_line(struct ny_canvas *canvas, double x, double y, double to_x, double to_y)
{
    cairo_move_to(canvas->cr, x, y);
    cairo_line_to(canvas->cr, to_x, to_y);
    cairo_stroke(canvas->cr);
}

static void choose_font(struct ny_canvas *canvas, const struct ny_lettering *how)
{
    cairo_select_font_face(canvas->cr, "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           how->bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(canvas->cr, how->size * canvas->scale);
}

double ny_letters_width(struct ny_canvas *canvas, const struct ny_lettering *how, const char *text)
{
    cairo_text_extents_t all;

    choose_font(canvas, how);
    cairo_text_extents(canvas->cr, text, &all);
    return all.x_advance;
}

void ny_letters(struct ny_canvas *canvas, double x, double y, const struct ny_lettering *how,
                const char *text)
{
    double width = ny_letters_width(canvas, how, text);
    cairo_text_extents_t digit;

    cairo_text_extents(canvas->cr, "0", &digit);
    cairo_save(canvas->cr);
    cairo_translate(canvas->cr, x, y);
    if (how->upwards) cairo_rotate(canvas->cr, -full_turn / 4);
    cairo_move_to(canvas->cr, -how->anchor * width, digit.height / 2);
    if (how->halo) {
        cairo_text_path(canvas->cr, text);
        cairo_set_line_width(canvas->cr, 7 * canvas->scale);
        cairo_set_line_join(canvas->cr, CAIRO_LINE_JOIN_ROUND);
        ny_ink(canvas, 0xffffff, 0.85);
        cairo_stroke_preserve(canvas->cr);
        ny_ink(canvas, 0x1a1a20, 1);
        cairo_fill(canvas->cr);
    } else {
        cairo_show_text(canvas->cr, text);
    }
    cairo_restore(canvas->cr);
}

static void polygon(cairo_t *cr, double x, double y, const double (*corners)[2], size_t count,
                    double radius)
{
    for (size_t i = 0; i < count; i++)
        cairo_line_to(cr, x + radius * corners[i][0], y + radius * corners[i][1]);
    cairo_close_path(cr);
}

/* Of about the same area each. */
void ny_mark(struct ny_canvas *canvas, double x, double y, double radius, enum ny_shape shape)
{
    static const double square[4][2] = {{-.89, -.89}, {.89, -.89}, {.89, .89}, {-.89, .89}};
    static const double triangle[3][2] = {{0, -1.45}, {1.25, .75}, {-1.25, .75}};
    static const double diamond[4][2] = {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}};
    static const double plus[12][2] = {{-.4, -1.2}, {.4, -1.2}, {.4, -.4},   {1.2, -.4},
                                       {1.2, .4},   {.4, .4},   {.4, 1.2},   {-.4, 1.2},
                                       {-.4, .4},   {-1.2, .4}, {-1.2, -.4}, {-.4, -.4}};
    cairo_t *cr = canvas->cr;

    cairo_new_path(cr);
    cairo_save(cr);
    cairo_translate(cr, x, y);
    if (shape == NY_CROSS) cairo_rotate(cr, full_turn / 8);
    switch (shape) {
    case NY_SQUARE:
        polygon(cr, 0, 0, square, 4, radius);
        break;
    case NY_TRIANGLE:
        polygon(cr, 0, 0, triangle, 3, radius);
        break;
    case NY_DIAMOND:
        polygon(cr, 0, 0, diamond, 4, radius);
        break;
    case NY_CROSS:
    case NY_PLUS:
        polygon(cr, 0, 0, plus, 12, radius);
        break;
    default:
        cairo_arc(cr, 0, 0, radius, 0, full_turn);
    }
    cairo_restore(cr);
    cairo_fill_preserve(cr);
    ny_ink(canvas, 0xffffff, 0.8);
    cairo_set_line_width(cr, fmax(0.12 * radius, 0.8 * canvas->scale));
    cairo_stroke(cr);
}

size_t ny_image_stride(size_t width)
{
    return (size_t)cairo_format_stride_for_width(CAIRO_FORMAT_ARGB32, (int)width) /
           sizeof(uint32_t);
}

int ny_image(struct ny_canvas *canvas, uint32_t *argb, const size_t cells[2], const double at[4])
{
    int stride = (int)(ny_image_stride(cells[0]) * sizeof(uint32_t));
    cairo_surface_t *image = cairo_image_surface_create_for_data(
        (unsigned char *)argb, CAIRO_FORMAT_ARGB32, (int)cells[0], (int)cells[1], stride);

    cairo_save(canvas->cr);
    cairo_translate(canvas->cr, at[0], at[1]);
    cairo_scale(canvas->cr, at[2] / (double)cells[0], at[3] / (double)cells[1]);
    cairo_set_source_surface(canvas->cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(canvas->cr), CAIRO_FILTER_NEAREST);
    cairo_paint(canvas->cr);
    cairo_restore(canvas->cr);
    cairo_surface_destroy(image);
    return check(canvas, cairo_status(canvas->cr));
}

/* ---- axes --------------------------------------------------------------------------------- */

double ny_frame_x(const struct ny_plot_frame *frame, double value)
{
    return frame->left + ny_axis_place(&frame->x, value) * (frame->right - frame->left);
}

double ny_frame_y(const struct ny_plot_frame *frame, double value)
{
    return frame->bottom - ny_axis_place(&frame->y, value) * (frame->bottom - frame->top);
}

/* Where the numbers leave it out. */
static const char *power_text(int exponent, char text[32])
{
    return exponent ? ny_power_of_ten(exponent, text) : "";
}

static void draw_x_ticks(struct ny_canvas *canvas, const struct ny_plot_frame *f)
{
    const struct ny_lettering how = {.size = 22, .anchor = 0.5}, power = {.size = 20, .anchor = 1};
    double unit = canvas->scale;
    char text[32];

    for (size_t i = 0; i < f->x_ticks.count; i++) {
        double x = ny_frame_x(f, f->x_ticks.at[i]);

        ny_ink(canvas, 0xe6e6ea, 1);
        ny_line(canvas, x, f->top, x, f->bottom);
        ny_ink(canvas, 0x5a5a64, 1);
        ny_letters(canvas, x, f->bottom + 26 * unit, &how, f->x_ticks.text[i]);
    }
    ny_letters(canvas, f->right, f->bottom + 56 * unit, &power,
               power_text(f->x_ticks.exponent, text));
}

static void draw_y_ticks(struct ny_canvas *canvas, const struct ny_plot_frame *f)
{
    const struct ny_lettering how = {.size = 22, .anchor = 1}, power = {.size = 20};
    double unit = canvas->scale;
    char text[32];

    for (size_t i = 0; i < f->y_ticks.count; i++) {
        double y = ny_frame_y(f, f->y_ticks.at[i]);

        ny_ink(canvas, 0xe6e6ea, 1);
        ny_line(canvas, f->left, y, f->right, y);
        ny_ink(canvas, 0x5a5a64, 1);
        ny_letters(canvas, f->left - 12 * unit, y, &how, f->y_ticks.text[i]);
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

    cairo_set_line_width(canvas->cr, 1.5 * unit);
    draw_x_ticks(canvas, f);
    draw_y_ticks(canvas, f);
    ny_ink(canvas, 0x33333a, 1);
    ny_letters(canvas, (f->left + f->right) / 2, f->bottom + 72 * unit, &across, x_title);
    ny_letters(canvas, f->left - 96 * unit, (f->top + f->bottom) / 2, &upwards, y_title);
    ny_ink(canvas, 0x9a9aa4, 1);
    cairo_rectangle(canvas->cr, f->left, f->top, f->right - f->left, f->bottom - f->top);
    cairo_stroke(canvas->cr);
}

void ny_draw_title(struct ny_canvas *canvas, const struct ny_plot_frame *frame, const char *title,
                   const char *subtitle)
{
    const struct ny_lettering bold = {.size = 34, .bold = true}, plain = {.size = 22};
    double unit = canvas->scale;

    ny_ink(canvas, 0x1a1a20, 1);
    ny_letters(canvas, frame->left, 40 * unit, &bold, title);
    ny_ink(canvas, 0x5a5a64, 1);
    ny_letters(canvas, frame->left, 82 * unit, &plain, subtitle);
}
