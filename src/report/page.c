/*
 * Writes a report: one file of HTML that needs no network (report/page.h). api/page.c calls
 * ny_page_write(); a run that fails leaves no file.
 *
 * The page's html, css and script are files of their own beside this one, which the build turns
 * into bytes (report/assets.h). Templates have holes, `{{name}}`; the functions fill_… here fill
 * them, in the order of the page, and results are read one after another while their part is
 * written.
 *
 * The page holds, for each result, a raster of all points as a grey image, which the script colours
 * for light and dark, and rows that can be pointed at: at most 6,000.
 * Points, landmarks, raster cells and bytes of images have limits for all results together, so that
 * the page stays below 5 MB, whatever the number of rows. A shortest path (report/page_path.c) is
 * found as the verb path finds it. All text goes through report/markup.h: neither in the HTML nor
 * in the data does a label or a name end the element or string that it is in.
 */
#include "results/behind.h"
#include "report/page.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/text.h"
#include "io/writer.h"
#include "model/map.h"
#include "report/assets.h"
#include "report/page_facts.h"
#include "report/page_points.h"
#include "report/palette.h"
#include "report/words.h"

/* Limits of all results together. */
enum {
    POINTS = 12000,
    POINTS_LEAST = 300,
    LANDMARKS = 2000,
    IMAGE_BYTES = 1500 << 10,
    IMAGE_LEAST = 8, /* pixels a side that rows without a shape must have to be images */
    RASTER_CELLS = 1200 * 1000
};

/* The page under way; the functions that fill holes get it as `user`. */
struct page {
    struct ny_context *ctx;
    struct ny_layout own;
    struct ny_store *store;
    const struct ny_page_spec *spec;
    struct ny_page_limits limits;
    const json_t **reports; /* of all results, borrowed from: */
    struct ny_result *results;
    size_t opened, number; /* the result that is being written */
    struct ny_page_points points;
    struct ny_page_path path;
    size_t paths; /* so far */
};

/* ---- a result ----------------------------------------------------------------------------- */

/* Fills the holes of plot.html, the data of the script among them. */
static int fill_plot(void *user, const char *hole, struct ny_sink *sink)
{
    struct page *page = user;
    const struct ny_page_points *p = &page->points;
    char words[NY_WORDS_BYTES], shown[32], all[32];

    if (strcmp(hole, "data") == 0) return ny_page_points_json(p, sink);
    ny_grouped(p->count, shown);
    ny_grouped(p->frame.n, all);
    if (strcmp(hole, "number") == 0) {
        ny_putf(sink, "%zu", page->number);
    } else if (strcmp(hole, "name") == 0) {
        ny_put_html(sink, p->frame.result.name);
    } else if (strcmp(hole, "caption") == 0) {
        if (p->count < p->frame.n)
            ny_putf(sink, "%s of %s points can be pointed at%s", shown, all,
                    p->raster.width ? "; the image behind them counts all" : "");
        else
            ny_putf(sink, "All %s points", all);
        ny_put(sink, "<span class=\"left-out\"></span>."); /* page.js knows the axes */
    } else {
        ny_describe_result(&page->results[page->number], words);
        ny_put(sink, "Scatter plot of ");
        ny_put_html(sink, p->frame.result.name);
        ny_put(sink, ": ");
        ny_put_html(sink, words);
    }
    return sink->err;
}

/* Holes of result.html that its record alone fills. */
static const struct {
    const char *hole;
    void (*put)(struct ny_sink *sink, const struct ny_result *result);
} of_record[] = {
    {"certificate", ny_put_certificate}, {"cost", ny_put_cost},       {"facts", ny_put_facts},
    {"spectrum", ny_put_spectrum},       {"command", ny_put_command},
};

/* Fills the holes of result.html, once for each result. */
static int fill_result(void *user, const char *hole, struct ny_sink *sink)
{
    struct page *page = user;
    const struct ny_result *result = &page->results[page->number];
    char words[NY_WORDS_BYTES];

    for (size_t k = 0; k < sizeof(of_record) / sizeof(of_record[0]); k++)
        if (strcmp(hole, of_record[k].hole) == 0) of_record[k].put(sink, result);
    if (strcmp(hole, "number") == 0)
        ny_putf(sink, "%zu", page->number);
    else if (strcmp(hole, "name") == 0)
        ny_put_html(sink, result->name);
    else if (strcmp(hole, "plot") == 0 && page->points.ctx)
        return ny_put_template(sink, ny_plot_html, fill_plot, page);
    else if (strcmp(hole, "path") == 0)
        ny_put_path(sink, &page->path);
    else if (strcmp(hole, "words") == 0) {
        ny_describe_result(result, words);
        ny_put_html(sink, words);
    }
    return sink->err;
}

