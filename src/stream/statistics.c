/*
 * Statistics of columns (mean, M2, minimum, maximum) and norms of rows, added up while rows are
 * imported or stay where they are (stream/counting.h), so that no pass over the points is needed
 * for them later.
 *
 * A block is summed up in strips of 256 columns, then merged with what came before (Chan, Golub
 * and LeVeque 1979). Integers are summed exactly, floats in two passes. So what rounding does
 * depends on how blocks and appends cut the rows, and not on threads. Several threads may take
 * columns of their own of the same block.
 */
#include "stream/statistics.h"

#include <math.h>
#include <string.h>

enum { STRIP = NY_ALLELE_COLUMNS };

/* Moments of the columns of one strip of one block. */
struct strip {
    double mean[STRIP], m2[STRIP], minimum[STRIP], maximum[STRIP];
};

/* Σx and Σx² are exact: M2 = Σx² − (Σx)²/n has one rounding. */
static void finish_integers(struct strip *s, const int64_t *sum, const uint64_t *squares,
                            size_t rows, size_t width)
{
    for (size_t j = 0; j < width; j++) {
        __extension__ typedef __int128 wide;
        wide scaled = (wide)squares[j] * (wide)rows - (wide)sum[j] * sum[j];

        s->mean[j] = (double)sum[j] / (double)rows;
        s->m2[j] = (double)scaled / (double)rows;
    }
}

/* Adds up to PIECE rows at a time, so that 32-bit sums cannot overflow: 255² · 2^16 < 2^32. */
static void strip_u8(struct strip *s, const void *values, size_t stride, size_t rows, size_t width)
{
    enum { PIECE = 1 << 16 };
    const uint8_t *x = values;
    int64_t sum[STRIP] = {0};
    uint64_t squares[STRIP] = {0};
    uint8_t least[STRIP], most[STRIP];

    memcpy(least, x, width);
    memcpy(most, x, width);
    for (size_t done = 0; done < rows; done += PIECE) {
        size_t piece = rows - done < PIECE ? rows - done : PIECE;
        uint32_t sums[STRIP] = {0}, square_sums[STRIP] = {0};

        for (size_t r = 0; r < piece; r++) {
            const uint8_t *row = x + (done + r) * stride;

            for (size_t j = 0; j < width; j++) {
                uint16_t v = row[j];

                sums[j] += v;
                square_sums[j] += (uint16_t)(v * v);
                least[j] = row[j] < least[j] ? row[j] : least[j];
                most[j] = row[j] > most[j] ? row[j] : most[j];
            }
        }
        for (size_t j = 0; j < width; j++) {
            sum[j] += sums[j];
            squares[j] += square_sums[j];
        }
    }
    for (size_t j = 0; j < width; j++) {
        s->minimum[j] = least[j];
        s->maximum[j] = most[j];
    }
    finish_integers(s, sum, squares, rows, width);
}

static void strip_i16(struct strip *s, const void *values, size_t stride, size_t rows, size_t width)
{
    const int16_t *x = values;
    int64_t sum[STRIP] = {0};
    uint64_t squares[STRIP] = {0};
    int16_t least[STRIP], most[STRIP];

    memcpy(least, x, width * sizeof(*x));
    memcpy(most, x, width * sizeof(*x));
    for (size_t r = 0; r < rows; r++) {
        const int16_t *row = x + r * stride;

        for (size_t j = 0; j < width; j++) {
            sum[j] += row[j];
            squares[j] += (uint32_t)(row[j] * row[j]);
            least[j] = row[j] < least[j] ? row[j] : least[j];
            most[j] = row[j] > most[j] ? row[j] : most[j];
        }
    }
    for (size_t j = 0; j < width; j++) {
        s->minimum[j] = least[j];
        s->maximum[j] = most[j];
    }
    finish_integers(s, sum, squares, rows, width);
}

void ny_alleles_of(struct ny_alleles *alleles, const uint8_t *rows, size_t stride, size_t count,
                   size_t width)
{
    *alleles = (struct ny_alleles){{0}, {0}, {0}};
    for (size_t r = 0; r < count; r++)
        for (size_t j = 0; j < width; j++) {
            uint8_t x = rows[r * stride + j];

            alleles->ones[j] = (uint8_t)(alleles->ones[j] + (x == 1));
            alleles->twos[j] = (uint8_t)(alleles->twos[j] + (x == 2));
            alleles->missing[j] = (uint8_t)(alleles->missing[j] + (x == NY_GENOTYPE_MISSING));
        }
}

/* Genotypes count what is missing as 0; their means follow from a pass of the fit
 * (columns/alleles.c). */
