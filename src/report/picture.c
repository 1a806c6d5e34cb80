#include "report/picture.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/text.h"
#include "report/legend.h"
#include "report/scree.h"
#include "report/words.h"

/* So few points have a mark each; in svg and pdf they stay marks. */
enum { FEW_POINTS = 5000 };

struct picture {
    struct ny_context *ctx;
    const struct ny_picture_spec *spec;
    struct ny_scene scene;
    struct ny_canvas canvas;
    struct ny_plot_frame axes;
    struct ny_raster raster;
    uint32_t *pixels;    /* of the raster */
    uint64_t *landmarks; /* rows of the store, ascending */
    double (*marks)[2];  /* where those are that were met */
    size_t landmark_count, mark_count;
};

static int take_landmarks(struct picture *p)
{
    const struct ny_result_part *part = ny_part_find("landmarks");
    size_t count = part->count(&p->scene.frame.result);
    int err;

    if (!p->spec->scene.rows) return NY_OK;
    if (!count)
        return ny_fail(p->ctx, NY_EUSAGE, "--mark-landmarks: '%s' has no landmarks",
                       p->scene.frame.result.name);
    p->landmarks = ny_calloc(p->ctx, NY_MEM_OTHER, count, sizeof(uint64_t));
    p->marks = ny_calloc(p->ctx, NY_MEM_OTHER, count, sizeof(*p->marks));
    if (!p->landmarks || !p->marks) return NY_EBUDGET;
    err = part->fill(&p->scene.frame.result, 0, count, p->landmarks);
    qsort(p->landmarks, count, sizeof(*p->landmarks), ny_compare_rows);
    p->landmark_count = count;
    return err;
}

/* ---- points ------------------------------------------------------------------------------- */

/* Both come in ascending order of rows. */
static void note_landmarks(struct picture *p, const struct ny_frame *frame, size_t count)
{
    size_t next = 0;

    if (!p->landmark_count) return;
    while (next < p->landmark_count && p->landmarks[next] < frame->rows[0])
        next++;
    for (size_t i = 0; i < count && next < p->landmark_count; i++) {
        if (frame->rows[i] != p->landmarks[next]) continue;
        p->marks[p->mark_count][0] = frame->column[0].values[i];
        p->marks[p->mark_count++][1] = frame->column[1].values[i];
        next++;
    }
}

static int add_points(void *user, const struct ny_frame *frame, size_t count)
{
    struct picture *p = user;

    ny_scene_count(&p->scene, &p->raster, count);
    note_landmarks(p, frame, count);
    return NY_OK;
}

static int draw_raster(struct picture *p)
{
    const struct ny_plot_frame *f = &p->axes;
    const size_t cells[2] = {p->raster.width, p->raster.height};
    const double at[4] = {f->left, f->top, f->right - f->left, f->bottom - f->top};
    size_t stride = ny_image_stride(cells[0]);

    p->pixels = ny_calloc(p->ctx, NY_MEM_OTHER, stride * cells[1], sizeof(uint32_t));
    if (!p->pixels) return NY_EBUDGET;
    ny_raster_paint(&p->raster, p->pixels, stride);
    return ny_image(&p->canvas, p->pixels, cells, at);
}

static uint32_t mark_color(const struct picture *p, double tint)
{
    if (p->scene.tint.kind == NY_RASTER_VALUES) return ny_viridis(tint);
    if (p->scene.tint.kind == NY_RASTER_AMOUNT) return ny_class_color[0];
    return tint < 0 ? NY_NO_CLASS_COLOR : ny_class_color[(size_t)tint % NY_CLASS_COLORS];
}

/* In an order of hashes, so that no class lies on top; the sample holds all points. */
static void draw_marks(struct picture *p)
{
    const double *x = ny_sample_column(&p->scene.sample, 0),
                 *y = ny_sample_column(&p->scene.sample, 1);
    const double *tints = ny_sample_column(&p->scene.sample, p->scene.tint.column);
    double radius = fmin(9, fmax(3.2, 420 / sqrt((double)p->scene.sample.count))) * p->canvas.scale;
    uint32_t order[FEW_POINTS];

    for (size_t i = 0; i < p->scene.sample.count; i++) {
        size_t j = (size_t)(ny_hash64(0, NY_STREAM_SHUFFLE, i) % (i + 1));

        order[i] = order[j];
        order[j] = (uint32_t)i;
    }
    for (size_t k = 0; k < p->scene.sample.count; k++) {
        size_t i = order[k];
        double tint = ny_scene_tint(&p->scene, tints, i);

        if (!isfinite(x[i]) || !isfinite(y[i]) || isnan(tint)) continue;
        ny_ink(&p->canvas, mark_color(p, tint), 0.85);
        ny_mark(&p->canvas, ny_frame_x(&p->axes, x[i]), ny_frame_y(&p->axes, y[i]), radius,
                p->scene.tint.kind == NY_RASTER_CLASSES && tint >= 0 ? ny_class_shape((size_t)tint)
                                                                     : NY_DISC);
    }
}

