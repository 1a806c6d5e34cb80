/* Estimates the share of true neighbours in the lists from rows with exact neighbours. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/random.h"
#include "nearest/forest_private.h"
#include "nearest/knn_private.h"
#include "nearest/one_row.h"
#include "stream/rows.h"

/* ---- the sample ----------------------------------------------------------------------------- */

size_t ny_recall_sample_bytes(const struct ny_knn *knn)
{
    size_t row_bytes = ny_raw_bytes(knn->spec);

    return NY_RECALL_ROWS * (row_bytes + sizeof(uint32_t) + sizeof(double) + sizeof(uint64_t)) +
           ny_knn_compare_bytes(knn);
}

static int read_rows(struct ny_recall_sample *sample, const struct ny_knn *knn)
{
    uint64_t *list = ny_calloc(sample->ctx, NY_MEM_DICTIONARY, sample->count, sizeof(*list));
    int err = NY_EBUDGET;

    if (!list) return err;
    for (size_t i = 0; i < sample->count; i++)
        list[i] = sample->row[i];
    err = knn->X->ops->gather(knn->X, knn->spec->slots, list, sample->count, sample->raw);
    ny_free(sample->ctx, list);
    return err;
}

/* Finds how far the true t-th neighbour of each row of the sample is, in passes over all points. */
static int find_last(struct ny_recall_sample *sample, const struct ny_knn *knn)
{
    size_t t = knn->neighbors;
    struct ny_near *near =
        ny_calloc(sample->ctx, NY_MEM_DICTIONARY, NY_COMPARE_ROWS, t * sizeof(*near));
    int err = near ? NY_OK : NY_EBUDGET;

    for (size_t first = 0; first < sample->count && err == NY_OK; first += NY_COMPARE_ROWS) {
        size_t left = sample->count - first;
        size_t count = left < NY_COMPARE_ROWS ? left : NY_COMPARE_ROWS;

        struct ny_knn_again rows = {sample->raw + first * ny_raw_bytes(knn->spec),
                                    sample->row + first, count, NULL};

        err = ny_knn_compare(knn, &rows, near);
        for (size_t i = 0; i < count && err == NY_OK; i++)
            sample->last[first + i] = near[i * t + t - 1].value;
    }
    ny_free(sample->ctx, near);
    return err;
}

int ny_recall_sample_new(struct ny_recall_sample *sample, const struct ny_knn *knn, uint64_t seed)
{
    struct ny_context *ctx = knn->spec->ctx;
    size_t count = knn->n < NY_RECALL_ROWS ? (size_t)knn->n : NY_RECALL_ROWS;
    int err;

    *sample = (struct ny_recall_sample){.ctx = ctx, .count = count};
    sample->row = ny_calloc(ctx, NY_MEM_DICTIONARY, count, sizeof(uint32_t));
    sample->raw = ny_calloc(ctx, NY_MEM_DICTIONARY, count, ny_raw_bytes(knn->spec));
    sample->last = ny_calloc(ctx, NY_MEM_DICTIONARY, count, sizeof(double));
    if (!sample->row || !sample->raw || !sample->last) return NY_EBUDGET;
    for (size_t i = 0; i < count; i++) {
        uint64_t begin = knn->n * i / count, length = knn->n * (i + 1) / count - begin;

        sample->row[i] = (uint32_t)(begin + ny_hash64(seed, NY_STREAM_RECALL, i) % length);
    }
    err = read_rows(sample, knn);
    return err ? err : find_last(sample, knn);
}

void ny_recall_sample_release(struct ny_recall_sample *sample)
{
    if (!sample->ctx) return;
    ny_free(sample->ctx, sample->last);
    ny_free(sample->ctx, sample->raw);
    ny_free(sample->ctx, sample->row);
    *sample = (struct ny_recall_sample){0};
}

/* ---- recall --------------------------------------------------------------------------------- */

/* Neighbours of sample row i that its list has. Its last one was measured by a product of matrices,
 * these are one by one: the same distance may differ by this share. */
