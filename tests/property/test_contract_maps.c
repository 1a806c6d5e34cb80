/* Tests the promises of every map of the table, of a kernel and of a graph, and with each method
 * that a graph's map has: a plan, finite coordinates of as many columns as asked for, the same
 * bytes by any number of threads, and a place for new rows. */
#include "judged_case.h"

#include "base/text.h"
#include "maps/graph_map.h"
#include "support/files.h"

/* One way to fit a map. */
struct way {
    const struct ny_map *map;
    const char *method; /* of a graph's map; NULL: the default */
    bool neighbors;     /* typed, which make a graph */
};

static struct judged of;

static void make_points(void)
{
    start();
    make(&of, 0, "");
}

static void remove_points(void)
{
    forget(&of);
    stop();
}

static bool takes_landmarks(const struct way *way)
{
    if (way->method && ny_method_find(way->method)->all_rows) return false;
    return !way->map->graph || ny_one_of("landmarks", way->map->options);
}

static struct ny_options *options_of(const struct way *way)
{
    return options_with(ctx, "map=%s components=3 %s %s%s %s", way->map->name,
                        way->neighbors ? "neighbors=8" : "", way->method ? "approx=" : "",
                        way->method ? way->method : "", takes_landmarks(way) ? "landmarks=60" : "");
}

/* The coordinates under `name`, of *rows rows. */
static float *fit_with(const struct way *way, const char *name, unsigned threads, uint64_t *rows)
{
    OWNED(ny_options) *options = options_of(way);
    uint64_t columns;
    float *Y;

    ny_context_set_threads(ctx, threads);
    if (ny_fit(ctx, of.path, name, options, NULL))
        fail_msg("%s: %s", way->map->name, ny_context_message(ctx));
    assert_int_equal(ny_embedding_shape(ctx, of.path, name, rows, &columns), NY_OK);
    assert_int_equal(columns, P);
    Y = lend(*rows * P * sizeof(*Y));
    assert_int_equal(ny_embedding_read(ctx, of.path, name, 0, *rows, Y), NY_OK);
    return Y;
}

static void check_plan(const struct way *way)
{
    OWNED(ny_options) *options = options_of(way);
    OWNED(ny_report) *report = NULL;

    assert_int_equal(ny_plan(ctx, of.path, options, &report), NY_OK);
    assert_true(number_of(report, "fits") == 1);
    assert_true(number_of(report, "flops") > 0);
}

/* Finite, and no column is all the same. */
static void check_coordinates(const struct way *way, const float *Y, uint64_t rows)
{
    double low[P], high[P];

    for (size_t j = 0; j < P; j++)
        low[j] = high[j] = (double)Y[j];
    for (size_t i = 0; i < rows * P; i++) {
        if (!isfinite(Y[i])) fail_msg("%s: %g in row %zu", way->map->name, (double)Y[i], i / P);
        low[i % P] = fmin(low[i % P], (double)Y[i]);
        high[i % P] = fmax(high[i % P], (double)Y[i]);
    }
    for (size_t j = 0; j < P; j++)
        if (!(high[j] > low[j])) fail_msg("%s: column %zu is constant", way->map->name, j);
}

/* The points as new rows: finite, and by a kernel's model what they were. */
static void check_new_rows(const struct way *way, const float *Y, uint64_t rows)
{
    char *content;
    const float *placed;
    double largest = 0;
    size_t bytes;
    char *input = lend_text("%s/new.csv", of.directory);
    char *output = lend_text("%s/placed.npy", of.directory);

    write_csv32(input, of.x, N, D);
    if (ny_transform(ctx, of.path, "f", input, output, NULL))
        fail_msg("%s: %s", way->map->name, ny_context_message(ctx));
    content = file_content(output, &bytes);
    assert_true(bytes > N * P * sizeof(float));
    placed = (const float *)(const void *)(content + bytes - N * P * sizeof(float));
    check_coordinates(way, placed, N);
    for (size_t i = 0; i < rows * P; i++)
        largest = fmax(largest, fabs((double)Y[i]));
    for (size_t i = 0; i < N * P && !way->map->graph; i++)
        if (!(fabs((double)placed[i] - (double)Y[i]) <= 1e-4 * largest))
            fail_msg("%s places row %zu at %g, not %g", way->map->name, i / P, (double)placed[i],
                     (double)Y[i]);
    free(content);
}

static void check_way(const struct way *way)
{
    uint64_t rows, again;
    float *Y = fit_with(way, "f1", 1, &rows), *same = fit_with(way, "f", 3, &again);

    assert_true(way->map->graph ? rows <= N && rows > N / 2 : rows == N);
    assert_int_equal(rows, again);
    check_coordinates(way, Y, rows);
    assert_memory_equal(Y, same, rows * P * sizeof(*Y));
    check_plan(way);
    check_new_rows(way, Y, rows);
    assert_int_equal(ny_remove(ctx, of.path, "f1"), NY_OK);
    assert_int_equal(ny_remove(ctx, of.path, "f"), NY_OK);
}

/* Each of the methods "a|b|c". */
static void check_methods(struct way way)
{
    for (const char *at = way.map->methods; *at; at += strspn(at, "|")) {
        size_t length = strcspn(at, "|");
        char *method = lend_text("%.*s", (int)length, at);

        way.method = method;
        check_way(&way);
        at += length;
    }
}

TEST(entries_are_whole)
{
    const struct ny_map *map;

    for (size_t i = 0; (map = ny_map_at(i)); i++) {
        const struct ny_graph_map *graph = ny_graph_map_of(map);

        assert_ptr_equal(ny_map_find(map->name), map);
        assert_true(strlen(map->summary) > 10);
        if (map->kernel) assert_non_null(ny_kernel_find(map->kernel));
        assert_true(map->graph == (graph != NULL));
        assert_true(!map->of_graph || (!graph && ny_graph_map_of(map->of_graph)));
        if (graph)
            assert_true(graph->course && graph->course->bytes == ny_map_course_bytes &&
                        graph->transform && map->options);
        for (size_t k = 0; graph && graph->course->stages[k]; k++)
            assert_true(graph->course->stages[k]->run && graph->course->stages[k]->count);
    }
    assert_null(ny_map_find("tsne"));
}

TEST(every_map_embeds)
{
    unsigned threads = ny_context_threads(ctx);
    const struct ny_map *map;

    assert_int_equal(ny_remove(ctx, of.path, "f"), NY_OK);
    for (size_t i = 0; (map = ny_map_at(i)); i++) {
        check_way(&(struct way){.map = map, .neighbors = map->graph});
        if (map->of_graph) check_way(&(struct way){.map = map->of_graph, .neighbors = true});
        if (map->methods) check_methods((struct way){.map = map, .neighbors = true});
    }
    ny_context_set_threads(ctx, threads);
}

AROUND_ALL(make_points, remove_points)