/* ---- the whole ---------------------------------------------------------------------------- */

static void lay_out(struct picture *p)
{
    struct ny_plot_frame *f = &p->axes;
    double unit = p->canvas.scale;

    f->x = p->scene.x;
    f->y = p->scene.y;
    f->left = round(150 * unit);
    f->top = round(122 * unit);
    f->right = round((double)p->canvas.width - 300 * unit);
    f->bottom = round((double)p->canvas.height - 118 * unit);
    ny_ticks_make(&f->x_ticks, &f->x, 7);
    ny_ticks_make(&f->y_ticks, &f->y, 7);
}

static void draw_legend(struct picture *p, const struct ny_raster *raster)
{
    struct ny_legend legend = {.tint = &p->scene.tint,
                               .title = p->scene.tint.name,
                               .raster = raster,
                               .points = p->scene.frame.n,
                               .landmarks = p->mark_count,
                               .outside = p->raster.outside,
                               .missing = p->raster.missing};
    char number[64];

    if (!p->scene.tint.name && p->raster.radius) {
        snprintf(number, sizeof(number), "points within %zu px", p->raster.radius);
        legend.title = number;
    } else if (!p->scene.tint.name) {
        legend.title = "points a pixel";
    } else if (strspn(p->scene.tint.name, "0123456789") == strlen(p->scene.tint.name)) {
        snprintf(number, sizeof(number), "component %s", p->scene.tint.name);
        legend.title = number;
    }
    ny_draw_legend(&p->canvas, &p->axes, &legend);
}

static int draw_inside(struct picture *p, bool few)
{
    const struct ny_plot_frame *f = &p->axes;
    int err = NY_OK;

    cairo_save(p->canvas.cr);
    cairo_rectangle(p->canvas.cr, f->left, f->top, f->right - f->left, f->bottom - f->top);
    cairo_clip(p->canvas.cr);
    if (few)
        draw_marks(p);
    else
        err = draw_raster(p);
    for (size_t k = 0; k < p->mark_count; k++)
        ny_draw_landmark(&p->canvas, ny_frame_x(f, p->marks[k][0]), ny_frame_y(f, p->marks[k][1]),
                         p->mark_count);
    if (err == NY_OK && !few) /* marks have their shapes */
        err = ny_draw_class_names(&p->canvas, f, &p->scene.tint, &p->scene.sample);
    cairo_restore(p->canvas.cr);
    return err;
}

/* The raster, its image, and what places names of classes. */
static size_t bill(const struct picture *p)
{
    size_t width = (size_t)(p->axes.right - p->axes.left);
    size_t height = (size_t)(p->axes.bottom - p->axes.top);

    return ny_raster_bytes(p->scene.tint.kind, width, height) +
           ny_image_stride(width) * height * sizeof(uint32_t) +
           p->scene.sample.count * sizeof(double);
}

static int draw(struct picture *p)
{
    struct ny_plot_frame *f = &p->axes;
    char x_title[NY_WORDS_BYTES], y_title[NY_WORDS_BYTES], words[NY_WORDS_BYTES], title[128];
    bool few = p->scene.frame.n <= FEW_POINTS;
    int err;

    lay_out(p);
    err = ny_memory_need(p->ctx, "plot", bill(p));
    if (err == NY_OK)
        err = ny_raster_new(&p->raster, p->ctx, p->scene.tint.kind, (size_t)(f->right - f->left),
                            (size_t)(f->bottom - f->top), p->scene.frame.n);
    if (err == NY_OK) err = ny_frame_walk(&p->scene.frame, "plot", add_points, p);
    if (err) return err;
    ny_describe_column(&p->scene.frame, 0, x_title);
    ny_describe_column(&p->scene.frame, 1, y_title);
    ny_describe_result(&p->scene.frame.result, words);
    ny_clean_text(p->spec->title ? p->spec->title : p->scene.frame.result.name, title,
                  sizeof(title));
    ny_draw_title(&p->canvas, f, title, words);
    ny_draw_axes(&p->canvas, f, x_title, y_title);
    err = draw_inside(p, few);
    if (err == NY_OK) draw_legend(p, few ? NULL : &p->raster);
    return err;
}

static void release(struct picture *p)
{
    ny_free(p->ctx, p->marks);
    ny_free(p->ctx, p->landmarks);
    ny_free(p->ctx, p->pixels);
    ny_raster_release(&p->raster);
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
        if (err == NY_OK) err = take_landmarks(&p);
        if (err == NY_OK) err = draw(&p);
    }
    if (err == NY_OK) err = ny_canvas_commit(&p.canvas);
    release(&p);
    return err;
}
