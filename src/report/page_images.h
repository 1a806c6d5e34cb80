/* Rows as grey images, for the page. */
#ifndef NY_REPORT_PAGE_IMAGES_H
#define NY_REPORT_PAGE_IMAGES_H

#include "report/sink.h"
#include "store/store.h"

struct ny_page_images {
    struct ny_context *ctx;
    size_t count, height, width;
    unsigned char *grey; /* count × height × width */
};

/* Takes the images of these rows of the store; none if its rows are not of that size. Where some
 * are lost, there are none, with a warning. Release it after a failure, too. */
int ny_page_images_new(struct ny_page_images *images, struct ny_store *store, const size_t size[2],
                       const uint64_t *rows, size_t count);
/* Frees the images. */
void ny_page_images_release(struct ny_page_images *images);
/* One JSON object, or null. */
void ny_put_images(struct ny_sink *sink, const struct ny_page_images *images);

#endif
