/*
 * Zip archives as io/npz.c needs them (PKWARE's APPNOTE 6.3): the directory at the end, its form
 * of 64 bits, and members as parts of the file (io/bytes.h).
 *
 * Damage is found where it is: a directory that leads out of the file, a member that is
 * packed in another way or encrypted, or larger than its data can be. The directory is trusted for
 * sizes, as the headers of members that were written to a pipe have none.
 */
#include "io/zip.h"

#include <string.h>

#include "base/memory.h"
#include "io/refuse.h"

enum {
    END_BYTES = 22,          /* the record at the archive's end, before its comment */
    COMMENT_MAX = 65535,     /* bytes */
    END64_BYTES = 56,        /* that record in 64 bits */
    LOCATOR_BYTES = 20,      /* the record that says where it is, right before the other */
    ENTRY_BYTES = 46,        /* an entry of the directory, before its name */
    LOCAL_BYTES = 30,        /* the header of a member, before its name */
    DIRECTORY_MAX = 1 << 20, /* more bytes of it are no archive of arrays */
    STORED = 0,
    DEFLATED = 8
};

/* No deflated data are shorter than a 1032nd of what they hold. */
static const uint64_t deflate_most = 1032;

/* Fails because a member is encrypted, or neither stored nor deflated. */
static int unknown_packing(const struct ny_bytes *archive)
{
    return ny_fail_at(archive->ctx, NY_EDATA, archive->path, NY_NO_LINE,
                      "%s is a zip archive of another kind; save the matrix with "
                      "scipy.sparse.save_npz",
                      archive->path);
}

/* Reads bytes at a place of the archive, which must be there. */
static int read_at(const struct ny_bytes *archive, uint64_t at, void *to, size_t wanted)
{
    size_t got;
    int err = ny_bytes_read_at(archive, archive->start + at, to, wanted, &got);

    if (err || got == wanted) return err;
    return ny_bytes_damaged(archive);
}

/* ---- the directory ------------------------------------------------------------------------- */

struct directory {
    uint64_t at, bytes;
};

/* Reads the record of 64 bits, which a locator right before the record at `end` leads to. */
static int read_end64(const struct ny_bytes *archive, uint64_t end, struct directory *directory)
{
    unsigned char locator[LOCATOR_BYTES], record[END64_BYTES];
    uint64_t at;
    int err;

    if (end < LOCATOR_BYTES) return ny_bytes_damaged(archive);
    err = read_at(archive, end - LOCATOR_BYTES, locator, sizeof(locator));
    if (err) return err;
    at = ny_low_first(locator + 8, 8);
    if (memcmp(locator, "PK\6\7", 4) != 0 || at > end || end - at < END64_BYTES)
        return ny_bytes_damaged(archive);
    err = read_at(archive, at, record, sizeof(record));
    if (err) return err;
    if (memcmp(record, "PK\6\6", 4) != 0) return ny_bytes_damaged(archive);
    *directory = (struct directory){ny_low_first(record + 48, 8), ny_low_first(record + 40, 8)};
    return NY_OK;
}

/* Finds the record at the archive's end, behind which there is only its comment. */
static int find_directory(const struct ny_bytes *archive, struct directory *directory)
{
    uint64_t size = archive->size - archive->start;
    size_t tail = size < END_BYTES + COMMENT_MAX ? (size_t)size : END_BYTES + COMMENT_MAX, at;
    unsigned char *bytes = ny_alloc(archive->ctx, NY_MEM_IO, tail);
    int err = NY_EBUDGET;

    if (!bytes) return err;
    err = read_at(archive, size - tail, bytes, tail);
    if (err) goto done;
    for (at = tail < END_BYTES ? 0 : tail - END_BYTES + 1; at > 0; at--)
        if (memcmp(bytes + at - 1, "PK\5\6", 4) == 0 &&
            ny_low_first(bytes + at - 1 + 20, 2) == tail - (at - 1) - END_BYTES)
            break;
    if (at == 0) {
        err = ny_bytes_damaged(archive);
        goto done;
    }
    at--;
    *directory =
        (struct directory){ny_low_first(bytes + at + 16, 4), ny_low_first(bytes + at + 12, 4)};
    if (directory->at == UINT32_MAX || directory->bytes == UINT32_MAX ||
        ny_low_first(bytes + at + 10, 2) == UINT16_MAX)
        err = read_end64(archive, size - tail + at, directory);
    if (!err && (directory->at > size || directory->bytes > size - directory->at))
        err = ny_bytes_damaged(archive);
done:
    ny_free(archive->ctx, bytes);
    return err;
}

