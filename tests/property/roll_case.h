/* A small roll with an island, its graph of neighbours by sorting all distances, and fits of it. */
#ifndef NY_TESTS_ROLL_CASE_H
#define NY_TESTS_ROLL_CASE_H

#include "support/folder.h"

#include "base/random.h"
#include "support/files.h"
#include "support/options.h"
#include "support/results.h"

/* A roll of which every tenth point is one of an island far away; the last points of the roll are
 * those before them again. */
enum { N = 170, DIMS = 3, T = 6, P = 3, TWINS = 4 };

static float points[N][DIMS];
static bool edge[N][N];
static size_t members[N], count; /* of the largest component, ascending */
static char store[160], file[160], out[160];

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

/* Tells whether j is among the T nearest of i, ties by number. */
static bool lists(size_t i, size_t j)
{
    size_t before = 0;

    for (size_t k = 0; k < N; k++)
        before += k != i && k != j &&
                  (distance(i, k) < distance(i, j) || (distance(i, k) == distance(i, j) && k < j));
    return before < T;
}

static void find_edges(void)
{
    bool reached[N] = {true};

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            edge[i][j] = i != j && (lists(i, j) || lists(j, i));
    for (size_t round = 0; round < N; round++)
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < N && reached[i]; j++)
                reached[j] = reached[j] || edge[i][j];
    for (size_t i = 0; i < N; i++)
        if (reached[i]) members[count++] = i;
}

static void make_points(void)
{
    OWNED(ny_options) *options = NULL;
    const char *const files[] = {file};

    new_folder();
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
    write_csv32(file, points[0], N, DIMS);
    find_edges();
    options = options_with(ctx, "dtype=f32");
    assert_int_equal(ny_import(ctx, store, files, 1, options, NULL), NY_OK);
    assert_true(count < N);
}

/* Fits NAME with options "key=value …" and reads its embedding, count × P. */
static void fit(const char *name, const char *settings, double *Y)
{
    must_fit(ctx, store, name, NULL, "%s", settings);
    memcpy(Y, part_of_result(ctx, store, name, "embedding", count, P), count * P * sizeof(*Y));
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

#endif
