/*
 * The sums of pass 1: s = Σ w²c, the lower triangle of G = Σ w²ccᵀ, t = Σ w²k(x,x), ω = Σ w² and
 * the number of rows. fit/sums.c makes one ny_partial a worker, fills it from each tile and folds
 * it into the accumulator in unit order; an update and stage solve load the image that this leaves.
 *
 * A partial holds one unit. Its Gram is one BLAS call of a fixed shape, in f32 for all 2,048 rows;
 * or, in f64, one call for an f64 tile, and four strips of 512 rows that are widened from an f32
 * tile. The fold adds in f64 in all cases, so f32 loses within a unit only, never over units
 * (spectral/gram.c says when that is enough). s is always summed in f64, before weights round the
 * rows.
 *
 * The image is a sequence of parts (rows, t, s, the packed triangle, ω) that is saved piece by
 * piece: a checkpoint of 10,000 landmarks, 400 MB, needs no second copy in memory.
 */
#include "spectral/accumulator.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "stream/share.h"

/* An f64 tile Gram is summed over strips, so that a strip is all that is ever widened. */
enum { STRIP = NY_STRIP_ROWS, STRIPS = NY_UNIT_ROWS / NY_STRIP_ROWS };

/* Lays out the sums of m columns; without G only s. */
static struct ny_accumulator *lay(struct ny_layout *l, size_t m, bool gram)
{
    struct ny_accumulator spare, *acc = ny_lay_struct(l, NY_MEM_GRAM, sizeof(spare), &spare);

    *acc = (struct ny_accumulator){.ctx = l->ctx, .m = m};
    acc->s = ny_lay(l, NY_MEM_GRAM, m, sizeof(*acc->s));
    if (gram) acc->G = ny_lay_matrix(l, NY_MEM_GRAM, m, m);
    return ny_laid(l, acc);
}

static int new_sums(struct ny_accumulator **out, struct ny_context *ctx, size_t m, bool gram)
{
    struct ny_layout own = {.ctx = ctx};

    *out = lay(&own, m, gram);
    if (!*out) return ny_layout_end(&own);
    (*out)->own = own;
    return NY_OK;
}

int ny_accumulator_new_sums(struct ny_accumulator **out, struct ny_context *ctx, size_t m)
{
    return new_sums(out, ctx, m, false);
}

int ny_accumulator_new(struct ny_accumulator **out, struct ny_context *ctx, size_t m)
{
    return new_sums(out, ctx, m, true);
}

void ny_accumulator_free(struct ny_accumulator *acc)
{
    struct ny_layout own;

    if (!acc) return;
    own = acc->own;
    ny_layout_free(&own);
}

void ny_accumulator_count(struct ny_layout *l, size_t m)
{
    lay(l, m, true);
}

struct ny_partial *ny_partial_lay(struct ny_layout *l, size_t m, enum ny_gram_precision precision)
{
    struct ny_partial spare, *part = ny_lay_struct(l, NY_MEM_GRAM, sizeof(spare), &spare);

    *part = (struct ny_partial){.precision = precision, .m = m};
    part->s = ny_lay(l, NY_MEM_GRAM, m, sizeof(*part->s));
    if (precision == NY_GRAM_F32) part->G32 = ny_lay(l, NY_MEM_GRAM, m, m * sizeof(float));
    if (precision == NY_GRAM_F64) {
        part->G64 = ny_lay(l, NY_MEM_GRAM, m, m * sizeof(double));
        part->C64 = ny_lay(l, NY_MEM_GRAM, STRIP, m * sizeof(double));
    }
    return ny_laid(l, part);
}

/* s = Σ rows of C in f64, four rows at a time: s itself is then loaded a quarter as often. Or,
 * where rows have weights, C_i ← w_i c_i, and s = Σ w_i² c_i of the unrounded c_i. */
