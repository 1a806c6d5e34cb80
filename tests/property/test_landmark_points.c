/*
 * Landmarks that are points: the embedding and its error against K̃ = C W⁻¹ Cᵀ of those points by
 * plain loops, on rows of each type and layout; bits where the points are rows; updates, and jobs
 * that go on when the file is gone.
 */
#include "property/update_case.h"
#include "model/landmark_points.h"
#include "results/record.h"
#include "support/brute.h"

enum { M = 12 };

static const double width = 0.3;
static const char *points_file;
static struct update_case all_components = {"points", NULL, 1e-5, 0.3, false, false};
static float given[M * D]; /* none of them is a row */

static void write_points(const float *values)
{
    write_csv32(points_file, values, M, D);
}

static void make_points(void)
{
    new_folder();
    points_file = path_of("points.csv");
    all_components.options =
        lend_text("landmarks-points=%s map=svd components=12 precision=f64", points_file);
    for (int i = 0; i < M; i++)
        for (int j = 0; j < D; j++)
            given[i * D + j] = (value_of((uint64_t)(7 * i), (uint64_t)j) +
                                value_of((uint64_t)(7 * i + 1), (uint64_t)j)) /
                               2;
    write_points(given);
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

/* Returns how the points are kept with the fit. */
static struct ny_landmark_points kept_points(const char *path)
{
    struct ny_landmark_points how;
    struct ny_store *store;
    json_t *record;

    assert_int_equal(ny_store_open(&store, ctx, path), NY_OK);
    assert_int_equal(ny_record_load(store, "fit", &record), NY_OK);
    how = ny_landmark_points_of(ny_record_of(record));
    json_decref(record);
    ny_store_close(store);
    assert_int_equal(how.count, M);
    return how;
}

/* Checks that part "landmark-points", of type `type`, has these coordinates. */
static void check_points(const char *store, const double *wanted, int type)
{
    double back[M * D];
    uint64_t rows, columns;
    OWNED(ny_view) *view = NULL;
    int found;

    memset(back, 255, sizeof(back));
    assert_int_equal(ny_view_open(&view, ctx, store, "fit"), NY_OK);
    assert_int_equal(ny_view_shape(view, "landmark-points", &rows, &columns, &found), NY_OK);
    assert_true(rows == M && columns == D && found == type);
    assert_int_equal(ny_view_read(view, "landmark-points", 0, M, back), NY_OK);
    for (int i = 0; i < M * D; i++)
        assert_true((type == NY_F64 ? back[i] : (double)((float *)(void *)back)[i]) == wanted[i]);
}

/* All components of --map svd: y·y′ = K̃ of any two rows, and the trace that is left out. Points are
 * as narrow as the rows and they themselves allow, f32 for rows of bytes. */
static void check_fit(const char *store, struct ny_report *report, const double *x, size_t n,
                      int dtype)
{
    double *Z = lend(n * M * sizeof(double)), *Y, left = 0;
    double wanted_points[M * D];

    approximate(x, n, Z);
    Y = part_of_result(ctx, store, "fit", "embedding", n, M);
    for (size_t i = 0; i < n; i++) {
        size_t j = (i * 31 + 5) % n;
        double is = dot(Y + i * M, Y + j * M, M), wanted = dot(Z + i * M, Z + j * M, M);

        left += 1 - dot(Z + i * M, Z + i * M, M);
        if (!(fabs(is - wanted) <= 1e-6))
            fail_msg("%s: rows %zu and %zu: %.9g, not %.9g", store, i, j, is, wanted);
    }
    assert_true(fabs(number_of(report, "trace_error") - left / (double)n) < 1e-6);
    assert_true(number_of(report, "landmarks") == M);
    for (int i = 0; i < M * D; i++)
        wanted_points[i] = (double)given[i];
    check_points(store, wanted_points, dtype);
    assert_int_equal(kept_points(store).dtype, dtype);
}

/* Rows of bytes, of two bytes, f32 and f64: the points are f32, which no byte holds. */
TEST(rows_of_each_type)
{
    enum { N = 2500 };
    double *x = lend(N * D * sizeof(double));

    for (int dtype = NY_U8; dtype <= NY_F64; dtype++) {
        struct ny_table table = dense_table(NY_F64, N, D, x);
        OWNED(ny_options) *options =
            options_with(ctx, "dtype=%s", ny_dtype_name((enum ny_dtype)dtype));
        OWNED(ny_report) *report = NULL;
        const char *store = path_of("typed.nys");

        for (size_t i = 0; i < N * D; i++) {
            x[i] = (double)value_of(i / D, i % D);
            if (dtype < NY_F32) x[i] = fabs(round(x[i]));
        }
        if (dtype != NY_F32) assert_int_equal(ny_append(ctx, store, &table, options, NULL), NY_OK);
        if (dtype == NY_F32) append(store, 0, N);
        report = fit_well(&all_components, store, NULL);
        check_fit(store, report, x, N, dtype == NY_F64 ? NY_F64 : NY_F32);
        case_remove(store);
    }
}

/* Points of text are as exact as the rows of the store. */
TEST(points_of_text_have_the_digits_of_f64)
{
    double *x = lend(FIRST * D * sizeof(double)), points[M * D];
    struct ny_table table = dense_table(NY_F64, FIRST, D, x);
    const char *store = path_of("digits.nys");

    for (size_t i = 0; i < FIRST * D; i++)
        x[i] = (double)value_of(i / D, i % D) + 1e-12;
    assert_int_equal(ny_append(ctx, store, &table, NULL, NULL), NY_OK);
    for (int i = 0; i < M * D; i++)
        points[i] = (double)given[i] + 1e-12;
    write_csv(points_file, points, M, D);
    ny_report_free(fit_well(&all_components, store, NULL));
    check_points(store, points, NY_F64);
    write_points(given);
}

/* Sparse rows, in which the points are fuller than any row. */
TEST(sparse_rows)
{
    double *x = lend_zeros(FIRST * D * sizeof(double));
    struct ny_table table = dense_table(NY_F64, FIRST, D, x);
    OWNED(ny_options) *options = NULL;
    OWNED(ny_report) *report = NULL;
    const char *store = path_of("sparse.nys");

    for (uint64_t i = 0; i < FIRST * D; i++)
        if (value_of(i / D, i % D) > 1.5F && i % D != i / D % D)
            x[i] = (double)value_of(i / D, i % D);
    options = options_with(ctx, "dtype=f32 layout=sparse");
    CHECK(ny_append(ctx, store, &table, options, NULL));
    report = fit_well(&all_components, store, NULL);
    check_fit(store, report, x, FIRST, NY_F32);
    assert_int_equal(kept_points(store).slots, D);
}

/* Points of which each has two values: a record has no room for more, whether they come dense or
 * sparse, and the others are 0 when it is read. */
TEST(points_with_zeros_among_sparse_rows)
{
    double values[M * D] = {0}, packed[M * 2];
    int32_t row_start[M + 1] = {0}, column[M * 2];
    const struct ny_table dense = dense_table(NY_F64, M, D, values);
    const struct ny_table csr = {.struct_bytes = sizeof(csr),
                                 .dtype = NY_F64,
                                 .rows = M,
                                 .columns = D,
                                 .values = packed,
                                 .row_start = row_start,
                                 .column = column,
                                 .index_bytes = 4,
                                 .entries = M * 2};
    const char *store = path_of("zeros.nys");

    append_sparse(store, 0, FIRST);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < 2; k++) {
            column[2 * i + k] = i % (D - 1) + k;
            packed[2 * i + k] = values[i * D + column[2 * i + k]] = 1 + i + k * 0.5;
            row_start[i + 1] = 2 * i + 2;
        }
    for (int form = 0; form < 2; form++) {
        OWNED(ny_options) *options = options_with(ctx, "restart=yes");

        CHECK(ny_options_set_table(options, "landmarks-points", form ? &csr : &dense));
        CHECK(ny_fit(ctx, store, "fit", options, NULL));
        check_points(store, values, NY_F32);
        assert_int_equal(kept_points(store).slots, 2);
    }
}

