/* Results whose records say that they were interrupted, with checkpoints that no job has written:
 * they are refused, or gone on with to whatever end, and nothing is read that is not there. */
#include "base/memory.h"
#include "graph/components.h"
#include "graph/lobpcg.h"
#include "spectral/restarted.h"
#include "support/hostile_parts.h"
#include "support/options.h"

enum { IMAGE_MAX = 4 << 20 };

/* ---- jobs ----------------------------------------------------------------------------------- */

/* A result that is done becomes one that was interrupted. */
struct forgery {
    const char *stage, *part;
    size_t bytes, missing; /* of them, in the store */
    int fill;
    uint64_t units;
    json_t *more;    /* of the checkpoint */
    double begin[2]; /* the first numbers of the image, where one is not 0 */
};

static void forge(struct ny_store *store, const json_t *done, const struct forgery *forgery)
{
    OWNED(json_t) *record = json_deep_copy(done);
    json_t *checkpoint = json_object_get(record, "checkpoint");
    char part[40], *image = malloc(IMAGE_MAX);

    assert_non_null(image);
    memset(image, forgery->fill, IMAGE_MAX);
    if (forgery->begin[0] != 0 || forgery->begin[1] != 0)
        memcpy(image, forgery->begin, sizeof(forgery->begin));
    ny_field_set_text(record, "stage", forgery->stage);
    json_object_clear(checkpoint);
    ny_field_set_text(checkpoint, "part", forgery->part);
    ny_field_set_count(checkpoint, "slot", 0);
    ny_field_set_count(checkpoint, "bytes", forgery->bytes);
    ny_field_set_count(checkpoint, "units", forgery->units);
    if (forgery->more) json_object_update(checkpoint, forgery->more);
    snprintf(part, sizeof(part), "%s.0", forgery->part);
    assert_int_equal(ny_blob_put(store, "r", part, image, forgery->bytes - forgery->missing), NY_OK);
    assert_int_equal(ny_record_save(store, "r", record), NY_OK);
    free(image);
}

/* ---- images --------------------------------------------------------------------------------- */

struct kind {
    const char *options, *stage, *part;
    size_t bytes;   /* of an honest image */
    uint64_t units; /* of an honest image, at most */
    const char *lost; /* a part that the stage reads, which is gone when all is done */
    size_t lost_bytes;
    const char *more; /* of the checkpoint */
};

static int resume(const json_t *done, const struct kind *kind, struct forgery forgery)
{
    struct ny_store *store;
    int err;

    forgery.stage = kind->stage;
    forgery.part = kind->part;
    if (kind->lost) put(kind->lost, lend_zeros(kind->lost_bytes), kind->lost_bytes);
    assert_int_equal(ny_store_create(&store, in.ctx, in.store), NY_OK);
    if (kind->more) assert_non_null(forgery.more = json_loads(kind->more, 0, NULL));
    forge(store, done, &forgery);
    json_decref(forgery.more);
    ny_store_close(store);
    err = run(kind->options);
    assert_int_equal(ny_memory_used(in.ctx), 0);
    return err;
}

static bool is_refused(int err)
{
    return err == NY_ESTORE && strstr(ny_context_message(in.ctx), "'r' in ") &&
           strstr(ny_context_message(in.ctx), "--restart");
}

static void check_sizes(const struct kind *kind, const json_t *done)
{
    const size_t bytes[] = {0, 8, kind->bytes - 8, kind->bytes + 8, kind->bytes * 2};
    const uint64_t units[] = {kind->units + 1, 1ULL << 40, INT64_MAX};
    struct forgery forgery = {.fill = 0xff};

    for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
        forgery.bytes = bytes[i];
        if (!is_refused(resume(done, kind, forgery)))
            fail_msg("%s, %zu bytes: %s", kind->part, bytes[i], ny_context_message(in.ctx));
    }
    forgery.bytes = kind->bytes;
    for (size_t i = 0; kind->units && i < sizeof(units) / sizeof(units[0]); i++) {
        forgery.units = units[i];
        if (!is_refused(resume(done, kind, forgery)))
            fail_msg("%s, %llu units: %s", kind->part, (unsigned long long)units[i],
                     ny_context_message(in.ctx));
    }
    forgery.units = 0;
    forgery.missing = 8;
    assert_int_equal(resume(done, kind, forgery), NY_ESTORE);
}

