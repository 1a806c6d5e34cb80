/*
 * NumPy's array files, versions 1.0 to 3.0 (numpy.lib.format): the header is found and judged here,
 * and parsed by io/npy_header.c; the rows are read by io/binary.c.
 *
 * Arrays in Fortran order are read by seeking (io/turned.h), and so not from a pipe. A header has
 * at most 128 KiB; it may claim any shape, which io/binary.c compares with the size of the file.
 */
#include "io/binary.h"

#include <string.h>

#include "io/npy_header.h"
#include "io/refuse.h"

/* Recognises the first six bytes. */
static enum ny_guess probe(const char *head, size_t length)
{
    return length >= NY_NPY_MAGIC_BYTES && memcmp(head, NY_NPY_MAGIC, NY_NPY_MAGIC_BYTES) == 0
               ? NY_GUESS_SURE
               : NY_GUESS_NO;
}

/* Places bytes->at on the header's text and gives its length. */
static int preamble(struct ny_reader *reader, size_t *length)
{
    struct ny_bytes *bytes = reader->bytes;
    const unsigned char *p;
    size_t field, have;
    int err = ny_bytes_need(bytes, NY_NPY_MAGIC_BYTES + 6);

    if (err) return err;
    p = (const unsigned char *)bytes->at;
    have = (size_t)(bytes->end - bytes->at);
    if (probe(bytes->at, have) == NY_GUESS_NO)
        return ny_refuse_format(reader->ctx, reader->path, "npy");
    if (have < NY_NPY_MAGIC_BYTES + 6 || p[6] < 1 || p[6] > 3 || p[7] != 0)
        return ny_refuse_damaged(reader->ctx, reader->path, NY_NO_LINE);
    field = p[6] == 1 ? 2 : 4;
    *length = (size_t)p[8] | (size_t)p[9] << 8;
    if (field == 4) *length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (*length > NY_NPY_HEADER_MAX)
        return ny_refuse_damaged(reader->ctx, reader->path, NY_NO_LINE);
    bytes->at += NY_NPY_MAGIC_BYTES + 2 + field;
    err = ny_bytes_need(bytes, *length);
    if (!err && (size_t)(bytes->end - bytes->at) < *length)
        err = ny_refuse_damaged(reader->ctx, reader->path, NY_NO_LINE);
    return err;
}

/* Turns the header into the layout of rows, or refuses the array and says how to save it. */
static int layout_of(struct ny_reader *reader, const struct ny_npy_header *header,
                     struct ny_binary_layout *layout)
{
    if (header->wrong) return ny_refuse_damaged(reader->ctx, reader->path, NY_NO_LINE);
    *layout = (struct ny_binary_layout){.rows = header->rows, .d = header->d};
    if (header->structured ||
        !ny_npy_element(header->descr.text, &layout->type, &layout->big_endian))
        return ny_refuse_dtype(reader->ctx, reader->path);
    if (header->dimensions == 0) return ny_refuse_empty(reader->ctx, reader->path);
    if (!header->fortran || header->rows < 2 || header->d < 2) return NY_OK;
    if (header->dimensions > 2)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s is in Fortran order; save it with numpy.ascontiguousarray(a)",
                          reader->path);
    if (ny_bytes_left(reader->bytes) == NY_BYTES_UNKNOWN)
        return ny_refuse_pipe(reader->ctx, NY_EDATA, reader->path);
    layout->by_columns = true;
    return NY_OK;
}

/* Reads the header and leaves bytes->at at the data. A header of blanks at the end is usual, as
 * NumPy pads it to 64 bytes. */
static int open_npy(struct ny_reader *reader)
{
    struct ny_binary_layout layout;
    struct ny_npy_header header;
    size_t length = 0;
    int err = preamble(reader, &length);

    if (err) return err;
    ny_npy_parse(&header, reader->bytes->at, length);
    reader->bytes->at += length;
    err = layout_of(reader, &header, &layout);
    return err ? err : ny_binary_open(reader, &layout);
}

const struct ny_format ny_format_npy = {.probe = probe, .open = open_npy, NY_BINARY_FORMAT};
