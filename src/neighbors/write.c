/*
 * Writes neighbours and distances into the store as they are measured, 512 rows at a time, for
 * stage neighbors (neighbors/lists.c, neighbors/sieve.c). Each commit holds the rows together with
 * the record that says how far they go, so that a killed job goes on behind them. Distances are
 * measured in f64 and stored in f32.
 */
#include <float.h>
#include <math.h>

#include "base/clock.h"
#include "model/embedding.h"
#include "neighbors/job_private.h"

struct writers {
    struct ny_embedding_writer rows, distances;
    struct ny_measured measured;
    float *narrow;
};

static void lay(struct ny_layout *l, struct writers *out, size_t t)
{
    size_t items = NY_MEASURE_ROWS * t;

    out->measured.row = ny_lay(l, NY_MEM_DICTIONARY, items, sizeof(uint32_t));
    out->measured.distance = ny_lay(l, NY_MEM_DICTIONARY, items, sizeof(double));
    out->narrow = ny_lay(l, NY_MEM_DICTIONARY, items, sizeof(float));
}

/* Commits the measured lists, together with the record that says so. */
static int commit(struct ny_graph_job *g, struct writers *out, uint64_t measured)
{
    struct ny_job *job = &g->job;
    struct ny_batch *batch;
    int err = ny_embedding_batch(&out->rows, &out->distances, &batch);

    if (err) return err;
    job->state.at.measured = measured;
    if (out->measured.again) ny_index_add(&job->state.graph.remeasured, out->measured.again);
    out->measured.again = 0;
    ny_job_mark_time(job);
    return ny_job_commit(job, batch, NY_STAGE_NEIGHBORS);
}

/* Opens both parts behind the rows that are written already. */
static int open_writers(struct ny_graph_job *g, struct writers *out, uint64_t row)
{
    struct ny_job *job = &g->job;
    size_t t = g->settings->stored;
    int err = ny_embedding_writer_new(&out->rows, &job->keep,
                                      ny_graph_layout("neighbors", job->points.n, t), row);

    return err ? err
               : ny_embedding_writer_new(&out->distances, &job->keep,
                                         ny_graph_layout("distances", job->points.n, t), row);
}

/* Takes the distances of `count` rows from `row` on to f32. NY_ENUMERIC where one is beyond that.
 */
static int narrow(const struct ny_graph_job *g, const struct writers *out, uint64_t row,
                  size_t count)
{
    size_t t = g->settings->stored;

    for (size_t k = 0; k < count * t; k++) {
        out->narrow[k] = (float)out->measured.distance[k];
        if (out->measured.row[k] != NY_NO_ROW && !isfinite(out->narrow[k]))
            return ny_fail(
                g->job.ctx, NY_ENUMERIC,
                "rows %llu and %u are farther apart than %.2g, the most that a graph can hold; "
                "rescale the data (--scale unit), or leave out rows with huge values",
                (unsigned long long)(row + k / t), out->measured.row[k], (double)FLT_MAX);
    }
    return NY_OK;
}

int ny_graph_write(struct ny_graph_job *g, ny_graph_measure_fn *measure, uint64_t first,
                   uint64_t end)
{
    struct ny_job *job = &g->job;
    uint64_t row = ny_graph_measured(g, first);
    struct ny_layout l = {.ctx = job->ctx};
    struct writers out = {0};
    int err = row < first || row > end ? ny_job_not_its_checkpoint(job) : NY_OK;

    lay(&l, &out, g->settings->stored);
    if (err == NY_OK) err = l.err ? l.err : open_writers(g, &out, row);
    for (; row < end && err == NY_OK; row += NY_MEASURE_ROWS) {
        size_t count = end - row < NY_MEASURE_ROWS ? (size_t)(end - row) : NY_MEASURE_ROWS;
        uint64_t again = out.measured.again;

        err = ny_check_interrupt(job->ctx);
        if (err == NY_OK) err = measure(g, row, count, &out.measured);
        if (err == NY_OK) err = narrow(g, &out, row, count);
        if (err) {
            out.measured.again = again; /* these rows are measured once more */
            break;
        }
        ny_embedding_add(&out.rows, out.measured.row, count);
        ny_embedding_add(&out.distances, out.narrow, count);
        if (ny_embedding_full(&out.rows) ||
            ny_now() - job->marked_s > ny_context_checkpoint_s(job->ctx))
            err = commit(g, &out, row + count);
    }
    if (row > end) row = end;
    if (err == NY_OK || ny_is_interrupt(err)) {
        int late = commit(g, &out, row);

        if (late) err = late;
    }
    ny_layout_free(&l);
    ny_embedding_writer_release(&out.distances);
    ny_embedding_writer_release(&out.rows);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Batch for the lists and for the two parts that are made of them. */
void ny_graph_lists_count(struct ny_layout *l, const struct ny_graph_sizes *f, size_t limit)
{
    size_t n = (size_t)f->points->n;
    const struct ny_neighbors all = {.rows = n, .width = ny_knn_width(&f->knn)};
    size_t lists = ny_neighbors_image_bytes(&all);
    size_t parts = 2 * (n * f->settings->stored * sizeof(uint32_t) + NY_CHUNK_BYTES);

    ny_batch_count(l, NY_MEM_DICTIONARY, limit, lists > parts ? lists : parts);
}

void ny_graph_writing_count(struct ny_layout *l, const struct ny_graph_sizes *f, size_t limit)
{
    size_t t = f->settings->stored;
    struct ny_embedding_layout layout = ny_graph_layout("neighbors", f->points->n, t);
    struct writers out;

    lay(l, &out, t);
    ny_embedding_writer_count(l, &layout, limit);
}
