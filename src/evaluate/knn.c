/*
 * Measure knn: the error of classifying a row by its nearest neighbours in the embedding, over ten
 * random splits of the rows in halves, one to learn from and one to test (Talwalkar et al. 2013,
 * table 3). The most frequent class of the neighbours counts, of several the nearest one's.
 *
 * The nearest of all rows are found once, from all pairs by tiles of products; of those about half
 * are to be learnt from in any split. Distances that decide are f64.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "base/thread.h"
#include "columns/pairs.h"
#include "evaluate/evaluate.h"
#include "nearest/neighbors.h"

enum { SPLITS = 10, ROWS_MAX = 65536, ROWS_MIN = 10 };

static const char *const keys[] = {"knn_error", "knn_error_sd", "knn_neighbors", "knn_rows", NULL};

struct near {
    double distance;
    uint32_t row;
};

struct knn {
    struct ny_context *ctx;
    const struct ny_evaluation *of;
    size_t n, p, t; /* rows that have a label; t neighbours vote */
    uint64_t *rows;
    float *y, *norms;
    struct ny_neighbors lists;
    struct ny_pairs pairs;
    float **values;  /* of each worker: NY_UNIT_ROWS × NY_UNIT_ROWS */
    uint16_t *wrong; /* of each row: a bit for each split */
};

/* Rows looked at. */
static size_t rows_of(const struct ny_evaluation *run)
{
    return run->n < ROWS_MAX ? (size_t)run->n : ROWS_MAX;
}

/* Length of a list: a split may learn from about half of it, and rarely from fewer than t. */
static size_t width_of(size_t n, size_t t)
{
    size_t width = 4 * t + 24;

    return width < n ? width : n - 1;
}

/* ---- candidates ---------------------------------------------------------------------------- */

/* Computes ‖u‖² + ‖v‖² − 2u·v for the pairs of a tile, in f32. These distances only choose
 * candidates. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct knn *run = arg;
    uint64_t panel;
    size_t u = (size_t)ny_pairs_unit(&run->pairs, tile->unit, &panel) * NY_UNIT_ROWS;
    size_t v = (size_t)panel * NY_UNIT_ROWS, cols = ny_pairs_rows(&run->pairs, panel);
    struct ny_matrix32 U = ny_matrix32(run->y + u * run->p, tile->rows, run->p);
    struct ny_matrix32 V = ny_matrix32(run->y + v * run->p, cols, run->p);
    struct ny_matrix32 D = ny_matrix32(run->values[tile->worker], tile->rows, cols);

    ny_gemm32(-2, U, ny_t32(V), 0, D);
    for (size_t i = 0; i < D.rows; i++)
        for (size_t j = 0; j < D.cols; j++)
            D.at[i * D.stride + j] += run->norms[u + i] + run->norms[v + j];
    return NY_OK;
}

/* Offers the distances of the tile to the lists of both its sides. On the diagonal these are the
 * same rows, which are offered once. */
static int fold(void *arg, const struct ny_tile *tile)
{
    struct knn *run = arg;
    uint64_t panel, u = ny_pairs_unit(&run->pairs, tile->unit, &panel);
    size_t cols = ny_pairs_rows(&run->pairs, panel);
    struct ny_values values = {ny_matrix32(run->values[tile->worker], tile->rows, cols),
                               tile->first_row, panel * NY_UNIT_ROWS};

    ny_neighbors_offer(&run->lists, &values, NY_SIDE_COLS | (u != panel ? NY_SIDE_ROWS : 0));
    return NY_OK;
}

static int find_candidates(struct knn *run)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    struct ny_source *points;
    int err = ny_source_of_memory(&points, run->ctx, run->y, NY_F32, run->n, run->p);

    if (err) return err;
    ny_pairs_init(&run->pairs, points, 0, ny_units_of(run->n));
    err = ny_neighbors_new(&run->lists, run->ctx, 0, run->n, width_of(run->n, run->t));
    if (err == NY_OK)
        err = ny_pass_run(&(struct ny_pass){.ctx = run->ctx,
                                            .source = &run->pairs.source,
                                            .stage = "knn",
                                            .workers = run->of->workers,
                                            .checkpoint_s = INFINITY,
                                            .flops_per_row = 2.0 * NY_UNIT_ROWS * (double)run->p},
                          &work, run);
    ny_source_free(points);
    return err;
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

