/*
 * Opens what a picture shows (report/scene.h), for files (report/picture.c) and terminals
 * (report/terminal.c): two columns as axes, the colours, and a sample from which the ranges of the
 * axes come. Only axes that have to show every point take a further pass over the rows.
 */
#include "report/scene.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "results/behind.h"
#include "model/map.h"

/* Adds the columns of both axes: components 1 and 2 by default, or the row number and the only
 * component. */
static int add_axes(struct ny_scene *scene, const struct ny_scene_spec *spec)
{
    const char *axes[2] = {spec->axes[0], spec->axes[1]};
    size_t place;
    int err;

    if (!axes[0]) axes[0] = scene->frame.components > 1 ? "1" : "row";
    if (!axes[1]) axes[1] = scene->frame.components > 1 ? "2" : "1";
    err = ny_data_frame_add(&scene->frame, axes[0], &place);
    return err ? err : ny_data_frame_add(&scene->frame, axes[1], &place);
}

/* Finds the ranges of the axes, and of the colours if they are a quantity, from the sample. */
static int find_ranges(struct ny_scene *scene, const struct ny_scene_spec *spec)
{
    size_t n = scene->sample.count, columns = scene->tint.kind == NY_RASTER_VALUES ? 3 : 2;
    double *room = ny_calloc(scene->ctx, NY_MEM_OTHER, n, sizeof(double));
    struct ny_axis *range[3] = {&scene->x, &scene->y, &scene->tint.range};

    if (!room) return NY_EBUDGET;
    for (size_t k = 0; k < columns; k++) {
        size_t column = k < 2 ? k : scene->tint.column;

        memcpy(room, ny_plot_sample_column(&scene->sample, column), n * sizeof(double));
        *range[k] = ny_axis_of(room, n, k < 2 && spec->all);
    }
    ny_free(scene->ctx, room);
    return NY_OK;
}

/* Tells whether both axes are components of a map whose coordinates keep distances. */
static bool wants_one_scale(const struct ny_scene *scene)
{
    const struct ny_data_frame *frame = &scene->frame;
    const struct ny_map *map = frame->result.map;

    return map && map->metric && frame->column[0].component && frame->column[1].component;
}

struct extremes {
    const struct ny_data_frame *frame;
    double low[2], high[2];
};

static void widen_extremes(void *user, uint64_t first, size_t count)
{
    struct extremes *e = user;

    (void)first;
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < count; i++) {
            double value = e->frame->column[k].values[i];

            if (!isfinite(value)) continue;
            e->low[k] = fmin(e->low[k], value);
            e->high[k] = fmax(e->high[k], value);
        }
}

/* Widens axes that must show every point, by one pass more, because the sample may lack the
 * farthest ones. */
static int widen_axes(struct ny_scene *scene, const struct ny_scene_spec *spec)
{
    struct extremes e = {&scene->frame, {INFINITY, INFINITY}, {-INFINITY, -INFINITY}};
    int err;

    if (!spec->all || scene->sample.count == scene->frame.n) return NY_OK;
    err = ny_data_frame_walk(&scene->frame, "measure", widen_extremes, &e);
    for (size_t k = 0; err == NY_OK && k < 2; k++) {
        double ends[2] = {e.low[k], e.high[k]};

        *(k ? &scene->y : &scene->x) = ny_axis_of(ends, 2, true);
    }
    return err;
}

int ny_scene_open(struct ny_scene *scene, struct ny_store *store, const char *name,
                  const struct ny_scene_spec *spec)
{
    int err;

    *scene = (struct ny_scene){.ctx = ny_store_context(store)};
    err = ny_data_frame_open(&scene->frame, store, name);
    if (!err) ny_warn_behind(store, name, scene->frame.result.record);
    if (err == NY_OK) err = add_axes(scene, spec);
    if (err == NY_OK) err = ny_tint_new(&scene->tint, &scene->frame, spec->color);
    if (err == NY_OK) err = ny_plot_sample_new(&scene->sample, &scene->frame);
    if (err == NY_OK) err = find_ranges(scene, spec);
    scene->equal = err == NY_OK && wants_one_scale(scene);
    return err ? err : widen_axes(scene, spec);
}

void ny_scene_close(struct ny_scene *scene)
{
    if (!scene->ctx) return;
    ny_raster_release(&scene->raster);
    ny_plot_sample_release(&scene->sample);
    ny_tint_release(&scene->tint);
    ny_data_frame_close(&scene->frame);
}

/* Widens an axis to a length about its middle. */
static void widen(struct ny_axis *axis, double length)
{
    double middle = axis->low + (axis->high - axis->low) / 2;

    *axis = (struct ny_axis){middle - length / 2, middle + length / 2};
}

void ny_scene_fit(struct ny_scene *scene, double width, double height)
{
    double across = (scene->x.high - scene->x.low) / width;
    double upwards = (scene->y.high - scene->y.low) / height;

    if (!scene->equal) return;
    if (across < upwards)
        widen(&scene->x, upwards * width);
    else
        widen(&scene->y, across * height);
}

static void count_piece(void *user, uint64_t first, size_t count)
{
    struct ny_scene *scene = user;
    const struct ny_frame_column *column = scene->frame.column;
    const double *tint = column[scene->tint.column].values;

    (void)first;
    for (size_t i = 0; i < count; i++)
        ny_raster_add(&scene->raster, ny_axis_place(&scene->x, column[0].values[i]),
                      ny_axis_place(&scene->y, column[1].values[i]),
                      ny_tint_of(&scene->tint, tint[i]));
}

int ny_scene_count(struct ny_scene *scene, size_t width, size_t height, uint64_t points)
{
    int err = ny_raster_new(&scene->raster, scene->ctx, scene->tint.kind, width, height, points);

    return err ? err : ny_data_frame_walk(&scene->frame, "plot", count_piece, scene);
}
