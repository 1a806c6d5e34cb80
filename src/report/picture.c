/*
 * Draws a picture of an embedding to a file (report/picture.h); api/plot.c calls it.
 *
 * Up to 2,000 points have a mark each; more are counted in a raster with a cell a pixel, which is
 * drawn as an image. The walk over all rows fills the raster in both cases: with few points it
 * counts those outside the axes. An image in a svg or pdf has at most 85,000 cells and 16 shades
 * of each colour, so that the file stays small. Axes, title, legend and names of classes follow. A
 * scree plot is drawn by report/scree.c instead. A picture that fails leaves no file.
 */
#include "report/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/budget.h"
#include "base/memory.h"
#include "base/text.h"
#include "report/legend.h"
#include "report/marks.h"
#include "report/scree.h"
#include "report/words.h"

/* Up to NY_MARKS_MOST points have a mark each, which svg and pdf keep as a shape; more are an
 * image. In svg and pdf an image has at most PAGE_CELLS cells, so that the file stays small. */
enum { PAGE_CELLS = 85000 };

struct picture {
    struct ny_context *ctx;
    const struct ny_picture_spec *spec;
    struct ny_scene scene;
    struct ny_canvas canvas;
    struct ny_plot_frame axes;
    uint32_t *pixels; /* of the raster */
};

/* ---- points ------------------------------------------------------------------------------- */

/* Lays pixels on white paper and leaves 16 shades of each colour: in svg and pdf more shades, and
 * degrees of transparency, would make the compressed image three times as large. */
static void simplify(uint32_t *argb, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t paper = 255 - (argb[i] >> 24), rgb = 0xff;

        if (paper == 255) continue;
        for (int shift = 16; shift >= 0; shift -= 8)
            rgb = rgb << 8 | ((argb[i] >> shift & 255) + paper + 8) / 17 * 17;
        argb[i] = rgb;
    }
}

static int draw_raster(struct picture *p)
{
    const struct ny_plot_frame *f = &p->axes;
    const size_t cells[2] = {p->scene.raster.width, p->scene.raster.height};
    const double at[4] = {f->left, f->top, f->right - f->left, f->bottom - f->top};

    p->pixels = ny_calloc(p->ctx, NY_MEM_OTHER, cells[0] * cells[1], sizeof(uint32_t));
    if (!p->pixels) return NY_EBUDGET;
    ny_raster_paint(&p->scene.raster, p->pixels, cells[0]);
    if (p->canvas.kind != NY_CANVAS_PNG) simplify(p->pixels, cells[0] * cells[1]);
    return ny_image(&p->canvas, p->pixels, cells, at);
}

/* ---- the whole ---------------------------------------------------------------------------- */

/* Places the axes and leaves room for the legend, titles and numbers around them. The numbers of
 * the y axis are known once its range is, which may depend on the width that they leave. */
static void lay_out(struct picture *p)
{
    const struct ny_axis x = p->scene.x, y = p->scene.y;
    struct ny_plot_frame *f = &p->axes;
    double unit = p->canvas.scale;

    f->top = round(122 * unit);
    f->right = round((double)p->canvas.width - 300 * unit);
    f->bottom = round((double)p->canvas.height - 118 * unit);
    for (int again = 0; again < 2; again++) {
        f->left = ny_axes_left(&p->canvas, &f->y_ticks); /* at first there are none */
        p->scene.x = x;
        p->scene.y = y;
        ny_scene_fit(&p->scene, f->right - f->left, f->bottom - f->top);
        f->x = p->scene.x;
        f->y = p->scene.y;
        ny_ticks_make(&f->x_ticks, &f->x, 7);
        ny_ticks_make(&f->y_ticks, &f->y, 7);
    }
}

static void draw_legend(struct picture *p, const struct ny_raster *raster)
{
    char words[NY_WORDS_BYTES] = "points a pixel";
    const struct ny_legend legend = {.tint = &p->scene.tint,
                                     .title = words,
                                     .raster = raster,
                                     .points = p->scene.frame.n,
                                     .outside = p->scene.raster.outside,
                                     .missing = p->scene.raster.missing};

    if (p->scene.tint.name) ny_name_column(&p->scene.frame, p->scene.tint.column, words);
    ny_draw_legend(&p->canvas, &p->axes, &legend);
}

