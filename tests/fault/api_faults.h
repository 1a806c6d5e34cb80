/*
 * Every allocation, and every read, write, sync and map, fails in turn while the public interface
 * works: each failure gives a status with a message, nothing leaks, what was there before is intact
 * and the same call without the fault goes through. Reads and writes that are interrupted, or do
 * half of their work, are gone over. NYSTREAM_EVERY_FAULT: all points; else a third or fewer;
 * NYSTREAM_FEW_FAULTS: a sixtieth of these.
 */
#ifndef NY_TESTS_API_FAULTS_H
#define NY_TESTS_API_FAULTS_H

#include "base/context.h"
#include "base/memory.h"
#include "fault/fault_calls.h"
#include "nystream.h"
#include "support/files.h"
#include "support/store_case.h"
#include "support/test.h"
#include "support/results.h"

enum { ROWS = 2500, MORE = 700, D = 4, POINTS_MAX = 60000 };

/* The bytes that the first call made, to be compared with those of the next. */
struct bytes {
    char *data;
    size_t count;
};

struct work {
    const char *name;
    int (*run)(struct ny_context *ctx);
    void (*undo)(void); /* what it did */
    long stride; /* of its allocations, every which is tried in the short form */
    /* Each run that returns NY_OK makes the bytes of the first one: an output, a part of a result,
     * or some memory. */
    struct bytes *first;
    const char *path, *result, *part;
    const void *memory;
    size_t bytes;
    double rows;            /* of `fresh` */
    void (*check)(void);    /* what else is to be checked */
    const char *const *set; /* options, for works that differ by these alone */
    const char *input;
};

static const struct work *at_work; /* the one that runs */

/* The calls that a program makes fail. */
static const struct suite {
    const struct work *works;
    size_t count;
    int rows;                              /* of the store */
    int (*prepare)(struct ny_context *ctx); /* adds result "old", and what else the works need */
} suite;                                    /* of the program */

/* ---- what they work on --------------------------------------------------------------------- */

/* `store` holds the rows of `table` and a result "old"; calls write to `output`, to results "new"
 * or to a store `fresh`. */
static char directory[128], table[160], more[160], store[160], fresh[160], output[160];

static struct bytes whole; /* the embedding of "old" */

static void keep_output(struct bytes *bytes)
{
    bytes->data = file_content(output, &bytes->count);
    unlink(output);
}

/* Compares these bytes with the first of their kind, or keeps them as such. */
static void check_bytes(struct bytes *first, const void *data, size_t count)
{
    if (!first->data) {
        first->data = malloc(first->count = count);
        assert_non_null(first->data);
        memcpy(first->data, data, count);
    }
    assert_int_equal(count, first->count);
    assert_memory_equal(data, first->data, count);
}

static void check_output(struct bytes *first)
{
    struct bytes found;

    keep_output(&found);
    check_bytes(first, found.data, found.count);
    free(found.data);
}

static struct ny_context *new_context(void)
{
    struct ny_context *ctx;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    ny_context_set_threads(ctx, 1);
    ny_context_set_checkpoint(ctx, 0);
    return ctx;
}

/* Option, value, …, NULL. */
#define SET(...) ((const char *const[]){__VA_ARGS__, NULL})

static int options_with(struct ny_options **options, struct ny_context *ctx, const char *const *set)
{
    int err = ny_options_new(options, ctx);

    for (; err == NY_OK && *set; set += 2)
        err = ny_options_set(*options, set[0], set[1]);
    return err;
}

static inline int import_as(struct ny_context *ctx, const char *path)
{
    const char *files[] = {table};
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, SET("label-column", "class"));

    if (err == NY_OK) err = ny_import(ctx, path, files, 1, options, NULL);
    return err;
}

static int fit_with(struct ny_context *ctx, const char *path, const char *name,
                    const char *const *set)
{
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, set);

    if (err == NY_OK) err = ny_fit(ctx, path, name, options, NULL);
    return err;
}

static inline int fit_new(struct ny_context *ctx)
{
    return fit_with(ctx, store, "new", at_work->set);
}

/* A fit of all stages, greedy selection included. */
#define ALL_STAGES                                                                                 \
    SET("select", "greedy", "tolerance", "0.05", "landmarks", "40", "approx", "projected",         \
        "components", "3", "probe", "9", "memory", "200M")

