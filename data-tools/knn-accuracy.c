/*
 * How well an embedding keeps classes apart: k-nearest-neighbour accuracy of held-out points, by
 * comparing each with every training point. Arithmetic: tests × training points × columns.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "base/thread.h"
#include "tool.h"

static const char usage[] =
    "knn-accuracy TRAIN TRAIN_LABELS TEST TEST_LABELS [--k K]\n"
    "\n"
    "Predicts the label of each row of TEST by the majority of its K (1) nearest rows of TRAIN,\n"
    "Euclidean and exact, and prints the share that is right. A tie goes to the class of the\n"
    "nearest among the tied. Tables and labels: any format that nystream imports.\n";

enum { BLOCK = 2048 }; /* training points whose distances are held at a time */

struct neighbour {
    float distance2;
    double label;
};

struct knn {
    struct ny_context *ctx;
    const struct tool_table *train, *test;
    const float *columns; /* the training points, d × n: a distance loop runs along memory */
    size_t k;
    unsigned char *right; /* one flag a test point */
};

/* distance2[j] = |point − x_j|², j in first … first+count−1. */
static void block_distances(const struct knn *knn, const float *point, size_t first, size_t count,
                            float *distance2)
{
    memset(distance2, 0, count * sizeof *distance2);
    for (size_t c = 0; c < knn->train->d; c++) {
        const float *column = knn->columns + c * knn->train->n + first;
        float at = point[c];

        for (size_t j = 0; j < count; j++) {
            float difference = column[j] - at;
            distance2[j] += difference * difference;
        }
    }
}

/* Keeps `nearest` sorted; of equal distances the earlier row stays in front. */
static void insert(struct neighbour *nearest, size_t k, float distance2, double label)
{
    size_t at = k - 1;

    while (at > 0 && nearest[at - 1].distance2 > distance2) {
        nearest[at] = nearest[at - 1];
        at--;
    }
    nearest[at] = (struct neighbour){distance2, label};
}

static double majority(const struct neighbour *nearest, size_t k)
{
    size_t best = 0, best_votes = 0;

    for (size_t i = 0; i < k; i++) {
        size_t votes = 0;

        for (size_t j = 0; j < k; j++)
            votes += nearest[j].label == nearest[i].label;
        if (votes > best_votes) {
            best = i;
            best_votes = votes;
        }
    }
    return nearest[best].label;
}

static int classify(void *arg, size_t first, size_t count)
{
    const struct knn *knn = arg;
    struct neighbour *nearest = ny_calloc(knn->ctx, NY_MEM_OTHER, knn->k, sizeof *nearest);
    float distance2[BLOCK];

    if (!nearest) return NY_EBUDGET;
    for (size_t i = first; i < first + count; i++) {
        for (size_t j = 0; j < knn->k; j++)
            nearest[j] = (struct neighbour){INFINITY, NAN};
        for (size_t at = 0; at < knn->train->n; at += BLOCK) {
            size_t rows = knn->train->n - at < BLOCK ? knn->train->n - at : BLOCK;

            block_distances(knn, knn->test->values + i * knn->test->d, at, rows, distance2);
            for (size_t j = 0; j < rows; j++)
                if (distance2[j] < nearest[knn->k - 1].distance2)
                    insert(nearest, knn->k, distance2[j], knn->train->labels[at + j]);
        }
        knn->right[i] = majority(nearest, knn->k) == knn->test->labels[i];
    }
    ny_free(knn->ctx, nearest);
    return NY_OK;
}

/* Ends the tool where a row has no label, which could be neither right nor wrong. */
static void check_labels(const struct tool_table *table, const char *labels)
{
    for (size_t i = 0; i < table->n; i++)
        if (isnan(table->labels[i]))
            tool_fail(NY_EDATA,
                      "%s has no label for row %zu (from 0): leave rows without one out of both "
                      "files.",
                      labels, i);
}

static float *transposed(struct ny_context *ctx, const struct tool_table *table)
{
    float *columns = tool_alloc(ctx, table->n * table->d, sizeof *columns);

    for (size_t i = 0; i < table->n; i++)
        for (size_t c = 0; c < table->d; c++)
            columns[c * table->n + i] = table->values[i * table->d + c];
    return columns;
}

int main(int argc, char **argv)
{
    const char *paths[4] = {0};
    uint64_t k = 1;
    const struct tool_option options[] = {{"--k", TOOL_COUNT, &k}, {NULL, TOOL_TEXT, NULL}};
    struct ny_context *ctx;
    struct ny_classes *classes = NULL;
    struct tool_table train, test;
    struct knn knn;
    size_t right = 0;

    tool_arguments(argc, argv, usage, options, (struct tool_positional){paths, 4, 0});
    ctx = tool_start();
    tool_check(ctx, ny_classes_new(&classes, ctx));
    tool_table_read(ctx, paths[0], paths[1], classes, &train);
    tool_table_read(ctx, paths[2], paths[3], classes, &test);
    check_labels(&train, paths[1]);
    check_labels(&test, paths[3]);
    if (train.d != test.d)
        tool_fail(NY_EDATA, "%s has %zu columns, %s has %zu.", paths[0], train.d, paths[2], test.d);
    if (k == 0 || k > train.n)
        tool_fail(NY_EUSAGE, "--k must be 1 to %zu, the number of training points.", train.n);
    knn = (struct knn){.ctx = ctx, .train = &train, .test = &test, .k = k};
    knn.columns = transposed(ctx, &train);
    knn.right = tool_alloc(ctx, test.n, 1);
    tool_check(ctx, ny_parallel_ranges(ctx, test.n, classify, &knn));
    for (size_t i = 0; i < test.n; i++)
        right += knn.right[i];
    printf(
        "accuracy %.4f (%zu of %zu, %zu-nearest neighbours among %zu points in %zu dimensions)\n",
        (double)right / (double)test.n, right, test.n, (size_t)k, train.n, train.d);
    ny_classes_free(classes);
    tool_end(ctx);
    return 0;
}
