/*
 * Fits killed over every stage, selections and transforms killed, and readers of the store. The same
 * call goes on where the last one was; what it leaves has the same bytes as an unbroken run.
 */
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

/* Checks that the probes of two results found the same, or that neither had one. */
static void same_probes(struct ny_context *ctx, const char *one, const char *other)
{
    static const char *const keys[] = {"probe_columns", "probe_error", "probe_standard_error"};
    struct ny_report *a, *b;

    assert_int_equal(ny_result_report(ctx, store, one, &a), NY_OK);
    assert_int_equal(ny_result_report(ctx, store, other, &b), NY_OK);
    for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
        double x = -1, y = -1;

        assert_int_equal(ny_report_number(a, keys[k], &x), ny_report_number(b, keys[k], &y));
        if (x < y || x > y) fail_msg("%s: %.17g and %.17g", keys[k], x, y);
    }
    ny_report_free(a);
    ny_report_free(b);
}

static void same_results(const char *one, const char *other)
{
    struct ny_context *ctx;

    same_results_in(store, one, store, other);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    same_probes(ctx, one, other);
    ny_context_free(ctx);
}

static void kill_fits(const struct run *run)
{
    double seconds;
    int kills = 0;

    seconds = run_whole(run, store, "whole");
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
    struct ny_report *report = NULL;
    int err = ny_verify(ctx, path, &report);

    (void)run;
    (void)name;
    (void)options;
    ny_report_free(report);
    return err;
}

/* A file is there when it is complete, and not before; a killed reader leaves the store as it is. */
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

static void readers_leave_all_as_it_is(void **state)
{
    const struct run base = {.call = call_fit,
                             .name = "fit",
                             .option = {"approx", "nystrom", "landmarks", "50", "components", "8"}};
    const struct run graph = {
        .call = call_graph, .name = "graph", .option = {"neighbors", "2", "knn", "forest"}};
    char table[200], few[200];
    const struct run transform = {.call = call_transform, .name = "transform",
                                  .stage = "transform", .file = {table}};
    const struct run neighbors = {.call = call_neighbors,
                                  .name = "neighbors of new rows",
                                  .stage = "transform",
                                  .file = {few}};
    const struct run export = {.call = call_export, .name = "export", .stage = "export"};
    const struct run verify = {.call = call_verify, .name = "verify", .stage = "verify"};

    (void)state;
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

static void nystrom_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "nystrom",
                            .option = {"approx", "nystrom", "landmarks", "150", "certify", "yes"}};

    (void)state;
    kill_fits(&run);
}

static void chosen_columns_go_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "features",
                            .option = {"approx", "nystrom", "landmarks", "150", "features",
                                       "min-rows:9000", "scale", "idf-smooth"}};

    (void)state;
    kill_fits(&run);
}

static void randomized_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "randomized, laplacian",
                            .option = {"approx", "randomized", "map", "laplacian", "power", "1",
                                       "oversample", "2"}};

    (void)state;
    kill_fits(&run);
}

static void gaussian_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "gaussian",
                            .option = {"approx", "gaussian", "landmarks", "8", "probe", "100"}};

    (void)state;
    kill_fits(&run);
}

static void column_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "column",
                            .option = {"approx", "column", "landmarks", "150", "components", "3",
                                       "probe", "1000"}};

    (void)state;
    kill_fits(&run);
}

static void projected_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "projected, f64",
                            .option = {"approx", "projected", "landmarks", "120", "precision",
                                       "f64", "map", "svd"}};

    (void)state;
    kill_fits(&run);
}

static void blocks_go_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "projected, randomized",
                            .option = {"approx", "projected", "inner", "randomized", "landmarks",
                                       "120", "oversample", "1", "components", "4"}};

    (void)state;
    kill_fits(&run);
}

static void diffusion_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "diffusion",
                            .option = {"map", "diffusion", "normalize", "asymmetric", "landmarks",
                                       "150"}};

    (void)state;
    kill_fits(&run);
}

