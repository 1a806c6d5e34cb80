/*
 * The window over an input (io/bytes.h): files, pipes and standard input, plain or gzip.
 *
 * All readers stand on it (io/table.c, io/labels.c). Text parsers look at the window and move
 * `at`; a line that the window cuts is begun again after ny_bytes_more(), which at least doubles
 * what there is, so that the work for a long line stays linear. Binary readers call
 * ny_bytes_read(), which passes by the window for 64 KiB and more. gzip is recognised by its first
 * three bytes and not by the file name. The byte order mark that Windows puts before UTF-8 is
 * passed over here, for all text; no binary format begins with its bytes. One read() takes at most
 * 8 MiB, and between two of them an interrupt is seen.
 *
 * A stream of another process is waited for in short steps, which are counted: so an interrupt is
 * seen at once whichever thread gets the signal, a process that hangs is told from a slow one,
 * which sends something now and then, and hours for which both were stopped count as one step.
 */
#include "io/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/scratch.h"
#include "io/refuse.h"
#include "io/unpack.h"
#include "io/zlib.h"

enum {
    WINDOW_BYTES = 256 * 1024,
    PART_WINDOW_BYTES = 64 * 1024, /* of one of several that are read side by side */
    WINDOW_MAX = 64 * 1024 * 1024,
    READ_MAX = 8 * 1024 * 1024, /* of one system call: an interrupt is seen between two */
    DIRECT_MIN = 64 * 1024,     /* shorter reads go through the window */
    PADDING = 16,               /* the NUL after the window */
    STEP_MS = 100,              /* of a wait for a stream */
    SILENCE_MINUTES = 10,       /* after which its process is taken to hang */
    LINE_SHARE = 72             /* bytes that an import takes for one of a line of short numbers */
};

int ny_bytes_damaged(const struct ny_bytes *bytes)
{
    return ny_refuse_damaged(bytes->ctx, bytes->path, NY_NO_LINE);
}

/* Waits until the stream has bytes or an end. */
static int await(struct ny_bytes *bytes)
{
    const int steps = SILENCE_MINUTES * 60 * 1000 / STEP_MS;

    for (int silent = 0; silent < steps;) {
        struct pollfd pipe = {.fd = bytes->fd, .events = POLLIN};
        int err = ny_check_interrupt(bytes->ctx), ready;

        if (err) return err;
        ready = poll(&pipe, 1, STEP_MS);
        if (ready > 0) return NY_OK;
        if (ready < 0 && errno != EINTR) return ny_fail_errno(bytes->ctx, "read", bytes->path);
        silent += ready == 0;
    }
    return ny_fail_at(bytes->ctx, NY_EIO, bytes->path, NY_NO_LINE,
                      "%s: nothing could be read for %d minutes; copy it to another disk",
                      bytes->path, SILENCE_MINUTES);
}

/* Reads the next packed bytes of a part; *got = 0 behind its last. */
static int read_part(struct ny_bytes *bytes, void *to, size_t wanted, size_t *got)
{
    uint64_t left = bytes->part.at + bytes->part.packed - bytes->offset;
    int err = ny_check_interrupt(bytes->ctx);

    if (wanted > left) wanted = (size_t)left;
    if (!err) err = ny_bytes_read_at(bytes, bytes->offset, to, wanted, got);
    if (err) return err;
    bytes->offset += *got;
    return *got == wanted ? NY_OK : ny_bytes_damaged(bytes);
}

/* One read(); *got = 0 at the end. */
static int read_raw(void *user, void *to, size_t wanted, size_t *got)
{
    struct ny_bytes *bytes = user;
    ssize_t count;

    if (bytes->is_part) return read_part(bytes, to, wanted, got);
    do {
        int err = bytes->stream ? await(bytes) : ny_check_interrupt(bytes->ctx);
        if (err) return err;
        count = read(bytes->fd, to, wanted < READ_MAX ? wanted : READ_MAX);
    } while (count < 0 && errno == EINTR);
    if (count < 0) return ny_fail_errno(bytes->ctx, "read", bytes->path);
    bytes->offset += (uint64_t)count;
    *got = (size_t)count;
    return NY_OK;
}

