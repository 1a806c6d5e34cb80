/* Tests fit --map isomap against the definition: neighbours by sorting all distances, components by
 * spreading, Dijkstra's paths, and Jacobi's eigenpairs of the centred matrix. */
#include "roll_case.h"

#include "support/brute.h"

enum { M = 60 };

static double paths[N][N];

static void find_paths(void)
{
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

static void make_paths(void)
{
    make_points();
    find_paths();
}

static double kernel(size_t i, size_t j)
{
    return -paths[i][j] * paths[i][j] / 2;
}

/* c̃_ij = c_ij − r_i − w̄_j + w̄ over landmarks D: count × m. */
static double *centred_columns(const size_t *D, size_t m)
{
    double *C = lend(count * m * sizeof(double)), *mean = lend_zeros(m * sizeof(double)), all = 0;

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
    return C;
}

/* Û Λ̂^½ of Nyström's method over landmarks D, averages over them; all members: of HKH itself. */
static void nystrom(const size_t *D, size_t m, double *want)
{
    double *W = lend(m * m * sizeof(double)), *V = lend(m * m * sizeof(double));
    double *values = lend(m * sizeof(double)), *C = centred_columns(D, m);

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
}

/* Û Λ̂^½ of column sampling: C̃ = ÛΣVᵀ, λ̂ = √(n/m) σ. */
static void column(const size_t *D, size_t m, double *want)
{
    double *C = centred_columns(D, m), *G = lend(m * m * sizeof(double));
    double *V = lend(m * m * sizeof(double)), *values = lend(m * sizeof(double));

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
}

/* Checks that the figures of a sample of pairs of nodes, none with itself, are near those of all:
 * Tenenbaum's 1 − ρ² of paths and distances, and 1 − √(Σ(d − δ)²/Σδ²). */
static void check_distances(const char *name, const double *Y)
{
    double x = 0, y = 0, xx = 0, yy = 0, xy = 0, pairs = (double)(count * (count - 1));
    double variance, kept, want, preserved;
    OWNED(ny_report) *report = NULL;

    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            double path = paths[members[i]][members[j]], square = 0;

            for (size_t k = 0; k < P; k++)
                square += pow(Y[i * P + k] - Y[j * P + k], 2);
            x += path, xx += path * path;
            y += sqrt(square), yy += square;
            xy += path * sqrt(square);
        }
    preserved = 1 - sqrt((xx - 2 * xy + yy) / xx);
    assert_int_equal(ny_result_report(ctx, store, name, &report), NY_OK);
    variance = number_of(report, "residual_variance");
    kept = number_of(report, "distance_preservation");
    xy -= x * y / pairs;
    want = 1 - xy * xy / ((xx - x * x / pairs) * (yy - y * y / pairs));
    assert_true(fabs(variance - want) < 0.05 * want);
    assert_true(fabs(kept - preserved) < 0.04 * (1 - preserved));
}

TEST(exact_is_double_centring)
{
    double *Y = lend(count * P * sizeof(double)), *want = lend(count * P * sizeof(double));
    size_t *rows;

    fit("exact", "map=isomap approx=exact neighbors=6 components=3 precision=f64", Y);
    nystrom(members, count, want);
    check_embedding(Y, want);
    check_distances("exact", Y);
    rows = rows_of_result(ctx, store, "exact", "rows", count, 1);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i], members[i]);
}

/* Landmarks as the fit has drawn them, then what follows from them. */
static void check_landmarks(const char *approx, void (*follow)(const size_t *D, size_t m, double *))
{
    char settings[100];
    double *Y = lend(count * P * sizeof(double)), *want = lend(count * P * sizeof(double));
    size_t *landmarks;

    snprintf(settings, sizeof(settings),
             "map=isomap landmarks=60 neighbors=6 components=3 seed=4 approx=%s", approx);
    fit(approx, settings, Y);
    landmarks = rows_of_result(ctx, store, approx, "landmarks", M, 1);
    for (size_t j = 0; j < M; j++)
        assert_true(paths[members[0]][landmarks[j]] < INFINITY);
    follow(landmarks, M, want);
    check_embedding(Y, want);
    check_distances(approx, Y);
}

TEST(landmarks_are_nystroms_or_sample_columns)
{
    check_landmarks("nystrom", nystrom);
    check_landmarks("column", column);
}

/* Each landmark is as far from those before it as any member is, the twins last of all. */
TEST(maxmin_is_greedy)
{
    const char *landmarks[] = {"30", "166"};

    for (size_t run = 0; run < 2; run++) {
        char settings[100];
        size_t m = strtoul(landmarks[run], NULL, 10) < count ? 30 : count;
        double *Y = lend(count * P * sizeof(double)), nearest[N];
        size_t *rows;

        snprintf(settings, sizeof(settings),
                 "map=isomap landmarks=%s neighbors=6 select=maxmin components=3", landmarks[run]);
        fit(landmarks[run], settings, Y);
        rows = rows_of_result(ctx, store, landmarks[run], "landmarks", m, 1);
        for (size_t i = 0; i < N; i++)
            nearest[i] = INFINITY;
        for (size_t j = 0; j < m; j++) {
            double most = 0;

            for (size_t i = 0; i < count; i++)
                most = fmax(most, nearest[members[i]]);
            assert_true(j == 0 || nearest[rows[j]] >= most * (1 - 1e-5));
            for (size_t before = 0; before < j; before++)
                assert_int_not_equal(rows[before], rows[j]);
            for (size_t i = 0; i < N; i++)
                nearest[i] = fmin(nearest[i], paths[rows[j]][i]);
        }
        check_distances(landmarks[run], Y); /* though the landmarks are the outermost points */
    }
}

AROUND_ALL(make_paths, remove_folder)
