/* gzip and deflate, unpacked as they come: truncation and damage are found. */
#ifndef NY_IO_UNPACK_H
#define NY_IO_UNPACK_H

#include "base/context.h"

struct ny_unpacker;

/* The source of packed bytes; *got = 0 at the end. */
struct ny_unpack_input {
    struct ny_context *ctx;
    const char *path;
    int (*read)(void *user, void *to, size_t wanted, size_t *got);
    void *user;
};

/* `head`: the packed bytes that were read already; copied. */
int ny_unpack_begin(struct ny_unpacker **out, const struct ny_unpack_input *input, const void *head,
                    size_t head_bytes);
/* Likewise for deflated data without a header, of which nothing was read; what follows their end is
 * passed over. */
int ny_inflate_begin(struct ny_unpacker **out, const struct ny_unpack_input *input);
/* Unpacks at least one byte; *got = 0 at the end. */
int ny_unpack(struct ny_unpacker *unpacker, void *to, size_t wanted, size_t *got);
/* Frees the unpacker; NULL is fine. */
void ny_unpack_end(struct ny_unpacker *unpacker);

#endif
