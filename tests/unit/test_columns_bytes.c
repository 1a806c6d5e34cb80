/* The integer path: squared distances of bytes are the exact integers, and f32 agrees with them. */
#include "columns/columns_private.h"
#include "columns/kernels.h"
#include "unit/columns_case.h"

/* Base quantity of `rows` rows from `first_row` on against landmarks first … first+cols−1. */
static float *base_of(const struct ny_columns *columns, const struct data *data, size_t rows,
                      size_t first, size_t cols)
{
    struct data_source source = data_source(data);
    struct ny_tile tile = {.source = &source.source, .rows = data->rows};
    float *K = room(NY_STRIP_ROWS * cols, sizeof(float));
    struct ny_layout l = {.ctx = ctx};
    struct ny_strip strip;

    CHECK(ny_columns_strip(columns, workspace_of(&l, columns), &tile, 0, rows, &strip));
    ny_strip_base(columns, &strip, first, ny_matrix32(K, NY_STRIP_ROWS, cols));
    ny_layout_free(&l);
    return K;
}

static uint64_t square_of(const uint8_t *x, const uint8_t *y, size_t d)
{
    uint64_t sum = 0;

    for (size_t k = 0; k < d; k++)
        sum += (uint64_t)((x[k] - y[k]) * (x[k] - y[k]));
    return sum;
}

/* Bytes: random, or only 0 and 255. */
static struct data bytes_of(size_t rows, size_t d, bool extreme)
{
    struct data data = data_random(NY_U8, rows, d, 5 + d);

    for (size_t i = 0; extreme && i < rows * d; i++)
        data_set(&data, i, data.values[i] < 128 ? 0 : 255);
    return data;
}

static void check_integers(size_t rows, size_t d, bool extreme)
{
    static const size_t runs[][2] = {{0, 75}, {31, 34}, {40, 3}, {74, 1}};
    struct data data = bytes_of(rows, d, extreme);
    struct geometry g = geometry_of(&data, true, 1);
    struct ny_columns_spec spec = spec_of("rbf", 0.001, &data, &g);
    struct ny_columns *columns = columns_of(&spec, &data, 75);

    assert_int_equal(columns->preparation.way, NY_WAY_BYTES);
    for (size_t run = 0; run < 4; run++) {
        size_t first = runs[run][0], cols = runs[run][1];
        float *K = base_of(columns, &data, rows, first, cols);

        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++)
                assert_true(K[i * cols + j] ==
                            (float)square_of(data_row(&data, i), data_row(&data, first + j), d));
    }
    ny_columns_free(columns);
}

/* Every family that this CPU runs, and what products of bytes it has besides (NY_CPU_COUNT). */
static bool force(int family)
{
    return ny_vector_force((enum ny_cpu)family);
}

/* Counts how often a watch is told of each value, and those that are other ones. */
struct told {
    const struct data *data;
    size_t rows, landmarks, wrong;
    int *times; /* rows × landmarks */
};

static void take(void *arg, size_t row, size_t landmark, float value)
{
    struct told *told = arg;
    size_t d = told->data->d;

    if (row >= told->rows || landmark >= told->landmarks) {
        told->wrong++;
        return;
    }
    told->times[row * told->landmarks + landmark]++;
    told->wrong +=
        value != (float)square_of(data_row(told->data, row), data_row(told->data, landmark), d);
}

/* Rows that fill no group of the kernel, and landmarks that fill no panel of it: all of them, or
 * some rows and a range. */
