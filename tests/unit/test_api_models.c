/* Models in memory through the public interface: from and to bytes, and rows that they place. */
#include "unit/table_case.h"
#include "support/results.h"

static void fit(const char *name, const char *const options[][2])
{
    OWNED(ny_options) *o = NULL;

    ok(ny_options_new(&o, in.ctx));
    for (size_t i = 0; options[i][0]; i++)
        ok(ny_options_set(o, options[i][0], options[i][1]));
    ok(ny_fit(in.ctx, in.store, name, o, NULL));
}

/* ---- models ------------------------------------------------------------------------------- */

TEST(a_model_is_its_image_and_tells_of_its_fit)
{
    struct ny_table table = dense(NY_F32, 0);
    struct ny_model *stored, *copy, *file;
    char path[200];
    const void *image, *again;
    size_t bytes, same;
    float one[4 * 2], other[4 * 2];
    OWNED(ny_report) *report = NULL;

    snprintf(path, sizeof(path), "%s/out.nym", in.folder);
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_fit(in.ctx, in.store, "a", NULL, NULL));
    ok(ny_export(in.ctx, in.store, "a", "model", path));
    ok(ny_model_open(&stored, in.ctx, in.store, "a"));
    ok(ny_model_image(stored, &image, &bytes));
    ok(ny_model_load(&copy, in.ctx, image, bytes));
    ok(ny_model_load_file(&file, in.ctx, path));
    ok(ny_model_image(file, &again, &same));
    assert_int_equal(bytes, same);
    assert_memory_equal(image, again, bytes);
    assert_int_equal(ny_model_components(copy), 2);
    ok(ny_model_transform(stored, table.values, 4, one));
    ok(ny_model_transform(copy, table.values, 4, other));
    assert_memory_equal(one, other, sizeof(one));
    ok(ny_model_report(copy, &report));
    assert_string_equal(ny_report_text(report, "kernel"), "rbf");
    assert_true(number_of(report, "d") == COLUMNS);
    assert_non_null(strstr(ny_report_json(report), "components 1-2 are right to"));
    ny_model_free(stored);
    ny_model_free(file);
    fails(NY_ESTORE, ny_model_load(&file, in.ctx, path, 40));
    ny_model_free(copy);
}

/* Rows of the fit are placed where they are, from tables of each type into rooms of both. */
TEST(rows_in_memory_are_placed)
{
    static const char *const f64[][2] = {{"precision", "f64"}, {"components", "3"}, {NULL, NULL}};
    struct ny_table table = dense(NY_U8, 0), other;
    double *stored = lend_zeros(ROWS * 3 * sizeof(double)), wide[5 * 4];
    float narrow[5 * 3];
    OWNED(ny_model) *model = NULL;
    struct ny_view *view;

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    fit("a", f64);
    ok(ny_view_open(&view, in.ctx, in.store, "a"));
    ok(ny_view_read(view, "embedding", 0, ROWS, stored));
    ny_view_free(view);
    ok(ny_model_open(&model, in.ctx, in.store, "a"));
    for (int dtype = NY_U8; dtype <= NY_F64; dtype++) {
        other = dense(dtype, 2);
        other.rows = 5;
        ok(ny_model_place(model, &other, NY_F64, wide, 4 * sizeof(double)));
        ok(ny_place_rows(in.ctx, in.store, "a", &other,
                         &(struct ny_places_room){NY_F32, narrow, 3}));
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < 3; k++) {
                assert_true(fabs(wide[i * 4 + k] - stored[i * 3 + k]) < 1e-9);
                assert_true((float)wide[i * 4 + k] == narrow[i * 3 + k]);
            }
    }
    other = dense(NY_F32, 0);
    other.rows = 0;
    ok(ny_model_place(model, &other, NY_F64, wide, 0));
    other.rows = 5;
    fails(NY_EUSAGE, ny_model_place(model, &other, NY_F64, wide, 8));
    fails(NY_EUSAGE, ny_model_place(model, &other, NY_U8, wide, 0));
    put(NY_F32, (void *)(uintptr_t)other.values, COLUMNS + 1, (double)NAN);
    fails(NY_EDATA, ny_model_place(model, &other, NY_F64, wide, 0));
    other.columns--;
    fails(NY_EDATA, ny_model_place(model, &other, NY_F64, wide, 0));
}

/* Places of another width than the room are refused, and nothing is written: the result may have
 * been fitted anew since its shape was asked for. */