/* ---- rows as points ------------------------------------------------------------------------ */

/* The embedding of the fit, and its residuals; ny_report_free() the report. */
static float *fit_by(const char *store, const char *option, const char *value, float *last)
{
    char options[300];
    struct update_case test = {"rows", options, 0, 0, false, false};
    struct ny_report *report;
    float *Y = lend(FIRST * 2 * sizeof(float));
    struct ny_view *view;

    snprintf(options, sizeof(options), "%s=%s certify=yes probe=50", option, value);
    report = fit_well(&test, store, NULL);
    assert_int_equal(ny_embedding_read(ctx, store, "fit", 0, FIRST, Y), NY_OK);
    assert_int_equal(ny_view_open(&view, ctx, store, "fit"), NY_OK);
    assert_int_equal(ny_view_read(view, "residuals", FIRST - 1, 1, last), NY_OK);
    ny_view_free(view);
    ny_report_free(report);
    assert_int_equal(ny_remove(ctx, store, "fit"), NY_OK);
    return Y;
}

TEST(rows_give_the_bits_of_their_numbers)
{
    const char *store = path_of("rows.nys"), *numbers = path_of("numbers.csv");
    float rows[M * D], last[2], *by_number, *by_point;

    append(store, 0, FIRST);
    write_numbers(numbers, M, 101, 0);
    for (int i = 0; i < M * D; i++)
        rows[i] = value_of((uint64_t)(101 * (i / D)), (uint64_t)(i % D));
    write_points(rows);
    by_number = fit_by(store, "landmarks-file", numbers, &last[0]);
    by_point = fit_by(store, "landmarks-points", points_file, &last[1]);
    assert_memory_equal(by_number, by_point, FIRST * 2 * sizeof(float));
    assert_true(last[0] == last[1]);
    write_points(given);
}

