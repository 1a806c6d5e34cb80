/* Sparse landmarks in the image of a model: u64 slots, u64 values in all, then the counts (u32, one
 * a landmark), all column numbers (u32) and all values, each padded to 8 bytes. */
#ifndef NY_MODEL_MODEL_SPARSE_H
#define NY_MODEL_MODEL_SPARSE_H

#include "columns/columns.h"

/* The shape of such an image. */
struct ny_sparse_image {
    size_t m, d, slots, nnz;
    enum ny_dtype dtype;
};

/* Returns the shape of the image of landmarks, whose values it counts. */
struct ny_sparse_image ny_sparse_image_of(const struct ny_columns_spec *spec,
                                          const struct ny_sparse_list *landmarks, size_t d);
/* Returns the bytes of the image, padding included. */
size_t ny_sparse_image_bytes(const struct ny_sparse_image *image);
/* Writes the image of the landmarks to `at`, which has room for its bytes. */
void ny_sparse_image_save(const struct ny_sparse_image *image,
                          const struct ny_sparse_list *landmarks, char *at);
/* Reads slots and values in all from the `bytes` bytes at `at`; false: they cannot be. */
bool ny_sparse_image_open(struct ny_sparse_image *image, const char *at, size_t bytes);
/* Reads the m landmarks into the room; false: they are not what they should be. */
bool ny_sparse_image_load(const struct ny_sparse_image *image, const char *at,
                          struct ny_sparse_room *room, struct ny_sparse *landmarks);

#endif
