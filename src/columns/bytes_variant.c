/*
 * Exact ‖x − y‖² of bytes, 12 rows × 32 landmarks, in blocks of rows and landmarks whose sums stay
 * in registers.
 *
 * Four bytes of a landmark are a word of a panel. Some CPUs multiply the bytes of two words and add
 * up the four products in one instruction: vpdpbusd of AVX512-VNNI, udot of ARM. Elsewhere a word
 * is taken in parts (base/vector.h): x86 multiplies pairs of 16 bits, the even and the odd bytes.
 * The bytes of the rows are then spread likewise, once for all landmarks of the panel. Landmarks
 * are kept less NY_BYTE_BIAS: x·y = Σ x(y − bias) + bias Σx. All sums are modulo 2³²; ‖x − y‖²
 * itself is below 2³¹.
 */
#include <string.h>

#include "base/vector.h"
#include "columns/vector.h"

typedef uint32_t words_t __attribute__((vector_size(NY_VECTOR_BYTES)));

/* Loops over registers, which must be unrolled. */
#define EACH(i, count) _Pragma("GCC unroll 16") for (size_t i = 0; i < (count); i++)

enum {
    LANES = NY_VECTOR_BYTES / sizeof(int32_t),
    MOST_VECTORS = NY_VECTOR_REGISTERS / 8,
    VECTORS = NY_PANEL / LANES < MOST_VECTORS ? NY_PANEL / LANES : MOST_VECTORS,
    ROWS = NY_VECTOR_REGISTERS * 3 / 4 / VECTORS,
    WHOLE = NY_BYTE_PARTS == 1,
    SPREAD = 64 /* words that rows are spread of at a time */
};

/* Rows, part by part: words of theirs, or parts of these that are spread. */
struct words {
    const uint8_t *part[NY_BYTE_PARTS][NY_BYTE_ROWS];
    uint32_t spread[WHOLE ? 1 : NY_BYTE_PARTS][WHOLE ? 1 : NY_BYTE_ROWS][WHOLE ? 1 : SPREAD];
};

static inline void take_words(const struct ny_byte_rows *rows, size_t first, size_t count,
                              struct words *words)
{
    for (size_t r = 0; r < NY_BYTE_ROWS; r++) {
        const uint8_t *x = rows->row[r] + 4 * first;

        EACH(part, NY_BYTE_PARTS)
        words->part[part][r] = WHOLE ? x : (const uint8_t *)words->spread[part][r];
        for (size_t q = 0; q < count && !WHOLE; q++) {
            uint32_t word;

            memcpy(&word, x + 4 * q, sizeof(word));
            EACH(part, NY_BYTE_PARTS)
            words->spread[part][r][q] = ny_byte_part(word, (unsigned)part);
        }
    }
}

static inline ny_vector_bits load(const void *from)
{
    ny_vector_bits bits;

    memcpy(&bits, from, sizeof(bits));
    return bits;
}

/* ‖x‖² + ‖y‖² − 2 x·y of some landmarks, where term = ‖x‖² − 2 bias Σx. */
static inline ny_floats square_of(ny_vector_bits dot, uint32_t term, const uint32_t *y_norms)
{
    words_t square = (words_t)load(y_norms) + term - 2 * (words_t)dot;

    return __builtin_convertvector((ny_vector_bits)square, ny_floats);
}

/* Rows and a panel. With `below`, values are put only if some of their block are below the bound of
 * their row, and the bits of these there. */
struct work {
    const struct ny_byte_rows *rows;
    const int8_t *panel;
    const uint32_t *y_norms;
    float (*out)[NY_PANEL];
    uint32_t *below;
};

/* A piece of the words of rows and landmarks, and whether others come before and behind it. */
struct piece {
    struct words words;
    size_t first, count;
    bool adds, ends;
};

/* Puts the values of row r and the landmarks of a block from `at` on. Returns whether any are below
 * the bound that is looked for. */
