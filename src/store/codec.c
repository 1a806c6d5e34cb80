/*
 * Frames: the 32-byte header around every value of a store (store/format.h), and LZ4 inside it, or
 * the two bits of a genotype.
 *
 * Imports and write transactions seal and pack (store/ingest_pack.c, store/write.c); views check
 * and decode (store/view.c). Packing keeps the LZ4 frame only where it saves a quarter of the
 * bytes, and does not even try where three samples of 16 KiB shrink by less than a tenth. Floats
 * mostly do not shrink, and a block that is not packed is read with one copy.
 *
 * Functions that find damage set no error: they return the end of a sentence ("its checksum is
 * wrong"), which the caller completes with the name of the block or chunk. A decoder is charged
 * with 576 KiB and takes its buffers when it is made, so that a later refusal of memory is not
 * taken for damage.
 */
#include "store/codec.h"

#include <lz4frame.h>
#include <string.h>

#include "base/checksum.h"
#include "base/memory.h"
#include "store/store.h"

/* Blocks of 256 KiB: the decoder then writes all but the last straight to its target, and needs
 * little room of its own (twice one block, and its state). */
enum { LZ4_BLOCK = 256 << 10, DECODER_BYTES = 2 * LZ4_BLOCK + (64 << 10) };
_Static_assert((size_t)DECODER_BYTES < NY_READING_BYTES, "a plan counts them");
enum { SAMPLE_BYTES = 16 << 10, SAMPLES = 3 };
enum { ROWS_BITS = 24, CODEC_BITS = 4 };
enum { CRUMBS = 4 }; /* values of two bits in a byte */

/* Computes the checksum with the header's own checksum field taken as zero. */
static uint64_t checksum_of(const struct ny_header *header, const void *stored, size_t bytes)
{
    struct {
        struct ny_header header;
        uint64_t content;
    } whole = {.header = *header, .content = ny_checksum(stored, bytes)};

    whole.header.checksum = 0;
    return ny_checksum(&whole, sizeof(whole));
}

struct ny_header ny_frame_seal(const struct ny_frame *frame, const void *stored, size_t bytes)
{
    struct ny_header header = {.store = frame->store,
                               .number = frame->number,
                               .raw_bytes = frame->raw_bytes,
                               .packed = frame->rows | (uint32_t)frame->codec << ROWS_BITS |
                                         (uint32_t)frame->kind << (ROWS_BITS + CODEC_BITS)};

    header.checksum = checksum_of(&header, stored, bytes);
    return header;
}

const char *ny_frame_check(struct ny_frame *frame, const void *value, size_t bytes)
{
    struct ny_header header;
    const char *stored = (const char *)value + sizeof(header);

    if (bytes < sizeof(header)) return "it is too short";
    memcpy(&header, value, sizeof(header)); /* small values lie on 2-byte boundaries */
    bytes -= sizeof(header);
    if (checksum_of(&header, stored, bytes) != header.checksum) return "its checksum is wrong";
    if (header.store != frame->store) return "it belongs to another store";
    if (header.packed >> (ROWS_BITS + CODEC_BITS) != (uint32_t)frame->kind)
        return "it is of another kind";
    if (header.number != frame->number) return "it belongs in another place";
    frame->raw_bytes = header.raw_bytes;
    frame->rows = header.packed & ((1u << ROWS_BITS) - 1);
    frame->codec = (enum ny_codec)(header.packed >> ROWS_BITS & ((1u << CODEC_BITS) - 1));
    if ((frame->codec == NY_CODEC_RAW && header.raw_bytes != bytes) ||
        (frame->codec == NY_CODEC_CRUMBS &&
         ((size_t)header.raw_bytes + CRUMBS - 1) / CRUMBS != bytes))
        return "its size is wrong";
    if (frame->codec > NY_CODEC_CRUMBS) return "it is packed in an unknown way";
    return NULL;
}

