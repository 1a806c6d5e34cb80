/* Selections over two shards of a store: every combination of the images that the two have kept, or
 * have not kept yet, is gone on with to the same landmarks. With rpcholesky, a shard whose image is
 * of the pass of the one that leads goes on in the middle of it; with weighted, any shard does; with
 * greedy, all go on with the dictionary of the shard that has come farthest. */

#include "base/memory.h"
#include "columns/columns.h"
#include "columns/kernels.h"
#include "peers/group.h"
#include "select/rules.h"
#include "support/store_case.h"
#include "support/test.h"

enum { D = 4, SHARDS = 2, UNITS = 3, ROWS = UNITS * 2048, M = 20, IMAGES = 40 };

static char directory[128];

/* Places of numbers in an image, which begins with them. */
enum { UNITS_DONE = 3, DRAWN = 5, MEASURING = 9, PASSES = 12 };

struct kept {
    bool all; /* else those of passes, and one of those between them */
    char *image[IMAGES];
    size_t bytes[IMAGES], count, seen;
};

/* A selection of each shard: the images that it begins with, and what it leaves. */
struct selecting {
    const char *rule;
    double tolerance; /* of greedy; NaN: it is searched, */
    size_t landmarks; /* for so many; 0: M */
    size_t m[SHARDS];
    const void *from[SHARDS];
    size_t from_bytes[SHARDS];
    struct kept kept[SHARDS];
    uint64_t rows[SHARDS][M], rows_read[SHARDS];
};

static uint64_t number(const void *image, size_t place)
{
    uint64_t value;

    memcpy(&value, (const char *)image + place * sizeof(value), sizeof(value));
    return value;
}

/* Keeps an image. */
static int keep(void *arg, const void *image, size_t bytes)
{
    struct kept *kept = arg;

    if (kept->all && kept->count == IMAGES) return NY_OK;
    if (!kept->all && !number(image, MEASURING) && kept->seen++ != 2) return NY_OK;
    assert_true(kept->count < IMAGES);
    kept->image[kept->count] = lend(bytes);
    memcpy(kept->image[kept->count], image, bytes);
    kept->bytes[kept->count++] = bytes;
    return NY_OK;
}

static void path_of(unsigned shard, char path[160])
{
    snprintf(path, 160, "%s/%u.nys", directory, shard);
}

static int select_shard(void *arg, struct ny_context *ctx, unsigned shard)
{
    static const double centre[D], factor[D] = {1.0 / 128, 1.0 / 128, 1.0 / 128, 1.0 / 128};
    struct selecting *run = arg;
    struct ny_selection selection = {0};
    struct ny_rows_info points;
    struct ny_geometry *geometry = NULL;
    struct ny_columns_spec spec;
    struct ny_selection_request request;
    struct ny_store *store = NULL;
    bool greedy = strcmp(run->rule, "greedy") == 0;
    char path[160];
    int err;

    path_of(shard, path);
    err = ny_store_open(&store, ctx, path);
    if (!err) err = ny_store_join(store);
    if (!err) err = ny_points_info(store, &points);
    if (!err) err = ny_geometry_copy(&geometry, ctx, centre, factor, D);
    if (err) goto done;
    spec = (struct ny_columns_spec){.ctx = ctx,
                                    .kernel = ny_kernel_find(greedy ? "rbf" : "polynomial"),
                                    .params = {.gamma = greedy ? 6 : 1, .first = 1, .second = 3},
                                    .geometry = geometry,
                                    .dtype = points.dtype};
    request = (struct ny_selection_request){.ctx = ctx,
                                            .X = ny_store_rows(store),
                                            .n = points.n,
                                            .here = points.here,
                                            .spec = &spec,
                                            .seed = 3,
                                            .landmarks = run->landmarks ? run->landmarks : M,
                                            .workers = 1,
                                            .certify = !greedy,
                                            .greedy.dictionary.tolerance = run->tolerance,
                                            .checkpoint = {.save = keep,
                                                           .arg = &run->kept[shard],
                                                           .image = run->from[shard],
                                                           .image_bytes = run->from_bytes[shard]}};
    ny_context_set_checkpoint(ctx, 0);
    err = ny_rule_find(run->rule)->select(&request, &selection);
    if (!err) memcpy(run->rows[shard], selection.rows, selection.m * sizeof(uint64_t));
    run->m[shard] = selection.m;
    for (uint64_t i = 0; !err && selection.residuals && i < points.n; i++)
        assert_true(selection.residuals[i] < INFINITY);
    run->rows_read[shard] = selection.rows_read;
done:
    ny_selection_release(&selection, ctx);
    ny_geometry_free(geometry, ctx);
    ny_store_close(store);
    return err;
}

static void run_selection(struct selecting *run)
{
    const struct ny_group_shape shape = {SHARDS, 0, SHARDS};
    OWNED(ny_context) *ctx = NULL;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    if (ny_group_run(ctx, &shape, NULL, select_shard, run)) fail_msg("%s", ny_context_message(ctx));
}

/* Returns the image at a place; NULL behind the last: none was kept yet. */
static const void *image_at(const struct kept *kept, size_t i)
{
    return i < kept->count ? kept->image[i] : NULL;
}