static void strip_genotype(struct strip *s, const void *values, size_t stride, size_t rows,
                           size_t width)
{
    const uint8_t *x = values;
    int64_t sum[STRIP] = {0};
    uint64_t squares[STRIP] = {0};
    struct ny_alleles a;

    for (size_t j = 0; j < width; j++) {
        s->minimum[j] = 2;
        s->maximum[j] = 0;
    }
    for (size_t first = 0; first < rows; first += NY_ALLELE_ROWS) {
        size_t piece = rows - first < NY_ALLELE_ROWS ? rows - first : NY_ALLELE_ROWS;

        ny_alleles_of(&a, x + first * stride, stride, piece, width);
        for (size_t j = 0; j < width; j++) {
            sum[j] += a.ones[j] + 2 * a.twos[j];
            squares[j] += (uint64_t)a.ones[j] + 4u * a.twos[j];
            if (a.twos[j]) s->maximum[j] = 2;
            if (a.ones[j]) s->maximum[j] = fmax(s->maximum[j], 1);
            if (a.twos[j] < piece)
                s->minimum[j] = fmin(s->minimum[j], a.ones[j] + a.twos[j] == (int)piece);
        }
    }
    finish_integers(s, sum, squares, rows, width);
}

/* The second pass sums x − mean as well: what rounding left there corrects both (Chan 1983). */
#define STRIP_OF_FLOATS(name, type)                                                                \
    static void name(struct strip *s, const void *values, size_t stride, size_t rows,              \
                     size_t width)                                                                 \
    {                                                                                              \
        const type *x = values;                                                                    \
        double sum[STRIP] = {0}, rest[STRIP] = {0};                                                \
                                                                                                   \
        for (size_t j = 0; j < width; j++) {                                                       \
            s->minimum[j] = s->maximum[j] = (double)x[j];                                          \
            s->m2[j] = 0;                                                                          \
        }                                                                                          \
        for (size_t r = 0; r < rows; r++)                                                          \
            for (size_t j = 0; j < width; j++) {                                                   \
                double v = (double)x[r * stride + j];                                              \
                                                                                                   \
                sum[j] += v;                                                                       \
                s->minimum[j] = v < s->minimum[j] ? v : s->minimum[j];                             \
                s->maximum[j] = v > s->maximum[j] ? v : s->maximum[j];                             \
            }                                                                                      \
        for (size_t j = 0; j < width; j++)                                                         \
            s->mean[j] = sum[j] / (double)rows;                                                    \
        for (size_t r = 0; r < rows; r++)                                                          \
            for (size_t j = 0; j < width; j++) {                                                   \
                double v = (double)x[r * stride + j] - s->mean[j];                                 \
                                                                                                   \
                rest[j] += v;                                                                      \
                s->m2[j] += v * v;                                                                 \
            }                                                                                      \
        for (size_t j = 0; j < width; j++) {                                                       \
            s->m2[j] -= rest[j] * rest[j] / (double)rows;                                          \
            s->mean[j] += rest[j] / (double)rows;                                                  \
        }                                                                                          \
    }

STRIP_OF_FLOATS(strip_f32, float)
STRIP_OF_FLOATS(strip_f64, double)

static void (*const strip_of[])(struct strip *s, const void *values, size_t stride, size_t rows,
                                size_t width) = {[NY_U8] = strip_u8,
                                                 [NY_I16] = strip_i16,
                                                 [NY_F32] = strip_f32,
                                                 [NY_F64] = strip_f64,
                                                 [NY_GENOTYPE] = strip_genotype};

/* Chan, Golub & LeVeque 1979: M2 = M2_a + M2_b + δ²·n_a·n_b/n, δ = mean_b − mean_a. */
static bool merge(struct ny_moments *m, const struct strip *s, size_t rows, size_t first,
                  size_t width)
{
    double *mean = m->cells + first, *m2 = mean + m->d, *least = m2 + m->d, *most = least + m->d;
    double a = (double)m->n, b = (double)rows, share = b / (a + b);
    bool finite = true;

    for (size_t j = 0; j < width; j++) {
        double delta = s->mean[j] - (m->n ? mean[j] : 0);

        finite = finite && isfinite(s->mean[j]) && isfinite(s->m2[j]);
        if (m->n == 0) {
            mean[j] = s->mean[j];
            m2[j] = s->m2[j];
            least[j] = s->minimum[j];
            most[j] = s->maximum[j];
            continue;
        }
        mean[j] += delta * share;
        m2[j] += s->m2[j] + delta * delta * a * share;
        least[j] = s->minimum[j] < least[j] ? s->minimum[j] : least[j];
        most[j] = s->maximum[j] > most[j] ? s->maximum[j] : most[j];
    }
    return finite;
}

