/*
 * Every allocation, and every read, write, sync and map, fails in turn while the public interface
 * works: each failure gives a status with a message, nothing leaks, what was there before is intact
 * and the same call without the fault goes through. Reads and writes that are interrupted, or do
 * half of their work, are gone over. NYSTREAM_EVERY_FAULT: all points; else a third or fewer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/context.h"
#include "base/memory.h"
#include "fault/fault_calls.h"
#include "nystream.h"
#include "support/files.h"
#include "support/store_case.h"

enum { ROWS = 2500, MORE = 700, D = 4, POINTS_MAX = 6000 };

/* ---- what is done -------------------------------------------------------------------------- */

static char directory[128], table[160], more[160], store[160], fresh[160], grown[160], output[160];
static char *whole, *placed, *page; /* embedding, the table transformed, a page of HTML */
static size_t whole_bytes, placed_bytes, page_bytes, letters;

struct work {
    const char *name;
    int (*run)(struct ny_context *ctx);
    /* What it leaves is right: called after a run that returned NY_OK. */
    void (*check)(void);
    void (*undo)(void); /* what it did */
    long stride; /* of its allocations, every which is tried in the short form */
};

static void check_output(const char *want, size_t want_bytes)
{
    size_t bytes;
    char *data = file_content(output, &bytes);

    assert_int_equal(bytes, want_bytes);
    assert_memory_equal(data, want, bytes);
    free(data);
}

static struct ny_context *new_context(void)
{
    struct ny_context *ctx;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    ny_context_set_threads(ctx, 1);
    ny_context_set_checkpoint(ctx, 0);
    return ctx;
}

static int fit_as(struct ny_context *ctx, const char *name)
{
    static const char *const set[][2] = {{"select", "greedy"},  {"tolerance", "0.05"},
                                         {"landmarks", "40"},   {"approx", "projected"},
                                         {"components", "3"},   {"probe", "9"},
                                         {"memory", "200M"}};
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    for (size_t i = 0; err == NY_OK && i < sizeof(set) / sizeof(set[0]); i++)
        err = ny_options_set(options, set[i][0], set[i][1]);
    if (err == NY_OK) err = ny_fit(ctx, store, name, options, NULL);
    ny_options_free(options);
    return err;
}

static int import_as(struct ny_context *ctx, const char *path)
{
    const char *files[] = {table};
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (err == NY_OK) err = ny_options_set(options, "label-column", "class");
    if (err == NY_OK) err = ny_import(ctx, path, files, 1, options, NULL);
    ny_options_free(options);
    return err;
}

static int export_as(struct ny_context *ctx, const char *path, const char *name)
{
    return ny_export(ctx, path, name, "embedding", output);
}

static int import_fresh(struct ny_context *ctx)
{
    return import_as(ctx, fresh);
}

static void check_store_of(double rows)
{
    struct ny_context *ctx = new_context();
    struct ny_report *report;
    double n = 0;

    if (ny_verify(ctx, fresh, &report)) fail_msg("%s", ny_context_message(ctx));
    ny_report_free(report);
    assert_int_equal(ny_store_report(ctx, fresh, &report), NY_OK);
    assert_true(ny_report_number(report, "n", &n) && n == rows);
    ny_report_free(report);
    ny_context_free(ctx);
}

static void check_fresh(void)
{
    check_store_of(ROWS);
}

static void check_appended(void)
{
    check_store_of(ROWS + MORE);
}

static void undo_fresh(void)
{
    case_remove(fresh);
}

static int fit_new(struct ny_context *ctx)
{
    return fit_as(ctx, "new");
}

static void check_new(void)
{
    struct ny_context *ctx = new_context();

    if (export_as(ctx, store, "new")) fail_msg("%s", ny_context_message(ctx));
    check_output(whole, whole_bytes);
    ny_context_free(ctx);
}

static void undo_new(void)
{
    struct ny_context *ctx = new_context();
    int err = ny_remove(ctx, store, "new");

    if (err && err != NY_EUSAGE) fail_msg("%s", ny_context_message(ctx));
    ny_context_free(ctx);
}

