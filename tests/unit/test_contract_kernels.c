/* Tests the promises of every kernel of the table, whatever its formula: squares that are symmetric
 * and positive semi-definite, values that do not depend on what else is asked, tiles that are the
 * exact values to rounding, the options that its entry names, and a fit. */
#include "api/option_table.h"
#include "api/options.h"
#include "base/text.h"
#include "support/brute.h"
#include "support/options.h"
#include "support/results.h"
#include "support/store_case.h"
#include "unit/columns_case.h"

enum { LANDMARKS = 37 };

#define FOR_KERNELS(kernel)                                                                        \
    for (const struct ny_kernel *const *each = all_kernels(), *kernel; (kernel = *each); each++)

static const struct ny_kernel *const *all_kernels(void)
{
    static const struct ny_kernel *all[64];

    for (size_t i = 0; i < 63 && (all[i] = ny_kernel_at(i)); i++)
        continue;
    return all;
}

/* Columns of the first m rows of some data, with a γ that makes the base quantity about 1. */
struct subject {
    const struct ny_kernel *kernel;
    struct data data;
    struct geometry geometry;
    struct ny_columns_spec spec;
    struct ny_columns *columns;
};

static bool given(const struct ny_kernel *kernel)
{
    return kernel->base == NY_BASE_GIVEN;
}

/* Makes rows that hold their kernel values: those of points on a line, at distances of 1. */
static struct data values_of_rows(enum ny_dtype dtype, size_t rows, size_t m)
{
    struct data data = data_empty(dtype, rows, m);

    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < m; j++)
            data_set(&data, i * m + j, 100 * exp(-fabs((double)i - (double)j) / 9));
    return data;
}

static void begin(struct subject *s, enum ny_dtype dtype, size_t rows, size_t d, size_t m)
{
    const char *name = s->kernel->name;

    s->data = given(s->kernel) ? values_of_rows(dtype, rows, m) : data_random(dtype, rows, d, 21);
    s->geometry = geometry_of(&s->data, !given(s->kernel), 1);
    s->spec = spec_of(name, plain_gamma(name, &s->data, &s->geometry), &s->data, &s->geometry);
    s->columns = columns_of(&s->spec, &s->data, m);
}

static void end(struct subject *s)
{
    ny_columns_free(s->columns);
}

/* The largest magnitude of a kernel value: what rounding is measured by. */
static double largest_of(const double *K, size_t count)
{
    double largest = 0;

    for (size_t i = 0; i < count; i++)
        largest = fmax(largest, fabs(K[i]));
    return largest;
}

static double *exact_of(const struct subject *s, size_t rows)
{
    size_t m = ny_columns_size(s->columns);
    double *K = room(rows * m, sizeof(double));

    CHECK(ny_columns_exact(s->columns, ny_raw_rows(s->data.raw), rows, 0, ny_matrix(K, rows, m)));
    return K;
}

/* ---- the entry ------------------------------------------------------------------------------ */

TEST(entries_are_whole)
{
    FOR_KERNELS(kernel) {
        assert_ptr_equal(ny_kernel_find(kernel->name), kernel);
        assert_true(strlen(kernel->summary) > 2);
        assert_non_null(kernel->apply32);
        assert_non_null(kernel->apply);
        assert_true((ny_kernel_param(kernel, "gamma") != NULL) == (kernel->auto_gamma != NULL));
        if (kernel->auto_gamma) assert_true(kernel->auto_gamma(2, 3) > 0);
    }
    assert_null(ny_kernel_find("rbff"));
    assert_null(ny_kernel_at(100));
}

/* γ is a positive number, of kernels that have one. */
TEST(impossible_widths_are_refused)
{
    static const double gammas[] = {0, -1, NAN, INFINITY};

    FOR_KERNELS(kernel)
        for (size_t i = 0; i < sizeof(gammas) / sizeof(gammas[0]); i++) {
            struct data data = data_random(NY_F32, 10, 4, 61);
            struct geometry g = geometry_of(&data, true, 1);
            struct ny_columns_spec spec = spec_of(kernel->name, gammas[i], &data, &g);
            struct ny_columns *columns;
            int err = ny_columns_new(&columns, &spec);

            assert_int_equal(err, kernel->auto_gamma ? NY_EUSAGE : NY_OK);
            assert_true(!columns == !!kernel->auto_gamma);
            ny_columns_free(columns);
            ny_error_clear(ctx);
        }
}