/* Jobs resumed from images of the right size come to some end, whatever the images hold. */
static void check_contents(const struct kind *kind, json_t *done)
{
    static const int fills[] = {0, 1, 0x7f, 0xff};

    for (size_t i = 0; i < sizeof(fills) / sizeof(fills[0]); i++)
        for (uint64_t units = 0; units <= kind->units; units++) {
            struct forgery forgery = {.bytes = kind->bytes, .fill = fills[i], .units = units};
            int err = resume(done, kind, forgery);

            if (fills[i] == 0 && is_refused(err))
                fail_msg("%s: %s", kind->part, ny_context_message(in.ctx));
            if (err == NY_OK || err == NY_ESTORE) continue;
            json_decref(done); /* what fails by its numbers is removed */
            done = make(kind->options);
        }
    json_decref(done);
}

static void check(const struct kind *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        json_t *done = make(kinds[i].options);

        check_sizes(&kinds[i], done);
        check_contents(&kinds[i], done);
    }
}

#define FIT "landmarks=20 components=2 "
#define GRAPH "neighbors=8 knn=exact connect=yes "
enum {
    M = 20,
    P = 2,
    SUMS_BYTES = 8 + (2 + M) * 8,
    GRAM_BYTES = SUMS_BYTES + M * (M + 1) / 2 * 8,
    KRYLOV_BYTES = (4 + M + 2 * M * 16 / 2 + 2 * M * M) * 8, /* of blocks of 16 */
    UNCHECKED_BYTES = ROWS * 2 * (M + 1) * 8, /* versions without check rows left these */
    PATHS_BYTES = M * (M + 1000) * 4,
    LISTS_BYTES = ROWS * (4 + (8 + 2 + 4) * 8)
};

TEST(images_of_another_shape_are_refused)
{
    const struct kind kinds[] = {
        {.options = FIT "approx=projected", .stage = "accumulate", .part = "gram",
         .bytes = GRAM_BYTES, .units = 1},
        {.options = FIT "approx=projected", .stage = "solve", .part = "gram",
         .bytes = GRAM_BYTES, .units = 1},
        {.options = FIT "approx=projected map=laplacian", .stage = "degrees", .part = "sums",
         .bytes = SUMS_BYTES, .units = 1},
        {.options = FIT "inner=randomized oversample=5", .stage = "accumulate",
         .part = "krylov", .bytes = KRYLOV_BYTES, .units = 4},
        {.options = FIT "inner=randomized oversample=5", .stage = "solve", .part = "krylov",
         .bytes = KRYLOV_BYTES, .units = 4},
        {.options = FIT "approx=gaussian", .stage = "accumulate", .part = "products",
         .bytes = UNCHECKED_BYTES, .units = 2},
        {.options = FIT "approx=gaussian", .stage = "solve", .part = "products",
         .bytes = UNCHECKED_BYTES, .units = 2},
        {.options = FIT "approx=gaussian", .stage = "solve", .part = "products",
         .bytes = UNCHECKED_BYTES + ROWS * 2 * 64 * 8, .units = 2},
        {.options = FIT "map=svd probe=10", .stage = "probe", .part = "probe",
         .bytes = 2 * 10 * 8, .units = 1},
        {.options = FIT GRAPH "map=isomap approx=nystrom", .stage = "accumulate", .part = "sweep",
         .bytes = PATHS_BYTES, .units = M, .lost = "sources", .lost_bytes = M * 4},
        {.options = FIT GRAPH "map=isomap approx=nystrom", .stage = "project", .part = "sums",
         .bytes = ROWS * P * 8, .units = M, .lost = "sources", .lost_bytes = M * 4},
        {.options = GRAPH "map=eigenmaps components=2", .stage = "solve", .part = "eigenpairs",
         .bytes = ny_lobpcg_state_bytes(ROWS, P + 1)},
        {.options = GRAPH "map=eigenmaps components=2", .stage = "project", .part = "eigenpairs",
         .bytes = ROWS * (P + 1) * 8},
        {.options = "graph " GRAPH, .stage = "neighbors", .part = "lists", .bytes = LISTS_BYTES,
         .more = "{\"first_row\": 0, \"range_rows\": 600}"},
    };

    check(kinds, sizeof(kinds) / sizeof(kinds[0]));
}

