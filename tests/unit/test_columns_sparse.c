/* Sparse rows against plain loops over the same rows written out in full. */
#include "base/random.h"
#include "columns/columns.h"
#include "support/context.h"

enum { D = 300, ROWS = 130, LANDMARKS = 2100, SLOTS = 24 };

static double full[LANDMARKS][D]; /* the rows, prepared as the geometry says but for the centre */
static double centre[D], factor[D];
static unsigned char *records;

/* Puts a value into a dense row of a type: whole numbers where it has no others. Returns it. */
static double put(void *row, enum ny_dtype dtype, size_t j, double value)
{
    if (dtype == NY_U8) return ((uint8_t *)row)[j] = (uint8_t)(1 + fabs(value) * 9);
    if (dtype == NY_I16) return ((int16_t *)row)[j] = (int16_t)(value * 20 + 1);
    if (dtype == NY_F32) return (double)(((float *)row)[j] = (float)value);
    return ((double *)row)[j] = value;
}

/* Row i: up to SLOTS values, none in every 50th row; row 1 is row 0 once more. */
static void make_rows(enum ny_dtype dtype, bool centred, bool scaled)
{
    size_t bytes = ny_row_bytes(dtype, D, SLOTS);
    double size = dtype == NY_U8 || dtype == NY_I16 ? 0.1 : 1;

    records = lend_zeros(LANDMARKS * bytes);
    for (size_t j = 0; j < D; j++) {
        factor[j] = scaled ? size * (0.5 + ny_hash01(7, 1, j)) : 1;
        centre[j] = centred ? ny_hash01(7, 2, j) * 0.1 : 0;
    }
    for (size_t i = 0; i < LANDMARKS; i++) {
        size_t from = i == 1 ? 0 : i, count = from % 50 == 49 ? 0 : 1 + from % SLOTS;
        double row[D] = {0}, value[D] = {0};

        for (size_t k = 0; k < count; k++) {
            size_t j = (size_t)(ny_hash01(7, 3, from * SLOTS + k) * D);

            value[j] = put(row, dtype, j, ny_hash01(7, 4, from * SLOTS + k) * 2 - 0.7);
        }
        assert_true(ny_sparse_from_dense(row, D, dtype, records + i * bytes, SLOTS));
        for (size_t j = 0; j < D; j++)
            full[i][j] = value[j] * factor[j];
    }
}

static double plain(const struct ny_columns_spec *spec, const double *x, const double *y)
{
    double dot = 0, square = 0, absolute = 0, xx = 0, yy = 0;

    for (size_t j = 0; j < D; j++) {
        double c = centre[j] * factor[j], p = x[j] - c, q = y[j] - c;

        if (p == 0 && q == 0) continue;
        dot += p * q;
        xx += p * p;
        yy += q * q;
        square += (p - q) * (p - q);
        absolute += fabs(p - q);
    }
    if (strcmp(spec->kernel->name, "rbf") == 0) return exp(-spec->params.gamma * square);
    if (strcmp(spec->kernel->name, "laplacian") == 0) return exp(-spec->params.gamma * absolute);
    if (strcmp(spec->kernel->name, "cosine") == 0) return xx * yy > 0 ? dot / sqrt(xx * yy) : 0;
    if (strcmp(spec->kernel->name, "polynomial") == 0)
        return pow(spec->params.gamma * dot + spec->params.first, spec->params.second);
    return dot;
}

static struct ny_columns *columns_of(const struct ny_columns_spec *spec, bool one_by_one)
{
    size_t bytes = ny_raw_bytes(spec), step = one_by_one ? 33 : LANDMARKS;
    struct ny_columns *columns;

    assert_int_equal(ny_columns_new(&columns, spec), NY_OK);
    for (size_t i = 0; i < LANDMARKS; i += step)
        CHECK(ny_columns_append(columns, ny_raw_rows(records + i * bytes),
                                LANDMARKS - i < step ? LANDMARKS - i : step));
    return columns;
}

static float *tile_of(const struct ny_columns *columns, double *diagonal)
{
    struct ny_layout l = {.ctx = ctx};
    struct ny_columns_workspace *workspace;
    struct ny_source *source;
    float *C = lend_zeros((size_t)NY_UNIT_ROWS * LANDMARKS * sizeof(float));

    CHECK(ny_source_of_memory(&source, ctx, records, ny_columns_of(columns)->dtype, ROWS, D));
    ny_source_of_memory_slots(source, SLOTS, false);
    workspace = ny_columns_workspace_lay(&l, ny_columns_of(columns), NY_STRIP_ROWS);
    assert_non_null(workspace);
    CHECK(ny_columns_tile(columns, workspace, &(struct ny_tile){.source = source, .rows = ROWS},
                          (struct ny_matrix32){C, NY_UNIT_ROWS, LANDMARKS, LANDMARKS, false},
                          diagonal));
    ny_layout_free(&l);
    ny_source_free(source);
    return C;
}

