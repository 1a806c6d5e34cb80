/*
 * Products of sparse rows with dense columns: Y += ΦQ reads a row of Q for each value, and
 * H += ΦᵀY adds to a row of H for each.
 *
 * A row of Q or H is a few cache lines somewhere in memory, so that time goes by where they are.
 * The caller cuts the columns in ranges that stay in the cache of a core, and each row takes its
 * values of one range before any row takes those of the next; the lines of the next range are asked
 * for meanwhile, a share with each row. Where rows have too few values for that, the range is all
 * of the columns, and lines are asked for some values ahead.
 *
 * Counts stay bytes, each row with the factor of its values: a piece is read and written at the
 * rate of the memory, and is nearly half as large so.
 *
 * Columns of Q come in groups of 64 bytes, up to 64 columns at a time, whose sums stay in
 * registers. Values of a row are taken in the order of its columns, those of a range in two sums,
 * and rows one after another: every sum has an order that depends on the rows and on l alone.
 */
#include "base/vector.h"
#include "columns/vector.h"

enum {
    WIDEST = 64,    /* columns that are multiplied at a time, at most */
    LINE = 64,      /* bytes */
    AHEAD = 16,     /* values ahead of the one under way whose lines are asked for */
    ROWS_AHEAD = 8, /* rows likewise, of whose segments in the range the first lines are */
    SEGMENT_LINES = 3
};

typedef float floats_t __attribute__((vector_size(NY_VECTOR_BYTES), aligned(4), may_alias));
typedef double doubles_t __attribute__((vector_size(NY_VECTOR_BYTES), aligned(8), may_alias));

/* Asks for lines that are about to be read, or written. */
static inline void ask(const char *at, size_t bytes, bool written)
{
    for (size_t line = 0; line < bytes; line += LINE) {
        if (written)
            __builtin_prefetch(at + line, 1);
        else
            __builtin_prefetch(at + line, 0);
    }
}

/* The values of a row in a range, and where those end whose lines may be asked for with them: where
 * there are several ranges, the lines are in the cache already. */
struct segment {
    size_t first, end, known;
    double scale; /* factor of the row */
};

/* Returns where the columns of a row from value `first` on end that are below `end`. */
static inline size_t segment_end(const uint32_t *index, size_t first, size_t row_end, uint32_t end)
{
    size_t at = first;

    for (unsigned below; at + NY_VECTOR_GAPS <= row_end; at += NY_VECTOR_GAPS) {
        below = ny_vector_below(index + at, end);
        if (below < NY_VECTOR_GAPS) return at + below;
    }
    while (at < row_end && index[at] < end)
        at++;
    return at;
}

/* Takes the next segment of row i; asks for the values of a later row, which lie elsewhere, and for
 * the row's share of the next range. */
static inline struct segment take(const struct ny_piece_rows *rows, struct ny_column_range *range,
                                  size_t i, size_t value_bytes, bool written)
{
    size_t first = range->cursor[i], end = rows->start[i + 1];
    size_t later = i + ROWS_AHEAD < rows->count ? range->cursor[i + ROWS_AHEAD] : first;
    size_t share = (range->next_bytes / rows->count + LINE) / LINE * LINE, at = i * share;

    ask((const char *)(rows->index + later), SEGMENT_LINES * LINE, false);
    ask((const char *)rows->value + later * value_bytes, SEGMENT_LINES * LINE, false);
    if (at < range->next_bytes) ask(range->next + at, share, written);
    if (!range->last) end = segment_end(rows->index, first, end, range->end);
    range->cursor[i] = (uint32_t)end;
    return (struct segment){first, end, range->last ? rows->values : first,
                            rows->scale ? rows->scale[i] : 1};
}

