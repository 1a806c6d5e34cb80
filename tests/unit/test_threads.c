/* Handles of their own, threads of the program: stores apart from one another, and results of one
 * store, are as if each thread had been alone. (Under ThreadSanitizer: and no data race.) */
#include <pthread.h>

#include "nystream.h"
#include "support/store_case.h"
#include "support/test.h"

enum { THREADS = 4, ROWS = 600, COLUMNS = 3, P = 2, ROUNDS = 2 };

static char folder[128], shared[160];
static float rows[ROWS * COLUMNS];

struct task {
    pthread_t thread;
    int number, status;
    const char *store, *name;
    char message[256];
    float stored[ROWS * P], placed[ROWS * P];
    double error;
};

/* The first call that fails ends the task. */
static int failed(struct task *task, struct ny_context *ctx, int status)
{
    if (status && !task->status) {
        task->status = status;
        snprintf(task->message, sizeof(task->message), "%s", ny_context_message(ctx));
    }
    return task->status;
}

static void fit(struct task *task, struct ny_context *ctx)
{
    static const char *const settings[][2] = {{"landmarks", "30"}, {"gamma", "0.4"}};
    OWNED(ny_report) *report = NULL;
    OWNED(ny_options) *options = NULL;
    char *seed = lend_text("%d", task->number);

    if (failed(task, ctx, ny_options_new(&options, ctx))) return;
    for (int i = 0; i < 2; i++)
        failed(task, ctx, ny_options_set(options, settings[i][0], settings[i][1]));
    failed(task, ctx, ny_options_set(options, "seed", seed));
    failed(task, ctx, ny_fit(ctx, task->store, task->name, options, &report));
    if (!task->status) ny_report_number(report, "trace_error", &task->error);
}

static void read_back(struct task *task, struct ny_context *ctx)
{
    struct ny_report *report = NULL;
    OWNED(ny_model) *model = NULL;
    char *output = lend_text("%s/%d.npy", folder, task->number);

    failed(task, ctx, ny_embedding_read(ctx, task->store, task->name, 0, ROWS, task->stored));
    if (failed(task, ctx, ny_model_open(&model, ctx, task->store, task->name))) return;
    failed(task, ctx, ny_model_transform(model, rows, ROWS, task->placed));
    failed(task, ctx, ny_export(ctx, task->store, task->name, "landmarks", output));
    if (!failed(task, ctx, ny_store_report(ctx, task->store, &report))) ny_report_free(report);
    if (!failed(task, ctx, ny_verify(ctx, task->store, &report))) ny_report_free(report);
}

static void *run(void *arg)
{
    struct task *task = arg;
    struct ny_context *ctx;

    task->status = ny_context_new(&ctx);
    if (task->status) return NULL;
    ny_context_set_memory(ctx, 256 << 20);
    ny_context_set_threads(ctx, 2);
    if (task->store != shared)
        failed(task, ctx, ny_append_rows(ctx, task->store, rows, ROWS, COLUMNS, NULL));
    if (!task->status) fit(task, ctx);
    if (!task->status) read_back(task, ctx);
    ny_context_free(ctx);
    return NULL;
}

static void check(const struct task *task, const struct task *alone)
{
    if (task->status) fail_msg("%s: %s", task->name, task->message);
    assert_memory_equal(task->stored, task->placed, sizeof(task->stored));
    assert_memory_equal(task->stored, alone->stored, sizeof(task->stored));
    assert_true(task->error == alone->error && task->error > 0);
}

/* `together` tasks at a time, each also by itself in a store of its own. */
static void run_tasks(bool one_store)
{
    static struct task tasks[THREADS], alone[THREADS];
    char stores[2][THREADS][200], names[THREADS][32];

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < THREADS; i++) {
            snprintf(stores[0][i], 200, "%s/%d-%d-%d", folder, one_store, round, i);
            snprintf(stores[1][i], 200, "%s/%d-%d-%d-alone", folder, one_store, round, i);
            snprintf(names[i], sizeof(names[i]), "r%d-%d", round, i);
            tasks[i] = (struct task){.number = i, .name = names[i],
                                     .store = one_store ? shared : stores[0][i]};
            alone[i] = (struct task){.number = i, .name = names[i], .store = stores[1][i]};
        }
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&tasks[i].thread, NULL, run, &tasks[i]), 0);
        for (int i = 0; i < THREADS; i++)
            pthread_join(tasks[i].thread, NULL);
        for (int i = 0; i < THREADS; i++) {
            run(&alone[i]);
            check(&tasks[i], &alone[i]);
        }
    }
}

TEST(stores_of_their_own)
{
    run_tasks(false);
}

TEST(results_of_one_store)
{
    struct ny_context *ctx;

    assert_int_equal(ny_context_new(&ctx), NY_OK);
    assert_int_equal(ny_append_rows(ctx, shared, rows, ROWS, COLUMNS, NULL), NY_OK);
    ny_context_free(ctx);
    run_tasks(true);
}

static void start(void)
{
    case_directory(folder);
    snprintf(shared, sizeof(shared), "%s/shared.nys", folder);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        rows[i] = (float)sin(0.37 * i) + (float)(i % 5) / 4;
}

static void stop(void)
{
    case_remove(folder);
}

AROUND_ALL(start, stop)
