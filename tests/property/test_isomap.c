/* fit --map isomap against the definition: neighbours by sorting all distances, components by
 * spreading, Dijkstra's paths, and Jacobi's eigenpairs of the centred matrix. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/context.h"

#include "base/random.h"
#include "support/brute.h"
#include "support/files.h"
#include "support/store_case.h"

/* A roll of which every tenth point is one of an island far away; the last points of the roll are
 * those before them again. */
enum { N = 170, DIMS = 3, T = 6, P = 3, TWINS = 4, M = 60 };

static float points[N][DIMS];
static size_t members[N], count; /* of the largest component, ascending */
static double paths[N][N];
static char directory[128], store[160], file[160], out[160];

static bool island(size_t i)
{
    return i % 10 == 3;
}

static double distance(size_t i, size_t j)
{
    double sum = 0;

    for (size_t k = 0; k < DIMS; k++)
        sum += pow((double)points[i][k] - (double)points[j][k], 2);
    return sqrt(sum);
}

/* j is among the T nearest of i, ties by number. */
static bool lists(size_t i, size_t j)
{
    size_t before = 0;

    for (size_t k = 0; k < N; k++)
        before += k != i && k != j &&
                  (distance(i, k) < distance(i, j) || (distance(i, k) == distance(i, j) && k < j));
    return before < T;
}

static void find_paths(void)
{
    static bool edge[N][N];

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            edge[i][j] = i != j && (lists(i, j) || lists(j, i));
    for (size_t source = 0; source < N; source++) {
        bool settled[N] = {false};

        for (size_t j = 0; j < N; j++)
            paths[source][j] = j == source ? 0 : INFINITY;
        for (;;) {
            size_t nearest = N;

            for (size_t j = 0; j < N; j++)
                if (!settled[j] && paths[source][j] < INFINITY &&
                    (nearest == N || paths[source][j] < paths[source][nearest]))
                    nearest = j;
            if (nearest == N) break;
            settled[nearest] = true;
            for (size_t j = 0; j < N; j++)
                if (edge[nearest][j])
                    paths[source][j] =
                        fmin(paths[source][j], paths[source][nearest] + distance(nearest, j));
        }
    }
}

static int make_points(void **state)
{
    struct ny_options *options;
    const char *const files[] = {file};
    FILE *csv;

    case_directory(directory);
    snprintf(store, sizeof(store), "%s/s.nys", directory);
    snprintf(file, sizeof(file), "%s/points.csv", directory);
    snprintf(out, sizeof(out), "%s/out.npy", directory);
    for (size_t i = 0; i < N; i++) {
        size_t of = i + TWINS < N ? i : i - TWINS;
        double angle = 4.7 + 9.4 * ny_hash01(1, NY_STREAM_DATA, 2 * of);

        points[i][0] = (float)(angle * cos(angle)) + (island(of) ? 500 : 0);
        points[i][1] = (float)(21 * ny_hash01(1, NY_STREAM_DATA, 2 * of + 1));
        points[i][2] = (float)(angle * sin(angle));
    }
    csv = fopen(file, "w");
    for (size_t i = 0; i < N; i++)
        fprintf(csv, "%.9g,%.9g,%.9g\n", (double)points[i][0], (double)points[i][1],
                (double)points[i][2]);
    fclose(csv);
    find_paths();
    for (size_t i = 0; i < N; i++)
        if (paths[0][i] < INFINITY) members[count++] = i;
    if (start(state) || ny_options_new(&options, ctx) ||
        ny_options_set(options, "dtype", "f32") || ny_import(ctx, store, files, 1, options, NULL))
        return 1;
    ny_options_free(options);
    return count < N ? 0 : 1;
}

static int remove_points(void **state)
{
    int err = stop(state);

    case_remove(directory);
    return err;
}

/* Fits NAME with options "key value …" and reads its embedding, count × P. */
static void fit(const char *name, const char *const *settings, double *Y)
{
    struct ny_options *options;
    float *rows = malloc(count * P * sizeof(float));
    uint64_t n, p;

    assert_int_equal(ny_options_new(&options, ctx), NY_OK);
    for (; *settings; settings += 2)
        assert_int_equal(ny_options_set(options, settings[0], settings[1]), NY_OK);
    assert_int_equal(ny_fit(ctx, store, name, options, NULL), NY_OK);
    ny_options_free(options);
    assert_int_equal(ny_embedding_shape(ctx, store, name, &n, &p), NY_OK);
    assert_int_equal(n, count);
    assert_int_equal(p, P);
    assert_int_equal(ny_embedding_read(ctx, store, name, 0, count, rows), NY_OK);
    for (size_t i = 0; i < count * P; i++)
        Y[i] = (double)rows[i];
    free(rows);
}

/* u64 numbers of a part, behind the header of its npy file. */
static void read_part(const char *name, const char *part, uint64_t *values, size_t wanted)
{
    FILE *npy;

    assert_int_equal(ny_export(ctx, store, name, part, out), NY_OK);
    npy = fopen(out, "rb");
    assert_int_equal(fseek(npy, -(long)(wanted * sizeof(uint64_t)), SEEK_END), 0);
    assert_int_equal(fread(values, sizeof(uint64_t), wanted, npy), wanted);
    fclose(npy);
    remove(out);
}

