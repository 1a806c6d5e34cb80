#include "io/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"

enum { PIECES = 64, PIECE_BYTES = 4096, WHOLE_BYTES = 1 << 16 };

/* A file whose digest is made: of its size, and of one piece after another. */
struct digest {
    struct ny_context *ctx;
    const char *path;
    int fd;
    uint64_t value;
};

/* Opens the file; close_file() also after a failure. */
static int open_file(struct digest *digest, struct ny_context *ctx, const char *path)
{
    struct stat status;

    *digest = (struct digest){.ctx = ctx, .path = path};
    digest->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (digest->fd < 0 || fstat(digest->fd, &status) != 0) return ny_fail_errno(ctx, "open", path);
    digest->value = (uint64_t)status.st_size;
    return NY_OK;
}

static void close_file(const struct digest *digest)
{
    if (digest->fd >= 0) close(digest->fd);
}

/* Adds the bytes at a place, as many as are wanted and there, to the digest. `room` holds them
 * behind those of the digest. */
static int add_piece(struct digest *digest, off_t at, size_t wanted, char *room, size_t *got)
{
    char *to = room + sizeof(digest->value);

    for (*got = 0; *got < wanted;) {
        ssize_t count = pread(digest->fd, to + *got, wanted - *got, at + (off_t)*got);
        int err = count < 0 && errno != EINTR ? ny_fail_errno(digest->ctx, "read", digest->path)
                                              : ny_check_interrupt(digest->ctx);

        if (err) return err;
        if (count == 0) break;
        if (count > 0) *got += (size_t)count;
    }
    memcpy(room, &digest->value, sizeof(digest->value));
    digest->value = ny_checksum(room, sizeof(digest->value) + *got);
    return NY_OK;
}

int ny_file_identity(struct ny_context *ctx, const char *path, uint64_t *digest)
{
    char room[PIECE_BYTES + sizeof(uint64_t)];
    struct digest file;
    int err = open_file(&file, ctx, path);
    off_t size = (off_t)file.value, last = size > PIECE_BYTES ? size - PIECE_BYTES : 0;
    size_t got;

    for (off_t i = 0; i < PIECES && err == NY_OK; i++)
        err = add_piece(&file, last / (PIECES - 1) * i + last % (PIECES - 1) * i / (PIECES - 1),
                        PIECE_BYTES, room, &got);
    close_file(&file);
    *digest = file.value;
    return err;
}

int ny_file_digest(struct ny_context *ctx, const char *path, uint64_t *digest)
{
    char room[WHOLE_BYTES + sizeof(uint64_t)];
    struct digest file;
    int err = open_file(&file, ctx, path);
    size_t got = WHOLE_BYTES;

    for (off_t at = 0; got == WHOLE_BYTES && err == NY_OK; at += WHOLE_BYTES)
        err = add_piece(&file, at, WHOLE_BYTES, room, &got);
    close_file(&file);
    *digest = file.value;
    return err;
}
