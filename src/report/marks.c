/*
 * Marks are drawn in batches of one colour and shape, because a svg or pdf repeats the style of
 * each stroke: 2,000 marks take 200 kB instead of 900. So that no class lies on top of all others,
 * the points are dealt into ROUNDS by a hash, and each round draws all classes.
 */
#include "report/marks.h"

#include <math.h>
#include <stdlib.h>

#include "base/random.h"

enum { ROUNDS = 4, LEVELS = 64, EDGES_MOST = 1000 };

struct marks {
    struct ny_canvas *canvas;
    const struct ny_plot_frame *frame;
    const struct ny_scene *scene;
    const double *x, *y, *tints;
    size_t count;
    double radius, alpha;
    bool edges;
};

/* The batch of point i within its round: its class (0: none, then 1 + class), the level of its
 * quantity, or 1 where colours tell nothing; −1 where it is not drawn. */
static int batch_of(const struct marks *m, size_t i)
{
    const struct ny_scene *scene = m->scene;
    double x = ny_axis_place(&scene->x, m->x[i]), y = ny_axis_place(&scene->y, m->y[i]);
    double tint = ny_tint_of(&scene->tint, m->tints[i]);

    if (!isfinite(x) || !isfinite(y) || isnan(tint)) return -1;
    if (scene->tint.kind == NY_RASTER_CLASSES) return 1 + (int)tint;
    if (scene->tint.kind == NY_RASTER_VALUES) return (int)lround(tint * (LEVELS - 1));
    return 1;
}

static uint32_t color_of(const struct marks *m, int batch)
{
    double level = (double)batch / (LEVELS - 1);

    if (m->scene->tint.kind == NY_RASTER_VALUES) return ny_viridis(level);
    return batch ? ny_class_color[(size_t)(batch - 1) % NY_CLASS_COLORS] : NY_NO_CLASS_COLOR;
}

/* Draws the marks of one batch that were dealt into this round, as one path with one style. */
static void draw_batch(const struct marks *m, const int *batches, uint64_t round, int batch)
{
    bool classes = m->scene->tint.kind == NY_RASTER_CLASSES;
    enum ny_shape shape = classes && batch ? ny_class_shape((size_t)(batch - 1)) : NY_DISC;
    size_t drawn = 0;

    for (size_t i = 0; i < m->count; i++) {
        if (batches[i] != batch || ny_hash64(0, NY_STREAM_SHUFFLE, i) % ROUNDS != round) continue;
        ny_mark_add(m->canvas, ny_data_frame_x(m->frame, m->x[i]),
                    ny_data_frame_y(m->frame, m->y[i]), m->radius, shape);
        drawn++;
    }
    if (!drawn) return;
    ny_ink(m->canvas, color_of(m, batch), m->alpha);
    ny_marks_draw(m->canvas, m->radius, shape, m->edges);
}

void ny_draw_marks(struct ny_canvas *canvas, const struct ny_plot_frame *frame,
                   const struct ny_scene *scene)
{
    double n = (double)scene->sample.count;
    struct marks m = {.canvas = canvas,
                      .frame = frame,
                      .scene = scene,
                      .x = ny_plot_sample_column(&scene->sample, 0),
                      .y = ny_plot_sample_column(&scene->sample, 1),
                      .tints = ny_plot_sample_column(&scene->sample, scene->tint.column),
                      .count = scene->sample.count,
                      .radius = fmin(9, 240 / sqrt(n)) * canvas->scale,
                      .alpha = fmax(0.7, 1 - n / 5000),
                      .edges = scene->sample.count <= EDGES_MOST};
    int batches[NY_MARKS_MOST], last = 0;

    for (size_t i = 0; i < m.count; i++) {
        batches[i] = batch_of(&m, i);
        last = batches[i] > last ? batches[i] : last;
    }
    for (uint64_t round = 0; round < ROUNDS; round++)
        for (int batch = 0; batch <= last; batch++)
            draw_batch(&m, batches, round, batch);
}