/* Returns the first result that is a graph alone. */
static const struct ny_result *find_graph(const struct page *page)
{
    for (size_t k = 0; k < page->opened; k++)
        if (page->results[k].only_graph) return &page->results[k];
    return NULL;
}

/* Finds the path of --path in the graph of this result, if it has one. */
static int find_path(struct page *page, const struct ny_result *result)
{
    const struct ny_page_limits *limits = &page->limits;
    const size_t images[] = {limits->image[0], limits->image[1], limits->image_bytes / 4};
    int err;

    if (!page->spec->path) return NY_OK;
    err = ny_page_path_new(&page->path, result, find_graph(page), page->spec->path, images);
    page->paths += page->path.ctx != NULL;
    return err;
}

/* Writes one result after another, so that the points of only one are in memory. --path is an error
 * only if no result at all has a graph. */
static int put_results(struct page *page, struct ny_sink *sink)
{
    const struct ny_result_part *embedding = ny_part_find("embedding");
    int err = NY_OK;

    for (page->number = 0; err == NY_OK && page->number < page->spec->count; page->number++) {
        struct ny_result *result = &page->results[page->number];

        err = find_path(page, result);
        if (err == NY_OK && embedding->count(result))
            err = ny_page_points_new(&page->points, page->store, result->name, &page->limits,
                                     &page->path);
        if (err == NY_OK) err = ny_put_template(sink, ny_result_html, fill_result, page);
        ny_page_points_release(&page->points);
        ny_page_path_release(&page->path);
    }
    if (err || !page->spec->path || page->paths) return err;
    return ny_fail_only(page->ctx, "path", "a result that has a graph");
}

/* ---- the page ----------------------------------------------------------------------------- */

/* The last part of the store's path. */
static void put_store_name(const struct page *page, struct ny_sink *sink)
{
    const char *path = ny_store_path(page->store), *end = path + strlen(path), *begin;
    char name[256];

    while (end > path && end[-1] == '/')
        end--;
    for (begin = end; begin > path && begin[-1] != '/';)
        begin--;
    snprintf(name, sizeof(name), "%.*s", (int)(end - begin), begin);
    ny_put_html(sink, name);
}

/* Writes the title that is given, else the name of the only result, or of the store of several. */
static void put_title(const struct page *page, struct ny_sink *sink)
{
    if (page->spec->title)
        ny_put_html(sink, page->spec->title);
    else if (page->spec->count == 1)
        ny_put_html(sink, page->results[0].name);
    else
        put_store_name(page, sink);
}

/* Says that the page has not all results, and how to have those that are left out. */
static void put_left_out(const struct page *page, struct ny_sink *sink)
{
    size_t shown = page->spec->count, all = shown + page->spec->left_out;

    if (all == shown) return;
    ny_putf(sink,
            ". This page shows %zu of its %zu results, the first by name; to see others, name them "
            "behind the store in the command report",
            shown, all);
}

static int put_store(const struct page *page, struct ny_sink *sink)
{
    struct ny_rows_info info;
    char rows[32], columns[32];
    int err = ny_points_info(page->store, &info);

    if (err) return err;
    put_store_name(page, sink);
    ny_putf(sink, ": %s row%s of %s column%s, %s%s", ny_grouped(info.n, rows),
            info.n == 1 ? "" : "s", ny_grouped(info.d, columns), info.d == 1 ? "" : "s",
            ny_dtype_name(info.dtype), info.layout == NY_CSR ? ", sparse" : "");
    put_left_out(page, sink);
    return sink->err;
}

/* Writes links to the results, if there are several. */
static void put_links(const struct page *page, struct ny_sink *sink)
{
    if (page->spec->count < 2) return;
    ny_put(sink, "<nav aria-label=\"Results\">");
    for (size_t k = 0; k < page->spec->count; k++) {
        ny_putf(sink, "<a href=\"#r%zu\">", k);
        ny_put_html(sink, page->results[k].name);
        ny_put(sink, "</a>\n");
    }
    ny_put(sink, "</nav>");
}

