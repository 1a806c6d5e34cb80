/* A picture of an embedding, drawn to a file: its points, or its eigenvalues. */
#ifndef NY_REPORT_PICTURE_H
#define NY_REPORT_PICTURE_H

#include "report/scene.h"

struct ny_picture_spec {
    struct ny_scene_spec scene;
    const char *title;          /* NULL: the NAME */
    size_t width, height;       /* pixels; of svg and pdf half as many points */
    bool scree;                 /* eigenvalues instead */
    const bool *names;          /* write names of classes among the points; NULL: where these are
                                 * an image */
};

enum { NY_PICTURE_LEAST = 200, NY_PICTURE_MOST = 10000 }; /* pixels a side */

/* png, svg or pdf by the end of `output`; "-": a png to standard output. Two passes at most over
 * what it shows, one of them over the colours alone, and one more where axes show all; memory does
 * not depend on n. NY_EUSAGE for another ending, a column that is not there, a NAME that is not
 * done. */
int ny_picture_write(struct ny_store *store, const char *name, const struct ny_picture_spec *spec,
                     const char *output);

#endif