/* Takes the sizes and the place that do not fit in 32 bits from the extra field of an entry. */
static bool take_sizes64(struct ny_zip_member *member, const unsigned char *extra, size_t length)
{
    uint64_t *const wanted[] = {&member->part.bytes, &member->part.packed, &member->part.at};

    for (size_t at = 0; at + 4 <= length; at += 4 + ny_low_first(extra + at + 2, 2)) {
        const unsigned char *field = extra + at + 4;
        size_t left = ny_low_first(extra + at + 2, 2);

        if (ny_low_first(extra + at, 2) != 1) continue;
        if (at + 4 + left > length) return false;
        for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
            if (*wanted[i] != UINT32_MAX) continue;
            if (left < sizeof(uint64_t)) return false;
            *wanted[i] = ny_low_first(field, 8);
            field += sizeof(uint64_t);
            left -= sizeof(uint64_t);
        }
        return true;
    }
    return false;
}

/* Fills the member that an entry of the directory is about. */
static int take_entry(const struct ny_bytes *archive, const unsigned char *entry,
                      struct ny_zip_member *member)
{
    struct ny_bytes_part *part = &member->part;

    member->found = true;
    member->encrypted = ny_low_first(entry + 8, 2) & 1;
    member->method = (unsigned)ny_low_first(entry + 10, 2);
    part->crc = (uint32_t)ny_low_first(entry + 16, 4);
    part->packed = ny_low_first(entry + 20, 4);
    part->bytes = ny_low_first(entry + 24, 4);
    part->at = ny_low_first(entry + 42, 4);
    if ((part->packed == UINT32_MAX || part->bytes == UINT32_MAX || part->at == UINT32_MAX) &&
        !take_sizes64(member, entry + ENTRY_BYTES + ny_low_first(entry + 28, 2),
                      ny_low_first(entry + 30, 2)))
        return ny_bytes_damaged(archive);
    return NY_OK;
}

/* Walks over the entries of the directory, which is in memory. */
static int walk(const struct ny_bytes *archive, const unsigned char *entry, size_t left,
                struct ny_zip_member *members, size_t count)
{
    size_t bytes;
    int err = NY_OK;

    for (; !err && left > 0; entry += bytes, left -= bytes) {
        const char *name = (const char *)entry + ENTRY_BYTES;
        size_t length;

        if (left < ENTRY_BYTES || memcmp(entry, "PK\1\2", 4) != 0) return ny_bytes_damaged(archive);
        length = ny_low_first(entry + 28, 2);
        bytes = ENTRY_BYTES + length + ny_low_first(entry + 30, 2) + ny_low_first(entry + 32, 2);
        if (bytes > left) return ny_bytes_damaged(archive);
        for (size_t i = 0; !err && i < count; i++)
            if (strlen(members[i].name) == length && memcmp(members[i].name, name, length) == 0)
                err = take_entry(archive, entry, &members[i]);
    }
    return err;
}

int ny_zip_find(const struct ny_bytes *archive, struct ny_zip_member *members, size_t count)
{
    struct directory directory = {0};
    unsigned char *entries;
    int err = find_directory(archive, &directory);

    if (err) return err;
    if (directory.bytes > DIRECTORY_MAX) return ny_bytes_damaged(archive);
    entries = ny_alloc(archive->ctx, NY_MEM_IO, (size_t)directory.bytes);
    if (!entries) return NY_EBUDGET;
    err = read_at(archive, directory.at, entries, (size_t)directory.bytes);
    if (!err) err = walk(archive, entries, (size_t)directory.bytes, members, count);
    ny_free(archive->ctx, entries);
    return err;
}

/* ---- members ------------------------------------------------------------------------------- */

int ny_zip_open(struct ny_bytes **out, const struct ny_bytes *archive,
                const struct ny_zip_member *member)
{
    struct ny_bytes_part part = member->part;
    unsigned char header[LOCAL_BYTES];
    uint64_t size = archive->size - archive->start;
    int err;

    *out = NULL;
    if (member->encrypted || (member->method != STORED && member->method != DEFLATED))
        return unknown_packing(archive);
    if (part.at > size || size - part.at < LOCAL_BYTES) return ny_bytes_damaged(archive);
    err = read_at(archive, part.at, header, sizeof(header));
    if (err) return err;
    if (memcmp(header, "PK\3\4", 4) != 0) return ny_bytes_damaged(archive);
    part.at += (uint64_t)LOCAL_BYTES + ny_low_first(header + 26, 2) + ny_low_first(header + 28, 2);
    part.deflated = member->method == DEFLATED;
    if (part.at > size || part.packed > size - part.at) return ny_bytes_damaged(archive);
    if (part.deflated ? part.bytes / deflate_most > part.packed : part.bytes != part.packed)
        return ny_bytes_damaged(archive);
    part.at += archive->start;
    return ny_bytes_open_part(out, archive, &part);
}
