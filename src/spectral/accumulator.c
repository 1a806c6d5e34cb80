#include "spectral/accumulator.h"

#include <assert.h>
#include <string.h>

#include "stream/source.h"

/* An f64 tile Gram is summed over strips, so that a strip is all that is ever widened. */
enum { STRIP = NY_STRIP_ROWS, STRIPS = NY_UNIT_ROWS / NY_STRIP_ROWS };

int ny_accumulator_new(struct ny_accumulator **out, struct ny_context *ctx, size_t m)
{
    struct ny_accumulator *acc;
    size_t cells;
    int err;

    *out = NULL;
    err = ny_product(ctx, &cells, m, m, 1);
    if (err) return err;
    acc = ny_calloc(ctx, NY_MEM_GRAM, 1, sizeof(*acc));
    if (!acc) return NY_EBUDGET;
    acc->ctx = ctx;
    acc->m = m;
    acc->s = ny_calloc(ctx, NY_MEM_GRAM, m, sizeof(*acc->s));
    acc->G = ny_matrix(ny_calloc(ctx, NY_MEM_GRAM, cells, sizeof(double)), m, m);
    if (!acc->s || !acc->G.at) {
        ny_accumulator_free(acc);
        return NY_EBUDGET;
    }
    *out = acc;
    return NY_OK;
}

void ny_accumulator_free(struct ny_accumulator *acc)
{
    if (!acc) return;
    ny_free(acc->ctx, acc->s);
    ny_free(acc->ctx, acc->G.at);
    ny_free(acc->ctx, acc);
}

int ny_partial_new(struct ny_partial **out, struct ny_context *ctx, size_t m,
                   enum ny_gram_precision precision)
{
    struct ny_partial *part;
    size_t cells, strip;
    int err;

    *out = NULL;
    err = ny_product(ctx, &cells, m, m, 1);
    if (!err) err = ny_product(ctx, &strip, m, STRIP, 1);
    if (err) return err;
    part = ny_calloc(ctx, NY_MEM_GRAM, 1, sizeof(*part));
    if (!part) return NY_EBUDGET;
    part->ctx = ctx;
    part->precision = precision;
    part->m = m;
    part->s = ny_calloc(ctx, NY_MEM_GRAM, m, sizeof(*part->s));
    if (precision == NY_GRAM_F32) {
        part->G32 = ny_calloc(ctx, NY_MEM_GRAM, cells, sizeof(*part->G32));
    } else {
        part->G64 = ny_calloc(ctx, NY_MEM_GRAM, cells, sizeof(*part->G64));
        part->C64 = ny_calloc(ctx, NY_MEM_GRAM, strip, sizeof(*part->C64));
    }
    if (!part->s || (precision == NY_GRAM_F32 ? !part->G32 : !part->G64 || !part->C64)) {
        ny_partial_free(part);
        return NY_EBUDGET;
    }
    *out = part;
    return NY_OK;
}

void ny_partial_free(struct ny_partial *part)
{
    if (!part) return;
    ny_free(part->ctx, part->s);
    ny_free(part->ctx, part->G32);
    ny_free(part->ctx, part->G64);
    ny_free(part->ctx, part->C64);
    ny_free(part->ctx, part);
}

size_t ny_accumulator_bytes(size_t m)
{
    return (m + 1) * m * sizeof(double) + sizeof(struct ny_accumulator);
}

size_t ny_partial_bytes(size_t m, enum ny_gram_precision precision)
{
    size_t gram = precision == NY_GRAM_F32 ? m * m * sizeof(float)
                                           : (m + STRIP) * m * sizeof(double);

    return gram + m * sizeof(double) + sizeof(struct ny_partial);
}

/* s = Σ rows of C in f64, four rows at a time: s itself is then loaded a quarter as often. */
static void sum_columns(struct ny_matrix32 C, size_t rows, double *restrict s)
{
    size_t i = 0;

    memset(s, 0, C.cols * sizeof(*s));
    for (; i + 4 <= rows; i += 4) {
        const float *restrict c0 = C.at + i * C.stride, *restrict c1 = c0 + C.stride;
        const float *restrict c2 = c1 + C.stride, *restrict c3 = c2 + C.stride;
        for (size_t j = 0; j < C.cols; j++)
            s[j] += ((double)c0[j] + (double)c1[j]) + ((double)c2[j] + (double)c3[j]);
    }
    for (; i < rows; i++)
        for (size_t j = 0; j < C.cols; j++)
            s[j] += (double)C.at[i * C.stride + j];
}