/* A block of columns that begins and ends inside a panel is what the whole has there. */
static void check_block(const struct ny_columns *columns, const float *whole)
{
    enum { FIRST = 1900, COUNT = 190 };
    struct ny_layout l = {.ctx = ctx};
    struct ny_columns_workspace *workspace;
    struct ny_strip strip;
    float *K = lend_zeros((size_t)ROWS * COUNT * sizeof(float));

    workspace = ny_columns_workspace_lay(&l, ny_columns_of(columns), ROWS);
    assert_non_null(workspace);
    strip = ny_columns_own_strip(columns, workspace, 0, ROWS);
    ny_columns_block(columns, &strip, FIRST, ny_matrix32(K, ROWS, COUNT));
    for (size_t i = 0; i < ROWS; i++)
        assert_memory_equal(K + i * COUNT, whole + i * LANDMARKS + FIRST, COUNT * sizeof(float));
    ny_layout_free(&l);
}

static void check_kernel(const char *kernel, enum ny_dtype dtype, bool centred, bool scaled)
{
    const struct ny_geometry geometry = {D, centre, factor};
    struct ny_columns_spec spec = {.ctx = ctx,
                                   .kernel = ny_kernel_find(kernel),
                                   .params = {.gamma = 0.3, .first = 0.5, .second = 3},
                                   .geometry = &geometry,
                                   .dtype = dtype,
                                   .slots = SLOTS};
    double *K = lend_zeros((size_t)ROWS * LANDMARKS * sizeof(double)), diagonal[NY_UNIT_ROWS];
    double *W = lend_zeros((size_t)ROWS * ROWS * sizeof(double));
    struct ny_columns *columns, *again;
    float *C, *D_ = NULL;

    make_rows(dtype, centred, scaled);
    columns = columns_of(&spec, false);
    again = columns_of(&spec, true);
    C = tile_of(columns, diagonal);
    D_ = tile_of(again, diagonal);
    assert_memory_equal(C, D_, (size_t)NY_UNIT_ROWS * LANDMARKS * sizeof(float));
    check_block(columns, C);
    CHECK(ny_columns_exact(columns, ny_raw_rows(records), ROWS, 0, ny_matrix(K, ROWS, LANDMARKS)));
    CHECK(ny_columns_exact_square(columns, ny_raw_rows(records), ROWS, ny_matrix(W, ROWS, ROWS)));
    ny_context_interrupt(ctx, 2);
    assert_int_equal(
        ny_columns_exact_square(columns, ny_raw_rows(records), ROWS, ny_matrix(W, ROWS, ROWS)),
        NY_EINTERRUPTED);
    ny_context_interrupt(ctx, 0);
    for (size_t i = 0; i < ROWS; i++) {
        for (size_t j = 0; j < LANDMARKS; j++) {
            double want = plain(&spec, full[i], full[j]);

            if (!(fabs(K[i * LANDMARKS + j] - want) <= 1e-12 * (1 + fabs(want))) ||
                !(fabs((double)C[i * LANDMARKS + j] - want) <= 1e-6 * (1 + fabs(want))))
                fail_msg("%s of rows %zu and %zu: %.17g and %.9g, not %.17g", kernel, i, j,
                         K[i * LANDMARKS + j], (double)C[i * LANDMARKS + j], want);
            if (j < ROWS) assert_true(W[i * ROWS + j] == W[j * ROWS + i]);
            if (j < ROWS) assert_true(fabs(W[i * ROWS + j] - want) <= 1e-12 * (1 + fabs(want)));
        }
        assert_true(fabs(diagonal[i] - plain(&spec, full[i], full[i])) <=
                    1e-12 * (1 + fabs(diagonal[i])));
    }
    for (size_t i = ROWS; i < NY_UNIT_ROWS; i++)
        assert_true(C[i * LANDMARKS] == 0);
    ny_columns_free(columns);
    ny_columns_free(again);
}

