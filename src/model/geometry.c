#include "model/geometry.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/matrix.h"

/* Returns the bytes of the stored centre and factor, each d numbers, and γ where it is wanted. */
static size_t image_bytes(size_t d, const double *gamma)
{
    return (2 * d + (gamma != NULL)) * sizeof(double);
}

int ny_stored_geometry_put(const struct ny_keep *keep, const char *part,
                           const struct ny_geometry *geometry, const double *gamma)
{
    struct ny_context *ctx = keep->ctx;
    size_t d = geometry->d, bytes = image_bytes(d, gamma);
    double *image = ny_alloc(ctx, NY_MEM_OTHER, bytes);
    int err;

    if (!image) return NY_EBUDGET;
    memcpy(image, geometry->centre, d * sizeof(double));
    memcpy(image + d, geometry->factor, d * sizeof(double));
    if (gamma) image[2 * d] = *gamma;
    err = ny_keep_put(keep, part, image, bytes);
    ny_free(ctx, image);
    return err;
}

int ny_stored_geometry(struct ny_geometry **out, const struct ny_keep *keep, const char *part,
                       size_t d, double *gamma)
{
    struct ny_context *ctx = keep->ctx;
    size_t bytes = image_bytes(d, gamma);
    double *image = ny_alloc(ctx, NY_MEM_OTHER, bytes);
    int err = image ? keep->ops->get(keep, part, image, bytes) : NY_EBUDGET;

    if (err == NY_OK && ny_first_not_finite(image, bytes / sizeof(double)))
        err = ny_fail_damaged(ctx, keep->name, keep->place);
    if (err == NY_OK) err = ny_geometry_copy(out, ctx, image, image + d, d);
    if (err == NY_OK && gamma) *gamma = image[2 * d];
    ny_free(ctx, image);
    return err;
}
