/*
 * Writes the embedding of a graph's map (maps/graph_map.h): the coordinates of its nodes, in the
 * order of their rows in the store, and the numbers of these rows. Nodes are numbered otherwise in
 * memory (graph/order.h), so that rows are looked up one by one. Isomap and eigenmaps call it at
 * the end of stage project.
 */
#include "maps/graph_map.h"
#include "neighbors/job.h"
#include "model/embedding.h"

enum { PIECE_ROWS = NY_UNIT_ROWS };

struct output {
    struct ny_embedding_writer rows, embedding;
    uint32_t row[PIECE_ROWS];
    void *values; /* PIECE_ROWS × p */
};

static struct output *lay(struct ny_layout *l, size_t row_bytes)
{
    struct output spare, *out = ny_lay_struct(l, NY_MEM_STORE, sizeof(spare), &spare);

    out->values = ny_lay(l, NY_MEM_STORE, PIECE_ROWS, row_bytes);
    return ny_laid(l, out);
}

void ny_graph_embed_count(struct ny_layout *l, const struct ny_map_sizes *sizes, size_t limit)
{
    size_t p = ny_settings_pairs(sizes->settings) + sizes->settings->asymmetric;
    struct ny_embedding_layout rows = ny_graph_layout("rows", sizes->nodes, 1);
    struct ny_embedding_layout values = ny_embedding_layout(sizes->nodes, p, sizeof(double));

    lay(l, p * sizeof(double));
    ny_embedding_writer_count(l, &rows, limit);
    ny_embedding_writer_count(l, &values, limit);
}

static int open_output(struct ny_graph_fit *fit, struct output *out, size_t p, size_t element)
{
    struct ny_job *job = &fit->base.job;
    int err = ny_embedding_writer_new(&out->rows, &job->keep,
                                      ny_graph_layout("rows", fit->edges.n, 1), 0);

    return err ? err
               : ny_embedding_writer_new(&out->embedding, &job->keep,
                                         ny_embedding_layout(fit->edges.n, p, element), 0);
}

/* Commits the rows and coordinates that are waiting. */
static int flush(struct output *out)
{
    struct ny_batch *batch;
    int err = ny_embedding_batch(&out->rows, &out->embedding, &batch);

    return err ? err : out->rows.keep.ops->commit(batch);
}

/* Adds the coordinates of some nodes, in the precision of the fit. */
static int add_piece(struct ny_graph_fit *fit, struct output *out, struct ny_matrix Y, size_t count)
{
    bool f64 = fit->base.settings->precision == NY_PRECISION_F64;

    for (size_t i = 0; i < count; i++) {
        const double *y = Y.at + (size_t)fit->edges.node[out->row[i]] * Y.stride;

        for (size_t k = 0; k < Y.cols && f64; k++)
            ((double *)out->values)[i * Y.cols + k] = y[k];
        for (size_t k = 0; k < Y.cols && !f64; k++)
            ((float *)out->values)[i * Y.cols + k] = (float)y[k];
    }
    ny_embedding_add(&out->rows, out->row, count);
    ny_embedding_add(&out->embedding, out->values, count);
    if (!ny_embedding_full(&out->rows) && !ny_embedding_full(&out->embedding)) return NY_OK;
    return flush(out);
}

int ny_graph_embed(struct ny_graph_fit *fit, struct ny_matrix Y)
{
    struct ny_layout l = {.ctx = fit->base.job.ctx};
    size_t count = 0, element = ny_precision_bytes(fit->base.settings->precision);
    struct output *out = lay(&l, Y.cols * element);
    int err;

    if (!out) return ny_layout_end(&l);
    err = open_output(fit, out, Y.cols, element);
    for (uint64_t row = 0; row < fit->base.job.points.n && err == NY_OK; row++) {
        if (fit->edges.node[row] != NY_NO_ROW) out->row[count++] = (uint32_t)row;
        if (count < PIECE_ROWS && row + 1 < fit->base.job.points.n) continue;
        err = ny_check_interrupt(l.ctx);
        if (err == NY_OK) err = add_piece(fit, out, Y, count);
        count = 0;
    }
    if (err == NY_OK) err = flush(out);
    ny_embedding_writer_release(&out->rows);
    ny_embedding_writer_release(&out->embedding);
    ny_layout_free(&l);
    return err;
}
