/* ny_plot. */
#include <stdio.h>
#include <string.h>

#include "api/options.h"
#include "base/memory.h"
#include "report/picture.h"

/* "1,2" in two texts. */
static int take_axes(struct ny_context *ctx, const struct ny_options *options, char axes[2][64],
                     struct ny_picture_spec *spec)
{
    const char *text = ny_options_text(options, "axes");
    size_t first = text ? strcspn(text, ",") : 0, second = text ? strlen(text) - first : 0;

    if (!text) return NY_OK;
    if (!first || second < 2 || first > 63 || second > 64 || strchr(text + first + 1, ','))
        return ny_fail(ctx, NY_EUSAGE, "--axes %s: two columns are wanted, such as 1,2 or row,1",
                       text);
    snprintf(axes[0], 64, "%.*s", (int)first, text);
    snprintf(axes[1], 64, "%s", text + first + 1);
    spec->axes[0] = axes[0];
    spec->axes[1] = axes[1];
    return NY_OK;
}

static int take_size(struct ny_context *ctx, const struct ny_options *options,
                     struct ny_picture_spec *spec)
{
    const char *text = ny_options_text(options, "size");
    unsigned width = 0, height = 0;
    int end = 0;

    if (sscanf(text, "%5ux%5u%n", &width, &height, &end) != 2 || text[end] ||
        width < NY_PICTURE_LEAST || width > NY_PICTURE_MOST || height < NY_PICTURE_LEAST ||
        height > NY_PICTURE_MOST)
        return ny_fail(ctx, NY_EUSAGE,
                       "--size %s: pixels are wanted, such as 1600x1200, from %d to %d a side",
                       text, NY_PICTURE_LEAST, NY_PICTURE_MOST);
    spec->width = width;
    spec->height = height;
    return NY_OK;
}

int ny_plot(struct ny_context *context, const char *path, const char *name, const char *output,
            const struct ny_options *options)
{
    struct ny_picture_spec spec = {.color = ny_options_text(options, "color"),
                                   .title = ny_options_text(options, "title"),
                                   .all = ny_options_flag(options, "all"),
                                   .landmarks = ny_options_flag(options, "mark-landmarks"),
                                   .scree = ny_options_flag(options, "scree")};
    struct ny_store *store = NULL;
    char axes[2][64];
    int err;

    ny_error_clear(context);
    err = take_axes(context, options, axes, &spec);
    if (err == NY_OK) err = take_size(context, options, &spec);
    if (err) return err;
    err = ny_reserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    if (err) return err;
    err = ny_store_open(&store, context, path);
    if (err == NY_OK) err = ny_picture_write(store, name, &spec, output);
    ny_store_close(store);
    ny_unreserve(context, NY_MEM_PROCESS, NY_PROCESS_BYTES);
    return err;
}
