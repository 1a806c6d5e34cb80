/* records/codec.c: a state is what the record says, and a record is changed where the state is. */
#include "model/graph.h"
#include "model/model.h"
#include "nystream.h"
#include "records/record.h"
#include "support/test.h"

static json_t *record_of(const char *text)
{
    json_t *record = json_loads(text, 0, NULL);

    assert_non_null(record);
    return record;
}

/* Puts the state, and compares the record with the text that it is to be. */
static void puts_as(struct ny_state *state, json_t *record, const char *wanted)
{
    char *text;

    ny_fields_begin();
    ny_codec_put(ny_record_of(record), state);
    assert_int_equal(ny_fields_check(NULL), 0);
    text = json_dumps(record, JSON_COMPACT | JSON_REAL_PRECISION(17));
    assert_string_equal(text, wanted);
    free(text);
}

TEST(test_no_record)
{
    const struct ny_state now = ny_state_of(ny_record_of(NULL));

    assert_false(now.record.there || now.at.there || now.sums.there || now.facts.there);
    assert_null(now.record.stage);
    assert_true(now.record.first == NY_NONE && now.at.slot == NY_NONE);
    assert_true(now.report.n == 0 && isnan(now.report.trace) && now.at.sum_squares == 0);
    assert_true(ny_state_landmarks(&now) == 0);
}

/* Nothing that was not changed is, to the byte: zeros, nulls, unknown fields, other types. */
TEST(test_unchanged)
{
    static const char *const texts[] = {
        "{\"checkpoint\":{},\"report\":{}}",
        "{\"stage\":\"solve\",\"new\":[1],\"checkpoint\":{\"slot\":0,\"units\":0,\"share\":0.0},"
        "\"sums\":{\"part\":\"gram.0\",\"rows\":7},\"summed\":false,"
        "\"report\":{\"n\":5,\"trace\":null,\"landmarks\":0,\"gamma\":2,\"flops\":1e300}}",
        "{\"stage\":3,\"checkpoint\":{\"slot\":-1,\"part\":{}},\"coarse\":\"yes\","
        "\"report\":{\"n\":\"5\",\"graph\":{\"knn\":7,\"largest\":1.5},\"trace_of\":[]}}",
        "{\"update\":{\"mode\":\"full\",\"parts\":{\"model\":\"model@1\"},\"sums\":{\"rows\":3},"
        "\"checkpoint\":{\"sum_entries\":0.1}},\"checkpoint\":{},\"report\":{}}"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        OWNED(json_t) *record = record_of(texts[i]), *as_it_was = json_deep_copy(record);
        struct ny_state now = ny_state_of(ny_record_of(record));
        char *text = json_dumps(as_it_was, JSON_COMPACT | JSON_REAL_PRECISION(17));

        puts_as(&now, record, text);
        free(text);
    }
}

TEST(test_changed)
{
    json_t *record =
        record_of("{\"stage\":\"solve\",\"coarse\":true,\"checkpoint\":{\"part\":\"a\"},"
                  "\"report\":{\"n\":5,\"trace\":null,\"gamma\":2.5,\"tolerance\":1.5}}");
    struct ny_state now = ny_state_of(ny_record_of(record));

    assert_string_equal(now.record.stage, "solve");
    assert_true(now.record.coarse && now.report.n == 5 && now.report.gamma == 2.5);
    now.record.stage = "project";
    now.record.coarse = false;
    now.at.part = NULL;
    now.at.slot = 0;
    now.at.units = 0;
    now.report.n = 6;
    now.report.trace = 0;
    now.report.tolerance = INFINITY;
    puts_as(&now, record,
            "{\"stage\":\"project\",\"coarse\":false,\"checkpoint\":{\"slot\":0},"
            "\"report\":{\"n\":6,\"trace\":0.0,\"gamma\":2.5,\"tolerance\":null}}");
    assert_true(isnan(now.report.tolerance));
    json_decref(record);
}