#define COLUMN_SUMS(sum_columns, weigh_rows, type, matrix)                                         \
    static void sum_columns(matrix C, size_t rows, double *restrict s)                             \
    {                                                                                              \
        size_t i = 0;                                                                              \
                                                                                                   \
        memset(s, 0, C.cols * sizeof(*s));                                                         \
        for (; i + 4 <= rows; i += 4) {                                                            \
            const type *restrict c0 = C.at + i * C.stride, *restrict c1 = c0 + C.stride;           \
            const type *restrict c2 = c1 + C.stride, *restrict c3 = c2 + C.stride;                 \
                                                                                                   \
            for (size_t j = 0; j < C.cols; j++)                                                    \
                s[j] += ((double)c0[j] + (double)c1[j]) + ((double)c2[j] + (double)c3[j]);         \
        }                                                                                          \
        for (; i < rows; i++)                                                                      \
            for (size_t j = 0; j < C.cols; j++)                                                    \
                s[j] += (double)C.at[i * C.stride + j];                                            \
    }                                                                                              \
                                                                                                   \
    static void weigh_rows(matrix C, const struct ny_tile_rows *rows, double *restrict s)          \
    {                                                                                              \
        memset(s, 0, C.cols * sizeof(*s));                                                         \
        for (size_t i = 0; i < rows->count; i++) {                                                 \
            type *restrict c = C.at + i * C.stride, w = (type)rows->weights[i];                    \
            double square = rows->weights[i] * rows->weights[i];                                   \
                                                                                                   \
            for (size_t j = 0; j < C.cols; j++) {                                                  \
                s[j] += square * (double)c[j];                                                     \
                c[j] *= w;                                                                         \
            }                                                                                      \
        }                                                                                          \
    }

COLUMN_SUMS(sum_columns32, weigh_rows32, float, struct ny_matrix32)
COLUMN_SUMS(sum_columns64, weigh_rows64, double, struct ny_matrix)

/* A Gram that is made block by block. */
struct gram {
    struct ny_matrix C, G;
    double beta;
};

static int make_block(void *arg, size_t index, unsigned worker)
{
    const struct gram *gram = arg;

    (void)worker;
    ny_gram_block(gram->C, gram->beta, gram->G, index);
    return NY_OK;
}

/* G = CᵀC (beta 0) or G + CᵀC (beta 1), in f64. */
static void add_gram(const struct ny_partial *part, struct ny_matrix C, double beta,
                     const struct ny_tile *tile)
{
    struct gram gram = {C, ny_matrix(part->G64, part->m, part->m), beta};

    if (part->shared && tile)
        (void)ny_tile_share(tile, ny_gram_blocks(part->m), make_block, &gram); /* never fails */
    else
        ny_gram(C, beta, gram.G);
}

/* Sums the Gram of an f32 tile in f64, strip by strip: a widened tile would take twice the tile's
 * memory. */
static void gram_in_f64(struct ny_partial *part, struct ny_matrix32 C,
                        const struct ny_tile_rows *rows)
{
    for (size_t strip = 0; strip < STRIPS; strip++) {
        if (strip > 0 && strip * STRIP >= rows->count) break; /* padding: it would add zeros */
        ny_matrix_widen(ny_rows32(C, strip * STRIP, STRIP), part->C64);
        add_gram(part, ny_matrix(part->C64, STRIP, part->m), strip > 0, rows->tile);
    }
}

/* Sets t, ω and the number of rows. Rows without a diagonal leave t at 0. */
static void set_trace(struct ny_partial *part, const struct ny_tile_rows *rows)
{
    part->rows = rows->count;
    part->t = part->omega = 0;
    for (size_t i = 0; i < rows->count; i++) {
        double w = rows->weights ? rows->weights[i] : 1;

        part->omega += w * w;
        if (rows->diagonal) part->t += w * w * rows->diagonal[i];
    }
}

void ny_partial_set(struct ny_partial *part, struct ny_matrix32 C, const struct ny_tile_rows *rows)
{
    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && rows->count <= C.rows && !C.transposed);
    set_trace(part, rows);
    if (rows->weights)
        weigh_rows32(C, rows, part->s);
    else
        sum_columns32(C, rows->count, part->s);
    if (part->precision == NY_GRAM_F32) ny_gram32(C, 0, ny_matrix32(part->G32, part->m, part->m));
    if (part->precision == NY_GRAM_F64) gram_in_f64(part, C, rows);
}

void ny_partial_set64(struct ny_partial *part, struct ny_matrix C, const struct ny_tile_rows *rows)
{
    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && rows->count <= C.rows && !C.transposed);
    assert(part->precision != NY_GRAM_F32);
    set_trace(part, rows);
    if (rows->weights)
        weigh_rows64(C, rows, part->s);
    else
        sum_columns64(C, rows->count, part->s);
    if (part->precision == NY_GRAM_F64) add_gram(part, C, 0, rows->tile);
}

