/*
 * Packs sparse landmarks into the image of a model, and unpacks them.
 *
 * The image has the slots, those of the fullest row of the data, and the number of all values, then
 * the count of each row, all column numbers, and all values, each array padded to 8 bytes. What is
 * read is not believed: sizes must fill the image exactly, and rows must have ascending columns
 * below d, and no more of them than slots.
 */
#include "model/model_sparse.h"

#include <string.h>

/* Bytes of the two numbers that an image begins with. */
enum { SIZES_BYTES = 2 * sizeof(uint64_t) };

struct ny_sparse_image ny_sparse_image_of(const struct ny_columns_spec *spec,
                                          const struct ny_sparse_list *landmarks, size_t d)
{
    struct ny_sparse_image image = {
        .m = landmarks->count, .d = d, .slots = spec->slots, .dtype = spec->dtype};

    for (size_t i = 0; i < landmarks->count; i++)
        image.nnz += landmarks->row[i].count;
    return image;
}

size_t ny_sparse_image_bytes(const struct ny_sparse_image *image)
{
    return SIZES_BYTES + ny_padded(image->m * sizeof(uint32_t)) +
           ny_padded(image->nnz * sizeof(uint32_t)) +
           ny_padded(image->nnz * ny_dtype_size(image->dtype));
}

void ny_sparse_image_save(const struct ny_sparse_image *image,
                          const struct ny_sparse_list *landmarks, char *at)
{
    const uint64_t sizes[2] = {image->slots, image->nnz};
    char *counts = at + SIZES_BYTES, *index = counts + ny_padded(image->m * sizeof(uint32_t));
    char *values = index + ny_padded(image->nnz * sizeof(uint32_t));
    size_t element = ny_dtype_size(image->dtype), done = 0;

    memcpy(at, sizes, sizeof(sizes));
    for (size_t i = 0; i < image->m; i++) {
        struct ny_sparse row = landmarks->row[i];
        uint32_t count = (uint32_t)row.count;

        memcpy(counts + i * sizeof(count), &count, sizeof(count));
        if (!count) continue;
        memcpy(index + done * sizeof(uint32_t), row.index, count * sizeof(uint32_t));
        memcpy(values + done * element, row.value, count * element);
        done += count;
    }
}

bool ny_sparse_image_open(struct ny_sparse_image *image, const char *at, size_t bytes)
{
    uint64_t sizes[2];

    if (bytes < SIZES_BYTES) return false;
    memcpy(sizes, at, sizeof(sizes));
    image->slots = (size_t)sizes[0];
    image->nnz = (size_t)sizes[1];
    return sizes[0] > 0 && sizes[0] <= image->d && sizes[1] <= bytes &&
           ny_sparse_image_bytes(image) == bytes;
}

/* Checks the column numbers of a row, which kernels compare in order and use as indices. */
static bool ascending(const uint32_t *index, size_t count, size_t d)
{
    for (size_t k = 0; k < count; k++)
        if (index[k] >= d || (k > 0 && index[k] <= index[k - 1])) return false;
    return true;
}

bool ny_sparse_image_load(const struct ny_sparse_image *image, const char *at,
                          struct ny_sparse_room *room, struct ny_sparse *landmarks)
{
    const uint32_t *counts = (const uint32_t *)(const void *)(at + SIZES_BYTES);
    const char *numbers = (const char *)counts + ny_padded(image->m * sizeof(uint32_t));
    const uint32_t *index = (const uint32_t *)(const void *)numbers;
    const char *values = numbers + ny_padded(image->nnz * sizeof(uint32_t));
    size_t done = 0;

    for (size_t i = 0; i < image->m; i++) {
        size_t count = counts[i];
        struct ny_sparse row = {count, index + done, values + done * ny_dtype_size(image->dtype)};

        if (count > image->slots || count > image->nnz - done) return false;
        if (!ascending(index + done, count, image->d)) return false;
        if (!ny_sparse_room_put(room, image->dtype, row, &landmarks[i])) return false;
        done += count;
    }
    return done == image->nnz;
}
