/* ny_truncate() killed at each sync: all rows are there, or those that stay, and the same call goes
 * on to the store that there was before the other rows came. */
#include "nystream.h"
#include "store/store.h"
#include "support/killed.h"
#include "support/options.h"
#include "support/store_folder.h"
#include "support/test.h"

enum { ROWS = 3000, KEPT = 2000, D = 300 };

static float values[ROWS * D];
static char full[160], now[160];
static struct ny_points_state before;
static uint64_t bytes_before;

static uint64_t look(const char *where, struct ny_points_state *state)
{
    OWNED(ny_store) *store = NULL;
    struct ny_rows_info info;

    CHECK(ny_store_open(&store, ctx, where));
    CHECK(ny_points_state(store, state));
    CHECK(ny_points_info(store, &info));
    return info.kept_bytes;
}

static void fill(void)
{
    OWNED(ny_options) *options = NULL;

    make_folder();
    snprintf(full, sizeof(full), "%.120s-full", path);
    snprintf(now, sizeof(now), "%.120s-now", path);
    for (int i = 0; i < ROWS * D; i++)
        values[i] = (float)(i % 1013);
    CHECK(ny_append_rows(ctx, full, values, KEPT, D, NULL));
    bytes_before = look(full, &before);
    CHECK(ny_append_rows(ctx, full, values + KEPT * D, ROWS - KEPT, D, NULL));
    options = options_with(ctx, "landmarks=5");
    CHECK(ny_fit(ctx, full, "f", options, NULL));
}

static void clean(void)
{
    case_remove(full);
    case_remove(now);
    remove_folder();
}

static int truncate_now(struct ny_context *own)
{
    return ny_truncate(own, now, KEPT, 1, NULL);
}

TEST(all_rows_or_those_that_stay)
{
    long at = 0, whole = 0, cut = 0;
    bool killed = true;

    for (; killed; at++) {
        struct ny_points_state state;

        case_copy(full, now);
        killed = killed_at_sync(at, truncate_now);
        CHECK(ny_verify(ctx, now, NULL));
        look(now, &state);
        assert_true(state.n == ROWS || state.n == KEPT);
        *(state.n == ROWS ? &whole : &cut) += killed;
        CHECK(ny_truncate(ctx, now, KEPT, 1, NULL));
        CHECK(ny_verify(ctx, now, NULL));
        assert_int_equal(look(now, &state), bytes_before);
        assert_int_equal(state.n, KEPT);
        assert_true(state.digest == before.digest && state.tail_digest == before.tail_digest);
        CHECK(ny_append_rows(ctx, now, values, ROWS - KEPT, D, NULL));
        CHECK(ny_verify(ctx, now, NULL));
        case_remove(now);
    }
    assert_true(whole > 2 && cut > 0);
    print_message("counted: %ld kills\n", at - 1);
}

AROUND_ALL(fill, clean)
