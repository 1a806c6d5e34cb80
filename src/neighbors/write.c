/*
 * Writes neighbours and distances into the store as they are measured, 512 rows at a time, for
 * stage neighbors (neighbors/lists.c, neighbors/forest.c). Each commit holds the rows together with
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

/* Commits the measured lists, together with the record that says so. */
static int commit(struct ny_graph_job *g, struct writers *out, uint64_t measured)
{
    struct ny_job *job = &g->job;
    json_t *facts = ny_graph_facts(job->record);
    struct ny_batch *batch;
    int err = ny_embedding_batch(&out->rows, &out->distances, &batch);

    if (err) return err;
    ny_field_set_count(ny_job_checkpoint(job), "measured", measured);
    if (out->measured.again)
        ny_field_set_count(facts, "remeasured",
                           ny_field_count(facts, "remeasured", 0) + out->measured.again);
    out->measured.again = 0;
    ny_job_mark_time(job);
    return ny_job_commit(job, batch, NY_STAGE_NEIGHBORS);
}

/* Opens both parts behind the rows that are written already. */
static int open_writers(struct ny_graph_job *g, struct writers *out, uint64_t row)
{
    struct ny_job *job = &g->job;
    size_t t = g->settings->stored, items = NY_MEASURE_ROWS * t;
    int err = ny_embedding_writer_new(&out->rows, &job->keep,
                                      ny_graph_layout("neighbors", job->points.n, t), row);

    if (err == NY_OK)
        err = ny_embedding_writer_new(&out->distances, &job->keep,
                                      ny_graph_layout("distances", job->points.n, t), row);
    if (err) return err;
    out->measured.row = ny_calloc(job->ctx, NY_MEM_DICTIONARY, items, sizeof(uint32_t));
    out->measured.distance = ny_calloc(job->ctx, NY_MEM_DICTIONARY, items, sizeof(double));
    out->narrow = ny_calloc(job->ctx, NY_MEM_DICTIONARY, items, sizeof(float));
    return out->measured.row && out->measured.distance && out->narrow ? NY_OK : NY_EBUDGET;
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
    uint64_t row = ny_field_count(ny_job_checkpoint(job), "measured", first);
    struct writers out = {0};
    int err =
        row < first || row > end ? ny_job_not_its_checkpoint(job) : open_writers(g, &out, row);

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
        if (ny_embedding_full(&out.rows) || ny_now() - job->marked_s > g->knn.checkpoint_s)
            err = commit(g, &out, row + count);
    }
    if (row > end) row = end;
    if (err == NY_OK || ny_is_interrupt(err)) {
        int late = commit(g, &out, row);

        if (late) err = late;
    }
    ny_free(job->ctx, out.narrow);
    ny_free(job->ctx, out.measured.distance);
    ny_free(job->ctx, out.measured.row);
    ny_embedding_writer_release(&out.distances);
    ny_embedding_writer_release(&out.rows);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

/* Batch for the lists and for the two parts that are made of them; a forest also has its links. */
size_t ny_graph_lists_batch(const struct ny_graph_sizes *f, size_t limit)
{
    size_t n = (size_t)f->points->n, lists = ny_neighbors_bytes(n, ny_knn_width(&f->knn));
    size_t parts = 2 * (n * f->settings->stored * sizeof(uint32_t) + NY_CHUNK_BYTES);

    if (f->way == NY_KNN_FOREST) return ny_batch_bytes_max(limit);
    return ny_batch_put_bytes(limit, lists > parts ? lists : parts);
}

size_t ny_graph_writing_bytes(const struct ny_graph_sizes *f, size_t limit)
{
    size_t t = f->settings->stored;
    struct ny_embedding_layout layout = ny_graph_layout("neighbors", f->points->n, t);

    return 2 * ny_embedding_writer_bytes(&layout, ny_batch_bytes_max(limit)) +
           NY_MEASURE_ROWS * t * 2 * sizeof(double);
}
