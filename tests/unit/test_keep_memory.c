/* job/keep_memory.h: a keep in memory does what a NAME of a store does, step by step. */
#include "store_checks.h"

#include "job/job.h"
#include "job/keep_memory.h"
#include "records/record.h"
#include "results/keep.h"

OWNS_POINTER(ny_memory_results, ny_memory_results_free)

enum { BIG = 2 * NY_CHUNK_BYTES + 5 };

enum what { BEGIN, PUT, DROP, COMMIT, CANCEL, ARRAY, CHUNK, GET };

/* A step, and the status that it has. PUT and CHUNK are of chunk `index`. CHUNK has room for
 * so many bytes; GET reads so many. */
struct step {
    enum what what;
    const char *part;
    uint64_t index;
    size_t bytes;
    int status;
};

static const struct step steps[] = {
    /* nothing is there */
    {CHUNK, "a", 0, BIG, NY_END},
    {GET, "a", 0, 3, NY_ESTORE},
    /* a batch takes effect at its commit, in the order of its steps */
    {BEGIN, NULL, 0, 0, NY_OK},
    {PUT, "a", 0, 10, NY_OK},
    {PUT, "a", 1, 20, NY_OK},
    {PUT, "ab", 0, 7, NY_OK},
    {PUT, "empty", 0, 0, NY_OK},
    {PUT, "far", UINT64_C(1) << 40, 3, NY_OK},
    {PUT, "a", 0, 11, NY_OK},
    {PUT, "gone", 0, 11, NY_OK},
    {DROP, "gone", 0, 0, NY_OK},
    {CHUNK, "a", 0, BIG, NY_END},
    {COMMIT, NULL, 0, 0, NY_OK},
    {CHUNK, "a", 0, BIG, NY_OK},
    {CHUNK, "a", 0, 11, NY_OK},
    {CHUNK, "a", 0, 10, NY_EINTERNAL},
    {CHUNK, "a", 1, BIG, NY_OK},
    {CHUNK, "a", 2, BIG, NY_END},
    {CHUNK, "ab", 0, BIG, NY_OK},
    {CHUNK, "abc", 0, BIG, NY_END},
    {CHUNK, "empty", 0, 0, NY_OK},
    {CHUNK, "far", 0, BIG, NY_END},
    {CHUNK, "far", UINT64_C(1) << 40, BIG, NY_OK},
    {CHUNK, "gone", 0, BIG, NY_END},
    {CHUNK, "", 0, BIG, NY_EINTERNAL},
    /* dropped, and put again in the same batch */
    {BEGIN, NULL, 0, 0, NY_OK},
    {DROP, "a", 0, 0, NY_OK},
    {DROP, "none", 0, 0, NY_OK},
    {PUT, "a", 0, 5, NY_OK},
    {CHUNK, "a", 1, BIG, NY_OK},
    {COMMIT, NULL, 0, 0, NY_OK},
    {CHUNK, "a", 0, BIG, NY_OK},
    {CHUNK, "a", 1, BIG, NY_END},
    {CHUNK, "ab", 0, BIG, NY_OK},
    /* cancelled */
    {BEGIN, NULL, 0, 0, NY_OK},
    {PUT, "a", 0, 6, NY_OK},
    {DROP, "ab", 0, 0, NY_OK},
    {CANCEL, NULL, 0, 0, NY_OK},
    {CHUNK, "a", 0, BIG, NY_OK},
    {CHUNK, "ab", 0, BIG, NY_OK},
    /* after a failure a batch takes no more */
    {BEGIN, NULL, 0, 0, NY_OK},
    {PUT, "a", 0, 6, NY_OK},
    {PUT, "a", 1, NY_CHUNK_BYTES + 1, NY_EINTERNAL},
    {PUT, "a", 2, 6, NY_EINTERNAL},
    {DROP, "ab", 0, 0, NY_EINTERNAL},
    {COMMIT, NULL, 0, 0, NY_EINTERNAL},
    {CHUNK, "a", 0, BIG, NY_OK},
    {CHUNK, "a", 2, BIG, NY_END},
    {CHUNK, "ab", 0, BIG, NY_OK},
    {BEGIN, NULL, 0, 0, NY_OK},
    {DROP, "", 0, 0, NY_EINTERNAL},
    {PUT, "a", 1, 6, NY_EINTERNAL},
    {CANCEL, NULL, 0, 0, NY_OK},
    {CHUNK, "a", 1, BIG, NY_END},
    /* arrays, and what they replace */
    {ARRAY, "b", 0, BIG, NY_OK},
    {GET, "b", 0, BIG, NY_OK},
    {GET, "b", 0, BIG - 1, NY_ESTORE},
    {GET, "b", 0, BIG + 1, NY_ESTORE},
    {GET, "b", 0, 2 * NY_CHUNK_BYTES, NY_ESTORE},
    {GET, "b", 0, NY_CHUNK_BYTES, NY_ESTORE},
    {GET, "b", 0, 0, NY_ESTORE},
    {CHUNK, "b", 2, BIG, NY_OK},
    {CHUNK, "b", 3, BIG, NY_END},
    {ARRAY, "b", 0, NY_CHUNK_BYTES, NY_OK},
    {GET, "b", 0, NY_CHUNK_BYTES, NY_OK},
    {CHUNK, "b", 1, BIG, NY_END},
    {ARRAY, "b", 0, 4, NY_OK},
    {GET, "b", 0, 4, NY_OK},
    {ARRAY, "b", 0, 0, NY_OK},
    {GET, "b", 0, 0, NY_OK},
    {GET, "b", 0, 1, NY_ESTORE},
    {ARRAY, "", 0, 4, NY_EINTERNAL},
    {GET, "", 0, 4, NY_EINTERNAL},
};

