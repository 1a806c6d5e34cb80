/*
 * Option online against the online algorithm of Ouimet & Bengio (2005), literally and in f64: the
 * coefficients of a row over the landmarks at the end of its batch, zero for those that join later;
 * and against a fit in two passes, which it bounds.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "base/context.h"
#include "property/update_case.h"
#include "support/brute.h"

/* Three batches, the last one short, whose unit is short too. */
enum { BATCH_ROWS = 16384, ROWS = 2 * BATCH_ROWS + 5000, M_MAX = 200, P = 3 };

static const double width = 0.15;

/* A cluster more with every fifth of the rows, so that landmarks join to the end. */
static float point(uint64_t row, uint64_t column)
{
    uint64_t cluster = ny_hash64(1, NY_STREAM_DATA, row) % (2 + 5 * row / ROWS);
    double noise = ny_hash01(3, NY_STREAM_DATA, row * D + column) - 0.5;

    return (float)(6 * ny_hash01(4, NY_STREAM_DATA, cluster * D + column) + noise);
}

static double kernel(const float *x, const float *y)
{
    double square = 0;

    for (int k = 0; k < D; k++)
        square += ((double)x[k] - (double)y[k]) * ((double)x[k] - (double)y[k]);
    return exp(-width * square);
}

/* ---- literally ----------------------------------------------------------------------------- */

/* Rows z of ZZᵀ = K̃: L⁻¹k over the landmarks at its time (early), and at the end (late). */
struct literal {
    float *x;
    size_t m;
    size_t landmark[M_MAX];
    double L[M_MAX][M_MAX];
    double *early, *late; /* ROWS × M_MAX */
};

/* Computes z of row i over the first m landmarks; returns δ. */
static double substitute(const struct literal *set, size_t i, size_t m, double *z)
{
    double delta = 1;

    for (size_t a = 0; a < m; a++) {
        z[a] = kernel(set->x + i * D, set->x + set->landmark[a] * D);
        for (size_t b = 0; b < a; b++)
            z[a] -= set->L[a][b] * z[b];
        z[a] /= set->L[a][a];
        delta -= z[a] * z[a];
    }
    return delta;
}

static void run_literally(struct literal *set, double tolerance)
{
    for (size_t first = 0; first < ROWS; first += BATCH_ROWS) {
        size_t end = first + BATCH_ROWS < ROWS ? first + BATCH_ROWS : ROWS;

        for (size_t i = first; i < end; i++) {
            double delta = substitute(set, i, set->m, set->L[set->m]);

            if (!(delta > tolerance)) continue;
            assert_true(set->m + 1 < M_MAX);
            set->L[set->m][set->m] = sqrt(delta);
            set->landmark[set->m++] = i;
        }
        for (size_t i = first; i < end; i++)
            substitute(set, i, set->m, set->early + i * M_MAX);
    }
    for (size_t i = 0; i < ROWS; i++)
        substitute(set, i, set->m, set->late + i * M_MAX);
}

static struct literal *new_literal(double tolerance)
{
    struct literal *set = lend_zeros(sizeof(*set));

    set->x = lend(ROWS * D * sizeof(float));
    set->early = lend_zeros(ROWS * M_MAX * sizeof(double));
    set->late = lend_zeros(ROWS * M_MAX * sizeof(double));
    for (size_t i = 0; i < ROWS * D; i++)
        set->x[i] = point(i / D, i % D);
    run_literally(set, tolerance);
    return set;
}

/* Returns tr K − Σ‖z‖². */
static double lost_trace(const double *Z, size_t m)
{
    double sum = ROWS;

    for (size_t i = 0; i < ROWS; i++)
        for (size_t a = 0; a < m; a++)
            sum -= Z[i * M_MAX + a] * Z[i * M_MAX + a];
    return sum;
}

