/* Tests fit --map eigenmaps, --map diffusion of a graph, and new points in both, against the
 * definition: D^-½AD^-½ of a graph found by sorting all distances, Jacobi's eigenpairs of it, and
 * Nyström's formula. */
#include "roll_case.h"

#include "support/brute.h"

enum { NEW = 40 };

static const double gamma_ = 0.15;
static double degree[N], values[N], U[N * N]; /* of the members; an eigenvector a row of U */

static void decompose(void)
{
    double *A = lend_zeros(count * count * sizeof(double));

    memset(degree, 0, sizeof(degree));
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            if (edge[members[i]][members[j]])
                A[i * count + j] = exp(-gamma_ * pow(distance(members[i], members[j]), 2));
            degree[i] += A[i * count + j];
        }
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++)
            A[i * count + j] /= sqrt(degree[i] * degree[j]);
    brute_eigen(A, count, values, U);
}

/* Turns the entries u of a point with degree d into its coordinates: μ^t u, or μ^t ψ with ψ_0 =
 * 1. */
struct how {
    double time;
    bool walk;
};

static void map_entries(const struct how *how, double d, double *y)
{
    double trivial = U[0] / sqrt(degree[0]);

    for (size_t k = 0; k < P; k++) {
        y[k] *= pow(values[k + 1], how->time);
        if (how->walk) y[k] /= fabs(trivial) * sqrt(d);
    }
}

/* Row i of the embedding, had all signs come out as Jacobi's. */
static void coordinates_of(const struct how *how, size_t i, double *y)
{
    for (size_t k = 0; k < P; k++)
        y[k] = U[(k + 1) * count + i];
    map_entries(how, degree[i], y);
}

/* Σ_i w_i/√(d d_i) u_i/(1 − λ) over the T nearest members of x; false where all w are 0. */
static bool extend(const struct how *how, const float *x, double *y)
{
    double own = 0;
    bool taken[N] = {false};
    size_t near[T];
    double weight[T];

    for (size_t t = 0; t < T; t++) {
        double least = INFINITY;

        for (size_t i = 0; i < count; i++) {
            double square = 0;

            for (size_t k = 0; k < DIMS; k++)
                square += pow((double)x[k] - (double)points[members[i]][k], 2);
            if (taken[i] || square >= least) continue;
            least = square;
            near[t] = i;
        }
        taken[near[t]] = true;
        weight[t] = exp(-gamma_ * least);
        own += weight[t];
    }
    for (size_t k = 0; k < P; k++) {
        y[k] = 0;
        for (size_t t = 0; t < T && own > 0; t++)
            y[k] += weight[t] / sqrt(own * degree[near[t]]) * U[(k + 1) * count + near[t]] /
                    values[k + 1];
    }
    if (own > 0) map_entries(how, own, y);
    return own > 0;
}

/* New points: those of the roll moved a little, some of the island, which is far from all members;
 * and rows that are there. */
static void make_new(float (*x)[DIMS])
{
    for (size_t i = 0; i < NEW; i++)
        for (size_t k = 0; k < DIMS; k++)
            x[i][k] = points[i][k] + (float)(i % 3) * (0.3f + 0.2f * (float)k);
    write_csv32(file, x[0], NEW, DIMS);
}

/* Reads the values of the npy file `out` and removes it. */
static void read_out(float *placed, size_t bytes)
{
    FILE *npy = fopen(out, "rb");

    assert_int_equal(fseek(npy, -(long)bytes, SEEK_END), 0);
    assert_int_equal(fread(placed, 1, bytes, npy), bytes);
    fclose(npy);
    remove(out);
}

/* Y in the signs of the fit; rows that are there come back byte by byte. */
static void check_new(const struct how *how, const double *Y, const double *want)
{
    float x[NEW][DIMS], placed[NEW * P];
    double y[P];

    make_new(x);
    assert_int_equal(ny_transform(ctx, store, "fitted", file, out, NULL), NY_OK);
    read_out(placed, sizeof(placed));
    for (size_t i = 0; i < NEW; i++) {
        size_t at = 0;
        bool reached;

        while (at < count && memcmp(points[members[at]], x[i], sizeof(x[i])) != 0)
            at++;
        reached = extend(how, x[i], y);
        for (size_t k = 0; k < P; k++) {
            double sign = copysign(1, Y[k] * want[k]);

            if (at < count)
                assert_true((double)placed[i * P + k] == Y[at * P + k]);
            else if (reached)
                assert_true(fabs((double)placed[i * P + k] - sign * y[k]) < 1e-5);
            else
                assert_true((placed[i * P + k] == 0) != how->walk);
        }
    }
}

static void check(const char *map, const char *time, const char *normalize, struct how how)
{
    char settings[200];
    double *Y = lend(count * P * sizeof(double)), *want = lend(count * P * sizeof(double));

    decompose();
    for (size_t i = 0; i < count; i++)
        coordinates_of(&how, i, want + i * P);
    snprintf(settings, sizeof(settings),
             "map=%s gamma=0.15 neighbors=6 components=3 seed=0%s%s%s%s", map, time ? " time=" : "",
             time ? time : "", normalize ? " normalize=" : "", normalize ? normalize : "");
    fit("fitted", settings, Y);
    check_embedding(Y, want);
    check_new(&how, Y, want);
    assert_int_equal(ny_remove(ctx, store, "fitted"), NY_OK);
}

TEST(eigenmaps_are_of_the_laplacian)
{
    check("eigenmaps", NULL, NULL, (struct how){0});
}

TEST(diffusion_is_of_the_walk)
{
    check("diffusion", "1", NULL, (struct how){.time = 1});
    check("diffusion", "2.5", "symmetric", (struct how){.time = 2.5});
    check("diffusion", "3", "asymmetric", (struct how){.time = 3, .walk = true});
}

AROUND_ALL(make_points, remove_folder)
