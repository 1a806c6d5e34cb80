/* The marks of points, where they are few. */
#ifndef NY_REPORT_MARKS_H
#define NY_REPORT_MARKS_H

#include "report/canvas.h"
#include "report/scene.h"

enum { NY_MARKS_MOST = 2000 };

/* Draws all points of the scene's sample, which holds every one, at most NY_MARKS_MOST. A class has
 * its colour and shape; a quantity its colour. */
void ny_draw_marks(struct ny_canvas *canvas, const struct ny_plot_frame *frame,
                   const struct ny_scene *scene);

#endif
