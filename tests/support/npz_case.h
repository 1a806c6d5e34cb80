/* Zip archives of npy arrays, made in memory for the tests of the reader of .npz files. */
#ifndef NY_TESTS_NPZ_CASE_H
#define NY_TESTS_NPZ_CASE_H

#include <zlib.h>

#include "support/npy.h"
#include "support/test.h"

enum { NPZ_CASE_BYTES = 512 * 1024, NPZ_CASE_ARRAYS = 8 };

/* An array: its name, and what its npy file holds. */
struct npz_case_array {
    const char *name, *descr, *shape;
    const void *data;
    size_t bytes;
};

/* How the archive is written, and what is wrong with it. */
struct npz_case_how {
    bool deflate;
    bool zip64;             /* sizes and places of 64 bits, as zip writers of large files have */
    unsigned method;        /* not 0: the method that is claimed */
    unsigned flags;         /* flags of each member */
    const char *wrong_crc;  /* name of the member that has it */
    const char *wrong_size; /* this member claims more bytes than it has */
};

static inline unsigned char *npz_case_put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8) /* more than eight are zeros */
        *to++ = (unsigned char)value;
    return to;
}

/* Packs bytes as zip does, without zlib's header. */
static inline size_t npz_case_deflate(unsigned char *to, size_t room, const unsigned char *from,
                                      size_t bytes)
{
    z_stream z = {0};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    z.next_in = (unsigned char *)(uintptr_t)from;
    z.avail_in = (unsigned)bytes;
    z.next_out = to;
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return z.total_out;
}

/* Writes the archive and returns its bytes. */
static inline size_t npz_case_zip(unsigned char *to, const struct npz_case_array *arrays,
                                  size_t count, struct npz_case_how how)
{
    static unsigned char npy[NPZ_CASE_BYTES], packed[NPZ_CASE_BYTES];
    static unsigned char listing[8192];
    unsigned char *at = to, *entry = listing;
    uint64_t start;

    for (size_t i = 0; i < count; i++) {
        char header[256];
        size_t name = strlen(arrays[i].name), bytes, stored;
        uint64_t place = (uint64_t)(at - to), claimed;
        uint32_t crc;

        snprintf(header, sizeof(header), "{'descr': '%s', 'fortran_order': False, 'shape': %s, }",
                 arrays[i].descr, arrays[i].shape);
        bytes = support_npy(npy, header, arrays[i].data, arrays[i].bytes);
        crc = (uint32_t)crc32(0, npy, (unsigned)bytes);
        if (how.wrong_crc && strcmp(how.wrong_crc, arrays[i].name) == 0) crc ^= 1;
        claimed = bytes;
        if (how.wrong_size && strcmp(how.wrong_size, arrays[i].name) == 0) claimed += 1ULL << 40;
        stored = bytes;
        memcpy(packed, npy, bytes);
        if (how.deflate) stored = npz_case_deflate(packed, sizeof(packed), npy, bytes);

        memcpy(at, "PK\3\4\24\0", 6);
        at = npz_case_put(at + 6, how.flags, 2);
        at = npz_case_put(at, how.deflate ? 8 : 0, 2);
        memset(at, 0, 16); /* time, date, and sizes that the directory has */
        at = npz_case_put(at + 16, name, 2);
        at = npz_case_put(at, 0, 2);
        memcpy(at, arrays[i].name, name);
        memcpy(at + name, packed, stored);
        at += name + stored;

        memcpy(entry, "PK\1\2\24\0\24\0", 8);
        entry = npz_case_put(entry + 8, how.flags, 2);
        entry = npz_case_put(entry, how.method ? how.method : how.deflate ? 8 : 0, 2);
        entry = npz_case_put(entry, 0, 4);
        entry = npz_case_put(entry, crc, 4);
        entry = npz_case_put(entry, how.zip64 ? UINT32_MAX : stored, 4);
        entry = npz_case_put(entry, how.zip64 ? UINT32_MAX : claimed, 4);
        entry = npz_case_put(entry, name, 2);
        entry = npz_case_put(entry, how.zip64 ? 28 : 0, 2);
        entry = npz_case_put(entry, 0, 10);
        entry = npz_case_put(entry, how.zip64 ? UINT32_MAX : place, 4);
        memcpy(entry, arrays[i].name, name);
        entry += name;
        if (how.zip64) {
            entry = npz_case_put(entry, 1, 2);
            entry = npz_case_put(entry, 24, 2);
            entry = npz_case_put(entry, claimed, 8);
            entry = npz_case_put(entry, stored, 8);
            entry = npz_case_put(entry, place, 8);
        }
    }
    start = (uint64_t)(at - to);
    memcpy(at, listing, (size_t)(entry - listing));
    at += entry - listing;
    if (how.zip64) {
        uint64_t end64 = (uint64_t)(at - to);

        memcpy(at, "PK\6\6", 4);
        at = npz_case_put(at + 4, 44, 8);
        at = npz_case_put(at, 0, 12);
        at = npz_case_put(at, count, 8);
        at = npz_case_put(at, count, 8);
        at = npz_case_put(at, (uint64_t)(entry - listing), 8);
        at = npz_case_put(at, start, 8);
        memcpy(at, "PK\6\7", 4);
        at = npz_case_put(at + 4, 0, 4);
        at = npz_case_put(at, end64, 8);
        at = npz_case_put(at, 1, 4);
    }
    memcpy(at, "PK\5\6", 4);
    at = npz_case_put(at + 4, 0, 4);
    at = npz_case_put(at, how.zip64 ? UINT16_MAX : count, 2);
    at = npz_case_put(at, how.zip64 ? UINT16_MAX : count, 2);
    at = npz_case_put(at, how.zip64 ? UINT32_MAX : (uint64_t)(entry - listing), 4);
    at = npz_case_put(at, how.zip64 ? UINT32_MAX : start, 4);
    return (size_t)(npz_case_put(at, 0, 2) - to);
}

/* The arrays of a matrix by rows of int32 indices and u8 values. */
static inline void npz_case_matrix(struct npz_case_array arrays[5], const char *format,
                                   const int64_t shape[2], const int32_t *indptr, size_t lines,
                                   const int32_t *indices, const uint8_t *data, size_t entries)
{
    static char shapes[2][16];

    snprintf(shapes[0], sizeof(shapes[0]), "(%zu,)", lines + 1);
    snprintf(shapes[1], sizeof(shapes[1]), "(%zu,)", entries);
    arrays[0] = (struct npz_case_array){"indices.npy", "<i4", shapes[1], indices, 4 * entries};
    arrays[1] = (struct npz_case_array){"indptr.npy", "<i4", shapes[0], indptr, 4 * (lines + 1)};
    arrays[2] = (struct npz_case_array){"format.npy", "|S3", "()", format, 3};
    arrays[3] = (struct npz_case_array){"shape.npy", "<i8", "(2,)", shape, 16};
    arrays[4] = (struct npz_case_array){"data.npy", "|u1", shapes[1], data, entries};
}

#endif