/* Returns a value that the option takes: 0.5, its first word, or 2. */
static const char *value_of(const struct ny_option_info *option)
{
    static char word[16];
    enum ny_option_kind kind = ny_option_rule(ny_option_find(option->name))->kind;

    snprintf(word, sizeof(word), "%.*s", (int)strcspn(option->argument, "|"), option->argument);
    return kind == NY_CHOICE ? word : kind == NY_COUNT ? "2" : "0.5";
}

static int check_option(const struct ny_kernel *kernel, const char *name, const char *value)
{
    OWNED(ny_options) *options = NULL;
    int err;

    options = options_with(ctx, "kernel=%s", kernel->name);
    if (given(kernel)) {
        assert_int_equal(ny_options_set(options, "columns-file", "C.npy"), NY_OK);
        assert_int_equal(ny_options_set(options, "landmarks-file", "D.npy"), NY_OK);
    }
    assert_int_equal(ny_options_set(options, name, value), NY_OK);
    err = ny_options_check(options, NY_GROUP_FIT);
    if (err && !strstr(ny_context_message(ctx), name)) fail_msg("%s", ny_context_message(ctx));
    ny_error_clear(ctx);
    return err;
}

/* Parameters that a kernel lists act, and those of others are refused, not ignored. */
TEST(options_are_those_of_the_entry)
{
    const struct ny_option_info *option;
    size_t parameters = 0;

    for (int i = 0; (option = ny_option_at(i)); i++) {
        if (!option->kernels) continue;
        parameters++;
        FOR_KERNELS(kernel) {
            const struct ny_param *param = ny_kernel_param(kernel, option->name);

            assert_true(ny_one_of(kernel->name, option->kernels) == !!param);
            assert_int_equal(check_option(kernel, option->name, value_of(option)),
                             param ? NY_OK : NY_EUSAGE);
        }
    }
    assert_true(parameters >= 5);
}

/* Each number that a kernel lists has a place of its own, and γ is the first. */
TEST(numbers_are_those_of_the_list)
{
    FOR_KERNELS(kernel) {
        struct ny_kernel_params params = NY_KERNEL_PARAMS;
        const struct ny_param *param;
        size_t count = 0, set;

        for (; (param = ny_kernel_number(kernel, count)); count++) {
            assert_ptr_equal(ny_kernel_param(kernel, param->name), param);
            *ny_param_value(param, &params) = 10 + (double)count;
        }
        set = (size_t)((params.gamma >= 10) + (params.first >= 10) + (params.second >= 10));
        assert_true((params.gamma == 10) == !!kernel->auto_gamma);
        assert_int_equal(set, count);
    }
}

/* ---- exact values --------------------------------------------------------------------------- */

/* Rows of squares have a stride, behind which nothing is written. */
TEST(squares_are_symmetric)
{
    enum { M = 600, STRIDE = M + 2 };
    double *W = room(M * STRIDE, sizeof(double)), *again = room(M * STRIDE, sizeof(double));
    unsigned threads = ny_context_threads(ctx);

    for (size_t d = 4; d <= 40; d += 36)
        FOR_KERNELS(kernel) {
            struct subject s = {.kernel = kernel};
            double diagonal[M];

            begin(&s, NY_F32, M, d, M);
            for (size_t i = 0; i < M * STRIDE; i++)
                W[i] = again[i] = NAN;
            ny_context_set_threads(ctx, 1);
            CHECK(ny_columns_square(s.columns, (struct ny_matrix){W, M, M, STRIDE, false}));
            ny_context_set_threads(ctx, 3);
            CHECK(ny_columns_square(s.columns, (struct ny_matrix){again, M, M, STRIDE, false}));
            CHECK(ny_columns_diagonal(s.columns, ny_raw_rows(s.data.raw), M, diagonal));
            for (size_t i = 0; i < M; i++) {
                assert_memory_equal(W + i * STRIDE, again + i * STRIDE, M * sizeof(double));
                assert_true(isnan(W[i * STRIDE + M]));
                if (given(kernel))
                    assert_true(isnan(diagonal[i])); /* the file does not say */
                else
                    assert_true(W[i * STRIDE + i] == diagonal[i]);
                if (kernel->constant_diagonal) assert_true(diagonal[i] == 1);
                for (size_t j = 0; j < i; j++)
                    assert_true(W[i * STRIDE + j] == W[j * STRIDE + i]);
            }
            end(&s);
        }
    ny_context_set_threads(ctx, threads);
}

