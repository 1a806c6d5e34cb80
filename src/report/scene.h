/* The contents of a picture: two columns of a result, its colours, and the range of the axes. */
#ifndef NY_REPORT_SCENE_H
#define NY_REPORT_SCENE_H

#include "report/sample.h"
#include "report/tint.h"

struct ny_scene_spec {
    const char *axes[2]; /* columns (report/frame.h); NULL: the first components */
    const char *color;   /* a column, "density" or "auto" */
    bool all;            /* axes show every point, however far off */
};

struct ny_scene {
    struct ny_context *ctx;
    struct ny_data_frame frame; /* columns 0 and 1 are x and y */
    struct ny_tint tint;
    struct ny_plot_sample sample;
    struct ny_axis x, y;
    bool equal; /* x and y are components with the unit of distances: they want one scale */
};

/* Close it after a failure, too. */
int ny_scene_open(struct ny_scene *scene, struct ny_store *store, const char *name,
                  const struct ny_scene_spec *spec);
/* Closes the frame and frees the sample and the tint; a zeroed scene is left alone. */
void ny_scene_close(struct ny_scene *scene);
/* Widens the shorter of the axes so that, where the scene is `equal`, a step along x and the same
 * step along y are equally long on a rectangle of this width and height (in one unit of length). */
void ny_scene_fit(struct ny_scene *scene, double width, double height);
/* The tint for ny_raster_add() of entry i of `values`, those of the tint's column in a piece or the
 * sample. */
double ny_scene_tint(const struct ny_scene *scene, const double *values, size_t i);
/* The `count` points of the piece that was read. */
void ny_scene_count(const struct ny_scene *scene, struct ny_raster *raster, size_t count);

#endif