/* Compares bytes of a part with what it says: how many they are and, behind the last, their
 * checksum. */
static int check_part(struct ny_bytes *bytes, const char *data, size_t count)
{
    const struct ny_bytes_part *part = &bytes->part;

    bytes->unpacked += count;
    bytes->crc = (uint32_t)crc32_z(bytes->crc, (const unsigned char *)data, count);
    if (count ? bytes->unpacked <= part->bytes
              : bytes->unpacked == part->bytes && bytes->crc == part->crc)
        return NY_OK;
    return ny_bytes_damaged(bytes);
}

/* Reads plain bytes, from the file or from the unpacker. */
static int fill(struct ny_bytes *bytes, char *to, size_t wanted, size_t *got)
{
    int err = bytes->unpacker ? ny_unpack(bytes->unpacker, to, wanted, got)
                              : read_raw(bytes, to, wanted, got);

    return err || !bytes->is_part ? err : check_part(bytes, to, *got);
}

/* Fails because half of the largest window, 32 MiB, does not hold a line. */
static int line_too_long(struct ny_bytes *bytes)
{
    return ny_refuse_line(bytes->ctx, bytes->path, bytes->line, "it is longer than 32 MiB");
}

int ny_bytes_refuse_line(struct ny_bytes *bytes)
{
    const size_t mib = 1048576;
    size_t length = (size_t)(bytes->end - bytes->at), used = ny_memory_used(bytes->ctx), got = 1;
    const char *end = memchr(bytes->at, '\n', length);
    int err = NY_OK;

    if (end) length = (size_t)(end - bytes->at);

    while (!err && !end && got > 0 && length <= WINDOW_MAX / 2) {
        err = fill(bytes, bytes->buffer, bytes->capacity, &got);
        end = err || !got ? NULL : memchr(bytes->buffer, '\n', got);
        length += end ? (size_t)(end - bytes->buffer) : got;
    }
    if (err) return err;
    if (length > WINDOW_MAX / 2) return line_too_long(bytes);
    return ny_fail(bytes->ctx, NY_EBUDGET,
                   "%s, line %llu: the line has %.1f MiB, which do not fit in the memory budget of "
                   "%.1f MiB; give --memory %zuM",
                   bytes->path, (unsigned long long)bytes->line, (double)length / (double)mib,
                   (double)ny_memory_limit(bytes->ctx) / (double)mib,
                   (used + LINE_SHARE * length) / mib + 1);
}

/* Doubles the window, up to 64 MiB, and moves its bytes to the front. */
static int grow(struct ny_bytes *bytes)
{
    size_t capacity = 2 * bytes->capacity, kept = (size_t)(bytes->end - bytes->at);
    char *buffer;

    if (capacity > WINDOW_MAX) return line_too_long(bytes);
    if (capacity + PADDING > ny_memory_limit(bytes->ctx) - ny_memory_used(bytes->ctx))
        return ny_bytes_refuse_line(bytes);
    buffer = ny_alloc(bytes->ctx, NY_MEM_IO, capacity + PADDING);
    if (!buffer) return NY_EBUDGET;
    memcpy(buffer, bytes->at, kept);
    ny_free(bytes->ctx, bytes->buffer);
    bytes->buffer = buffer;
    bytes->capacity = capacity;
    bytes->at = buffer;
    bytes->end = buffer + kept;
    return NY_OK;
}

