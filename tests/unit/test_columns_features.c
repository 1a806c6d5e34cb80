/* Products with feature rows, sparse and dense, against plain loops over the same rows in full. */
#include "base/random.h"
#include "columns/features.h"
#include "columns/vector.h"
#include "support/context.h"

/* The first 500 rows of the wide points have more values together than a piece. */
enum { ROWS = 700, WIDE = 3000 };

struct points {
    size_t d, slots;
    bool unit;
    enum ny_dtype dtype; /* f32, counts in u8, whose factors are 1, or genotypes */
    double *full;        /* ROWS × d: φ */
    unsigned char *raw;  /* dense rows, or records */
    struct ny_geometry geometry;
    double *centre, *factor;
};

static void *room(size_t count, size_t size)
{
    void *at = lend_zeros(count * size);

    return at;
}

/* Puts value j into the row, and returns what it is there, without the centre. */
static double put(const struct points *p, void *row, size_t j, double value)
{
    if (p->dtype == NY_U8) return ((uint8_t *)row)[j] = (uint8_t)fmax(value * 150, 0);
    if (p->dtype == NY_GENOTYPE) {
        uint8_t count = (uint8_t)fmax(value * 3, 0);

        ((uint8_t *)row)[j] = count;
        return count == NY_GENOTYPE_MISSING ? 0 : count - p->centre[j];
    }
    return ((float *)row)[j] = (float)value;
}

/* Rows of which about `share` of the values are not 0; every 50th has none. */
static struct points make_points(struct points p, double share)
{
    size_t d = p.d, bytes;
    void *row = room(d, sizeof(float));

    bytes = ny_row_bytes(p.dtype, d, p.slots);
    p.full = room(ROWS * d, sizeof(double));
    p.raw = room(ROWS, bytes);
    p.centre = room(d, sizeof(double));
    p.factor = room(d, sizeof(double));
    for (size_t j = 0; j < d; j++)
        p.factor[j] = p.dtype == NY_U8 ? 1
                      : j % 7 == 3     ? 0 /* left out */
                                       : 0.5 + ny_hash01(7, 1, j);
    for (size_t j = 0; p.dtype == NY_GENOTYPE && j < d; j++)
        p.centre[j] = 2 * ny_hash01(7, 5, j);
    p.geometry = (struct ny_geometry){d, p.centre, p.factor};
    for (size_t i = 0; i < ROWS; i++) {
        double square = 0;

        for (size_t j = 0; j < d; j++) {
            bool there = i % 50 != 49 && ny_hash01(7, 2, i * d + j) < share;

            p.full[i * d + j] =
                put(&p, row, j, there ? ny_hash01(7, 3, i * d + j) * 2 - 0.7 : 0) * p.factor[j];
            square += p.full[i * d + j] * p.full[i * d + j];
        }
        for (size_t j = 0; p.unit && square > 0 && j < d; j++)
            p.full[i * d + j] /= sqrt(square);
        if (p.slots)
            assert_true(ny_sparse_from_dense(row, d, p.dtype, p.raw + i * bytes, d));
        else
            memcpy(p.raw + i * bytes, row, bytes);
    }
    return p;
}

static double number(size_t i)
{
    return ny_hash01(7, 4, i) - 0.5;
}

/* An array of numbers in either precision. */
static void *numbers(size_t count, enum ny_precision precision)
{
    float *narrow = room(count, sizeof(double));

    for (size_t i = 0; i < count; i++)
        if (precision == NY_PRECISION_F64)
            ((double *)(void *)narrow)[i] = number(i);
        else
            narrow[i] = (float)number(i);
    return narrow;
}

static double at(const void *array, size_t i, enum ny_precision precision)
{
    return precision == NY_PRECISION_F64 ? ((const double *)array)[i]
                                         : (double)((const float *)array)[i];
}

/* All products of one pass over the rows. */
struct products {
    enum ny_precision precision;
    size_t l;
    void *Q, *H, *Y;
    double *dots, *sums, *diagonal;
    unsigned char *touched;
    size_t pieces;
};

