/*
 * IDX, the format of MNIST: two bytes 0, a code of the type, the number of dimensions, then their
 * sizes, 4 bytes each, and the values, all big-endian. The first size is the number of rows, and
 * the product of the others is d: 60000 × 28 × 28 is read as 60,000 rows of 784. io/binary.c
 * compares that with the size of the file, and reads the rows.
 */
#include "io/binary.h"
#include "io/refuse.h"

enum { MAGIC_BYTES = 4, SIZE_BYTES = 4 };

/* Finds the type of a code in the third byte; false: IDX has no such type. */
static bool element_of(unsigned char code, enum ny_element_type *type)
{
    static const struct {
        unsigned char code;
        enum ny_element_type type;
    } codes[] = {{0x08, NY_E_U1}, {0x09, NY_E_I1}, {0x0b, NY_E_I2},
                 {0x0c, NY_E_I4}, {0x0d, NY_E_F4}, {0x0e, NY_E_F8}};

    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
        if (codes[i].code == code) {
            *type = codes[i].type;
            return true;
        }
    return false;
}

/* Four bytes are enough to be sure: two are 0, a code is one of six, and there is a dimension. */
static enum ny_guess probe(const char *head, size_t length)
{
    enum ny_element_type type;

    return length >= MAGIC_BYTES && head[0] == 0 && head[1] == 0 && head[3] != 0 &&
                   element_of((unsigned char)head[2], &type)
               ? NY_GUESS_SURE
               : NY_GUESS_NO;
}

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Reads the header and leaves bytes->at at the first value. */
static int open_idx(struct ny_reader *reader)
{
    struct ny_binary_layout layout = {.big_endian = true, .d = 1};
    struct ny_bytes *bytes = reader->bytes;
    const unsigned char *p;
    size_t dimensions, header;
    int err = ny_bytes_need(bytes, MAGIC_BYTES);

    if (err) return err;
    p = (const unsigned char *)bytes->at;
    if (probe(bytes->at, (size_t)(bytes->end - bytes->at)) == NY_GUESS_NO)
        return ny_refuse_format(reader->ctx, reader->path, "idx");
    (void)element_of(p[2], &layout.type);
    dimensions = p[3];
    header = MAGIC_BYTES + SIZE_BYTES * dimensions;
    err = ny_bytes_must(bytes, header);
    if (err) return err;
    p = (const unsigned char *)bytes->at;
    layout.rows = big_endian(p + MAGIC_BYTES);
    for (size_t i = 1; i < dimensions; i++)
        if (__builtin_mul_overflow(layout.d, big_endian(p + MAGIC_BYTES + SIZE_BYTES * i),
                                   &layout.d))
            layout.d = UINT64_MAX;
    bytes->at += header;
    return ny_binary_open(reader, &layout);
}

const struct ny_format ny_format_idx = {.probe = probe, .open = open_idx, NY_BINARY_FORMAT};