int ny_bytes_more(struct ny_bytes *bytes)
{
    size_t kept = (size_t)(bytes->end - bytes->at), wanted = kept ? kept : 1;
    int err = NY_OK;

    /* Parsers start a cut line again: a window that at least doubles bounds that work. */
    if (kept > bytes->capacity / 2) {
        err = grow(bytes);
        if (err) return err;
    } else if (bytes->at != bytes->buffer) {
        memmove(bytes->buffer, bytes->at, kept);
    }
    bytes->at = bytes->whole = bytes->buffer;
    bytes->end = bytes->buffer + kept;
    while (!err && !bytes->ended && (size_t)(bytes->end - bytes->at) < kept + wanted) {
        size_t held = (size_t)(bytes->end - bytes->at), got = 0;

        err = fill(bytes, bytes->buffer + held, bytes->capacity - held, &got);
        bytes->end += got;
        bytes->ended = !err && got == 0;
        if (got > 0) bytes->last = bytes->end[-1];
    }
    bytes->buffer[bytes->end - bytes->at] = '\0';
    return err;
}

int ny_bytes_line(struct ny_bytes *bytes, const char **newline)
{
    for (;;) {
        int err;

        *newline = memchr(bytes->at, '\n', (size_t)(bytes->end - bytes->at));
        if (*newline || bytes->ended) return NY_OK;
        err = ny_bytes_more(bytes);
        if (err) return err;
    }
}

int ny_bytes_whole_line(struct ny_bytes *bytes, bool *more)
{
    while (bytes->at >= bytes->whole) {
        const char *last = memrchr(bytes->at, '\n', (size_t)(bytes->end - bytes->at));
        int err;

        if (last || bytes->ended) {
            bytes->whole = last ? last + 1 : bytes->end;
            break;
        }
        err = ny_bytes_more(bytes);
        if (err) return err;
    }
    *more = bytes->at < bytes->end;
    return NY_OK;
}

int ny_bytes_trimmed_line(struct ny_bytes *bytes, const char **first, const char **last,
                          const char **newline)
{
    int err = ny_bytes_line(bytes, newline);

    if (err) return err;
    *last = *newline ? *newline : bytes->end;
    for (*first = bytes->at; *first < *last && ny_is_blank(**first); ++*first)
        continue;
    while (*last > *first && ny_is_blank((*last)[-1]))
        --*last;
    return NY_OK;
}

int ny_bytes_need(struct ny_bytes *bytes, size_t wanted)
{
    int err = NY_OK;

    while (!err && !bytes->ended && (size_t)(bytes->end - bytes->at) < wanted)
        err = ny_bytes_more(bytes);
    return err;
}

int ny_bytes_must(struct ny_bytes *bytes, size_t wanted)
{
    int err = ny_bytes_need(bytes, wanted);

    return err || (size_t)(bytes->end - bytes->at) >= wanted ? err : ny_bytes_damaged(bytes);
}

int ny_bytes_read(struct ny_bytes *bytes, void *to, size_t wanted, size_t *got)
{
    char *out = to;
    size_t left = wanted, count;
    int err = NY_OK;

    for (;;) {
        count = (size_t)(bytes->end - bytes->at);
        if (count > left) count = left;
        memcpy(out, bytes->at, count);
        bytes->at += count;
        out += count;
        left -= count;
        if (left == 0 || bytes->ended) break;
        if (left >= DIRECT_MIN) {
            err = fill(bytes, out, left, &count);
            if (err) break;
            bytes->ended = count == 0;
            out += count;
            left -= count;
        } else {
            err = ny_bytes_more(bytes);
            if (err) break;
        }
    }
    *got = wanted - left;
    return err;
}

int ny_bytes_pass(struct ny_bytes *bytes, uint64_t count, uint64_t *passed)
{
    uint64_t left = count;
    int err = NY_OK;

    for (;;) {
        uint64_t here = (uint64_t)(bytes->end - bytes->at);

        if (here > left) here = left;
        bytes->at += here;
        left -= here;
        if (left == 0 || bytes->ended) break;
        if (bytes->regular && !bytes->unpacker) { /* the window is empty here */
            uint64_t jump = ny_bytes_left(bytes) < left ? ny_bytes_left(bytes) : left;

            if (lseek(bytes->fd, (off_t)(bytes->offset + jump), SEEK_SET) < 0)
                return ny_fail_errno(bytes->ctx, "read", bytes->path);
            bytes->offset += jump;
            left -= jump;
            if (left == 0) break;
        }
        err = ny_bytes_more(bytes);
        if (err) break;
    }
    *passed = count - left;
    return err;
}