static void run(const struct points *p, struct products *out)
{
    const struct ny_kernel *kernel =
        ny_kernel_find(p->unit ? NY_DIRECTIONS_KERNEL : NY_FEATURES_KERNEL);
    struct ny_columns_spec spec = {.ctx = ctx,
                                   .kernel = kernel,
                                   .geometry = &p->geometry,
                                   .dtype = p->dtype,
                                   .slots = p->slots};
    size_t l = out->l,
           element = out->precision == NY_PRECISION_F64 ? sizeof(double) : sizeof(float);
    struct ny_layout own = {.ctx = ctx}, counted = {0};
    struct ny_features *features;
    struct ny_source *source;
    struct ny_tile tile;
    size_t before = ny_memory_used(ctx);
    void *Y;

    assert_int_equal(ny_source_of_memory(&source, ctx, p->raw, p->dtype, ROWS, p->d), NY_OK);
    if (p->slots) ny_source_of_memory_slots(source, p->slots, false);
    before = ny_memory_used(ctx);
    features = ny_features_lay(&own, &spec, out->precision);
    assert_non_null(features);
    ny_features_lay(&counted, &spec, out->precision);
    assert_int_equal(ny_memory_used(ctx) - before, ny_layout_most(&counted));
    tile = (struct ny_tile){.source = source};
    assert_int_equal(source->ops->take(source, &tile), NY_OK);
    Y = room(ny_features_rows_most(&spec) * l, element);
    for (size_t first = 0; first < ROWS; first += ny_features_rows(features), out->pieces++) {
        size_t rows;

        assert_int_equal(ny_features_read(features, &tile, first), NY_OK);
        rows = ny_features_rows(features);
        assert_true(rows > 0 && first + rows <= ROWS);
        ny_features_times(features, out->Q, l, Y);
        memcpy((char *)out->Y + first * l * element, Y, rows * l * element);
        ny_features_add_transposed(features, Y, l, out->H);
        ny_features_dot(features, out->sums + p->d, out->dots + first);
        ny_features_add_rows(features, out->sums);
        ny_features_mark(features, out->touched, 16);
        memcpy(out->diagonal + first, ny_features_diagonal(features), rows * sizeof(double));
    }
    ny_layout_free(&own);
    ny_source_free(source);
}

/* |found − wanted| in units of the largest sum of magnitudes that may have been rounded. */
static void assert_close(double found, double wanted, double scale, enum ny_precision precision)
{
    double epsilon = precision == NY_PRECISION_F64 ? 0x1p-44 : 0x1p-18;

    if (!(fabs(found - wanted) <= epsilon * scale))
        fail_msg("%.17g where %.17g was expected, of %g", found, wanted, scale);
}

/* Returns how large values are. */
static double largest_of(const struct points *p)
{
    return p->unit ? 1 : p->dtype == NY_U8 ? 255 : p->dtype == NY_GENOTYPE ? 3 : 1;
}

static void check(const struct points *p, const struct products *x)
{
    size_t l = x->l;
    double largest = largest_of(p), root = largest * sqrt((double)p->d);
    double *H = room(p->d * l, sizeof(double));

    for (size_t i = 0; i < ROWS; i++) {
        const double *phi = p->full + i * p->d;
        double dot = 0, square = 0;

        for (size_t j = 0; j < p->d; j++) {
            dot += phi[j] * number(j);
            square += phi[j] * phi[j];
        }
        assert_close(x->dots[i], dot, root, x->precision);
        assert_close(x->diagonal[i], square, 1 + square,
                     p->dtype == NY_GENOTYPE ? x->precision : NY_PRECISION_F64);
        for (size_t k = 0; k < l; k += 13) {
            double y = 0;

            for (size_t j = 0; j < p->d; j++)
                y += phi[j] * at(x->Q, j * l + k, x->precision);
            assert_close(at(x->Y, i * l + k, x->precision), y, root, x->precision);
        }
        for (size_t j = 0; j < p->d; j++)
            for (size_t k = 0; phi[j] != 0 && k < l; k++)
                H[j * l + k] += phi[j] * at(x->Y, i * l + k, x->precision);
    }
    for (size_t j = 0; j < p->d; j++) {
        double sum = 0;
        bool any = false;

        for (size_t i = 0; i < ROWS; i++) {
            sum += p->full[i * p->d + j];
            any |= p->full[i * p->d + j] != 0;
        }
        assert_close(x->sums[j], sum, ROWS * largest, x->precision);
        assert_true(!any || x->touched[j / 16]);
        for (size_t k = 0; k < l; k++)
            assert_close(at(x->H, j * l + k, x->precision), H[j * l + k], ROWS * largest * root,
                         x->precision);
    }
}

