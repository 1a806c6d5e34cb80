/*
 * Drawing on paper: cairo, in the units of a picture of 1600 × 1200. A canvas is an image in memory
 * or a page of svg or pdf, and becomes a file at the end.
 */
#ifndef NY_REPORT_CANVAS_H
#define NY_REPORT_CANVAS_H

#include "base/context.h"
#include "report/axis.h"
#include "report/cairo.h"
#include "report/palette.h"

struct ny_writer;

enum { NY_TITLE_BYTES = 512 };

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
    char title[NY_TITLE_BYTES]; /* for those who do not see the picture: of a svg or pdf */
    int tags;                   /* of a svg that were written before the title */
};

/* Opens it as white paper, in a struct that is zero. */
int ny_canvas_open(struct ny_canvas *canvas, struct ny_context *ctx, const char *output,
                   size_t width, size_t height);
/* All of it into the file. */
int ny_canvas_commit(struct ny_canvas *canvas);
/* Frees it; without a commit there is no file. */
void ny_canvas_close(struct ny_canvas *canvas);

/* Sets the colour, 0xrrggbb, and the opacity, 0 … 1, of what is drawn next. */
void ny_ink(struct ny_canvas *canvas, uint32_t color, double alpha);
/* Draws a line in the ink and the line width of now. */
void ny_line(struct ny_canvas *canvas, double x, double y, double to_x, double to_y);
/* anchor: 0 the text begins at x, 0.5 is centred there, 1 ends there; y is the middle of digits. */
struct ny_lettering {
    double size, anchor;
    bool bold, upwards, halo;
};
/* Draws text in the ink of now; with a halo the letters are near black. */
void ny_letters(struct ny_canvas *canvas, double x, double y, const struct ny_lettering *how,
                const char *text);
/* Draws text that is to take at most `room` pixels: of what is longer, … stands for the rest. */
void ny_letters_within(struct ny_canvas *canvas, double x, double y, const struct ny_lettering *how,
                       const char *text, double room);
/* Returns the pixels that the text takes along its line. */
double ny_letters_width(struct ny_canvas *canvas, const struct ny_lettering *how, const char *text);
/* Adds a mark to those that ny_marks_draw() draws at once, in the ink of then; all of one radius
 * and shape. `edges`: they have a thin white edge. */
void ny_mark_add(struct ny_canvas *canvas, double x, double y, double radius, enum ny_shape shape);
/* Draws the marks that were added, all at once, and forgets them. */
void ny_marks_draw(struct ny_canvas *canvas, double radius, enum ny_shape shape, bool edges);
/* Draws one mark, with a thin white edge. */
void ny_mark(struct ny_canvas *canvas, double x, double y, double radius, enum ny_shape shape);
/* Draws a raster of `cells` (width, height) of premultiplied `argb` into the rectangle `at` (x, y,
 * width, height). Cells stay sharp; `argb` remains the caller's. */
int ny_image(struct ny_canvas *canvas, uint32_t *argb, const size_t cells[2], const double at[4]);

/* The rectangle that axes enclose, and the numbers along them. */
struct ny_plot_frame {
    double left, top, right, bottom;
    struct ny_axis x, y;
    struct ny_ticks x_ticks, y_ticks;
};
/* Returns where a frame begins whose y axis has these numbers, which it leaves room for. */
double ny_axes_left(struct ny_canvas *canvas, const struct ny_ticks *y_ticks);
/* Draws the ticks, their numbers and lines, the titles of both axes and the frame. */
void ny_draw_axes(struct ny_canvas *canvas, const struct ny_plot_frame *frame, const char *x_title,
                  const char *y_title);
/* Draws the title and the smaller subtitle above the frame. A svg or pdf has the title as text,
 * too, which screen readers and lists of files show. */
void ny_draw_title(struct ny_canvas *canvas, const struct ny_plot_frame *frame, const char *title,
                   const char *subtitle);
/* Returns the pixel column of a value on the x axis, which may be outside the frame. */
double ny_data_frame_x(const struct ny_plot_frame *frame, double value);
/* Returns the pixel row of a value on the y axis, which may be outside the frame. */
double ny_data_frame_y(const struct ny_plot_frame *frame, double value);

#endif