static int transform_table(struct ny_context *ctx)
{
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (err == NY_OK) err = ny_options_set(options, "label-column", "class");
    if (err == NY_OK) err = ny_transform(ctx, store, "old", table, output, options);
    ny_options_free(options);
    return err;
}

static void check_placed(void)
{
    check_output(placed, placed_bytes);
}

static int export_old(struct ny_context *ctx)
{
    return export_as(ctx, store, "old");
}

static void check_old(void)
{
    check_output(whole, whole_bytes);
}

static int page_old(struct ny_context *ctx)
{
    const char *name = "old";
    char html[200];
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    snprintf(html, sizeof(html), "%s.html", output);
    if (err == NY_OK) err = ny_write_report(ctx, store, &name, 1, html, options);
    ny_options_free(options);
    return err == NY_OK && rename(html, output) ? NY_EIO : err;
}

static void check_page(void)
{
    check_output(page, page_bytes);
}

static int count_letters(void *user, const char *text, size_t bytes)
{
    *(size_t *)user += text ? bytes : 0;
    return NY_OK;
}

static int letters_old(struct ny_context *ctx)
{
    const struct ny_screen screen = {60, 20, 1, 1, count_letters, &letters};
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    letters = 0;
    if (err == NY_OK) err = ny_plot_text(ctx, store, "old", options, &screen);
    ny_options_free(options);
    return err;
}

static void check_letters(void)
{
    assert_in_range(letters, 1000, 9000);
}

static void undo_output(void)
{
    unlink(output);
}

static int report_all(struct ny_context *ctx)
{
    struct ny_report *report = NULL;
    int err = ny_store_report(ctx, store, &report);

    ny_report_free(report);
    if (err) return err;
    err = ny_result_report(ctx, store, "old", &report);
    if (err == NY_OK && !ny_report_json(report))
        err = ny_fail(ctx, NY_EBUDGET, "no text of the report"); /* which is how it says so */
    ny_report_free(report);
    return err;
}

static void nothing(void)
{
}

/* Onto a copy of the store, so that no fault can reach what later tests rest on. */
static int append_fresh(struct ny_context *ctx)
{
    const char *input[] = {more};
    struct ny_options *options = NULL;
    int err;

    if (access(fresh, F_OK) != 0) case_copy(store, fresh);
    err = ny_options_new(&options, ctx);
    if (err == NY_OK) err = ny_options_set(options, "label-column", "class");
    if (err == NY_OK) err = ny_options_set(options, "append", "yes");
    if (err == NY_OK) err = ny_import(ctx, fresh, input, 1, options, NULL);
    ny_options_free(options);
    return err;
}

/* What a result that is made afresh is compared with: the first of its kind. */
static struct first {
    char *data;
    size_t bytes;
} full, frozen, neighbors, clusters, online;

static void check_first(struct first *first, const char *path, const char *name, const char *part)
{
    struct ny_context *ctx = new_context();

    if (ny_export(ctx, path, name, part, output)) fail_msg("%s", ny_context_message(ctx));
    if (first->data)
        check_output(first->data, first->bytes);
    else
        first->data = file_content(output, &first->bytes);
    unlink(output);
    ny_context_free(ctx);
}

/* Of a copy of a store that has grown since its result was made. */
static int update_as(struct ny_context *ctx, const char *mode)
{
    struct ny_options *options = NULL;
    int err;

    if (access(fresh, F_OK) != 0) case_copy(grown, fresh);
    err = ny_options_new(&options, ctx);
    if (err == NY_OK) err = ny_options_set(options, "update", mode);
    if (err == NY_OK) err = ny_options_set(options, "memory", "200M");
    if (err == NY_OK) err = ny_fit(ctx, fresh, "old", options, NULL);
    ny_options_free(options);
    return err;
}

static int update_full(struct ny_context *ctx)
{
    return update_as(ctx, "full");
}

static void check_full(void)
{
    check_first(&full, fresh, "old", "embedding");
}

static int update_frozen(struct ny_context *ctx)
{
    return update_as(ctx, "frozen");
}

