/*
 * Calls killed with SIGKILL, at random moments and at random writes, and the points that they work
 * on. NYSTREAM_KILLS: how many kills each call has to survive at least (10). A test may define
 * KILLED_ROWS, how many rows its stores have.
 */
#ifndef NY_TESTS_JOB_KILL_H
#define NY_TESTS_JOB_KILL_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/context.h"
#include "base/random.h"
#include "fault/next.h"
#include "store/store.h"
#include "support/files.h"
#include "support/options.h"
#include "support/store_case.h"
#include "support/test.h"

#ifndef KILLED_ROWS
#define KILLED_ROWS 26000
#endif

enum { D = 16, ROWS = KILLED_ROWS, STAGES = 16, TRIES_MAX = 400, WRITES_MAX = 24 };

static int kills_wanted = 10;

static char directory[128], store[160];
static uint64_t draws;
static unsigned kills_made;

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
    NEXT(pwrite);
    count_write();
    return next(fd, data, bytes, at);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    NEXT(write);
    count_write();
    return next(fd, data, bytes);
}

ssize_t writev(int fd, const struct iovec *pieces, int count)
{
    NEXT(writev);
    count_write();
    return next(fd, pieces, count);
}

int fdatasync(int fd)
{
    NEXT(fdatasync);
    count_write();
    return next(fd);
}

int fsync(int fd)
{
    NEXT(fsync);
    count_write();
    return next(fd);
}

#pragma GCC visibility pop

/* ---- runs ---------------------------------------------------------------------------------- */

struct run {
    const char *name;    /* of the case */
    const char *options; /* "name=value …" */
    const char *file[2]; /* of an import; [0] of a transform */
    int (*call)(struct ny_context *ctx, const struct run *run, const char *path, const char *name,
                const struct ny_options *options);
    int again;         /* a status that means: it had come to its end before it was killed */
    const char *stage; /* NULL: the one that the result's record tells */
    size_t memory;     /* of the calls to be killed; 0: 96 MiB */
    int writes;        /* the first of a call that one is killed at; 0: WRITES_MAX */
    uint64_t rows;     /* of the store; 0: ROWS */
};

/* The call, in a process of its own: a checkpoint after every unit where it is to be killed. */
static int run_alone(const struct run *run, const char *path, const char *name, bool broken)
{
    struct ny_options *options = NULL;
    struct ny_context *ctx;
    int err = ny_context_new(&ctx);

    if (err) return err;
    ny_context_set_threads(ctx, 2);
    if (broken) ny_context_set_checkpoint(ctx, 0);
    if (broken) ny_context_set_memory(ctx, run->memory ? run->memory : 96 << 20);
    err = ny_options_new(&options, ctx);
    if (err == NY_OK && run->options) err = options_set(options, run->options);
    if (err == NY_OK) err = run->call(ctx, run, path, name, options);
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
static void count_kill(const struct run *run, const char *path, const char *name)
{
    OWNED(ny_report) *report = NULL;
    OWNED(ny_context) *ctx = NULL;
    const char *stage = run->stage ? run->stage : "start";

    kills_made++;
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    if (!run->stage && ny_result_report(ctx, path, name, &report) == NY_OK &&
        ny_report_text(report, "stage"))
        stage = ny_report_text(report, "stage");
    for (int i = 0; i < STAGES; i++) {
        if (by_stage[i].kills && strcmp(by_stage[i].stage, stage) != 0) continue;
        snprintf(by_stage[i].stage, sizeof(by_stage[i].stage), "%s", stage);
        by_stage[i].kills++;
        break;
    }
}

/* Starts the call in a process of its own, which kills itself at this write; -1: at none. */
static pid_t start_alone(const struct run *run, const char *path, const char *name, bool broken,
                         int write)
{
    pid_t child;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (child > 0) return child;
    atomic_store(&writes_left, write);
    _exit(run_alone(run, path, name, broken));
}

/* True: it was killed; false: it ended, well. */
static bool was_killed(pid_t child, const struct run *run, const char *path, const char *name)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) {
        assert_int_equal(WTERMSIG(status), SIGKILL);
        count_kill(run, path, name);
        return true;
    }
    assert_true(status == 0 || (run->again && WEXITSTATUS(status) == run->again));
    return false;
}

