/* io/file_rows.h: the rows of a file by passes, also one that begins behind the first unit, and by
 * their numbers. */
#include "io/file_rows.h"
#include "io/reader.h"
#include "nystream.h"
#include "stream/source.h"
#include "support/files.h"
#include "support/store_folder.h"

/* Row i of the file is (i, −i). */
enum { N = 2 * NY_UNIT_ROWS + 17, D = 2 };

static struct ny_rows *X;

static void start(void)
{
    double values[N][2];

    make_folder();
    snprintf(path, sizeof(path), "%s/c.csv", directory);
    for (int i = 0; i < N; i++)
        values[i][0] = i, values[i][1] = -i;
    write_csv(path, values[0], N, 2);
    assert_int_equal(ny_rows_of_file(&X, ctx, path), NY_OK);
}

static void end(void)
{
    ny_rows_of_file_free(X);
    remove_folder();
}

static float first_of(const float *row)
{
    assert_true(row[1] == -row[0]);
    return row[0];
}

/* Takes the units from one on, as a pass does that goes on there. */
TEST(test_a_pass_begins_at_any_unit)
{
    static float rows[NY_UNIT_ROWS * D];

    for (uint64_t begin = 0; begin < 3; begin++) {
        struct ny_source *source;
        struct ny_tile tile = {.unit = begin};

        assert_int_equal(ny_rows_source(X, N, 0, 1, &source), NY_OK);
        for (; tile.unit < 3; tile.unit++) {
            tile.source = source;
            tile.first_row = tile.unit * NY_UNIT_ROWS;
            assert_int_equal(source->ops->take(source, &tile), NY_OK);
            assert_int_equal(tile.rows, tile.unit < 2 ? NY_UNIT_ROWS : 17);
            assert_int_equal(ny_tile_strip(&tile, 0, tile.rows, rows), NY_OK);
            for (size_t i = 0; i < tile.rows; i++)
                assert_true(first_of(rows + i * D) == (float)(tile.first_row + i));
        }
        assert_int_equal(source->ops->take(source, &tile), NY_END);
        ny_source_free(source);
    }
}

TEST(test_rows_come_by_their_numbers)
{
    const uint64_t wanted[] = {N - 1, 0, 2048, 2047, 0};
    struct ny_rows_info info;
    float rows[5 * D];

    assert_int_equal(X->ops->info(X, &info), NY_OK);
    assert_true(info.n == NY_ROWS_UNKNOWN && info.d == D && info.dtype == NY_F32);
    assert_int_equal(X->ops->gather(X, 0, wanted, 5, rows), NY_OK);
    for (size_t i = 0; i < 5; i++)
        assert_true(first_of(rows + i * D) == (float)wanted[i]);
    assert_int_equal(X->ops->info(X, &info), NY_OK);
    assert_true(info.n == N); /* all of it was read */
}

AROUND_EACH(start, end)
