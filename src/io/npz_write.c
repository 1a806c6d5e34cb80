/*
 * Writes .npz files (io/npz_write.h), which results/graph_export.c has for graphs.
 *
 * A zip archive has the checksum of a member in front of it. The arrays are in memory, so that each
 * is looked at once more, and nothing needs to be sought in the output. All sizes are of 64 bits
 * (zip64), since an array may have more than 4 GiB; Python, and io/zip.c, read these.
 */
#include "io/npz_write.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "io/npy_header.h"

enum { LOCAL_BYTES = 30, ENTRY_BYTES = 46, NAME_BYTES = 32 };
enum { LOCAL_EXTRA = 20, ENTRY_EXTRA = 28, END64_BYTES = 56, LOCATOR_BYTES = 20, END_BYTES = 22 };
enum { VERSION = 45, EXTRA64 = 1 };              /* the first version with 64 bits */
static const uint32_t day = 1u << 21 | 1u << 16; /* January 1st, 1980: no time is kept */
static const uint32_t is_in_extra = UINT32_MAX;  /* in the place of a size */

/* A member as it is written: the header of its npy, its name, and what the directory says of it. */
struct member {
    const struct ny_npz_out *array;
    char npy[NY_NPY_HEADER_BYTES];
    char name[NAME_BYTES];
    uint32_t crc;
    uint64_t at;
};

struct archive {
    struct ny_context *ctx;
    struct ny_writer *writer;
    uint64_t written;
    struct member member[NY_NPZ_OUT_MAX];
};

/* ---- bytes ---------------------------------------------------------------------------------- */

static int put(struct archive *archive, const void *bytes, size_t count)
{
    archive->written += count;
    return ny_writer_rows(archive->writer, bytes, count);
}

/* Puts a number of `bytes` bytes, the lowest first, at *to and moves it on. */
static void add(unsigned char **to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        *(*to)++ = (unsigned char)(value >> 8 * i);
}

/* ---- members -------------------------------------------------------------------------------- */

/* Fills in the npy header and the checksum of a member. */
static int describe(struct archive *archive, struct member *member)
{
    const size_t piece = (size_t)1 << 26; /* between two looks at the interrupt */
    const struct ny_npz_out *array = member->array;
    int err = NY_OK;

    snprintf(member->name, sizeof(member->name), "%s.npy", array->name);
    ny_npy_header_text(member->npy, array->descr, array->shape);
    member->crc = (uint32_t)crc32_z(0, (const unsigned char *)member->npy, NY_NPY_HEADER_BYTES);
    for (size_t at = 0; at < array->bytes && err == NY_OK; at += piece) {
        size_t left = array->bytes - at;

        member->crc = (uint32_t)crc32_z(member->crc, (const unsigned char *)array->values + at,
                                        left < piece ? left : piece);
        err = ny_check_interrupt(archive->ctx);
    }
    return err;
}

/* Adds what the header of a member and its entry of the directory have in common, from the version
 * on to the length of the name. */
static void add_common(unsigned char **to, const struct member *member)
{
    add(to, VERSION, 2);
    add(to, 0, 4); /* no flags, stored */
    add(to, day, 4);
    add(to, member->crc, 4);
    add(to, is_in_extra, 4);
    add(to, is_in_extra, 4);
    add(to, strlen(member->name), 2);
}

/* Adds the name, and the extra field of so many bytes up to the sizes of the member. */
static void add_name(unsigned char **to, const struct member *member, unsigned extra)
{
    memcpy(*to, member->name, strlen(member->name));
    *to += strlen(member->name);
    add(to, EXTRA64, 2);
    add(to, extra - 4, 2);
    add(to, NY_NPY_HEADER_BYTES + member->array->bytes, 8);
    add(to, NY_NPY_HEADER_BYTES + member->array->bytes, 8);
}

static int put_member(struct archive *archive, struct member *member)
{
    const struct ny_npz_out *array = member->array;
    unsigned char header[LOCAL_BYTES + NAME_BYTES + LOCAL_EXTRA], *to = header;
    int err = describe(archive, member);

    member->at = archive->written;
    add(&to, 0x04034b50, 4);
    add_common(&to, member);
    add(&to, LOCAL_EXTRA, 2);
    add_name(&to, member, LOCAL_EXTRA);
    if (err == NY_OK) err = put(archive, header, (size_t)(to - header));
    if (err == NY_OK) err = put(archive, member->npy, NY_NPY_HEADER_BYTES);
    return err ? err : put(archive, array->values, array->bytes);
}

/* ---- the directory -------------------------------------------------------------------------- */

static int put_entry(struct archive *archive, const struct member *member)
{
    unsigned char entry[ENTRY_BYTES + NAME_BYTES + ENTRY_EXTRA], *to = entry;

    add(&to, 0x02014b50, 4);
    add(&to, VERSION, 2);
    add_common(&to, member);
    add(&to, ENTRY_EXTRA, 2);
    add(&to, 0, 6); /* no comment, first disk, no attributes */
    add(&to, 0, 4);
    add(&to, is_in_extra, 4);
    add_name(&to, member, ENTRY_EXTRA);
    add(&to, member->at, 8);
    return put(archive, entry, (size_t)(to - entry));
}

/* Puts the end of the archive, behind a directory that begins at `directory`. */
static int put_end(struct archive *archive, uint64_t directory, size_t count)
{
    unsigned char end[END64_BYTES + LOCATOR_BYTES + END_BYTES], *to = end;
    uint64_t at = archive->written;

    add(&to, 0x06064b50, 4);
    add(&to, END64_BYTES - 12, 8);
    add(&to, VERSION, 2);
    add(&to, VERSION, 2);
    add(&to, 0, 8); /* the first disk */
    add(&to, count, 8);
    add(&to, count, 8);
    add(&to, at - directory, 8);
    add(&to, directory, 8);
    add(&to, 0x07064b50, 4);
    add(&to, 0, 4);
    add(&to, at, 8);
    add(&to, 1, 4); /* disks */
    add(&to, 0x06054b50, 4);
    add(&to, 0, 4);
    add(&to, count, 2);
    add(&to, count, 2);
    add(&to, is_in_extra, 4);
    add(&to, is_in_extra, 4);
    add(&to, 0, 2);
    return put(archive, end, sizeof(end));
}

int ny_npz_write(struct ny_context *ctx, struct ny_writer *writer, const struct ny_npz_out *arrays,
                 size_t count)
{
    struct archive archive = {.ctx = ctx, .writer = writer};
    uint64_t directory;
    int err = NY_OK;

    assert(count <= NY_NPZ_OUT_MAX);
    for (size_t i = 0; i < count && err == NY_OK; i++) {
        archive.member[i].array = &arrays[i];
        err = put_member(&archive, &archive.member[i]);
    }
    directory = archive.written;
    for (size_t i = 0; i < count && err == NY_OK; i++)
        err = put_entry(&archive, &archive.member[i]);
    return err ? err : put_end(&archive, directory, count);
}