/* Images of a graph's map from an older version have the nodes in another order. */
TEST(images_of_another_order_of_nodes_are_refused)
{
    static const char isomap[] = FIT GRAPH "map=isomap approx=nystrom";
    static const struct kind kinds[] = {
        {.options = isomap, .stage = "accumulate", .part = "geodesics", .bytes = PATHS_BYTES,
         .lost = "sources", .lost_bytes = M * 4},
        {.options = isomap, .stage = "project", .part = "columns", .bytes = ROWS * P * 8,
         .lost = "sources", .lost_bytes = M * 4},
        {.options = GRAPH "map=eigenmaps components=2", .stage = "project", .part = "eigenpairs",
         .bytes = ROWS * (P + 1) * 8},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        for (int order = -1; order < 100; order += 100) {
            struct forgery forgery = {.bytes = kinds[i].bytes};
            OWNED(json_t) *done = make(kinds[i].options);
            int err;

            json_object_del(done, "node_order");
            if (order >= 0) ny_field_set_count(done, "node_order", (uint64_t)order);
            err = resume(done, &kinds[i], forgery);
            if (err != NY_ESTORE || !strstr(ny_context_message(in.ctx), "--restart"))
                fail_msg("%s: %d %s", kinds[i].part, err, ny_context_message(in.ctx));
        }
}

/* Paths that stage sweep has kept, to fewer nodes than the graph has. */
TEST(paths_that_end_early_are_refused)
{
    enum { PATHS = ROWS * 16 * 4 }; /* a batch */
    static const struct kind kind = {
        .options = "landmarks=10 components=2 " GRAPH "map=isomap approx=column",
        .stage = "project", .part = "sums", .lost = "sources", .lost_bytes = 10 * 4};

    for (size_t missing = 0; missing <= 64; missing += 64) {
        OWNED(json_t) *done = make(kind.options);
        int err;

        put("paths", lend_zeros(PATHS), PATHS - missing);
        err = resume(done, &kind, (struct forgery){.bytes = ROWS * P * 8});
        if (missing ? !is_refused(err) : err)
            fail_msg("%zu bytes less: %d %s", missing, err, ny_context_message(in.ctx));
    }
}

/* Ranges of a graph's rows that are none. */
TEST(ranges_beyond_the_rows_are_refused)
{
    static const char *const checkpoints[] = {
        "{\"first_row\": 600}",
        "{\"first_row\": 1}",
        "{\"first_row\": 1099511627776}",
        "{\"first_row\": 0, \"range_rows\": 601}",
        "{\"first_row\": 0, \"range_rows\": 9223372036854775807}",
        "{\"first_row\": 0, \"range_rows\": 600, \"measured\": 601}",
        "{\"first_row\": 0, \"range_rows\": 600, \"measured\": 9223372036854775807}"};
    struct kind kind = {.options = "graph " GRAPH, .stage = "neighbors", .part = "none"};
    OWNED(json_t) *done = make(kind.options);

    for (size_t i = 0; i < sizeof(checkpoints) / sizeof(checkpoints[0]); i++) {
        kind.more = checkpoints[i];
        if (!is_refused(resume(done, &kind, (struct forgery){.bytes = 8})))
            fail_msg("%s: %s", kind.more, ny_context_message(in.ctx));
    }
}

/* A round of bridges that came to its end with pairs of which nobody saved an end. */
TEST(pairs_without_a_row_are_no_bridges)
{
    static const char graph[] = "graph neighbors=3 knn=exact connect=yes";
    static const struct ny_bridge pairs[] = {
        {1, NY_NO_ROW, NY_NO_ROW}, {1, NY_NO_ROW, 0}, {1, 0, NY_NO_ROW}};

    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        OWNED(json_t) *done = make(graph), *more = json_pack("{s:i}", "bridges", 0);
        size_t rooms = 2 * (ny_field_count(json_object_get(done, "report"), "bridges", 0) + 1);
        struct forgery forgery = {.stage = "graph", .part = "joins", .units = ROWS, .more = more,
                                  .bytes = rooms * sizeof(*pairs)};
        struct ny_bridge *image = lend(rooms * sizeof(*image));
        struct ny_store *store;

        assert_true(rooms > 2);
        for (size_t k = 0; k < rooms; k++)
            image[k] = pairs[i];
        assert_int_equal(ny_store_create(&store, in.ctx, in.store), NY_OK);
        forge(store, done, &forgery);
        assert_int_equal(ny_blob_put(store, "r", "joins.0", image, forgery.bytes), NY_OK);
        ny_store_close(store);
        is(run(graph), NY_ENUMERIC);
    }
}

/* ---- selections ----------------------------------------------------------------------------- */

