/* --update frozen: what transform gives, and how far the new rows are from the landmarks. What an
 * update reads of the points. */
#include "property/update_case.h"

#include "evaluate/new_clusters.h"
#include "results/clusters.h"
#include "model/embedding.h"
#include "results/keep.h"
#include "results/record.h"

/* Fits the first rows, in a store whose path it returns. */
static const char *new_result(const struct update_case *test)
{
    const char *store = path_of("grown.nys");

    append(store, 0, FIRST);
    ny_report_free(fit_well(test, store, NULL));
    return store;
}

/* ---- what it costs ------------------------------------------------------------------------- */

/* Sums over new rows alone where no landmark joins: select, accumulate; project reads all. */
TEST(unchanged_landmarks_cost_what_is_new)
{
    struct update_case test = {
        "greedy with a cap", "select=greedy tolerance=0.01 landmarks=25", 1e-3, 0.1, false, false};
    OWNED(ny_report) *report = NULL;
    const char *store = new_result(&test);

    append(store, FIRST, SECOND);
    report = fit_well(&test, store, "full");
    /* select may begin with the unit in which the new rows begin */
    assert_true(number_of(report, "rows_read") <= 2 * (SECOND - FIRST) + 2048 + SECOND);
    assert_true(number_of(report, "landmarks_added") == 0);
}

/* nystrom over landmarks: rows of the embedding do not depend on n. */
TEST(nystrom_of_the_same_landmarks_places_new_rows_alone)
{
    const char *path = path_of("given.csv"), *store;
    const char *options = lend_text("landmarks-file=%s approx=nystrom map=svd precision=f64", path);
    struct update_case test = {"given", options, 1e-5, 0, false, false};
    OWNED(ny_report) *report = NULL;

    write_numbers(path, 50, 41, 5);
    store = new_result(&test);
    append(store, FIRST, SECOND);
    report = fit_well(&test, store, "full");
    assert_true(number_of(report, "rows_read") == SECOND - FIRST);
    check_from_scratch(&test, store, report, SECOND);
}

/* ---- frozen -------------------------------------------------------------------------------- */

/* Rows that are placed are those that transform gives, and the others stay what they are. */
TEST(frozen_is_transform)
{
    static const struct update_case cases[] = {
        {"kpca", "landmarks=60", 0, 0, false, false},
        {"diffusion", "map=diffusion normalize=asymmetric landmarks=60", 0, 0, false, false},
        {"f64", "landmarks=60 precision=f64 map=svd", 0, 0, false, false},
        {"column", "approx=column landmarks=60", 0, 0, false, false},
        {"orthonystrom", "approx=orthonystrom landmarks=60", 0, 0, false, false},
        {"ensemble", "approx=ensemble landmarks=80 experts=4", 0, 0, false, false},
        {"divided", "approx=ensemble map=laplacian landmarks=80 experts=4", 0, 0, false, false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        float *rows = lend((SECOND - FIRST) * D * sizeof(float)), *placed, *before, *after;
        OWNED(ny_model) *model = NULL;
        uint64_t n, p;
        const char *store = new_result(&cases[i]);

        assert_int_equal(ny_model_open(&model, ctx, store, "fit"), NY_OK);
        p = ny_model_components(model);
        placed = lend((size_t)((SECOND - FIRST) * p) * sizeof(float));
        for (uint64_t k = 0; k < (SECOND - FIRST) * D; k++)
            rows[k] = value_of(FIRST + k / D, k % D);
        assert_int_equal(ny_model_transform(model, rows, SECOND - FIRST, placed), NY_OK);
        before = embedding_of(store, &n, &p);
        append(store, FIRST, SECOND);
        ny_report_free(fit_well(&cases[i], store, "frozen"));
        after = embedding_of(store, &n, &p);
        assert_memory_equal(after, before, FIRST * p * sizeof(float));
        for (uint64_t k = 0; k < (SECOND - FIRST) * p; k++)
            assert_true(fabs((double)after[FIRST * p + k] - (double)placed[k]) <=
                        2e-5 * (1e-3 + fabs((double)placed[k])) + 2e-6);
        case_remove(store);
    }
}

/* δ = k(x,x) − ‖L⁻¹k_D(x)‖² by the textbook. */
static double residual(const uint64_t *landmarks, size_t m, double gamma, uint64_t row,
                       const double *L)
{
    double z[64], delta = 1;

    for (size_t j = 0; j < m; j++) {
        double square = 0;

        for (uint64_t k = 0; k < D; k++)
            square += pow((double)value_of(row, k) - (double)value_of(landmarks[j], k), 2);
        z[j] = exp(-gamma * square);
        for (size_t l = 0; l < j; l++)
            z[j] -= L[j * m + l] * z[l];
        z[j] /= L[j * m + j];
        delta -= z[j] * z[j];
    }
    return delta;
}

static void factorise(const uint64_t *landmarks, size_t m, double gamma, double *L)
{
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j <= i; j++) {
            double w = 0;

            for (uint64_t k = 0; k < D; k++)
                w += pow((double)value_of(landmarks[i], k) - (double)value_of(landmarks[j], k), 2);
            w = exp(-gamma * w);
            for (size_t l = 0; l < j; l++)
                w -= L[i * m + l] * L[j * m + l];
            L[i * m + j] = i == j ? sqrt(w) : w / L[j * m + j];
        }
}

