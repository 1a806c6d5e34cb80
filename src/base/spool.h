/*
 * Many streams of bytes in one temporary file, for sorts of data larger than memory: bytes are
 * appended to any stream, and a stream is read back, whole or in part. The file is made when the
 * first piece is full and has no name, so that it never outlives the process.
 */
#ifndef NY_BASE_SPOOL_H
#define NY_BASE_SPOOL_H

#include "base/context.h"

struct ny_spool_spec {
    const char *folder; /* holds the file; must outlive the spool */
    const char *what;   /* it holds, for messages, such as "the rows to shuffle" */
    size_t streams;
    size_t piece_bytes; /* each stream has so many in memory, and writes them at once */
};

struct ny_spool;

/* Makes empty streams, of streams × piece_bytes under NY_MEM_IO. Free them after a failure, too. */
int ny_spool_new(struct ny_spool **out, struct ny_context *ctx, const struct ny_spool_spec *spec);
/* Frees the pieces and the file; NULL is allowed. */
void ny_spool_free(struct ny_spool *spool);
/* Appends bytes to a stream. NY_EIO where the disk is full or the file cannot be made. */
int ny_spool_put(struct ny_spool *spool, size_t stream, const void *data, size_t bytes);
/* Returns the bytes that were appended to a stream. */
size_t ny_spool_bytes(const struct ny_spool *spool, size_t stream);
/* Reads so many bytes of a stream, which are there, from byte `at` on. NY_EIO where a piece that is
 * read as a whole is not what was written. */
int ny_spool_read(struct ny_spool *spool, size_t stream, size_t at, char *to, size_t bytes);
/* Reads all of a stream, which has ny_spool_bytes(). */
int ny_spool_load(struct ny_spool *spool, size_t stream, char *to);

#endif
