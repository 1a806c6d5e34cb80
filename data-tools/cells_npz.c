/*
 * The archive of a CSR matrix, for cells.c. Rows are drawn once: their columns go to the archive
 * as they come, their values to a second file without a name, which is copied behind them. A
 * member's headers are written when its size is known, into the room that was left for them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cells.h"
#include "io/draft.h"

enum {
    SINK_BYTES = 1 << 20,
    LOCAL_BYTES = 30,
    EXTRA_BYTES = 20,
    ENTRY_BYTES = 46,
    ENTRY_EXTRA_BYTES = 28,
    END64_BYTES = 56,
    LOCATOR_BYTES = 20,
    END_BYTES = 22,
    NPY_BYTES = 128,
    MEMBERS = 5
};

/* A file that is written in order, with the checksum of what was written since the last reset. */
struct sink {
    struct ny_context *ctx;
    const char *path;
    struct ny_draft *draft;
    int fd;
    unsigned char *held;
    size_t count;
    uint64_t offset; /* bytes so far */
    uLong crc;
};

struct member {
    const char *name;
    uint64_t at, bytes; /* place of its local header; size of its content */
    uLong crc;
};

static void write_at(const struct sink *sink, const void *bytes, size_t count, uint64_t at)
{
    for (size_t done = 0; done < count;) {
        ssize_t some =
            pwrite(sink->fd, (const char *)bytes + done, count - done, (off_t)(at + done));

        if (some < 0 && errno == EINTR) continue;
        if (some < 0) tool_check(sink->ctx, ny_fail_errno(sink->ctx, "write", sink->path));
        done += (size_t)some;
    }
}

static void open_sink(struct sink *sink, struct ny_context *ctx, const char *path)
{
    *sink = (struct sink){.ctx = ctx, .path = path, .held = tool_alloc(ctx, SINK_BYTES, 1)};
    tool_check(ctx, ny_draft_open(&sink->draft, ctx, path, &sink->fd));
}

/* A file beside `path` that is there as long as this program. */
static void open_scratch(struct sink *sink, struct ny_context *ctx, const char *path)
{
    size_t room = strlen(path) + sizeof ".XXXXXX";
    char *name = tool_alloc(ctx, room, 1);

    *sink = (struct sink){.ctx = ctx, .path = path, .held = tool_alloc(ctx, SINK_BYTES, 1)};
    snprintf(name, room, "%s.XXXXXX", path);
    sink->fd = mkstemp(name);
    if (sink->fd < 0) tool_check(ctx, ny_fail_errno(ctx, "create a file beside", path));
    unlink(name);
}

static void flush(struct sink *sink)
{
    sink->crc = crc32(sink->crc, sink->held, (uInt)sink->count);
    write_at(sink, sink->held, sink->count, sink->offset - sink->count);
    sink->count = 0;
}

static void put(struct sink *sink, const void *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        size_t some = count - done;

        if (some > SINK_BYTES - sink->count) some = SINK_BYTES - sink->count;
        memcpy(sink->held + sink->count, (const char *)bytes + done, some);
        sink->count += some;
        sink->offset += some;
        done += some;
        if (sink->count == SINK_BYTES) flush(sink);
    }
}

static unsigned char *put16(unsigned char *to, unsigned value)
{
    *to++ = (unsigned char)value;
    *to++ = (unsigned char)(value >> 8);
    return to;
}

static unsigned char *put32(unsigned char *to, uint64_t value)
{
    return put16(put16(to, (unsigned)value & 0xffff), (unsigned)(value >> 16) & 0xffff);
}

static unsigned char *put64(unsigned char *to, uint64_t value)
{
    return put32(put32(to, value), value >> 32);
}

/* Leaves room for the headers of a member, whose content begins behind them. */
static void begin_member(struct sink *out, struct member *member, const char *name)
{
    flush(out);
    member->name = name;
    member->at = out->offset;
    out->offset += LOCAL_BYTES + strlen(name) + EXTRA_BYTES + NPY_BYTES;
    out->crc = crc32(0, NULL, 0);
}

