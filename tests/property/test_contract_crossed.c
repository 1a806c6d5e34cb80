/* Every map against every measure: a figure is that of plain loops over the points, and where a
 * measure has no meaning for a map the figure is null, with the reason. */
#include "judged_case.h"

#include "fit/settings.h"
#include "evaluate/evaluate.h"
#include "support/brute.h"

#define ENTRY(measure) &measure,
static const struct ny_measure *const measures[] = {NY_MEASURES(ENTRY)};
enum { MEASURES = sizeof(measures) / sizeof(measures[0]), PAIRS = P + 1 };

static struct judged points;
static double K[N * N], vectors[N * N], values[N];

static void make_points(void)
{
    start();
    make(&points, 0, "gamma=0.8 landmarks=60");
}

static void remove_points(void)
{
    forget(&points);
    stop();
}

struct crossed {
    const char *map;
    const char *options;
    bool graph;
};

/* γ is 0.8 throughout; `exact` leaves the measures nothing but what the map drops. */
static const struct crossed cases[] = {
    {"svd", "approx=exact gamma=0.8", false},
    {"pca", "approx=exact", false},
    {"kpca", "approx=exact gamma=0.8", false},
    {"laplacian", "approx=exact gamma=0.8", false},
    {"diffusion", "approx=exact gamma=0.8", false},
    {"diffusion", "approx=exact gamma=0.8 normalize=asymmetric", false},
    {"diffusion", "neighbors=8", true},
    {"isomap", "neighbors=8", true},
    {"eigenmaps", "neighbors=8", true},
};
enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static bool is(const struct crossed *of, const char *map)
{
    return strcmp(of->map, map) == 0;
}

static json_t *judgement(const struct crossed *of)
{
    OWNED(ny_options) *against = options_with(ctx, "against=f");
    OWNED(ny_report) *report = NULL;
    json_t *json;

    ny_remove(ctx, points.path, "c");
    must_fit(ctx, points.path, "c", NULL, "components=3 map=%s %s", of->map, of->options);
    assert_int_equal(ny_embedding_read(ctx, points.path, "c", 0, N, points.y), NY_OK);
    CHECK(ny_evaluate(ctx, points.path, "c", against, &report));
    json = json_loads(ny_report_json(report), 0, NULL);
    assert_non_null(json);
    return json;
}

/* ---- what figures are ---------------------------------------------------------------------- */

/* The matrix that a kernel's map decomposes. */
static void fill_matrix(const struct crossed *of)
{
    double mean[D] = {0}, degree[N] = {0};

    for (size_t i = 0; i < N * D; i++)
        mean[i % D] += (double)points.x[i] / N;
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            const float *x = points.x + i * D, *y = points.x + j * D;

            K[i * N + j] = is(of, "pca") ? 0 : exp(-0.8 * distance(x, y, D));
            for (size_t c = 0; is(of, "pca") && c < D; c++)
                K[i * N + j] += ((double)x[c] - mean[c]) * ((double)y[c] - mean[c]);
            degree[i] += K[i * N + j];
        }
    if (is(of, "kpca")) brute_centre(K, N);
    for (size_t i = 0; (is(of, "laplacian") || is(of, "diffusion")) && i < N * N; i++)
        K[i] /= sqrt(degree[i / N] * degree[i % N]);
}

static void figure(const json_t *report, const struct crossed *of, const char *key, double wanted)
{
    const json_t *value = json_object_get(report, key);

    if (!json_is_number(value) || !(fabs(json_number_value(value) - wanted) <= 1e-4))
        fail_msg("%s of %s is %g, not %g", key, of->map, json_number_value(value), wanted);
}

static void none(const json_t *report, const struct crossed *of, const char *key, const char *why)
{
    const json_t *reasons = json_object_get(report, "reasons");
    const char *reason = json_string_value(json_object_get(reasons, key));

    if (!json_is_null(json_object_get(report, key)) || !reason || !strstr(reason, why))
        fail_msg("%s of %s%s is there, or null because of '%s', not '%s'", key, of->map,
                 of->graph ? " of a graph" : "", reason ? reason : "", why);
}

/* An exact fit keeps the largest pairs, so that nothing is nearer. */
static void check_matrix(const json_t *report, const struct crossed *of)
{
    size_t pairs = is(of, "laplacian") || is(of, "diffusion") ? PAIRS : P;
    double kept = 0, all = 0;

    fill_matrix(of);
    brute_eigen(K, N, values, vectors);
    for (size_t k = 0; k < N; k++) {
        all += values[k] * values[k];
        kept += k < pairs ? values[k] * values[k] : 0;
    }
    figure(report, of, "relative_error", sqrt(1 - kept / all));
    figure(report, of, "projection_error", sqrt(1 - kept / all));
    figure(report, of, "relative_accuracy", 1);
    figure(report, of, "projection_accuracy", 1);
}