/* Measures a squared distance in f64, which decides between candidates. */
static struct near measure(const struct knn *run, size_t i, size_t j)
{
    const float *x = run->y + i * run->p, *y = run->y + j * run->p;
    double sum = 0;

    for (size_t c = 0; c < run->p; c++)
        sum += ((double)x[c] - (double)y[c]) * ((double)x[c] - (double)y[c]);
    return (struct near){sum, (uint32_t)j};
}

/* Compares by distance and then by row, so that the order is unique. */
static bool nearer(struct near a, struct near b)
{
    return a.distance < b.distance || (a.distance == b.distance && a.row < b.row);
}

/* Keeps the `most` nearest of all that were put, in order; returns how many there are. */
static size_t put(struct near *list, size_t count, size_t most, struct near one)
{
    size_t at = count < most ? count : most;

    if (count == most && (most == 0 || !nearer(one, list[most - 1]))) return count;
    if (count == most) at--;
    for (; at > 0 && nearer(one, list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = one;
    return count < most ? count + 1 : count;
}

/* The t nearest that the split learns from: of the candidates, or where these are too few of all
 * rows. */
static size_t learnt(const struct knn *run, const struct near *candidates, size_t i, unsigned split,
                     struct near *chosen)
{
    size_t count = 0;

    for (size_t k = 0; k < run->lists.width && count < run->t; k++)
        if (learns(run, candidates[k].row, split)) chosen[count++] = candidates[k];
    if (count == run->t || run->lists.width + 1 == run->n) return count;
    count = 0;
    for (size_t j = 0; j < run->n; j++)
        if (j != i && learns(run, j, split)) count = put(chosen, count, run->t, measure(run, i, j));
    return count;
}

/* Returns the most frequent class; a class of a nearer row wins ties, since only more votes replace
 * it. */
static uint32_t vote(const struct knn *run, const struct near *chosen, size_t count)
{
    uint32_t best = NY_NO_CLASS;
    size_t most = 0;

    for (size_t a = 0; a < count; a++) {
        size_t votes = 0;

        for (size_t b = 0; b < count; b++)
            votes += class_of(run, chosen[a].row) == class_of(run, chosen[b].row);
        if (votes <= most) continue;
        most = votes;
        best = class_of(run, chosen[a].row);
    }
    return best;
}

static int classify(void *arg, size_t first, size_t count)
{
    const struct knn *run = arg;
    size_t width = run->lists.width;
    struct near *list = ny_calloc(run->ctx, NY_MEM_OTHER, width + run->t, sizeof(*list));
    int err = list ? NY_OK : NY_EBUDGET;

    for (size_t i = first; i < first + count && err == NY_OK; i++) {
        size_t found = 0;

        if (i % NY_UNIT_ROWS == 0) err = ny_check_interrupt(run->ctx);
        for (size_t k = 0; k < width; k++)
            found = put(list, found, width, measure(run, i, run->lists.row[i * width + k]));
        for (unsigned split = 0; split < SPLITS; split++) {
            struct near *chosen = list + width;

            if (learns(run, i, split)) continue;
            if (vote(run, chosen, learnt(run, list, i, split, chosen)) != class_of(run, i))
                run->wrong[i] |= (uint16_t)(1u << split);
        }
    }
    ny_free(run->ctx, list);
    return err;
}

/* ---- the measure --------------------------------------------------------------------------- */

/* Rows of the sample that have a label. */
static int take_rows(struct knn *run, struct ny_evaluation *evaluation)
{
    size_t all = rows_of(evaluation);
    int err;

    run->rows = ny_calloc(run->ctx, NY_MEM_OTHER, all, sizeof(uint64_t));
    if (!run->rows) return NY_EBUDGET;
    err =
        ny_cloud_sample(run->ctx, evaluation->cloud.n, all, evaluation->settings->seed, run->rows);
    for (size_t i = 0; i < all && err == NY_OK; i++)
        if (evaluation->classes.of[run->rows[i]] != NY_NO_CLASS) run->rows[run->n++] = run->rows[i];
    return err;
}

static int load_rows(struct knn *run, struct ny_evaluation *evaluation)
{
    unsigned workers = evaluation->workers;

    run->y = ny_calloc(run->ctx, NY_MEM_DICTIONARY, run->n, run->p * sizeof(float));
    run->norms = ny_calloc(run->ctx, NY_MEM_DICTIONARY, run->n, sizeof(float));
    run->wrong = ny_calloc(run->ctx, NY_MEM_DICTIONARY, run->n, sizeof(uint16_t));
    run->values = ny_calloc(run->ctx, NY_MEM_TILES, workers, sizeof(*run->values));
    if (!run->y || !run->norms || !run->wrong || !run->values) return NY_EBUDGET;
    for (unsigned w = 0; w < workers; w++) {
        size_t unit_rows = ny_panel_rows(run->n);

        run->values[w] = ny_calloc(run->ctx, NY_MEM_TILES, unit_rows, unit_rows * sizeof(float));
        if (!run->values[w]) return NY_EBUDGET;
    }
    return ny_cloud_gather(&evaluation->cloud, run->rows, run->n, run->y);
}

static void set_norms(struct knn *run)
{
    for (size_t i = 0; i < run->n; i++) {
        double norm = 0;

        for (size_t c = 0; c < run->p; c++)
            norm += (double)run->y[i * run->p + c] * (double)run->y[i * run->p + c];
        run->norms[i] = (float)norm;
    }
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

static void release(struct knn *run)
{
    for (unsigned w = 0; run->values && w < run->of->workers; w++)
        ny_free(run->ctx, run->values[w]);
    ny_free(run->ctx, run->values);
    ny_neighbors_release(&run->lists);
    ny_free(run->ctx, run->wrong);
    ny_free(run->ctx, run->norms);
    ny_free(run->ctx, run->y);
    ny_free(run->ctx, run->rows);
}

static int run_knn(struct ny_evaluation *evaluation)
{
    const char *no_classes = ny_evaluate_no_classes(evaluation);
    struct knn run = {.ctx = evaluation->ctx,
                      .of = evaluation,
                      .p = evaluation->cloud.p,
                      .t = evaluation->settings->knn_neighbors,
                      .lists = {.ctx = evaluation->ctx}};
    int err;

    if (no_classes) {
        ny_evaluate_inapplicable(evaluation, NULL, "%s", no_classes);
        return NY_OK;
    }
    err = take_rows(&run, evaluation);
    if (err) goto done;
    if (run.n < ROWS_MIN || 4 * run.t > run.n) {
        ny_evaluate_inapplicable(evaluation, NULL,
                                 "%zu rows with a label are too few for %zu "
                                 "neighbours",
                                 run.n, run.t);
        goto done;
    }
    err = load_rows(&run, evaluation);
    if (err) goto done;
    set_norms(&run);
    ny_blas_serial();
    err = find_candidates(&run);
    if (err == NY_OK) err = ny_parallel_ranges(run.ctx, run.n, classify, &run);
    if (err == NY_OK) report(evaluation, &run);
done:
    release(&run);
    return err;
}

static size_t bytes(const struct ny_evaluation *run)
{
    size_t n = rows_of(run), t = run->settings->knn_neighbors, width = n > 1 ? width_of(n, t) : 0;
    size_t p = ny_coordinates_count(&run->result.coordinates), panel = ny_panel_rows(n);

    return n * (3 * sizeof(uint64_t) + (p + 1) * sizeof(float) + sizeof(uint16_t)) +
           ny_neighbors_bytes(n, width) + run->workers * panel * panel * sizeof(float) +
           run->workers * (width + t) * sizeof(struct near) + 4096;
}

static size_t order(const struct ny_evaluation *run)
{
    return ny_panel_rows(rows_of(run));
}

const struct ny_measure ny_measure_knn = {
    .name = "knn", .keys = keys, .options = "knn-neighbors|seed",
    .labels = true, .run = run_knn, .bytes = bytes, .order = order};
