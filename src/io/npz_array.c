/*
 * Opens members of .npz files as arrays: the npy header, its shape against the bytes of the member,
 * and numbers in the byte order of the machine. io/npz.c reads several of them side by side.
 */
#include "io/npz_array.h"

#include <string.h>

#include "base/memory.h"
#include "io/refuse.h"

enum { LENGTH_BYTES = 4, PIECE = 1024 };

static int damaged(const struct ny_npz_array *array)
{
    return ny_refuse_damaged(array->archive->ctx, array->archive->path, NY_NO_LINE);
}

/* Reads the header's text and parses it. *bytes: of all that precedes the numbers. */
static int read_header(struct ny_npz_array *array, size_t *bytes)
{
    struct ny_context *ctx = array->archive->ctx;
    unsigned char begin[NY_NPY_MAGIC_BYTES + 2 + LENGTH_BYTES];
    size_t field, length;
    char *text;
    int err;

    if (array->member->bytes < sizeof(begin)) return damaged(array);
    err = ny_zip_read(array->stream, begin, NY_NPY_MAGIC_BYTES + 2 + 2);
    if (err) return err;
    if (memcmp(begin, NY_NPY_MAGIC, NY_NPY_MAGIC_BYTES) != 0 || begin[6] < 1 || begin[6] > 3)
        return damaged(array);
    field = begin[6] == 1 ? 2 : 4;
    length = (size_t)begin[8] | (size_t)begin[9] << 8;
    if (field == 4) {
        err = ny_zip_read(array->stream, begin + 10, 2);
        if (err) return err;
        length |= (size_t)begin[10] << 16 | (size_t)begin[11] << 24;
    }
    if (length > NY_NPY_HEADER_MAX || length > array->member->bytes) return damaged(array);
    text = ny_alloc(ctx, NY_MEM_IO, length);
    if (!text) return NY_EBUDGET;
    err = ny_zip_read(array->stream, text, length);
    if (!err) ny_npy_parse(&array->header, text, length);
    ny_free(ctx, text);
    *bytes = NY_NPY_MAGIC_BYTES + 2 + field + length;
    return err;
}

int ny_npz_array_open(struct ny_npz_array *array, const struct ny_bytes *archive,
                      const struct ny_zip_member *member)
{
    bool big_endian = false;
    uint64_t bytes;
    size_t before = 0;
    int err;

    *array = (struct ny_npz_array){.archive = archive, .member = member};
    err = ny_zip_open(&array->stream, archive, member);
    if (!err) err = read_header(array, &before);
    if (err) return err;
    if (array->header.wrong || array->header.structured) return damaged(array);
    array->numeric = ny_npy_element(array->header.descr.text, &array->type, &big_endian);
    array->swap = big_endian != ny_host_is_big_endian();
    array->payload = member->bytes - before;
    if (!array->numeric) return NY_OK;
    array->count = array->header.dimensions ? array->header.rows : 1;
    if (__builtin_mul_overflow(array->count, array->header.d, &array->count) ||
        __builtin_mul_overflow(array->count, ny_element_size(array->type), &bytes) ||
        bytes != array->payload)
        return damaged(array);
    return NY_OK;
}

int ny_npz_array_read(struct ny_npz_array *array, void *to, size_t count)
{
    size_t size = ny_element_size(array->type);
    int err = ny_zip_read(array->stream, to, count * size);

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
    int err = ny_zip_finish(array->stream);

    ny_npz_array_close(array);
    return err;
}

void ny_npz_array_close(struct ny_npz_array *array)
{
    ny_zip_close(array->stream);
    array->stream = NULL;
}
