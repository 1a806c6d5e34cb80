/* spectral/accumulator.h: weighted sums of f32 tiles against plain f64 loops, sums that have no
 * order, and the image for checkpoints. */
#include "spectral/accumulator.h"

#include "base/random.h"
#include "stream/source.h"
#include "support/context.h"

enum { M = 37, STRIDE = 40, N = 2 * NY_UNIT_ROWS + 701 };

OWNS(ny_layout, ny_layout_free(at))
OWNS_POINTER(ny_accumulator, ny_accumulator_free)

static size_t rows_of(size_t unit)
{
    size_t left = N - unit * NY_UNIT_ROWS;

    return left < NY_UNIT_ROWS ? left : NY_UNIT_ROWS;
}

/* A tile of numbers around 0, its padding zero, NaN beside it. */
static float *tile(size_t unit)
{
    float *c = lend(NY_UNIT_ROWS * STRIDE * sizeof(*c));

    for (size_t i = 0; i < NY_UNIT_ROWS; i++)
        for (size_t j = 0; j < STRIDE; j++) {
            double number = ny_hash01(1, NY_STREAM_DATA, (unit * NY_UNIT_ROWS + i) * M + j) - 0.5;

            c[i * STRIDE + j] = j >= M ? NAN : i >= rows_of(unit) ? 0 : (float)number;
        }
    return c;
}

static void add_unit(struct ny_accumulator *acc, struct ny_partial *part, size_t unit)
{
    float *c = tile(unit);
    double diagonal[NY_UNIT_ROWS];

    for (size_t i = 0; i < NY_UNIT_ROWS; i++)
        diagonal[i] = i < rows_of(unit) ? 1.5 : NAN;
    ny_partial_set(part, (struct ny_matrix32){c, NY_UNIT_ROWS, M, STRIDE, false},
                   &(struct ny_tile_rows){.count = rows_of(unit), .diagonal = diagonal});
    ny_accumulator_fold(acc, part);
}

static struct ny_accumulator *accumulated(enum ny_gram_precision precision, size_t units)
{
    struct ny_accumulator *acc;
    OWNED(ny_layout) l = {.ctx = ctx};
    struct ny_partial *part;

    assert_int_equal(ny_accumulator_new(&acc, ctx, M), NY_OK);
    part = ny_partial_lay(&l, M, precision);
    assert_non_null(part);
    for (size_t unit = 0; unit < units; unit++)
        add_unit(acc, part, unit);
    return acc;
}

/* Saved after one unit, restored into an accumulator full of other numbers, and gone on with. */
TEST(an_image_restores_every_bit)
{
    struct ny_accumulator *whole = accumulated(NY_GRAM_F32, 3);
    OWNED(ny_accumulator) *first = accumulated(NY_GRAM_F32, 1);
    OWNED(ny_accumulator) *resumed = accumulated(NY_GRAM_F64, 2);
    size_t bytes = ny_accumulator_image_bytes(M, true);
    unsigned char *image = lend(bytes + 9);
    OWNED(ny_layout) l = {.ctx = ctx};
    struct ny_partial *part;

    assert_int_equal(bytes, 8 * (1 + 1 + M + M * (M + 1) / 2 + 1));
    memset(image, 0xAB, bytes + 9);
    for (size_t p = 0; p < M; p++)
        for (size_t q = p + 1; q < M; q++)
            first->G.at[p * M + q] = NAN; /* scratch: not part of the image */
    /* piece by piece, of any lengths; no alignment is promised */
    for (size_t at = 0, count = 1; at < bytes; at += count, count = 2 * count + 1)
        ny_accumulator_save(first, at, count < bytes - at ? count : bytes - at, image + 1 + at);
    ny_accumulator_restore(resumed, image + 1);
    assert_int_equal(image[0], 0xAB);
    assert_int_equal(image[bytes + 1], 0xAB);
    part = ny_partial_lay(&l, M, NY_GRAM_F32);
    assert_non_null(part);
    for (size_t unit = 1; unit < 3; unit++)
        add_unit(resumed, part, unit);
    assert_int_equal(resumed->rows, whole->rows);
    assert_memory_equal(&resumed->t, &whole->t, sizeof(double));
    assert_memory_equal(&resumed->omega, &whole->omega, sizeof(double));
    assert_memory_equal(resumed->s, whole->s, M * sizeof(double));
    for (size_t p = 0; p < M; p++)
        assert_memory_equal(resumed->G.at + p * M, whole->G.at + p * M, (p + 1) * sizeof(double));
    ny_accumulator_free(whole);
}

