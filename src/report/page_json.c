/*
 * Writes what the script of a report's page draws, as JSON in the page (report/page_points.h):
 * sampled rows, landmarks and the path with their coordinates, colours, images, and a raster of
 * all rows.
 *
 * Columns and row numbers are f64 in base64, classes whole numbers of 16 bits. The raster is a grey
 * image, which the script colours for a light or dark page.
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "report/canvas.h"
#include "report/markup.h"
#include "report/page_points.h"
#include "report/words.h"
#include "model/map.h"

enum { NO_CODE = 65535 }; /* of a number of 16 bits: no class */

/* The data under way, with one buffer that every column is encoded in. */
struct json {
    const struct ny_page_points *points;
    struct ny_sink *sink;
    double *room; /* of the largest column */
};

/* Writes `count` numbers in the room as f64 in base64. */
static void put_room(struct json *json, size_t count)
{
    ny_put(json->sink, "\"");
    ny_put_base64(json->sink, json->room, count * sizeof(*json->room));
    ny_put(json->sink, "\"");
}

static void put_rows(struct json *json, const uint64_t *rows, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json->room[i] = (double)rows[i];
    put_room(json, count);
}

/* Writes every `stride`-th value from the first on; NaN stands for all that are not finite. */
static void put_values(struct json *json, const double *values, size_t stride, size_t count)
{
    for (size_t i = 0; i < count; i++)
        json->room[i] = isfinite(values[i * stride]) ? values[i * stride] : (double)NAN;
    put_room(json, count);
}

static void put_axis(struct json *json, const struct ny_axis *axis)
{
    ny_put(json->sink, ",\"axis\":[");
    ny_put_number(json->sink, axis->low);
    ny_put(json->sink, ",");
    ny_put_number(json->sink, axis->high);
    ny_put(json->sink, "],\"values\":");
}

/* Writes for each component its title and axis, and where the sampled rows, the landmarks and the
 * path lie on it. */
static void put_components(struct json *json)
{
    const struct ny_page_points *p = json->points;
    char words[NY_WORDS_BYTES];

    for (size_t k = 0; k < p->components; k++) {
        ny_describe_column(&p->frame, k, words);
        ny_put(json->sink, k ? ",{\"title\":" : "{\"title\":");
        ny_put_json(json->sink, words);
        put_axis(json, &p->axes[k]);
        put_values(json, p->values + k, p->frame.count, p->count);
        ny_put(json->sink, ",\"landmarks\":");
        put_values(json, p->marks + k, p->components, p->mark_count);
        ny_put(json->sink, ",\"path\":");
        put_values(json, p->path_values + k, p->components, p->path->count);
        ny_put(json->sink, "}");
    }
}

/* Writes the names and sizes of the classes, then the class of each sampled row. */
static void put_classes(struct json *json, const struct ny_tint *tint)
{
    const struct ny_page_points *p = json->points;
    uint16_t *codes = (void *)json->room;

    ny_put(json->sink, ",\"classes\":[");
    for (size_t k = 0; k < tint->count; k++) {
        ny_put(json->sink, k ? "," : "");
        ny_put_json(json->sink, tint->classes[k].name);
    }
    ny_put(json->sink, "],\"sizes\":[");
    for (size_t k = 0; k < tint->count; k++)
        ny_putf(json->sink, "%s%llu", k ? "," : "", (unsigned long long)tint->classes[k].rows);
    for (size_t i = 0; i < p->count; i++) {
        double at = ny_tint_of(tint, p->values[i * p->frame.count + tint->column]);

        codes[i] = at < 0 ? NO_CODE : (uint16_t)at;
    }
    ny_put(json->sink, "],\"codes\":\"");
    ny_put_base64(json->sink, codes, p->count * sizeof(*codes));
    ny_put(json->sink, "\"");
}

/* Writes the colours to choose from. */
static void put_tints(struct json *json)
{
    const struct ny_page_points *p = json->points;

    for (size_t k = 0; k < p->tint_count; k++) {
        const struct ny_tint *tint = &p->tints[k];

        ny_put(json->sink, k ? ",{\"name\":" : "{\"name\":");
        ny_put_json(json->sink, tint->name);
        if (tint->kind == NY_RASTER_CLASSES) {
            put_classes(json, tint);
        } else {
            put_axis(json, &tint->range);
            put_values(json, p->values + tint->column, p->frame.count, p->count);
        }
        ny_put(json->sink, "}");
    }
}

/* ---- the raster as images of grey ----------------------------------------------------------- */

/* Blocks of a PNG come at any length; base64 wants three bytes at a time. */
struct encoder {
    struct ny_sink *sink;
    unsigned char held[3];
    size_t count;
};

/* Takes a block of a PNG from cairo; one or two bytes that are left over wait for the next
 * block. */
