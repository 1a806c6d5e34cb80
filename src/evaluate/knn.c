/*
 * Measure knn: the error of classifying a row by its nearest neighbours in the embedding, over ten
 * random splits of the rows in halves, one to learn from and one to test (Talwalkar et al. 2013,
 * table 3). The most frequent class of the neighbours counts, of several the nearest one's.
 *
 * The nearest of all rows are found once, as those of points are (nearest/knn.h); of these about
 * half are to be learnt from in any split.
 */
#include <math.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "columns/kernels.h"
#include "columns/pairs.h"
#include "evaluate/evaluate.h"
#include "nearest/knn.h"

enum { SPLITS = 10, ROWS_MAX = 65536, ROWS_MIN = 10 };

static const char *const keys[] = {"knn_error", "knn_error_sd", "knn_neighbors", "knn_rows", NULL};

struct knn {
    struct ny_layout own;
    const struct ny_evaluation *of;
    size_t n, p, t; /* rows that have a label; t neighbours vote */
    uint64_t *rows;
    float *y;
    double *same; /* centre and factor of coordinates that stay as they are */
    struct ny_geometry geometry;
    struct ny_columns_spec spec;
    struct ny_held held;
    struct ny_knn find;
    struct ny_neighbors lists;
    size_t first; /* row of those whose nearest are known by now */
    struct ny_measured nearest;
    uint16_t *wrong; /* of each row: a bit for each split */
};

/* Rows looked at. */
static size_t rows_of(const struct ny_evaluation *run)
{
    return run->n < ROWS_MAX ? (size_t)run->n : ROWS_MAX;
}

static bool are_too_few(size_t n, size_t t)
{
    return n < ROWS_MIN || t > n / 4;
}

/* Nearest rows to find: a split may learn from about half of them. With a chance below 10⁻⁵
 * there are fewer than t of these, which then vote alone. */
static size_t width_of(size_t n, size_t t)
{
    size_t width = 3 * t + 20;

    return width < n ? width : n - 1;
}

/* ---- the nearest --------------------------------------------------------------------------- */

/* Tells how to find the nearest of n rows. */
static void describe(struct knn *run)
{
    run->geometry = (struct ny_geometry){.d = run->p};
    run->spec = (struct ny_columns_spec){.ctx = run->own.ctx,
                                         .kernel = &ny_kernel_euclidean,
                                         .params = {.gamma = 1},
                                         .geometry = &run->geometry,
                                         .dtype = NY_F32};
    run->find = (struct ny_knn){.spec = &run->spec,
                                .n = run->n,
                                .held = &run->held,
                                .neighbors = width_of(run->n, run->t),
                                .workers = run->of->workers};
}

/* Room for the rows, and for the nearest of some. */
static void lay(struct ny_layout *l, struct knn *run)
{
    size_t items = NY_MEASURE_ROWS * run->find.neighbors;

    run->y = ny_lay(l, NY_MEM_DICTIONARY, run->n, run->p * sizeof(float));
    run->wrong = ny_lay(l, NY_MEM_DICTIONARY, run->n, sizeof(uint16_t));
    run->same = ny_lay(l, NY_MEM_OTHER, 2 * run->p, sizeof(double));
    run->nearest.row = ny_lay(l, NY_MEM_OTHER, items, sizeof(uint32_t));
    run->nearest.distance = ny_lay(l, NY_MEM_OTHER, items, sizeof(double));
}

/* Makes points of the rows, which are read into memory. */
static int prepare(struct knn *run, struct ny_cloud *cloud)
{
    describe(run);
    lay(&run->own, run);
    if (run->own.err) return run->own.err;
    run->held = (struct ny_held){.n = run->n,
                                 .row_bytes = run->p * sizeof(float),
                                 .room = run->n,
                                 .workers = run->of->workers,
                                 .rows = (char *)run->y};
    run->geometry.centre = run->same;
    run->geometry.factor = run->same + run->p;
    for (size_t c = 0; c < run->p; c++)
        run->geometry.factor[c] = 1;
    return ny_cloud_gather(cloud, run->rows, run->n, run->y);
}

static int find_candidates(struct knn *run)
{
    int err = ny_neighbors_new(&run->lists, run->own.ctx, 0, run->n, ny_knn_width(&run->find));

    return err ? err : ny_knn_pass(&run->find, &run->lists, 0, NULL, NULL);
}

/* ---- votes --------------------------------------------------------------------------------- */

/* Tells whether a row is one to learn from in a split. It is a hash of the row number, so that
 * results do not depend on which rows were sampled. */
static bool learns(const struct knn *run, size_t i, unsigned split)
{
    uint64_t seed = run->of->settings->seed;

    return ny_hash01(seed, NY_STREAM_SPLITS, run->rows[i] * SPLITS + split) < 0.5;
}

static uint32_t class_of(const struct knn *run, size_t i)
{
    return run->of->classes.of[run->rows[i]];
}

/* The t nearest of row i that the split learns from, of those that were found. */
static size_t learnt(const struct knn *run, const uint32_t *nearest, unsigned split,
                     uint32_t *chosen)
{
    size_t count = 0;

    for (size_t k = 0; k < run->find.neighbors && count < run->t; k++)
        if (learns(run, nearest[k], split)) chosen[count++] = nearest[k];
    return count;
}

/* Returns the most frequent class; a class of a nearer row wins ties, since only more votes replace
 * it. */
static uint32_t vote(const struct knn *run, const uint32_t *chosen, size_t count)
{
    uint32_t best = NY_NO_CLASS;
    size_t most = 0;

    for (size_t a = 0; a < count; a++) {
        size_t votes = 0;

        for (size_t b = 0; b < count; b++)
            votes += class_of(run, chosen[a]) == class_of(run, chosen[b]);
        if (votes <= most) continue;
        most = votes;
        best = class_of(run, chosen[a]);
    }
    return best;
}