/* Onto a copy of the store, so that no fault can reach what later tests rest on. */
static inline int append_fresh(struct ny_context *ctx)
{
    const char *input[] = {more};
    OWNED(ny_options) *options = NULL;
    int err;

    if (access(fresh, F_OK) != 0) case_copy(store, fresh);
    err = options_with(&options, ctx, SET("label-column", "class", "append", "yes"));
    if (err == NY_OK) err = ny_import(ctx, fresh, input, 1, options, NULL);
    return err;
}

static inline int transform_rows(struct ny_context *ctx)
{
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, SET("label-column", "class"));

    if (err == NY_OK) err = ny_transform(ctx, store, "old", at_work->input, output, options);
    return err;
}

static inline int evaluate_old(struct ny_context *ctx)
{
    OWNED(ny_report) *report = NULL;
    OWNED(ny_options) *options = NULL;
    int err = options_with(&options, ctx, /* one initialisation: quickly */
                           SET("memory", "200M", "n-init", "1", "sample", "50", "against", "old"));

    if (err == NY_OK) err = ny_evaluate(ctx, store, "old", options, &report);
    return err;
}

static int export_old(struct ny_context *ctx)
{
    return ny_export(ctx, store, "old", "embedding", output);
}

/* The store `fresh` is sound, and has so many rows. */
static void check_fresh(double rows)
{
    OWNED(ny_context) *ctx = new_context();
    OWNED(ny_report) *report = NULL;

    if (ny_verify(ctx, fresh, NULL)) fail_msg("%s", ny_context_message(ctx));
    assert_int_equal(ny_store_report(ctx, fresh, &report), NY_OK);
    assert_true(number_of(report, "n") == rows);
}

static void check_made(const struct work *work)
{
    OWNED(ny_context) *ctx = new_context();

    if (work->check) work->check();
    if (work->rows > 0) check_fresh(work->rows);
    if (work->part && ny_export(ctx, work->path, work->result, work->part, output))
        fail_msg("%s", ny_context_message(ctx));
    if (work->memory)
        check_bytes(work->first, work->memory, work->bytes);
    else if (work->first)
        check_output(work->first);
}

static inline void undo_new(void)
{
    OWNED(ny_context) *ctx = new_context();
    int err = ny_remove(ctx, store, "new");

    if (err && err != NY_EUSAGE) fail_msg("%s", ny_context_message(ctx));
}

static inline void undo_fresh(void)
{
    case_remove(fresh);
}

static inline void undo_output(void)
{
    unlink(output);
}

static inline void nothing(void)
{
}

/* ---- the loop ------------------------------------------------------------------------------ */

/* The result that was there before is as it was. */
static void check_intact(void)
{
    OWNED(ny_context) *ctx = new_context();

    if (export_old(ctx)) fail_msg("%s", ny_context_message(ctx));
    check_output(&whole);
}

static unsigned long points; /* of all works and kinds */
static long lost;            /* allocations that a work did not free */

static bool is_clean(enum kind kind, int err)
{
    if (kind == ALLOCATION || kind == MAPPING) return err == NY_EBUDGET || err == NY_EIO;
    return err == NY_EIO || err == NY_ESTORE;
}

enum { WORKS_MAX = 32 };
static long calls[WORKS_MAX][KINDS]; /* of a run in which none failed, and 1; 0: of no run */

/* Few faults do without another whole run to see that a work has no k-th call. */
static bool has_no(const struct work *work, enum kind kind, long k)
{
    long counted = calls[work - suite.works][kind];

    return getenv("NYSTREAM_FEW_FAULTS") && counted && k >= counted - 1;
}

/* Runs the work with its k-th call of the kind failing; *err is how it ended. False: it has no
 * k-th. */
static bool run_with_fault(const struct work *work, enum kind kind, long k, int *ended)
{
    long before = live;
    struct ny_context *ctx = new_context();
    int err;

    hit = false;
    countdown = k;
    at_work = work;
    for (int i = 0; i < KINDS; i++)
        made[i] = 0;
    armed = kind;
    err = work->run(ctx);
    armed = NONE;
    for (int i = 0; i < KINDS && !hit; i++)
        calls[work - suite.works][i] = made[i] + 1;
    if (ny_memory_used(ctx) != 0)
        fail_msg("%s, %s %ld: %zu bytes stay charged", work->name, kind_names[kind], k,
                 ny_memory_used(ctx));
    if (err && !hit) fail_msg("%s: %s", work->name, ny_context_message(ctx));
    if (err && !(is_clean(kind, err) && strlen(ny_context_message(ctx)) > 10))
        fail_msg("%s, %s %ld: status %d, '%s'", work->name, kind_names[kind], k, err,
                 ny_context_message(ctx));
    if (err && (kind == INTERRUPTED || kind == SHORT) && !hit_lmdb)
        fail_msg("%s, %s %ld was not gone over: '%s'", work->name, kind_names[kind], k,
                 ny_context_message(ctx));
    ny_context_free(ctx);
    if (k > 0) lost += live - before; /* the first run fills what lasts as long as the process */
    if (err == NY_OK) check_made(work);
    *ended = err;
    return hit;
}

