#include "io/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"

enum { PIECES = 64, PIECE_BYTES = 4096, WHOLE_BYTES = 1 << 16 };

/* Reads as many bytes at a place as are wanted and there. */
static int read_piece(struct ny_context *ctx, const char *path, int fd, off_t at, size_t wanted,
                      char *to, size_t *got)
{
    for (*got = 0; *got < wanted;) {
        ssize_t count = pread(fd, to + *got, wanted - *got, at + (off_t)*got);
        int err = count < 0 && errno != EINTR ? ny_fail_errno(ctx, "read", path)
                                              : ny_check_interrupt(ctx);

        if (err) return err;
        if (count == 0) break;
        if (count > 0) *got += (size_t)count;
    }
    return NY_OK;
}

/* Opens the file for a digest, which begins with its size. */
static int open_file(struct ny_context *ctx, const char *path, int *fd, uint64_t *digest)
{
    struct stat status;

    *digest = 0;
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &status) != 0) return ny_fail_errno(ctx, "open", path);
    *digest = (uint64_t)status.st_size;
    return NY_OK;
}

int ny_file_identity(struct ny_context *ctx, const char *path, uint64_t *digest)
{
    char piece[PIECE_BYTES + sizeof(uint64_t)];
    int fd, err = open_file(ctx, path, &fd, digest);
    off_t size = (off_t)*digest, last = size > PIECE_BYTES ? size - PIECE_BYTES : 0;

    for (off_t i = 0; i < PIECES && err == NY_OK; i++) {
        off_t at = last / (PIECES - 1) * i + last % (PIECES - 1) * i / (PIECES - 1);
        size_t got = 0;

        err = read_piece(ctx, path, fd, at, PIECE_BYTES, piece + sizeof(*digest), &got);
        memcpy(piece, digest, sizeof(*digest));
        if (err == NY_OK) *digest = ny_checksum(piece, sizeof(*digest) + got);
    }
    if (fd >= 0) close(fd);
    return err;
}

int ny_file_digest(struct ny_context *ctx, const char *path, uint64_t *digest)
{
    char piece[WHOLE_BYTES + sizeof(uint64_t)];
    int fd, err = open_file(ctx, path, &fd, digest);
    size_t got = WHOLE_BYTES;

    for (off_t at = 0; got == WHOLE_BYTES && err == NY_OK; at += WHOLE_BYTES) {
        err = read_piece(ctx, path, fd, at, WHOLE_BYTES, piece + sizeof(*digest), &got);
        memcpy(piece, digest, sizeof(*digest));
        if (err == NY_OK) *digest = ny_checksum(piece, sizeof(*digest) + got);
    }
    if (fd >= 0) close(fd);
    return err;
}