TEST(frozen_measures_its_drift)
{
    struct update_case test = {
        "greedy, span", "select=greedy tolerance=0.3 landmarks=60 map=svd", 0, 0.1, false, false};
    const uint64_t last = FIRST + 1000; /* of so few none is left out */
    double *L = lend_zeros(64 * 64 * sizeof(double)), left = 0;
    OWNED(ny_report) *report = NULL;
    size_t m, above = 0, *landmarks;
    const char *store = new_result(&test);

    append(store, FIRST, last);
    report = fit_well(&test, store, "frozen");
    m = (size_t)number_of(report, "landmarks");
    assert_in_range(m, 5, 60);
    landmarks = rows_of_result(ctx, store, "fit", "landmarks", m, 1);
    factorise(landmarks, m, 0.1, L);
    for (uint64_t row = FIRST; row < last; row++) {
        double delta = residual(landmarks, m, 0.1, row, L);

        left += delta;
        above += delta > 0.3;
    }
    assert_true(above > 10); /* the cluster that came later */
    assert_true(number_of(report, "drift_rows") == 1000);
    assert_true(fabs(number_of(report, "drift_residual_share") - (double)above / 1000) < 1e-9);
    assert_true(fabs(number_of(report, "drift_trace_error") - left / 1000) < 1e-6);
}

/* ---- what stays ---------------------------------------------------------------------------- */

/* A reader of the record from before an update can read its rows after it; rows of two updates ago
 * go. */
TEST(parts_of_the_old_record_stay_for_one_update)
{
    const struct update_case test = {"kpca", "landmarks=30 select=uniform", 0, 0, false, false};
    struct ny_embedding_layout old = ny_embedding_layout(FIRST, 2, sizeof(float));
    float *before = lend(FIRST * 2 * sizeof(float)), *rows = lend(FIRST * 2 * sizeof(float));
    OWNED(ny_store) *opened = NULL;
    struct ny_keep keep;
    const char *store = new_result(&test);

    assert_int_equal(ny_embedding_read(ctx, store, "fit", 0, FIRST, before), NY_OK);
    assert_int_equal(ny_store_open(&opened, ctx, store), NY_OK);
    keep = ny_store_keep(opened, "fit");
    append(store, FIRST, SECOND);
    ny_report_free(fit_well(&test, store, "full"));
    assert_int_equal(ny_embedding_rows(&keep, &old, 0, FIRST, rows), NY_OK);
    assert_memory_equal(rows, before, FIRST * 2 * sizeof(float));
    append(store, SECOND, THIRD);
    ny_report_free(fit_well(&test, store, "full"));
    assert_int_equal(ny_embedding_rows(&keep, &old, 0, FIRST, rows), NY_ESTORE);
}

/* ---- clusters ------------------------------------------------------------------------------ */

static char said[2000];

static void hear(void *user, int level, const char *message)
{
    size_t used = strlen(said);

    (void)user;
    if (level == NY_LOG_WARNING) snprintf(said + used, sizeof(said) - used, "%s\n", message);
}