TEST(selections_that_cannot_be_under_way_are_refused)
{
    enum { ROOM = 1 << 20 };
    static const struct {
        const char *options;
        size_t at[2]; /* numbers of the head, 8 bytes each, and what they become */
        uint64_t to[2];
    } cases[] = {
        {FIT "select=weighted kernel=linear", {4, 4}, {1ULL << 40, 1ULL << 40}}, /* units */
        {FIT "select=greedy", {2, 2}, {1ULL << 40, 1ULL << 40}},                 /* units */
        {FIT "select=greedy", {3, 3}, {1, 1}},                                   /* rows */
        {FIT "select=greedy", {11, 11}, {UINT64_MAX, UINT64_MAX}}, /* tolerance: NaN */
        {FIT "select=greedy", {11, 16}, {0, 0}},                   /* 0, and grows */
        {FIT "select=greedy", {15, 15}, {1ULL << 40, 1ULL << 40}}, /* landmarks */
        {FIT "select=greedy", {16, 16}, {77, 77}},                 /* step */
        {FIT "select=rpcholesky", {3, 3}, {1ULL << 40, 1ULL << 40}}, /* units */
        {FIT "select=rpcholesky", {6, 21}, {1, 1ULL << 40}},         /* a row of the window */
        /* how many runs, and passes, there were: no more than that, and counted at once */
        {FIT "select=greedy", {18, 18}, {1ULL << 31, 1ULL << 31}},
        {FIT "select=rpcholesky", {12, 12}, {1ULL << 31, 1ULL << 31}},
    };
    const size_t refused = sizeof(cases) / sizeof(cases[0]) - 2;
    uint64_t *image = lend(ROOM);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct ny_chunk chunk = {.data = image, .capacity = ROOM};
        struct forgery forgery = {.stage = "select", .part = "select"};
        struct ny_store *store;
        OWNED(json_t) *done = NULL;

        ny_context_set_checkpoint(in.ctx, 0);
        done = make(cases[i].options);
        ny_context_set_checkpoint(in.ctx, 20);
        assert_int_equal(ny_store_create(&store, in.ctx, in.store), NY_OK);
        if (ny_chunk_get(store, "r", "select.0", 0, &chunk)) fail_msg("no image %zu", i);
        forgery.bytes = chunk.bytes;
        for (int honest = 1; honest >= 0; honest--) {
            for (int k = 0; k < 2 && !honest; k++)
                image[cases[i].at[k]] = cases[i].to[k];
            forge(store, done, &forgery);
            assert_int_equal(ny_blob_put(store, "r", "select.0", image, chunk.bytes), NY_OK);
            ny_store_close(store);
            if (run(cases[i].options) != (honest || i >= refused ? NY_OK : NY_ESTORE))
                fail_msg("%zu, %d: %s", i, honest, ny_context_message(in.ctx));
            assert_int_equal(ny_memory_used(in.ctx), 0);
            assert_int_equal(ny_store_create(&store, in.ctx, in.store), NY_OK);
        }
        ny_store_close(store);
    }
}

/* ---- records -------------------------------------------------------------------------------- */

TEST(stages_that_a_job_has_not_are_refused)
{
    static const char *const cases[][2] = {
        {FIT, "neighbors"}, {FIT, "graph"}, {FIT, "probe"}, {FIT, "unheard of"},
        {"graph " GRAPH, "select"}, {"graph " GRAPH, "solve"}, {"graph " GRAPH, "unheard of"}};

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OWNED(json_t) *record = make(cases[i][0]);

        ny_field_set_text(record, "stage", cases[i][1]);
        save(record);
        if (run(cases[i][0]) != NY_ESTORE)
            fail_msg("%s, %s: %s", cases[i][0], cases[i][1], ny_context_message(in.ctx));
    }
}

TEST(counts_that_cannot_be_are_refused)
{
    static const char isomap[] = GRAPH "map=isomap landmarks=20 components=2 approx=nystrom";
    static const char graph[] = "graph " GRAPH;
    static const struct {
        const char *options, *stage, *object, *key;
        json_int_t value;
    } cases[] = {
        {FIT, "stats", NULL, "n", 0},
        {FIT, "solve", NULL, "landmarks", 0},
        {isomap, "solve", NULL, "landmarks", 0},
        {isomap, "solve", NULL, "landmarks", 601},
        {isomap, "project", NULL, "components", 0},
        {isomap, "project", NULL, "components", 1LL << 61},
        {isomap, "solve", "graph", "bridges", 601},
        {graph, "neighbors", NULL, "n", 0},
        {graph, "neighbors", NULL, "n", 601},
        {graph, "done", NULL, "neighbors", 0},
        {graph, "done", NULL, "neighbors", 11},
        {graph, "done", NULL, "neighbors", 1LL << 40},
        {graph, "done", NULL, "neighbors_stored", 0},
        {graph, "done", NULL, "neighbors_stored", 1LL << 62},
    };
    char *out = lend_text("%s/out.npy", in.folder);

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OWNED(json_t) *record = make(cases[i].options);
        json_t *report = json_object_get(record, "report");
        int err;

        ny_field_set_text(record, "stage", cases[i].stage);
        ny_field_set_json(cases[i].object ? json_object_get(report, cases[i].object) : report,
                          cases[i].key, json_integer(cases[i].value));
        save(record);
        err = strcmp(cases[i].stage, "done") == 0
                  ? ny_export(in.ctx, in.store, "r", "neighbors", out)
                  : run(cases[i].options);
        if (err != NY_ESTORE)
            fail_msg("%s %lld: %d %s", cases[i].key, (long long)cases[i].value, err,
                     ny_context_message(in.ctx));
    }
}

