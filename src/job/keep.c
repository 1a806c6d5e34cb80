#include "job/keep.h"

#include "base/checksum.h"
#include "base/memory.h"

size_t ny_dirty_bytes_max(size_t limit)
{
    const size_t most = (size_t)64 << 20;

    return limit / 8 < most ? limit / 8 : most;
}

size_t ny_batch_bytes_max(size_t limit)
{
    size_t bytes = ny_dirty_bytes_max(limit);

    return bytes > NY_CHUNK_BYTES ? bytes : NY_CHUNK_BYTES;
}

void ny_batch_count(struct ny_layout *l, enum ny_purpose purpose, size_t limit, size_t bytes)
{
    size_t chunks = (bytes / NY_CHUNK_BYTES + 1) * NY_CHUNK_BYTES, most = ny_batch_bytes_max(limit);

    ny_layout_add(l, purpose, chunks < most ? chunks : most);
}

static const void *piece_of_memory(const void *arg, size_t at, size_t count)
{
    (void)count;
    return (const char *)arg + at;
}

struct ny_pieces ny_pieces_of(const void *data, size_t bytes)
{
    return (struct ny_pieces){piece_of_memory, data, bytes};
}

int ny_keep_put(const struct ny_keep *keep, const char *part, const void *data, size_t bytes)
{
    struct ny_pieces pieces = ny_pieces_of(data, bytes);

    return keep->ops->put_pieces(keep, part, &pieces);
}

int ny_part_digest(const struct ny_keep *keep, const char *part, uint64_t *digest)
{
    struct ny_context *ctx = keep->ctx;
    struct ny_chunk chunk = {.data = ny_alloc(ctx, NY_MEM_OTHER, NY_CHUNK_BYTES),
                             .capacity = NY_CHUNK_BYTES};
    int err = chunk.data ? NY_OK : NY_EBUDGET;

    for (uint64_t index = 0; !err; index++) {
        uint64_t link[2] = {*digest, 0};

        err = ny_check_interrupt(ctx);
        if (!err) err = keep->ops->chunk(keep, part, index, &chunk);
        if (err) break;
        link[1] = ny_checksum(chunk.data, chunk.bytes);
        *digest = ny_checksum(link, sizeof(link));
    }
    ny_free(ctx, chunk.data);
    return err == NY_END ? NY_OK : err;
}
