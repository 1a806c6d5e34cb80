/* Streams in a temporary file (base/spool.h): what comes back, and a disk that returns other bytes.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "base/spool.h"
#include "support/context.h"

enum { PIECE = 64, BYTES = 1000 };

static long flipped = -1; /* the byte of the file that the disk returns wrong */

ssize_t pread(int fd, void *data, size_t bytes, off_t at)
{
    ssize_t got = syscall(SYS_pread64, fd, data, bytes, at);

    if (flipped >= at && flipped < at + got) ((unsigned char *)data)[flipped - at] ^= 2;
    return got;
}

TEST(test_a_byte_that_comes_back_wrong_is_noticed)
{
    const struct ny_spool_spec spec = {"/tmp", "the rows to sort", 2, PIECE};
    char data[BYTES], back[BYTES];
    struct ny_spool *spool;

    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i * 7);
    assert_int_equal(ny_spool_new(&spool, ctx, &spec), NY_OK);
    for (size_t stream = 0; stream < 2; stream++)
        for (size_t at = 0; at < BYTES; at += 100)
            assert_int_equal(ny_spool_put(spool, stream, data + at, 100), NY_OK);
    for (flipped = -1; flipped < 2 * (BYTES / PIECE) * PIECE; flipped += 37) {
        int errors[2];

        for (size_t stream = 0; stream < 2; stream++) {
            errors[stream] = ny_spool_load(spool, stream, back);
            if (!errors[stream]) assert_memory_equal(back, data, BYTES);
        }
        assert_int_equal(errors[0] + errors[1], flipped < 0 ? NY_OK : NY_EIO);
        if (flipped < 0) continue;
        assert_non_null(
            strstr(ny_context_message(ctx), "the rows to sort in /tmp has other bytes"));
        ny_error_clear(ctx);
    }
    ny_spool_free(spool);
}

AROUND_EACH(start, stop)