TEST(a_result_whose_map_has_no_name_is_evaluated)
{
    OWNED(json_t) *record = make(FIT);

    ny_field_set_text(json_object_get(record, "report"), "map", NULL);
    save(record);
    assert_int_equal(ny_evaluate(in.ctx, in.store, "r", NULL, NULL), NY_OK);
}

/* An embedding has a row for each of its eigenvectors at least. */
TEST(a_result_of_fewer_rows_than_vectors_is_refused)
{
    OWNED(json_t) *record = make(FIT);

    ny_field_set_count(json_object_get(record, "report"), "n", 1);
    save(record);
    assert_int_equal(ny_evaluate(in.ctx, in.store, "r", NULL, NULL), NY_ESTORE);
}

/* Exact products by features: the state of the iteration, and what it leaves, whose first numbers
 * are its steps and the pairs that are found. */
TEST(images_of_exact_products_are_refused)
{
    enum { PAIRS = 2, WIDE = 16, TOTALS = 6 };
    const struct ny_restarted_shape shape = ny_restarted_shape(COLUMNS, PAIRS, 10);
    const char *options = "approx=exact kernel=linear map=svd components=2 max-passes=3";
    const size_t iteration = ny_restarted_state_bytes(&shape) + (WIDE + TOTALS) * sizeof(double);
    const struct kind kinds[] = {{.options = options,
                                  .stage = "accumulate",
                                  .part = "features",
                                  .bytes = iteration,
                                  .units = (3 + 1) * (1 + 1)},
                                 {.options = options,
                                  .stage = "solve",
                                  .part = "features",
                                  .bytes = (2 + TOTALS + (2 + COLUMNS) * PAIRS) * sizeof(double)}};
    const double found[][2] = {{1, PAIRS + 1}, {1, 1e300},  {1, -1},     {1, NAN},
                               {-1, PAIRS},    {0x1p31, 1}, {NAN, PAIRS}};
    OWNED(json_t) *done = NULL;

    check(kinds, sizeof(kinds) / sizeof(kinds[0]));
    done = make(options);
    for (size_t i = 0; i < sizeof(found) / sizeof(found[0]); i++) {
        struct forgery forgery = {.bytes = kinds[1].bytes, .begin = {found[i][0], found[i][1]}};

        if (!is_refused(resume(done, &kinds[1], forgery)))
            fail_msg("%g steps, %g pairs: %s", found[i][0], found[i][1],
                     ny_context_message(in.ctx));
    }
}

/* Products by features of more rows, which are there from here on: their images, and those that
 * versions have left which multiplied by tiles. */
TEST(images_of_products_by_features)
{
    enum { ALL = 5 * ROWS, WIDTH = (M + 15) / 16 * 16, TILES_BYTES = ALL * 2 * M * 8 };
    const struct kind kinds[] = {
        {.options = "approx=gaussian kernel=linear map=svd landmarks=20 components=2",
         .stage = "accumulate",
         .part = "products",
         .bytes = TILES_BYTES + (COLUMNS + 1) * WIDTH * 8,
         .units = 2 * (2 + 1)}};
    struct forgery forgery = {.bytes = TILES_BYTES, .units = 1};
    float rows[ROWS * COLUMNS] = {0};
    const struct ny_table table = dense_table(NY_F32, ROWS, COLUMNS, rows);
    struct ny_options *options;
    OWNED(json_t) *done = NULL;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        rows[i] = (float)cos((double)i);
    options = options_with(in.ctx, "append=yes");
    for (int i = 1; i < ALL / ROWS; i++)
        if (ny_append(in.ctx, in.store, &table, options, NULL))
            fail_msg("%s", ny_context_message(in.ctx));
    ny_options_free(options);
    check(kinds, 1);
    done = make(kinds[0].options);
    assert_int_equal(resume(done, &kinds[0], forgery), NY_ESTORE);
}

AROUND_ALL(start, api_case_end)