/* Eigenpairs of Σ(z − z̄)(z − z̄)ᵀ, and z̄; z̄ = 0 where K is not centred. */
static void decompose(const struct literal *set, bool centred, double *mean, double *values,
                      double *V)
{
    double *S = lend_zeros(set->m * set->m * sizeof(double));

    for (size_t a = 0; a < set->m; a++) {
        mean[a] = 0;
        for (size_t i = 0; centred && i < ROWS; i++)
            mean[a] += set->early[i * M_MAX + a] / ROWS;
    }
    for (size_t i = 0; i < ROWS; i++)
        for (size_t a = 0; a < set->m; a++)
            for (size_t b = 0; b < set->m; b++)
                S[a * set->m + b] += (set->early[i * M_MAX + a] - mean[a]) *
                                     (set->early[i * M_MAX + b] - mean[b]);
    brute_eigen(S, set->m, values, V);
}

/* ---- fits ---------------------------------------------------------------------------------- */

static int fit_of(const char *store, const char *name, const char *option,
                  struct ny_report **report)
{
    OWNED(ny_options) *options = options_with(ctx, "%s gamma=0.15", option);
    int err = ny_fit(ctx, store, name, options, report);

    if (err) fail_msg("%s", ny_context_message(ctx));
    return err;
}

static json_t *json_of_fit(const char *store, const char *name, const char *option)
{
    OWNED(ny_report) *report = NULL;
    json_t *json;

    fit_of(store, name, option, &report);
    json = json_loads(ny_report_json(report), 0, NULL);
    assert_non_null(json);
    return json;
}

static double field(const json_t *json, const char *key)
{
    return json_number_value(json_object_get(json, key));
}

static const char *grown;

static void points(void)
{
    float *values = lend(ROWS * D * sizeof(float));

    new_folder();
    grown = path_of("grown.nys");
    for (size_t i = 0; i < ROWS * D; i++)
        values[i] = point(i / D, i % D);
    assert_int_equal(ny_append_rows(ctx, grown, values, ROWS, D, NULL), NY_OK);
}

/* ---- tests --------------------------------------------------------------------------------- */

static void near(const char *what, double got, double want, double scale, double tolerance)
{
    if (!(fabs(got - want) <= tolerance * scale))
        fail_msg("%s is %.12g, and literally %.12g", what, got, want);
}

/* Y = (z − z̄)V, up to signs, of the z over all landmarks. */
static void check_rows(const struct literal *set, const double *mean, const double *V,
                       double tolerance)
{
    float *Y;
    uint64_t n, p;

    assert_int_equal(ny_embedding_shape(ctx, grown, "on", &n, &p), NY_OK);
    assert_int_equal(n, ROWS);
    assert_int_equal(p, P);
    Y = lend(ROWS * P * sizeof(float));
    assert_int_equal(ny_embedding_read(ctx, grown, "on", 0, n, Y), NY_OK);
    for (size_t k = 0; k < P; k++) {
        double same = 0, other = 0;

        for (size_t i = 0; i < ROWS; i++) {
            double y = 0;

            for (size_t a = 0; a < set->m; a++)
                y += V[k * set->m + a] * (set->late[i * M_MAX + a] - mean[a]);
            same = fmax(same, fabs((double)Y[i * P + k] - y));
            other = fmax(other, fabs((double)Y[i * P + k] + y));
        }
        near("the embedding's distance", fmin(same, other), 0, 1, tolerance);
    }
}

static void check_literal(const char *map, const char *precision, double tolerance)
{
    char options[100];
    bool centred = strcmp(map, "kpca") == 0;
    struct literal *set = new_literal(0.05);
    double *values = lend_zeros(set->m * sizeof(double)),
           *mean = lend_zeros(set->m * sizeof(double));
    double *V = lend_zeros(set->m * set->m * sizeof(double)), norm = 0;
    OWNED(json_t) *json = NULL;

    snprintf(options, sizeof(options), "online=yes tolerance=0.05 map=%s components=3 precision=%s",
             map, precision);
    json = json_of_fit(grown, "on", options);
    assert_int_equal((size_t)field(json, "landmarks"), set->m);
    assert_true(set->landmark[set->m - 1] >= 2 * BATCH_ROWS); /* or nothing is tested */
    decompose(set, centred, mean, values, V);
    for (size_t a = 0; a < set->m; a++)
        norm += mean[a] * mean[a];
    near("the trace", field(json, "trace"), ROWS * (1 - norm), ROWS, tolerance);
    near("the trace error", field(json, "trace_error"),
         lost_trace(set->early, set->m) / (ROWS * (1 - norm)), 1, tolerance);
    for (size_t k = 0; k < P; k++)
        near("an eigenvalue",
             json_number_value(json_array_get(json_object_get(json, "eigenvalues"), k)), values[k],
             values[0], tolerance);
    check_rows(set, mean, V, 10 * tolerance);
}