static void ensemble_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "ensemble",
                            .option = {"approx", "ensemble", "landmarks", "150", "weights",
                                       "ridge"}};

    (void)state;
    kill_fits(&run);
}

static void greedy_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "projected, greedy",
                            .option = {"approx", "projected", "select", "greedy", "tolerance",
                                       "0.05", "landmarks", "150"}};

    (void)state;
    kill_fits(&run);
}

/* Landmarks join in both batches. */
static void online_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "projected, online",
                            .option = {"online", "yes", "tolerance", "0.15", "gamma", "0.05"}};

    (void)state;
    kill_fits(&run);
}

static void rpcholesky_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "projected, rpcholesky",
                            .option = {"approx", "projected", "select", "rpcholesky", "gamma",
                                       "1e-4", "landmarks", "150"}};

    (void)state;
    kill_fits(&run);
}

static void greedy_of_a_size_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "projected, greedy of a size",
                            .option = {"approx", "projected", "select", "greedy", "landmarks",
                                       "150"}};

    (void)state;
    kill_fits(&run);
}

static void weighted_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_fit,
                            .name = "projected, weighted",
                            .option = {"approx", "projected", "select", "weighted", "landmarks",
                                       "150"}};

    (void)state;
    kill_fits(&run);
}

static void select_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_select,
                            .name = "select, greedy of a size",
                            .option = {"select", "greedy", "landmarks", "150"}};

    (void)state;
    kill_fits(&run);
}

/* Fits with the smallest budget that does. */
static int call_least(struct ny_context *ctx, const struct run *run, const char *path,
                      const char *name, const struct ny_options *options)
{
    struct ny_report *plan = NULL;
    double least = 0;
    int err = ny_plan(ctx, path, options, &plan);

    if (err == NY_OK) assert_true(ny_report_number(plan, "memory_min_bytes", &least));
    ny_report_free(plan);
    ny_context_set_memory(ctx, (size_t)least);
    return err ? err : call_fit(ctx, run, path, name, options);
}

/* Returns the bytes of path lengths that a fit held from its first sweep on. */
static double kept_bytes(const char *name)
{
    struct ny_context *ctx;
    struct ny_report *report;
    double bytes = 0;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_result_report(ctx, store, name, &report), NY_OK);
    ny_report_number(report, "columns_kept_bytes", &bytes);
    ny_report_free(report);
    ny_context_free(ctx);
    return bytes;
}

/* Kills maps of a stored graph, as the stages of the graph would take most of the kills. */
static void kill_maps_of_graph(__typeof__(&call_fit) call, const char *approx)
{
    const struct run graph = {.call = call_graph, .name = "graph", .option = {"neighbors", "4"}};
    const struct run run = {.call = call,
                            .name = approx,
                            .writes = 150, /* of all stages */
                            .option = {"map", "isomap", "landmarks", "150", "graph", "graph",
                                       "largest", "yes", "approx", approx}};

    run_whole(&graph, store, "graph");
    kill_fits(&run);
}

static void isomap_goes_on_as_if_unbroken(void **state)
{
    (void)state;
    kill_maps_of_graph(call_fit, "nystrom");
    assert_true(kept_bytes("whole") > 0);
}

static void isomap_of_two_sweeps_goes_on_as_if_unbroken(void **state)
{
    (void)state;
    kill_maps_of_graph(call_least, "nystrom");
    assert_true(kept_bytes("whole") <= 0);
}

static void isomap_by_columns_goes_on_as_if_unbroken(void **state)
{
    (void)state;
    kill_maps_of_graph(call_fit, "column");
}

/* Kills a graph of all pairs, whose parts are joined. */
static void graph_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_graph,
                            .name = "graph, exact",
                            .option = {"neighbors", "6", "connect", "yes", "sweep", "1,2"}};

    (void)state;
    kill_fits(&run);
}