TEST(a_room_of_another_width_is_refused)
{
    static const char *const wide[][2] = {{"components", "3"}, {"restart", NULL}, {NULL, NULL}};
    struct ny_table table = dense(NY_F32, 0);
    float places[5 * 3], before[5 * 3];
    struct ny_places_room room = {NY_F32, places, 2};

    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_fit(in.ctx, in.store, "a", NULL, NULL));
    table.rows = 5;
    memset(places, 1, sizeof(places));
    memcpy(before, places, sizeof(places));
    ok(ny_place_rows(in.ctx, in.store, "a", &table, &room));
    assert_memory_equal(places + 10, before + 10, 5 * sizeof(float));
    memcpy(places, before, sizeof(places));
    fit("a", wide);
    fails(NY_EUSAGE, ny_place_rows(in.ctx, in.store, "a", &table, &room));
    room.components = 0;
    fails(NY_EUSAGE, ny_place_rows(in.ctx, in.store, "a", &table, &room));
    room.components = 4;
    fails(NY_EUSAGE, ny_place_rows(in.ctx, in.store, "a", &table, &room));
    assert_memory_equal(places, before, sizeof(places));
    room.components = 3;
    ok(ny_place_rows(in.ctx, in.store, "a", &table, &room));
}

/* The first rows are placed alike with many others and alone: the same bits, by a tile of a unit
 * and by the shorter one that a model keeps. */
TEST(few_rows_get_the_bits_of_many)
{
    static const char *const fits[][8][2] = {
        {{"components", "50"}, {"landmarks", "400"}, {NULL, NULL}},
        {{"components", "3"}, {"landmarks", "400"}, {NULL, NULL}},
        {{"components", "50"}, {"landmarks", "400"}, {"precision", "f64"}, {NULL, NULL}},
        {{"map", "laplacian"}, {"components", "45"}, {"landmarks", "400"}, {NULL, NULL}},
    };
    static const int counts[] = {1, 2, 17, 63, 512};
    static double many[ROWS * 50], few[512 * 50];

    for (size_t f = 0; f < sizeof(fits) / sizeof(fits[0]); f++) {
        int dtype = f == 2 ? NY_F64 : NY_F32;
        struct ny_table table = dense(dtype, 0), part = table;
        OWNED(ny_model) *model = NULL;
        size_t row;

        case_remove(in.store);
        ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
        fit("a", fits[f]);
        ok(ny_model_open(&model, in.ctx, in.store, "a"));
        row = (size_t)ny_model_components(model) * sizes[dtype];
        ok(ny_model_place(model, &table, dtype, many, 0));
        for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
            part.rows = (uint64_t)counts[c];
            ok(ny_model_place(model, &part, dtype, few, 0));
            assert_memory_equal(few, many, part.rows * row);
        }
    }
}

/* Results without a model of their own: of all points, and of a graph. */
TEST(rows_are_placed_without_a_model)
{
    static const char *const whole[][2] = {{"approx", "exact"}, {NULL, NULL}},
                             *const graph[][2] = {{"map", "isomap"},
                                                  {"landmarks", "50"},
                                                  {"connect", NULL},
                                                  {NULL, NULL}};
    struct ny_table table = dense(NY_F32, 0);
    double placed[5 * 2], stored[5 * 2];
    float values[5 * 2];

    table.rows = 600;
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    fit("whole", whole);
    fit("graph", graph);
    table.rows = 5;
    for (int i = 0; i < 2; i++) {
        const char *name = i ? "graph" : "whole";

        ok(ny_embedding_read(in.ctx, in.store, name, 0, 5, values));
        ok(ny_place_rows(in.ctx, in.store, name, &table,
                         &(struct ny_places_room){NY_F64, placed, 2}));
        for (int k = 0; k < 10; k++) {
            stored[k] = (double)values[k];
            assert_true(fabs(placed[k] - stored[k]) < 1e-4 * (1 + fabs(stored[k])));
        }
    }
}

/* The row of a graph that is nearest, and so on, by looking at all. */
static void compare_with_all(const struct ny_table *table, int row, const uint64_t *numbers,
                             const double *distances, int neighbors, int n)
{
    double before = -1;

    for (int k = 0; k < neighbors; k++) {
        double sum = 0;
        int nearer = 0;

        assert_true(numbers[k] < (uint64_t)n && distances[k] >= before);
        for (int i = 0; i < n; i++) {
            double square = 0;

            for (int j = 0; j < COLUMNS; j++)
                square += pow(value_of(i, j) -
                                  get(table->dtype, table->values, (size_t)(row * COLUMNS + j)),
                              2);
            if ((uint64_t)i == numbers[k]) sum = square;
            nearer += sqrt(square) < distances[k] - 1e-9;
        }
        assert_true(fabs(sqrt(sum) - distances[k]) < 1e-9 && nearer <= k);
        before = distances[k];
    }
}

