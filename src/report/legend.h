/* The legend of colours at the right of the axes, and the names of classes among their points. */
#ifndef NY_REPORT_LEGEND_H
#define NY_REPORT_LEGEND_H

#include "report/canvas.h"
#include "report/sample.h"
#include "report/tint.h"

struct ny_legend {
    const struct ny_tint *tint;
    const char *title;              /* of the colours */
    const struct ny_raster *raster; /* NULL: every point has the mark of its class */
    uint64_t points, outside, missing;
};

/* Draws the legend at the right of the frame. */
void ny_draw_legend(struct ny_canvas *canvas, const struct ny_plot_frame *frame,
                    const struct ny_legend *legend);
/* Each name near the medians of its class in the sample, whose columns are x, y and the class. */
int ny_draw_class_names(struct ny_canvas *canvas, const struct ny_plot_frame *frame,
                        const struct ny_tint *tint, const struct ny_plot_sample *sample);

#endif