static double kernel(size_t i, size_t j)
{
    return -paths[i][j] * paths[i][j] / 2;
}

/* Columns of Y are those of want up to their sign. */
static void check_embedding(const double *Y, const double *want)
{
    for (size_t k = 0; k < P; k++) {
        double same = 0, largest = 0;

        for (size_t i = 0; i < count; i++) {
            same += Y[i * P + k] * want[i * P + k];
            largest = fmax(largest, fabs(want[i * P + k]));
        }
        assert_true(fabs(same) > 0);
        for (size_t i = 0; i < count; i++)
            assert_true(fabs(copysign(1, same) * Y[i * P + k] - want[i * P + k]) < 1e-5 * largest);
    }
}

/* c̃_ij = c_ij − r_i − w̄_j + w̄ over landmarks D: count × m. */
static double *centred_columns(const size_t *D, size_t m)
{
    double *C = malloc(count * m * sizeof(double)), *mean = calloc(m, sizeof(double)), all = 0;

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            mean[j] += kernel(D[i], D[j]) / (double)m;
    for (size_t j = 0; j < m; j++)
        all += mean[j] / (double)m;
    for (size_t i = 0; i < count; i++) {
        double own = 0;

        for (size_t j = 0; j < m; j++)
            own += kernel(members[i], D[j]) / (double)m;
        for (size_t j = 0; j < m; j++)
            C[i * m + j] = kernel(members[i], D[j]) - own - mean[j] + all;
    }
    free(mean);
    return C;
}

/* Û Λ̂^½ of Nyström's method over landmarks D, averages over them; all members: of HKH itself. */
static void nystrom(const size_t *D, size_t m, double *want)
{
    double *W = malloc(m * m * sizeof(double)), *V = malloc(m * m * sizeof(double));
    double *values = malloc(m * sizeof(double)), *C = centred_columns(D, m);

    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < m; j++)
            W[i * m + j] = kernel(D[i], D[j]);
    brute_centre(W, m);
    brute_eigen(W, m, values, V);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < P; k++) {
            want[i * P + k] = 0;
            for (size_t j = 0; j < m; j++)
                want[i * P + k] += C[i * m + j] * V[k * m + j] / sqrt(values[k]);
        }
    free(W);
    free(V);
    free(values);
    free(C);
}

/* Û Λ̂^½ of column sampling: C̃ = ÛΣVᵀ, λ̂ = √(n/m) σ. */
static void column(const size_t *D, size_t m, double *want)
{
    double *C = centred_columns(D, m), *G = malloc(m * m * sizeof(double));
    double *V = malloc(m * m * sizeof(double)), *values = malloc(m * sizeof(double));

    brute_multiply_t(C, C, G, count, m, m);
    brute_eigen(G, m, values, V);
    for (size_t k = 0; k < P; k++) {
        double sigma = sqrt(values[k]), root = sqrt(sqrt((double)count / (double)m) * sigma);

        for (size_t i = 0; i < count; i++) {
            want[i * P + k] = 0;
            for (size_t j = 0; j < m; j++)
                want[i * P + k] += C[i * m + j] * V[k * m + j] / sigma * root;
        }
    }
    free(C);
    free(G);
    free(V);
    free(values);
}

static void exact_is_double_centring(void **state)
{
    const char *const settings[] = {"map",        "isomap", "approx",    "exact", "neighbors", "6",
                                    "components", "3",      "precision", "f64",   NULL};
    double *Y = malloc(count * P * sizeof(double)), *want = malloc(count * P * sizeof(double));
    uint64_t rows[N];

    (void)state;
    fit("exact", settings, Y);
    nystrom(members, count, want);
    check_embedding(Y, want);
    read_part("exact", "rows", rows, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i], members[i]);
    free(Y);
    free(want);
}

/* Landmarks as the fit has drawn them, then what follows from them. */
static void check_landmarks(const char *approx, void (*follow)(const size_t *D, size_t m, double *))
{
    const char *const settings[] = {"map",        "isomap", "landmarks", "60", "neighbors", "6",
                                    "components", "3",      "seed",      "4",  "approx",    approx,
                                    NULL};
    double *Y = malloc(count * P * sizeof(double)), *want = malloc(count * P * sizeof(double));
    uint64_t rows[M];
    size_t landmarks[M];

    fit(approx, settings, Y);
    read_part(approx, "landmarks", rows, M);
    for (size_t j = 0; j < M; j++) {
        assert_true(paths[members[0]][rows[j]] < INFINITY);
        landmarks[j] = (size_t)rows[j];
    }
    follow(landmarks, M, want);
    check_embedding(Y, want);
    free(Y);
    free(want);
}

static void landmarks_are_nystroms(void **state)
{
    (void)state;
    check_landmarks("nystrom", nystrom);
}

static void columns_are_sampled(void **state)
{
    (void)state;
    check_landmarks("column", column);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(exact_is_double_centring),
                                       cmocka_unit_test(landmarks_are_nystroms),
                                       cmocka_unit_test(columns_are_sampled)};

    return cmocka_run_group_tests(tests, make_points, remove_points);
}