#define ROW(COLUMNS, name, type, vector, element)                                                  \
    enum { name##_vectors_##COLUMNS = COLUMNS * sizeof(type) / NY_VECTOR_BYTES };                  \
    static inline void name##_gather_##COLUMNS(                                                    \
        const struct ny_piece_rows *rows, struct segment of, const type *Q, size_t l, type *out)   \
    {                                                                                              \
        const element *value = rows->value;                                                        \
        vector even[name##_vectors_##COLUMNS] = {{0}}, odd[name##_vectors_##COLUMNS] = {{0}};      \
        size_t e = of.first;                                                                       \
                                                                                                   \
        for (; of.known == of.first && e + 1 < of.end; e += 2) {                                   \
            const vector *q = (const vector *)(Q + (size_t)rows->index[e] * l);                    \
            const vector *p = (const vector *)(Q + (size_t)rows->index[e + 1] * l);                \
                                                                                                   \
            for (size_t v = 0; v < name##_vectors_##COLUMNS; v++) {                                \
                even[v] += (type)value[e] * q[v];                                                  \
                odd[v] += (type)value[e + 1] * p[v];                                               \
            }                                                                                      \
        }                                                                                          \
        for (; e < of.end; e++) {                                                                  \
            const vector *q = (const vector *)(Q + (size_t)rows->index[e] * l);                    \
            size_t ahead = e + AHEAD < of.known ? e + AHEAD : e;                                   \
                                                                                                   \
            ask((const char *)(Q + (size_t)rows->index[ahead] * l), COLUMNS * sizeof(type),        \
                false);                                                                            \
            for (size_t v = 0; v < name##_vectors_##COLUMNS; v++)                                  \
                even[v] += (type)value[e] * q[v];                                                  \
        }                                                                                          \
        for (size_t v = 0; v < name##_vectors_##COLUMNS; v++)                                      \
            ((vector *)out)[v] += (type)of.scale * (even[v] + odd[v]);                             \
    }                                                                                              \
    static inline void name##_scatter_##COLUMNS(                                                   \
        const struct ny_piece_rows *rows, struct segment of, type *H, size_t l, const type *y)     \
    {                                                                                              \
        const element *value = rows->value;                                                        \
        vector held[name##_vectors_##COLUMNS];                                                     \
        size_t e = of.first;                                                                       \
                                                                                                   \
        for (size_t v = 0; v < name##_vectors_##COLUMNS; v++)                                      \
            held[v] = (type)of.scale * ((const vector *)y)[v];                                     \
        for (; of.known == of.first && e < of.end; e++) {                                          \
            vector *h = (vector *)(H + (size_t)rows->index[e] * l);                                \
                                                                                                   \
            for (size_t v = 0; v < name##_vectors_##COLUMNS; v++)                                  \
                h[v] += (type)value[e] * held[v];                                                  \
        }                                                                                          \
        for (; e < of.end; e++) {                                                                  \
            vector *h = (vector *)(H + (size_t)rows->index[e] * l);                                \
            size_t ahead = e + AHEAD < of.known ? e + AHEAD : e;                                   \
                                                                                                   \
            ask((const char *)(H + (size_t)rows->index[ahead] * l), COLUMNS * sizeof(type), true); \
            for (size_t v = 0; v < name##_vectors_##COLUMNS; v++)                                  \
                h[v] += (type)value[e] * held[v];                                                  \
        }                                                                                          \
    }

/* Columns that are multiplied at a time: X(columns, …) for each number of them, which are groups of
 * 64 bytes. */
#define WIDTHS_float(X, ...)                                                                       \
    X(16, __VA_ARGS__)                                                                             \
    X(32, __VA_ARGS__)                                                                             \
    X(48, __VA_ARGS__)                                                                             \
    X(64, __VA_ARGS__)
#define WIDTHS_double(X, ...)                                                                      \
    X(8, __VA_ARGS__)                                                                              \
    X(16, __VA_ARGS__)                                                                             \
    X(24, __VA_ARGS__)                                                                             \
    X(32, __VA_ARGS__)                                                                             \
    X(40, __VA_ARGS__)                                                                             \
    X(48, __VA_ARGS__)                                                                             \
    X(56, __VA_ARGS__)                                                                             \
    X(64, __VA_ARGS__)

/* Columns that a CPU has registers for: half of them hold two sums of each. */
#define MOST(type) (NY_VECTOR_REGISTERS / 4 * NY_VECTOR_BYTES / sizeof(type))

/* Takes the segment of each row, and all groups of columns of it. `by_column` is addressed by the
 * columns of Φ, `by_row` by its rows. */
#define CASE(columns, name, what)                                                                  \
    case columns:                                                                                  \
        name##_##what##_##columns(rows, of, by_column + at, l, row + at);                          \
        break;
#define PRODUCT(name, what, type, element, written)                                                \
    static inline void name##_##what##_rows(const struct ny_piece_rows *rows,                      \
                                            struct ny_column_range *range, type *by_column,        \
                                            size_t l, type *by_row)                                \
    {                                                                                              \
        const size_t most = MOST(type) < WIDEST ? MOST(type) : WIDEST;                             \
                                                                                                   \
        for (size_t i = 0; i < rows->count; i++) {                                                 \
            struct segment of = take(rows, range, i, sizeof(element), written);                    \
            type *row = by_row + i * l;                                                            \
                                                                                                   \
            for (size_t at = 0, columns; at < l && of.first < of.end; at += columns) {             \
                columns = l - at < most ? l - at : most;                                           \
                switch (columns) {                                                                 \
                    WIDTHS_##type(CASE, name, what)                                                \
                }                                                                                  \
            }                                                                                      \
        }                                                                                          \
    }

#define PRODUCTS(name, type, vector, element)                                                      \
    WIDTHS_##type(ROW, name, type, vector, element) PRODUCT(name, gather, type, element, false)    \
        PRODUCT(name, scatter, type, element, true) static void name##_gather(                     \
            const struct ny_piece_rows *rows, struct ny_column_range *range, const void *columns,  \
            size_t l, void *product)                                                               \
    {                                                                                              \
        name##_gather_rows(rows, range, (type *)columns, l, product);                              \
    }                                                                                              \
    static void name##_scatter(const struct ny_piece_rows *rows, struct ny_column_range *range,    \
                               const void *columns, size_t l, void *product)                       \
    {                                                                                              \
        name##_scatter_rows(rows, range, product, l, (type *)columns);                             \
    }

PRODUCTS(f32, float, floats_t, float)
PRODUCTS(f64, double, doubles_t, double)
PRODUCTS(bytes32, float, floats_t, uint8_t)
PRODUCTS(bytes64, double, doubles_t, uint8_t)

extern const struct ny_sparse_product_ops NY_VARIANT_NAME(ny_sparse_product_ops);
const struct ny_sparse_product_ops NY_VARIANT_NAME(ny_sparse_product_ops) = {
    .gather32 = {f32_gather, bytes32_gather},
    .gather64 = {f64_gather, bytes64_gather},
    .scatter32 = {f32_scatter, bytes32_scatter},
    .scatter64 = {f64_scatter, bytes64_scatter}};
