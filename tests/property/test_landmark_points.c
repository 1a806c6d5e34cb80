/*
 * Landmarks that are points: the embedding and its error against K̃ = C W⁻¹ Cᵀ of those points by
 * plain loops, on rows of each type and layout; bits where the points are rows; updates, and jobs
 * that go on when the file is gone.
 */
#include "property/update_case.h"
#include "support/brute.h"

enum { M = 12 };

static const double width = 0.3;
static char points_file[200];
static float given[M * D]; /* none of them is a row */

static void write_points(const float *values)
{
    FILE *file = fopen(points_file, "w");

    assert_non_null(file);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < D; j++)
            fprintf(file, "%.17g%c", (double)values[i * D + j], j + 1 < D ? ',' : '\n');
    fclose(file);
}

static int make_points(void **state)
{
    int err = start(state);

    path_of(points_file, "points.csv");
    for (int i = 0; i < M; i++)
        for (int j = 0; j < D; j++)
            given[i * D + j] = (value_of((uint64_t)(7 * i), (uint64_t)j) +
                                value_of((uint64_t)(7 * i + 1), (uint64_t)j)) /
                               2;
    write_points(given);
    return err;
}

/* ---- by plain loops ------------------------------------------------------------------------ */

static double kernel(const double *x, const double *y)
{
    double square = 0;

    for (int k = 0; k < D; k++)
        square += (x[k] - y[k]) * (x[k] - y[k]);
    return exp(-width * square);
}

/* Z (n × M) with ZZᵀ = K̃ of the points that were given. */
static void approximate(const double *x, size_t n, double *Z)
{
    double L[M][D], W[M * M], B[M * M], c[M];
    size_t rank;

    for (int i = 0; i < M * D; i++)
        L[i / D][i % D] = (double)given[i];
    for (int i = 0; i < M * M; i++)
        W[i] = kernel(L[i / M], L[i % M]);
    rank = brute_inverse_root(W, M, 1e-12, M, B);
    assert_int_equal(rank, M);
    for (size_t i = 0; i < n; i++) {
        for (int j = 0; j < M; j++)
            c[j] = kernel(x + i * D, L[j]);
        brute_multiply(B, c, Z + i * M, M, M, 1);
    }
}

static double dot(const double *a, const double *b, size_t count)
{
    double sum = 0;

    for (size_t k = 0; k < count; k++)
        sum += a[k] * b[k];
    return sum;
}

/* All components of --map svd: y·y′ = K̃ of any two rows, and the trace that is left out. */
static void check_fit(const char *store, struct ny_report *report, const double *x, size_t n)
{
    double *Z = malloc(n * M * sizeof(double)), *Y = malloc(n * M * sizeof(double)), left = 0;
    double back[M * D];
    uint64_t rows, columns;
    struct ny_view *view;
    int type;

    approximate(x, n, Z);
    assert_int_equal(ny_view_open(&view, ctx, store, "fit"), NY_OK);
    assert_int_equal(ny_view_read(view, "embedding", 0, n, Y), NY_OK);
    for (size_t i = 0; i < n; i++) {
        size_t j = (i * 31 + 5) % n;
        double is = dot(Y + i * M, Y + j * M, M), wanted = dot(Z + i * M, Z + j * M, M);

        left += 1 - dot(Z + i * M, Z + i * M, M);
        if (!(fabs(is - wanted) <= 1e-6))
            fail_msg("%s: rows %zu and %zu: %.9g, not %.9g", store, i, j, is, wanted);
    }
    assert_true(fabs(number(report, "trace_error") - left / (double)n) < 1e-6);
    assert_true(number(report, "landmarks") == M);
    assert_int_equal(ny_view_shape(view, "landmark-points", &rows, &columns, &type), NY_OK);
    assert_true(rows == M && columns == D && (type == NY_F32 || type == NY_F64));
    assert_int_equal(ny_view_read(view, "landmark-points", 0, M, back), NY_OK);
    for (int i = 0; i < M * D; i++)
        assert_true((type == NY_F64 ? back[i] : (double)((float *)(void *)back)[i]) ==
                    (double)given[i]);
    ny_view_free(view);
    free(Z);
    free(Y);
}

