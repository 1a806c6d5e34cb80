/*
 * A temporary file that is written and read at any place. It has no name, so that it never outlives
 * the process.
 */
#ifndef NY_BASE_SCRATCH_H
#define NY_BASE_SCRATCH_H

#include <sys/types.h>

#include "base/context.h"

/* Reads so many bytes from a place of any file on, and returns them: fewer where it ends, −1 where
 * it cannot be read, as errno says. */
ssize_t ny_read_at(int fd, void *to, size_t bytes, uint64_t at);

struct ny_scratch {
    struct ny_context *ctx;
    const char *folder; /* holds the file; must outlive it */
    const char *what;   /* it holds, for messages, such as "the rows to shuffle" */
    int fd;
};

/* Makes the file. NY_EIO: it cannot be made. */
int ny_scratch_open(struct ny_scratch *scratch);
/* Closes the file, which is then gone; a zeroed one is left alone. */
void ny_scratch_close(struct ny_scratch *scratch);
/* Writes bytes at a place. NY_EIO where the disk is full. Several threads may read and write. */
int ny_scratch_put(const struct ny_scratch *scratch, const void *data, size_t bytes, uint64_t at);
/* Reads bytes that were written. */
int ny_scratch_get(const struct ny_scratch *scratch, void *data, size_t bytes, uint64_t at);

#endif
