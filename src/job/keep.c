#include "job/keep.h"

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

size_t ny_batch_put_bytes(size_t limit, size_t bytes)
{
    size_t chunks = (bytes / NY_CHUNK_BYTES + 1) * NY_CHUNK_BYTES, most = ny_batch_bytes_max(limit);

    return chunks < most ? chunks : most;
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