static struct update_case all_components = {
    "points",
    {"landmarks-points", points_file, "map", "svd", "components", "12", "precision", "f64"},
    1e-5,
    0.3,
    false,
    false};

/* Rows of bytes, of two bytes, f32 and f64: the points are f32, which no byte holds. */
static void rows_of_each_type(void **state)
{
    enum { N = 2500 };
    double *x = malloc(N * D * sizeof(double));

    (void)state;
    for (int dtype = NY_U8; dtype <= NY_F64; dtype++) {
        struct ny_table table = {
            .struct_bytes = sizeof(table), .dtype = NY_F64, .rows = N, .columns = D, .values = x};
        struct ny_options *options;
        struct ny_report *report;
        char store[200];

        for (size_t i = 0; i < N * D; i++) {
            x[i] = (double)value_of(i / D, i % D);
            if (dtype < NY_F32) x[i] = fabs(round(x[i]));
        }
        path_of(store, "typed.nys");
        assert_int_equal(ny_options_new(&options, ctx), NY_OK);
        assert_int_equal(ny_options_set(options, "dtype",
                                        dtype == NY_U8    ? "u8"
                                        : dtype == NY_I16 ? "i16"
                                                          : "f64"),
                         NY_OK);
        if (dtype != NY_F32) assert_int_equal(ny_append(ctx, store, &table, options, NULL), NY_OK);
        if (dtype == NY_F32) append(store, 0, N);
        ny_options_free(options);
        report = fit_well(&all_components, store, NULL);
        check_fit(store, report, x, N);
        ny_report_free(report);
        case_remove(store);
    }
    free(x);
}

/* Sparse rows, in which the points are fuller than any row. */
static void sparse_rows(void **state)
{
    double *x = calloc(FIRST * D, sizeof(double));
    struct ny_report *report;
    char store[200];

    (void)state;
    path_of(store, "sparse.nys");
    append_sparse(store, 0, FIRST);
    for (uint64_t i = 0; i < FIRST * D; i++)
        if (value_of(i / D, i % D) > 1.5F) x[i] = (double)value_of(i / D, i % D);
    report = fit_well(&all_components, store, NULL);
    check_fit(store, report, x, FIRST);
    ny_report_free(report);
    case_remove(store);
    free(x);
}

/* ---- rows as points ------------------------------------------------------------------------ */

/* The embedding of the fit, and its residuals; ny_report_free() the report. */
static float *fit_by(const char *store, const char *option, const char *value, float *last)
{
    struct update_case test = {
        "rows", {option, value, "certify", "yes", "probe", "50"}, 0, 0, false, false};
    struct ny_report *report = fit_well(&test, store, NULL);
    float *Y = malloc(FIRST * 2 * sizeof(float));
    struct ny_view *view;

    assert_int_equal(ny_embedding_read(ctx, store, "fit", 0, FIRST, Y), NY_OK);
    assert_int_equal(ny_view_open(&view, ctx, store, "fit"), NY_OK);
    assert_int_equal(ny_view_read(view, "residuals", FIRST - 1, 1, last), NY_OK);
    ny_view_free(view);
    ny_report_free(report);
    assert_int_equal(ny_remove(ctx, store, "fit"), NY_OK);
    return Y;
}

static void rows_give_the_bits_of_their_numbers(void **state)
{
    char store[200], numbers[200];
    float rows[M * D], last[2], *by_number, *by_point;
    FILE *file;

    (void)state;
    path_of(store, "rows.nys");
    path_of(numbers, "numbers.csv");
    append(store, 0, FIRST);
    file = fopen(numbers, "w");
    assert_non_null(file);
    for (int i = 0; i < M; i++) {
        fprintf(file, "%d\n", 101 * i);
        for (int j = 0; j < D; j++)
            rows[i * D + j] = value_of((uint64_t)(101 * i), (uint64_t)j);
    }
    fclose(file);
    write_points(rows);
    by_number = fit_by(store, "landmarks-file", numbers, &last[0]);
    by_point = fit_by(store, "landmarks-points", points_file, &last[1]);
    assert_memory_equal(by_number, by_point, FIRST * 2 * sizeof(float));
    assert_true(last[0] == last[1]);
    free(by_number);
    free(by_point);
    write_points(given);
    case_remove(store);
}