/* Rows count w_i² in s, G, t and ω, or 1, whatever the precision; NONE sums all but G. */
TEST(rows_are_weighted)
{
    double weights[NY_UNIT_ROWS], diagonal[NY_UNIT_ROWS];
    size_t rows = rows_of(2);

    for (int k = 0; k <= 2 * NY_GRAM_NONE + 1; k++) {
        int precision = k / 2;
        bool weighted = k % 2; /* rounds the rows */
        double tolerance = precision == NY_GRAM_F64 && !weighted ? 1e-13 : 1e-5;
        double s[M] = {0}, G[M * M] = {0}, t = 0, omega = 0;
        struct ny_tile_rows brought = {
            .count = rows, .diagonal = diagonal, .weights = weighted ? weights : NULL};
        OWNED(ny_accumulator) *acc = NULL;
        OWNED(ny_layout) l = {.ctx = ctx};
        struct ny_partial *part;
        float *c = tile(2);

        for (size_t i = 0; i < rows; i++) {
            double square;

            weights[i] = weighted ? 0.25 + (double)(i % 7) : 1;
            diagonal[i] = 1 + (double)(i % 3);
            square = weights[i] * weights[i];
            omega += square;
            t += square * diagonal[i];
            for (size_t p = 0; p < M; p++) {
                s[p] += square * (double)c[i * STRIDE + p];
                for (size_t q = 0; q <= p; q++)
                    G[p * M + q] += square * (double)c[i * STRIDE + p] * (double)c[i * STRIDE + q];
            }
        }
        if (precision == NY_GRAM_NONE)
            assert_int_equal(ny_accumulator_new_sums(&acc, ctx, M), NY_OK);
        else
            assert_int_equal(ny_accumulator_new(&acc, ctx, M), NY_OK);
        part = ny_partial_lay(&l, M, (enum ny_gram_precision)precision);
        assert_non_null(part);
        ny_partial_set(part, (struct ny_matrix32){c, NY_UNIT_ROWS, M, STRIDE, false}, &brought);
        ny_accumulator_fold(acc, part);
        assert_near(acc->t, t, 1e-12 * t);
        assert_near(acc->omega, omega, 1e-12 * omega);
        for (size_t p = 0; p < M; p++) {
            assert_near(acc->s[p], s[p], 1e-12 * fabs(s[p]) + 1e-12);
            for (size_t q = 0; q <= p && acc->G.at; q++)
                assert_near(acc->G.at[p * M + q], G[p * M + q],
                            tolerance * sqrt(G[p * M + p] * G[q * M + q]));
        }
        assert_true((acc->G.at == NULL) == (precision == NY_GRAM_NONE));
    }
}