static char data[BIG + 1];

/* Does a step; what it has read is in out[], *bytes of it. */
static int take(const struct ny_keep *keep, struct ny_batch **batch, const struct step *step,
                char *out, size_t *bytes)
{
    struct ny_chunk chunk = {.data = out, .capacity = step->bytes};
    int err = NY_OK;

    memset(data, (int)(step - steps) + 1, step->bytes);
    switch (step->what) {
    case BEGIN:
        return keep->ops->begin(keep, batch);
    case PUT:
        return keep->ops->put(keep, *batch, step->part, step->index, data, step->bytes);
    case DROP:
        return keep->ops->drop(keep, *batch, step->part);
    case COMMIT:
        return keep->ops->commit(*batch);
    case CANCEL:
        keep->ops->cancel(*batch);
        return NY_OK;
    case ARRAY:
        return ny_keep_put(keep, step->part, data, step->bytes);
    case CHUNK:
        err = keep->ops->chunk(keep, step->part, step->index, &chunk);
        *bytes = chunk.bytes;
        return err;
    default:
        *bytes = step->bytes;
        return keep->ops->get(keep, step->part, out, step->bytes);
    }
}

TEST(steps_have_equal_ends)
{
    enum { KEEPS = 3 };
    static char out[KEEPS][BIG + 1];
    struct ny_keep keeps[KEEPS] = {ny_store_keep(store, "fit")};
    struct ny_batch *batch[KEEPS] = {NULL};
    struct ny_memory_results *memory, *filed;

    CHECK(ny_memory_results_new(&memory, ctx, "memory", NULL));
    keeps[1] = ny_memory_keep(memory, "fit");
    CHECK(ny_memory_results_new(&filed, ctx, "file", directory));
    keeps[2] = ny_memory_keep(filed, "fit");
    for (const struct step *step = steps; step < steps + sizeof(steps) / sizeof(*steps); step++) {
        size_t bytes[KEEPS] = {0};

        for (int k = 0; k < KEEPS; k++) {
            int status = take(&keeps[k], &batch[k], step, out[k], &bytes[k]);
            bool told = step->what >= CHUNK && status != NY_END; /* else perhaps before */

            if (status != step->status)
                fail_msg("step %d, keep %d: status %d, %s", (int)(step - steps), k, status,
                         ny_context_message(ctx));
            if (told) assert_int_equal(ny_context_error(ctx)->status, status);
            if (status == NY_END) assert_int_equal(ny_context_error(ctx)->status, NY_OK);
            ny_error_clear(ctx);
        }
        for (int k = 1; k < KEEPS; k++) {
            assert_int_equal(bytes[0], bytes[k]);
            if (!step->status) assert_memory_equal(out[0], out[k], bytes[0]);
        }
    }
    ny_memory_results_free(memory);
    ny_memory_results_free(filed);
}

