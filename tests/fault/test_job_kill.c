/*
 * Imports and fits killed with SIGKILL, at random moments and at random writes, over every stage.
 * The same call goes on where the last one was; what it leaves has the same bytes as an unbroken run.
 */
#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/random.h"
#include "store/store.h"
#include "support/store_case.h"

enum { D = 16, ROWS = 26000, OPTIONS = 10, STAGES = 8, TRIES_MAX = 400, WRITES_MAX = 24 };

/* How many kills each fit has to survive at least. */
static int kills_wanted = 9;

static char directory[128], store[160];
static uint64_t draws;

static struct {
    char stage[16];
    int kills;
} by_stage[STAGES];

/* ---- a process that kills itself at a write ------------------------------------------------ */

static atomic_int writes_left = -1;

static void count_write(void)
{
    if (atomic_load(&writes_left) >= 0 && atomic_fetch_sub(&writes_left, 1) == 0)
        kill(getpid(), SIGKILL);
}

#pragma GCC visibility push(default) /* LMDB finds these too */
ssize_t pwrite(int fd, const void *data, size_t bytes, off_t at)
{
    static __typeof__(&pwrite) real;

    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "pwrite");
    count_write();
    return real(fd, data, bytes, at);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    static __typeof__(&writev) real;

    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "writev");
    count_write();
    return real(fd, pieces, count);
}

int fdatasync(int fd)
{
    static __typeof__(&fdatasync) real;

    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "fdatasync");
    count_write();
    return real(fd);
}

#pragma GCC visibility pop

/* ---- runs ---------------------------------------------------------------------------------- */

struct run {
    const char *name;             /* of the case */
    const char *option[OPTIONS];  /* name, value, … */
    const char *file[2];          /* of an import */
};

static int set_all(struct ny_options *options, const struct run *run)
{
    int err = NY_OK;

    for (size_t i = 0; err == NY_OK && i < OPTIONS && run->option[i]; i += 2)
        err = ny_options_set(options, run->option[i], run->option[i + 1]);
    return err;
}

/* The call, in a process of its own: a checkpoint after every unit where it is to be killed. */
static int run_alone(const struct run *run, const char *path, const char *name, bool broken)
{
    struct ny_options *options = NULL;
    struct ny_context *ctx;
    int err = ny_context_new(&ctx);

    if (err) return err;
    ny_context_set_threads(ctx, 2);
    if (broken) ny_context_set_checkpoint(ctx, 0);
    if (broken) ny_context_set_memory(ctx, run->file[0] ? 32 << 20 : 96 << 20);
    err = ny_options_new(&options, ctx);
    if (err == NY_OK) err = set_all(options, run);
    if (err == NY_OK && run->file[0])
        err = ny_import(ctx, path, run->file, run->file[1] ? 2 : 1, options, NULL);
    else if (err == NY_OK)
        err = ny_fit(ctx, path, name, options, NULL);
    if (err) fprintf(stderr, "%s: %s\n", run->name, ny_context_message(ctx));
    ny_options_free(options);
    ny_context_free(ctx);
    return err;
}

static uint64_t draw(uint64_t below)
{
    return ny_hash64(1, NY_STREAM_DATA, draws++) % below;
}

/* The stage that the record says; "start" before there is one. */
static void count_kill(const char *path, const char *name)
{
    struct ny_report *report = NULL;
    struct ny_context *ctx;
    const char *stage = name ? "start" : "import";

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    if (name && ny_result_report(ctx, path, name, &report) == NY_OK &&
        ny_report_text(report, "stage"))
        stage = ny_report_text(report, "stage");
    for (int i = 0; i < STAGES; i++) {
        if (by_stage[i].kills && strcmp(by_stage[i].stage, stage) != 0) continue;
        snprintf(by_stage[i].stage, sizeof(by_stage[i].stage), "%s", stage);
        by_stage[i].kills++;
        break;
    }
    ny_report_free(report);
    ny_context_free(ctx);
}