TEST(shards_go_on_with_the_pass_that_they_were_in)
{
    struct selecting whole = {.rule = "rpcholesky"};
    size_t in_the_middle = 0;

    run_selection(&whole);
    assert_memory_equal(whole.rows[0], whole.rows[1], sizeof(whole.rows[0]));
    assert_true(whole.kept[0].count > UNITS && whole.kept[1].count > UNITS);
    for (size_t i = 0; i <= whole.kept[0].count; i++)
        for (size_t j = 0; j <= whole.kept[1].count; j++) {
            const void *leads = image_at(&whole.kept[0], i), *other = image_at(&whole.kept[1], j);
            uint64_t done = other ? number(other, UNITS_DONE) : 0;
            bool same = leads && other && number(leads, MEASURING) && number(other, MEASURING) &&
                        number(leads, PASSES) == number(other, PASSES) &&
                        number(leads, DRAWN) == number(other, DRAWN);
            struct selecting again = {.rule = "rpcholesky",
                                      .from = {leads, other},
                                      .from_bytes = {leads ? whole.kept[0].bytes[i] : 0,
                                                     other ? whole.kept[1].bytes[j] : 0}};

            run_selection(&again);
            assert_memory_equal(again.rows, whole.rows, sizeof(whole.rows));
            assert_memory_equal(again.rows_read, whole.rows_read, sizeof(whole.rows_read));
            if (same && done && done < UNITS) {
                assert_true(again.kept[1].count > 0);
                assert_int_equal(number(again.kept[1].image[0], UNITS_DONE), done + 1);
                in_the_middle++;
            }
        }
    assert_true(in_the_middle > 2);
}

TEST(a_weighted_selection_goes_on_where_each_shard_was)
{
    struct selecting whole = {.rule = "weighted", .kept = {{.all = true}, {.all = true}}};

    run_selection(&whole);
    assert_memory_equal(whole.rows[0], whole.rows[1], sizeof(whole.rows[0]));
    assert_int_equal(whole.rows_read[0], SHARDS * ROWS);
    assert_int_equal(whole.kept[0].count, UNITS);
    for (size_t i = 0; i <= UNITS; i++)
        for (size_t j = 0; j <= UNITS; j++) {
            struct selecting again = {
                .rule = "weighted",
                .from = {image_at(&whole.kept[0], i), image_at(&whole.kept[1], j)},
                .from_bytes = {i < UNITS ? whole.kept[0].bytes[i] : 0,
                               j < UNITS ? whole.kept[1].bytes[j] : 0},
                .kept = {{.all = true}, {.all = true}}};

            run_selection(&again);
            assert_memory_equal(again.rows, whole.rows, sizeof(whole.rows));
            assert_int_equal(again.kept[0].count, i < UNITS ? UNITS - 1 - i : UNITS);
            assert_int_equal(again.kept[1].count, j < UNITS ? UNITS - 1 - j : UNITS);
        }
}

/* Returns the place of the image that is tried after this one: by steps, and at last none at all. */
static size_t after(size_t place, size_t step, size_t count)
{
    return place < count && place + step > count ? count : place + step;
}

/* Goes on from some of the pairs of images that two shards of a greedy selection have kept. */
static void check_greedy(double tolerance, size_t landmarks, size_t images_least, size_t step)
{
    struct selecting whole = {.rule = "greedy",
                              .tolerance = tolerance,
                              .landmarks = landmarks,
                              .kept = {{.all = true}, {.all = true}}};

    run_selection(&whole);
    assert_in_range(whole.m[0], 2, M);
    assert_memory_equal(whole.rows[0], whole.rows[1], sizeof(whole.rows[0]));
    assert_in_range(whole.kept[0].count, images_least, IMAGES);
    assert_in_range(whole.kept[1].count, images_least, IMAGES);
    for (size_t i = 0; i <= whole.kept[0].count; i = after(i, step, whole.kept[0].count))
        for (size_t j = 0; j <= whole.kept[1].count; j = after(j, step, whole.kept[1].count)) {
            const void *first = image_at(&whole.kept[0], i), *second = image_at(&whole.kept[1], j);
            struct selecting again = {.rule = "greedy",
                                      .tolerance = tolerance,
                                      .landmarks = landmarks,
                                      .from = {first, second},
                                      .from_bytes = {first ? whole.kept[0].bytes[i] : 0,
                                                     second ? whole.kept[1].bytes[j] : 0},
                                      .kept = {{.all = true}, {.all = true}}};

            run_selection(&again);
            assert_int_equal(again.m[0], whole.m[0]);
            assert_int_equal(again.m[1], whole.m[0]);
            assert_memory_equal(again.rows, whole.rows, sizeof(whole.rows));
        }
}

TEST(a_greedy_selection_goes_on_with_the_shard_that_has_come_farthest)
{
    check_greedy(0.03125, 0, UNITS, 1);
    check_greedy(NAN, 19, 2 * UNITS, 3); /* some are in the second shard, */
    check_greedy(NAN, 3, 2 * UNITS, 2);  /* and here one run after the other is too large */
}

static void set_up(void)
{
    OWNED(ny_context) *ctx = NULL;

    case_directory(directory);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    for (unsigned shard = 0; shard < SHARDS; shard++) {
        struct case_import import = {.seed = 5,
                                     .first = shard * ROWS,
                                     .count = ROWS,
                                     .batch = 512,
                                     .spec = {.d = D, .dtype = NY_F32}};
        OWNED(ny_store) *store = NULL;
        char path[160];

        path_of(shard, path);
        assert_int_equal(ny_store_create(&store, ctx, path), NY_OK);
        if (case_import(store, &import)) fail_msg("%s", ny_context_message(ctx));
    }
}

static void tear_down(void)
{
    case_remove(directory);
}

AROUND_ALL(set_up, tear_down)
