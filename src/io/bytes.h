/*
 * Input as a stream of bytes: a file or standard input ("-"), gzip unpacked by its content; or a
 * part of a file. Memory is a window of 256 KiB, grown for long lines to at most 64 MiB. For io/
 * alone.
 */
#ifndef NY_IO_BYTES_H
#define NY_IO_BYTES_H

#include "base/context.h"

#define NY_BYTES_UNKNOWN UINT64_MAX

/* A part of a regular file, such as a member of a zip archive, stored or deflated. */
struct ny_bytes_part {
    uint64_t at, packed; /* its place in the file, and its bytes there */
    uint64_t bytes;      /* that it holds */
    uint32_t crc;        /* their checksum */
    bool deflated;
};

struct ny_bytes {
    /* The window: unread bytes at … end − 1, and a NUL at *end so that a scan needs no bound.
     * Parsers read these, move `at` forward and count `line`. */
    const char *at, *end;
    const char *whole; /* lines up to here are whole in the window */
    bool ended;        /* nothing comes after the window */
    char last;         /* the last byte that was read; 0: none was */
    uint64_t line;     /* of `at`, 1-based; kept by text parsers */
    const char *path;  /* for messages: "standard input" for "-" */
    struct ny_context *ctx;
    /* private to bytes.c */
    char *buffer;
    size_t capacity;
    struct ny_unpacker *unpacker; /* NULL: plain */
    uint64_t start, size, offset; /* of the file, when regular: first byte, end, next read */
    int fd;
    bool regular, stream; /* stream: of a process that may hang */
    bool is_part;
    struct ny_bytes_part part; /* of which so many bytes, with this checksum, were read */
    uint64_t unpacked;
    uint32_t crc;
};

/* NY_EIO: missing, unreadable, a directory. Some bytes are in the window already, if there are. */
int ny_bytes_open(struct ny_bytes **out, struct ny_context *ctx, const char *path);
/* Reads what a child process writes to a pipe, which is taken over, also on failure, and closed
 * with the bytes; `shown` stands for it in messages. NY_EIO, here and later: nothing came for
 * minutes. */
int ny_bytes_open_stream(struct ny_bytes **out, struct ny_context *ctx, int fd, const char *shown);
/* Reads lines from the beginning of a temporary file, whose descriptor is taken over likewise. */
int ny_bytes_open_lines(struct ny_bytes **out, struct ny_context *ctx, int fd, const char *shown);
/* Reads a part of a regular file, which must outlive it, beside others. NY_EDATA, later: the part
 * holds more or fewer bytes than it says, or at its end, others. */
int ny_bytes_open_part(struct ny_bytes **out, const struct ny_bytes *file,
                       const struct ny_bytes_part *part);
/* Closes the input and frees its window; standard input stays open. NULL is fine. */
void ny_bytes_close(struct ny_bytes *bytes);

/* Adds at least one byte to the window (which moves), or sets `ended`. */
int ny_bytes_more(struct ny_bytes *bytes);
/* Makes the window at least `wanted` bytes long where the input has that many. */
int ny_bytes_need(struct ny_bytes *bytes, size_t wanted);
/* Does so for bytes that must be there. */
int ny_bytes_must(struct ny_bytes *bytes, size_t wanted);
/* Fails because the input is damaged or truncated; does not say where. */
int ny_bytes_damaged(const struct ny_bytes *bytes);
/* Returns the number in `size` bytes, of which the first is the lowest. */
static inline uint64_t ny_low_first(const void *at, unsigned size)
{
    uint64_t number = 0;

    while (size-- > 0)
        number = number << 8 | ((const unsigned char *)at)[size];
    return number;
}
/* Copies `wanted` bytes, past the window where it pays; *got is less only at the end. */
int ny_bytes_read(struct ny_bytes *bytes, void *to, size_t wanted, size_t *got);
/* Passes over `count` bytes, by seeking where possible; *passed is less only at the end. */
int ny_bytes_pass(struct ny_bytes *bytes, uint64_t count, uint64_t *passed);
/* Bytes from `at` to the end, as far as a part says; NY_BYTES_UNKNOWN for pipes and gzip. */
uint64_t ny_bytes_left(const struct ny_bytes *bytes);
/* Returns the place of `at` in a regular file that is not packed, from its beginning. */
uint64_t ny_bytes_place(const struct ny_bytes *bytes);
/* Copies `wanted` bytes from a place in such a file, apart from the stream; *got is less only at
 * its end. */
int ny_bytes_read_at(const struct ny_bytes *bytes, uint64_t place, void *to, size_t wanted,
                     size_t *got);
/* Goes back to the first byte; for regular files only (`regular`). */
int ny_bytes_rewind(struct ny_bytes *bytes);

/* Gets the whole of the next line into the window. *newline is where it ends, or NULL in a last
 * line without an end. */
int ny_bytes_line(struct ny_bytes *bytes, const char **newline);
/* Sees to it that a whole line begins at `at`, in a window that holds as many more as have come;
 * *more = false at the end of the input. A line that is whole needs no test for the window's end:
 * a NUL is there, which ends every token. */
int ny_bytes_whole_line(struct ny_bytes *bytes, bool *more);
/* Tells blanks of a line of text from what it says. */
static inline bool ny_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}
/* Passes over blanks, before which a NUL or a line end stands at the latest. */
static inline const char *ny_skip_blanks(const char *p)
{
    while (ny_is_blank(*p))
        p++;
    return p;
}
/* Gets a line as ny_bytes_line() does; *first and *last are its text without blanks at its ends. */
int ny_bytes_trimmed_line(struct ny_bytes *bytes, const char **first, const char **last,
                          const char **newline);
/* NY_EBUDGET: the line at `at` does not fit the budget. */
int ny_bytes_refuse_line(struct ny_bytes *bytes);

#endif
