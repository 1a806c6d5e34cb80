#include "io/identity.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"
#include "base/scratch.h"

enum { PIECES = 64, PIECE_BYTES = 4096, WHOLE_BYTES = 1 << 16 };

/* A file whose digest is made: of its size, and of one piece after another. */
struct digest {
    struct ny_context *ctx;
    const char *path;
    int fd;
    uint64_t value;
};

/* Adds the bytes at a place, as many as are wanted and there, to the digest. `room` holds them
 * behind those of the digest. */
static int add_piece(struct digest *digest, off_t at, size_t wanted, char *room, size_t *got)
{
    ssize_t count = ny_read_at(digest->fd, room + sizeof(digest->value), wanted, (uint64_t)at);
    int err = count < 0 ? ny_fail_errno(digest->ctx, "read", digest->path)
                        : ny_check_interrupt(digest->ctx);

    if (err) return err;
    *got = (size_t)count;
    memcpy(room, &digest->value, sizeof(digest->value));
    digest->value = ny_checksum(room, sizeof(digest->value) + *got);
    return NY_OK;
}

/* Digests the size of a file, and of its bytes all, or PIECES that are evenly spread. */
static int digest_file(struct ny_context *ctx, const char *path, bool all, uint64_t *value)
{
    char room[WHOLE_BYTES + sizeof(uint64_t)];
    struct digest digest = {.ctx = ctx, .path = path, .fd = open(path, O_RDONLY | O_CLOEXEC)};
    size_t piece = all ? WHOLE_BYTES : PIECE_BYTES, got = piece;
    off_t last = 0;
    struct stat status;
    int err = NY_OK;

    if (digest.fd < 0 || fstat(digest.fd, &status) != 0) err = ny_fail_errno(ctx, "open", path);
    if (!err) digest.value = (uint64_t)status.st_size;
    if (!err && status.st_size > PIECE_BYTES) last = status.st_size - PIECE_BYTES;
    for (off_t i = 0; !err && (all ? got == piece : i < PIECES); i++)
        err = add_piece(&digest,
                        all ? i * WHOLE_BYTES
                            : last / (PIECES - 1) * i + last % (PIECES - 1) * i / (PIECES - 1),
                        piece, room, &got);
    if (digest.fd >= 0) close(digest.fd);
    *value = digest.value;
    return err;
}

int ny_file_identity(struct ny_context *ctx, const char *path, uint64_t *digest)
{
    return digest_file(ctx, path, false, digest);
}

int ny_file_digest(struct ny_context *ctx, const char *path, uint64_t *digest)
{
    return digest_file(ctx, path, true, digest);
}