/* Has the record say what it says between a frozen update and the carrying of its clusters. */
static void put_back(struct ny_store *opened)
{
    json_t *record, *stored;

    assert_int_equal(ny_record_need_done(opened, "fit", &record), NY_OK);
    stored = json_object_get(record, "clusters");
    json_object_set_new(stored, "carried", json_true());
    json_object_set_new(stored, "rows", json_integer(FIRST));
    assert_int_equal(ny_record_save(opened, "fit", record), NY_OK);
    json_decref(record);
}

/* Fits the first rows, finds clusters, and takes in rows up to `end` by a frozen update. */
static const char *new_clusters(uint64_t end)
{
    const struct update_case test = {
        "svd", "landmarks=30 select=uniform map=svd approx=projected", 0, 0, false, false};
    OWNED(ny_options) *options = options_with(ctx, "measures=clusters clusters=3");
    const char *store = new_result(&test);

    assert_int_equal(ny_evaluate(ctx, store, "fit", options, NULL), NY_OK);
    append(store, FIRST, end);
    ny_report_free(fit_well(&test, store, "frozen"));
    return store;
}

/* Returns the clusters of all rows, of which `end` are expected. */
static uint64_t *clusters_of(struct ny_store *opened, uint64_t end)
{
    uint64_t *cluster = lend((size_t)end * sizeof(*cluster));
    struct ny_result result;

    assert_int_equal(ny_result_open(&result, opened, "fit"), NY_OK);
    assert_int_equal(ny_stored_clusters(&result), 3);
    assert_int_equal(result.n, end);
    assert_int_equal(ny_stored_clusters_get(&result, 0, (size_t)end, cluster), NY_OK);
    ny_result_close(&result);
    return cluster;
}

/* The buffer of a small budget holds 264,192 rows, that of a large one all of them. */
TEST(clusters_of_more_rows_than_a_buffer_holds)
{
    const uint64_t end = 270000;
    size_t memory = ny_context_memory(ctx);
    uint64_t *at_once, *in_parts;
    OWNED(ny_store) *opened = NULL;
    const char *store = new_clusters(end);

    assert_int_equal(ny_store_open(&opened, ctx, store), NY_OK);
    at_once = clusters_of(opened, end);
    put_back(opened);
    ny_context_set_memory(ctx, 16 << 20);
    assert_int_equal(ny_clusters_carry(opened, "fit"), NY_OK);
    ny_context_set_memory(ctx, memory);
    in_parts = clusters_of(opened, end);
    assert_memory_equal(in_parts, at_once, (size_t)end * sizeof(*in_parts));
}

/* Clusters for which there is no memory are told, the result stays, and the next call finds them.
 */
TEST(clusters_without_memory_are_told_and_found_by_the_next_call)
{
    const struct update_case again = {.name = "again"};
    size_t memory = ny_context_memory(ctx);
    struct ny_result result;
    OWNED(ny_store) *opened = NULL;
    const char *store = new_clusters(SECOND);
    uint64_t rows;

    assert_int_equal(ny_store_open(&opened, ctx, store), NY_OK);
    put_back(opened);
    said[0] = '\0';
    ny_context_set_log(ctx, hear, NULL);
    ny_context_set_memory(ctx, ny_memory_used(ctx) + (1 << 20));
    assert_int_equal(ny_clusters_carry(opened, "fit"), NY_OK);
    ny_context_set_memory(ctx, memory);
    assert_non_null(strstr(said, "the clusters of 'fit' do not cover the new rows yet"));
    assert_non_null(strstr(said, "with more --memory"));
    assert_int_equal(ny_result_open(&result, opened, "fit"), NY_OK);
    assert_true(ny_carried_clusters(&result, &rows) > 0);
    ny_result_close(&result);
    said[0] = '\0';
    ny_report_free(fit_well(&again, store, "frozen"));
    assert_string_equal(said, "");
    assert_int_equal(ny_result_open(&result, opened, "fit"), NY_OK);
    assert_int_equal(ny_stored_clusters(&result), 3);
    assert_int_equal(ny_carried_clusters(&result, &rows), 0); /* no more are to be carried */
    assert_int_equal(rows, SECOND);
    ny_result_close(&result);
    ny_context_set_log(ctx, NULL, NULL);
}

AROUND_EACH(new_folder, remove_folder)
