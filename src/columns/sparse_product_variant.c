/*
 * Products of sparse rows with dense columns: Y = ΦQ reads a row of Q for each value, and
 * H += ΦᵀY adds to a row of H for each.
 *
 * Columns come in groups of 16, up to four groups at a time, whose sums stay in registers. A row
 * of Q or H is a few cache lines somewhere in memory, so that time goes by how far ahead they are
 * asked for. Values of a row are taken in the order of its columns, and rows one after another:
 * every sum has one order.
 */
#include "columns/vector.h"

/* Values ahead of the one under way whose rows are asked for. */
enum { AHEAD = 16, GROUP = 16, LINE = 64 };

typedef float floats_t __attribute__((vector_size(NY_VECTOR_BYTES), aligned(4), may_alias));
typedef double doubles_t __attribute__((vector_size(NY_VECTOR_BYTES), aligned(8), may_alias));

/* Asks for the part of a row that is about to be read, or written. */
static inline void ask(const void *at, size_t bytes, bool written)
{
    for (size_t line = 0; line < bytes; line += LINE) {
        if (written)
            __builtin_prefetch((const char *)at + line, 1);
        else
            __builtin_prefetch((const char *)at + line, 0);
    }
}

#define ROW(name, type, vector, GROUPS)                                                            \
    enum { name##_vectors_##GROUPS = GROUPS * GROUP * sizeof(type) / NY_VECTOR_BYTES };            \
    static inline void name##_gather_##GROUPS(const struct ny_piece_rows *rows, size_t first,      \
                                              size_t end, const type *Q, size_t l, type *out)      \
    {                                                                                              \
        const type *value = rows->value;                                                           \
        vector sum[name##_vectors_##GROUPS] = {{0}};                                               \
                                                                                                   \
        for (size_t e = first; e < end; e++) {                                                     \
            const vector *q = (const vector *)(Q + (size_t)rows->index[e] * l);                    \
                                                                                                   \
            ask(Q + (size_t)rows->index[e + AHEAD < rows->values ? e + AHEAD : e] * l,             \
                GROUPS * GROUP * sizeof(type), false);                                             \
            for (size_t v = 0; v < name##_vectors_##GROUPS; v++)                                   \
                sum[v] += value[e] * q[v];                                                         \
        }                                                                                          \
        for (size_t v = 0; v < name##_vectors_##GROUPS; v++)                                       \
            ((vector *)out)[v] = sum[v];                                                           \
    }                                                                                              \
    static inline void name##_scatter_##GROUPS(const struct ny_piece_rows *rows, size_t first,     \
                                               size_t end, const type *y, size_t l, type *H)       \
    {                                                                                              \
        const type *value = rows->value;                                                           \
        vector held[name##_vectors_##GROUPS];                                                      \
                                                                                                   \
        for (size_t v = 0; v < name##_vectors_##GROUPS; v++)                                       \
            held[v] = ((const vector *)y)[v];                                                      \
        for (size_t e = first; e < end; e++) {                                                     \
            vector *h = (vector *)(H + (size_t)rows->index[e] * l);                                \
                                                                                                   \
            ask(H + (size_t)rows->index[e + AHEAD < rows->values ? e + AHEAD : e] * l,             \
                GROUPS * GROUP * sizeof(type), true);                                              \
            for (size_t v = 0; v < name##_vectors_##GROUPS; v++)                                   \
                h[v] += value[e] * held[v];                                                        \
        }                                                                                          \
    }

/* Groups that a CPU has registers for: half of them hold sums. */
#define MOST(type) (NY_VECTOR_REGISTERS / 2 * NY_VECTOR_BYTES / (GROUP * sizeof(type)))

#define PRODUCTS(name, type, vector)                                                               \
    ROW(name, type, vector, 1)                                                                     \
    ROW(name, type, vector, 2)                                                                     \
    ROW(name, type, vector, 3)                                                                     \
    ROW(name, type, vector, 4)                                                                     \
    static inline size_t name##_groups(size_t left)                                                \
    {                                                                                              \
        size_t most = MOST(type) < 4 ? MOST(type) : 4;                                             \
                                                                                                   \
        return left < most ? left : most;                                                          \
    }                                                                                              \
    static void name##_gather(const struct ny_piece_rows *rows, const void *columns, size_t l,     \
                              void *product)                                                       \
    {                                                                                              \
        const type *Q = columns;                                                                   \
        type *Y = product;                                                                         \
                                                                                                   \
        for (size_t i = 0; i < rows->count; i++)                                                   \
            for (size_t at = 0, groups; at < l; at += groups * GROUP) {                            \
                size_t first = rows->start[i], end = rows->start[i + 1];                           \
                                                                                                   \
                groups = name##_groups((l - at) / GROUP);                                          \
                if (groups == 4)                                                                   \
                    name##_gather_4(rows, first, end, Q + at, l, Y + i * l + at);                  \
                else if (groups == 3)                                                              \
                    name##_gather_3(rows, first, end, Q + at, l, Y + i * l + at);                  \
                else if (groups == 2)                                                              \
                    name##_gather_2(rows, first, end, Q + at, l, Y + i * l + at);                  \
                else                                                                               \
                    name##_gather_1(rows, first, end, Q + at, l, Y + i * l + at);                  \
            }                                                                                      \
    }                                                                                              \
    static void name##_scatter(const struct ny_piece_rows *rows, const void *columns, size_t l,    \
                               void *product)                                                      \
    {                                                                                              \
        const type *Y = columns;                                                                   \
        type *H = product;                                                                         \
                                                                                                   \
        for (size_t i = 0; i < rows->count; i++)                                                   \
            for (size_t at = 0, groups; at < l; at += groups * GROUP) {                            \
                size_t first = rows->start[i], end = rows->start[i + 1];                           \
                                                                                                   \
                groups = name##_groups((l - at) / GROUP);                                          \
                if (groups == 4)                                                                   \
                    name##_scatter_4(rows, first, end, Y + i * l + at, l, H + at);                 \
                else if (groups == 3)                                                              \
                    name##_scatter_3(rows, first, end, Y + i * l + at, l, H + at);                 \
                else if (groups == 2)                                                              \
                    name##_scatter_2(rows, first, end, Y + i * l + at, l, H + at);                 \
                else                                                                               \
                    name##_scatter_1(rows, first, end, Y + i * l + at, l, H + at);                 \
            }                                                                                      \
    }

PRODUCTS(f32, float, floats_t)
PRODUCTS(f64, double, doubles_t)

extern const struct ny_sparse_product_ops NY_VARIANT_NAME(ny_sparse_product_ops);
const struct ny_sparse_product_ops NY_VARIANT_NAME(ny_sparse_product_ops) = {
    f32_gather, f64_gather, f32_scatter, f64_scatter};
