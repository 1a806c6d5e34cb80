/*
 * Fits killed over every stage, selections and transforms killed, and readers of the store. The
 * same call goes on where the last one was; what it leaves has the same bytes as an unbroken run.
 */
#include <jansson.h>

/* Five units, of which the last is short. */
#define KILLED_ROWS 9000
#include "fault/job_kill.h"

static int call_select(struct ny_context *ctx, const struct run *run, const char *path,
                       const char *name, const struct ny_options *options)
{
    (void)run;
    return ny_select(ctx, path, name, options, NULL);
}

static int call_graph(struct ny_context *ctx, const struct run *run, const char *path,
                      const char *name, const struct ny_options *options)
{
    (void)run;
    return ny_graph(ctx, path, name, options, NULL);
}

/* Checks that two results measured the same errors, or that neither measured one. */
static void same_errors(struct ny_context *ctx, const char *one, const char *other)
{
    static const char *const keys[] = {"probe_columns", "probe_error", "probe_standard_error",
                                       "component_errors", "component_errors_se"};
    OWNED(ny_report) *a = NULL, *b = NULL;
    OWNED(json_t) *x = NULL, *y = NULL;

    assert_int_equal(ny_result_report(ctx, store, one, &a), NY_OK);
    assert_int_equal(ny_result_report(ctx, store, other, &b), NY_OK);
    x = json_loads(ny_report_json(a), 0, NULL);
    y = json_loads(ny_report_json(b), 0, NULL);
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        const json_t *mine = json_object_get(x, keys[k]), *its = json_object_get(y, keys[k]);

        if (mine != its && !json_equal(mine, its)) fail_msg("%s of %s is another", keys[k], other);
    }
}

static void same_results(const char *one, const char *other)
{
    OWNED(ny_context) *ctx = NULL;

    same_results_in(store, one, store, other);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    same_errors(ctx, one, other);
}

static void kill_fits(const struct run *run)
{
    double seconds = run_whole(run, store, "whole");
    int kills = 0;

    for (int attempt = 0; kills < kills_wanted; attempt++) {
        int tries = 0;
        char name[32];

        assert_true(attempt < 4 * kills_wanted);
        snprintf(name, sizeof(name), "broken-%d", attempt);
        while (kill_once(run, store, name, seconds, tries++)) {
            kills++;
            assert_true(tries < TRIES_MAX);
        }
        same_results("whole", name);
    }
    check_sound(store);
    print_message("%s: %d kills\n", run->name, kills);
}

/* ---- what only reads the store ------------------------------------------------------------- */

static void output_of(char output[200], const char *name)
{
    snprintf(output, 200, "%s/%s.npy", directory, name);
}

static int call_transform(struct ny_context *ctx, const struct run *run, const char *path,
                          const char *name, const struct ny_options *options)
{
    char output[200];

    output_of(output, name);
    return ny_transform(ctx, path, "fitted", run->file[0], output, options);
}

/* Finds neighbors by a graph. Their distances are in a file of their own, which is done first. */
static int call_neighbors(struct ny_context *ctx, const struct run *run, const char *path,
                          const char *name, const struct ny_options *options)
{
    char output[200], distances[200], of_distances[64];
    const struct ny_placing placing = {.path = path,
                                       .name = "near",
                                       .input = run->file[0],
                                       .import = options,
                                       .output = output,
                                       .distances = distances,
                                       .neighbors = 7};

    snprintf(of_distances, sizeof(of_distances), "%s-distances", name);
    output_of(output, name);
    output_of(distances, of_distances);
    return ny_place(ctx, &placing, NULL);
}

static int call_export(struct ny_context *ctx, const struct run *run, const char *path,
                       const char *name, const struct ny_options *options)
{
    char output[200];

    (void)run;
    (void)options;
    output_of(output, name);
    return ny_export(ctx, path, "fitted", "embedding", output);
}

static int call_verify(struct ny_context *ctx, const struct run *run, const char *path,
                       const char *name, const struct ny_options *options)
{
    OWNED(ny_report) *report = NULL;
    int err = ny_verify(ctx, path, &report);

    (void)run;
    (void)name;
    (void)options;
    return err;
}

