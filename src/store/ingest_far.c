/*
 * Rows of an append that lie far outside those of the store: another unit, columns in another
 * order, a file of something else. Nothing is refused, as they may be meant; a warning says so just
 * before they become visible, and how they come out again.
 *
 * The statistics of the import are those of all rows, so that what the new ones add to the old is
 * theirs, at four numbers a column. Of each column r is the root mean square distance of new values
 * from the old mean. They are far where all of these hold:
 *
 *   r > 10 s          s: the old standard deviation. Ten is what the drift of new rows goes by, too
 *   r > max − min     of the old values. Rare values, such as those of sparse rows, have a small s
 *   n r² > 10 v²      n: the new rows; v: the largest distance of any value. A few odd rows do not
 *                     make a bad night: it takes the squares of ten
 *
 * Columns that were constant are not judged, as there is no scale to judge by, nor are fewer rows
 * than 30 on either side.
 */
#include <math.h>

#include "base/memory.h"
#include "store/ingest_private.h"

enum { ROWS_LEAST = 30 };
static const double deviations = 10, odd = 10;

/* Returns how many old standard deviations the new values of column j are from the old mean; 0
 * where they are not far. */
static double distance(const struct ny_moments *old, const struct ny_moments *all, size_t j)
{
    size_t d = old->d;
    const double *a = old->cells + j, *b = all->cells + j; /* mean, M2, minimum, maximum: d apart */
    double n = (double)all->n, before = (double)old->n, added = n - before;
    double shift = (b[0] - a[0]) * n / added, range = a[3 * d] - a[2 * d];
    /* Σ(x − old mean)² over all rows, less that over the old ones */
    double squares = b[d] + n * (b[0] - a[0]) * (b[0] - a[0]) - a[d];
    double r = sqrt(fmax(squares / added, shift * shift)), s = sqrt(a[d] / before);
    double v = fmax(b[3 * d] - a[0], a[0] - b[2 * d]);

    return s > 0 && r > deviations * s && r > range && added * r * r > odd * v * v ? r / s : 0;
}

/* Warns of the columns in which new rows are far from the old ones. */
static int compare(struct ny_ingest *ingest, const struct ny_moments *old)
{
    struct ny_store *store = ingest->store;
    char column[NY_COLUMN_WORDS_BYTES];
    size_t far = 0, worst = 0;
    double most = 0;
    int err;

    for (size_t j = 0; j < old->d; j++) {
        double here = distance(old, &ingest->moments, j);

        far += here > 0;
        if (here <= most) continue;
        most = here;
        worst = j;
    }
    ingest->told_far = far > 0;
    if (!far) return NY_OK;
    err = ny_points_column_words(store, worst, column);
    if (!err)
        ny_log(ingest->ctx, NY_LOG_WARNING,
               "the new rows are far outside those of the store in %zu of %zu columns, most of all "
               "in %s, where they are %.3g standard deviations from the mean: are they on the same "
               "scale, with the columns in the same order? 'nystream truncate %s --keep %llu' "
               "takes them out again",
               far, old->d, column, most, store->path, (unsigned long long)old->n);
    return err;
}

int ny_ingest_warn_far(struct ny_ingest *ingest)
{
    struct ny_context *ctx = ingest->ctx;
    struct ny_moments old = {.n = ingest->base.n, .d = ingest->moments.d};
    size_t bytes = sizeof(struct ny_stats_record) + 4 * old.d * sizeof(double);
    struct ny_stats_record *record;
    struct ny_snapshot *view;
    int end, err;

    if (ingest->spec.piece || old.n < ROWS_LEAST || ingest->moments.n - old.n < ROWS_LEAST ||
        bytes > ny_memory_left(ctx))
        return NY_OK;
    record = ny_alloc(ctx, NY_MEM_STORE, bytes);
    if (!record) return NY_EBUDGET;
    err = ny_snapshot_begin(&view, ingest->store, ingest->store->points);
    if (!err) {
        err = ny_stats_read(view, old.d, record);
        end = ny_snapshot_end(view);
        old.cells = (double *)(void *)(record + 1);
        if (!err) err = end;
        if (!err) err = compare(ingest, &old);
    }
    ny_free(ctx, record);
    return err;
}

bool ny_ingest_told_far(const struct ny_ingest *ingest)
{
    return ingest->told_far;
}
