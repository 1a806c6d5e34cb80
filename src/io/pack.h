/* Compresses output with gzip in bounded memory, the counterpart of io/unpack.h. */
#ifndef NY_IO_PACK_H
#define NY_IO_PACK_H

#include "base/context.h"

/* The receiver of packed bytes. */
struct ny_pack_output {
    struct ny_context *ctx;
    const char *path; /* for messages */
    int (*write)(void *user, const char *data, size_t bytes);
    void *user;
};

struct ny_packer;

/* A new gzip member without name and time, so that the same data are the same bytes. Takes about
 * 330 kB of the budget. */
int ny_pack_begin(struct ny_packer **out, const struct ny_pack_output *output);
/* Packs `bytes` bytes, and passes on what is ready. */
int ny_pack(struct ny_packer *packer, const char *data, size_t bytes);
/* The last of the member. */
int ny_pack_finish(struct ny_packer *packer);
/* NULL is fine. */
void ny_pack_end(struct ny_packer *packer);

#endif