/* A section begins and ends; the facts of a graph are in the report, or in a part of it. */
TEST(test_sections)
{
    json_t *record =
        record_of("{\"kind\":\"graph\",\"checkpoint\":{},\"sharded\":{\"rows\":9},\"report\":{}}");
    struct ny_state now = ny_state_of(ny_record_of(record));

    assert_true(now.sharded.there && now.sharded.rows == 9 && !now.noise.there);
    now.sharded.there = false;
    now.noise = (struct ny_state_noise){true, 1, NAN, 3, 4, 5};
    now.graph.knn = "tree";
    puts_as(&now, record,
            "{\"kind\":\"graph\",\"checkpoint\":{},\"report\":{\"knn\":\"tree\"},\"gram_noise\":{"
            "\"trace\":1.0,"
            "\"others\":3.0,\"coherent\":4.0,\"residual\":5.0}}");
    json_decref(record);
    record = record_of("{\"checkpoint\":{},\"report\":{\"graph\":{\"knn\":\"exact\"}}}");
    now = ny_state_of(ny_record_of(record));
    assert_string_equal(now.graph.knn, "exact");
    now.graph.remeasured = 0;
    puts_as(&now, record,
            "{\"checkpoint\":{},\"report\":{\"graph\":{\"knn\":\"exact\",\"remeasured\":0}}}");
    json_decref(record);
}

/* A text that was put is the record's: it stays when what it was made of goes. */
TEST(test_texts)
{
    OWNED(json_t) *record =
        record_of("{\"kind\":\"graph\",\"checkpoint\":{},\"report\":{\"gram_precision\":\"f32\"}}");
    struct ny_state now = ny_state_of(ny_record_of(record));
    char name[] = "near";

    now.sums = (struct ny_state_sums){.there = true, .precision = now.report.gram_precision};
    now.graph.name = name;
    ny_codec_put(ny_record_of(record), &now);
    name[0] = 'f';
    now.report.gram_precision = "f64";
    puts_as(&now, record,
            "{\"kind\":\"graph\",\"checkpoint\":{},\"report\":{\"gram_precision\":\"f64\",\"name\":"
            "\"near\"},"
            "\"sums\":{\"precision\":\"f32\"}}");
}

/* A list has as many numbers as were appended, also where JSON has them as a table; what others
 * have written there is not known. */
TEST(test_lists)
{
    static const double figures[] = {3, NAN, 2, 0.75, 5, 1.5, 1, 1};
    OWNED(json_t) *json = record_of("{\"kind\":\"graph\",\"checkpoint\":{},\"report\":{}}");
    const struct ny_record record = ny_record_of(json);
    char *text;

    ny_codec_begin_list(record, NY_LIST_SWEEP);
    for (size_t k = 0; k < 8; k++)
        ny_codec_append(record, NY_LIST_SWEEP, figures[k]);
    assert_int_equal(ny_codec_count(record, NY_LIST_SWEEP), 8);
    for (size_t k = 0; k < 8; k++) {
        double number = ny_codec_at(record, NY_LIST_SWEEP, k);

        assert_true(number == figures[k] || (isnan(number) && isnan(figures[k])));
    }
    ny_codec_begin_list(record, NY_LIST_SWEEP);
    for (size_t k = 0; k < 4; k++)
        ny_codec_append(record, NY_LIST_SWEEP, k == 2 ? -1 : NAN);
    text = json_dumps(json_object_get(json_object_get(json, "report"), "sweep"), JSON_COMPACT);
    assert_string_equal(text, "[{\"neighbors\":null,\"distance_limit\":null,\"components\":-1.0,"
                              "\"largest_share\":null}]");
    free(text);
}

/* The rows of a fit are those that its selection has looked at, of all shards; one that is not the
 * last has no others behind them. */
