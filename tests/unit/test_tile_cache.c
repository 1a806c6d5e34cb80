/* Tiles in memory: strips come back as they were put, and no others. */
#include "columns/tile_cache.h"

#include "support/context.h"

enum { ROWS = 2 * NY_UNIT_ROWS + 700, M = 7 };

static struct ny_tile tile_at(uint64_t unit)
{
    uint64_t left = ROWS - unit * NY_UNIT_ROWS;

    return (struct ny_tile){.unit = unit,
                            .first_row = unit * NY_UNIT_ROWS,
                            .rows = left < NY_UNIT_ROWS ? (size_t)left : NY_UNIT_ROWS};
}

static float value_at(uint64_t row, size_t j)
{
    return (float)row * 8 + (float)j;
}

/* Puts a strip whose values tell their rows. */
static void put(struct ny_tile_cache *cache, const struct ny_tile *tile, size_t first)
{
    static float C[NY_STRIP_ROWS * M];
    static double diagonal[NY_STRIP_ROWS];

    for (size_t i = 0; i < NY_STRIP_ROWS; i++) {
        diagonal[i] = -(double)(tile->first_row + first + i);
        for (size_t j = 0; j < M; j++)
            C[i * M + j] = value_at(tile->first_row + first + i, j);
    }
    ny_tile_cache_put(cache, tile, first, C, diagonal);
}

/* Gets a strip, and checks its rows and the zeros behind them. */
static bool get(const struct ny_tile_cache *cache, const struct ny_tile *tile, size_t first)
{
    static float C[NY_STRIP_ROWS * M];
    static double diagonal[NY_STRIP_ROWS];

    memset(C, 0xff, sizeof(C));
    if (!ny_tile_cache_get(cache, tile, first, C, diagonal)) return false;
    for (size_t i = 0; i < NY_STRIP_ROWS; i++) {
        uint64_t row = tile->first_row + first + i;
        bool there = first + i < tile->rows;

        assert_true(diagonal[i] == (there ? -(double)row : 0));
        for (size_t j = 0; j < M; j++)
            assert_true(C[i * M + j] == (there ? value_at(row, j) : 0));
    }
    return true;
}

TEST(strips_come_back)
{
    struct ny_tile_cache *cache;

    assert_int_equal(ny_tile_cache_new(&cache, ctx, ROWS, M, sizeof(float)), NY_OK);
    for (uint64_t unit = 3; unit-- > 0;) {
        struct ny_tile tile = tile_at(unit);

        for (size_t first = 0; first < tile.rows; first += NY_STRIP_ROWS) {
            assert_false(ny_tile_cache_whole(cache));
            assert_false(get(cache, &tile, first));
            put(cache, &tile, first);
            assert_true(get(cache, &tile, first));
        }
    }
    assert_true(ny_tile_cache_whole(cache));
    for (uint64_t unit = 0; unit < 3; unit++) {
        struct ny_tile tile = tile_at(unit);

        for (size_t first = 0; first < tile.rows; first += NY_STRIP_ROWS)
            assert_true(get(cache, &tile, first));
    }
    ny_tile_cache_free(cache);
}

/* A tile that ends earlier, as that of a pass over fewer rows does, is computed anew. */
TEST(strips_of_other_rows_are_not_there)
{
    struct ny_tile_cache *cache;
    struct ny_tile tile = tile_at(2), shorter = tile, beyond = tile;

    shorter.rows -= 1;
    beyond.first_row += NY_UNIT_ROWS;
    assert_int_equal(ny_tile_cache_new(&cache, ctx, ROWS, M, sizeof(float)), NY_OK);
    put(cache, &tile, NY_STRIP_ROWS);
    put(cache, &beyond, 0);
    assert_true(get(cache, &tile, NY_STRIP_ROWS));
    assert_false(get(cache, &shorter, NY_STRIP_ROWS));
    assert_false(get(cache, &beyond, 0));
    assert_false(ny_tile_cache_whole(cache));
    assert_false(ny_tile_cache_whole(NULL));
    ny_tile_cache_free(cache);
}

TEST(the_budget_is_charged)
{
    struct ny_tile_cache *cache;
    struct ny_layout counted = {0};
    size_t before = ny_memory_used(ctx);

    ny_tile_cache_count(&counted, ROWS, M, sizeof(float));
    assert_int_equal(ny_tile_cache_new(&cache, ctx, ROWS, M, sizeof(float)), NY_OK);
    assert_int_equal(ny_memory_used(ctx) - before, ny_layout_most(&counted));
    ny_tile_cache_free(cache);
    ny_tile_cache_count(&counted, UINT64_MAX / 2, 1 << 20, 8);
    assert_true(ny_layout_most(&counted) > SIZE_MAX / 100);
}

AROUND_ALL(start, stop)
