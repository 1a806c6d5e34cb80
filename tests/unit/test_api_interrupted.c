/* Jobs are killed at each sync, and what they leave is then asked for in another way: made anew
 * with
 * --restart alone, after rows were appended, updated, or gone on with without its model. */

#include "base/context.h"
#include "base/random.h"
#include "records/fields.h"
#include "support/files.h"
#include "support/killed.h"
#include "support/options.h"
#include "support/results.h"
#include "support/store_folder.h"

enum { ROWS = 400, MORE = 100, D = 4, POINTS = 20 };

static float values[(ROWS + MORE) * D];
static char before[160], now[160], points[160], model[160], by_points[220], output[2][160];
static char said[4096]; /* notes and warnings of this process */

/* The job that is killed: its options are names and values in turn. */
static const char *result = "m", *wanted;
static int (*verb)(struct ny_context *context, const char *store, const char *name,
                   const struct ny_options *options, struct ny_report **report);

static void listen(void *user, int level, const char *text)
{
    size_t used = strlen(said);

    (void)user, (void)level;
    snprintf(said + used, sizeof(said) - used, "%s\n", text);
}

static int job(struct ny_context *own)
{
    OWNED(ny_options) *options = NULL;
    int err = ny_options_new(&options, own);

    if (!err) err = options_set(options, wanted);
    if (!err) err = verb(own, now, result, options, NULL);
    return err;
}

/* Calls with these options, in this process. */
static int call(const char *options)
{
    said[0] = 0;
    wanted = options;
    return job(ctx);
}

/* Copies the store of before, and kills the job with these options at a sync; false: it ended. */
static bool killed_at(long at, const char *options)
{
    case_remove(now);
    case_copy(before, now);
    wanted = options;
    return killed_at_sync(at, job);
}

/* Returns the stage of the result; NULL: there is none. */
static const char *stage_of(const char *name)
{
    static char stage[32];
    OWNED(ny_report) *report = NULL;
    const char *text = NULL;

    if (ny_result_report(ctx, now, name, &report) == NY_OK) text = ny_report_text(report, "stage");
    if (text) snprintf(stage, sizeof(stage), "%s", text);
    ny_error_clear(ctx);
    return text ? stage : NULL;
}

static void write_points(void)
{
    double given[POINTS * D];

    for (int i = 0; i < POINTS * D; i++)
        given[i] = values[i] + 0.25;
    write_csv(points, given, POINTS, D);
}

static void append_more(void)
{
    CHECK(ny_append_rows(ctx, now, values + ROWS * D, MORE, D, NULL));
}

/* Compares a part of result m with that which the same options give under another name. */
static void same_as_unbroken(const char *options, const char *part)
{
    OWNED(ny_options) *set = options_with(ctx, "%s", options);

    CHECK(verb(ctx, now, "straight", set, NULL));
    CHECK(ny_export(ctx, now, "m", part, output[0]));
    CHECK(ny_export(ctx, now, "straight", part, output[1]));
    same_files(output[0], output[1], part);
}

static void fill(void)
{
    make_folder();
    snprintf(before, sizeof(before), "%.120s-before", path);
    snprintf(now, sizeof(now), "%.120s-now", path);
    snprintf(points, sizeof(points), "%.120s-points.csv", path);
    snprintf(by_points, sizeof(by_points), "landmarks-points=%s gamma=0.5 components=3", points);
    snprintf(model, sizeof(model), "%.120s.nym", path);
    for (int i = 0; i < 2; i++)
        snprintf(output[i], sizeof(output[i]), "%.120s-%d.npy", path, i);
    for (size_t i = 0; i < (ROWS + MORE) * D; i++)
        values[i] = (float)(ny_hash01(3, 1, i) * (i < ROWS * D ? 1 : 1 + 9 * (double)(i % D)));
    ny_context_set_log(ctx, listen, NULL);
}

static void clean(void)
{
    case_remove(before);
    case_remove(now);
    remove_folder();
}

/* A store of `rows` rows, without results. */
static void fresh(void)
{
    verb = ny_fit;
    case_remove(before);
    CHECK(ny_append_rows(ctx, before, values, ROWS, D, NULL));
    write_points();
}

/* ---- --restart alone ------------------------------------------------------------------------ */