uint64_t ny_bytes_left(const struct ny_bytes *bytes)
{
    if (bytes->is_part)
        return (uint64_t)(bytes->end - bytes->at) + (bytes->part.bytes - bytes->unpacked);
    if (!bytes->regular || bytes->unpacker) return NY_BYTES_UNKNOWN;
    return (uint64_t)(bytes->end - bytes->at) +
           (bytes->size > bytes->offset ? bytes->size - bytes->offset : 0);
}

uint64_t ny_bytes_place(const struct ny_bytes *bytes)
{
    return bytes->offset - (uint64_t)(bytes->end - bytes->at);
}

int ny_bytes_read_at(const struct ny_bytes *bytes, uint64_t place, void *to, size_t wanted,
                     size_t *got)
{
    ssize_t count = ny_read_at(bytes->fd, to, wanted, place);

    *got = count < 0 ? 0 : (size_t)count;
    return count < 0 ? ny_fail_errno(bytes->ctx, "read", bytes->path) : NY_OK;
}

/* Reads the first bytes, decides whether they are gzip's, and starts the window at line 1, behind a
 * byte order mark. At least one byte is then there, unless the input is empty. */
static int begin(struct ny_bytes *bytes)
{
    static const unsigned char gzip[] = {0x1f, 0x8b, 8}, mark[] = {0xef, 0xbb, 0xbf};
    size_t length = 0, got = 0;
    int err;

    do {
        err = read_raw(bytes, bytes->buffer + length, bytes->capacity - length, &got);
        if (err) return err;
        length += got;
    } while (got > 0 && length < sizeof(gzip));
    bytes->ended = got == 0;
    bytes->line = 1;
    bytes->at = bytes->whole = bytes->buffer;
    if (length >= sizeof(gzip) && memcmp(bytes->buffer, gzip, sizeof(gzip)) == 0) {
        struct ny_unpack_input input = {bytes->ctx, bytes->path, read_raw, bytes};

        err = ny_unpack_begin(&bytes->unpacker, &input, bytes->buffer, length);
        length = 0;
        bytes->ended = false;
    }
    if (length > 0) bytes->last = bytes->buffer[length - 1];
    bytes->buffer[length] = '\0';
    bytes->end = bytes->buffer + length;
    if (!err) err = ny_bytes_need(bytes, sizeof(mark));
    if (err || (size_t)(bytes->end - bytes->at) < sizeof(mark) ||
        memcmp(bytes->at, mark, sizeof(mark)) != 0)
        return err;
    bytes->at += sizeof(mark);
    return ny_bytes_need(bytes, 1);
}

int ny_bytes_rewind(struct ny_bytes *bytes)
{
    if (lseek(bytes->fd, (off_t)bytes->start, SEEK_SET) < 0)
        return ny_fail_errno(bytes->ctx, "read", bytes->path);
    bytes->offset = bytes->start;
    ny_unpack_end(bytes->unpacker);
    bytes->unpacker = NULL;
    return begin(bytes);
}

/* Opens the input and finds out whether it can be sought in. A standard input that is a file is
 * read from where it stands. */
