/* A shortest path in a report: over the plot, as a table, and as a strip of images. */
#ifndef NY_REPORT_PAGE_PATH_H
#define NY_REPORT_PAGE_PATH_H

#include "results/parts.h"
#include "report/page_images.h"

struct ny_page_path {
    struct ny_context *ctx; /* NULL: there is none */
    char graph[96];         /* whose path it is */
    size_t steps, count;    /* rows on the path, and those that are shown: not all of very many */
    double length;          /* of the whole */
    struct ny_layout own;
    uint64_t *rows;
    double *lengths; /* up to each row */
    struct ny_page_images images;
};

/* Finds the path in the graph that made a result, or else in `graph`, which may be NULL. images:
 * height, width, and bytes of all. Release it after a failure, too. */
int ny_page_path_new(struct ny_page_path *path, const struct ny_result *result,
                     const struct ny_result *graph, const uint64_t ends[2], const size_t images[3]);
/* Frees the rows and images of a path; none at all is allowed. */
void ny_page_path_release(struct ny_page_path *path);
/* Writes the path as HTML: its length, its rows as images where they are images, and as a table.
 * Nothing if there is none. */
void ny_put_path(struct ny_sink *sink, const struct ny_page_path *path);

#endif