/* Runs the work again, which continues where it was left. */
static void run_again(const struct work *work, enum kind kind, long k)
{
    struct ny_context *ctx = new_context();

    if (work->run(ctx))
        fail_msg("%s after %s %ld: %s", work->name, kind_names[kind], k, ny_context_message(ctx));
    ny_context_free(ctx);
    check_made(work);
}

/* Every which point is tried. */
static long step_of(const struct work *work, enum kind kind)
{
    long step = kind >= INTERRUPTED || work->stride > 1 ? 3 : 1;

    if (getenv("NYSTREAM_EVERY_FAULT")) return 1;
    if (kind == ALLOCATION) step = work->stride;
    return getenv("NYSTREAM_FEW_FAULTS") ? 60 * step : step;
}

static void run_all(enum kind kind)
{
    for (size_t w = 0; w < suite.count; w++) {
        const struct work *work = &suite.works[w];
        long k = 0, step = step_of(work, kind);
        int survived = 0, err;

        lost = 0;
        assert_true(w < WORKS_MAX);
        for (; !has_no(work, kind, k) && run_with_fault(work, kind, k, &err); k += step) {
            survived += err == NY_OK;
            if (k % 8 == 0) check_intact();
            if (err && k / step % 16 == 0) run_again(work, kind, k);
            work->undo();
            assert_true(k < POINTS_MAX);
        }
        work->undo();
        check_intact();
        points += (unsigned long)(k / step);
        print_message("%s: %ld points of %s, %d of them survived\n", work->name, k / step,
                      kind_names[kind], survived);
        if (lost) fail_msg("%s: %ld allocations were not freed", work->name, lost);
    }
}

/* ---- tests --------------------------------------------------------------------------------- */

static void write_table(const char *path, int rows)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fputs("a,b,c,d,class\n", file);
    for (int i = 0; i < rows; i++)
        fprintf(file, "%d,%d,%.3f,%d,%s\n", i % 7, i * i % 11, (double)(i % 97) / 10, i * 31 % 17,
                i % 2 ? "odd" : "even");
    fclose(file);
}

static void start(void)
{
    OWNED(ny_context) *ctx = NULL;
    OWNED(ny_report) *report = NULL;

    find_libraries();
    case_directory(directory);
    snprintf(table, sizeof(table), "%s/table.csv", directory);
    snprintf(more, sizeof(more), "%s/more.csv", directory);
    snprintf(store, sizeof(store), "%s/a.nys", directory);
    snprintf(fresh, sizeof(fresh), "%s/fresh.nys", directory);
    snprintf(output, sizeof(output), "%s/out.npy", directory);
    setenv("XDG_CACHE_HOME", directory, 1);
    write_table(table, suite.rows);
    write_table(more, MORE);
    ctx = new_context();
    assert_int_equal(ny_calibrate(ctx, &report), NY_OK);
    if (import_as(ctx, store) || suite.prepare(ctx) || export_old(ctx))
        fail_msg("%s", ny_context_message(ctx));
    keep_output(&whole);
}

static void stop(void)
{
    print_message("counted: %lu failed calls\n", points);
    free(whole.data);
    case_remove(directory);
}

static bool allocations_are_ours(void)
{
    char *text;

    hit = false;
    countdown = 0;
    armed = ALLOCATION;
    text = strdup("x");
    armed = NONE;
    free(text);
    return hit;
}

#define FAILS(name, kind)                                                                          \
    TEST(name)                                                                                     \
    {                                                                                              \
        run_all(kind);                                                                             \
    }

FAILS(reads_fail, READING)
FAILS(writes_fail, WRITING)
FAILS(syncs_fail, SYNCING)
FAILS(the_disk_is_full, FULL_DISK)
FAILS(maps_fail, MAPPING)
FAILS(signals_interrupt, INTERRUPTED)
FAILS(counts_are_short, SHORT)

TEST(allocations_fail)
{
    if (!blas.to || !allocations_are_ours()) {
        print_message("no allocation can be made to fail: OpenBLAS is linked statically, or a "
                      "sanitizer has its own\n");
        skip();
    }
    run_all(ALLOCATION);
}

AROUND_ALL(start, stop)

#endif
