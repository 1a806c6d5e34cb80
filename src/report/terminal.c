/*
 * Draws a picture in letters (report/terminal.h); ny_plot_text() in api/plot.c calls it. The points
 * are counted in a raster of one cell a letter. A cell shows the letter of its class, or a sign
 * that is the darker the more points it has, or the larger their values are. Letters repeat where
 * the colours of pictures do.
 */
#include "report/terminal.h"

#include <math.h>
#include <string.h>

#include "base/text.h"
#include "report/palette.h"
#include "report/words.h"

/* Columns left of the axes, lines above and below; letters are twice as high as they are wide. */
enum { MARGIN = 12, AROUND = 5, LEAST_COLUMNS = 30, LEAST_LINES = 10, HIGH = 2 };

static const char letters[NY_CLASS_COLORS + 2] = "abcdefghijklmnopqrst?", signs[] = ".:-=+*#%@";

struct page {
    struct ny_scene scene;
    uint64_t most; /* points of a letter */
    struct ny_sink *out;
};

static void put_cell(struct page *page, size_t cell)
{
    const struct ny_raster *r = &page->scene.raster;
    uint64_t points = ny_raster_total(r, cell);
    double level = r->sums ? r->sums[cell] / (double)points : ny_raster_level(points, page->most);

    if (!points)
        ny_put(page->out, " ");
    else if (r->kind == NY_RASTER_CLASSES)
        ny_putf(page->out, "%c", letters[ny_raster_shown(r, cell)]);
    else
        ny_putf(page->out, "%c", signs[(size_t)fmin(level * 9, 8)]);
}

/* Lists the classes with their letters, in lines that fit; last the rows of none. */
static void put_classes(struct page *page)
{
    const struct ny_tint *tint = &page->scene.tint;
    size_t at = 0;

    for (size_t i = 0; i < tint->count + (tint->nameless > 0); i++) {
        bool none = i == tint->count;
        const char *name = none ? "others" : tint->classes[i].name;

        if (at && at + strlen(name) > page->scene.raster.width) at = 0;
        if (i) ny_put(page->out, at ? "  " : "\n");
        if (!at) ny_putf(page->out, "%*s", MARGIN, "");
        ny_putf(page->out, "%c=%s", letters[none ? NY_CLASS_COLORS : i % NY_CLASS_COLORS], name);
        at += 4 + strlen(name);
    }
    ny_put(page->out, "\n");
}

static void put_below(struct page *page)
{
    const struct ny_tint *tint = &page->scene.tint;

    ny_putf(page->out, "%*s", MARGIN, "+");
    for (size_t i = 0; i < page->scene.raster.width; i++)
        ny_put(page->out, "-");
    ny_putf(page->out, "\n%*s%-12.5g%*.5g\n", MARGIN, "", page->scene.x.low,
            (int)page->scene.raster.width - 12, page->scene.x.high);
    if (tint->kind == NY_RASTER_CLASSES) put_classes(page);
    if (tint->kind == NY_RASTER_VALUES)
        ny_putf(page->out, "%*s%s: %.5g (.) to %.5g (@)\n", MARGIN, "", tint->name, tint->range.low,
                tint->range.high);
    if (page->scene.raster.outside || page->scene.raster.missing)
        ny_putf(page->out, "%*s%llu outside the axes, %llu without a value\n", MARGIN, "",
                (unsigned long long)page->scene.raster.outside,
                (unsigned long long)page->scene.raster.missing);
}

static void put_page(struct page *page, const char *title)
{
    const struct ny_data_frame *frame = &page->scene.frame;
    const struct ny_raster *r = &page->scene.raster;
    char name[128], x[NY_WORDS_BYTES], y[NY_WORDS_BYTES];

    ny_clean_text(title ? title : frame->result.name, name, sizeof(name));
    ny_name_column(frame, 0, x);
    ny_name_column(frame, 1, y);
    page->most = ny_raster_most(r);
    ny_putf(page->out, "%s: %s across, %s upwards\n", name, x, y);
    for (size_t cell = 0; cell < r->width * r->height; cell++) {
        bool first = cell == 0, last = cell / r->width == r->height - 1;

        if (cell % r->width == 0 && (first || last))
            ny_putf(page->out, "%*.5g|", MARGIN - 1,
                    first ? page->scene.y.high : page->scene.y.low);
        else if (cell % r->width == 0)
            ny_putf(page->out, "%*s", MARGIN, "|");
        put_cell(page, cell);
        if (cell % r->width == r->width - 1) ny_put(page->out, "\n");
    }
    put_below(page);
}

int ny_terminal_draw(struct ny_store *store, const char *name, const struct ny_scene_spec *spec,
                     const char *title, const struct ny_screen *screen, struct ny_sink *out)
{
    size_t wide = screen->columns > LEAST_COLUMNS ? screen->columns : LEAST_COLUMNS;
    size_t high = screen->lines > LEAST_LINES ? screen->lines : LEAST_LINES;
    struct page page = {.out = out};
    int err = ny_scene_open(&page.scene, store, name, spec);

    wide -= MARGIN + 1;
    high -= AROUND;
    ny_scene_fit(&page.scene, (double)wide, HIGH * (double)high);
    if (!err) err = ny_scene_count(&page.scene, wide, high, UINT64_MAX);
    if (!err) put_page(&page, title);
    ny_scene_close(&page.scene);
    return err ? err : out->err;
}
