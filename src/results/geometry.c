#include "results/geometry.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/matrix.h"

/* Returns the bytes of the stored centre and factor, each d numbers, and γ where it is wanted. */
static size_t image_bytes(size_t d, const double *gamma)
{
    return (2 * d + (gamma != NULL)) * sizeof(double);
}

int ny_stored_geometry_put(struct ny_store *store, const char *name, const char *part,
                           const struct ny_geometry *geometry, const double *gamma)
{
    struct ny_context *ctx = ny_store_context(store);
    size_t d = geometry->d, bytes = image_bytes(d, gamma);
    double *image = ny_alloc(ctx, NY_MEM_OTHER, bytes);
    int err;

    if (!image) return NY_EBUDGET;
    memcpy(image, geometry->centre, d * sizeof(double));
    memcpy(image + d, geometry->factor, d * sizeof(double));
    if (gamma) image[2 * d] = *gamma;
    err = ny_blob_put(store, name, part, image, bytes);
    ny_free(ctx, image);
    return err;
}

int ny_stored_geometry(struct ny_geometry **out, struct ny_store *store, const char *name,
                       const char *part, size_t d, double *gamma)
{
    struct ny_context *ctx = ny_store_context(store);
    size_t bytes = image_bytes(d, gamma);
    double *image = ny_alloc(ctx, NY_MEM_OTHER, bytes);
    int err = image ? ny_blob_get(store, name, part, image, bytes) : NY_EBUDGET;

    if (err == NY_OK && ny_first_not_finite(image, bytes / sizeof(double)))
        err = ny_fail(ctx, NY_ESTORE,
                      "the scale of '%s' in %s is not of numbers; fit it again with --restart",
                      name, ny_store_path(store));
    if (err == NY_OK) err = ny_geometry_copy(out, ctx, image, image + d, d);
    if (err == NY_OK && gamma) *gamma = image[2 * d];
    ny_free(ctx, image);
    return err;
}