/* Makes the result that is made again: what was asked for, in `before`. */
static void make_before(const char *options)
{
    case_remove(now);
    case_copy(before, now);
    CHECK(call(options));
    case_remove(before);
    case_copy(now, before);
}

TEST(points_are_kept_by_a_result_made_again)
{
    const char *options = by_points;

    make_before(options);
    CHECK(ny_export(ctx, now, "m", "embedding", output[0]));
    unlink(points);
    CHECK(call("restart=yes"));
    CHECK(ny_export(ctx, now, "m", "embedding", output[1]));
    same_files(output[0], output[1], "embedding");
    CHECK(call("restart=yes")); /* and by this one */
}

TEST(points_are_kept_by_a_job_made_again)
{
    const char *options = by_points;
    long at = 0, kept = 0;

    for (; killed_at(at, options); at++) {
        const char *stage = stage_of("m");

        if (!stage || strcmp(stage, "accumulate") != 0) continue;
        kept++;
        unlink(points);
        CHECK(call("restart=yes"));
        write_points();
        same_as_unbroken(options, "embedding");
    }
    assert_true(kept > 0);
}

TEST(its_options_outlive_a_kill)
{
    const char *options = "landmarks=30 seed=3 components=3 scale=standard";

    make_before(options);
    CHECK(ny_export(ctx, before, "m", "embedding", output[0]));
    for (long at = 0; killed_at(at, "restart=yes"); at++) {
        CHECK(ny_verify(ctx, now, NULL));
        assert_non_null(stage_of("m"));
        CHECK(call("restart=yes"));
        CHECK(ny_export(ctx, now, "m", "embedding", output[1]));
        same_files(output[0], output[1], "embedding");
    }
}

TEST(without_a_result_it_says_so)
{
    case_remove(now);
    case_copy(before, now);
    REFUSED(call("restart=yes"), NY_EUSAGE);
    assert_null(stage_of("m"));
    verb = ny_graph;
    CHECK(call("restart=yes neighbors=3")); /* which is there afterwards */
    verb = ny_fit;
    REFUSED(call("restart=yes"), NY_EUSAGE);
    assert_string_equal(stage_of("m"), "done");
}

/* Makes graph g, in the place of the one that is there. */
static void make_graph(const char *options)
{
    verb = ny_graph;
    result = "g";
    CHECK(call(options));
    verb = ny_fit;
    result = "m";
}

/* A job that fails for good when it is gone on with keeps the options that its advice needs. */
TEST(advice_to_restart_can_be_followed)
{
    long at = 0;

    case_remove(now);
    case_copy(before, now);
    make_graph("neighbors=5 connect=yes restart=yes");
    case_remove(before);
    case_copy(now, before);
    while (killed_at(at, "map=isomap graph=g landmarks=40") &&
           !(stage_of("m") && strcmp(stage_of("m"), "accumulate") == 0))
        at++;
    make_graph("neighbors=7 connect=yes restart=yes");
    REFUSED(ny_resume(ctx, now, "m", NULL), NY_EUSAGE);
    CHECK(call("restart=yes"));
    same_as_unbroken("map=isomap graph=g landmarks=40", "embedding");
}

/* Columns that a rule chooses are chosen by the rows of now. */
TEST(a_rule_chooses_columns_anew)
{
    const char *options = "features=variance:2 landmarks=30";

    make_before(options);
    append_more();
    CHECK(call("restart=yes"));
    same_as_unbroken(options, "embedding");
}

/* ---- rows that come while nothing is made --------------------------------------------------- */

/* Kills a job at each sync of its first stage; it is then one of all rows. */
static void takes_rows_that_came(const char *options, const char *part)
{
    long at = 0, first = 0;

    for (; killed_at(at, options); at++) {
        const char *stage = stage_of("m");

        if (!stage || strcmp(stage, "stats") != 0) continue;
        first++;
        append_more();
        said[0] = 0;
        CHECK(ny_resume(ctx, now, "m", NULL));
        assert_non_null(strstr(said, "'m' was stopped before it had made anything from 400 rows, "
                                     "and starts over with the 500"));
        same_as_unbroken(options, part);
    }
    assert_true(first > 0);
}

TEST(a_fit_takes_all_rows)
{
    takes_rows_that_came("landmarks=30 scale=standard features=variance:3", "embedding");
    takes_rows_that_came("map=pca", "embedding");
    takes_rows_that_came("map=isomap neighbors=6 connect=yes", "embedding");
}