/* Asks for independent blocks of 256 KiB, and for the raw size in the frame. */
static LZ4F_preferences_t preferences(size_t raw_bytes)
{
    return (LZ4F_preferences_t){.frameInfo = {.blockSizeID = LZ4F_max256KB,
                                              .blockMode = LZ4F_blockIndependent,
                                              .contentSize = raw_bytes}};
}

size_t ny_lz4_room(size_t raw_bytes)
{
    LZ4F_preferences_t prefs = preferences(raw_bytes);

    return LZ4F_compressFrameBound(raw_bytes, &prefs);
}

/* Packs three samples, which costs a twentieth of packing the block: nine tenths of their size, or
 * more, means noise (floats mostly). */
static bool looks_random(const char *raw, size_t raw_bytes, void *out, size_t room)
{
    LZ4F_preferences_t prefs = preferences(SAMPLE_BYTES);
    size_t packed = 0;

    if (raw_bytes < (size_t)2 * SAMPLES * SAMPLE_BYTES) return false;
    for (size_t i = 0; i < SAMPLES; i++) {
        const char *sample = raw + (raw_bytes - SAMPLE_BYTES) / (SAMPLES - 1) * i;
        size_t bytes = LZ4F_compressFrame(out, room, sample, SAMPLE_BYTES, &prefs);

        if (LZ4F_isError(bytes)) return true;
        packed += bytes;
    }
    return packed > (size_t)SAMPLES * SAMPLE_BYTES / 10 * 9;
}

/* Compresses, unless a sample says that it is of no use; returns the bytes written to `out`
 * (ny_lz4_room()), or 0 where the raw bytes are to be kept. */
static size_t lz4_pack(const void *raw, size_t raw_bytes, void *out)
{
    LZ4F_preferences_t prefs = preferences(raw_bytes);
    size_t room = ny_lz4_room(raw_bytes), packed;

    if (looks_random(raw, raw_bytes, out, room)) return 0;
    packed = LZ4F_compressFrame(out, room, raw, raw_bytes, &prefs);
    if (LZ4F_isError(packed) || packed > raw_bytes - raw_bytes / 4) return 0;
    return packed;
}

/* Packs bytes of 0 to 3 four to a byte, the first in the lowest bits. */
static size_t pack_crumbs(const uint8_t *raw, size_t raw_bytes, uint8_t *out)
{
    size_t whole = raw_bytes / CRUMBS;

    for (size_t i = 0; i < whole; i++)
        out[i] =
            (uint8_t)(raw[4 * i] | raw[4 * i + 1] << 2 | raw[4 * i + 2] << 4 | raw[4 * i + 3] << 6);
    if (raw_bytes % CRUMBS) out[whole] = 0;
    for (size_t k = 0; k < raw_bytes % CRUMBS; k++)
        out[whole] |= (uint8_t)(raw[CRUMBS * whole + k] << 2 * k);
    return whole + (raw_bytes % CRUMBS > 0);
}

struct ny_packed ny_frame_pack_crumbs(struct ny_frame *frame, const void *raw, void *room)
{
    struct ny_packed packed = {.stored = room};

    frame->codec = NY_CODEC_CRUMBS;
    packed.bytes = pack_crumbs(raw, frame->raw_bytes, room);
    packed.header = ny_frame_seal(frame, packed.stored, packed.bytes);
    return packed;
}

struct ny_packed ny_frame_pack(struct ny_frame *frame, const void *raw, void *room)
{
    size_t bytes = room ? lz4_pack(raw, frame->raw_bytes, room) : 0;
    struct ny_packed packed = {.stored = raw, .bytes = frame->raw_bytes};

    if (bytes > 0) {
        frame->codec = NY_CODEC_LZ4;
        packed.stored = room;
        packed.bytes = bytes;
    }
    packed.header = ny_frame_seal(frame, packed.stored, packed.bytes);
    return packed;
}

