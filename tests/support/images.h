/* The images that a selection leaves for its resumption, kept one by one. */
#ifndef NY_TESTS_IMAGES_H
#define NY_TESTS_IMAGES_H

#include "base/context.h"
#include "support/test.h"

struct images {
    size_t count;
    struct image {
        void *at;
        size_t bytes;
    } image[400];
};

static int keep_image(void *arg, const void *image, size_t bytes)
{
    struct images *images = arg;

    assert_true(images->count < 400);
    images->image[images->count] = (struct image){malloc(bytes), bytes};
    memcpy(images->image[images->count++].at, image, bytes);
    return NY_OK;
}

static void free_images(struct images *images)
{
    for (size_t i = 0; i < images->count; i++)
        free(images->image[i].at);
    images->count = 0;
}

#endif