/* Half of the rows fit in memory, so that kills come between groups of them, too. */
static void forest_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_graph,
                            .name = "graph, forest",
                            .memory = 54 << 20,
                            .option = {"knn", "forest", "leaf", "32", "neighbors", "3", "recall",
                                       "0.99"}};

    (void)state;
    kill_fits(&run);
}

/* Kills a graph by a tree whose lists are held a range of rows at a time. */
static void tree_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.call = call_graph,
                            .name = "graph, tree",
                            .memory = 54 << 20,
                            .option = {"knn", "tree", "neighbors", "6", "sweep", "1,2"}};

    (void)state;
    kill_fits(&run);
}

static void eigenmaps_go_on_as_if_unbroken(void **state)
{
    const struct run graph = {.call = call_graph, .name = "graph", .option = {"neighbors", "4"}};
    const struct run run = {.call = call_fit,
                            .name = "eigenmaps",
                            .option = {"map", "eigenmaps", "graph", "g", "largest", "yes",
                                       "precision", "f64"}};

    (void)state;
    run_whole(&graph, store, "g");
    kill_fits(&run);
}

/* ---- at each write in turn ----------------------------------------------------------------- */

static int few_rows(void **state)
{
    (void)state;
    snprintf(store, sizeof(store), "%s/few.nys", directory);
    append_points(0, 300);
    return 0;
}

/* Kills a fit of NAME at its write number `write`; false: it ended before. */
static bool kill_at(const struct run *run, const char *name, int write)
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        atomic_store(&writes_left, write);
        _exit(run_alone(run, store, name, true));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFSIGNALED(status)) {
        assert_int_equal(status, 0);
        return false;
    }
    assert_int_equal(WTERMSIG(status), SIGKILL);
    count_kill(run, store, name);
    return true;
}

/* A process that begins with any stage has all that the stage needs. */
static void all_of_k_goes_on_from_every_write(void **state)
{
    static const struct run runs[] = {
        {.call = call_fit,
         .name = "gaussian",
         .option = {"approx", "gaussian", "landmarks", "6", "components", "3"}},
        {.call = call_fit,
         .name = "randomized",
         .option = {"approx", "randomized", "map", "laplacian", "components", "3"}},
        {.call = call_fit,
         .name = "by-features",
         .option = {"approx", "randomized", "map", "laplacian", "kernel", "cosine", "power", "1",
                    "oversample", "1"}},
        {.call = call_fit,
         .name = "features",
         .option = {"approx", "exact", "map", "laplacian", "kernel", "linear"}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
        int write = 0;
        char name[32];

        run_whole(&runs[i], store, runs[i].name);
        for (; snprintf(name, sizeof(name), "%s-%d", runs[i].name, write) > 0 &&
               kill_at(&runs[i], name, write);
             write++) {
            run_whole(&runs[i], store, name);
            same_results(runs[i].name, name);
        }
        assert_true(write > 10);
    }
    check_sound(store);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(readers_leave_all_as_it_is, new_store, remove_store),
        cmocka_unit_test_setup_teardown(select_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(graph_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(forest_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(tree_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(nystrom_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(chosen_columns_go_on_as_if_unbroken, new_store,
                                        remove_store),
        cmocka_unit_test_setup_teardown(randomized_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(gaussian_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(all_of_k_goes_on_from_every_write, few_rows, remove_store),
        cmocka_unit_test_setup_teardown(column_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(projected_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(blocks_go_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(ensemble_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(diffusion_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(greedy_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(online_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(weighted_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(rpcholesky_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(greedy_of_a_size_goes_on_as_if_unbroken, new_store,
                                        remove_store),
        cmocka_unit_test_setup_teardown(eigenmaps_go_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(isomap_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(isomap_of_two_sweeps_goes_on_as_if_unbroken, new_store,
                                        remove_store),
        cmocka_unit_test_setup_teardown(isomap_by_columns_goes_on_as_if_unbroken, new_store,
                                        remove_store),
    };

    return cmocka_run_group_tests_name("jobs killed at any moment", tests, start, stop);
}
