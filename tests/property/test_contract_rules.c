/* Tests the promises of every selection rule of the table: distinct rows that exist, as many as
 * asked for, the same by any number of threads and after a kill, and clean failures. */
#include "property/selection_case.h"

enum { ROWS = 9000, WANTED = 40 };

#define FOR_RULES(rule)                                                                            \
    for (const struct ny_rule *const *each = all_rules(), *rule; (rule = *each); each++)

static const struct ny_rule *const *all_rules(void)
{
    static const struct ny_rule *all[64];

    for (size_t i = 0; i < 63 && (all[i] = ny_rule_at(i)); i++)
        continue;
    return all;
}

static const struct kind kinds[] = {
    {"rbf", {.gamma = 0.3}},
    {"polynomial", {.gamma = 0.2, .first = 1, .second = 2}},
};

static struct rows points;
static double nearest[ROWS]; /* of each row to the landmarks so far, for rules that go by paths */
static uint64_t listed[ROWS]; /* for the rule that is given its rows */

static bool even(const void *arg, uint64_t row)
{
    (void)arg;
    return row % 2 == 0;
}

/* Paths are straight lines here. */
static uint64_t farthest(void *arg, uint64_t landmark)
{
    const struct ny_selection_request *request = arg;
    uint64_t far = 0;

    for (uint64_t i = 0; i < points.n; i++) {
        double square = 0;

        for (size_t k = 0; k < points.d; k++)
            square += pow((double)points.x[i * points.d + k] -
                              (double)points.x[landmark * points.d + k], 2);
        nearest[i] = fmin(nearest[i], i == landmark ? -1 : square);
        if (nearest[i] > nearest[far] &&
            (!request->candidates.valid || request->candidates.valid(NULL, i)))
            far = i;
    }
    return far;
}

/* All that any rule may ask of a request. */
static struct ny_selection_request whole(struct ny_selection_request request)
{
    static struct ny_selection_request asked;

    asked = request;
    for (size_t i = 0; i < ROWS; i++)
        nearest[i] = INFINITY;
    for (uint64_t i = 0; i < ROWS; i++)
        listed[i] = i < ROWS / 2 ? 2 * i : 2 * i - ROWS + 1; /* even ones first */
    request.named_landmarks = listed;
    request.candidates.farthest = farthest;
    request.candidates.farthest_arg = &asked;
    request.diagonal = NY_DIAGONAL_CENTRED;
    request.greedy.dictionary.tolerance = NAN;
    if (!request.workers) request.workers = 2;
    return request;
}

static struct ny_selection selected(const struct ny_rule *rule, const struct kind *kind,
                                    struct ny_selection_request request)
{
    return must_run(rule->name, kind, &points, whole(request));
}

static void check_rows(const struct ny_rule *rule, const struct ny_selection *selection,
                       size_t wanted)
{
    static bool taken[ROWS];

    if (selection->m != (rule->all ? ROWS : wanted))
        fail_msg("%s leaves %zu of %zu", rule->name, selection->m, wanted);
    memset(taken, 0, sizeof(taken));
    for (size_t i = 0; i < selection->m; i++) {
        assert_true(selection->rows[i] < ROWS);
        if (taken[selection->rows[i]]) fail_msg("%s takes a row twice", rule->name);
        taken[selection->rows[i]] = true;
    }
}

/* ---- the entry ------------------------------------------------------------------------------ */

TEST(entries_are_whole)
{
    FOR_RULES(rule) {
        assert_ptr_equal(ny_rule_find(rule->name), rule);
        assert_true(strlen(rule->summary) > 2);
        assert_non_null(rule->select);
        assert_true(!ny_rule_reads(rule) == (rule->image_bytes == NULL));
        assert_true(!ny_rule_reads(rule) || !rule->paths);
    }
    assert_null(ny_rule_find("best"));
    assert_null(ny_rule_find(""));
}