/* Every other kill is at a write, the others at any moment of the run's seconds: more of them with
 * each try, as the machine may be slow now. */
static bool kill_once(const struct run *run, const char *path, const char *name, double seconds,
                      int tries)
{
    bool at_write = draw(2) == 0;
    int write = (int)draw(run->writes ? (uint64_t)run->writes : WRITES_MAX);
    useconds_t moment_us = (useconds_t)((double)draw(1000) * seconds * 1e3 * (1 + tries / 8.0));
    pid_t child = start_alone(run, path, name, true, at_write ? write : -1);

    if (!at_write) {
        usleep(moment_us);
        kill(child, SIGKILL);
    }
    return was_killed(child, run, path, name);
}

/* Seconds of the unbroken run. */
static double run_whole(const struct run *run, const char *path, const char *name)
{
    double start_s = ny_now();
    pid_t child = start_alone(run, path, name, false, -1);
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return ny_now() - start_s;
}

/* ---- what is left -------------------------------------------------------------------------- */

/* Every part of two results has the same bytes, or neither has it. */
static inline void same_results_in(const char *first, const char *one, const char *second,
                                   const char *other)
{
    struct ny_context *ctx;
    char a[200], b[200];
    int parts = 0;

    snprintf(a, sizeof(a), "%s/a.npy", directory);
    snprintf(b, sizeof(b), "%s/b.npy", directory);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    for (const char *const *part = ny_export_parts(); *part; part++) {
        int err = ny_export(ctx, first, one, *part, a);

        assert_int_equal(ny_export(ctx, second, other, *part, b), err);
        if (err == NY_EUSAGE) continue;
        if (err) fail_msg("%s: %s", *part, ny_context_message(ctx));
        same_files(a, b, *part);
        parts++;
    }
    assert_true(parts >= 3);
    ny_context_free(ctx);
}

static void check_sound(const char *path)
{
    OWNED(ny_report) *report = NULL;
    OWNED(ny_context) *ctx = NULL;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    if (ny_verify(ctx, path, &report)) fail_msg("%s", ny_context_message(ctx));
}

/* ---- data ---------------------------------------------------------------------------------- */

/* Clusters on a curve, the same ones each time. */
static float value_of(uint64_t row, uint64_t column)
{
    double noise = ny_hash01(7, NY_STREAM_DATA, row * D + column) - 0.5;

    return (float)((double)((row * 7 + column * column) % 11) + noise);
}

/* Rows first … of them, appended to `store`. */
static inline void append_points(uint64_t first, uint64_t rows)
{
    float *values = malloc((size_t)rows * D * sizeof(float));
    struct ny_context *ctx;

    assert_non_null(values);
    for (uint64_t i = 0; i < rows; i++)
        for (uint64_t j = 0; j < D; j++)
            values[i * D + j] = value_of(first + i, j);
    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_append_rows(ctx, store, values, rows, D, NULL), NY_OK);
    ny_context_free(ctx);
    free(values);
}

static inline void remove_store(void)
{
    case_remove(store);
}

/* A store of so many rows, in the place of the last; 0: of ROWS. */
static inline void new_store_of(uint64_t rows)
{
    remove_store();
    append_points(0, rows ? rows : ROWS);
}

static inline void new_store(void)
{
    snprintf(store, sizeof(store), "%s/a.nys", directory);
    append_points(0, ROWS);
}

static inline int call_fit(struct ny_context *ctx, const struct run *run, const char *path,
                           const char *name, const struct ny_options *options)
{
    (void)run;
    return ny_fit(ctx, path, name, options, NULL);
}

static void start(void)
{
    const char *wanted = getenv("NYSTREAM_KILLS");

    if (wanted) kills_wanted = atoi(wanted);
    case_directory(directory);
}

static void stop(void)
{
    for (int i = 0; i < STAGES && by_stage[i].kills; i++)
        print_message("killed in stage %s: %d\n", by_stage[i].stage, by_stage[i].kills);
    print_message("counted: %u kills\n", kills_made);
    case_remove(directory);
}

#endif
