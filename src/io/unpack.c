/*
 * gzip for inputs (io/unpack.h), on zlib. io/bytes.c calls it for a file that begins with gzip's
 * three bytes.
 *
 * Members may follow one another, as `cat a.gz b.gz` makes them; their contents are one stream.
 * Zeros behind the last one, as tapes and block devices leave them, are passed over, as gzip does.
 * The end of the input is the end of the data only between two members: anywhere else the file is
 * truncated.
 */
#include "io/unpack.h"

#include <limits.h>
#include <string.h>

#include "base/memory.h"
#include "io/refuse.h"
#include "io/zlib.h"

enum { PACKED_BYTES = 256 * 1024, GZIP_ONLY = 16 + MAX_WBITS };

struct ny_unpacker {
    struct ny_unpack_input input;
    z_stream z;
    bool between; /* members: the end of the input is the end of the data here */
    bool padded;  /* zeros came behind a member: there is no other */
    unsigned char packed[PACKED_BYTES];
};

int ny_unpack_begin(struct ny_unpacker **out, const struct ny_unpack_input *input, const void *head,
                    size_t head_bytes)
{
    struct ny_unpacker *unpacker = ny_alloc(input->ctx, NY_MEM_IO, sizeof(*unpacker));

    *out = NULL;
    if (!unpacker) return NY_EBUDGET;
    if (head_bytes > PACKED_BYTES) {
        ny_free(input->ctx, unpacker);
        return NY_BUG(input->ctx);
    }
    unpacker->input = *input;
    unpacker->between = unpacker->padded = false;
    unpacker->z = ny_zlib_stream(input->ctx);
    memcpy(unpacker->packed, head, head_bytes);
    unpacker->z.next_in = unpacker->packed;
    unpacker->z.avail_in = (unsigned)head_bytes;
    if (inflateInit2(&unpacker->z, GZIP_ONLY) != Z_OK) {
        ny_free(input->ctx, unpacker);
        return ny_fail_memory(input->ctx);
    }
    *out = unpacker;
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

/* Passes over zeros between two members, of which only more zeros may follow. */
static void pass_zeros(struct ny_unpacker *unpacker)
{
    z_stream *z = &unpacker->z;

    if (!unpacker->between) return;
    for (; z->avail_in > 0 && *z->next_in == 0; z->avail_in--, z->next_in++)
        unpacker->padded = true;
}

int ny_unpack(struct ny_unpacker *unpacker, void *to, size_t wanted, size_t *got)
{
    z_stream *z = &unpacker->z;
    const unsigned room = wanted < INT_MAX ? (unsigned)wanted : INT_MAX;

    z->next_out = to;
    z->avail_out = room;
    while (z->avail_out == room) {
        if (z->avail_in == 0) {
            size_t count = 0;
            int err =
                unpacker->input.read(unpacker->input.user, unpacker->packed, PACKED_BYTES, &count);

            if (err) return err;
            z->next_in = unpacker->packed;
            z->avail_in = (unsigned)count;
            if (count == 0 && unpacker->between) break;
            if (count == 0) return damaged(unpacker);
        }
        pass_zeros(unpacker);
        if (unpacker->padded && z->avail_in == 0) continue;
        if (unpacker->padded) return damaged(unpacker);
        switch (inflate(z, Z_NO_FLUSH)) {
        case Z_OK:
        case Z_BUF_ERROR:
            unpacker->between = false;
            break;
        case Z_STREAM_END:
            inflateReset(z);
            unpacker->between = true;
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