#define ROUNDING 1e-9

struct finder {
    struct ny_one_row one;
    double *values; /* width */
    char *raw;      /* width rows */
};

static int finder_init(struct finder *finder, const struct ny_forest *forest)
{
    const struct ny_columns_spec *spec = forest->knn->spec;
    size_t width = forest->lists.width;
    int err = ny_one_row_init(&finder->one, spec);

    if (err) return err;
    finder->values = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, width, sizeof(double));
    finder->raw = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, width, ny_raw_bytes(spec));
    return finder->values && finder->raw ? NY_OK : NY_EBUDGET;
}

static void finder_release(struct finder *finder, struct ny_context *ctx)
{
    ny_one_row_release(&finder->one, ctx);
    ny_free(ctx, finder->values);
    ny_free(ctx, finder->raw);
}

/* Counts the listed neighbours of a row that are as near as its true ones, at most t. */
static int found_of(const struct finder *finder, const struct ny_forest *forest,
                    const struct ny_recall_sample *sample, size_t i, size_t *found)
{
    size_t width = forest->lists.width, t = forest->knn->neighbors, count = 0;
    size_t row_bytes = ny_raw_bytes(forest->knn->spec);
    const uint32_t *rows = forest->lists.row + (size_t)sample->row[i] * width;
    int err;

    for (; count < width && rows[count] != NY_NO_ROW; count++)
        memcpy(finder->raw + count * row_bytes, ny_held_row(&forest->held, rows[count]), row_bytes);
    err = ny_one_row_set(&finder->one, sample->raw + i * row_bytes);
    if (!err) err = ny_one_row_values(&finder->one, finder->raw, count, finder->values);
    *found = 0;
    for (size_t k = 0; k < count && !err; k++)
        *found += finder->values[k] <= sample->last[i] * (1 + ROUNDING);
    if (*found > t) *found = t;
    return err;
}

/* Wants all rows of a list; false if there is no room for them beside those wanted before. */
static bool want_list(struct ny_forest *forest, uint32_t row)
{
    size_t width = forest->lists.width;
    const uint32_t *rows = forest->lists.row + (size_t)row * width;

    for (size_t k = 0; k < width && rows[k] != NY_NO_ROW; k++)
        if (!ny_held_want(&forest->held, rows[k])) return false;
    return true;
}

struct ny_recall ny_recall_of(double sum, double squares, double rows, double t)
{
    const double z = 1.96;
    double p = sum / (rows * t), variance = squares / (rows * t * t) - p * p, trials = rows;
    double middle, half;

    if (variance > 0 && p < 1) trials = rows * p * (1 - p) / variance;
    if (trials > rows * t) trials = rows * t;
    middle = (p + z * z / (2 * trials)) / (1 + z * z / trials);
    half = z / (1 + z * z / trials) * sqrt(p * (1 - p) / trials + z * z / (4 * trials * trials));
    /* the interval holds p itself, at its end when p is 0 or 1 */
    return (struct ny_recall){p, fmin(middle - half, p), fmax(middle + half, p)};
}

int ny_forest_recall(struct ny_forest *forest, const struct ny_recall_sample *sample,
                     struct ny_recall *recall)
{
    double sum = 0, squares = 0, t = (double)forest->knn->neighbors;
    struct finder finder = {0};
    int err = finder_init(&finder, forest);

    for (size_t first = 0; first < sample->count && err == NY_OK;) {
        size_t end = first, found;

        ny_held_clear(&forest->held);
        while (end < sample->count && want_list(forest, sample->row[end]))
            end++;
        err = ny_held_load(&forest->held);
        for (; first < end && err == NY_OK; first++) {
            err = found_of(&finder, forest, sample, first, &found);
            sum += (double)found;
            squares += (double)found * (double)found;
        }
    }
    finder_release(&finder, forest->knn->spec->ctx);
    *recall = ny_recall_of(sum, squares, (double)sample->count, t);
    return err;
}