/* Classifies some of the rows whose nearest are known. */
static int classify(void *arg, size_t first, size_t count)
{
    const struct knn *run = arg;
    uint32_t *chosen = ny_calloc(run->own.ctx, NY_MEM_OTHER, run->t, sizeof(*chosen));

    if (!chosen) return NY_EBUDGET;
    for (size_t k = first; k < first + count; k++) {
        const uint32_t *nearest = run->nearest.row + k * run->find.neighbors;
        size_t i = run->first + k;

        for (unsigned split = 0; split < SPLITS; split++) {
            if (learns(run, i, split)) continue;
            if (vote(run, chosen, learnt(run, nearest, split, chosen)) != class_of(run, i))
                run->wrong[i] |= (uint16_t)(1u << split);
        }
    }
    ny_free(run->own.ctx, chosen);
    return NY_OK;
}

static int classify_all(struct knn *run)
{
    int err = NY_OK;

    for (run->first = 0; run->first < run->n && err == NY_OK; run->first += NY_MEASURE_ROWS) {
        size_t left = run->n - run->first, count = left < NY_MEASURE_ROWS ? left : NY_MEASURE_ROWS;

        err = ny_check_interrupt(run->own.ctx);
        if (err == NY_OK)
            err = ny_knn_measure(&run->find, &run->lists, run->first, count, &run->nearest);
        if (err == NY_OK) err = ny_parallel_ranges(run->own.ctx, count, classify, run);
    }
    return err;
}

/* ---- the measure --------------------------------------------------------------------------- */

/* Rows of the sample that have a label. */
static int take_rows(struct knn *run, struct ny_evaluation *evaluation)
{
    size_t all = rows_of(evaluation);
    int err;

    run->rows = ny_lay(&run->own, NY_MEM_OTHER, all, sizeof(uint64_t));
    if (!run->rows) return NY_EBUDGET;
    err = ny_cloud_sample(run->own.ctx, evaluation->cloud.n, all, evaluation->settings->seed,
                          run->rows);
    for (size_t i = 0; i < all && err == NY_OK; i++)
        if (evaluation->classes.of[run->rows[i]] != NY_NO_CLASS) run->rows[run->n++] = run->rows[i];
    return err;
}

static void report(struct ny_evaluation *evaluation, const struct knn *run)
{
    double error[SPLITS];

    for (unsigned split = 0; split < SPLITS; split++) {
        size_t tested = 0, wrong = 0;

        for (size_t i = 0; i < run->n; i++) {
            tested += !learns(run, i, split);
            wrong += run->wrong[i] >> split & 1;
        }
        error[split] = tested ? (double)wrong / (double)tested : 0;
    }
    ny_evaluate_spread(evaluation->report, "knn_error", "knn_error_sd", error, SPLITS);
    ny_field_set_count(evaluation->report, "knn_neighbors", run->t);
    ny_field_set_count(evaluation->report, "knn_rows", run->n);
}

static int run_knn(struct ny_evaluation *evaluation)
{
    const char *no_classes = ny_evaluate_no_classes(evaluation);
    struct knn run = {.own.ctx = evaluation->ctx,
                      .of = evaluation,
                      .p = evaluation->cloud.p,
                      .t = evaluation->settings->knn_neighbors};
    int err;

    if (no_classes) {
        ny_evaluate_inapplicable(evaluation, NULL, "%s", no_classes);
        return NY_OK;
    }
    err = take_rows(&run, evaluation);
    if (err) goto done;
    if (are_too_few(run.n, run.t)) {
        ny_evaluate_inapplicable(evaluation, NULL,
                                 "%zu rows with a label are too few for %zu "
                                 "neighbours",
                                 run.n, run.t);
        goto done;
    }
    err = prepare(&run, &evaluation->cloud);
    if (err == NY_OK) err = find_candidates(&run);
    if (err == NY_OK) err = classify_all(&run);
    if (err == NY_OK) report(evaluation, &run);
done:
    ny_neighbors_release(&run.lists);
    ny_layout_free(&run.own);
    return err;
}

static void count(struct ny_layout *l, const struct ny_evaluation *run)
{
    struct knn like = {.own.ctx = run->ctx,
                       .of = run,
                       .n = rows_of(run),
                       .p = ny_coordinates_count(&run->result.coordinates),
                       .t = run->settings->knn_neighbors};
    struct ny_layout_mark mark;

    ny_lay(l, NY_MEM_OTHER, like.n, sizeof(uint64_t)); /* their numbers */
    ny_cloud_sample_count(l, like.n);
    if (are_too_few(like.n, like.t)) return;
    describe(&like);
    lay(l, &like);
    ny_neighbors_count(l, like.n, ny_knn_width(&like.find));
    mark = ny_layout_mark(l);
    ny_knn_pass_count(l, &like.spec, like.n, run->workers);
    ny_layout_back(l, &mark);
    ny_knn_measure_count(l, &like.find);
    ny_layout_back(l, &mark);
    for (unsigned w = 0; w < run->workers; w++)
        ny_lay(l, NY_MEM_OTHER, like.t, sizeof(uint32_t));
}

static size_t order(const struct ny_evaluation *run)
{
    return ny_panel_rows(rows_of(run));
}

const struct ny_measure ny_measure_knn = {.name = "knn",
                                          .keys = keys,
                                          .options = "knn-neighbors|seed",
                                          .labels = true,
                                          .run = run_knn,
                                          .count = count,
                                          .order = order};