/* ---- rows of more than a chunk --------------------------------------------------------------- */

/* Fits by points in memory, or by the numbers of rows, and reads the embedding. */
static void fit_wide(const char *store, const char *option, const struct ny_table *table,
                     size_t rows, float *embedding)
{
    OWNED(ny_options) *options = options_with(ctx, "gamma=1e-5");

    assert_int_equal(ny_options_set_table(options, option, table), NY_OK);
    CHECK(ny_fit(ctx, store, option, options, NULL));
    assert_int_equal(ny_embedding_read(ctx, store, option, 0, rows, embedding), NY_OK);
}

/* Chunks have whole rows, or the pieces of a row in their order. */
static void check_chunks(const char *path, const float *x, size_t rows, size_t d)
{
    size_t row = d * sizeof(float), all = rows * row, at = 0;
    size_t whole = NY_CHUNK_BYTES / row * row, most = whole ? whole : NY_CHUNK_BYTES;
    struct ny_chunk chunk = {.data = lend(NY_CHUNK_BYTES), .capacity = NY_CHUNK_BYTES};
    OWNED(ny_store) *store = NULL;

    assert_non_null(chunk.data);
    assert_int_equal(ny_store_open(&store, ctx, path), NY_OK);
    for (uint64_t i = 0; at < all; i++) {
        size_t left = whole ? all - at : row - at % row, wanted = left < most ? left : most;

        CHECK(ny_chunk_get(store, "landmarks-points", "landmark-points", i, &chunk));
        assert_int_equal(chunk.bytes, wanted);
        assert_memory_equal(chunk.data, (const char *)x + at, wanted);
        at += wanted;
    }
}