static void check_frozen(void)
{
    check_first(&frozen, fresh, "old", "embedding");
}

static int graph_new(struct ny_context *ctx)
{
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (err == NY_OK) err = ny_options_set(options, "max-distance", "9");
    if (err == NY_OK) err = ny_graph(ctx, store, "new", options, NULL);
    ny_options_free(options);
    return err;
}

static void check_graph(void)
{
    check_first(&neighbors, store, "new", "neighbors");
}

static int evaluate_old(struct ny_context *ctx)
{
    struct ny_report *report = NULL;
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (err == NY_OK) err = ny_options_set(options, "memory", "200M");
    if (err == NY_OK) err = ny_options_set(options, "n-init", "1"); /* quickly */
    if (err == NY_OK) err = ny_options_set(options, "sample", "50");
    if (err == NY_OK) err = ny_options_set(options, "against", "old");
    if (err == NY_OK) err = ny_evaluate(ctx, store, "old", options, &report);
    ny_report_free(report);
    ny_options_free(options);
    return err;
}

static void check_clusters(void)
{
    check_first(&clusters, store, "old", "clusters");
}

static int embed_online(struct ny_context *ctx)
{
    struct ny_options *options = NULL;
    int err = ny_options_new(&options, ctx);

    if (err == NY_OK) err = ny_options_set(options, "online", "yes");
    if (err == NY_OK) err = ny_options_set(options, "tolerance", "0.05");
    if (err == NY_OK) err = ny_options_set(options, "label-column", "class");
    if (err == NY_OK) err = ny_embed_file(ctx, table, output, options, NULL);
    ny_options_free(options);
    return err;
}

static void check_online(void)
{
    if (!online.data) online.data = file_content(output, &online.bytes);
    check_output(online.data, online.bytes);
}

static int verify_all(struct ny_context *ctx)
{
    struct ny_report *report = NULL;
    int err = ny_verify(ctx, store, &report);

    ny_report_free(report);
    return err;
}

static const struct work works[] = {
    {"import", import_fresh, check_fresh, undo_fresh, 1},
    {"append", append_fresh, check_appended, undo_fresh, 1},
    {"fit", fit_new, check_new, undo_new, 4},
    {"transform", transform_table, check_placed, undo_output, 1},
    {"export", export_old, check_old, undo_output, 1},
    {"page", page_old, check_page, undo_output, 16},
    {"picture in letters", letters_old, check_letters, nothing, 16},
    {"report", report_all, nothing, nothing, 1},
    {"verify", verify_all, nothing, nothing, 1},
    {"update in full", update_full, check_full, undo_fresh, 16},
    {"frozen update", update_frozen, check_frozen, undo_fresh, 16},
    {"graph", graph_new, check_graph, undo_new, 16},
    {"evaluate", evaluate_old, check_clusters, nothing, 16},
    {"online embedding", embed_online, check_online, undo_output, 16},
};

/* ---- the loop ------------------------------------------------------------------------------ */

/* The result that was there before is as it was. */
static void check_intact(void)
{
    struct ny_context *ctx = new_context();

    if (export_as(ctx, store, "old")) fail_msg("%s", ny_context_message(ctx));
    check_output(whole, whole_bytes);
    unlink(output);
    ny_context_free(ctx);
}

static unsigned long points; /* of all works and kinds */
static long lost;            /* allocations that a work did not free */

static bool is_clean(enum kind kind, int err)
{
    if (kind == ALLOCATION || kind == MAPPING) return err == NY_EBUDGET || err == NY_EIO;
    return err == NY_EIO || err == NY_ESTORE;
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
    armed = kind;
    err = work->run(ctx);
    armed = NONE;
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
    if (err == NY_OK) work->check();
    *ended = err;
    return hit;
}

/* Where it was left it goes on. */
static void run_again(const struct work *work, enum kind kind, long k)
{
    struct ny_context *ctx = new_context();

    if (work->run(ctx))
        fail_msg("%s after %s %ld: %s", work->name, kind_names[kind], k, ny_context_message(ctx));
    ny_context_free(ctx);
    work->check();
}

