/*
 * NumPy's array files: the header is read by io/npy_header.c and judged here; the rows are read by
 * io/binary.c.
 *
 * Arrays in Fortran order are read by seeking (io/turned.h), and so not from a pipe. A header has
 * at most 128 KiB; it may claim any shape, which io/binary.c compares with the size of the file.
 */
#include "io/binary.h"
#include "io/npy_header.h"
#include "io/refuse.h"

static enum ny_guess probe(const char *head, size_t length)
{
    return ny_npy_begins(head, length) ? NY_GUESS_SURE : NY_GUESS_NO;
}

/* Turns the header into the layout of rows, or refuses the array and says how to save it. */
static int layout_of(struct ny_reader *reader, const struct ny_npy_header *header,
                     struct ny_binary_layout *layout)
{
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

static int open_npy(struct ny_reader *reader)
{
    struct ny_bytes *bytes = reader->bytes;
    struct ny_binary_layout layout;
    struct ny_npy_header header;
    int err = ny_bytes_need(bytes, NY_PROBE_BYTES);

    if (err) return err;
    if (!ny_npy_begins(bytes->at, (size_t)(bytes->end - bytes->at)))
        return ny_refuse_format(reader->ctx, reader->path, "npy");
    err = ny_npy_read_header(bytes, &header);
    if (!err) err = layout_of(reader, &header, &layout);
    return err ? err : ny_binary_open(reader, &layout);
}

const struct ny_format ny_format_npy = {.probe = probe, .open = open_npy, NY_BINARY_FORMAT};
