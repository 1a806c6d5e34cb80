/*
 * Drawing on paper: cairo, in the units of a picture of 1600 × 1200. A canvas is an image in memory
 * or a page of svg or pdf, and becomes a file at the end.
 */
#ifndef NY_REPORT_CANVAS_H
#define NY_REPORT_CANVAS_H

#include <cairo.h>

#include "base/context.h"
#include "report/axis.h"
#include "report/palette.h"

struct ny_writer;

enum ny_canvas_kind { NY_CANVAS_PNG, NY_CANVAS_SVG, NY_CANVAS_PDF };

struct ny_canvas {
    struct ny_context *ctx;
    struct ny_writer *writer;
    enum ny_canvas_kind kind;
    cairo_surface_t *surface;
    cairo_t *cr;
    uint32_t *pixels;
    size_t width, height; /* pixels; the unit of lengths */
    double scale;         /* of letters and lines: 1 where the picture is 1600 × 1200 */
    size_t reserved;
    int failed; /* status of the writer */
};

/* Returns the error of a cairo call. libpng reports a lack of memory only as a failure. */
int ny_cairo_error(struct ny_context *ctx, cairo_status_t status);

/* White paper. */
int ny_canvas_open(struct ny_canvas *canvas, struct ny_context *ctx, const char *output,
                   size_t width, size_t height);
/* All of it into the file. */
int ny_canvas_commit(struct ny_canvas *canvas);
/* Frees it; without a commit there is no file. */
void ny_canvas_close(struct ny_canvas *canvas);

void ny_ink(struct ny_canvas *canvas, uint32_t color, double alpha);
void ny_line(struct ny_canvas *canvas, double x, double y, double to_x, double to_y);
/* anchor: 0 the text begins at x, 0.5 is centred there, 1 ends there; y is the middle of digits. */
struct ny_lettering {
    double size, anchor;
    bool bold, upwards, halo;
};
void ny_letters(struct ny_canvas *canvas, double x, double y, const struct ny_lettering *how,
                const char *text);
double ny_letters_width(struct ny_canvas *canvas, const struct ny_lettering *how, const char *text);
/* Adds a mark to those that ny_marks_draw() draws at once, in the ink of then; all of one radius
 * and shape. `edges`: they have a thin white edge. */
void ny_mark_add(struct ny_canvas *canvas, double x, double y, double radius, enum ny_shape shape);
void ny_marks_draw(struct ny_canvas *canvas, double radius, enum ny_shape shape, bool edges);
/* Draws one mark, with a thin white edge. */
void ny_mark(struct ny_canvas *canvas, double x, double y, double radius, enum ny_shape shape);
/* A raster of `cells` (width, height) of premultiplied `argb`, lines ny_image_stride() apart, in
 * the rectangle `at` (x, y, width, height). */
size_t ny_image_stride(size_t width);
int ny_image(struct ny_canvas *canvas, uint32_t *argb, const size_t cells[2], const double at[4]);

/* The rectangle that axes enclose, and the numbers along them. */
struct ny_plot_frame {
    double left, top, right, bottom;
    struct ny_axis x, y;
    struct ny_ticks x_ticks, y_ticks;
};
void ny_draw_axes(struct ny_canvas *canvas, const struct ny_plot_frame *frame, const char *x_title,
                  const char *y_title);
void ny_draw_title(struct ny_canvas *canvas, const struct ny_plot_frame *frame, const char *title,
                   const char *subtitle);
double ny_data_frame_x(const struct ny_plot_frame *frame, double value);
double ny_data_frame_y(const struct ny_plot_frame *frame, double value);

#endif
