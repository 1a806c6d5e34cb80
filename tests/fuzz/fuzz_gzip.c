/* gzip: bytes taken for compressed ones, and bytes compressed here in members of some lengths, which
 * must read as they do uncompressed. */
#include <zlib.h>

#include "fuzz/fuzz_reader.h"

enum { ROOM = 1 << 16, HEAD = 10 };

static const struct ny_reader_options options = {.format = "csv", .nan_drop = true};

static int read_bytes(const uint8_t *data, size_t size)
{
    char path[32];
    int fd = fuzz_input(data, size, false, path), status = fuzz_path(path, &options);

    close(fd);
    return status;
}

/* One member; returns its bytes. */
static size_t compress_member(const uint8_t *data, size_t size, uint8_t *out, size_t room)
{
    z_stream z = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (unsigned)size};

    FUZZ_CHECK(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
    z.next_out = out;
    z.avail_out = (unsigned)room;
    FUZZ_CHECK(deflate(&z, Z_FINISH) == Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t head[HEAD] = {0x1f, 0x8b, 8};
    static uint8_t packed[ROOM];
    size_t members = size ? 1 + data[0] % 3 : 1, used = 0;

    if (size > ROOM / 4) return 0;
    memcpy(packed, head, HEAD);
    memcpy(packed + HEAD, data, size);
    (void)read_bytes(packed, HEAD + size);
    (void)read_bytes(data, size);
    for (size_t i = 0; i < members; i++) {
        size_t from = size * i / members, to = size * (i + 1) / members;

        used += compress_member(data + from, to - from, packed + used, ROOM - used);
    }
    FUZZ_CHECK(read_bytes(packed, used) == read_bytes(data, size) ||
               (size >= 3 && memcmp(data, head, 3) == 0)); /* that would be unpacked once only */
    return 0;
}
