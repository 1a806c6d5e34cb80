/*
 * Exact ‖x − y‖² of bytes, 12 rows × 32 landmarks, in blocks of rows and landmarks whose sums stay in
 * registers.
 *
 * Four bytes of a landmark are a word of a panel. Some CPUs multiply the bytes of two words and add
 * up the four products in one instruction: vpdpbusd of AVX512-VNNI, udot of ARM. Elsewhere a word is
 * taken in parts (base/vector.h): x86 multiplies pairs of 16 bits, the even and the odd bytes. The
 * bytes of the rows are then spread likewise, once for all landmarks of the panel. Landmarks are
 * kept less NY_BYTE_BIAS: x·y = Σ x(y − bias) + bias Σx. All sums are modulo 2³²; ‖x − y‖² itself is
 * below 2³¹.
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

/* A piece of the words of rows and landmarks, and whether others come before and behind it. */
struct piece {
    struct words words;
    size_t count;
    bool adds, ends;
};

/* Puts the values of row r and some landmarks, if not only those below its bound are wanted, or if
 * there are some, whose bits are then set in `below`. */
static inline __attribute__((always_inline)) void put(const struct ny_byte_rows *rows, size_t r,
                                                      const ny_vector_bits *dot,
                                                      const uint32_t *y_norms, float *out,
                                                      uint32_t *below, size_t at)
{
    ny_floats value[VECTORS];
    uint32_t less = 0;

    EACH(v, VECTORS) value[v] = square_of(dot[v], rows->term[r], y_norms + v * LANES);
    if (below) {
        EACH(v, VECTORS) less |= ny_floats_less(value[v], rows->bound[r]) << v * LANES;
        below[r] |= less << at;
    }
    if (!below || less) {
        EACH(v, VECTORS) memcpy(out + v * LANES, &value[v], sizeof(value[v]));
    }
}

/* Computes ROWS rows from `row` on and some landmarks from `at` on. Part by part: compilers add the
 * products of parts first, else, and keep sums in memory. */
static inline __attribute__((always_inline)) void
multiply_block(const struct piece *piece, const struct ny_byte_rows *rows, size_t row, size_t at,
               const int8_t *panel, const uint32_t *y_norms, float (*out)[NY_PANEL],
               uint32_t *below)
{
    ny_vector_bits sum[ROWS][VECTORS] = {{{0}}}, y[VECTORS];

    if (piece->adds) {
        EACH(r, ROWS) EACH(v, VECTORS) sum[r][v] = load(out[row + r] + at + v * LANES);
    }
    EACH(part, NY_BYTE_PARTS)
    for (size_t q = 0; q < piece->count; q++) {
        EACH(v, VECTORS)
        y[v] = ny_byte_parts(load(panel + (q * NY_PANEL + at + v * LANES) * 4), (unsigned)part);
        EACH(r, ROWS)
        {
            int32_t x;

            memcpy(&x, piece->words.part[part][row + r] + 4 * q, sizeof(x));
            EACH(v, VECTORS) sum[r][v] = ny_add_products(sum[r][v], x, y[v]);
        }
    }
    EACH(r, ROWS)
    {
        if (piece->ends)
            put(rows, row + r, sum[r], y_norms + at, out[row + r] + at, below, at);
        else
            memcpy(out[row + r] + at, sum[r], sizeof(sum[r]));
    }
}

static inline __attribute__((always_inline)) void
multiply(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
         const uint32_t *y_norms, float (*out)[NY_PANEL], uint32_t *below)
{
    const size_t most = WHOLE ? quads : SPREAD;
    struct piece piece;

    for (size_t q = 0; q < quads; q += most) {
        piece.count = quads - q < most ? quads - q : most;
        piece.adds = q > 0;
        piece.ends = q + piece.count == quads;
        take_words(rows, q, piece.count, &piece.words);
        for (size_t at = 0; at < NY_PANEL; at += VECTORS * LANES)
            for (size_t r = 0; r < NY_BYTE_ROWS; r += ROWS)
                multiply_block(&piece, rows, r, at, panel + q * NY_PANEL * 4, y_norms, out, below);
    }
}

static void square(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                   const uint32_t y_norms[NY_PANEL], float out[NY_BYTE_ROWS][NY_PANEL])
{
    multiply(rows, quads, panel, y_norms, out, NULL);
}

static unsigned below(const struct ny_byte_rows *rows, size_t quads, const int8_t *panel,
                      const uint32_t y_norms[NY_PANEL], struct ny_byte_found *found)
{
    unsigned there = 0;

    memset(found->below, 0, sizeof(found->below));
    multiply(rows, quads, panel, y_norms, found->value, found->below);
    for (size_t r = 0; r < NY_BYTE_ROWS; r++)
        there |= (unsigned)(found->below[r] != 0) << r;
    return there;
}

extern const struct ny_byte_ops NY_VARIANT_NAME(ny_byte_ops);
const struct ny_byte_ops NY_VARIANT_NAME(ny_byte_ops) = {square, below};