/* ---- what is selected ------------------------------------------------------------------------ */

TEST(rows_are_distinct_and_as_many_as_asked_for)
{
    static const size_t sizes[] = {1, 2, WANTED};

    FOR_RULES(rule)
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
            for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
                size_t most = k ? 15 : WANTED, wanted = sizes[i] < most ? sizes[i] : most;
                struct ny_selection_request request = {.landmarks = wanted};
                struct ny_selection s = selected(rule, &kinds[k], request);

                check_rows(rule, &s, wanted); /* x ↦ (x·y + 1)² in 4 columns has rank 15 */
                ny_selection_release(&s, ctx);
                assert_null(s.rows);
            }
}

TEST(threads_change_nothing)
{
    FOR_RULES(rule)
        for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
            struct ny_selection_request request = {.landmarks = 15, .seed = 3, .workers = 1};
            OWNED(ny_selection) one = selected(rule, &kinds[k], request), three;

            request.workers = 3;
            three = selected(rule, &kinds[k], request);
            assert_same_selection(&one, &three, ROWS);
        }
}

/* A rule draws, or it does not: all of six seeds give other rows, or all the same. */
TEST(seeds_give_other_rows_or_none_does)
{
    enum { SEEDS = 6 };

    FOR_RULES(rule) {
        struct ny_selection s[SEEDS];
        size_t same = 0;

        for (uint64_t seed = 0; seed < SEEDS; seed++) {
            s[seed] = selected(rule, &kinds[0],
                               (struct ny_selection_request){.landmarks = WANTED, .seed = seed});
            for (size_t before = 0; before < seed; before++)
                same += memcmp(s[before].rows, s[seed].rows, s[seed].m * sizeof(uint64_t)) == 0;
        }
        if (same != 0 && same != SEEDS * (SEEDS - 1) / 2)
            fail_msg("%s: %zu pairs of seeds give the same rows", rule->name, same);
        for (size_t seed = 0; seed < SEEDS; seed++)
            ny_selection_release(&s[seed], ctx);
    }
}

/* Rules of a graph take rows of its component alone. */
TEST(rows_are_those_that_may_be_chosen)
{
    FOR_RULES(rule) {
        struct ny_selection_request request = {.landmarks = WANTED, .candidates.valid = even};
        struct ny_selection s;

        if (ny_rule_reads(rule)) continue;
        s = selected(rule, &kinds[0], request);
        assert_int_equal(s.m, rule->all ? ROWS / 2 : WANTED);
        for (size_t i = 0; i < s.m; i++)
            assert_true(even(NULL, s.rows[i]));
        ny_selection_release(&s, ctx);
    }
}

/* Bounds of all rows, where they are asked for: by the rule, or by a pass after it. */
TEST(certified_residuals_are_there)
{
    FOR_RULES(rule) {
        struct ny_selection_request request = {.landmarks = WANTED, .certify = true};
        struct ny_selection s;
        double largest = 0, sum = 0;

        if (rule->all) continue; /* which is not to be certified: nothing is left over */
        s = selected(rule, &kinds[0], request);
        assert_non_null(s.residuals);
        for (size_t i = 0; i < ROWS; i++) {
            assert_true(s.residuals[i] >= 0 && s.residuals[i] <= 1.001f);
            largest = fmax(largest, (double)s.residuals[i]);
            sum += (double)s.residuals[i];
        }
        for (size_t i = 0; i < s.m; i++)
            assert_true(s.residuals[s.rows[i]] < 1e-4f);
        assert_true(s.residual_max == largest && s.residual_mean == sum / ROWS);
        assert_true(largest > 0 && s.passes > 0);
        ny_selection_release(&s, ctx);
    }
}

/* ---- kills and failures ---------------------------------------------------------------------- */

static int measure_image(void *arg, const void *image, size_t bytes)
{
    size_t *most = arg;

    (void)image;
    if (bytes > *most) *most = bytes;
    return NY_OK;
}