/* A file is there when it is complete, not before; a killed reader leaves the store as it is. */
static void kill_readers(const struct run *run)
{
    char whole[200], broken[200], distances[200], broken_distances[200];
    double seconds = run_whole(run, store, "whole");
    int kills = 0;

    output_of(whole, "whole");
    output_of(broken, "broken");
    output_of(distances, "whole-distances");
    output_of(broken_distances, "broken-distances");
    for (int attempt = 0; kills < kills_wanted; attempt++) {
        int tries = 0;

        assert_true(attempt < 40 * kills_wanted);
        unlink(broken);
        unlink(broken_distances);
        while (kill_once(run, store, "broken", seconds, tries++)) {
            kills++;
            if (access(broken_distances, F_OK) == 0)
                same_files(distances, broken_distances, run->name);
            else if (run->call == call_neighbors)
                assert_int_equal(access(broken, F_OK), -1);
            if (access(broken, F_OK) == 0) same_files(whole, broken, run->name);
        }
        if (run->call != call_verify) same_files(whole, broken, run->name);
        if (run->call == call_neighbors) same_files(distances, broken_distances, run->name);
    }
    check_sound(store);
    print_message("%s: %d kills\n", run->name, kills);
}

/* Writes rows that follow those of the store. */
static void write_rows(const char *path, uint64_t rows)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = 0; j < D; j++)
            fprintf(file, "%.6g%c", (double)value_of(i + ROWS, j), j + 1 < D ? ',' : '\n');
    fclose(file);
}

TEST(readers_leave_all_as_it_is)
{
    const struct run base = {"fit", "approx=nystrom landmarks=50 components=8", .call = call_fit};
    const struct run graph = {
        .call = call_graph, .name = "graph", .options = "neighbors=2 knn=sieve"};
    char table[200], few[200];
    const struct run transform = {
        .call = call_transform, .name = "transform", .stage = "transform", .file = {table}};
    const struct run neighbors = {.call = call_neighbors,
                                  .name = "neighbors of new rows",
                                  .stage = "transform",
                                  .file = {few}};
    const struct run export = {.call = call_export, .name = "export", .stage = "export"};
    const struct run verify = {.call = call_verify, .name = "verify", .stage = "verify"};

    snprintf(table, sizeof(table), "%s/table.csv", directory);
    snprintf(few, sizeof(few), "%s/few.csv", directory);
    write_rows(table, ROWS);
    write_rows(few, ROWS / 20);
    run_whole(&base, store, "fitted");
    run_whole(&graph, store, "near");
    kill_readers(&transform);
    kill_readers(&neighbors);
    kill_readers(&export);
    kill_readers(&verify);
}

/* ---- fits and selections ------------------------------------------------------------------- */

TEST(jobs_go_on_as_if_unbroken)
{
    static const struct run runs[] = {
        {"nystrom", "approx=nystrom landmarks=150 certify=yes", .call = call_fit},
        {"features", "approx=nystrom landmarks=150 features=min-rows:3000 scale=idf-smooth",
         .call = call_fit},
        {"randomized, laplacian", "approx=randomized map=laplacian power=1 oversample=2",
         .call = call_fit},
        {"gaussian", "approx=gaussian landmarks=8 probe=1000", .call = call_fit},
        {"column", "approx=column landmarks=150 components=3 probe=1000", .call = call_fit},
        {"projected, f64", "approx=projected landmarks=120 precision=f64 map=svd",
         .call = call_fit},
        {"projected, randomized",
         "approx=projected inner=randomized landmarks=120 oversample=1 components=4",
         .call = call_fit},
        {"diffusion", "map=diffusion normalize=asymmetric landmarks=150", .call = call_fit},
        {"ensemble", "approx=ensemble landmarks=150 weights=ridge", .call = call_fit},
        {"projected, greedy", "approx=projected select=greedy tolerance=0.05 landmarks=150",
         .call = call_fit},
        /* landmarks join in both batches */
        {"projected, online", "online=yes tolerance=0.15 gamma=0.05", .call = call_fit,
         .rows = 26000},
        {"projected, rpcholesky", "approx=projected select=rpcholesky gamma=1e-4 landmarks=150",
         .call = call_fit},
        {"projected, greedy of a size", "approx=projected select=greedy landmarks=150",
         .call = call_fit},
        {"projected, weighted", "approx=projected select=weighted landmarks=150", .call = call_fit},
        {"select, greedy of a size", "select=greedy landmarks=150", .call = call_select},
        /* all pairs, whose parts are joined */
        {"graph, exact", "neighbors=6 connect=yes sweep=1,2", .call = call_graph, .rows = 16000},
        {"graph, sieve", "knn=sieve neighbors=3 recall=0.99", .call = call_graph},
        /* lists are held a range of rows at a time */
        {"graph, tree", "knn=tree neighbors=6 sweep=1,2", .call = call_graph, .memory = 54 << 20,
         .rows = 26000},
    };

    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        new_store_of(runs[i].rows);
        kill_fits(&runs[i]);
    }
}