/* Writes the colours of pictures for the script. */
static void put_palette(struct ny_sink *sink)
{
    ny_put(sink, "const CLASSES = [");
    for (size_t k = 0; k < NY_CLASS_COLORS; k++)
        ny_putf(sink, "'#%06x', ", ny_class_color[k]);
    ny_put(sink, "], VIRIDIS = [");
    for (int k = 0; k < 16; k++)
        ny_putf(sink, "'#%06x', ", ny_viridis(k / 15.0));
    ny_put(sink, "];");
}

/* Fills the holes of page.html. */
static int fill_page(void *user, const char *hole, struct ny_sink *sink)
{
    struct page *page = user;

    if (strcmp(hole, "css") == 0)
        ny_put(sink, (const char *)ny_page_css);
    else if (strcmp(hole, "js") == 0)
        ny_put(sink, (const char *)ny_page_js);
    else if (strcmp(hole, "palette") == 0)
        put_palette(sink);
    else if (strcmp(hole, "marks") == 0)
        ny_put(sink, (const char *)ny_page_marks_js);
    else if (strcmp(hole, "version") == 0)
        ny_put(sink, ny_version());
    else if (strcmp(hole, "title") == 0)
        put_title(page, sink);
    else if (strcmp(hole, "store") == 0)
        return put_store(page, sink);
    else if (strcmp(hole, "links") == 0)
        put_links(page, sink);
    else if (strcmp(hole, "comparison") == 0)
        ny_put_comparison(sink, page->reports, page->spec->names, page->spec->count);
    else if (strcmp(hole, "results") == 0)
        return put_results(page, sink);
    return sink->err;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Divides the limits of a page among its results, and decides the shape of images. */
static int set_limits(struct page *page)
{
    const struct ny_page_spec *spec = page->spec;
    struct ny_rows_info info;
    size_t side;
    int err = ny_points_info(page->store, &info);

    if (err) return err;
    page->limits =
        (struct ny_page_limits){.points = least(POINTS / 2, POINTS / spec->count + POINTS_LEAST),
                                .landmarks = LANDMARKS / spec->count,
                                .cells = least(RASTER_CELLS / 3, RASTER_CELLS / spec->count),
                                .image_bytes = IMAGE_BYTES / spec->count,
                                .image = {spec->image[0], spec->image[1]}};
    side = (size_t)lround(sqrt((double)info.d));
    if (!spec->images)
        page->limits.image[0] = page->limits.image[1] = 0;
    else if (spec->image[0] &&
             (spec->image[0] * spec->image[1] != info.d || info.layout != NY_DENSE))
        return ny_fail(page->ctx, NY_EUSAGE,
                       "--image %zux%zu: rows of %s are not dense rows of so many columns",
                       spec->image[0], spec->image[1], ny_store_path(page->store));
    else if (!spec->image[0] && side >= IMAGE_LEAST && side * side == info.d)
        page->limits.image[0] = page->limits.image[1] = side;
    return NY_OK;
}

static int open_results(struct page *page)
{
    size_t count = page->spec->count;
    int err;

    page->own.ctx = page->ctx;
    page->results = ny_lay(&page->own, NY_MEM_OTHER, count, sizeof(*page->results));
    page->reports = ny_lay(&page->own, NY_MEM_OTHER, count, sizeof(*page->reports));
    err = page->own.err;
    while (err == NY_OK && page->opened < count) {
        struct ny_result *result = &page->results[page->opened];

        err = ny_result_open_any(result, page->store, page->spec->names[page->opened]);
        if (!err) ny_warn_behind(page->store, result->name, result->record);
        page->reports[page->opened++] = result->report;
    }
    return err;
}

static int write_bytes(void *user, const char *text, size_t bytes)
{
    return ny_writer_rows(user, text, bytes);
}

int ny_page_write(struct ny_store *store, const struct ny_page_spec *spec, const char *output)
{
    struct page page = {.ctx = ny_store_context(store), .store = store, .spec = spec};
    struct ny_writer *writer = NULL;
    struct ny_sink sink = {.write = write_bytes};
    int err = set_limits(&page);

    if (err == NY_OK) err = open_results(&page);
    if (err == NY_OK)
        err = ny_writer_open(&writer, page.ctx, output, NY_OUT_BYTES, NY_ROWS_COUNTED, 0);
    if (err == NY_OK) {
        sink.user = writer;
        err = ny_put_template(&sink, ny_page_html, fill_page, &page);
    }
    err = ny_writer_commit(writer, err);
    for (size_t k = 0; k < page.opened; k++)
        ny_result_close_any(&page.results[k]);
    ny_layout_free(&page.own);
    return err;
}