static void save(const struct ny_keep *keep, json_t *record, bool commit)
{
    struct ny_batch *batch;

    CHECK(keep->ops->begin(keep, &batch));
    CHECK(ny_record_put(keep, batch, record));
    if (commit)
        CHECK(keep->ops->commit(batch));
    else
        keep->ops->cancel(batch);
}

/* Checks the number that is in a record; 0: there is none. */
static void holds(const struct ny_keep *keep, uint64_t number)
{
    OWNED(json_t) *record = NULL;

    CHECK(ny_record_get(keep, &record));
    assert_int_equal(ny_field_count(record, "number", 0), number);
}

/* An update that is under way has a record of its own, until it is dropped. */
TEST(records_are_those_committed)
{
    OWNED(json_t) *record = json_pack("{s:i, s:i, s:s, s:{}, s:{}}", "number", 1, "format", 1,
                                      "stage", "done", "report", "checkpoint");
    OWNED(ny_memory_results) *memory = NULL;
    struct ny_batch *batch;
    struct ny_keep keep;

    CHECK(ny_memory_results_new(&memory, ctx, "memory", NULL));
    keep = ny_memory_keep(memory, "fit");
    holds(&keep, 0);
    save(&keep, record, false);
    holds(&keep, 0);
    ny_field_set_count(record, "number", 2);
    save(&keep, record, true);
    holds(&keep, 2);
    ny_field_set_count(record, "number", 3);
    save(&keep, record, false);
    holds(&keep, 2);
    ny_field_set_json(record, "update", json_object());
    save(&keep, record, true);
    holds(&keep, 2);
    CHECK(keep.ops->begin(&keep, &batch));
    CHECK(keep.ops->drop(&keep, batch, NY_RECORD_PART));
    CHECK(keep.ops->commit(batch));
    holds(&keep, 0);
}

/* Results are apart, and are listed by their names; one can be dropped as a whole. */
TEST(names_are_apart)
{
    static const char *const names[] = {"b", "a", "c"};
    OWNED(ny_memory_results) *memory = NULL;
    struct ny_batch *batch;
    struct ny_keep keep;
    const char *name;
    char got[4];

    CHECK(ny_memory_results_new(&memory, ctx, "memory", NULL));
    assert_false(ny_memory_next(memory, "", &name));
    for (int i = 0; i < 3; i++) {
        keep = ny_memory_keep(memory, names[i]);
        CHECK(ny_keep_put(&keep, "one", names[i], 2));
        CHECK(ny_keep_put(&keep, "two", names[i], 2));
    }
    assert_int_equal(ny_memory_commits(memory), 6);
    keep = ny_memory_keep(memory, "b");
    CHECK(keep.ops->begin(&keep, &batch));
    CHECK(keep.ops->drop(&keep, batch, NULL));
    CHECK(keep.ops->commit(batch));
    REFUSED(keep.ops->get(&keep, "two", got, 2), NY_ESTORE);
    assert_true(ny_memory_next(memory, "", &name));
    assert_string_equal(name, "a");
    assert_true(ny_memory_next(memory, "a", &name));
    assert_string_equal(name, "c");
    assert_false(ny_memory_next(memory, "c", &name));
    keep = ny_memory_keep(memory, "c");
    CHECK(keep.ops->get(&keep, "two", got, 2));
    assert_string_equal(got, "c");
}