/* Fits with the smallest budget that does. */
static int call_least(struct ny_context *ctx, const struct run *run, const char *path,
                      const char *name, const struct ny_options *options)
{
    OWNED(ny_report) *plan = NULL;
    double least = 0;
    int err = ny_plan(ctx, path, options, &plan);

    if (err == NY_OK) assert_true(ny_report_number(plan, "memory_min_bytes", &least));
    ny_context_set_memory(ctx, (size_t)least);
    return err ? err : call_fit(ctx, run, path, name, options);
}

/* Returns the bytes of path lengths that a fit held from its first sweep on. */
static double kept_bytes(const char *name)
{
    OWNED(ny_context) *ctx = NULL;
    OWNED(ny_report) *report = NULL;
    double bytes = 0;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_result_report(ctx, store, name, &report), NY_OK);
    ny_report_number(report, "columns_kept_bytes", &bytes);
    return bytes;
}

/* Kills maps of a stored graph, as the stages of the graph would take most of the kills. */
static void kill_maps_of_graph(__typeof__(&call_fit) call, const char *approx)
{
    const struct run graph = {"graph", "neighbors=4", .call = call_graph};
    char options[100];
    const struct run run = {
        .call = call, .name = approx, .writes = 150, /* of all stages */ .options = options};

    snprintf(options, sizeof(options), "map=isomap landmarks=150 graph=graph largest=yes approx=%s",
             approx);
    run_whole(&graph, store, "graph");
    kill_fits(&run);
}

TEST(isomap_goes_on_as_if_unbroken)
{
    kill_maps_of_graph(call_fit, "nystrom");
    assert_true(kept_bytes("whole") > 0);
    new_store_of(0);
    kill_maps_of_graph(call_least, "nystrom"); /* in two sweeps */
    assert_true(kept_bytes("whole") <= 0);
    new_store_of(0);
    kill_maps_of_graph(call_fit, "column");
}

TEST(eigenmaps_go_on_as_if_unbroken)
{
    const struct run graph = {"graph", "neighbors=4", .call = call_graph};
    const struct run run = {"eigenmaps", "map=eigenmaps graph=g largest=yes precision=f64",
                            .call = call_fit};

    run_whole(&graph, store, "g");
    kill_fits(&run);
}

/* ---- at each write in turn ----------------------------------------------------------------- */

/* A process that begins with any stage has all that the stage needs. */
TEST(all_of_k_goes_on_from_every_write)
{
    static const struct run runs[] = {
        {"gaussian", "approx=gaussian landmarks=6 components=3 check-rows=2", .call = call_fit},
        {"randomized", "approx=randomized map=laplacian components=3", .call = call_fit},
        {"by-features", "approx=randomized map=laplacian kernel=cosine power=1 oversample=1",
         .call = call_fit},
        {"features", "approx=exact map=laplacian kernel=linear", .call = call_fit},
    };

    case_remove(store);
    append_points(0, 300);
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        const struct run *run = &runs[i];
        int write = 0;
        char name[32];

        run_whole(run, store, run->name);
        for (; snprintf(name, sizeof(name), "%s-%d", run->name, write) > 0 &&
               was_killed(start_alone(run, store, name, true, write), run, store, name);
             write++) {
            run_whole(run, store, name);
            same_results(run->name, name);
        }
        assert_true(write > 10);
    }
    check_sound(store);
}

AROUND_ALL(start, stop)
AROUND_EACH(new_store, remove_store)
