/* ny_append_rows() killed at each sync: a call with other labels does not go on with what it left.
 */
#include "nystream.h"
#include "store/store.h"
#include "support/killed.h"
#include "support/store_folder.h"
#include "support/test.h"

enum { ROWS = 300, D = 3 };

static float values[ROWS * D];
static double labels[2][ROWS];

static void fill(void)
{
    for (int i = 0; i < ROWS; i++) {
        for (int j = 0; j < D; j++)
            values[i * D + j] = (float)(i * D + j);
        labels[0][i] = i;
        labels[1][i] = -1 - i;
    }
    make_folder();
}

static int append(struct ny_context *own)
{
    return ny_append_rows(own, path, values, ROWS, D, labels[0]);
}

static uint64_t rows_now(void)
{
    struct ny_rows_info info = {.n = 0};
    struct ny_store *store;

    if (ny_store_open(&store, ctx, path) == NY_OK) {
        CHECK(ny_points_info(store, &info));
        ny_store_close(store);
    }
    ny_error_clear(ctx);
    return info.n;
}

TEST(other_labels_are_another_import)
{
    long at = 0;
    bool killed = true;

    for (; killed; at++) {
        struct ny_store *store;
        double found[ROWS];
        uint64_t before;

        killed = killed_at_sync(at, append);
        before = rows_now();
        assert_true(before == 0 || before == ROWS);
        CHECK(ny_append_rows(ctx, path, values, ROWS, D, labels[1]));
        assert_int_equal(rows_now(), before + ROWS);
        CHECK(ny_store_open(&store, ctx, path));
        CHECK(ny_points_labels(store, before, ROWS, found));
        assert_memory_equal(found, labels[1], sizeof(found));
        ny_store_close(store);
        case_remove(path);
    }
    assert_true(at > 4);
    print_message("counted: %ld kills\n", at - 1);
}

AROUND_ALL(fill, remove_folder)
