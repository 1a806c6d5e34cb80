/*
 * Members of a zip archive, read as streams side by side from one regular file: stored or deflated,
 * with sizes of 32 or 64 bits. An archive may be hostile: sizes and places are checked against the
 * file before anything is allocated for them, and a member's checksum at its end. For io/ alone.
 */
#ifndef NY_IO_ZIP_H
#define NY_IO_ZIP_H

#include "io/bytes.h"

/* The directory's entry of a member. */
struct ny_zip_member {
    const char *name;
    bool found;
    unsigned method;
    uint32_t crc;
    uint64_t at; /* place of its header in the archive */
    uint64_t packed, bytes;
};

/* Fills `members`, which have their names, from the directory at the archive's end. */
int ny_zip_find(const struct ny_bytes *archive, struct ny_zip_member *members, size_t count);

struct ny_zip_stream;

/* Opens a member that was found; `archive` and `member` must outlive the stream. */
int ny_zip_open(struct ny_zip_stream **out, const struct ny_bytes *archive,
                const struct ny_zip_member *member);
/* Frees the stream; NULL is fine. */
void ny_zip_close(struct ny_zip_stream *stream);
/* Reads exactly so many bytes; NY_EDATA where the member ends before. */
int ny_zip_read(struct ny_zip_stream *stream, void *to, size_t wanted);
/* Reads what is left and compares the checksum of the whole member. */
int ny_zip_finish(struct ny_zip_stream *stream);

#endif
