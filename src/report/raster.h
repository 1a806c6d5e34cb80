/*
 * Draws points by the million as an image: each cell counts the points in it, by colour of their
 * class if they have one, or sums up their values. Memory depends on the number of cells and not on
 * the number of points, so that 18 million points take the memory of a few.
 *
 * A plot reads the embedding once to fill its raster: the axes come from a sample of rows
 * (report/sample.h), and cells have the size of a pixel. Few points have a mark each, with a shape
 * for each class, instead of a raster (report/marks.h), and classes beyond the colours have some.
 * An svg or pdf holds the raster as an image. Every picture says how many points lie outside its
 * axes; `outside` counts them.
 */
#ifndef NY_REPORT_RASTER_H
#define NY_REPORT_RASTER_H

#include "base/layout.h"

/* The meaning of a cell's colour. */
enum ny_raster_kind { NY_RASTER_AMOUNT, NY_RASTER_CLASSES, NY_RASTER_VALUES };

struct ny_raster {
    struct ny_layout own;
    enum ny_raster_kind kind;
    size_t width, height;
    size_t slots;     /* counts of a cell: 1, or some for classes and a last one for none */
    size_t radius;    /* a point counts in all cells so near */
    uint32_t *counts; /* height × width × slots */
    double *sums;     /* of values in 0 … 1, height × width */
    uint64_t outside, missing; /* points beyond the edges; not finite */
};

/* `points`: how many there will be, for the radius. */
int ny_raster_new(struct ny_raster *raster, struct ny_context *ctx, enum ny_raster_kind kind,
                  size_t width, size_t height, uint64_t points);
/* Lays out the counts of a raster of this kind, width and height. */
void ny_raster_allot(struct ny_layout *l, struct ny_raster *raster);
/* Frees the counts; a zeroed raster is left alone. */
void ny_raster_release(struct ny_raster *raster);

/* A point at x, y in 0 … 1, y upwards. tint: the number of its class, negative for none; or its
 * value in 0 … 1, NaN where it has none. */
void ny_raster_add(struct ny_raster *raster, double x, double y, double tint);

/* Points of a cell, counted line by line from the top. */
uint64_t ny_raster_total(const struct ny_raster *raster, size_t cell);
/* The slot that a cell shows: the one of most points. If several have as many, it is the first
 * after a place that differs from cell to cell, so that no class is preferred. */
size_t ny_raster_shown(const struct ny_raster *raster, size_t cell);
/* The most points that one cell counts. */
uint64_t ny_raster_most(const struct ny_raster *raster);
/* Paints premultiplied ARGB, `stride` pixels a line, top first; empty cells are transparent. */
void ny_raster_paint(const struct ny_raster *raster, uint32_t *argb, size_t stride);
/* The place of a count on its logarithmic scale, 0 … 1. */
double ny_raster_level(uint64_t count, uint64_t most);

#endif
