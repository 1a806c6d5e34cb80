/*
 * Counts points in the cells of an image and paints it (report/raster.h), for pictures
 * (report/picture.c), reports (report/page_points.c) and terminals (report/terminal.c).
 *
 * A raster of amounts has one count a cell; one of classes has a count for each colour and one for
 * points of no class; one of values has a count and a sum. A point counts in all cells within a
 * radius of at most five, chosen so that the discs of all points, spread evenly, would cover three
 * fifths of the picture; reports and terminals ask for 2⁶⁴ − 1 points, and so get a radius of 0.
 * Cells where classes have equal counts take one that depends on the cell's number, so that no
 * class wins all ties. Counts stop at 2³² − 1 instead of starting over.
 */
#include "report/raster.h"

#include <math.h>

#include "report/palette.h"

enum { RADIUS_MAX = 5 };

static size_t slots_of(enum ny_raster_kind kind)
{
    return kind == NY_RASTER_CLASSES ? NY_CLASS_COLORS + 1 : 1;
}

/* Chooses the radius so that discs, spread evenly, would cover three fifths of the picture. */
static size_t radius_of(size_t width, size_t height, uint64_t points)
{
    double cells = 0.6 * (double)width * (double)height / (double)(points ? points : 1);
    double radius = sqrt(cells / 3.14);

    return radius > RADIUS_MAX ? RADIUS_MAX : (size_t)(radius + 0.5);
}

void ny_raster_allot(struct ny_layout *l, struct ny_raster *raster)
{
    size_t cells = raster->width * raster->height;

    raster->slots = slots_of(raster->kind);
    raster->counts = ny_lay(l, NY_MEM_OTHER, cells, raster->slots * sizeof(*raster->counts));
    if (raster->kind == NY_RASTER_VALUES)
        raster->sums = ny_lay(l, NY_MEM_OTHER, cells, sizeof(double));
}

int ny_raster_new(struct ny_raster *raster, struct ny_context *ctx, enum ny_raster_kind kind,
                  size_t width, size_t height, uint64_t points)
{
    *raster = (struct ny_raster){.own.ctx = ctx,
                                 .kind = kind,
                                 .width = width,
                                 .height = height,
                                 .radius = radius_of(width, height, points)};
    ny_raster_allot(&raster->own, raster);
    return raster->own.err;
}

void ny_raster_release(struct ny_raster *raster)
{
    ny_layout_free(&raster->own);
}

/* Returns which count of a cell a point adds to: that of its colour or class, or the last one. */
static size_t slot_of(const struct ny_raster *raster, double tint)
{
    if (raster->kind != NY_RASTER_CLASSES) return 0;
    return tint >= 0 ? (size_t)tint % (raster->slots - 1) : raster->slots - 1;
}

static void count(struct ny_raster *raster, size_t cell, size_t slot, double value)
{
    uint32_t *counts = &raster->counts[cell * raster->slots + slot];

    if (*counts == UINT32_MAX) return;
    ++*counts;
    if (raster->sums) raster->sums[cell] += value;
}

static long column_of(const struct ny_raster *raster, double x)
{
    return (long)fmin(fmax(x, 0) * (double)raster->width, (double)raster->width - 1);
}

static long row_of(const struct ny_raster *raster, double y)
{
    return (long)fmin(fmax(1 - y, 0) * (double)raster->height, (double)raster->height - 1);
}

void ny_raster_add(struct ny_raster *raster, double x, double y, double tint)
{
    long reach = (long)raster->radius, column = column_of(raster, x), row = row_of(raster, y);
    size_t slot = slot_of(raster, tint);

    if (!isfinite(x) || !isfinite(y) || (raster->kind == NY_RASTER_VALUES && isnan(tint))) {
        raster->missing++;
        return;
    }
    if (x < 0 || x > 1 || y < 0 || y > 1) {
        raster->outside++;
        return;
    }
    for (long dy = -reach; dy <= reach; dy++)
        for (long dx = -reach; dx <= reach; dx++) {
            long to_x = column + dx, to_y = row + dy;

            if (dx * dx + dy * dy > reach * reach + reach / 2) continue;
            if (to_x < 0 || to_y < 0 || to_x >= (long)raster->width || to_y >= (long)raster->height)
                continue;
            count(raster, (size_t)to_y * raster->width + (size_t)to_x, slot, tint);
        }
}

uint64_t ny_raster_total(const struct ny_raster *raster, size_t cell)
{
    uint64_t sum = 0;

    for (size_t k = 0; k < raster->slots; k++)
        sum += raster->counts[cell * raster->slots + k];
    return sum;
}

uint64_t ny_raster_most(const struct ny_raster *raster)
{
    uint64_t most = 0;

    for (size_t cell = 0; cell < raster->width * raster->height; cell++) {
        uint64_t here = ny_raster_total(raster, cell);

        if (here > most) most = here;
    }
    return most;
}

double ny_raster_level(uint64_t here, uint64_t most)
{
    return most > 1 ? log((double)here) / log((double)most) : 1;
}

size_t ny_raster_shown(const struct ny_raster *raster, size_t cell)
{
    const uint32_t *counts = &raster->counts[cell * raster->slots];
    size_t shown = cell % raster->slots;

    for (size_t i = 1; i < raster->slots; i++) {
        size_t k = (cell + i) % raster->slots;

        if (counts[k] > counts[shown]) shown = k;
    }
    return shown;
}

static uint32_t color_of(const struct ny_raster *raster, size_t cell, uint64_t here, double level)
{
    size_t slot;

    if (raster->kind == NY_RASTER_AMOUNT) return ny_amount_color(level);
    if (raster->kind == NY_RASTER_VALUES) return ny_viridis(raster->sums[cell] / (double)here);
    slot = ny_raster_shown(raster, cell);
    return slot < raster->slots - 1 ? ny_class_color[slot % NY_CLASS_COLORS] : NY_NO_CLASS_COLOR;
}

/* Returns the colour as ARGB, with its parts multiplied by the opacity as cairo wants them. */
static uint32_t premultiplied(uint32_t color, double alpha)
{
    uint32_t argb = (uint32_t)lround(255 * alpha) << 24;

    for (unsigned shift = 0; shift < 24; shift += 8)
        argb |= (uint32_t)lround((color >> shift & 255) * alpha) << shift;
    return argb;
}

void ny_raster_paint(const struct ny_raster *raster, uint32_t *argb, size_t stride)
{
    /* The opacity of a disc that lies on no other, where colours do not count points. */
    const double faint = raster->radius > 1 ? 0.75 : 1;
    uint64_t most = ny_raster_most(raster);

    for (size_t cell = 0; cell < raster->width * raster->height; cell++) {
        uint64_t here = ny_raster_total(raster, cell);
        uint32_t *pixel = &argb[cell / raster->width * stride + cell % raster->width];
        double level = here ? ny_raster_level(here, most) : 0;

        *pixel = !here ? 0
                       : premultiplied(color_of(raster, cell, here, level),
                                       raster->kind == NY_RASTER_AMOUNT || here > 1 ? 1 : faint);
    }
}
