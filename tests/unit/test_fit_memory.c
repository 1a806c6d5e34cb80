/* A fit of rows in memory that is kept in memory has the bytes of a fit of a store. */
#include "memory_rows_case.h"

#include "columns/kernels.h"
#include "fit/courses.h"
#include "fit/plan.h"
#include "fit/wishes.h"
#include "job/keep_memory.h"
#include "results/keep.h"
#include "spectral/methods.h"
#include "update/courses.h"

/* Rbf of the default width. */
static struct ny_wishes wishes_of(const struct ny_method *method, const char *rule)
{
    return (struct ny_wishes){.plain = {.map = &ny_map_kpca,
                                        .method = method,
                                        .rule = ny_rule_find(rule),
                                        .kernel = ny_kernel_find("rbf"),
                                        .params = {.gamma = 1, .second = 1},
                                        .gamma_auto = true,
                                        .dictionary = {.tolerance = NAN},
                                        .landmarks = 150,
                                        .landmarks_typed = true,
                                        .components = 4,
                                        .threads = ny_context_threads(ctx)}};
}

static void fit_memory(struct ny_rows *X, struct ny_keep *keep, const struct ny_wishes *wishes)
{
    struct ny_fit_settings settings;
    struct ny_rows_info points;
    struct ny_plan plan;
    struct ny_fit fit = {.job = {.ctx = ctx, .X = X, .keep = *keep, .after = NY_STAGE_DONE}};

    CHECK(X->ops->info(X, &points));
    CHECK(ny_settings_decide(&settings, ctx, X, &points, wishes));
    CHECK(ny_plan_make(X, &settings, &ny_course_landmarks, 0, &plan));
    fit.job.record = ny_job_record_new(&points, json_object(), "fit");
    fit.job.workers = plan.workers;
    fit.job.course = fit.planned = &ny_course_landmarks;
    fit.settings = &settings;
    fit.plan = &plan;
    fit.params = settings.params;
    CHECK(ny_fit_run(&fit));
    json_decref(fit.job.record);
}

static void fit_store(const char *name, const struct ny_wishes *wishes)
{
    struct ny_fit_settings settings;
    struct ny_rows_info points;
    const struct ny_keep keep = ny_store_keep(store, name);
    struct ny_rows *X = ny_store_rows(store);
    struct ny_plan plan;
    OWNED(json_t) *record = NULL;

    CHECK(X->ops->info(X, &points));
    CHECK(ny_settings_decide(&settings, ctx, X, &points, wishes));
    CHECK(ny_fit_plan(X, &settings, 0, &plan));
    record = ny_job_record_new(&points, json_object(), "fit");
    CHECK(ny_fit_start(X, &keep, &settings, record, &plan, NULL));
}

/* The part is there, and is the same in both. */
static void check_part(const struct ny_keep *got, const struct ny_keep *want, const char *part)
{
    char *data[2] = {lend(NY_CHUNK_BYTES), lend(NY_CHUNK_BYTES)};
    uint64_t index = 0;

    for (int end = NY_OK; end != NY_END; index++) {
        struct ny_chunk a = {.data = data[0], .capacity = NY_CHUNK_BYTES};
        struct ny_chunk b = {.data = data[1], .capacity = NY_CHUNK_BYTES};

        end = want->ops->chunk(want, part, index, &b);
        assert_int_equal(got->ops->chunk(got, part, index, &a), end);
        assert_int_equal(a.bytes, b.bytes);
        assert_memory_equal(data[0], data[1], b.bytes);
    }
    assert_true(index > 1);
}

TEST(bytes_are_those_of_a_store)
{
    static const struct shape shape = {9000, 40, NY_F32, 0, 0, &as_they_are};
    static const char *const parts[] = {"embedding", "model", "landmarks", "geometry"};
    static const char *const rules[] = {"uniform", "rpcholesky"};
    static const struct ny_method *const methods[] = {&ny_method_nystrom, &ny_method_projected};
    unsigned threads = ny_context_threads(ctx);
    struct rows rows = rows_of_shape(&shape);
    struct ny_memory_results *memory;
    json_t *record;
    struct ny_rows *X;

    CHECK(import(&rows, 0));
    CHECK(ny_rows_of_memory(&X, ctx, &rows.memory));
    CHECK(ny_memory_results_new(&memory, ctx, "memory", NULL));
    for (unsigned i = 0; i < 8; i++) {
        struct ny_keep got, want;
        struct ny_wishes wishes;
        char name[] = {'a', (char)('0' + i), '\0'};

        ny_context_set_threads(ctx, i & 4 ? 3 : 1);
        wishes = wishes_of(methods[i & 1], rules[(i & 2) / 2]);
        got = ny_memory_keep(memory, name);
        want = ny_store_keep(store, name);
        fit_memory(X, &got, &wishes);
        fit_store(name, &wishes);
        for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++)
            check_part(&got, &want, parts[p]);
        CHECK(ny_record_get(&got, &record));
        assert_string_equal(ny_field_text(record, "stage"), "done");
        json_decref(record);
    }
    ny_memory_results_free(memory);
    ny_context_set_threads(ctx, threads);
    ny_memory_rows_free(X);
    free_rows(&rows);
}

AROUND_EACH(start, stop)
