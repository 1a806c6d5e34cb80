/* The contents of a picture: two columns of a result, its colours, and the range of the axes. */
#ifndef NY_REPORT_SCENE_H
#define NY_REPORT_SCENE_H

#include "report/raster.h"
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
    struct ny_raster raster; /* of ny_scene_count() */
    bool equal; /* x and y are components with the unit of distances: they want one scale */
};

/* Close it after a failure, too. */
int ny_scene_open(struct ny_scene *scene, struct ny_store *store, const char *name,
                  const struct ny_scene_spec *spec);
/* Closes the frame and frees all else; a zeroed scene is left alone. */
void ny_scene_close(struct ny_scene *scene);
/* Widens the shorter of the axes so that, where the scene is `equal`, a step along x and the same
 * step along y are equally long on a rectangle of this width and height (in one unit of length). */
void ny_scene_fit(struct ny_scene *scene, double width, double height);
/* Makes the raster, for `points` as in ny_raster_new(), and counts all points in it, in one pass.
 */
int ny_scene_count(struct ny_scene *scene, size_t width, size_t height, uint64_t points);

#endif