TEST(a_graph_takes_all_rows)
{
    verb = ny_graph;
    takes_rows_that_came("neighbors=3", "neighbors");
}

/* A shard that has come further goes back to the one that has made nothing. */
TEST(shards_take_all_rows)
{
    const char *files[] = {points, points};
    const char *options = "landmarks=12 scale=standard";
    struct ny_options *import = options_with(ctx, "shards=2");
    long at = 0, first = 0, further = 0;
    char *last = lend_text("%s/shard-00001", now);

    case_remove(before);
    CHECK(ny_import(ctx, before, files, 2, import, NULL));
    ny_options_free(import);
    for (; killed_at(at, options); at++) {
        char one[200];
        struct ny_report *report = NULL;
        bool stats[2] = {false, false}, there = true;

        for (int k = 0; k < 2; k++) {
            snprintf(one, sizeof(one), "%s/shard-%05d", now, k);
            there = there && ny_result_report(ctx, one, "m", &report) == NY_OK;
            ny_error_clear(ctx);
            if (there) stats[k] = strcmp(ny_report_text(report, "stage"), "stats") == 0;
            ny_report_free(report);
            report = NULL;
        }
        if (!there || !(stats[0] || stats[1])) continue;
        first++;
        further += stats[0] != stats[1];
        CHECK(ny_append_rows(ctx, last, values + ROWS * D, MORE, D, NULL));
        CHECK(ny_resume(ctx, now, "m", NULL));
        same_as_unbroken(options, "embedding");
    }
    assert_true(first > 0);
    print_message("%ld kills in stage stats, %ld of them in one shard alone\n", first, further);
}

/* ---- updates -------------------------------------------------------------------------------- */

/* Kills a full update on its way. */
static void begin_full_update(void)
{
    long at = 0;

    case_remove(now);
    case_copy(before, now);
    CHECK(call("landmarks=30 components=3"));
    append_more();
    case_remove(before);
    case_copy(now, before);
    while (killed_at(at, "update=full"))
        at++;
    assert_true(killed_at(at / 2, "update=full"));
}

TEST(a_refused_update_gives_no_other_up)
{
    begin_full_update();
    REFUSED(call("update=frozen time-limit=0.000001"), NY_EBUDGET);
    assert_null(strstr(said, "is abandoned"));
    CHECK(ny_resume(ctx, now, "m", NULL));
    CHECK(call("update=full"));
}

TEST(one_that_runs_gives_the_other_up)
{
    begin_full_update();
    CHECK(call("update=frozen"));
    assert_non_null(strstr(said, "an interrupted --update full of 'm' is abandoned"));
}

/* Tells whether the products of an update are in the store. */
static bool has_products(void)
{
    static const char *const parts[] = {"features.0@1", "features.1@1"};
    struct ny_chunk chunk = {.data = lend(NY_CHUNK_BYTES), .capacity = NY_CHUNK_BYTES};
    OWNED(ny_store) *store = NULL;
    int err[2];

    assert_non_null(chunk.data);
    CHECK(ny_store_open(&store, ctx, now));
    for (int i = 0; i < 2; i++)
        err[i] = ny_chunk_get(store, "m", parts[i], 0, &chunk);
    return err[0] == NY_OK || err[1] == NY_OK;
}

TEST(one_that_is_given_up_leaves_no_products)
{
    const char *options = "map=svd kernel=linear approx=exact tol=1e-6";
    long begun = 0;

    make_before(options);
    CHECK(ny_append_rows(ctx, before, values + ROWS * D, MORE, D, NULL));
    for (long at = 0; killed_at(at, "update=full"); at++) {
        if (!has_products()) continue;
        begun++;
        CHECK(call("update=frozen"));
        assert_false(has_products());
    }
    assert_true(begun > 0);
}

TEST(an_update_of_a_job_says_how_it_goes_on)
{
    const char *options = "landmarks=30";
    long at = 0;

    while (killed_at(at, options) && !stage_of("m"))
        at++;
    REFUSED(call("update=frozen"), NY_EUSAGE);
}