TEST(squares_are_positive_semi_definite)
{
    enum { M = 60 };

    for (size_t d = 1; d <= 40; d += 13)
        FOR_KERNELS(kernel) {
            struct subject s = {.kernel = kernel};
            double W[M * M], values[M], *V = room(M * M, sizeof(double));

            begin(&s, NY_F64, M, d, M);
            assert_int_equal(ny_columns_square(s.columns, ny_matrix(W, M, M)), NY_OK);
            brute_eigen(W, M, values, V);
            assert_true(values[0] > 0);
            if (!(values[M - 1] > -1e-12 * values[0]))
                fail_msg("%s: %g beside %g", kernel->name, values[M - 1], values[0]);
            end(&s);
        }
}

/* A row's values do not depend on the other rows of the call, nor on how many landmarks follow;
 * they are those of the square. */
TEST(a_row_does_not_depend_on_the_batch)
{
    enum { M = 700, COUNT = 75 };
    double *one = room(M, sizeof(double)), *W = room(M * M, sizeof(double));

    for (size_t d = 4; d <= 60; d += 56)
        FOR_KERNELS(kernel) {
            struct subject s = {.kernel = kernel};
            double *all, largest;

            begin(&s, NY_F64, M, d, M);
            all = exact_of(&s, COUNT);
            largest = largest_of(all, COUNT * M);
            assert_int_equal(ny_columns_square(s.columns, ny_matrix(W, M, M)), NY_OK);
            for (size_t i = 0; i < COUNT * M; i++)
                assert_entry(W[i], all[i], 1e-12 * largest, kernel->name);
            for (size_t i = 0; i < COUNT; i += 7) {
                size_t cols = M - 9 * i;

                CHECK(ny_columns_exact(s.columns, ny_raw_rows(data_row(&s.data, i)), 1, 0,
                                       ny_matrix(one, 1, cols)));
                assert_memory_equal(one, all + i * M, cols * sizeof(double));
            }
            end(&s);
        }
}

/* ---- tiles ---------------------------------------------------------------------------------- */

static void check_tile(const struct ny_kernel *kernel, enum ny_dtype dtype, size_t d, bool shifted)
{
    enum { ROWS = 530 };
    struct subject s = {.kernel = kernel};
    struct tile_result r;
    double *K, a[LANDMARKS] = {0}, largest;

    begin(&s, dtype, ROWS, d, LANDMARKS);
    K = exact_of(&s, ROWS);
    largest = largest_of(K, ROWS * LANDMARKS);
    for (size_t i = 0; i < ROWS * LANDMARKS && shifted; i++)
        a[i % LANDMARKS] += K[i] / ROWS;
    assert_int_equal(ny_columns_set_shift(s.columns, a), NY_OK);
    assert_true(kernel->can_minus_one || !ny_columns_minus_one(s.columns));
    r = tile_of(s.columns, &s.data, 0, ROWS);
    for (size_t i = 0; i < ROWS; i++)
        for (size_t j = 0; j < LANDMARKS; j++)
            assert_entry((double)r.C[i * r.stride + j] + a[j], K[i * LANDMARKS + j], 1e-5 * largest,
                         kernel->name);
    for (size_t i = ROWS; i < NY_UNIT_ROWS; i++)
        for (size_t j = 0; j < LANDMARKS; j++)
            assert_true(r.C[i * r.stride + j] == 0);
    end(&s);
}

TEST(tiles_are_the_exact_values)
{
    static const size_t sizes[] = {1, 3, 40};

    FOR_KERNELS(kernel)
        for (int dtype = NY_U8; dtype <= NY_F64; dtype++)
            for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
                for (int shifted = 0; shifted < 2; shifted++)
                    check_tile(kernel, (enum ny_dtype)dtype, sizes[i], shifted);
}

TEST(tiles_are_the_same_in_every_family)
{
    for (int family = 0; family < NY_CPU_COUNT; family++)
        if (ny_vector_force((enum ny_cpu)family))
            FOR_KERNELS(kernel)
                check_tile(kernel, NY_F32, 40, true);
    ny_vector_force(NY_CPU_COUNT);
}

