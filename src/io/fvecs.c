/* fvecs and bvecs (Jégou et al.'s corpora): each row an int32 d and d floats or bytes, all
 * little-endian. Nothing in the bytes tells them from others: the file name does. */
#include "io/binary.h"

static int open_vectors(struct ny_reader *reader, enum ny_element_type type)
{
    struct ny_binary_layout layout = {.type = type, .prefixed = true, .rows = NY_ROWS_UNKNOWN};
    struct ny_bytes *bytes = reader->bytes;
    int err = ny_bytes_must(bytes, sizeof(int32_t));

    if (err) return err;
    layout.d = ny_low_first(bytes->at, sizeof(int32_t));
    return ny_binary_open(reader, &layout);
}

static int open_fvecs(struct ny_reader *reader)
{
    return open_vectors(reader, NY_E_F4);
}

static int open_bvecs(struct ny_reader *reader)
{
    return open_vectors(reader, NY_E_U1);
}

const struct ny_format ny_format_fvecs = {.open = open_fvecs, NY_BINARY_FORMAT};

const struct ny_format ny_format_bvecs = {.open = open_bvecs, NY_BINARY_FORMAT};