TEST(test_rows_of_the_fit)
{
    static const struct {
        const char *text;
        uint64_t fitted, selected;
    } cases[] = {
        {"{\"report\":{\"n\":9}}", 9, 9},
        {"{\"selected\":7,\"report\":{\"n\":9}}", 7, 7},
        {"{\"selected\":15,\"sharded\":{\"shard\":0,\"shards\":2,\"first\":0,\"rows\":20},"
         "\"report\":{\"n\":9}}",
         20, 9},
        {"{\"selected\":15,\"sharded\":{\"shard\":1,\"shards\":2,\"first\":9,\"rows\":20},"
         "\"report\":{\"n\":11}}",
         15, 15},
        {"{\"sharded\":{\"rows\":20},\"report\":{\"n\":9}}", 20, 9},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OWNED(json_t) *record = record_of(cases[i].text);

        assert_int_equal(ny_record_fitted(ny_record_of(record)), cases[i].fitted);
        assert_int_equal(ny_record_selected(ny_record_of(record)), cases[i].selected);
    }
}

/* Seconds and bytes of stages are under their names; an answer is yes, no, or none. */
TEST(test_stages_and_answers)
{
    OWNED(json_t) *record = record_of("{\"sharded\":{\"same_bytes_as_one\":false},\"report\":{"
                                      "\"stages\":{},\"stage_memory_bytes\":{}}}");
    struct ny_state now = ny_state_of(ny_record_of(record));

    assert_true(now.sharded.same_bytes_as_one == 0);
    now.sharded.same_bytes_as_one = 1;
    now.stage_s[NY_STAGE_SOLVE] = 1.5;
    now.stage_bytes[NY_STAGE_PROJECT] = 64;
    puts_as(&now, record,
            "{\"sharded\":{\"same_bytes_as_one\":true},\"report\":{\"stages\":{\"solve\":1.5},"
            "\"stage_memory_bytes\":{\"project\":64}}}");
    assert_true(now.sharded.same_bytes_as_one == 1);
    now = ny_state_of(ny_record_of(record));
    assert_true(now.stage_s[NY_STAGE_SOLVE] == 1.5 && now.stage_bytes[NY_STAGE_PROJECT] == 64);
}

/* The components of a fit are not those of a graph. */
TEST(test_no_graph)
{
    OWNED(json_t) *record = record_of("{\"kind\":\"fit\",\"report\":{\"components\":3}}");
    const struct ny_state now = ny_state_of(ny_record_of(record));

    assert_false(now.graph.there);
    assert_true(now.graph.components == NY_NONE && now.facts.components == 3);
}

TEST(test_stored_graph)
{
    OWNED(json_t) *record = record_of(
        "{\"kind\":\"graph\",\"options\":{\"mutual\":\"yes\"},\"report\":{\"n\":9,\"edges\":20,"
        "\"largest\":5,\"largest_edges\":7,\"neighbors\":3,\"neighbors_stored\":4,"
        "\"bridges\":2}}");
    const struct ny_keep keep = {0};
    struct ny_stored_graph graph;

    assert_true(ny_stored_graph_of(&graph, NULL, &keep, ny_record_of(record)));
    assert_true(graph.mutual && !graph.given && isinf(graph.limit));
    assert_true(graph.n == 9 && graph.largest == 5 && graph.largest_edges == 7);
    assert_true(graph.neighbors == 3 && graph.stored == 4 && graph.bridges == 2);
}

/* Facts that both graphs have are to be the same ones. */
TEST(test_graphs_agree)
{
    struct ny_state_graph one = ny_state_none().graph, other;

    one.edges = 5;
    one.distance_limit = 2;
    one.metric = "cosine";
    other = one;
    other.degree_max = 3;
    assert_true(ny_graph_facts_agree(&one, &other));
    other.edges = 6;
    assert_false(ny_graph_facts_agree(&one, &other));
    other = one;
    other.distance_limit = NAN;
    assert_false(ny_graph_facts_agree(&one, &other));
    other = one;
    other.metric = "euclidean";
    assert_false(ny_graph_facts_agree(&one, &other));
}