struct ny_decoder {
    LZ4F_dctx *lz4;
};

/* An empty frame of independent 256-KiB blocks. The decoder takes its buffers when it sees the
 * first frame of that kind: now, so that a refusal is not taken for damage later. */
static bool take_buffers(LZ4F_dctx *lz4)
{
    static const unsigned char empty[] = {0x04, 0x22, 0x4d, 0x18, 0x60, 0x50, 0xfb, 0, 0, 0, 0};
    size_t source = sizeof(empty), target = 0;

    return LZ4F_decompress(lz4, NULL, &target, empty, &source, NULL) == 0;
}

int ny_decoder_new(struct ny_decoder **out, struct ny_context *ctx)
{
    struct ny_decoder *decoder = ny_calloc(ctx, NY_MEM_STORE, 1, sizeof(*decoder));
    int err = NY_EBUDGET;

    *out = NULL;
    if (!decoder) goto done;
    err = ny_reserve(ctx, NY_MEM_STORE, DECODER_BYTES);
    if (err) goto done;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&decoder->lz4, LZ4F_VERSION)) ||
        !take_buffers(decoder->lz4)) {
        LZ4F_freeDecompressionContext(decoder->lz4);
        ny_unreserve(ctx, NY_MEM_STORE, DECODER_BYTES);
        err = ny_fail_memory(ctx);
        goto done;
    }
    *out = decoder;
    decoder = NULL;
done:
    ny_free(ctx, decoder);
    return err;
}

void ny_decoder_free(struct ny_decoder *decoder, struct ny_context *ctx)
{
    if (!decoder) return;
    LZ4F_freeDecompressionContext(decoder->lz4);
    ny_unreserve(ctx, NY_MEM_STORE, DECODER_BYTES);
    ny_free(ctx, decoder);
}

/* Decompresses one LZ4 frame that must fill `room` exactly and end where the bytes end. */
static const char *unpack(LZ4F_dctx *lz4, const char *stored, size_t bytes, char *raw, size_t room)
{
    const LZ4F_decompressOptions_t options = {.stableDst = 1};
    size_t taken = 0, made = 0, hint = 1;

    LZ4F_resetDecompressionContext(lz4);
    while (hint != 0) {
        size_t source = bytes - taken, target = room - made;

        hint = LZ4F_decompress(lz4, raw + made, &target, stored + taken, &source, &options);
        if (LZ4F_isError(hint) || (source == 0 && target == 0)) return "it does not decompress";
        taken += source;
        made += target;
    }
    return taken == bytes && made == room ? NULL : "it decompresses to another size";
}

/* Spreads the four crumbs of each byte over four bytes. */
static void unpack_crumbs(const uint8_t *stored, uint8_t *raw, size_t raw_bytes)
{
    size_t whole = raw_bytes / CRUMBS;

    for (size_t i = 0; i < whole; i++) {
        uint32_t four = stored[i];

        four = (four | four << 12) & 0x000f000fu;
        four = (four | four << 6) & 0x03030303u;
        memcpy(raw + CRUMBS * i, &four, sizeof(four));
    }
    for (size_t k = CRUMBS * whole; k < raw_bytes; k++)
        raw[k] = stored[whole] >> 2 * (k % CRUMBS) & 3;
}

const char *ny_frame_decode(struct ny_decoder *decoder, const struct ny_frame *frame,
                            const void *value, size_t bytes, void *raw)
{
    const char *stored = (const char *)value + sizeof(struct ny_header);

    if (frame->codec == NY_CODEC_LZ4)
        return unpack(decoder->lz4, stored, bytes - sizeof(struct ny_header), raw,
                      frame->raw_bytes);
    if (frame->codec == NY_CODEC_CRUMBS)
        unpack_crumbs((const uint8_t *)stored, raw, frame->raw_bytes);
    else
        memcpy(raw, stored, frame->raw_bytes);
    return NULL;
}