/* A result that was updated since it was read is the same one, unless it looks damaged. */
TEST(what_was_read_is_current)
{
    OWNED(json_t) *record = json_pack("{s:s, s:{s:i}, s:i, s:s, s:{}}", "id", "a", "report", "n", 1,
                                      "format", 1, "stage", "done", "checkpoint");
    OWNED(ny_memory_results) *memory = NULL;
    struct ny_keep keep;
    OWNED(json_t) *read = NULL;

    CHECK(ny_memory_results_new(&memory, ctx, "memory", NULL));
    keep = ny_memory_keep(memory, "fit");
    keep.records = &ny_records_json;
    CHECK(ny_record_get(&keep, &read));
    assert_null(read);
    save(&keep, record, true);
    CHECK(ny_record_get(&keep, &read));
    CHECK(ny_keep_current(&keep, ny_record_of(read), NY_OK));
    assert_int_equal(ny_keep_current(&keep, ny_record_of(read), NY_ESTORE), NY_ESTORE);
    ny_field_set_count(record, "generation", 1);
    save(&keep, record, true);
    CHECK(ny_keep_current(&keep, ny_record_of(read), NY_OK));
    assert_int_equal(ny_keep_current(&keep, ny_record_of(read), NY_ESTORE), NY_EBUSY);
    assert_int_equal(ny_keep_current(&keep, ny_record_of(read), NY_EINTERRUPTED), NY_EINTERRUPTED);
    ny_field_set_text(record, "id", "b");
    save(&keep, record, true);
    REFUSED(ny_keep_current(&keep, ny_record_of(read), NY_OK), NY_EBUSY);
}

/* All is charged, and a batch for which there is no room leaves what was there. */
TEST(the_budget_counts)
{
    size_t limit = ny_memory_limit(ctx);
    OWNED(ny_memory_results) *memory = NULL;
    struct ny_batch *batch;
    struct ny_keep keep;
    char got[4];

    CHECK(ny_memory_results_new(&memory, ctx, "memory", NULL));
    keep = ny_memory_keep(memory, "fit");
    CHECK(ny_keep_put(&keep, "a", "one", 4));
    assert_int_equal(keep.ops->bytes(&keep), 4);
    assert_true(keep.ops->room(&keep) == UINT64_MAX);
    ny_context_set_memory(ctx, ny_memory_used(ctx) + BIG);
    CHECK(keep.ops->begin(&keep, &batch));
    CHECK(keep.ops->put(&keep, batch, "a", 0, data, NY_CHUNK_BYTES));
    CHECK(keep.ops->put(&keep, batch, "a", 1, data, 1000));
    REFUSED(keep.ops->put(&keep, batch, "a", 2, data, NY_CHUNK_BYTES), NY_EBUDGET);
    assert_int_equal(keep.ops->put(&keep, batch, "a", 2, data, 1), NY_EBUDGET);
    assert_int_equal(keep.ops->commit(batch), NY_EBUDGET);
    CHECK(keep.ops->get(&keep, "a", got, sizeof(got)));
    assert_string_equal(got, "one");
    ny_context_set_memory(ctx, limit);
}

/* Values in a file take nothing of the budget. */
TEST(values_in_a_file_are_not_charged)
{
    size_t limit = ny_memory_limit(ctx), used;
    struct ny_memory_results *filed;
    struct ny_keep keep;

    CHECK(ny_memory_results_new(&filed, ctx, "file", directory));
    keep = ny_memory_keep(filed, "fit");
    assert_true(ny_memory_is_filed(filed));
    used = ny_memory_used(ctx);
    ny_context_set_memory(ctx, used + 4096);
    CHECK(ny_keep_put(&keep, "a", data, BIG));
    assert_true(ny_memory_used(ctx) - used < 4096);
    assert_int_equal(keep.ops->bytes(&keep), BIG);
    assert_true(keep.ops->room(&keep) < UINT64_MAX);
    ny_context_set_memory(ctx, limit);
    ny_memory_results_free(filed);
    CHECK(ny_memory_results_new(&filed, ctx, "file", "/no/such/folder"));
    keep = ny_memory_keep(filed, "fit");
    REFUSED(ny_keep_put(&keep, "a", data, 4), NY_EIO);
    ny_memory_results_free(filed);
}

AROUND_EACH(start, stop)