TEST(test_adopted_graph)
{
    OWNED(json_t) *of_graph = record_of("{\"kind\":\"graph\",\"report\":{\"knn\":\"sieve\","
                                        "\"recall\":0.5,\"recall_interval\":[0.25,0.75]}}");
    OWNED(json_t) *record = record_of("{\"kind\":\"fit\",\"report\":{\"graph\":{}}}");
    struct ny_job job = {.record = ny_record_of(record)};

    job.state = ny_state_of(job.record);
    ny_graph_facts_adopt(&job, ny_record_of(of_graph));
    puts_as(&job.state, record,
            "{\"kind\":\"fit\",\"report\":{\"graph\":{\"recall_interval\":[0.25,0.75],"
            "\"knn\":\"sieve\",\"recall\":0.5}}}");
}

/* An update is another record of the same fit, which goes on with those before it alone. */
TEST(test_generations)
{
    OWNED(json_t) *fit = record_of("{\"id\":\"a\",\"report\":{}}");
    OWNED(json_t) *update = record_of("{\"id\":\"a\",\"generation\":1,\"report\":{}}");
    OWNED(json_t) *other = record_of("{\"id\":\"b\",\"generation\":1,\"report\":{}}");
    const struct ny_record one = ny_record_of(fit), next = ny_record_of(update);

    assert_true(ny_record_same(one, one));
    assert_false(ny_record_same(one, next) || ny_record_same(next, ny_record_of(other)));
    assert_true(ny_record_continues(next, one));
    assert_false(ny_record_continues(one, next) || ny_record_continues(one, one) ||
                 ny_record_continues(ny_record_of(other), one));
}

/* Factors of coordinates are as many as these are, or none. */
TEST(test_factors)
{
    OWNED(json_t) *record = record_of("{\"coordinates\":{\"pairs\":3,\"skip\":1,\"scale\":[2,3]},"
                                      "\"report\":{\"components\":3}}");
    json_t *scale = json_object_get(json_object_get(record, "coordinates"), "scale");
    struct ny_coordinates how;
    OWNED(ny_context) *ctx = NULL;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_coordinates_parse(&how, ctx, ny_record_of(record)), NY_OK);
    assert_true(how.pairs == 3 && how.skip == 1 && how.scale[0] == 2 && how.scale[1] == 3);
    ny_coordinates_release(&how, ctx);
    json_array_remove(scale, 1);
    assert_int_equal(ny_coordinates_parse(&how, ctx, ny_record_of(record)), NY_ESTORE);
}

/* The model of a fit has its errors; one of all of K leaves nothing of the trace out. */
TEST(test_errors_of_a_model)
{
    OWNED(json_t) *record =
        record_of("{\"report\":{\"eigenvalues\":[4,2],\"component_errors\":[0.5,null],"
                  "\"component_errors_se\":[0.25,0.125],\"trace_error\":0.75}}");
    struct ny_model model = {.p = 2};

    assert_int_equal(ny_context_new(&model.ctx), NY_OK);
    model.own.ctx = model.ctx;
    assert_int_equal(ny_model_take_errors(&model, ny_record_of(record)), NY_OK);
    assert_true(model.found[0] == 4 && model.found[2] == 0.5 && isnan(model.found[3]));
    assert_true(model.found[4] == 0.25 && model.found[5] == 0.125);
    assert_true(ny_model_trace_error(&model) == 0.75);
    json_object_set_new(json_object_get(record, "report"), "approx", json_string("exact"));
    assert_int_equal(ny_model_take_errors(&model, ny_record_of(record)), NY_OK);
    assert_true(isnan(ny_model_trace_error(&model)));
    ny_layout_free(&model.own);
    ny_context_free(model.ctx);
}