/* Every which point is tried. */
static long step_of(const struct work *work, enum kind kind)
{
    if (getenv("NYSTREAM_EVERY_FAULT")) return 1;
    if (kind == ALLOCATION) return work->stride;
    return kind >= INTERRUPTED || work->stride > 1 ? 3 : 1;
}

static void run_all(enum kind kind)
{
    for (size_t w = 0; w < sizeof(works) / sizeof(works[0]); w++) {
        const struct work *work = &works[w];
        long k = 0, step = step_of(work, kind);
        int survived = 0, err;

        lost = 0;
        for (; run_with_fault(work, kind, k, &err); k += step) {
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

static int start(void **state)
{
    struct ny_context *ctx;
    struct ny_report *report;
    int err;

    (void)state;
    find_libraries();
    case_directory(directory);
    snprintf(table, sizeof(table), "%s/table.csv", directory);
    snprintf(more, sizeof(more), "%s/more.csv", directory);
    snprintf(store, sizeof(store), "%s/a.nys", directory);
    snprintf(fresh, sizeof(fresh), "%s/fresh.nys", directory);
    snprintf(grown, sizeof(grown), "%s/grown.nys", directory);
    snprintf(output, sizeof(output), "%s/out.npy", directory);
    setenv("XDG_CACHE_HOME", directory, 1);
    write_table(table, ROWS);
    write_table(more, MORE);
    ctx = new_context();
    err = ny_calibrate(ctx, &report);
    ny_report_free(err ? NULL : report);
    if (err == NY_OK) err = import_as(ctx, store);
    if (err == NY_OK) err = fit_as(ctx, "old");
    if (err == NY_OK) err = transform_table(ctx);
    if (err == NY_OK) placed = file_content(output, &placed_bytes);
    if (err == NY_OK) err = evaluate_old(ctx); /* what it finds is in the page */
    if (err == NY_OK) err = page_old(ctx);
    if (err == NY_OK) page = file_content(output, &page_bytes);
    if (err == NY_OK) err = export_as(ctx, store, "old");
    if (err == NY_OK) whole = file_content(output, &whole_bytes);
    if (err == NY_OK) err = append_fresh(ctx);
    if (err == NY_OK) case_copy(fresh, grown);
    undo_fresh();
    if (err) fprintf(stderr, "%s\n", ny_context_message(ctx));
    ny_context_free(ctx);
    return err;
}

static int stop(void **state)
{
    (void)state;
    print_message("counted: %lu failed calls\n", points);
    free(whole);
    free(placed);
    free(page);
    free(full.data);
    free(frozen.data);
    free(neighbors.data);
    free(clusters.data);
    case_remove(directory);
    return 0;
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

static void allocations_fail(void **state)
{
    (void)state;
    if (!blas.to || !allocations_are_ours()) {
        print_message("no allocation can be made to fail: OpenBLAS is linked statically, or a "
                      "sanitizer has its own\n");
        skip();
    }
    run_all(ALLOCATION);
}

static void kind_fails(void **state)
{
    run_all(*(const enum kind *)*state);
}

int main(void)
{
    static enum kind kinds[] = {READING, WRITING, SYNCING, FULL_DISK, MAPPING,
                                INTERRUPTED, SHORT};
    const struct CMUnitTest tests[] = {
        {"reads_fail", kind_fails, NULL, NULL, &kinds[0]},
        {"writes_fail", kind_fails, NULL, NULL, &kinds[1]},
        {"syncs_fail", kind_fails, NULL, NULL, &kinds[2]},
        {"the_disk_is_full", kind_fails, NULL, NULL, &kinds[3]},
        {"maps_fail", kind_fails, NULL, NULL, &kinds[4]},
        {"signals_interrupt", kind_fails, NULL, NULL, &kinds[5]},
        {"counts_are_short", kind_fails, NULL, NULL, &kinds[6]},
        cmocka_unit_test(allocations_fail),
    };

    return cmocka_run_group_tests_name("faults below the public interface", tests, start, stop);
}