static cairo_status_t encode(void *user, const unsigned char *data, unsigned bytes)
{
    struct encoder *e = user;
    size_t whole;

    while (e->count && e->count < 3 && bytes) {
        e->held[e->count++] = *data++;
        bytes--;
    }
    if (e->count == 3) {
        ny_put_base64(e->sink, e->held, 3);
        e->count = 0;
    }
    whole = bytes / 3 * 3;
    ny_put_base64(e->sink, data, whole);
    for (; whole < bytes; whole++)
        e->held[e->count++] = data[whole];
    return e->sink->err ? CAIRO_STATUS_WRITE_ERROR : CAIRO_STATUS_SUCCESS;
}

/* Returns the number of points of a cell on a logarithmic scale, 1 … 255, or 1 + the colour that it
 * shows; 0 if it has none. */
static unsigned char grey_of(const struct ny_raster *raster, size_t cell, bool colors,
                             uint64_t most)
{
    uint64_t points = ny_raster_total(raster, cell);

    if (!points) return 0;
    return (unsigned char)(1 + (colors ? ny_raster_shown(raster, cell)
                                       : (size_t)(254.5 * ny_raster_level(points, most))));
}

/* Writes one image of a raster as a data URL: how many points a cell has or, with `colors`, which
 * class. */
static int put_grey(struct json *json, const struct ny_raster *raster, bool colors)
{
    struct ny_context *ctx = json->points->ctx;
    int stride, err = ny_cairo_load(ctx);
    unsigned char *grey;
    uint64_t most = ny_raster_most(raster);
    struct encoder encoder = {.sink = json->sink};
    cairo_surface_t *image;
    cairo_status_t status;

    if (err) return err;
    stride = ny_cairo.format_stride_for_width(CAIRO_FORMAT_A8, (int)raster->width);
    grey = ny_calloc(ctx, NY_MEM_OTHER, raster->height, (size_t)stride);
    if (!grey) return NY_EBUDGET;
    for (size_t cell = 0; cell < raster->width * raster->height; cell++)
        grey[cell / raster->width * (size_t)stride + cell % raster->width] =
            grey_of(raster, cell, colors, most);
    image = ny_cairo.image_surface_create_for_data(grey, CAIRO_FORMAT_A8, (int)raster->width,
                                                   (int)raster->height, stride);
    ny_put(json->sink, "\"data:image/png;base64,");
    status = ny_cairo.surface_write_to_png_stream(image, encode, &encoder);
    ny_put_base64(json->sink, encoder.held, encoder.count);
    ny_put(json->sink, "\"");
    ny_cairo.surface_destroy(image);
    ny_free(ctx, grey);
    if (status == CAIRO_STATUS_SUCCESS || json->sink->err) return json->sink->err;
    return ny_cairo_error(ctx, status);
}

static int put_raster(struct json *json)
{
    const struct ny_raster *raster = &json->points->raster;
    int err;

    if (!raster->width) {
        ny_put(json->sink, "null");
        return NY_OK;
    }
    ny_putf(json->sink, "{\"most\":%llu,\"outside\":%llu,\"missing\":%llu,\"level\":",
            (unsigned long long)ny_raster_most(raster), (unsigned long long)raster->outside,
            (unsigned long long)raster->missing);
    err = put_grey(json, raster, false);
    if (err == NY_OK && raster->kind == NY_RASTER_CLASSES) {
        ny_put(json->sink, ",\"color\":");
        err = put_grey(json, raster, true);
    }
    ny_put(json->sink, "}");
    return err;
}

int ny_page_points_json(const struct ny_page_points *points, struct ny_sink *sink)
{
    const struct ny_map *map = points->frame.result.map;
    struct json json = {.points = points, .sink = sink};
    size_t most = points->count > points->mark_count ? points->count : points->mark_count;
    int err;

    if (points->path->count > most) most = points->path->count;
    json.room = ny_calloc(points->ctx, NY_MEM_OTHER, most, sizeof(double));
    if (!json.room) return NY_EBUDGET;
    ny_put(sink, "{\"name\":");
    ny_put_json(sink, points->frame.result.name);
    ny_putf(sink, ",\"metric\":%s,\"n\":%llu,\"rows\":", map && map->metric ? "true" : "false",
            (unsigned long long)points->frame.n);
    put_rows(&json, points->rows, points->count);
    ny_put(sink, ",\"landmarks\":");
    put_rows(&json, points->mark_rows, points->mark_count);
    ny_put(sink, ",\"path\":");
    put_rows(&json, points->path->rows, points->path->count);
    ny_put(sink, ",\"components\":[");
    put_components(&json);
    ny_put(sink, "],\"tints\":[");
    put_tints(&json);
    ny_put(sink, "],\"images\":");
    ny_put_images(sink, &points->images);
    ny_put(sink, ",\"raster\":");
    err = put_raster(&json);
    ny_put(sink, "}");
    ny_free(points->ctx, json.room);
    return err ? err : sink->err;
}