TEST(memory_is_announced_and_bounded)
{
    enum { LARGE = 500 };
    struct ny_accumulator *acc;
    struct ny_layout l = {.ctx = ctx};
    struct ny_partial *part;
    uint64_t limit = ny_context_memory(ctx);
    size_t before = ny_memory_used(ctx), slack = 1024;
    struct ny_layout sums = {0};

    ny_accumulator_count(&sums, LARGE);
    assert_int_equal(ny_accumulator_new(&acc, ctx, LARGE), NY_OK);
    assert_int_equal(ny_memory_used(ctx) - before, ny_layout_most(&sums));
    before = ny_memory_used(ctx);
    for (int precision = 0; precision < 2; precision++) {
        struct ny_layout counted = {0};
        size_t bytes;

        ny_partial_lay(&counted, LARGE, (enum ny_gram_precision)precision);
        bytes = ny_layout_most(&counted);
        part = ny_partial_lay(&l, LARGE, (enum ny_gram_precision)precision);
        assert_non_null(part);
        assert_in_range(ny_memory_used(ctx) - before, bytes, bytes + slack);
        ny_layout_free(&l);
        ny_context_set_memory(ctx, before + bytes / 2);
        part = ny_partial_lay(&l, LARGE, (enum ny_gram_precision)precision);
        assert_int_equal(ny_layout_end(&l), NY_EBUDGET);
        assert_null(part);
        ny_error_clear(ctx);
        ny_context_set_memory(ctx, limit);
        assert_int_equal(ny_memory_used(ctx), before);
    }
    ny_accumulator_free(acc);
    REFUSED(ny_accumulator_new(&acc, ctx, SIZE_MAX / 2), NY_EBUDGET);
    ny_accumulator_free(NULL);
}

/* Sums that are watched have the bits of those that are not, and tell whether an addition was
 * rounded: 1 + 2^-30 is not, 2^60 + 1 is, in s as in G. */
TEST(roundings_are_noticed)
{
    static const float late[] = {0x1p-30F, 1, 1}, early[] = {1, 0x1p60F, 0x1p60F};
    static const bool in_s[] = {false, true, false}, noticed[] = {false, true, true};
    struct ny_accumulator *plain, *watched;
    struct ny_layout l = {.ctx = ctx};
    struct ny_partial *part;

    for (size_t k = 0; k < sizeof(late) / sizeof(late[0]); k++) {
        assert_int_equal(ny_accumulator_new(&plain, ctx, 2), NY_OK);
        assert_int_equal(ny_accumulator_new(&watched, ctx, 2), NY_OK);
        part = ny_partial_lay(&l, 2, NY_GRAM_F32);
        assert_non_null(part);
        ny_accumulator_watch(watched);
        for (size_t unit = 0; unit < 2; unit++) {
            float value = unit ? late[k] : early[k];

            part->s[1] = in_s[k] ? (double)value : 0;
            part->G32[2] = in_s[k] ? 0 : value;
            ny_accumulator_fold(plain, part);
            ny_accumulator_fold(watched, part);
        }
        assert_int_equal(watched->rounded, noticed[k]);
        assert_false(plain->rounded);
        assert_memory_equal(plain->G.at, watched->G.at, 4 * sizeof(double));
        assert_memory_equal(plain->s, watched->s, 2 * sizeof(double));
        ny_layout_free(&l);
        ny_accumulator_free(plain);
        ny_accumulator_free(watched);
    }
}

enum { UNITS = 96, PARTS = 3 };

/* Returns the k-th number of a unit: one of very different sizes, below 2ᵇⁱᵗˢ. */
static double heavy_tailed_number(size_t unit, size_t k, int bits)
{
    uint64_t index = 2 * (unit * (M * M + M) + k);
    double size = 60 * ny_hash01(7, NY_STREAM_DATA, index);

    return ldexp(ny_hash01(7, NY_STREAM_DATA, index + 1) - 0.3, bits - (int)size);
}

/* Sets the sums of a unit to numbers up to those that |c′| ≤ 2 can make. */
static void set_heavy_tailed(struct ny_partial *part, size_t unit)
{
    for (size_t i = 0; i < M * M; i++)
        part->G32[i] = (float)heavy_tailed_number(unit, i, 13);
    for (size_t j = 0; j < M; j++)
        part->s[j] = heavy_tailed_number(unit, M * M + j, 12);
    part->rows = NY_UNIT_ROWS;
}

/* Sums up the units in their order, or backwards, in as many parts that are then added. */
static struct ny_accumulator *heavy_tailed(bool rounded, bool backwards, size_t parts)
{
    struct ny_accumulator *acc[PARTS];
    OWNED(ny_layout) l = {.ctx = ctx};
    struct ny_partial *part;