TEST(killed_selections_go_on)
{
    FOR_RULES(rule) {
        struct ny_selection_request request = whole(
            (struct ny_selection_request){.landmarks = WANTED, .seed = 1, .certify = true});
        const struct ny_geometry geometry = {.d = points.d};
        struct ny_columns_spec spec = {.ctx = ctx, .geometry = &geometry, .dtype = NY_F32};
        struct ny_layout counted = {0};
        struct ny_selection s;
        size_t most = 0;

        if (!rule->image_bytes) continue;
        check_bytes(rule->name, &kinds[0], &points, request);
        request.checkpoint.save = measure_image;
        request.checkpoint.arg = &most;
        s = must_run(rule->name, &kinds[0], &points, request);
        spec.kernel = ny_kernel_find(kinds[0].kernel);
        request.n = ROWS;
        request.spec = &spec;
        request.ctx = ctx;
        assert_true(most > 0 && most <= rule->image_bytes(&request, s.m));
        rule->count(&counted, &request, s.m);
        assert_true(ny_layout_most(&counted) > 0);
        if (rule->work) {
            const struct ny_decay unknown = {.count = 0};
            struct ny_selection_work work = rule->work(&request, s.m, &unknown);

            assert_true(work.entries + work.alone > 0);
            assert_true(isfinite(work.flops + work.exact_flops + work.alone_flops));
        }
        ny_selection_release(&s, ctx);
    }
}

/* Refused with words, and nothing left behind. */
static void check_refused(const struct ny_rule *rule, struct ny_selection_request request)
{
    struct ny_selection s;
    size_t before = ny_memory_used(ctx);
    int err = run_rule(rule->name, &kinds[0], &points, whole(request), &s);

    if (err != NY_EUSAGE && err != NY_EDATA) fail_msg("%s gives %d", rule->name, err);
    assert_true(strlen(ny_context_message(ctx)) > 10);
    assert_null(s.rows);
    assert_int_equal(ny_memory_used(ctx), before);
    ny_error_clear(ctx);
}

TEST(impossible_sizes_are_refused)
{
    FOR_RULES(rule) {
        if (!rule->all) check_refused(rule, (struct ny_selection_request){.landmarks = 0});
    }
}

TEST(too_little_memory_is_an_error)
{
    FOR_RULES(rule) {
        struct ny_selection s;
        size_t before = ny_memory_used(ctx);
        int err;

        ny_context_set_memory(ctx, before + 400);
        err = run_rule(rule->name, &kinds[0], &points,
                       whole((struct ny_selection_request){.landmarks = 100}), &s);
        ny_context_set_memory(ctx, 0);
        assert_int_equal(err, NY_EBUDGET);
        assert_int_equal(ny_memory_used(ctx), before);
        ny_error_clear(ctx);
    }
}

/* Rules that only copy the rows they were given may be done before they look for an interrupt. */
TEST(interrupts_end_a_selection)
{
    FOR_RULES(rule) {
        struct ny_selection_request request = {.landmarks = WANTED};
        struct ny_selection s;
        size_t before = ny_memory_used(ctx);
        int err;

        ny_context_interrupt(ctx, 2);
        err = run_rule(rule->name, &kinds[0], &points, whole(request), &s);
        ny_context_interrupt(ctx, 0);
        if (!err) ny_selection_release(&s, ctx);
        if (err != NY_EINTERRUPTED && (err || ny_rule_reads(rule))) fail_msg("%s: %d", rule->name, err);
        assert_int_equal(ny_memory_used(ctx), before);
        ny_error_clear(ctx);
    }
}

static void make_points(void)
{
    make_folder();
    points = blobs(ROWS, 4, 0.5, 2);
    keep_rows(&points);
}

static void remove_points(void)
{
    free_rows(&points);
    remove_folder();
}

AROUND_ALL(make_points, remove_points)
