/*
 * The streams of spool.h, behind the external shuffle (stream/shuffle.c) and the external sort of
 * sparse entries (io/row_sort.c).
 *
 * Each stream fills a piece in memory; a full piece is written wherever the file ends, and the
 * stream remembers its number. So the file is written from its beginning to its end, and a stream
 * is read back by one read of each of its pieces, or part by part.
 */
#include "base/spool.h"

#include <string.h>

#include "base/checksum.h"
#include "base/layout.h"
#include "base/scratch.h"

/* A piece in the file: its number, and the checksum of its bytes, as disks may fail silently. */
struct piece {
    uint64_t number, checksum;
};

/* The piece in memory, and those in the file. */
struct stream {
    size_t fill; /* bytes in the piece */
    struct piece *piece;
    size_t pieces, pieces_max;
};

struct ny_spool {
    struct ny_context *ctx;
    struct ny_layout own;
    struct ny_spool_spec spec;
    struct ny_scratch file;
    uint64_t pieces; /* in the file */
    char *buffer;    /* a piece of each stream */
    struct stream *stream;
};

void ny_spool_free(struct ny_spool *spool)
{
    if (!spool) return;
    ny_scratch_close(&spool->file);
    for (size_t s = 0; spool->stream && s < spool->spec.streams; s++)
        ny_free(spool->ctx, spool->stream[s].piece);
    ny_layout_free(&spool->own);
    ny_free(spool->ctx, spool);
}

int ny_spool_new(struct ny_spool **out, struct ny_context *ctx, const struct ny_spool_spec *spec)
{
    struct ny_spool *spool = *out = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*spool));

    if (!spool) return NY_EBUDGET;
    *spool = (struct ny_spool){.ctx = ctx, .own.ctx = ctx, .spec = *spec};
    spool->file = (struct ny_scratch){ctx, spec->folder, spec->what, -1};
    spool->buffer = ny_lay(&spool->own, NY_MEM_IO, spec->streams, spec->piece_bytes);
    spool->stream = ny_lay(&spool->own, NY_MEM_IO, spec->streams, sizeof(*spool->stream));
    return spool->own.err;
}

/* Appends a full piece to the file and its number to the stream, whose piece in memory is empty
 * again. */
static int spill(struct ny_spool *spool, struct stream *stream, char *piece)
{
    size_t bytes = spool->spec.piece_bytes;
    int err = spool->file.fd < 0 ? ny_scratch_open(&spool->file) : NY_OK;

    if (err) return err;
    if (stream->pieces == stream->pieces_max) {
        size_t grown = stream->pieces_max ? 2 * stream->pieces_max : 8;

        err = ny_resize_array(spool->ctx, NY_MEM_IO, &stream->piece, grown, sizeof(struct piece));
        if (err) return err;
        stream->pieces_max = grown;
    }
    err = ny_scratch_put(&spool->file, piece, bytes, spool->pieces * bytes);
    if (err) return err;
    stream->piece[stream->pieces++] = (struct piece){spool->pieces++, ny_checksum(piece, bytes)};
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

int ny_spool_read(struct ny_spool *spool, size_t stream, size_t at, char *to, size_t bytes)
{
    const struct stream *from = &spool->stream[stream];
    size_t piece_bytes = spool->spec.piece_bytes;
    int err = NY_OK;

    while (bytes > 0 && err == NY_OK) {
        size_t piece = at / piece_bytes, within = at % piece_bytes, some = piece_bytes - within;

        if (some > bytes) some = bytes;
        if (piece < from->pieces)
            err = ny_scratch_get(&spool->file, to, some,
                                 from->piece[piece].number * piece_bytes + within);
        else
            memcpy(to, spool->buffer + stream * piece_bytes + within, some);
        if (!err && piece < from->pieces && some == piece_bytes &&
            ny_checksum(to, some) != from->piece[piece].checksum)
            err = ny_fail(spool->ctx, NY_EIO,
                          "the temporary file with %s in %s has other bytes than were written: the "
                          "disk fails; use another one",
                          spool->spec.what, spool->spec.folder);
        at += some;
        to += some;
        bytes -= some;
    }
    return err;
}

int ny_spool_load(struct ny_spool *spool, size_t stream, char *to)
{
    return ny_spool_read(spool, stream, 0, to, ny_spool_bytes(spool, stream));
}