/* True: it was killed; false: it ended, well. Every other kill is at a write, the others at any
 * moment of the whole run's seconds. */
static bool kill_once(const struct run *run, const char *path, const char *name, double seconds)
{
    bool at_write = draw(2) == 0;
    int write = (int)draw(WRITES_MAX), status;
    useconds_t moment_us = (useconds_t)((double)draw(1000) * seconds * 1e3);
    pid_t child;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (at_write) atomic_store(&writes_left, write);
        _exit(run_alone(run, path, name, true));
    }
    if (!at_write) {
        usleep(moment_us);
        kill(child, SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        count_kill(path, name);
        return true;
    }
    /* An import that was killed after its commit is there, and is not made twice. */
    assert_true(status == 0 || (run->file[0] && WEXITSTATUS(status) == NY_EUSAGE));
    return false;
}

/* Seconds of the unbroken run. */
static double run_whole(const struct run *run, const char *path, const char *name)
{
    double start_s = ny_now();
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    if (child == 0) _exit(run_alone(run, path, name, false));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return ny_now() - start_s;
}

/* ---- what is left -------------------------------------------------------------------------- */

static char *content(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    char *data;

    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *bytes = (size_t)ftell(file);
    rewind(file);
    data = malloc(*bytes + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *bytes, file), *bytes);
    fclose(file);
    return data;
}

static void same_files(const char *a, const char *b, const char *what)
{
    size_t bytes_a, bytes_b;
    char *data_a = content(a, &bytes_a), *data_b = content(b, &bytes_b);

    if (bytes_a != bytes_b || memcmp(data_a, data_b, bytes_a) != 0) fail_msg("%s differs", what);
    free(data_a);
    free(data_b);
}

/* What a probe found of two results is the same, or neither had one. */
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

/* Every part of two results has the same bytes, or neither has it. */
static void same_results(const char *one, const char *other)
{
    struct ny_context *ctx;
    char a[200], b[200];
    int parts = 0;

    snprintf(a, sizeof(a), "%s/a.npy", directory);
    snprintf(b, sizeof(b), "%s/b.npy", directory);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    for (const char *const *part = ny_export_parts(); *part; part++) {
        int err = ny_export(ctx, store, one, *part, a);

        assert_int_equal(ny_export(ctx, store, other, *part, b), err);
        if (err == NY_EUSAGE) continue;
        if (err) fail_msg("%s: %s", *part, ny_context_message(ctx));
        same_files(a, b, *part);
        parts++;
    }
    assert_true(parts >= 5);
    same_probes(ctx, one, other);
    ny_context_free(ctx);
}

static void check_sound(const char *path)
{
    struct ny_report *report = NULL;
    struct ny_context *ctx;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    if (ny_verify(ctx, path, &report)) fail_msg("%s", ny_context_message(ctx));
    ny_report_free(report);
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
        while (kill_once(run, store, name, seconds)) {
            kills++;
            assert_true(tries++ < TRIES_MAX);
        }
        same_results("whole", name);
    }
    check_sound(store);
    print_message("%s: %d kills\n", run->name, kills);
}

/* ---- the tests ----------------------------------------------------------------------------- */

/* Clusters on a curve, the same ones each time. */
static float value_of(uint64_t row, uint64_t column)
{
    double noise = ny_hash01(7, NY_STREAM_DATA, row * D + column) - 0.5;

    return (float)((double)((row * 7 + column * column) % 11) + noise);
}

static void import_points(void)
{
    float *values = malloc((size_t)ROWS * D * sizeof(float));
    struct ny_context *ctx;

    assert_non_null(values);
    for (uint64_t i = 0; i < ROWS; i++)
        for (uint64_t j = 0; j < D; j++)
            values[i * D + j] = value_of(i, j);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_append_rows(ctx, store, values, ROWS, D, NULL), NY_OK);
    ny_context_free(ctx);
    free(values);
}

