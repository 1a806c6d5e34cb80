/* Values of a store whose checksum is right: LZ4 frames, and blocks of sparse rows. */
#include "fuzz/fuzz.h"
#include "store/csr.h"

enum { MEMORY = 8 << 20, RAW_MAX = 1 << 20 };

/* Unpacks into exactly the room that the header claims. */
static void unpack(struct ny_context *ctx, struct fuzz_bytes bytes)
{
    struct ny_frame frame = {.store = 1, .number = 2, .kind = NY_KIND_POINTS,
                             .codec = NY_CODEC_LZ4};
    struct ny_decoder *decoder;
    struct ny_header header;
    char *value, *raw;

    frame.raw_bytes = fuzz_number(&bytes, 3) % RAW_MAX;
    header = ny_frame_seal(&frame, bytes.at, bytes.left);
    value = malloc(sizeof(header) + bytes.left);
    raw = malloc(frame.raw_bytes ? frame.raw_bytes : 1);
    memcpy(value, &header, sizeof(header));
    memcpy(value + sizeof(header), bytes.at, bytes.left);
    FUZZ_CHECK(ny_decoder_new(&decoder, ctx) == NY_OK);
    FUZZ_CHECK(!ny_frame_check(&frame, value, sizeof(header) + bytes.left));
    for (int twice = 0; twice < 2; twice++) /* a failure leaves the decoder usable */
        (void)ny_frame_decode(decoder, &frame, value, sizeof(header) + bytes.left, raw);
    ny_decoder_free(decoder, ctx);
    free(raw);
    free(value);
}

/* Rows and columns that are as they should be, in exactly the room that they were counted for. */
static void decode(struct fuzz_bytes bytes)
{
    struct ny_csr_image image = {.dtype = (enum ny_dtype)(NY_U8 + fuzz_number(&bytes, 1) % 4),
                                 .rows = fuzz_number(&bytes, 1),
                                 .d = 1 + fuzz_number(&bytes, 2)};
    const char *wrong;
    uint32_t *start, *index;
    void *values;
    size_t nnz;

    image.wanted = image.rows - (image.rows ? fuzz_number(&bytes, 1) % image.rows : 0);
    image.bytes = bytes.left;
    image.at = malloc(bytes.left + 1);
    memcpy(image.at, bytes.at, bytes.left);
    nnz = ny_csr_count(&image, &wrong);
    if (!wrong && image.wanted) {
        start = malloc((image.wanted + 1) * sizeof(*start));
        index = malloc(nnz * sizeof(*index) + 1);
        values = malloc(nnz * ny_dtype_size(image.dtype) + 1);
        wrong = ny_csr_decode(&image, nnz, start, index, values);
        for (size_t i = 0; !wrong && i < image.wanted; i++)
            for (uint32_t k = start[i]; k < start[i + 1]; k++)
                FUZZ_CHECK(k < nnz && index[k] < image.d &&
                           (k == start[i] || index[k] > index[k - 1]));
        free(values);
        free(index);
        free(start);
    }
    free(image.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ny_context *ctx = fuzz_context(MEMORY);
    struct fuzz_bytes bytes = {data, size};
    struct ny_frame frame = {.kind = NY_KIND_POINTS};

    (void)ny_frame_check(&frame, data, size);
    if (fuzz_number(&bytes, 1) & 1) unpack(ctx, bytes);
    else decode(bytes);
    FUZZ_CHECK(ny_memory_used(ctx) == 0);
    return 0;
}
