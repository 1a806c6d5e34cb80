/*
 * Opens members of .npz files as arrays: the npy header, its shape against the bytes of the member,
 * and numbers in the byte order of the machine. io/npz.c reads several of them side by side.
 */
#include "io/npz_array.h"

#include <string.h>

#include "base/memory.h"

enum { PIECE = 1024 };

int ny_npz_array_open(struct ny_npz_array *array, const struct ny_bytes *archive,
                      const struct ny_zip_member *member)
{
    bool big_endian = false;
    uint64_t bytes;
    int err;

    *array = (struct ny_npz_array){0};
    err = ny_zip_open(&array->bytes, archive, member);
    if (!err) err = ny_npy_read_header(array->bytes, &array->header);
    if (err) return err;
    if (array->header.structured) return ny_bytes_damaged(array->bytes);
    array->numeric = ny_npy_element(array->header.descr.text, &array->type, &big_endian);
    array->swap = big_endian != ny_host_is_big_endian();
    if (!array->numeric) return NY_OK;
    array->count = array->header.dimensions ? array->header.rows : 1;
    if (__builtin_mul_overflow(array->count, array->header.d, &array->count) ||
        __builtin_mul_overflow(array->count, ny_element_size(array->type), &bytes) ||
        bytes != ny_bytes_left(array->bytes))
        return ny_bytes_damaged(array->bytes);
    return NY_OK;
}

int ny_npz_array_read(struct ny_npz_array *array, void *to, size_t count)
{
    size_t size = ny_element_size(array->type), got;
    int err = ny_bytes_read(array->bytes, to, count * size, &got);

    if (!err && got < count * size) err = ny_bytes_damaged(array->bytes);
    if (!err && array->swap && size > 1) ny_swap(to, size, count);
    return err;
}

int ny_npz_array_integers(struct ny_npz_array *array, int64_t *to, size_t count)
{
    int32_t narrow[PIECE];
    int err = NY_OK;

    if (array->type == NY_E_I8) return ny_npz_array_read(array, to, count);
    for (size_t done = 0; !err && done < count; done += PIECE) {
        size_t some = count - done < PIECE ? count - done : PIECE;

        err = ny_npz_array_read(array, narrow, some);
        for (size_t k = 0; !err && k < some; k++)
            to[done + k] = narrow[k];
    }
    return err;
}

int ny_npz_array_finish(struct ny_npz_array *array)
{
    int err = NY_OK;

    while (!err && !array->bytes->ended) {
        array->bytes->at = array->bytes->end;
        err = ny_bytes_more(array->bytes);
    }
    ny_npz_array_close(array);
    return err;
}

void ny_npz_array_close(struct ny_npz_array *array)
{
    ny_bytes_close(array->bytes);
    array->bytes = NULL;
}