static int start(void **state)
{
    const char *wanted = getenv("NYSTREAM_KILLS");

    (void)state;
    if (wanted) kills_wanted = atoi(wanted);
    case_directory(directory);
    return 0;
}

static int stop(void **state)
{
    (void)state;
    for (int i = 0; i < STAGES && by_stage[i].kills; i++)
        print_message("killed in stage %s: %d\n", by_stage[i].stage, by_stage[i].kills);
    case_remove(directory);
    return 0;
}

static int new_store(void **state)
{
    (void)state;
    snprintf(store, sizeof(store), "%s/a.nys", directory);
    import_points();
    return 0;
}

static int remove_store(void **state)
{
    (void)state;
    case_remove(store);
    return 0;
}

static void nystrom_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "nystrom",
                            .option = {"approx", "nystrom", "landmarks", "150", "certify", "yes"}};

    (void)state;
    kill_fits(&run);
}

static void randomized_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "randomized, laplacian",
                            .option = {"approx", "randomized", "map", "laplacian", "power", "1",
                                       "oversample", "2"}};

    (void)state;
    kill_fits(&run);
}

static void gaussian_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "gaussian",
                            .option = {"approx", "gaussian", "landmarks", "8", "probe", "100"}};

    (void)state;
    kill_fits(&run);
}

static void column_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "column",
                            .option = {"approx", "column", "landmarks", "150", "components", "3",
                                       "probe", "1000"}};

    (void)state;
    kill_fits(&run);
}

static void projected_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "projected, f64",
                            .option = {"approx", "projected", "landmarks", "120", "precision",
                                       "f64", "map", "svd"}};

    (void)state;
    kill_fits(&run);
}

static void blocks_go_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "projected, randomized",
                            .option = {"approx", "projected", "inner", "randomized", "landmarks",
                                       "120", "oversample", "1", "components", "4"}};

    (void)state;
    kill_fits(&run);
}

static void diffusion_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "diffusion",
                            .option = {"map", "diffusion", "normalize", "asymmetric", "landmarks",
                                       "150"}};

    (void)state;
    kill_fits(&run);
}

static void ensemble_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "ensemble",
                            .option = {"approx", "ensemble", "landmarks", "150", "weights",
                                       "ridge"}};

    (void)state;
    kill_fits(&run);
}

static void greedy_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "projected, greedy",
                            .option = {"approx", "projected", "select", "greedy", "tolerance",
                                       "0.05", "landmarks", "150"}};

    (void)state;
    kill_fits(&run);
}

static void rpcholesky_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "projected, rpcholesky",
                            .option = {"approx", "projected", "select", "rpcholesky", "gamma",
                                       "1e-4", "landmarks", "150"}};

    (void)state;
    kill_fits(&run);
}

static void greedy_of_a_size_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "projected, greedy of a size",
                            .option = {"approx", "projected", "select", "greedy", "landmarks",
                                       "150"}};

    (void)state;
    kill_fits(&run);
}

static void weighted_goes_on_as_if_unbroken(void **state)
{
    const struct run run = {.name = "projected, weighted",
                            .option = {"approx", "projected", "select", "weighted", "landmarks",
                                       "150"}};

    (void)state;
    kill_fits(&run);
}

/* ---- import -------------------------------------------------------------------------------- */

static void write_table(const char *path, uint64_t first, uint64_t rows)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (int j = 0; j < D; j++)
        fprintf(file, "x%d,", j);
    fputs("class\n", file);
    for (uint64_t i = first; i < first + rows; i++) {
        for (uint64_t j = 0; j < D; j++)
            fprintf(file, "%.6g,", (double)value_of(i, j));
        fprintf(file, "%s\n", i % 3 ? "odd" : "even");
    }
    fclose(file);
}