/* Kills an update at each sync, and takes out the rows that it was to take in. */
static void stays_as_it_was(const char *options)
{
    long under_way = 0;

    for (long at = 0; killed_at(at, options); at++) {
        said[0] = 0;
        if (ny_truncate(ctx, now, ROWS, 0, NULL)) { /* the update was over */
            CHECK(ny_verify(ctx, now, NULL));
            REFUSED(ny_truncate(ctx, now, ROWS, 0, NULL), NY_EUSAGE);
            continue;
        }
        under_way += strstr(said, "an interrupted --update of 'm' is abandoned") != NULL;
        CHECK(ny_verify(ctx, now, NULL));
        CHECK(ny_export(ctx, now, "m", "embedding", output[1]));
        same_files(output[0], output[1], "embedding");
        CHECK(ny_append_rows(ctx, now, values, MORE, D, NULL));
        CHECK(call(options));
        CHECK(ny_export(ctx, now, "m", "embedding", output[1]));
        assert_null(strstr(said, "is abandoned"));
    }
    assert_true(under_way > 1);
}

TEST(a_result_stays_whose_update_had_rows_that_go)
{
    make_before("landmarks=30 components=3");
    CHECK(ny_export(ctx, before, "m", "embedding", output[0]));
    CHECK(ny_append_rows(ctx, before, values + ROWS * D, MORE, D, NULL));
    stays_as_it_was("update=full");
    stays_as_it_was("update=frozen");
}

/* ---- what a job tells ----------------------------------------------------------------------- */

static double rank_of(const char *name)
{
    OWNED(ny_report) *report = NULL;
    double rank = -1;

    CHECK(ny_result_report(ctx, now, name, &report));
    rank = number_of(report, "rank");
    return rank;
}

/* A stage that goes on by itself knows what the one before it has told. */
TEST(the_rank_is_told_after_a_kill)
{
    const char *options = "approx=randomized components=3";
    long solving = 0;

    for (long at = 0; killed_at(at, options); at++) {
        if (!stage_of("m") || strcmp(stage_of("m"), "solve") != 0) continue;
        solving++;
        CHECK(ny_resume(ctx, now, "m", NULL));
        assert_int_equal((int)rank_of("m"), 3);
    }
    assert_true(solving > 0);
}

/* ---- models --------------------------------------------------------------------------------- */

TEST(a_job_without_its_model_asks_for_it)
{
    long at = 0, without = 0;
    char *options = lend_text("model=%s", model);

    make_before("landmarks=30 components=3");
    CHECK(ny_export(ctx, before, "m", "embedding", output[0]));
    CHECK(ny_export(ctx, before, "m", "model", model));
    CHECK(ny_remove(ctx, before, "m"));
    for (; killed_at(at, options); at++) {
        int err;

        if (!stage_of("m")) continue;
        err = ny_resume(ctx, now, "m", NULL);
        if (err) {
            REFUSED(err, NY_EUSAGE);
            without++;
            CHECK(call(options));
        }
        CHECK(ny_export(ctx, now, "m", "embedding", output[1]));
        same_files(output[0], output[1], "embedding");
    }
    assert_true(without > 0);
}

/* Each pass of the randomized solver meets the same rows that no landmark reaches, and counts them
 * once, wherever the checkpoints of the pass before were. */
TEST(a_pass_counts_no_rows_of_the_pass_before)
{
    enum { MANY = 4500, FAR = 40 };
    static float many[MANY * D];
    double interval_s = ny_context_checkpoint_s(ctx), unreached = 0, passes = 0;
    OWNED(ny_report) *report = NULL;

    for (size_t i = 0; i < MANY * D; i++)
        many[i] = (float)(ny_hash01(5, 1, i) + (i < FAR * D ? 30 * (double)(i / D + 1) : 0));
    case_remove(now);
    CHECK(ny_append_rows(ctx, now, many, MANY, D, NULL));
    ny_context_set_checkpoint(ctx, 0);
    CHECK(call("map=laplacian inner=randomized select=uniform landmarks=200 gamma=5 components=12 "
               "precision=f64"));
    ny_context_set_checkpoint(ctx, interval_s);
    CHECK(ny_result_report(ctx, now, "m", &report));
    passes = number_of(report, "inner_passes");
    assert_true(passes >= 2);
    unreached = number_of(report, "rows_unreached");
    assert_true(unreached > FAR / 2 && unreached <= FAR); /* some of them may be landmarks */
}

AROUND_ALL(fill, clean)
AROUND_EACH(fresh, NULL)