static void sum_columns64(struct ny_matrix C, size_t rows, double *restrict s)
{
    size_t i = 0;

    memset(s, 0, C.cols * sizeof(*s));
    for (; i + 4 <= rows; i += 4) {
        const double *restrict c0 = C.at + i * C.stride, *restrict c1 = c0 + C.stride;
        const double *restrict c2 = c1 + C.stride, *restrict c3 = c2 + C.stride;
        for (size_t j = 0; j < C.cols; j++)
            s[j] += (c0[j] + c1[j]) + (c2[j] + c3[j]);
    }
    for (; i < rows; i++)
        for (size_t j = 0; j < C.cols; j++)
            s[j] += C.at[i * C.stride + j];
}

static void gram_in_f64(struct ny_partial *part, struct ny_matrix32 C, size_t rows)
{
    struct ny_matrix G = ny_matrix(part->G64, part->m, part->m);

    for (size_t strip = 0; strip < STRIPS; strip++) {
        if (strip > 0 && strip * STRIP >= rows) break; /* padding: it would add zeros */
        for (size_t i = 0; i < STRIP; i++) {
            const float *restrict from = C.at + (strip * STRIP + i) * C.stride;
            double *restrict to = part->C64 + i * part->m;
            for (size_t j = 0; j < part->m; j++)
                to[j] = (double)from[j];
        }
        ny_gram(ny_matrix(part->C64, STRIP, part->m), strip > 0, G);
    }
}

static void set_trace(struct ny_partial *part, size_t rows, const double *diagonal)
{
    part->rows = rows;
    part->t = 0;
    for (size_t i = 0; i < rows && diagonal; i++)
        part->t += diagonal[i];
}

void ny_partial_set(struct ny_partial *part, struct ny_matrix32 C, size_t rows,
                    const double *diagonal)
{
    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && rows <= C.rows && !C.transposed);
    set_trace(part, rows, diagonal);
    sum_columns(C, rows, part->s);
    if (part->precision == NY_GRAM_F32)
        ny_gram32(C, 0, ny_matrix32(part->G32, part->m, part->m));
    else
        gram_in_f64(part, C, rows);
}

void ny_partial_set64(struct ny_partial *part, struct ny_matrix C, size_t rows,
                      const double *diagonal)
{
    assert(C.rows == NY_UNIT_ROWS && C.cols == part->m && rows <= C.rows && !C.transposed);
    assert(part->precision == NY_GRAM_F64);
    set_trace(part, rows, diagonal);
    sum_columns64(C, rows, part->s);
    ny_gram(C, 0, ny_matrix(part->G64, part->m, part->m));
}

static void add32(double *restrict to, const float *restrict from, size_t count)
{
    for (size_t j = 0; j < count; j++)
        to[j] += (double)from[j];
}

static void add64(double *restrict to, const double *restrict from, size_t count)
{
    for (size_t j = 0; j < count; j++)
        to[j] += from[j];
}

void ny_accumulator_fold(struct ny_accumulator *acc, const struct ny_partial *part)
{
    assert(acc->m == part->m);
    for (size_t i = 0; i < acc->m; i++) {
        double *row = acc->G.at + i * acc->G.stride;
        if (part->precision == NY_GRAM_F32)
            add32(row, part->G32 + i * part->m, i + 1);
        else
            add64(row, part->G64 + i * part->m, i + 1);
    }
    add64(acc->s, part->s, acc->m);
    acc->t += part->t;
    acc->rows += part->rows;
}

size_t ny_accumulator_image_bytes(size_t m)
{
    return sizeof(uint64_t) + (1 + m + m * (m + 1) / 2) * sizeof(double);
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

/* rows, t, s, then row i of G's lower triangle with i + 1 numbers. */
void ny_accumulator_save(const struct ny_accumulator *acc, size_t at, size_t count, void *piece)
{
    struct window window = {.first = at, .end = at + count, .to = piece};

    show(&window, &acc->rows, sizeof(acc->rows));
    show(&window, &acc->t, sizeof(acc->t));
    show(&window, acc->s, acc->m * sizeof(*acc->s));
    for (size_t i = 0; i < acc->m && window.at < window.end; i++)
        show(&window, acc->G.at + i * acc->G.stride, (i + 1) * sizeof(double));
}

void ny_accumulator_restore(struct ny_accumulator *acc, const void *image)
{
    const char *from = image;

    memcpy(&acc->rows, from, sizeof(acc->rows));
    from += sizeof(acc->rows);
    memcpy(&acc->t, from, sizeof(acc->t));
    from += sizeof(acc->t);
    memcpy(acc->s, from, acc->m * sizeof(*acc->s));
    from += acc->m * sizeof(*acc->s);
    for (size_t i = 0; i < acc->m; i++) {
        memcpy(acc->G.at + i * acc->G.stride, from, (i + 1) * sizeof(double));
        from += (i + 1) * sizeof(double);
    }
}