/* Returns what rounding takes off a + b = sum, which is exact (Knuth's TwoSum). */
static inline double lost_of(double a, double b, double sum)
{
    double rest = sum - a;

    return (a - (sum - rest)) + (b - rest);
}

/* Three ways to add numbers to others. One tells whether any addition was rounded; one is for
 * multiples of a grid, with a `round` so large that f64 holds its sum with a number to no finer a
 * step. */
#define ADD(add, add_watched, add_rounded, type)                                                   \
    static void add(double *restrict to, const type *restrict from, size_t count)                  \
    {                                                                                              \
        for (size_t j = 0; j < count; j++)                                                         \
            to[j] += (double)from[j];                                                              \
    }                                                                                              \
                                                                                                   \
    static bool add_watched(double *restrict to, const type *restrict from, size_t count)          \
    {                                                                                              \
        double lost = 0;                                                                           \
                                                                                                   \
        for (size_t j = 0; j < count; j++) {                                                       \
            double number = (double)from[j], sum = to[j] + number;                                 \
                                                                                                   \
            lost += fabs(lost_of(to[j], number, sum));                                             \
            to[j] = sum;                                                                           \
        }                                                                                          \
        return lost > 0;                                                                           \
    }                                                                                              \
                                                                                                   \
    static void add_rounded(double *restrict to, const type *restrict from, size_t count,          \
                            double round)                                                          \
    {                                                                                              \
        for (size_t j = 0; j < count; j++)                                                         \
            to[j] += (double)from[j] + round - round;                                              \
    }

ADD(add32, add32_watched, add32_rounded, float)
ADD(add64, add64_watched, add64_rounded, double)

/* Returns what numbers are rounded by, whose sums are at most `most`. */
static double round_below(double most)
{
    int e;

    frexp(most, &e);
    return ldexp(1.5, e);
}

void ny_accumulator_round(struct ny_accumulator *acc, double bound, uint64_t rows)
{
    acc->round_G = round_below((double)rows * bound * bound);
    acc->round_s = round_below((double)rows * bound);
}

/* The fold of a unit with an f32 Gram whose sums are exact. */
static void fold_rounded(struct ny_accumulator *acc, const struct ny_partial *part)
{
    for (size_t i = 0; i < acc->m; i++)
        add32_rounded(acc->G.at + i * acc->G.stride, part->G32 + i * part->m, i + 1, acc->round_G);
    add64_rounded(acc->s, part->s, acc->m, acc->round_s);
}

void ny_accumulator_watch(struct ny_accumulator *acc)
{
    acc->watched = true;
}

/* The fold of a unit with an f32 Gram that is watched. */
static void fold_watched(struct ny_accumulator *acc, const struct ny_partial *part)
{
    for (size_t i = 0; i < acc->m; i++)
        if (add32_watched(acc->G.at + i * acc->G.stride, part->G32 + i * part->m, i + 1))
            acc->rounded = true;
    if (add64_watched(acc->s, part->s, acc->m)) acc->rounded = true;
}

void ny_accumulator_fold(struct ny_accumulator *acc, const struct ny_partial *part)
{
    assert(acc->m == part->m);
    acc->t += part->t;
    acc->omega += part->omega;
    acc->rows += part->rows;
    if (part->precision == NY_GRAM_F32 && (acc->round_G > 0 || acc->watched)) {
        if (acc->round_G > 0)
            fold_rounded(acc, part);
        else
            fold_watched(acc, part);
        return;
    }
    for (size_t i = 0; i < acc->m && part->precision != NY_GRAM_NONE; i++) {
        double *row = acc->G.at + i * acc->G.stride;
        if (part->precision == NY_GRAM_F32)
            add32(row, part->G32 + i * part->m, i + 1);
        else
            add64(row, part->G64 + i * part->m, i + 1);
    }
    add64(acc->s, part->s, acc->m);
}

static void add_scaled(double *restrict to, double keep, const double *restrict from, double take,
                       size_t count)
{
    for (size_t j = 0; j < count; j++)
        to[j] = keep * to[j] + take * from[j];
}

