#include "report/page_images.h"

#include <math.h>

#include "base/layout.h"
#include "report/markup.h"

/* Scales grey levels from the least value of all images, which what is missing has, too, to the
 * most; bytes above 1 keep theirs. */
static void to_grey(struct ny_page_images *images, const double *values, size_t count,
                    enum ny_dtype dtype)
{
    double low = INFINITY, high = -INFINITY;

    for (size_t i = 0; i < count; i++) {
        low = fmin(low, values[i]);
        high = fmax(high, values[i]);
    }
    if (dtype == NY_U8 && high > 1) {
        low = 0;
        high = 255;
    }
    for (size_t i = 0; i < count; i++)
        images->grey[i] =
            (unsigned char)lround(values[i] > low ? 255 * (values[i] - low) / (high - low) : 0);
}

/* Leaves all images out, with a warning: a result may have been made before some of its rows were
 * lost. */
static int do_without(struct ny_context *ctx)
{
    ny_log(ctx, NY_LOG_WARNING, "the page shows no rows as images: %s", ny_context_message(ctx));
    ny_error_clear(ctx);
    return NY_OK;
}

int ny_page_images_new(struct ny_page_images *images, struct ny_store *store, const size_t size[2],
                       const uint64_t *rows, size_t count)
{
    struct ny_context *ctx = ny_store_context(store);
    struct ny_rows *X = ny_store_rows(store);
    size_t pixels = size[0] * size[1];
    struct ny_layout l = {.ctx = ctx};
    double *values;
    void *raw;
    struct ny_rows_info info;
    int err = X->ops->info(X, &info);

    *images = (struct ny_page_images){.ctx = ctx, .height = size[0], .width = size[1]};
    if (err || !pixels || info.layout != NY_DENSE || info.d != pixels || !count) return err;
    images->grey = ny_calloc(ctx, NY_MEM_OTHER, count, pixels);
    raw = ny_lay(&l, NY_MEM_OTHER, count * pixels, ny_dtype_size(info.dtype));
    values = ny_lay(&l, NY_MEM_OTHER, count * pixels, sizeof(double));
    err = l.err || !images->grey ? NY_EBUDGET : NY_OK;
    if (err == NY_OK) err = X->ops->gather(X, 0, rows, count, raw);
    if (err == NY_OK) {
        ny_dtype_to_f64(info.dtype, raw, values, count * pixels);
        to_grey(images, values, count * pixels, info.dtype);
        images->count = count;
    } else if (err == NY_ESTORE && info.lost) {
        err = do_without(ctx);
    }
    ny_layout_free(&l);
    return err;
}

void ny_page_images_release(struct ny_page_images *images)
{
    if (images->ctx) ny_free(images->ctx, images->grey);
    images->ctx = NULL;
}

void ny_put_images(struct ny_sink *sink, const struct ny_page_images *images)
{
    if (!images->count) {
        ny_put(sink, "null");
        return;
    }
    ny_putf(sink, "{\"height\":%zu,\"width\":%zu,\"count\":%zu,\"grey\":\"", images->height,
            images->width, images->count);
    ny_put_base64(sink, images->grey, images->count * images->height * images->width);
    ny_put(sink, "\"}");
}
