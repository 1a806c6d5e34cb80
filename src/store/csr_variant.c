/* Columns of sparse rows from the gaps between them, compiled once for each CPU family: by vectors
 * where the family has what it takes, else eight bytes at a time. */
#include <endian.h>
#include <string.h>

#include "base/vector.h"
#include "store/csr_numbers.h"

/* Eight bytes hold numbers of one or two bytes, and which of them have the high bit tells where
 * each number begins, in bits, and whether it has seven bits more in a second byte. */
enum { WORD = 8 };
struct word_layout {
    uint8_t count, bytes;
    uint8_t shift[WORD];
    uint16_t second[WORD];
};

static void lay_out_words(struct word_layout layouts[256])
{
    for (unsigned mask = 0; mask < 256; mask++) {
        struct word_layout layout = {0};

        for (unsigned byte = 0; byte < WORD; byte++) {
            bool two = mask >> byte & 1;

            layout.shift[layout.count] = (uint8_t)(8 * byte);
            layout.second[layout.count] = two ? 127 << 7 : 0;
            byte += two;
            if (byte >= WORD) break;
            layout.count++;
            layout.bytes = (uint8_t)(byte + 1);
        }
        layouts[mask] = layout;
    }
}

/* Reads the gaps of up to eight columns from eight bytes, where each gap has one or two: `next`
 * columns are behind. Returns how many there are, or 0. All of index[0…7] are overwritten. */
static inline unsigned get_word(struct ny_csr_numbers *from, const struct word_layout *layouts,
                                uint64_t next, uint32_t *index)
{
    const uint64_t high_bits = 0x8080808080808080, to_mask = 0x0002040810204081;
    const struct word_layout *layout;
    uint64_t word, high;

    memcpy(&word, from->at, sizeof(word));
    word = le64toh(word);
    high = word & high_bits;
    if (high & high << 8) return 0;
    layout = &layouts[high * to_mask >> 56];
    word ^= high;
    for (unsigned k = 0; k < WORD; k++) {
        uint64_t number = word >> layout->shift[k];

        next += (number & 127) | (number >> 1 & layout->second[k]);
        index[k] = (uint32_t)next++;
    }
    from->at += layout->bytes;
    return layout->count;
}

/* Reads gaps while the image has a vector of them and the row has as many columns to come; returns
 * how many columns there are now. */
static inline size_t get_vectors(struct ny_csr_numbers *from, uint64_t d, uint32_t *index,
                                 size_t count)
{
    uint32_t next = 0;
    size_t k = 0;

    while (count - k >= NY_VECTOR_GAPS && from->end - from->at >= NY_VECTOR_GAPS && next <= d) {
        unsigned bytes, got = ny_vector_gaps(from->at, &next, index + k, &bytes);

        if (!got) break;
        from->at += bytes;
        k += got;
    }
    return k;
}

/* Reads the columns of a row: false where one is not below d. Numbers are taken some at a time
 * while the image and the row have so many. */
static bool get_row(struct ny_csr_numbers *from, const struct word_layout *layouts, uint64_t d,
                    uint32_t *index, size_t count)
{
    size_t k = get_vectors(from, d, index, count);
    uint64_t next = k ? (uint64_t)index[k - 1] + 1 : 0;

    if (next > d) return false;
    for (size_t got; k < count; k += got) {
        got = 0;
        if (count - k >= WORD && from->end - from->at >= WORD)
            got = get_word(from, layouts, next, index + k);
        if (got) {
            next = (uint64_t)index[k + got - 1] + 1;
        } else {
            next += (uint64_t)ny_csr_number(from) + 1;
            index[k] = (uint32_t)(next - 1);
            got = 1;
        }
        if (next > d) return false;
    }
    return true;
}

extern ny_csr_columns_fn NY_VARIANT_NAME(ny_csr_columns);
bool NY_VARIANT_NAME(ny_csr_columns)(struct ny_csr_numbers *from, uint64_t d, const uint32_t *start,
                                     size_t rows, uint32_t *index)
{
    struct word_layout layouts[256];

    lay_out_words(layouts);
    for (size_t i = 0; i < rows; i++)
        if (!get_row(from, layouts, d, index + start[i], start[i + 1] - start[i])) return false;
    return true;
}