/* ---- rows of more than a chunk --------------------------------------------------------------- */

/* Fits by points in memory, or by the numbers of rows, and reads the embedding. */
static void fit_wide(const char *store, const char *option, const struct ny_table *table,
                     size_t rows, float *embedding)
{
    struct ny_options *options;

    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
    assert_int_equal(ny_options_set(options, "gamma", "1e-5"), NY_OK);
    assert_int_equal(ny_options_set_table(options, option, table), NY_OK);
    if (ny_fit(ctx, store, option, options, NULL)) fail_msg("%s", ny_context_message(ctx));
    ny_options_free(options);
    assert_int_equal(ny_embedding_read(ctx, store, option, 0, rows, embedding), NY_OK);
}

static void points_may_be_larger_than_a_chunk(void **state)
{
    enum { WIDE = 300001, ROWS = 20, FEW = 5 };
    float *x = malloc(sizeof(float) * ROWS * WIDE), *back = malloc(sizeof(float) * 2 * WIDE);
    float by_number[ROWS * 2], by_point[ROWS * 2];
    const struct ny_table points = {
        .struct_bytes = sizeof(points), .dtype = NY_F32, .rows = FEW, .columns = WIDE, .values = x};
    const double numbers[FEW] = {0, 1, 2, 3, 4};
    const struct ny_table list = {.struct_bytes = sizeof(list),
                                  .dtype = NY_F64,
                                  .rows = FEW,
                                  .columns = 1,
                                  .values = numbers};
    struct ny_view *view;
    char store[200];

    (void)state;
    path_of(store, "wide.nys");
    for (size_t i = 0; i < (size_t)ROWS * WIDE; i++)
        x[i] = (float)ny_hash01(8, NY_STREAM_DATA, i);
    assert_int_equal(ny_append_rows(ctx, store, x, ROWS, WIDE, NULL), NY_OK);
    fit_wide(store, "landmarks-file", &list, ROWS, by_number);
    fit_wide(store, "landmarks-points", &points, ROWS, by_point);
    assert_memory_equal(by_number, by_point, sizeof(by_point));
    assert_int_equal(ny_view_open(&view, ctx, store, "landmarks-points"), NY_OK);
    assert_int_equal(ny_view_read(view, "landmark-points", 2, 2, back), NY_OK);
    assert_memory_equal(back, x + 2 * WIDE, sizeof(float) * 2 * WIDE);
    ny_view_free(view);
    case_remove(store);
    free(back);
    free(x);
}

/* ---- when the file is gone ------------------------------------------------------------------ */

static void stop_now(void *user, const struct ny_report *plan)
{
    (void)user, (void)plan;
    ny_context_interrupt(ctx, 2);
}

static void jobs_go_on_and_are_updated_without_the_file(void **state)
{
    struct ny_report *report;
    char store[200];

    (void)state;
    path_of(store, "gone.nys");
    append(store, 0, FIRST);
    ny_context_set_plan(ctx, stop_now, NULL);
    assert_int_equal(fit(&all_components, store, NULL, NULL), NY_EINTERRUPTED);
    ny_context_set_plan(ctx, NULL, NULL);
    ny_context_interrupt(ctx, 0);
    assert_int_equal(remove(points_file), 0);
    if (ny_resume(ctx, store, "fit", &report)) fail_msg("%s", ny_context_message(ctx));
    assert_true(number(report, "n") == FIRST);
    ny_report_free(report);
    append(store, FIRST, SECOND);
    ny_report_free(fit_well(&all_components, store, "frozen"));
    append(store, SECOND, THIRD);
    report = fit_well(&all_components, store, "full");
    write_points(given);
    check_from_scratch(&all_components, store, report, THIRD);
    ny_report_free(report);
    case_remove(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(rows_of_each_type, clear),
        cmocka_unit_test_teardown(sparse_rows, clear),
        cmocka_unit_test_teardown(rows_give_the_bits_of_their_numbers, clear),
        cmocka_unit_test_teardown(points_may_be_larger_than_a_chunk, clear),
        cmocka_unit_test_teardown(jobs_go_on_and_are_updated_without_the_file, clear),
    };

    return cmocka_run_group_tests(tests, make_points, stop);
}