static int open_file(struct ny_bytes *bytes, const char *path)
{
    struct stat info;
    off_t start;

    if (strcmp(path, "-") == 0)
        bytes->fd = STDIN_FILENO;
    else
        bytes->fd = open(path, O_RDONLY | O_CLOEXEC);
    if (bytes->fd < 0 || fstat(bytes->fd, &info) < 0)
        return ny_fail_errno(bytes->ctx, "open", bytes->path);
    start = S_ISREG(info.st_mode) ? lseek(bytes->fd, 0, SEEK_CUR) : -1;
    if (start >= 0) {
        bytes->regular = true;
        bytes->start = bytes->offset = (uint64_t)start;
        bytes->size = (uint64_t)info.st_size;
        (void)posix_fadvise(bytes->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return NY_OK;
}

/* Makes an input with an empty window, which reads from a descriptor: it is closed with the input,
 * unless that is a part, and also where there is no memory. */
static struct ny_bytes *new_bytes(struct ny_context *ctx, int fd, const char *shown,
                                  size_t capacity)
{
    size_t length = strlen(shown) + 1;
    struct ny_bytes *bytes = ny_calloc(ctx, NY_MEM_IO, 1, sizeof(*bytes) + length);
    char *buffer = bytes ? ny_alloc(ctx, NY_MEM_IO, capacity + PADDING) : NULL;

    if (!buffer) {
        if (fd > STDIN_FILENO) close(fd);
        ny_free(ctx, bytes);
        return NULL;
    }
    memcpy(bytes + 1, shown, length);
    *bytes = (struct ny_bytes){.at = buffer,
                               .whole = buffer,
                               .end = buffer,
                               .path = (const char *)(bytes + 1),
                               .ctx = ctx,
                               .buffer = buffer,
                               .capacity = capacity,
                               .fd = fd};
    *buffer = '\0';
    return bytes;
}

/* Hands the input out, or closes it after an error. */
static int hand_out(struct ny_bytes **out, struct ny_bytes *bytes, int err)
{
    if (err)
        ny_bytes_close(bytes);
    else
        *out = bytes;
    return err;
}

int ny_bytes_open(struct ny_bytes **out, struct ny_context *ctx, const char *path)
{
    const char *shown = strcmp(path, "-") == 0 ? "standard input" : path;
    struct ny_bytes *bytes = new_bytes(ctx, -1, shown, WINDOW_BYTES);
    int err = bytes ? open_file(bytes, path) : NY_EBUDGET;

    *out = NULL;
    if (!err) err = begin(bytes);
    return hand_out(out, bytes, err);
}

int ny_bytes_open_stream(struct ny_bytes **out, struct ny_context *ctx, int fd, const char *shown)
{
    struct ny_bytes *bytes = new_bytes(ctx, fd, shown, WINDOW_BYTES);

    *out = NULL;
    if (!bytes) return NY_EBUDGET;
    bytes->stream = true;
    return hand_out(out, bytes, begin(bytes));
}

int ny_bytes_open_lines(struct ny_bytes **out, struct ny_context *ctx, int fd, const char *shown)
{
    struct ny_bytes *bytes = new_bytes(ctx, fd, shown, WINDOW_BYTES);

    *out = NULL;
    if (!bytes) return NY_EBUDGET;
    return hand_out(out, bytes, lseek(fd, 0, SEEK_SET) ? ny_fail_errno(ctx, "read", shown) : NY_OK);
}

int ny_bytes_open_part(struct ny_bytes **out, const struct ny_bytes *file,
                       const struct ny_bytes_part *part)
{
    struct ny_bytes *bytes = new_bytes(file->ctx, -1, file->path, PART_WINDOW_BYTES);
    const struct ny_unpack_input input = {file->ctx, file->path, read_raw, bytes};

    *out = NULL;
    if (!bytes) return NY_EBUDGET;
    bytes->is_part = true;
    bytes->part = *part;
    bytes->fd = file->fd;
    bytes->offset = part->at;
    return hand_out(out, bytes,
                    part->deflated ? ny_inflate_begin(&bytes->unpacker, &input) : NY_OK);
}

void ny_bytes_close(struct ny_bytes *bytes)
{
    if (!bytes) return;
    ny_unpack_end(bytes->unpacker);
    ny_free(bytes->ctx, bytes->buffer);
    if (bytes->fd > STDIN_FILENO && !bytes->is_part) close(bytes->fd);
    ny_free(bytes->ctx, bytes);
}