/* A row has the same bits in a full unit and in a short one, in any workspace. */
TEST(a_row_does_not_depend_on_the_rows_after_it)
{
    static const size_t heights[] = {1, 5, 511, 512, 513, 1300};

    for (size_t d = 3; d <= 50; d += 47)
        for (int dtype = NY_U8; dtype <= NY_F32; dtype += 2)
            FOR_KERNELS(kernel) {
                struct subject s = {.kernel = kernel};
                struct tile_result whole;

                begin(&s, (enum ny_dtype)dtype, NY_UNIT_ROWS, d, LANDMARKS);
                whole = tile_of(s.columns, &s.data, 0, NY_UNIT_ROWS);
                for (size_t h = 0; h < sizeof(heights) / sizeof(heights[0]); h++) {
                    struct tile_result r = tile_of(s.columns, &s.data, 0, heights[h]);

                    for (size_t i = 0; i < heights[h]; i++)
                        assert_memory_equal(r.C + i * r.stride, whole.C + i * r.stride,
                                            LANDMARKS * sizeof(float));
                }
                end(&s);
            }
}

/* Any run of landmarks in a block has the bits of the unshifted tile. */
static void check_blocks(const struct ny_kernel *kernel, enum ny_dtype dtype, size_t d)
{
    static const size_t runs[][2] = {{0, 70}, {0, 1}, {31, 2}, {32, 32}, {5, 40}, {69, 1}, {3, 0}};
    enum { M = 70, ROWS = 400, FIRST = 100, COUNT = 150 };
    struct subject s = {.kernel = kernel};
    float *K = room(NY_STRIP_ROWS * M, sizeof(float));
    struct ny_layout l = {.ctx = ctx};
    struct tile_result r;
    struct ny_strip strip;

    begin(&s, dtype, ROWS, d, M);
    r = tile_of(s.columns, &s.data, 0, ROWS);
    struct data_source source = data_source(&s.data);
    struct ny_tile tile = {.source = &source.source, .rows = ROWS};
    CHECK(ny_columns_strip(s.columns, workspace_of(&l, s.columns), &tile, FIRST, COUNT, &strip));
    assert_int_equal(strip.count, COUNT);
    assert_memory_equal(strip.raw.at, data_row(&s.data, FIRST),
                        COUNT * s.data.d * ny_dtype_size(dtype));
    for (size_t run = 0; run < sizeof(runs) / sizeof(runs[0]); run++) {
        size_t first = runs[run][0], cols = runs[run][1];

        ny_columns_block(s.columns, &strip, first, ny_matrix32(K, NY_STRIP_ROWS, cols));
        for (size_t i = 0; i < COUNT; i++)
            assert_memory_equal(K + i * cols, r.C + (FIRST + i) * r.stride + first,
                                cols * sizeof(*K));
    }
    ny_layout_free(&l);
    end(&s);
}

TEST(blocks_equal_tiles)
{
    for (size_t d = 2; d <= 290; d *= 12)
        for (int dtype = NY_U8; dtype <= NY_F32; dtype += 2)
            FOR_KERNELS(kernel)
                check_blocks(kernel, (enum ny_dtype)dtype, d);
}

TEST(stated_bytes_cover_what_is_allocated)
{
    for (size_t d = 1; d <= 100; d += 33)
        for (int dtype = NY_U8; dtype <= NY_F64; dtype++)
            FOR_KERNELS(kernel) {
                struct subject s = {.kernel = kernel};
                size_t before = ny_memory_used(ctx), held, stated;
                struct ny_layout l = {.ctx = ctx}, columns = {0}, counted = {0};

                begin(&s, (enum ny_dtype)dtype, 100, d, 97);
                held = ny_memory_used(ctx) - before;
                ny_columns_count(&columns, &s.spec, 97);
                stated = ny_layout_most(&columns);
                assert_true(held <= stated && stated <= held + held / 5 + 4096);
                before = ny_memory_used(ctx);
                workspace_of(&l, s.columns);
                held = ny_memory_used(ctx) - before;
                ny_columns_workspace_lay(&counted, &s.spec, NY_STRIP_ROWS);
                assert_int_equal(held, ny_layout_most(&counted));
                ny_layout_free(&counted);
                ny_layout_free(&l);
                end(&s);
            }
}

/* ---- sparse rows ---------------------------------------------------------------------------- */