static void same_points(const char *one, const char *other)
{
    const char *paths[2] = {one, other};
    struct ny_points_info info[2];
    struct ny_store *opened;
    struct ny_context *ctx;
    void *rows[2];
    double *labels[2];
    uint64_t *source[2];

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    for (int k = 0; k < 2; k++) {
        size_t n;

        assert_int_equal(ny_store_open(&opened, ctx, paths[k]), NY_OK);
        assert_int_equal(ny_points_info(opened, &info[k]), NY_OK);
        n = (size_t)info[k].n;
        rows[k] = malloc(n * D * sizeof(double));
        labels[k] = malloc(n * sizeof(double));
        source[k] = malloc(n * sizeof(uint64_t));
        assert_true(rows[k] && labels[k] && source[k]);
        assert_int_equal(ny_points_read(opened, 0, 0, n, rows[k]), NY_OK);
        assert_int_equal(ny_points_labels(opened, 0, n, labels[k]), NY_OK);
        assert_int_equal(ny_points_source(opened, 0, n, source[k]), NY_OK);
        ny_store_close(opened);
    }
    assert_int_equal(info[0].n, info[1].n);
    assert_int_equal(info[0].dtype, info[1].dtype);
    assert_int_equal(info[0].dropped, info[1].dropped);
    assert_memory_equal(rows[0], rows[1], info[0].n * D * ny_dtype_size(info[0].dtype));
    assert_memory_equal(labels[0], labels[1], info[0].n * sizeof(double));
    assert_memory_equal(source[0], source[1], info[0].n * sizeof(uint64_t));
    for (int k = 0; k < 2; k++) {
        free(rows[k]);
        free(labels[k]);
        free(source[k]);
    }
    ny_context_free(ctx);
}

static void kill_imports(const struct run *run)
{
    char whole[200], broken[200];
    double seconds;
    int kills = 0;

    snprintf(whole, sizeof(whole), "%s/whole.nys", directory);
    snprintf(broken, sizeof(broken), "%s/broken.nys", directory);
    seconds = run_whole(run, whole, NULL);
    for (int attempt = 0; kills < kills_wanted; attempt++) {
        int tries = 0;

        assert_true(attempt < 8 * kills_wanted);
        while (kill_once(run, broken, NULL, seconds)) {
            kills++;
            assert_true(tries++ < TRIES_MAX);
        }
        same_points(whole, broken);
        check_sound(broken);
        case_remove(broken);
    }
    case_remove(whole);
    print_message("%s: %d kills\n", run->name, kills);
}

static void imports_go_on_as_if_unbroken(void **state)
{
    static char first[200], second[200];
    const struct run plain = {.name = "import of two files",
                              .option = {"label-column", "class"},
                              .file = {first, second}};
    const struct run shuffled = {.name = "shuffled import",
                                 .option = {"label-column", "class", "shuffle", "yes", "dtype",
                                            "f64"},
                                 .file = {first, second}};

    (void)state;
    snprintf(first, sizeof(first), "%s/first.csv", directory);
    snprintf(second, sizeof(second), "%s/second.csv", directory);
    write_table(first, 0, ROWS);
    write_table(second, ROWS, ROWS / 2);
    kill_imports(&plain);
    kill_imports(&shuffled);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports_go_on_as_if_unbroken),
        cmocka_unit_test_setup_teardown(nystrom_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(randomized_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(gaussian_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(column_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(projected_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(blocks_go_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(ensemble_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(diffusion_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(greedy_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(weighted_goes_on_as_if_unbroken, new_store, remove_store),
        cmocka_unit_test_setup_teardown(rpcholesky_goes_on_as_if_unbroken, new_store,
                                        remove_store),
        cmocka_unit_test_setup_teardown(greedy_of_a_size_goes_on_as_if_unbroken, new_store,
                                        remove_store),
    };

    return cmocka_run_group_tests_name("jobs killed at any moment", tests, start, stop);
}
