/* Blocks of sparse rows: what is encoded comes back, and images that are wrong are refused. */
#include "base/random.h"
#include "store/csr.h"
#include "support/test.h"

enum { D = 1 << 24, ROWS = 200, ROOM = 1 << 16 };

struct block {
    uint32_t start[ROWS + 1], index[ROOM];
    uint8_t value[ROOM];
};

/* Rows of 0 to 100 values, whose gaps have as many bits as a hash says, up to `bits`. */
static struct block *make_block(unsigned bits)
{
    struct block *b = lend_zeros(sizeof(*b));
    uint32_t k = 0;

    for (size_t i = 0; i < ROWS; i++) {
        size_t count = (size_t)(ny_hash01(1, bits, i) * 101);
        uint64_t next = 0;

        b->start[i] = k;
        for (size_t j = 0; j < count; j++, k++) {
            unsigned some = (unsigned)(ny_hash01(2, bits, k) * (bits + 1));

            next += (uint64_t)(ny_hash01(3, bits, k) * (double)(1u << some));
            if (next >= D) break;
            b->index[k] = (uint32_t)next++;
            b->value[k] = (uint8_t)k;
        }
    }
    b->start[ROWS] = k;
    return b;
}

TEST(rows_come_back)
{
    struct block *out = lend_zeros(sizeof(*out));
    void *image = lend(ny_csr_bound(ROWS, ROOM, NY_U8));

    for (unsigned bits = 0; bits <= 24; bits++) {
        struct block *b = make_block(bits);
        struct ny_csr rows = {
            .dtype = NY_U8, .rows = ROWS, .start = b->start, .index = b->index, .value = b->value};
        struct ny_csr_image as = {
            .at = image, .rows = ROWS, .wanted = ROWS, .d = D, .dtype = NY_U8};
        size_t nnz = b->start[ROWS];
        const char *wrong;

        as.bytes = ny_csr_encode(&rows, ROWS, image);
        assert_int_equal(ny_csr_count(&as, &wrong), nnz);
        assert_null(wrong);
        assert_null(ny_csr_decode(&as, nnz, out->start, out->index, out->value));
        assert_memory_equal(out->start, b->start, sizeof(b->start));
        assert_memory_equal(out->index, b->index, nnz * sizeof(uint32_t));
        assert_memory_equal(out->value, b->value, nnz);
        /* No column is too many, and then one is. */
        as.d = 0;
        for (size_t k = 0; k < nnz; k++)
            if (b->index[k] >= as.d) as.d = (uint64_t)b->index[k] + 1;
        assert_null(ny_csr_decode(&as, nnz, out->start, out->index, out->value));
        as.d--;
        if (nnz) assert_non_null(ny_csr_decode(&as, nnz, out->start, out->index, out->value));
    }
}

/* One row of nine values, whose columns are encoded by hand: `bytes` of them at `numbers`. */
static const char *decode(const unsigned char *numbers, size_t bytes)
{
    unsigned char image[64] = {0};
    uint32_t head[2] = {9, (uint32_t)bytes + 1}, start[2], index[9];
    uint8_t value[9];
    struct ny_csr_image as = {.at = image, .rows = 1, .wanted = 1, .d = 1000, .dtype = NY_U8};

    memcpy(image, head, sizeof(head));
    image[8] = 9;
    memcpy(image + 9, numbers, bytes);
    as.bytes = 9 + bytes + 9;
    return ny_csr_decode(&as, 9, start, index, value);
}

TEST(wrong_columns_are_refused)
{
    const unsigned char good[9] = {0}, far[10] = {0, 0, 0, 0, 0, 0, 0, 0xff, 0x7f, 0};
    /* A gap of 2³² − 3, behind five columns: modulo 2³² they would begin anew. */
    const unsigned char round[13] = {0, 0, 0, 0, 0, 0xfd, 0xff, 0xff, 0xff, 0x0f, 0, 0, 0};
    const unsigned char endless[9] = {0, 0, 0, 0, 0, 0, 0, 0, 0x80};
    const unsigned char few[8] = {0};

    assert_null(decode(good, sizeof(good)));
    assert_non_null(decode(far, sizeof(far)));
    assert_non_null(decode(round, sizeof(round)));
    assert_non_null(decode(endless, sizeof(endless)));
    assert_non_null(decode(few, sizeof(few)));
}
