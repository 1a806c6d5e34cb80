/*
 * gzip and deflate for inputs (io/unpack.h), on zlib. io/bytes.c calls it for a file that begins
 * with gzip's three bytes, and for a deflated part of a file.
 *
 * Members of gzip may follow one another, as `cat a.gz b.gz` makes them; their contents are one
 * stream. The end of the input is the end of the data only between two members: anywhere else the
 * file is truncated.
 */
#include "io/unpack.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "io/refuse.h"
#include "io/zlib.h"

enum { PACKED_BYTES = 256 * 1024, PART_PACKED_BYTES = 64 * 1024, GZIP_ONLY = 16 + MAX_WBITS };

struct ny_unpacker {
    struct ny_unpack_input input;
    z_stream z;
    bool gzip;    /* in members, one behind another; else one deflated stream */
    bool between; /* members: the end of the input is the end of the data here */
    bool ended;   /* the deflated stream has */
    size_t room;
    unsigned char packed[];
};

/* Makes an unpacker that has read nothing yet. */
static int begin(struct ny_unpacker **out, const struct ny_unpack_input *input, bool gzip)
{
    size_t room = gzip ? PACKED_BYTES : PART_PACKED_BYTES;
    struct ny_unpacker *unpacker = ny_alloc(input->ctx, NY_MEM_IO, sizeof(*unpacker) + room);

    *out = NULL;
    if (!unpacker) return NY_EBUDGET;
    *unpacker = (struct ny_unpacker){
        .input = *input, .z = ny_zlib_stream(input->ctx), .gzip = gzip, .room = room};
    if (inflateInit2(&unpacker->z, gzip ? GZIP_ONLY : -MAX_WBITS) != Z_OK) {
        ny_free(input->ctx, unpacker);
        return ny_fail_memory(input->ctx);
    }
    *out = unpacker;
    return NY_OK;
}

int ny_inflate_begin(struct ny_unpacker **out, const struct ny_unpack_input *input)
{
    return begin(out, input, false);
}

int ny_unpack_begin(struct ny_unpacker **out, const struct ny_unpack_input *input, const void *head,
                    size_t head_bytes)
{
    int err = begin(out, input, true);

    if (err) return err;
    if (head_bytes > (*out)->room) return NY_BUG(input->ctx);
    memcpy((*out)->packed, head, head_bytes);
    (*out)->z.next_in = (*out)->packed;
    (*out)->z.avail_in = (unsigned)head_bytes;
    return NY_OK;
}

void ny_unpack_end(struct ny_unpacker *unpacker)
{
    if (!unpacker) return;
    inflateEnd(&unpacker->z);
    ny_free(unpacker->input.ctx, unpacker);
}

static int damaged(const struct ny_unpacker *unpacker)
{
    return ny_refuse_damaged(unpacker->input.ctx, unpacker->input.path, NY_NO_LINE);
}

int ny_unpack(struct ny_unpacker *unpacker, void *to, size_t wanted, size_t *got)
{
    z_stream *z = &unpacker->z;
    const unsigned room = wanted < INT_MAX ? (unsigned)wanted : INT_MAX;

    z->next_out = to;
    z->avail_out = room;
    while (z->avail_out == room && !unpacker->ended) {
        if (z->avail_in == 0) {
            size_t count = 0;
            int err = unpacker->input.read(unpacker->input.user, unpacker->packed, unpacker->room,
                                           &count);

            if (err) return err;
            z->next_in = unpacker->packed;
            z->avail_in = (unsigned)count;
            if (count == 0 && unpacker->between) break;
            if (count == 0) return damaged(unpacker);
        }
        switch (inflate(z, Z_NO_FLUSH)) {
        case Z_OK:
        case Z_BUF_ERROR:
            unpacker->between = false;
            break;
        case Z_STREAM_END:
            unpacker->ended = !unpacker->gzip;
            unpacker->between = true;
            if (unpacker->gzip) inflateReset(z);
            break;
        case Z_MEM_ERROR:
            return ny_fail_memory(unpacker->input.ctx);
        default:
            return damaged(unpacker);
        }
    }
    *got = room - z->avail_out;
    return NY_OK;
}
