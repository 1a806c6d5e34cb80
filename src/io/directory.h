/* The error message for a directory that is named in place of a file of points. */
#ifndef NY_IO_DIRECTORY_H
#define NY_IO_DIRECTORY_H

#include "base/context.h"

/* The tool that makes a table of images. */
#define NY_IMAGE_ROWS "nystream-image-rows FOLDER -o IMAGES.npy (data-tools/image-rows)"

/* NY_EIO with a sentence that fits what the directory holds: a store, images, or other files. */
int ny_directory_given(struct ny_context *ctx, const char *path);

#endif
