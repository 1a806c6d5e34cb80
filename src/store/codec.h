/* Frames: sealing, checking and decoding of values (store/format.h). */
#ifndef NY_STORE_CODEC_H
#define NY_STORE_CODEC_H

#include <stdbool.h>
#include <stddef.h>

#include "base/context.h"
#include "store/format.h"

/* The unpacked header of a frame. */
struct ny_frame {
    uint64_t store, number;
    uint32_t raw_bytes, rows;
    enum ny_codec codec;
    enum ny_kind kind;
};

/* The header of a frame around `stored`, checksum included. */
struct ny_header ny_frame_seal(const struct ny_frame *frame, const void *stored, size_t bytes);

/* Checks a value against what it must be — store, number, kind — and its checksum; fills the other
 * fields of *frame. NULL when all is well, else what is wrong, as the end of a sentence. */
const char *ny_frame_check(struct ny_frame *frame, const void *value, size_t bytes);

/* The largest compressed size that is worth keeping, and the room that compressing takes. */
size_t ny_lz4_room(size_t raw_bytes);

/* A value ready to be put: what is stored lies in the raw bytes, or in the room for packing. */
struct ny_packed {
    struct ny_header header;
    const void *stored;
    size_t bytes;
};
/* Seals a frame around frame->raw_bytes bytes, compressed into `room` (ny_lz4_room()) where that
 * pays, which frame->codec then says; NULL: as they are. */
struct ny_packed ny_frame_pack(struct ny_frame *frame, const void *raw, void *room);

/* Likewise around bytes that are 0 to 3, which take two bits each in the room. */
struct ny_packed ny_frame_pack_crumbs(struct ny_frame *frame, const void *raw, void *room);

/* Reusable state of the decoder, one a thread. */
struct ny_decoder;
/* Makes a decoder and reserves its 576 KiB. NY_EBUDGET, and *out = NULL, where they do not fit. */
int ny_decoder_new(struct ny_decoder **out, struct ny_context *ctx);
/* Frees the decoder, which may be NULL, and what it has reserved. */
void ny_decoder_free(struct ny_decoder *decoder, struct ny_context *ctx);
/* Decodes a value that passed ny_frame_check() into raw_bytes bytes at `raw`; NULL, or what is
 * wrong. */
const char *ny_frame_decode(struct ny_decoder *decoder, const struct ny_frame *frame,
                            const void *value, size_t bytes, void *raw);

#endif
