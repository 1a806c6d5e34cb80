/* The order of the rows is no part of the answer: the same points in another order, with the same
 * landmarks, have the same coordinates. By every method of kernel PCA and every map, but where
 * random vectors are dealt to the rows by their numbers (methods of all of K). */
#include "judged_case.h"

#include "base/text.h"
#include "maps/graph_map.h"
#include "spectral/method.h"
#include "support/files.h"

enum { M = 40, PRIME = 7 };

static struct judged of;     /* the points in their order */
static char permuted[160];   /* the store of the others: its row i is row_of(i) of the first */
static char rows_of[2][200]; /* files of the landmarks' numbers in each of the stores */
static const char *const stores[2] = {of.path, permuted};

static size_t row_of(size_t i)
{
    return i * PRIME % N;
}

static size_t permuted_row(size_t row)
{
    size_t i = 0;

    while (row_of(i) != row)
        i++;
    return i;
}

/* Every fifth row or so of the first store, by their numbers in each. */
static void write_landmarks(void)
{
    double numbers[M];

    for (int which = 0; which < 2; which++) {
        snprintf(rows_of[which], sizeof(rows_of[which]), "%s/rows%d.npy", of.directory, which);
        for (size_t j = 0; j < M; j++) {
            size_t row = (j * 5 + j % 3) % N;

            numbers[j] = (double)(which ? permuted_row(row) : row);
        }
        write_npy(rows_of[which], "<i8", numbers, M, 0);
    }
}

static void make_both(void)
{
    float *x = lend(sizeof(of.x));

    start();
    make(&of, 0, "");
    assert_int_equal(ny_remove(ctx, of.path, "f"), NY_OK);
    snprintf(permuted, sizeof(permuted), "%s/permuted", of.directory);
    for (size_t i = 0; i < N; i++)
        memcpy(x + i * D, of.x + row_of(i) * D, D * sizeof(*x));
    assert_int_equal(ny_append_rows(ctx, permuted, x, N, D, NULL), NY_OK);
    write_landmarks();
}

static void remove_both(void)
{
    forget(&of);
    stop();
}

/* One way to fit a map. */
struct way {
    const char *map, *method;
    bool neighbors, landmarks, gamma;
};

/* Y (N × P) of one of the stores. */
static void fit_one(const struct way *way, int which, float *Y)
{
    uint64_t rows, columns;

    must_fit(ctx, stores[which], "p", NULL, "map=%s components=3 %s%s %s %s %s%s", way->map,
             way->method ? "approx=" : "", way->method ? way->method : "",
             way->neighbors ? "neighbors=8" : "",
             way->gamma ? "gamma=0.5" : "", /* auto: from rows drawn by their numbers */
             way->landmarks ? "select=given landmarks-file=" : "",
             way->landmarks ? rows_of[which] : "");
    assert_int_equal(ny_embedding_shape(ctx, stores[which], "p", &rows, &columns), NY_OK);
    assert_int_equal(rows, N);
    assert_int_equal(columns, P);
    assert_int_equal(ny_embedding_read(ctx, stores[which], "p", 0, N, Y), NY_OK);
    assert_int_equal(ny_remove(ctx, stores[which], "p"), NY_OK);
}

static void check_way(struct way way)
{
    static float Y[N * P], other[N * P];
    double largest = 0;

    fit_one(&way, 0, Y);
    fit_one(&way, 1, other);
    for (size_t i = 0; i < N * P; i++)
        largest = fmax(largest, fabs((double)Y[i]));
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < P; j++) {
            double a = (double)Y[row_of(i) * P + j], b = (double)other[i * P + j];

            if (!(fabs(a - b) <= 1e-3 * largest))
                fail_msg("%s %s: row %zu, column %zu is %g, and %g when permuted", way.map,
                         way.method ? way.method : "", row_of(i), j, a, b);
        }
}

TEST(methods_permute)
{
    const struct ny_method *method;

    for (size_t i = 0; (method = ny_method_at(i)); i++)
        if (!method->whole)
            check_way((struct way){.map = "kpca",
                                   .method = method->name,
                                   .landmarks = !method->all_rows,
                                   .gamma = true});
}

/* The component of the whole graph is all rows, whose order then is the store's. */
TEST(maps_permute)
{
    const struct ny_map *map;

    for (size_t i = 0; (map = ny_map_at(i)); i++) {
        bool isomap = map->graph && ny_one_of("landmarks", map->options);

        check_way((struct way){.map = map->name,
                               .neighbors = map->graph,
                               .landmarks = !map->graph || isomap,
                               .gamma = !map->graph && !map->kernel});
        if (map->of_graph) check_way((struct way){.map = map->name, .neighbors = true});
        if (isomap) check_way((struct way){.map = map->name, .method = "exact", .neighbors = true});
    }
}

/* All of these few rows decide where there are no landmarks. */
TEST(the_largest_entries_are_positive)
{
    static const struct way ways[] = {{"pca", .method = "exact"},
                                      {"kpca", .method = "gaussian", .gamma = true},
                                      {"eigenmaps", .neighbors = true}};
    static float Y[N * P];

    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        fit_one(&ways[i], 0, Y);
        for (size_t k = 0; k < P; k++) {
            float largest = 0, least = 0;

            for (size_t row = 0; row < N; row++) {
                largest = fmaxf(largest, Y[row * P + k]);
                least = fminf(least, Y[row * P + k]);
            }
            if (!(largest > -least)) fail_msg("way %zu, column %zu: %g", i, k, (double)least);
        }
    }
}

AROUND_ALL(make_both, remove_both)