/* 1 − ρ² of distances, and the relative error of the squared ones that the kernel means. */
static void check_distances(const json_t *report, const struct crossed *of)
{
    double x1 = 0, y1 = 0, xx = 0, yy = 0, xy = 0, error = 0, square = 0, n = N * (N - 1.0);

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            double a = distance(points.x + i * D, points.x + j * D, D);
            double b = distance(points.y + i * P, points.y + j * P, P);
            double k = K[i * (N + 1)] + K[j * (N + 1)] - 2 * K[i * N + j];

            x1 += sqrt(a);
            y1 += sqrt(b);
            xx += a;
            yy += b;
            xy += sqrt(a * b);
            error += (k - b) * (k - b);
            square += k * k;
        }
    xx -= x1 * x1 / n;
    yy -= y1 * y1 / n;
    xy -= x1 * y1 / n;
    figure(report, of, "residual_variance", 1 - xy * xy / (xx * yy));
    if (is(of, "laplacian") || is(of, "diffusion")) {
        none(report, of, "distance_error", "divides the kernel by degrees");
        none(report, of, "distance_accuracy", "divides the kernel by degrees");
    } else {
        figure(report, of, "distance_error", sqrt(error / square));
    }
}

/* The share of each row's five nearest rows that the map has put among its five nearest says
 * whether neighbourhoods are of this embedding; the measure itself weighs ranks. */
static void check_neighborhoods(const json_t *report, const struct crossed *of)
{
    double penalty = 0, t = 5, n = N;

    assert_int_equal(json_integer_value(json_object_get(report, "neighbors")), 5);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++) {
            size_t by_x = 1, by_y = 1;

            for (size_t l = 0; l < N && j != i; l++) {
                double a = distance(points.x + i * D, points.x + l * D, D);
                double b = distance(points.y + i * P, points.y + l * P, P);
                double aj = distance(points.x + i * D, points.x + j * D, D);
                double bj = distance(points.y + i * P, points.y + j * P, P);

                by_x += l != i && (a < aj || (a == aj && l < j));
                by_y += l != i && (b < bj || (b == bj && l < j));
            }
            if (j != i && by_y <= 5 && by_x > 5) penalty += (double)by_x - t;
        }
    figure(report, of, "trustworthiness", 1 - 2 / (n * t * (2 * n - 3 * t - 1)) * penalty);
}

static void check_graph(const json_t *report, const struct crossed *of)
{
    static const char *const of_kernels[] = {"relative_error",      "relative_standard_error",
                                             "relative_accuracy",   "projection_error",
                                             "projection_accuracy", "distance_accuracy",
                                             "distance_error",      "distance_standard_error"};

    for (size_t i = 0; i < sizeof(of_kernels) / sizeof(of_kernels[0]); i++)
        none(report, of, of_kernels[i], "not one of kernel values of the points");
    if (strcmp(of->map, "isomap") != 0)
        none(report, of, "residual_variance", "the map is of a graph");
    else
        assert_true(json_is_number(json_object_get(report, "residual_variance")));
}

/* ---- all of them --------------------------------------------------------------------------- */

static void check_null_has_reason(const json_t *report, const struct crossed *of)
{
    for (size_t m = 0; m < MEASURES; m++)
        for (const char *const *key = measures[m]->keys; *key; key++) {
            const json_t *value = json_object_get(report, *key);

            if (!value) fail_msg("%s of %s is missing", *key, of->map);
            if (json_is_null(value)) none(report, of, *key, "");
        }
}

TEST(figures_are_those_of_the_map)
{
    for (size_t c = 0; c < CASES; c++) {
        const struct crossed *of = &cases[c];
        OWNED(json_t) *report = judgement(of);

        check_null_has_reason(report, of);
        check_neighborhoods(report, of);
        if (of->graph) {
            check_graph(report, of);
        } else {
            check_matrix(report, of);
            check_distances(report, of);
        }
    }
}

TEST(all_maps_are_crossed)
{
    for (size_t m = 0; ny_map_at(m); m++) {
        bool kernel = false, graph = false;

        for (size_t c = 0; c < CASES; c++)
            if (is(&cases[c], ny_map_at(m)->name)) {
                graph |= cases[c].graph;
                kernel |= !cases[c].graph;
            }
        assert_int_equal(kernel, !ny_map_at(m)->graph);
        assert_int_equal(graph, ny_map_at(m)->graph || ny_map_at(m)->of_graph);
    }
}

AROUND_ALL(make_points, remove_points)