/* Draws what lies inside the axes, cut off at their frame: points, then names. */
static int draw_inside(struct picture *p, bool few)
{
    const struct ny_plot_frame *f = &p->axes;
    int err = NY_OK;

    ny_cairo.save(p->canvas.cr);
    ny_cairo.rectangle(p->canvas.cr, f->left, f->top, f->right - f->left, f->bottom - f->top);
    ny_cairo.clip(p->canvas.cr);
    if (few)
        ny_draw_marks(&p->canvas, f, &p->scene);
    else
        err = draw_raster(p);
    if (err == NY_OK && (p->spec->names ? *p->spec->names : !few))
        err = ny_draw_class_names(&p->canvas, f, &p->scene.tint, &p->scene.sample);
    ny_cairo.restore(p->canvas.cr);
    return err;
}

/* One cell a pixel, or fewer where an image becomes a part of a svg or pdf. */
static void find_cells(const struct picture *p, bool few, size_t cells[2])
{
    double width = p->axes.right - p->axes.left, height = p->axes.bottom - p->axes.top;
    double shrink =
        few || p->canvas.kind == NY_CANVAS_PNG ? 1 : fmin(1, sqrt(PAGE_CELLS / (width * height)));

    cells[0] = (size_t)fmax(1, width * shrink);
    cells[1] = (size_t)fmax(1, height * shrink);
}

/* Returns the bytes of the raster, of its image, and of what places names of classes. */
static size_t bytes_needed(const struct picture *p, const size_t cells[2])
{
    struct ny_raster raster = {.kind = p->scene.tint.kind, .width = cells[0], .height = cells[1]};
    struct ny_layout l = {0};

    ny_raster_allot(&l, &raster);
    ny_lay(&l, NY_MEM_IO, cells[0] * cells[1], sizeof(uint32_t));
    ny_lay(&l, NY_MEM_OTHER, p->scene.sample.count, sizeof(double));
    return ny_layout_most(&l);
}

static int draw(struct picture *p)
{
    struct ny_plot_frame *f = &p->axes;
    char x_title[NY_WORDS_BYTES], y_title[NY_WORDS_BYTES], words[NY_WORDS_BYTES], title[128];
    bool few = p->scene.frame.n <= NY_MARKS_MOST;
    size_t cells[2];
    int err;

    lay_out(p);
    find_cells(p, few, cells);
    err = ny_budget_need(p->ctx, "plot", bytes_needed(p, cells));
    if (err == NY_OK) err = ny_scene_count(&p->scene, cells[0], cells[1], p->scene.frame.n);
    if (err) return err;
    ny_describe_column(&p->scene.frame, 0, x_title);
    ny_describe_column(&p->scene.frame, 1, y_title);
    ny_describe_result(&p->scene.frame.result, words);
    ny_clean_text(p->spec->title ? p->spec->title : p->scene.frame.result.name, title,
                  sizeof(title));
    ny_draw_title(&p->canvas, f, title, words);
    ny_draw_axes(&p->canvas, f, x_title, y_title);
    err = draw_inside(p, few);
    if (err == NY_OK) draw_legend(p, few ? NULL : &p->scene.raster);
    return err;
}

static void release(struct picture *p)
{
    ny_free(p->ctx, p->pixels);
    ny_canvas_close(&p->canvas);
    ny_scene_close(&p->scene);
}

int ny_picture_write(struct ny_store *store, const char *name, const struct ny_picture_spec *spec,
                     const char *output)
{
    struct picture p = {.ctx = ny_store_context(store), .spec = spec};
    int err = ny_canvas_open(&p.canvas, p.ctx, output, spec->width, spec->height);

    if (err == NY_OK && spec->scree) {
        err = ny_scree_draw(&p.canvas, store, name, spec->title);
    } else if (err == NY_OK) {
        err = ny_scene_open(&p.scene, store, name, &spec->scene);
        if (err == NY_OK) err = draw(&p);
    }
    if (err == NY_OK) err = ny_canvas_commit(&p.canvas);
    release(&p);
    return err;
}