/* Writes the headers of the member that ends here: an array of so many elements. */
static void end_member(struct sink *out, struct member *member, const char *descr,
                       const char *shape)
{
    unsigned char local[LOCAL_BYTES + 32 + EXTRA_BYTES], *to;
    char npy[NPY_BYTES + 1], dictionary[118];
    size_t name = strlen(member->name);
    uint64_t body = member->at + LOCAL_BYTES + name + EXTRA_BYTES;

    flush(out);
    member->bytes = out->offset - body;
    snprintf(dictionary, sizeof dictionary,
             "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr, shape);
    memcpy(npy, "\x93NUMPY\1\0\166\0", 10);
    snprintf(npy + 10, sizeof npy - 10, "%-117s\n", dictionary);
    member->crc = crc32_combine(crc32(crc32(0, NULL, 0), (unsigned char *)npy, NPY_BYTES), out->crc,
                                (z_off_t)(member->bytes - NPY_BYTES));
    to = put32(local, 0x04034b50);
    to = put16(put16(put16(to, 45), 0), 0);         /* version, flags, stored */
    to = put32(put32(to, 0x00210000), member->crc); /* 1980-01-01 */
    to = put32(put32(to, UINT32_MAX), UINT32_MAX);  /* sizes are in the extra field */
    to = put16(put16(to, (unsigned)name), EXTRA_BYTES);
    memcpy(to, member->name, name);
    to = put16(put16(to + name, 1), EXTRA_BYTES - 4);
    to = put64(put64(to, member->bytes), member->bytes);
    write_at(out, local, (size_t)(to - local), member->at);
    write_at(out, npy, NPY_BYTES, body);
}

/* Writes the directory and the records of its end. */
static void write_directory(struct sink *out, const struct member *members)
{
    uint64_t first = out->offset, bytes;
    unsigned char record[END64_BYTES + LOCATOR_BYTES + END_BYTES], *to;

    for (int i = 0; i < MEMBERS; i++) {
        const struct member *member = &members[i];
        size_t name = strlen(member->name);

        to = put32(record, 0x02014b50);
        to = put16(put16(put16(put16(to, 45), 45), 0), 0);
        to = put32(put32(to, 0x00210000), member->crc);
        to = put32(put32(to, UINT32_MAX), UINT32_MAX);
        to = put16(put16(put16(to, (unsigned)name), ENTRY_EXTRA_BYTES), 0);
        to = put32(put16(put16(to, 0), 0), 0);
        to = put32(to, UINT32_MAX);
        put(out, record, ENTRY_BYTES);
        put(out, member->name, name);
        to = put16(put16(record, 1), ENTRY_EXTRA_BYTES - 4);
        put64(put64(put64(to, member->bytes), member->bytes), member->at);
        put(out, record, ENTRY_EXTRA_BYTES);
    }
    bytes = out->offset - first;
    to = put64(put32(record, 0x06064b50), END64_BYTES - 12);
    to = put32(put32(put16(put16(to, 45), 45), 0), 0);
    to = put64(put64(put64(put64(to, MEMBERS), MEMBERS), bytes), first);
    to = put32(put32(to, 0x07064b50), 0);
    to = put32(put64(to, first + bytes), 1);
    to = put16(put16(put32(to, 0x06054b50), 0), 0);
    to = put16(put16(to, UINT16_MAX), UINT16_MAX);
    to = put16(put32(put32(to, UINT32_MAX), UINT32_MAX), 0);
    put(out, record, (size_t)(to - record));
}

/* Adds what was written to the other file. */
static void copy(struct sink *out, struct sink *from)
{
    flush(from);
    for (uint64_t at = 0; at < from->offset;) {
        ssize_t some = pread(from->fd, from->held, SINK_BYTES, (off_t)at);

        if (some < 0 && errno == EINTR) continue;
        if (some < 0) tool_check(from->ctx, ny_fail_errno(from->ctx, "read", from->path));
        if (some == 0) tool_fail(NY_EINTERNAL, "%s: its values are gone.", from->path);
        put(out, from->held, (size_t)some);
        at += (size_t)some;
    }
}

/* Draws all rows; columns to one file and values to the other. */
static void write_rows(struct cells *cells, struct sink *out, struct sink *values, uint64_t *start,
                       struct ny_writer *labels)
{
    for (uint64_t row = 0; row < cells->cells; row++) {
        struct cells_row *drawn = cells_draw(cells, out->ctx, row);
        size_t count = drawn->kept;

        start[row + 1] = start[row] + count;
        put(out, drawn->column, count * sizeof *drawn->column);
        if (cells->binary) memset(drawn->count, 1, count);
        put(values, drawn->count, count * (cells->binary ? 1 : sizeof *drawn->count));
        if (labels) tool_print(labels, "%llu\n", (unsigned long long)drawn->type);
    }
}

void cells_write_npz(struct cells *cells, struct ny_context *ctx, const char *path,
                     struct ny_writer *labels)
{
    struct member members[MEMBERS];
    struct sink out, values;
    uint64_t *start = tool_alloc(ctx, cells->cells + 1, sizeof *start);
    int64_t sizes[] = {(int64_t)cells->cells, (int64_t)cells->features};
    char shape[32];

    open_sink(&out, ctx, path);
    open_scratch(&values, ctx, path);
    begin_member(&out, &members[0], "indices.npy");
    write_rows(cells, &out, &values, start, labels);
    snprintf(shape, sizeof shape, "(%llu,)", (unsigned long long)start[cells->cells]);
    end_member(&out, &members[0], "<i4", shape);
    begin_member(&out, &members[1], "data.npy");
    copy(&out, &values);
    end_member(&out, &members[1], cells->binary ? "|u1" : "<i2", shape);
    close(values.fd);
    begin_member(&out, &members[2], "indptr.npy");
    put(&out, start, (cells->cells + 1) * sizeof *start);
    snprintf(shape, sizeof shape, "(%llu,)", (unsigned long long)cells->cells + 1);
    end_member(&out, &members[2], "<i8", shape);
    begin_member(&out, &members[3], "shape.npy");
    put(&out, sizes, sizeof sizes);
    end_member(&out, &members[3], "<i8", "(2,)");
    begin_member(&out, &members[4], "format.npy");
    put(&out, "csr", 3);
    end_member(&out, &members[4], "|S3", "()");
    write_directory(&out, members);
    flush(&out);
    tool_check(ctx, ny_draft_commit(out.draft));
}
