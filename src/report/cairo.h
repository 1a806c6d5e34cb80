/*
 * Cairo, which draws pictures, loaded when the first one is drawn: few runs draw, and cairo brings
 * half of the libraries that would else be loaded at each start. Its functions are members of
 * ny_cairo, by their names without "cairo_".
 */
#ifndef NY_REPORT_CAIRO_H
#define NY_REPORT_CAIRO_H

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <cairo.h>

#include "base/context.h"

#define NY_CAIRO_FUNCTIONS(X)                                                                      \
    X(clip)                                                                                        \
    X(close_path)                                                                                  \
    X(create)                                                                                      \
    X(destroy)                                                                                     \
    X(fill)                                                                                        \
    X(format_stride_for_width)                                                                     \
    X(get_source)                                                                                  \
    X(image_surface_create_for_data)                                                               \
    X(line_to)                                                                                     \
    X(move_to)                                                                                     \
    X(new_path)                                                                                    \
    X(paint)                                                                                       \
    X(pattern_add_color_stop_rgb)                                                                  \
    X(pattern_create_linear)                                                                       \
    X(pattern_destroy)                                                                             \
    X(pattern_set_filter)                                                                          \
    X(pdf_surface_create_for_stream)                                                               \
    X(pdf_surface_set_metadata)                                                                    \
    X(rectangle)                                                                                   \
    X(restore)                                                                                     \
    X(rotate)                                                                                      \
    X(save)                                                                                        \
    X(scale)                                                                                       \
    X(select_font_face)                                                                            \
    X(set_font_size)                                                                               \
    X(set_line_cap)                                                                                \
    X(set_line_join)                                                                               \
    X(set_line_width)                                                                              \
    X(set_source)                                                                                  \
    X(set_source_rgba)                                                                             \
    X(set_source_surface)                                                                          \
    X(show_text)                                                                                   \
    X(status)                                                                                      \
    X(status_to_string)                                                                            \
    X(stroke)                                                                                      \
    X(stroke_preserve)                                                                             \
    X(surface_destroy)                                                                             \
    X(surface_finish)                                                                              \
    X(surface_status)                                                                              \
    X(surface_write_to_png_stream)                                                                 \
    X(svg_surface_create_for_stream)                                                               \
    X(text_extents)                                                                                \
    X(text_path)                                                                                   \
    X(translate)

struct ny_cairo {
#define MEMBER(name) __typeof__(cairo_##name) *name;
    NY_CAIRO_FUNCTIONS(MEMBER)
#undef MEMBER
};

/* All NULL until ny_cairo_load() has succeeded. */
extern struct ny_cairo ny_cairo;

/* Loads cairo for this process, at the first call. NY_EIO where it is not installed. */
int ny_cairo_load(struct ny_context *ctx);
/* Returns the error of a cairo call. libpng reports a lack of memory only as a failure. */
int ny_cairo_error(struct ny_context *ctx, cairo_status_t status);

#endif
