/*
 * NumPy's array files, versions 1.0 to 3.0 (numpy.lib.format): the header is found and judged here,
 * and parsed by io/npy_header.c; the rows are read by io/binary.c.
 *
 * Arrays that are no table of numbers (structured, of complex numbers) are refused with the line of
 * NumPy that makes one of them. Those in Fortran order are read by seeking (io/turned.h), and so
 * not from a pipe. A header has at most 128 KiB; it may claim
 * any shape, which io/binary.c compares with the size of the file.
 */
#include "io/binary.h"

#include <string.h>

#include "io/npy_header.h"

/* Recognises the first six bytes. */
static enum ny_guess probe(const char *head, size_t length)
{
    return length >= NY_NPY_MAGIC_BYTES && memcmp(head, NY_NPY_MAGIC, NY_NPY_MAGIC_BYTES) == 0
               ? NY_GUESS_SURE
               : NY_GUESS_NO;
}

/* Fails with what is wrong and how to mend it. */
static int fail(struct ny_reader *reader, const char *what, const char *cure)
{
    return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE, "%s: %s; %s", reader->path,
                      what, cure);
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
        return fail(reader, "it does not begin like an npy file (\\x93NUMPY)",
                    "give the right --format");
    if (have < NY_NPY_MAGIC_BYTES + 6)
        return fail(reader, "it ends inside the npy header", "the file is truncated");
    if (p[6] < 1 || p[6] > 3 || p[7] != 0)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s: npy version %d.%d is not known; versions 1.0, 2.0 and 3.0 are",
                          reader->path, p[6], p[7]);
    field = p[6] == 1 ? 2 : 4;
    *length = (size_t)p[8] | (size_t)p[9] << 8;
    if (field == 4) *length |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (*length > NY_NPY_HEADER_MAX)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s: the npy header claims %zu bytes, the most is %d; is it damaged?",
                          reader->path, *length, NY_NPY_HEADER_MAX);
    bytes->at += NY_NPY_MAGIC_BYTES + 2 + field;
    err = ny_bytes_need(bytes, *length);
    if (!err && (size_t)(bytes->end - bytes->at) < *length)
        err = fail(reader, "it ends inside the npy header", "the file is truncated");
    return err;
}

/* Turns the header into the layout of rows, or refuses the array and says how to save it. */
static int layout_of(struct ny_reader *reader, const struct ny_npy_header *header,
                     struct ny_binary_layout *layout)
{
    if (header->structured)
        return fail(reader, "it is a structured array, of several fields",
                    "save them as columns of one type "
                    "(numpy.lib.recfunctions.structured_to_unstructured)");
    if (header->wrong)
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s: the npy header is malformed, it should hold %s; is it damaged?",
                          reader->path, header->wrong);
    *layout = (struct ny_binary_layout){.rows = header->rows, .d = header->d};
    if (!ny_npy_element(header->descr.text, &layout->type, &layout->big_endian))
        return ny_fail_at(reader->ctx, NY_EDATA, reader->path, NY_NO_LINE,
                          "%s holds elements of dtype '%s'; save it as one of bool, (u)int8 … "
                          "(u)int64, float16, float32, float64%s",
                          reader->path, header->descr.text,
                          strchr(header->descr.text, 'c') ? ", such as a.view(a.real.dtype)" : "");
    if (header->dimensions == 0)
        return fail(reader, "it holds a single number (shape ())",
                    "a table needs one dimension at least");
    if (!header->fortran || header->rows < 2 || header->d < 2) return NY_OK;
    if (header->dimensions > 2)
        return fail(reader, "it is in Fortran order and has more than two dimensions",
                    "save it with numpy.ascontiguousarray(a)");
    if (ny_bytes_left(reader->bytes) == NY_BYTES_UNKNOWN)
        return fail(reader,
                    "it is in Fortran order, column after column, which cannot be read from a pipe "
                    "or a packed file",
                    "give the file itself, unpacked, or save it with numpy.ascontiguousarray(a)");
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