    part = ny_partial_lay(&l, M, NY_GRAM_F32);
    assert_non_null(part);
    for (size_t p = 0; p < parts; p++) {
        assert_int_equal(ny_accumulator_new(&acc[p], ctx, M), NY_OK);
        if (rounded) ny_accumulator_round(acc[p], 2, UNITS * NY_UNIT_ROWS);
        for (size_t u = p * UNITS / parts; u < (p + 1) * UNITS / parts; u++) {
            set_heavy_tailed(part, backwards ? UNITS - 1 - u : u);
            ny_accumulator_fold(acc[p], part);
        }
        if (p) ny_accumulator_add(acc[0], 1, acc[p], 1);
        if (p) ny_accumulator_free(acc[p]);
    }
    return acc[0];
}

/* Returns how many sums of two accumulators differ by more than that. */
static size_t differing(const struct ny_accumulator *x, const struct ny_accumulator *y, double most)
{
    size_t count = 0;

    for (size_t i = 0; i < M; i++) {
        count += fabs(x->s[i] - y->s[i]) > most;
        for (size_t j = 0; j <= i; j++)
            count += fabs(x->G.at[i * x->G.stride + j] - y->G.at[i * y->G.stride + j]) > most;
    }
    return count;
}

TEST(sums_on_a_grid_have_no_order)
{
    const double rounding = UNITS * ldexp(4.0 * UNITS * NY_UNIT_ROWS, -52);
    OWNED(ny_accumulator) *plain = heavy_tailed(false, false, 1);
    struct ny_accumulator *other = heavy_tailed(false, true, PARTS);
    OWNED(ny_accumulator) *rounded = heavy_tailed(true, false, 1);

    assert_true(differing(plain, other, 0) > M); /* or the numbers would show nothing */
    assert_int_equal(differing(plain, rounded, rounding), 0);
    ny_accumulator_free(other);
    for (size_t parts = 1; parts <= PARTS; parts++)
        for (int backwards = 0; backwards < 2; backwards++) {
            other = heavy_tailed(true, backwards, parts);
            assert_int_equal(differing(rounded, other, 0), 0);
            ny_accumulator_free(other);
        }
}

/* Blocks are those of a Gram of more columns than one has, of f64 tiles and of f32 ones. */
TEST(grams_in_blocks_are_whole)
{
    enum { COLUMNS = 2 * NY_GRAM_BLOCK + 9 };
    const struct ny_tile tile = {.rows = NY_UNIT_ROWS};
    const struct ny_tile_rows brought = {.count = NY_UNIT_ROWS, .tile = &tile};
    size_t cells = (size_t)NY_UNIT_ROWS * COLUMNS;
    double *c = lend(cells * sizeof(*c));
    float *c32 = lend(cells * sizeof(*c32));
    OWNED(ny_layout) l = {.ctx = ctx};
    struct ny_partial *whole, *blocks;

    for (size_t i = 0; i < cells; i++) {
        c32[i] = (float)(ny_hash01(5, 0, i) - 0.5);
        c[i] = (double)c32[i];
    }
    whole = ny_partial_lay(&l, COLUMNS, NY_GRAM_F64);
    assert_non_null(whole);
    blocks = ny_partial_lay(&l, COLUMNS, NY_GRAM_F64);
    assert_non_null(blocks);
    blocks->shared = true;
    for (int f64 = 0; f64 < 2; f64++) {
        memset(blocks->G64, 0xff, COLUMNS * COLUMNS * sizeof(double)); /* NaN */
        ny_partial_set64(whole, ny_matrix(c, NY_UNIT_ROWS, COLUMNS), &brought);
        if (f64)
            ny_partial_set64(blocks, ny_matrix(c, NY_UNIT_ROWS, COLUMNS), &brought);
        else
            ny_partial_set(blocks, ny_matrix32(c32, NY_UNIT_ROWS, COLUMNS), &brought);
        for (size_t i = 0; i < COLUMNS; i++)
            for (size_t j = 0; j <= i; j++)
                assert_near(blocks->G64[i * COLUMNS + j], whole->G64[i * COLUMNS + j], 1e-10);
    }
}

AROUND_ALL(start, stop)
