/* A picture in letters: a letter for each class, or signs that grow darker. */
#ifndef NY_REPORT_TERMINAL_H
#define NY_REPORT_TERMINAL_H

#include "report/scene.h"
#include "report/sink.h"

/* `screen`: columns and lines of the whole; title NULL: the NAME. */
int ny_terminal_draw(struct ny_store *store, const char *name, const struct ny_scene_spec *spec,
                     const char *title, const struct ny_screen *screen, struct ny_sink *out);

#endif