TEST(kernels_agree_with_plain_loops)
{
    static const char *const kernels[] = {"rbf", "laplacian", "linear", "cosine", "polynomial"};

    for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
        check_kernel(kernels[k], NY_F32, false, true);
    check_kernel("rbf", NY_F64, false, false); /* whose index takes several ranges */
    check_kernel("laplacian", NY_F64, false, true);
    check_kernel("laplacian", NY_U8, false, true);
    check_kernel("laplacian", NY_I16, false, false);
    for (int scaled = 0; scaled < 2; scaled++) {
        check_kernel("cosine", NY_U8, false, scaled);
        check_kernel("cosine", NY_I16, false, scaled);
    }
    /* pca: a centre, which sparse rows are not shifted by */
    check_kernel("linear", NY_F32, true, true);
    check_kernel("linear", NY_F64, true, false);
}

enum { WIDE = 200000, WIDE_ROWS = 24 };

/* Row i has i + 1 in each column, and is full, or has ten columns. */
static void make_wide(void *row, size_t i)
{
    uint32_t *index = lend(WIDE * sizeof(*index));
    float *value = lend(WIDE * sizeof(*value));
    size_t count = i % 3 ? 10 : WIDE;

    for (size_t k = 0; k < count; k++) {
        index[k] = (uint32_t)(k * (WIDE / count));
        value[k] = (float)(i + 1);
    }
    ny_sparse_pack(row, WIDE, NY_F32, (struct ny_sparse){count, index, value});
}

static double wide_product(size_t i, size_t j)
{
    return (double)((i + 1) * (j + 1) * (i % 3 || j % 3 ? 10 : WIDE));
}

/* Rows of 1.6 MB are read one or two at a time; neither work spaces nor landmarks are sized by the
 * fullest row. */
TEST(full_rows_do_not_make_others_dear)
{
    double *factors = lend_zeros(2 * WIDE * sizeof(double)), diagonal[NY_UNIT_ROWS];
    const struct ny_geometry geometry = {WIDE, factors, factors + WIDE};
    struct ny_columns_spec spec = {.ctx = ctx,
                                   .kernel = ny_kernel_find("linear"),
                                   .geometry = &geometry,
                                   .dtype = NY_F32,
                                   .slots = WIDE,
                                   .values = 8 * WIDE + 160};
    size_t bytes = ny_raw_bytes(&spec), before = ny_memory_used(ctx), used;
    float *C = lend_zeros((size_t)NY_UNIT_ROWS * WIDE_ROWS * sizeof(float));
    struct ny_layout l = {.ctx = ctx}, counted = {0}, columns_counted = {0};
    struct ny_columns_workspace *workspace;
    struct ny_columns *columns;
    struct ny_source *source;

    ny_lengths_unknown(&spec.lengths, spec.values);
    records = lend_zeros(WIDE_ROWS * bytes);
    for (size_t k = 0; k < WIDE; k++)
        factors[WIDE + k] = 1;
    for (size_t i = 0; i < WIDE_ROWS; i++)
        make_wide(records + i * bytes, i);
    assert_int_equal(ny_columns_new(&columns, &spec), NY_OK);
    assert_int_equal(ny_columns_append(columns, ny_raw_rows(records), WIDE_ROWS), NY_OK);
    used = ny_memory_used(ctx) - before;
    ny_columns_count(&columns_counted, &spec, WIDE_ROWS);
    assert_in_range(used, 1, ny_layout_most(&columns_counted));
    assert_true(used < WIDE_ROWS * bytes);
    workspace = ny_columns_workspace_lay(&l, &spec, NY_STRIP_ROWS);
    assert_non_null(workspace);
    used = ny_memory_used(ctx) - before - used;
    ny_columns_workspace_lay(&counted, &spec, NY_STRIP_ROWS);
    assert_int_equal(used, ny_layout_most(&counted));
    assert_true(used < 8 << 20);
    CHECK(ny_source_of_raw(&source, ctx, ny_columns_rows(columns),
                           &(struct ny_raw_shape){NY_F32, WIDE_ROWS, WIDE, WIDE}));
    CHECK(ny_columns_tile(columns, workspace,
                          &(struct ny_tile){.source = source, .rows = WIDE_ROWS},
                          ny_matrix32(C, NY_UNIT_ROWS, WIDE_ROWS), diagonal));
    for (size_t i = 0; i < WIDE_ROWS; i++) {
        assert_true(diagonal[i] == wide_product(i, i));
        for (size_t j = 0; j < WIDE_ROWS; j++)
            assert_true(C[i * WIDE_ROWS + j] == (float)wide_product(i, j));
    }
    ny_source_free(source);
    ny_layout_free(&l);
    ny_columns_free(columns);
}

AROUND_EACH(start, stop)
