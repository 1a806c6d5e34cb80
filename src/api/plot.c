/*
 * ny_plot draws a result to a file, ny_plot_text to a terminal. Both read the same options, but a
 * terminal has its own size, and shows neither eigenvalues nor landmarks.
 */
#include <stdio.h>
#include <string.h>

#include "api/call.h"
#include "api/options.h"
#include "base/memory.h"
#include "io/output.h"
#include "report/picture.h"
#include "report/terminal.h"

/* "1,2" in two texts. */
static int take_axes(struct ny_context *ctx, const struct ny_options *options, char axes[2][64],
                     struct ny_picture_spec *spec)
{
    const char *text = ny_options_get(options, "axes");
    size_t first = text ? strcspn(text, ",") : 0, second = text ? strlen(text) - first : 0;

    if (!text) return NY_OK;
    if (!first || second < 2 || first > 63 || second > 64 || strchr(text + first + 1, ','))
        return ny_fail_value(ctx, "axes", "two columns, such as 1,2 or row,1", text);
    snprintf(axes[0], 64, "%.*s", (int)first, text);
    snprintf(axes[1], 64, "%s", text + first + 1);
    spec->scene.axes[0] = axes[0];
    spec->scene.axes[1] = axes[1];
    return NY_OK;
}

/* Reads --size: "1600x1200" is width and height in pixels. */
static int take_size(struct ny_context *ctx, const struct ny_options *options,
                     struct ny_picture_spec *spec)
{
    const char *text = ny_options_get(options, "size");
    unsigned width = 0, height = 0;
    int end = 0;

    if (sscanf(text, "%5ux%5u%n", &width, &height, &end) != 2 || text[end] ||
        width < NY_PICTURE_LEAST || width > NY_PICTURE_MOST || height < NY_PICTURE_LEAST ||
        height > NY_PICTURE_MOST)
        return ny_fail_value(ctx, "size", "the size in pixels, such as 1600x1200", text);
    spec->width = width;
    spec->height = height;
    return NY_OK;
}

/* The state of a call: what options ask for, and an open store. */
struct plot {
    struct ny_picture_spec spec;
    char axes[2][64];
    bool names;
    struct ny_store *store;
    struct ny_options none;
};

/* Takes the options and opens the store, which ny_call_close() closes. */
static int begin(struct plot *plot, struct ny_context *ctx, const char *path, const char *name,
                 const struct ny_options *options)
{
    int err = NY_OK;

    *plot = (struct plot){0};
    options = ny_options_given(options, ctx, &plot->none);
    plot->spec.scene.color = ny_options_get(options, "color");
    plot->spec.scene.all = ny_options_flag(options, "all");
    plot->spec.title = ny_options_get(options, "title");
    plot->spec.scree = ny_options_flag(options, "scree");
    plot->names = ny_options_flag(options, "names");
    if (ny_options_is_set(options, "names")) plot->spec.names = &plot->names;
    if (plot->spec.scree) err = ny_options_refuse(options, "axes|color|all|names", "--scree");
    if (err == NY_OK) err = take_axes(ctx, options, plot->axes, &plot->spec);
    if (err == NY_OK) err = take_size(ctx, options, &plot->spec);
    return err ? err : ny_call_open(&plot->store, ctx, path, name);
}

int ny_plot(struct ny_context *context, const char *path, const char *name, const char *output,
            const struct ny_options *options)
{
    struct plot plot;
    int err = NY_GIVEN(context, path, name, output);

    if (err == NY_OK) err = ny_output_check(context, output, NY_OUTPUT_PICTURE);
    if (err == NY_OK) err = begin(&plot, context, path, name, options);
    if (err) return err;
    err = ny_picture_write(plot.store, name, &plot.spec, output);
    ny_call_close(plot.store);
    return err;
}

int ny_plot_text(struct ny_context *context, const char *path, const char *name,
                 const struct ny_options *options, const struct ny_screen *screen)
{
    struct ny_sink out;
    struct plot plot;
    int err = NY_GIVEN(context, path, name, screen);

    if (err == NY_OK && !screen->write)
        err = ny_given(context, __func__, "write", (const void *const[]){NULL}, 1);
    if (err == NY_OK && options) err = ny_options_refuse(options, "size|scree|names", "a terminal");
    if (err == NY_OK) err = begin(&plot, context, path, name, options);
    if (err) return err;
    out = (struct ny_sink){.write = screen->write, .user = screen->user};
    err = ny_terminal_draw(plot.store, name, &plot.spec.scene, plot.spec.title, screen, &out);
    ny_call_close(plot.store);
    return err;
}