bool ny_moments_add(struct ny_moments *m, enum ny_dtype dtype, const void *rows, size_t count_rows,
                    size_t first, size_t count)
{
    struct strip strip;
    bool finite = true;

    if (count_rows == 0) return true;
    for (size_t at = first; at < first + count; at += STRIP) {
        size_t width = first + count - at < STRIP ? first + count - at : STRIP;

        strip_of[dtype](&strip, (const char *)rows + at * ny_dtype_size(dtype), m->d, count_rows,
                        width);
        finite = merge(m, &strip, count_rows, at, width) && finite;
    }
    return finite;
}

/* ---- norms of rows ------------------------------------------------------------------------- */

/* Rows whose squares are summed side by side, as each sum waits for its last addition. */
enum { ABREAST = 4 };

#define SQUARES_OF(name, type, wide)                                                               \
    static void name(const void *values, size_t d, size_t rows, double squares[ABREAST])           \
    {                                                                                              \
        const type *x = values;                                                                    \
        wide sum[ABREAST] = {0};                                                                   \
                                                                                                   \
        for (size_t j = 0; rows == ABREAST && j < d; j++)                                          \
            for (size_t i = 0; i < ABREAST; i++)                                                   \
                sum[i] += (wide)x[i * d + j] * (wide)x[i * d + j];                                 \
        for (size_t i = 0; rows < ABREAST && i < rows; i++)                                        \
            for (size_t j = 0; j < d; j++)                                                         \
                sum[i] += (wide)x[i * d + j] * (wide)x[i * d + j];                                 \
        for (size_t i = 0; i < rows; i++)                                                          \
            squares[i] = (double)sum[i];                                                           \
    }

SQUARES_OF(squares_u8, uint8_t, uint64_t)
SQUARES_OF(squares_i16, int16_t, int64_t)
SQUARES_OF(squares_f32, float, double)
SQUARES_OF(squares_f64, double, double)

/* A missing genotype counts as 0, as in the means. */
static void squares_genotype(const void *values, size_t d, size_t rows, double squares[ABREAST])
{
    static const uint8_t square[] = {0, 1, 4, 0};
    const uint8_t *x = values;

    for (size_t i = 0; i < rows; i++, x += d) {
        uint64_t sum = 0;

        for (size_t j = 0; j < d; j++)
            sum += square[x[j]];
        squares[i] = (double)sum;
    }
}

typedef void squares_fn(const void *values, size_t d, size_t rows, double squares[ABREAST]);
static squares_fn *const squares_of[] = {[NY_U8] = squares_u8,
                                         [NY_I16] = squares_i16,
                                         [NY_F32] = squares_f32,
                                         [NY_F64] = squares_f64,
                                         [NY_GENOTYPE] = squares_genotype};

void ny_norms_add(double *sum, enum ny_dtype dtype, const void *rows, size_t count, size_t d)
{
    size_t row_bytes = d * ny_dtype_size(dtype);

    for (size_t at = 0; at < count; at += ABREAST) {
        size_t some = count - at < ABREAST ? count - at : ABREAST;
        double squares[ABREAST];

        squares_of[dtype]((const char *)rows + at * row_bytes, d, some, squares);
        for (size_t i = 0; i < some; i++)
            *sum += sqrt(squares[i]);
    }
}

void ny_norms_add_sparse(double *sum, const struct ny_csr_part *rows)
{
    for (size_t i = rows->at; i < rows->at + rows->count; i++) {
        struct ny_sparse row = ny_csr_row(rows->csr, i);
        double squares[ABREAST];

        squares_of[rows->csr->dtype](row.value, row.count, 1, squares);
        *sum += sqrt(squares[0]);
    }
}

/* ---- sparse rows --------------------------------------------------------------------------- */

