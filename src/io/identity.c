#include "io/identity.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checksum.h"

enum { PIECES = 64, PIECE_BYTES = 4096 };

int ny_file_identity(struct ny_context *ctx, const char *path, uint64_t *digest)
{
    char piece[PIECE_BYTES + sizeof(uint64_t)];
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC), err = NY_OK;
    off_t last;

    *digest = 0;
    if (fd < 0 || fstat(fd, &status) != 0) {
        err = ny_fail_errno(ctx, "open", path);
        goto done;
    }
    *digest = (uint64_t)status.st_size;
    last = status.st_size > PIECE_BYTES ? status.st_size - PIECE_BYTES : 0;
    for (off_t i = 0; i < PIECES; i++) {
        off_t at = last / (PIECES - 1) * i + last % (PIECES - 1) * i / (PIECES - 1);
        ssize_t got = pread(fd, piece + sizeof(*digest), PIECE_BYTES, at);

        if (got < 0) {
            err = ny_fail_errno(ctx, "read", path);
            goto done;
        }
        memcpy(piece, digest, sizeof(*digest));
        *digest = ny_checksum(piece, sizeof(*digest) + (size_t)got);
    }
done:
    if (fd >= 0) close(fd);
    return err;
}