TEST(a_watch_is_told_of_its_rows_alone)
{
    enum { ROWS = 16, LANDMARKS = 75, D = 20 };
    static const uint32_t some[] = {1, 4, 5, 6, 13};
    const struct ny_columns_watch watches[] = {
        {.first = 0, .end = LANDMARKS},
        {.first = 33, .end = 70, .row = some, .rows = 5},
        {.first = 40, .end = 41, .row = some, .rows = 5},
        {.first = 5, .end = 5, .row = some, .rows = 5},
        {.first = 5, .end = LANDMARKS, .row = some, .rows = 0},
    };
    struct data data = bytes_of(LANDMARKS, D, false);
    struct geometry g = geometry_of(&data, true, 1);
    struct ny_columns_spec spec = spec_of("rbf", 1, &data, &g);
    float bound[ROWS], *tile = room((size_t)ROWS * NY_WATCH_COLS, sizeof(float));
    struct ny_layout l = {.ctx = ctx};

    spec.kernel = &ny_kernel_euclidean;
    for (size_t i = 0; i < ROWS; i++)
        bound[i] = INFINITY;
    for (int family = NY_CPU_PLAIN; family <= NY_CPU_COUNT; family++) {
        struct ny_columns *columns;
        struct ny_strip strip;

        if (!force(family)) continue;
        columns = columns_of(&spec, &data, LANDMARKS);
        strip = ny_columns_own_strip(columns, workspace_of(&l, columns), 0, ROWS);
        for (size_t w = 0; w < sizeof(watches) / sizeof(*watches); w++) {
            struct told told = {&data, ROWS, LANDMARKS, 0,
                                room((size_t)ROWS * LANDMARKS, sizeof(int))};
            struct ny_columns_watch watch = watches[w];

            watch.bound = bound;
            watch.take = take;
            watch.arg = &told;
            watch.room = tile;
            memset(told.times, 0, sizeof(int) * ROWS * LANDMARKS);
            ny_columns_below(columns, &strip, &watch);
            assert_int_equal(told.wrong, 0);
            for (size_t i = 0; i < (size_t)ROWS * LANDMARKS; i++) {
                size_t row = i / LANDMARKS, landmark = i % LANDMARKS;
                bool waits = !watch.row;

                for (size_t k = 0; k < watch.rows; k++)
                    waits = waits || watch.row[k] == row;
                waits = waits && landmark >= watch.first && landmark < watch.end;
                assert_int_equal(told.times[i], waits);
            }
        }
        ny_layout_free(&l);
        ny_columns_free(columns);
    }
}

TEST(distances_are_the_integers)
{
    for (int family = NY_CPU_PLAIN; family <= NY_CPU_COUNT; family++) {
        if (!force(family)) continue;
        for (size_t d = 9; d <= 13; d++)
            check_integers(97, d, false);
        check_integers(100, 784, false);
        check_integers(75, 63, true);
        check_integers(512, 65, true);
    }
}

/* The rows are as far apart as they can be: d² is next to 2³¹. */
TEST(the_largest_distance_does_not_wrap)
{
    enum { D = 33000 };
    struct data data;
    struct geometry g;
    struct ny_columns_spec spec;
    struct ny_columns *columns;
    float *K;

    data = data_empty(NY_U8, 2, D);
    for (size_t k = 0; k < D; k++)
        data_set(&data, D + k, 255);
    g = geometry_of(&data, true, 1);
    spec = spec_of("rbf", 1e-9, &data, &g);
    for (int family = NY_CPU_PLAIN; family <= NY_CPU_COUNT; family++) {
        if (!force(family)) continue;
        columns = columns_of(&spec, &data, 2);
        assert_int_equal(columns->preparation.way, NY_WAY_BYTES);
        K = base_of(columns, &data, 2, 0, 2);
        assert_true(K[0] == 0 && K[3] == 0);
        assert_true(K[1] == 33000.0f * 65025.0f && K[2] == K[1]);
        ny_columns_free(columns);
    }
}

/* Compares the tile of bytes and of the same numbers in f32, by GEMM; scaled bytes take that too.
 */
TEST(floats_agree)
{
    struct tile_result bytes, floats;
    struct ny_columns_spec spec;
    struct ny_columns *columns;
    struct geometry g;
    struct data data = bytes_of(300, 130, false), same = data_empty(NY_F32, 300, 130);

    for (size_t i = 0; i < (size_t)300 * 130; i++)
        data_set(&same, i, data.values[i]);
    g = geometry_of(&data, true, 1);
    spec = spec_of("rbf", plain_gamma("rbf", &data, &g), &data, &g);
    columns = columns_of(&spec, &data, 60);
    assert_int_equal(columns->preparation.way, NY_WAY_BYTES);
    bytes = tile_of(columns, &data, 0, 300);
    ny_columns_free(columns);
    g = geometry_of(&same, true, 1);
    spec = spec_of("rbf", plain_gamma("rbf", &same, &g), &same, &g);
    columns = columns_of(&spec, &same, 60);
    assert_int_equal(columns->preparation.way, NY_WAY_PRODUCT);
    floats = tile_of(columns, &same, 0, 300);
    ny_columns_free(columns);
    for (size_t i = 0; i < 300; i++)
        for (size_t j = 0; j < 60; j++)
            assert_entry((double)bytes.C[i * bytes.stride + j],
                         (double)floats.C[i * floats.stride + j], 2e-6, "bytes and floats");

    g = geometry_of(&data, true, 0.5); /* scaled columns */
    spec = spec_of("rbf", 1, &data, &g);
    assert_int_equal(ny_way_of(&spec), NY_WAY_PRODUCT);
}

AROUND_ALL(start, stop)