/* Returns the first value of a row whose column is at least `column`, or their number. */
static size_t place_of(const struct ny_sparse *row, size_t column)
{
    size_t low = 0, high = row->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (row->index[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Columns of the sums that are added to; d of each. */
struct sparse_cells {
    size_t first, end;
    double *least, *most;
    const struct ny_sparse_sums *sums;
};

/* The two passes over the values of columns first … end−1, by the type of the values. */
#define PASSES_OF(name, type)                                                                      \
    static void name##_sums(const struct ny_sparse *row, const struct sparse_cells *c)             \
    {                                                                                              \
        const uint32_t *index = row->index;                                                        \
        const type *value = row->value;                                                            \
        double *mean = c->sums->mean, *least = c->least, *most = c->most;                          \
        uint32_t *count = c->sums->count;                                                          \
        size_t end = place_of(row, c->end);                                                        \
                                                                                                   \
        for (size_t k = place_of(row, c->first); k < end; k++) {                                   \
            size_t j = index[k];                                                                   \
            double x = (double)value[k];                                                           \
                                                                                                   \
            count[j]++;                                                                            \
            mean[j] += x;                                                                          \
            least[j] = x < least[j] ? x : least[j];                                                \
            most[j] = x > most[j] ? x : most[j];                                                   \
        }                                                                                          \
    }                                                                                              \
    static void name##_squares(const struct ny_sparse *row, const struct sparse_cells *c)          \
    {                                                                                              \
        const uint32_t *index = row->index;                                                        \
        const type *value = row->value;                                                            \
        const double *mean = c->sums->mean;                                                        \
        double *m2 = c->sums->m2;                                                                  \
        size_t end = place_of(row, c->end);                                                        \
                                                                                                   \
        for (size_t k = place_of(row, c->first); k < end; k++) {                                   \
            double away = (double)value[k] - mean[index[k]];                                       \
                                                                                                   \
            m2[index[k]] += away * away;                                                           \
        }                                                                                          \
    }

PASSES_OF(u8, uint8_t)
PASSES_OF(i16, int16_t)
PASSES_OF(f32, float)
PASSES_OF(f64, double)

typedef void pass_fn(const struct ny_sparse *row, const struct sparse_cells *c);
static pass_fn *const sums_of[] = {
    [NY_U8] = u8_sums, [NY_I16] = i16_sums, [NY_F32] = f32_sums, [NY_F64] = f64_sums};
static pass_fn *const squares_away_of[] = {
    [NY_U8] = u8_squares, [NY_I16] = i16_squares, [NY_F32] = f32_squares, [NY_F64] = f64_squares};

static void pass(const struct ny_csr_part *rows, const struct sparse_cells *c, pass_fn *add)
{
    for (size_t i = rows->at; i < rows->at + rows->count; i++) {
        struct ny_sparse row = ny_csr_row(rows->csr, i);

        add(&row, c);
    }
}

/* Two passes, as for dense floats; the moments of count values and of rows − count zeros follow
 * from those of the values. */
static void sum_values(const struct ny_csr_part *rows, const struct sparse_cells *c)
{
    const struct ny_sparse_sums *sums = c->sums;

    pass(rows, c, sums_of[rows->csr->dtype]);
    for (size_t j = c->first; j < c->end; j++)
        sums->mean[j] = sums->count[j] ? sums->mean[j] / (double)sums->count[j] : 0;
    pass(rows, c, squares_away_of[rows->csr->dtype]);
}

bool ny_moments_add_sparse(struct ny_moments *m, const struct ny_csr_part *rows, size_t first,
                           size_t count, const struct ny_sparse_sums *sums)
{
    double *mean = m->cells, *m2 = mean + m->d, *least = m2 + m->d, *most = least + m->d;
    double a = (double)m->n, b = (double)rows->count, share = b / (a + b);
    size_t end = first + count;
    const struct sparse_cells cells = {first, end, least, most, sums};
    bool finite = true;

    if (rows->count == 0) return true;
    memset(sums->mean + first, 0, count * sizeof(*sums->mean));
    memset(sums->m2 + first, 0, count * sizeof(*sums->m2));
    memset(sums->count + first, 0, count * sizeof(*sums->count));
    for (size_t j = first; m->n == 0 && j < end; j++) {
        mean[j] = m2[j] = 0;
        least[j] = INFINITY;
        most[j] = -INFINITY;
    }
    sum_values(rows, &cells);
    for (size_t j = first; j < end; j++) {
        double c = sums->count[j], block_mean = sums->mean[j] * (c / b);
        double block_m2 = sums->m2[j] + sums->mean[j] * sums->mean[j] * c * ((b - c) / b);
        double delta = block_mean - mean[j];

        if (c < b) { /* there are zeros */
            least[j] = least[j] < 0 ? least[j] : 0;
            most[j] = most[j] > 0 ? most[j] : 0;
        }
        finite = finite && isfinite(block_mean) && isfinite(block_m2);
        if (m->n == 0) {
            mean[j] = block_mean;
            m2[j] = block_m2;
        } else {
            mean[j] += delta * share;
            m2[j] += block_m2 + delta * delta * a * share;
        }
    }
    return finite;
}
