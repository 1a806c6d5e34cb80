/*
 * The points of a result in a report, gathered in one pass: a raster of all points over the first
 * two components, and a sample of rows with their coordinates, colours, and images.
 */
#ifndef NY_REPORT_PAGE_POINTS_H
#define NY_REPORT_PAGE_POINTS_H

#include "report/page_path.h"
#include "report/sample.h"
#include "report/sink.h"
#include "report/tint.h"

enum { NY_PAGE_COMPONENTS = 6, NY_PAGE_TINTS = 3 };

struct ny_page_limits {
    size_t points, landmarks; /* the most that are shown */
    size_t cells;             /* of the raster */
    size_t image_bytes;       /* of all images */
    size_t image[2];          /* height, width of a row as an image; 0: none */
};

struct ny_page_points {
    struct ny_context *ctx;
    struct ny_layout own;
    const struct ny_page_limits *limits;
    struct ny_data_frame frame;
    size_t components; /* columns 0 … components − 1 of the frame */
    size_t tint_count;
    struct ny_tint tints[NY_PAGE_TINTS]; /* add_tints(): those that there are */
    struct ny_axis axes[NY_PAGE_COMPONENTS];
    struct ny_raster raster; /* zeroed where there is only one component */
    size_t count, room;      /* rows of the sample */
    uint64_t *rows;          /* of the store */
    double *values;          /* count × columns of the frame */
    size_t mark_count;       /* landmarks */
    size_t landmark_count;
    uint64_t *landmarks, *mark_rows;
    double *marks; /* mark_count × components */
    const struct ny_page_path *path;
    double *path_values;          /* of its rows × components; NaN where the embedding has none */
    struct ny_page_images images; /* of rows of the sample, evenly spread */
};

/* Release it after a failure, too. */
int ny_page_points_new(struct ny_page_points *points, struct ny_store *store, const char *name,
                       const struct ny_page_limits *limits, const struct ny_page_path *path);
/* Frees all that was gathered and closes the result; a zeroed struct is left alone. */
void ny_page_points_release(struct ny_page_points *points);
/* The data of the page's script: one JSON object. */
int ny_page_points_json(const struct ny_page_points *points, struct ny_sink *sink);

#endif