static inline __attribute__((always_inline)) bool put(const struct work *work, size_t r, size_t at,
                                                      const ny_vector_bits *dot, const bool looks)
{
    ny_floats value[VECTORS];
    uint32_t less = 0;

    EACH(v, VECTORS)
    value[v] = square_of(dot[v], work->rows->term[r], work->y_norms + at + v * LANES);
    if (looks) {
        EACH(v, VECTORS) less |= ny_floats_less(value[v], work->rows->bound[r]) << v * LANES;
        less <<= at;
        work->below[r] = at ? work->below[r] | less : less;
        if (!less) return false;
    }
    EACH(v, VECTORS) memcpy(work->out[r] + at + v * LANES, &value[v], sizeof(value[v]));
    return looks;
}

/* Multiplies a piece of some rows and landmarks. Part by part: compilers add the products of parts
 * first, else, and keep sums in memory. */
static inline __attribute__((always_inline)) unsigned multiply_block(const struct work *work,
                                                                     const struct piece *piece,
                                                                     size_t row, size_t at,
                                                                     const bool looks)
{
    const int8_t *panel = work->panel + (piece->first * NY_PANEL + at) * 4;
    ny_vector_bits sum[ROWS][VECTORS], y[VECTORS];
    float(*out)[NY_PANEL] = work->out + row;
    unsigned there = 0;

    EACH(r, ROWS)
    EACH(v, VECTORS) sum[r][v] = (ny_vector_bits){0};
    if (piece->adds) {
        EACH(r, ROWS)
        EACH(v, VECTORS) sum[r][v] = load(out[r] + at + v * LANES);
    }
    EACH(part, NY_BYTE_PARTS)
    for (size_t q = 0; q < piece->count; q++) {
        EACH(v, VECTORS)
        y[v] = ny_byte_parts(load(panel + (q * NY_PANEL + v * LANES) * 4), (unsigned)part);
        EACH(r, ROWS)
        {
            int32_t x;

            memcpy(&x, piece->words.part[part][row + r] + 4 * q, sizeof(x));
            EACH(v, VECTORS) sum[r][v] = ny_add_products(sum[r][v], x, y[v]);
        }
    }
    if (piece->ends) {
        EACH(r, ROWS)
        there |= (unsigned)put(work, row + r, at, sum[r], looks) << (row + r);
    } else {
        EACH(r, ROWS)
        EACH(v, VECTORS) memcpy(out[r] + at + v * LANES, &sum[r][v], sizeof(sum[r][v]));
    }
    return there;
}

/* Returns the rows that have values below their bounds, if those are looked for. */
static inline __attribute__((always_inline)) unsigned multiply(const struct work *work,
                                                               size_t quads, const bool looks)
{
    const size_t most = WHOLE ? quads : SPREAD;
    unsigned there = 0;
    struct piece piece;

    for (size_t q = 0; q < quads; q += most) {
        piece.first = q;
        piece.count = quads - q < most ? quads - q : most;
        piece.adds = q > 0;
        piece.ends = q + piece.count == quads;
        take_words(work->rows, q, piece.count, &piece.words);
        for (size_t at = 0; at < NY_PANEL; at += VECTORS * LANES)
            for (size_t r = 0; r < NY_BYTE_ROWS; r += ROWS)
                there |= multiply_block(work, &piece, r, at, looks);
    }
    return there;
}

static void square(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                   const uint32_t y_norms[NY_PANEL], float out[NY_BYTE_ROWS][NY_PANEL])
{
    multiply(&(struct work){rows, panel, y_norms, out, NULL}, quads, false);
}

static unsigned below(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                      const uint32_t y_norms[NY_PANEL], struct ny_byte_found *found)
{
    return multiply(&(struct work){rows, panel, y_norms, found->value, found->below}, quads, true);
}

extern const struct ny_byte_ops NY_VARIANT_NAME(ny_byte_ops);
const struct ny_byte_ops NY_VARIANT_NAME(ny_byte_ops) = {square, below};