void ny_accumulator_add(struct ny_accumulator *acc, double keep, const struct ny_accumulator *other,
                        double take)
{
    assert(acc->m == other->m);
    for (size_t i = 0; i < acc->m; i++)
        add_scaled(acc->G.at + i * acc->G.stride, keep, other->G.at + i * other->G.stride, take,
                   i + 1);
    add_scaled(acc->s, keep, other->s, take, acc->m);
    add_scaled(&acc->t, keep, &other->t, take, 1);
    add_scaled(&acc->omega, keep, &other->omega, take, 1);
    acc->rows += other->rows;
}

size_t ny_accumulator_image_bytes(size_t m, bool gram)
{
    return sizeof(uint64_t) + (2 + m + (gram ? m * (m + 1) / 2 : 0)) * sizeof(double);
}

/* Bytes first … end−1 of an image that is gone through part by part. */
struct window {
    size_t first, end;
    size_t at; /* where the next part begins */
    char *to;
};

/* Copies what the window shows of the next part. */
static void show(struct window *window, const void *part, size_t bytes)
{
    size_t from = window->first > window->at ? window->first - window->at : 0;
    size_t to = window->end < window->at + bytes ? window->end - window->at : bytes;

    if (window->at < window->end && from < to)
        memcpy(window->to + (window->at + from - window->first), (const char *)part + from,
               to - from);
    window->at += bytes;
}

/* rows, t, s, then row i of G's lower triangle with i + 1 numbers, ω. */
void ny_accumulator_save(const struct ny_accumulator *acc, size_t at, size_t count, void *piece)
{
    struct window window = {.first = at, .end = at + count, .to = piece};

    show(&window, &acc->rows, sizeof(acc->rows));
    show(&window, &acc->t, sizeof(acc->t));
    show(&window, acc->s, acc->m * sizeof(*acc->s));
    for (size_t i = 0; i < acc->m && acc->G.at && window.at < window.end; i++)
        show(&window, acc->G.at + i * acc->G.stride, (i + 1) * sizeof(double));
    if (window.at < window.end) show(&window, &acc->omega, sizeof(acc->omega));
}

/* The next part of an image. */
static const char *take(const char *from, void *part, size_t bytes)
{
    memcpy(part, from, bytes);
    return from + bytes;
}

void ny_accumulator_restore(struct ny_accumulator *acc, const void *image)
{
    const char *from = take(image, &acc->rows, sizeof(acc->rows));

    from = take(from, &acc->t, sizeof(acc->t));
    from = take(from, acc->s, acc->m * sizeof(*acc->s));
    for (size_t i = 0; i < acc->m && acc->G.at; i++)
        from = take(from, acc->G.at + i * acc->G.stride, (i + 1) * sizeof(double));
    take(from, &acc->omega, sizeof(acc->omega));
}

int ny_accumulator_turn(struct ny_accumulator **acc, const uint32_t *place)
{
    const struct ny_accumulator *from = *acc;
    struct ny_accumulator *to;
    int err = ny_accumulator_new(&to, from->ctx, from->m);

    if (err) return err;
    for (size_t i = 0; i < from->m; i++) {
        to->s[i] = from->s[place[i]];
        for (size_t j = 0; j <= i; j++) {
            size_t a = place[i], b = place[j];

            to->G.at[i * to->G.stride + j] =
                from->G.at[a > b ? a * from->G.stride + b : b * from->G.stride + a];
        }
    }
    to->t = from->t;
    to->omega = from->omega;
    to->rows = from->rows;
    ny_accumulator_free(*acc);
    *acc = to;
    return NY_OK;
}

void ny_accumulator_restore_placed(struct ny_accumulator *acc, const void *image, size_t m,
                                   const size_t *place)
{
    const char *from = take(image, &acc->rows, sizeof(acc->rows));
    double value;

    from = take(from, &acc->t, sizeof(acc->t));
    for (size_t j = 0; j < m; j++) {
        from = take(from, &value, sizeof(value));
        if (place[j] != SIZE_MAX) acc->s[place[j]] = value;
    }
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            size_t a = place[i], b = place[j];

            from = take(from, &value, sizeof(value));
            if (a == SIZE_MAX || b == SIZE_MAX) continue;
            acc->G.at[a > b ? a * acc->G.stride + b : b * acc->G.stride + a] = value;
        }
    take(from, &acc->omega, sizeof(acc->omega));
}