TEST(new_rows_find_their_neighbors)
{
    struct ny_table table = dense(NY_F32, 0), wide = dense(NY_F64, 0), wrong;
    uint64_t numbers[300 * 9];
    double distances[300 * 9];
    struct ny_neighbors_room room = {.neighbors = 9, .numbers = numbers, .distances = distances};

    table.rows = 240; /* value_of() repeats itself later */
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL));
    ok(ny_graph(in.ctx, in.store, "g", NULL, NULL));
    ok(ny_fit(in.ctx, in.store, "f", NULL, NULL));
    ok(ny_append(in.ctx, in.store, &table, NULL, NULL)); /* are not in the graph */
    for (int i = 0; i < 300 * COLUMNS; i++)
        put(NY_F64, (void *)(uintptr_t)wide.values, (size_t)i,
            get(NY_F64, wide.values, (size_t)i) + (i % 3) / 8.0 - (i < 7));
    wide.rows = 300;
    ok(ny_neighbors_of(in.ctx, in.store, "g", &wide, &room));
    for (int i = 0; i < 300; i++)
        compare_with_all(&wide, i, numbers + 9 * i, distances + 9 * i, 9, 240);
    ok(ny_neighbors_of(in.ctx, in.store, "g", &table, &room));
    for (int i = 0; i < 240; i++)
        assert_true(numbers[9 * i] == (uint64_t)i && distances[9 * i] == 0);
    room.neighbors = 240;
    wide.rows = 1;
    ok(ny_neighbors_of(in.ctx, in.store, "g", &wide, &room));
    room.neighbors = 241;
    fails(NY_EUSAGE, ny_neighbors_of(in.ctx, in.store, "g", &wide, &room));
    room.neighbors = 0;
    fails(NY_EUSAGE, ny_neighbors_of(in.ctx, in.store, "g", &wide, &room));
    room.neighbors = 2;
    fails(NY_EUSAGE, ny_neighbors_of(in.ctx, in.store, "f", &wide, &room));
    wrong = wide;
    wrong.columns--;
    fails(NY_EDATA, ny_neighbors_of(in.ctx, in.store, "g", &wrong, &room));
    put(NY_F64, (void *)(uintptr_t)wide.values, 3, (double)NAN);
    fails(NY_EDATA, ny_neighbors_of(in.ctx, in.store, "g", &wide, &room));
    assert_null(strstr(ny_context_message(in.ctx), "file")); /* there is none */

    wide = dense(NY_F64, 0); /* has several units and strips */
    room = (struct ny_neighbors_room){.neighbors = 2, .numbers = lend(sizeof(uint64_t) * ROWS * 2)};
    put(NY_F64, (void *)(uintptr_t)wide.values, 2500 * COLUMNS + 4, 1e300);
    fails(NY_ENUMERIC, ny_neighbors_of(in.ctx, in.store, "g", &wide, &room));
}

/* ---- what is around the library ------------------------------------------------------------ */

int openblas_get_num_threads(void);
void openblas_set_num_threads(int threads);

/* Each call that multiplies leaves OpenBLAS the threads that the program gave it, also when it
 * fails. */
TEST(threads_of_openblas_are_given_back)
{
    struct ny_table table = dense(NY_F32, 0);
    float placed[ROWS * 2];
    struct ny_model *model;
    char path[200];

#define KEEPS(call)                                                                                \
    do {                                                                                           \
        (void)(call);                                                                              \
        assert_int_equal(openblas_get_num_threads(), 3);                                           \
    } while (0)
    snprintf(path, sizeof(path), "%s/out.npy", in.folder);
    openblas_set_num_threads(3);
    KEEPS(ny_append(in.ctx, in.store, &table, NULL, NULL));
    KEEPS(ny_plan(in.ctx, in.store, NULL, NULL));
    KEEPS(ny_gamma_grid(in.ctx, in.store, NULL, NULL));
    KEEPS(ny_fit(in.ctx, in.store, "a", NULL, NULL));
    KEEPS(ny_fit(in.ctx, in.store, "a", NULL, NULL)); /* which is done */
    KEEPS(ny_fit(in.ctx, "no.nys", "a", NULL, NULL));
    KEEPS(ny_resume(in.ctx, in.store, "a", NULL));
    KEEPS(ny_graph(in.ctx, in.store, "g", NULL, NULL));
    KEEPS(ny_evaluate(in.ctx, in.store, "a", NULL, NULL));
    KEEPS(ny_model_open(&model, in.ctx, in.store, "a"));
    KEEPS(ny_model_transform(model, table.values, ROWS, placed));
    KEEPS(ny_export(in.ctx, in.store, "a", "embedding", path));
    KEEPS(ny_transform(in.ctx, in.store, "a", path, path, NULL));
    ny_context_set_memory(in.ctx, 1 << 20);
    KEEPS(ny_fit(in.ctx, in.store, "b", NULL, NULL));
    KEEPS(ny_embed_file(in.ctx, path, path, NULL, NULL));
    KEEPS(ny_calibrate(in.ctx, NULL));
    openblas_set_num_threads(1);
    ny_model_free(model);
}

AROUND_EACH(setup, teardown)