/* Sparse rows have the values that they have written out in full. */
static void check_sparse(const struct ny_kernel *kernel)
{
    enum { ROWS = 90, D = 30, SLOTS = 12 };
    struct subject s = {.kernel = kernel, .data = data_empty(NY_F32, ROWS, D)};
    size_t bytes = ny_row_bytes(NY_F32, D, SLOTS);
    unsigned char *records = room(ROWS, bytes);
    double *dense, *sparse = room(ROWS * LANDMARKS, sizeof(double)), largest;

    for (size_t i = 0; i < ROWS; i++) {
        for (size_t k = 0; k < i % SLOTS; k++)
            data_set(&s.data, i * D + (i * 7 + k * 3) % D, ny_hash01(5, NY_STREAM_DATA, i + k) - 0.3);
        assert_true(
            ny_sparse_from_dense(data_row(&s.data, i), D, NY_F32, records + i * bytes, SLOTS));
    }
    s.geometry = geometry_of(&s.data, false, 1);
    s.spec = spec_of(kernel->name, 0.7, &s.data, &s.geometry);
    s.columns = columns_of(&s.spec, &s.data, LANDMARKS);
    dense = exact_of(&s, ROWS);
    largest = largest_of(dense, ROWS * LANDMARKS);
    ny_columns_free(s.columns);
    s.spec.slots = SLOTS;
    assert_int_equal(ny_columns_new(&s.columns, &s.spec), NY_OK);
    assert_int_equal(ny_columns_append(s.columns, ny_raw_rows(records), LANDMARKS), NY_OK);
    CHECK(ny_columns_exact(s.columns, ny_raw_rows(records), ROWS, 0,
                           ny_matrix(sparse, ROWS, LANDMARKS)));
    for (size_t i = 0; i < ROWS * LANDMARKS; i++)
        assert_entry(sparse[i], dense[i], 1e-12 * largest, kernel->name);
    end(&s);
}

TEST(sparse_rows_have_the_values_of_dense_ones)
{
    FOR_KERNELS(kernel)
        if (!given(kernel)) check_sparse(kernel);
}

/* ---- a fit ---------------------------------------------------------------------------------- */

/* The rows' coordinates are numbers, and those that the model gives them. */
static void check_fit(const char *store, const char *kernel, const char *set, const float *x,
                      size_t n, size_t d)
{
    enum { P = 2 };
    OWNED(ny_model) *model = NULL;
    float *Y = room(n * P, sizeof(float)), *again = room(n * P, sizeof(float));
    double largest = 0;

    must_fit(ctx, store, "fit", NULL, "kernel=%s components=2 landmarks=50 %s", kernel, set);
    assert_int_equal(ny_embedding_read(ctx, store, "fit", 0, n, Y), NY_OK);
    assert_int_equal(ny_model_open(&model, ctx, store, "fit"), NY_OK);
    assert_int_equal(ny_model_dimensions(model), d);
    assert_int_equal(ny_model_components(model), P);
    assert_int_equal(ny_model_transform(model, x, n, again), NY_OK);
    for (size_t i = 0; i < n * P; i++) {
        assert_true(isfinite(Y[i]));
        largest = fmax(largest, fabs((double)Y[i]));
    }
    assert_true(largest > 0);
    for (size_t i = 0; i < n * P; i++)
        assert_entry((double)again[i], (double)Y[i], 1e-4 * largest, kernel);
    assert_int_equal(ny_remove(ctx, store, "fit"), NY_OK);
}

TEST(every_kernel_fits)
{
    enum { N = 400, D = 5 };
    char folder[128], store[160];
    float x[N * D];

    case_directory(folder);
    snprintf(store, sizeof(store), "%s/a.nys", folder);
    for (size_t i = 0; i < N * D; i++)
        x[i] = (float)(ny_hash01(4, NY_STREAM_DATA, i) + (double)(i / D % 3));
    assert_int_equal(ny_append_rows(ctx, store, x, N, D, NULL), NY_OK);
    FOR_KERNELS(kernel) {
        if (given(kernel)) continue; /* a fit of files, not of points */
        check_fit(store, kernel->name, "map=svd", x, N, D);
        check_fit(store, kernel->name, "map=kpca precision=f64", x, N, D);
    }
    case_remove(folder);
}

AROUND_ALL(start, stop)
