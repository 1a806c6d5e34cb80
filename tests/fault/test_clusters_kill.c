/* A frozen update carries the clusters of a result to the rows that it adds, in a commit of its
 * own: killed at each sync, also between the two, it leaves what the same call completes. */
#include <unistd.h>

#include "base/random.h"
#include "nystream.h"
#include "results/clusters.h"
#include "support/files.h"
#include "support/killed.h"
#include "support/store_folder.h"
#include "support/test.h"

enum { ROWS = 2000, MORE = 600, D = 3, K = 3 };

static float values[(ROWS + MORE) * D];
static char before[160], now[160], output[160];

static struct ny_options *options_of(struct ny_context *own, const char *name, const char *value)
{
    struct ny_options *options;

    if (ny_options_new(&options, own) || ny_options_set(options, name, value)) return NULL;
    return options;
}

static int update(struct ny_context *own)
{
    OWNED(ny_options) *options = options_of(own, "update", "frozen");
    int err = options ? ny_fit(own, now, "f", options, NULL) : NY_EINTERNAL;

    return err;
}

/* Rows in three heaps, clusters of the first ones, and more rows. */
static void fill(void)
{
    struct ny_options *options;

    make_folder();
    snprintf(before, sizeof(before), "%.120s-before", path);
    snprintf(now, sizeof(now), "%.120s-now", path);
    snprintf(output, sizeof(output), "%.120s.csv", path);
    for (size_t i = 0; i < (ROWS + MORE) * D; i++)
        values[i] = (float)ny_hash01(3, 1, i) + (float)(i / D % K);
    CHECK(ny_append_rows(ctx, before, values, ROWS, D, NULL));
    options = options_of(ctx, "landmarks", "40");
    CHECK(ny_fit(ctx, before, "f", options, NULL));
    ny_options_free(options);
    options = options_of(ctx, "clusters", "3");
    CHECK(ny_options_set(options, "measures", "clusters"));
    CHECK(ny_evaluate(ctx, before, "f", options, NULL));
    ny_options_free(options);
    CHECK(ny_append_rows(ctx, before, values + ROWS * D, MORE, D, NULL));
}

static void clean(void)
{
    case_remove(before);
    case_remove(now);
    remove_folder();
}

/* Returns the rows of the result; *clusters: how many there are of all of them. */
static uint64_t look(size_t *clusters)
{
    OWNED(ny_store) *store = NULL;
    struct ny_result result;
    uint64_t n;

    CHECK(ny_store_open(&store, ctx, now));
    CHECK(ny_result_open(&result, store, "f"));
    n = result.n;
    *clusters = ny_stored_clusters(&result);
    ny_result_close(&result);
    return n;
}

/* Returns the clusters as text; free() it. */
static char *clusters_of(void)
{
    size_t bytes;
    char *text;

    CHECK(ny_export(ctx, now, "f", "clusters", output));
    text = file_content(output, &bytes);
    text[bytes - 1] = 0;
    unlink(output);
    return text;
}

TEST(the_same_call_carries_them)
{
    char *first, *whole, *found;
    long at = 0, between = 0;
    size_t clusters;
    bool killed = true;

    case_copy(before, now);
    first = clusters_of();
    CHECK(update(ctx));
    assert_int_equal(look(&clusters), ROWS + MORE);
    assert_int_equal(clusters, K);
    whole = clusters_of();
    assert_memory_equal(whole, first, strlen(first)); /* those from before keep theirs */
    for (; killed; at++) {
        uint64_t n;

        case_remove(now);
        case_copy(before, now);
        killed = killed_at_sync(at, update);
        CHECK(ny_verify(ctx, now, NULL));
        n = look(&clusters);
        assert_true(n == ROWS || n == ROWS + MORE);
        assert_true(n == ROWS ? clusters == K : clusters == 0 || clusters == K);
        between += n > ROWS && !clusters;
        CHECK(update(ctx));
        assert_int_equal(look(&clusters), ROWS + MORE);
        assert_int_equal(clusters, K);
        found = clusters_of();
        assert_string_equal(found, whole);
        free(found);
        CHECK(ny_verify(ctx, now, NULL));
    }
    assert_true(between > 0);
    print_message("counted: %ld kills, %ld between the two\n", at - 1, between);
    free(first);
    free(whole);
}

AROUND_ALL(fill, clean)