static struct products products_new(const struct points *p, enum ny_precision precision, size_t l)
{
    struct products x = {.precision = precision, .l = l};

    x.Q = numbers(p->d * l, precision);
    x.H = room(p->d * l, sizeof(double));
    x.Y = room(ROWS * l, sizeof(double));
    x.dots = room(ROWS, sizeof(double));
    x.diagonal = room(ROWS, sizeof(double));
    x.sums = room(2 * p->d, sizeof(double)); /* Σφ, then g */
    for (size_t j = 0; j < p->d; j++)
        x.sums[p->d + j] = number(j);
    x.touched = room(p->d / 16 + 1, 1);
    return x;
}

static void try(struct points kind, double share, enum ny_precision precision, size_t l)
{
    struct points p = make_points(kind, share);
    struct products x = products_new(&p, precision, l);

    run(&p, &x);
    if (p.d == WIDE && p.slots) assert_true(x.pieces > 1); /* by values */
    if (!p.slots) assert_int_equal(x.pieces, p.dtype == NY_GENOTYPE ? 6 : 2); /* by strips */
    check(&p, &x);
}

TEST(products_are_those_of_rows_in_full)
{
    for (int f64 = 0; f64 < 2; f64++) {
        enum ny_precision precision = f64 ? NY_PRECISION_F64 : NY_PRECISION_F32;

        try((struct points){.d = WIDE, .slots = WIDE, .dtype = NY_F32}, 0.4, precision, 112);
        try((struct points){.d = 90, .slots = 90, .unit = true, .dtype = NY_F32}, 0.2, precision,
            112);
        try((struct points){.d = 90, .unit = true, .dtype = NY_F32}, 1, precision, 112);
        try((struct points){.d = 37, .dtype = NY_F32}, 0.5, precision, 112);
    }
}

/* Counts are bytes in a piece; many columns are taken range by range. */
TEST(products_of_counts)
{
    for (int f64 = 0; f64 < 2; f64++) {
        enum ny_precision precision = f64 ? NY_PRECISION_F64 : NY_PRECISION_F32;

        try((struct points){.d = WIDE, .slots = WIDE, .unit = true, .dtype = NY_U8}, 0.5, precision,
            64);
        try((struct points){.d = 90, .slots = 90, .dtype = NY_U8}, 0.3, precision, 16);
    }
}

TEST(families_agree)
{
    for (int family = NY_CPU_PLAIN; family < NY_CPU_COUNT; family++) {
        if (!ny_vector_force((enum ny_cpu)family)) continue;
        for (size_t l = 8; l <= 136; l += 8)
            for (int counts = 0; counts < 2; counts++) {
                struct points kind = {
                    .d = 90, .slots = 90, .unit = counts, .dtype = counts ? NY_U8 : NY_F32};

                if (l % 16 == 0) try(kind, 0.2, NY_PRECISION_F32, l);
                try(kind, 0.2, NY_PRECISION_F64, l);
            }
        for (size_t d = 90; d <= WIDE; d += WIDE - 90) /* one panel, and more */
            for (int f64 = 0; f64 < 2; f64++)
                for (int unit = 0; unit < 2; unit++)
                    try((struct points){.d = d, .unit = unit, .dtype = NY_GENOTYPE}, 0.8,
                        f64 ? NY_PRECISION_F64 : NY_PRECISION_F32, 16);
    }
    ny_vector_force(NY_CPU_COUNT);
}

AROUND_EACH(start, stop)