TEST(test_literal_svd)
{
    check_literal("svd", "f64", 1e-7); /* the embedding is read as f32 */
}

TEST(test_literal_kpca)
{
    check_literal("kpca", "f64", 1e-7);
}

TEST(test_literal_f32)
{
    check_literal("kpca", "f32", 2e-6);
}

/* The certificate is above the error of K̃ = CW⁺Cᵀ with the final landmarks, and not far. */
TEST(test_certificate)
{
    static const char online[] = "online=yes tolerance=0.05 map=svd precision=f64";
    struct literal *set = new_literal(0.05);
    OWNED(json_t) *json = json_of_fit(grown, "on", online);
    double error = field(json, "trace_error"), true_error = lost_trace(set->late, set->m) / ROWS;

    assert_true(error >= true_error - 1e-12);
    assert_true(error <= 0.05); /* every δ at its row's time */
    assert_true(error > true_error * 1.0001); /* it is another number */
    assert_int_equal((int)field(json, "passes"), 2);
    assert_int_equal((int)field(json, "rows_read"), 2 * ROWS);
    assert_true(json_is_true(json_object_get(json, "online")));
}

static void same_results(const char *one, const char *other)
{
    static const char *const parts[] = {"embedding", "landmarks", "eigenvalues"};
    const char *a = path_of("a.npy"), *b = path_of("b.npy");

    for (int i = 0; i < 3; i++) {
        assert_int_equal(ny_export(ctx, grown, one, parts[i], a), NY_OK);
        assert_int_equal(ny_export(ctx, grown, other, parts[i], b), NY_OK);
        same_files(a, b, parts[i]);
    }
}

/* Landmarks that are known beforehand need no projection. */
TEST(test_given)
{
    json_decref(json_of_fit(grown, "on", "online=yes tolerance=0.05"));
    json_decref(json_of_fit(grown, "given", "online=yes landmarks-from=on"));
    json_decref(json_of_fit(grown, "plain", "landmarks-from=on"));
    same_results("given", "plain");
}

TEST(test_threads)
{
    static const char options[] = "online=yes tolerance=0.05";

    ny_context_set_threads(ctx, 1);
    json_decref(json_of_fit(grown, "on", options));
    ny_context_set_threads(ctx, 3);
    json_decref(json_of_fit(grown, "other", options));
    same_results("on", "other");
}

/* ---- kills --------------------------------------------------------------------------------- */

static int ends_left;

/* Ends the process at the end of a pass over a batch. */
static void end_there(void *user, const struct ny_progress *progress)
{
    bool over = progress->rows_done % BATCH_ROWS == 0 || progress->rows_done == ROWS;

    (void)user;
    if (strcmp(progress->stage, "project") == 0) _exit(1);
    if (over && ends_left-- == 0) _exit(0);
}

/* False: it came to stage project before. */
static bool run_to_end(const char *option, int skipped)
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        ends_left = skipped;
        ny_context_set_checkpoint(ctx, 0);
        ny_context_set_progress(ctx, end_there, NULL);
        fit_of(grown, "broken", option, NULL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
}

/* Killed where the selection and the sums wait for one another, it goes on there. */
TEST(test_between_passes)
{
    static const char options[] = "online=yes tolerance=0.05";
    int kills = 0;

    json_decref(json_of_fit(grown, "on", options));
    while (run_to_end(options, kills)) {
        json_decref(json_of_fit(grown, "broken", options));
        same_results("on", "broken");
        assert_int_equal(ny_remove(ctx, grown, "broken"), NY_OK);
        kills++;
    }
    assert_true(kills >= 6);
}

AROUND_EACH(points, remove_folder)
