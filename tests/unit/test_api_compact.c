/* Updates leave parts behind that only readers of the result before may still read. A compact copy
 * leaves them out, an update deletes them, and readers that are open are not disturbed. */
#include "base/random.h"
#include "results/record.h"
#include "support/store_folder.h"
#include "support/results.h"

enum { ROWS = 3000, MORE = 100, D = 4, P = 20 };

static float values[(ROWS + 2 * MORE) * D];

static void call(int (*verb)(struct ny_context *context, const char *store, const char *name,
                             const struct ny_options *options, struct ny_report **report),
                 const char *const *options)
{
    OWNED(ny_options) *set = NULL;

    CHECK(ny_options_new(&set, ctx));
    for (int i = 0; options[i]; i += 2)
        CHECK(ny_options_set(set, options[i], options[i + 1]));
    CHECK(verb(ctx, path, "m", set, NULL));
}

#define CALL(verb, ...) call(verb, (const char *const[]){__VA_ARGS__, NULL})

static void append(int from, int rows)
{
    CHECK(ny_append_rows(ctx, path, values + from * D, (uint64_t)rows, D, NULL));
}

static bool has_part(const char *part)
{
    char *data = lend(NY_CHUNK_BYTES);
    struct ny_chunk chunk = {.data = data, .capacity = NY_CHUNK_BYTES};
    struct ny_store *store;
    int err;

    CHECK(ny_store_open(&store, ctx, path));
    err = ny_chunk_get(store, "m", part, 0, &chunk);
    ny_store_close(store);
    assert_true(err == NY_OK || err == NY_END);
    return err == NY_OK;
}

/* A result with clusters. */
static void fill(void)
{
    make_folder();
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
        values[i] = (float)ny_hash01(3, 1, i);
    append(0, ROWS);
    CALL(ny_fit, "landmarks", "40", "components", "20");
    CALL(ny_evaluate, "measures", "clusters", "clusters", "3");
}

TEST(a_compact_copy_leaves_them_out)
{
    static float before[ROWS * P], after[ROWS * P];
    static uint64_t clusters[ROWS];
    OWNED(ny_view) *view = NULL;
    OWNED(ny_report) *report = NULL;
    double was, is;

    CHECK(ny_view_open(&view, ctx, path, "m"));
    CHECK(ny_view_read(view, "embedding", 0, ROWS, before));
    CHECK(ny_view_read(view, "clusters", 0, ROWS, clusters));
    append(ROWS, MORE);
    CALL(ny_fit, "update", "full");
    assert_true(has_part("embedding") && has_part("clusters.0"));
    CHECK(ny_view_read(view, "embedding", 0, ROWS, after));
    assert_memory_equal(after, before, sizeof(before));
    CHECK(ny_compact(ctx, path, &report));
    was = number_of(report, "bytes_before");
    is = number_of(report, "bytes");
    assert_true(is < was - (double)sizeof(before));
    CHECK(ny_view_read(view, "embedding", 0, ROWS, after));
    assert_memory_equal(after, before, sizeof(before));
    assert_int_equal(ny_view_read(view, "clusters", 0, ROWS, clusters), NY_EUSAGE);
    assert_false(has_part("embedding") || has_part("clusters.0"));
    assert_true(has_part("embedding@1"));
    CHECK(ny_verify(ctx, path, NULL));
}

TEST(an_update_deletes_them)
{
    append(ROWS, MORE);
    CALL(ny_fit, "update", "full");
    assert_true(has_part("clusters.0"));
    append(ROWS + MORE, MORE);
    CALL(ny_fit, "update", "frozen");
    assert_false(has_part("embedding") || has_part("clusters.0"));
    CHECK(ny_verify(ctx, path, NULL));
}

/* Clusters that a frozen update carries, and those of now, are needed. */
TEST(clusters_of_the_result_stay)
{
    append(ROWS, MORE);
    CALL(ny_fit, "update", "frozen");
    CHECK(ny_compact(ctx, path, NULL));
    assert_true(has_part("clusters.0") != has_part("clusters.1"));
    append(ROWS + MORE, MORE);
    CALL(ny_fit, "update", "frozen");
    assert_true(has_part("clusters.0") != has_part("clusters.1"));
    CHECK(ny_verify(ctx, path, NULL));
}

AROUND_EACH(fill, remove_folder)