/* Makes the last chunk of a row of several shorter: the row is refused, others are read. */
static void refuse_a_short_chunk(const char *path, size_t rows, size_t d, float *back)
{
    struct ny_store *store;
    struct ny_batch *batch;
    OWNED(ny_view) *view = NULL;

    assert_int_equal(ny_store_open(&store, ctx, path), NY_OK);
    assert_int_equal(ny_batch_begin(&batch, store), NY_OK);
    ny_batch_put(batch, "landmarks-points", "landmark-points", 2 * rows - 1, back, 400);
    assert_int_equal(ny_batch_commit(batch), NY_OK);
    ny_store_close(store);
    assert_int_equal(ny_view_open(&view, ctx, path, "landmarks-points"), NY_OK);
    assert_int_equal(ny_view_read(view, "landmark-points", rows - 2, 1, back), NY_OK);
    assert_int_equal(ny_view_read(view, "landmark-points", rows - 1, 1, back + d), NY_ESTORE);
}

/* Landmarks of several to a chunk, and of several chunks each; all rows are landmarks. */
TEST(points_may_be_larger_than_a_chunk)
{
    enum { ROWS = 6 };
    static const size_t widths[] = {60001, 300001};
    const double numbers[ROWS] = {0, 1, 2, 3, 4, 5};
    const struct ny_table list = dense_table(NY_F64, ROWS, 1, numbers);

    for (size_t w = 0; w < 2; w++) {
        size_t d = widths[w];
        float *x = lend(sizeof(float) * ROWS * d), *back = lend(sizeof(float) * 4 * d);
        float by_number[ROWS * 2], by_point[ROWS * 2];
        const struct ny_table points = dense_table(NY_F32, ROWS, d, x);
        struct ny_view *view;
        const char *store = path_of("wide.nys");

        for (size_t i = 0; i < ROWS * d; i++)
            x[i] = (float)ny_hash01(8, NY_STREAM_DATA, i);
        assert_int_equal(ny_append_rows(ctx, store, x, ROWS, d, NULL), NY_OK);
        fit_wide(store, "landmarks-file", &list, ROWS, by_number);
        fit_wide(store, "landmarks-points", &points, ROWS, by_point);
        assert_memory_equal(by_number, by_point, sizeof(by_point));
        assert_int_equal(ny_view_open(&view, ctx, store, "landmarks-points"), NY_OK);
        assert_int_equal(ny_view_read(view, "landmark-points", 2, 4, back), NY_OK);
        assert_memory_equal(back, x + 2 * d, sizeof(float) * 4 * d);
        ny_view_free(view);
        check_chunks(store, x, ROWS, d);
        if (w == 1) refuse_a_short_chunk(store, ROWS, d, back);
        case_remove(store);
    }
}

/* ---- when the file is gone ------------------------------------------------------------------ */

static void stop_now(void *user, const struct ny_report *plan)
{
    (void)user, (void)plan;
    ny_context_interrupt(ctx, 2);
}

TEST(jobs_go_on_and_are_updated_without_the_file)
{
    struct ny_report *report;
    const char *store = path_of("gone.nys");

    append(store, 0, FIRST);
    ny_context_set_plan(ctx, stop_now, NULL);
    assert_int_equal(fit(&all_components, store, NULL, NULL), NY_EINTERRUPTED);
    ny_context_set_plan(ctx, NULL, NULL);
    ny_context_interrupt(ctx, 0);
    assert_int_equal(remove(points_file), 0);
    CHECK(ny_resume(ctx, store, "fit", &report));
    assert_true(number_of(report, "n") == FIRST);
    ny_report_free(report);
    append(store, FIRST, SECOND);
    ny_report_free(fit_well(&all_components, store, "frozen"));
    append(store, SECOND, THIRD);
    report = fit_well(&all_components, store, "full");
    write_points(given);
    check_from_scratch(&all_components, store, report, THIRD);
    ny_report_free(report);
}

AROUND_EACH(make_points, remove_folder)
