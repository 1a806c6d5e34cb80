/*
 * The streams of spool.h, behind the external shuffle (stream/shuffle.c) and the external sort of
 * sparse entries (io/row_sort.c).
 *
 * Each stream fills a piece in memory; a full piece is written wherever the file ends, and the
 * stream remembers its number. So the file is written from its beginning to its end, and a stream
 * is read back by one read of each of its pieces.
 */
#include "base/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

/* The piece in memory, and the numbers of those in the file. */
struct stream {
    size_t fill; /* bytes in the piece */
    uint64_t *piece;
    size_t pieces, pieces_max;
};

struct ny_spool {
    struct ny_context *ctx;
    struct ny_spool_spec spec;
    int fd;
    uint64_t pieces; /* in the file */
    char *buffer;    /* a piece of each stream */
    struct stream *stream;
};

void ny_spool_free(struct ny_spool *spool)
{
    if (!spool) return;
    if (spool->fd >= 0) close(spool->fd);
    for (size_t s = 0; spool->stream && s < spool->spec.streams; s++)
        ny_free(spool->ctx, spool->stream[s].piece);
    ny_free(spool->ctx, spool->stream);
    ny_free(spool->ctx, spool->buffer);
    ny_free(spool->ctx, spool);
}

int ny_spool_new(struct ny_spool **out, struct ny_context *ctx, const struct ny_spool_spec *spec)
{
    struct ny_spool *spool = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*spool));
    size_t bytes;

    *out = NULL;
    if (!spool) return NY_EBUDGET;
    spool->ctx = ctx;
    spool->spec = *spec;
    spool->fd = -1;
    if (!ny_product(ctx, &bytes, spec->piece_bytes, spec->streams, 1))
        spool->buffer = ny_alloc(ctx, NY_MEM_IO, bytes);
    if (spool->buffer)
        spool->stream = ny_calloc(ctx, NY_MEM_IO, spec->streams, sizeof(*spool->stream));
    if (!spool->stream) {
        ny_spool_free(spool);
        return NY_EBUDGET;
    }
    *out = spool;
    return NY_OK;
}

/* Writes or reads one whole piece at its place in the file, with as many calls as that takes. */
static int move_piece(struct ny_spool *spool, bool writing, char *data, uint64_t number)
{
    size_t piece_bytes = spool->spec.piece_bytes, done = 0;
    char action[96];

    while (done < piece_bytes) {
        off_t at = (off_t)(number * piece_bytes + done);
        size_t left = piece_bytes - done;
        ssize_t moved = writing ? pwrite(spool->fd, data + done, left, at)
                                : pread(spool->fd, data + done, left, at);

        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) {
            snprintf(action, sizeof(action), "%s %s in", writing ? "write" : "read back",
                     spool->spec.what);
            return ny_fail_errno(spool->ctx, action, spool->spec.folder);
        }
        done += (size_t)moved;
    }
    return NY_OK;
}

/* Appends a full piece to the file and its number to the stream, whose piece in memory is empty
 * again. */
static int spill(struct ny_spool *spool, struct stream *stream, char *piece)
{
    int err;

    if (spool->fd < 0) {
        spool->fd = open(spool->spec.folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (spool->fd < 0)
            return ny_fail_errno(spool->ctx, "make a temporary file in", spool->spec.folder);
    }
    if (stream->pieces == stream->pieces_max) {
        size_t grown = stream->pieces_max ? 2 * stream->pieces_max : 8;
        uint64_t *list = ny_resize(spool->ctx, NY_MEM_IO, stream->piece, grown * sizeof(uint64_t));

        if (!list) return NY_EBUDGET;
        stream->piece = list;
        stream->pieces_max = grown;
    }
    err = move_piece(spool, true, piece, spool->pieces);
    if (err) return err;
    stream->piece[stream->pieces++] = spool->pieces++;
    stream->fill = 0;
    return NY_OK;
}

int ny_spool_put(struct ny_spool *spool, size_t stream, const void *data, size_t bytes)
{
    struct stream *to = &spool->stream[stream];
    char *piece = spool->buffer + stream * spool->spec.piece_bytes;
    int err = NY_OK;

    for (size_t done = 0; err == NY_OK && done < bytes;) {
        size_t room = spool->spec.piece_bytes - to->fill;
        size_t some = bytes - done < room ? bytes - done : room;

        memcpy(piece + to->fill, (const char *)data + done, some);
        to->fill += some;
        done += some;
        if (to->fill == spool->spec.piece_bytes) err = spill(spool, to, piece);
    }
    return err;
}

size_t ny_spool_bytes(const struct ny_spool *spool, size_t stream)
{
    const struct stream *from = &spool->stream[stream];

    return from->pieces * spool->spec.piece_bytes + from->fill;
}

int ny_spool_load(struct ny_spool *spool, size_t stream, char *to)
{
    const struct stream *from = &spool->stream[stream];
    size_t piece_bytes = spool->spec.piece_bytes;
    int err = NY_OK;

    for (size_t i = 0; i < from->pieces && err == NY_OK; i++)
        err = move_piece(spool, false, to + i * piece_bytes, from->piece[i]);
    if (from->fill)
        memcpy(to + from->pieces * piece_bytes, spool->buffer + stream * piece_bytes, from->fill);
    return err;
}
