/* gzip for outputs (io/pack.h), on zlib. io/writer.c packs a .csv.gz with it. Packed bytes go to
 * the caller's `write` in pieces of up to 64 KiB. zlib's own memory is allocated from the budget,
 * so that it is counted like any other. */
#include "io/pack.h"

#include <limits.h>

#include "base/memory.h"
#include "io/zlib.h"

enum { PACKED_BYTES = 64 * 1024, GZIP_ONLY = 16 + MAX_WBITS, MEMORY_LEVEL = 8 };

/* State of one gzip member; `packed` is the piece on its way to the caller. */
struct ny_packer {
    struct ny_pack_output output;
    z_stream z;
    unsigned char packed[PACKED_BYTES];
};

int ny_pack_begin(struct ny_packer **out, const struct ny_pack_output *output)
{
    struct ny_packer *packer = ny_calloc(output->ctx, NY_MEM_IO, 1, sizeof(*packer));

    *out = NULL;
    if (!packer) return NY_EBUDGET;
    packer->output = *output;
    packer->z = ny_zlib_stream(output->ctx);
    if (deflateInit2(&packer->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_ONLY, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
        ny_free(output->ctx, packer);
        return ny_fail_memory(output->ctx);
    }
    *out = packer;
    return NY_OK;
}

void ny_pack_end(struct ny_packer *packer)
{
    if (!packer) return;
    deflateEnd(&packer->z);
    ny_free(packer->output.ctx, packer);
}

/* Deflates what is in z->next_in; with Z_FINISH all that zlib still holds, too. */
static int drain(struct ny_packer *packer, int how)
{
    z_stream *z = &packer->z;
    int err = NY_OK;

    do {
        z->next_out = packer->packed;
        z->avail_out = PACKED_BYTES;
        if (deflate(z, how) == Z_STREAM_ERROR) return NY_BUG(packer->output.ctx);
        err = packer->output.write(packer->output.user, (char *)packer->packed,
                                   PACKED_BYTES - z->avail_out);
    } while (!err && z->avail_out == 0);
    return err;
}

int ny_pack(struct ny_packer *packer, const char *data, size_t bytes)
{
    int err = NY_OK;

    while (bytes > 0 && !err) {
        unsigned count = bytes < INT_MAX ? (unsigned)bytes : INT_MAX;

        packer->z.next_in = (unsigned char *)(uintptr_t)data;
        packer->z.avail_in = count;
        err = drain(packer, Z_NO_FLUSH);
        data += count;
        bytes -= count;
    }
    return err;
}

int ny_pack_finish(struct ny_packer *packer)
{
    packer->z.next_in = NULL;
    packer->z.avail_in = 0;
    return drain(packer, Z_FINISH);
}
