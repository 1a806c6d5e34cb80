/*
 * Makes the pass over all pairs that fills the lists of candidates (nearest/knn.h). Stage neighbors
 * calls ny_knn_pass() (neighbors/lists.c), once for each range of rows whose lists fit the budget.
 *
 * A unit of the pass is a tile of columns/pairs.h: the rows of one unit against those of a panel.
 * Each worker keeps the columns of the panel that it met last, and makes new ones only when the
 * panel changes. A tile serves both of its sides: the panel's rows meet the unit's, and the unit's
 * rows meet the panel's where they are in the range. The lists change in the folds alone, which
 * come in the order of tiles, so that a checkpoint between two folds needs only the lists and the
 * number of tiles done.
 */
#include "columns/pairs.h"
#include "nearest/knn_private.h"

struct run {
    struct ny_layout own;
    const struct ny_knn *knn;
    struct ny_pairs pairs;
    struct ny_neighbors *lists;
    struct ny_pairs_panel *panel; /* one a worker */
    int (*checkpoint)(void *arg, uint64_t tiles_done);
    void *checkpoint_arg;
};

size_t ny_knn_width(const struct ny_knn *knn)
{
    size_t width = knn->neighbors + knn->neighbors / 4 + 4;

    return width < knn->n ? width : (size_t)knn->n - 1;
}

double ny_knn_pass_pairs(const struct ny_knn *knn, uint64_t panels)
{
    double n = (double)knn->n, rows = (double)panels * NY_UNIT_ROWS;

    if (rows > n) rows = n;
    return rows * (2 * n - rows + NY_UNIT_ROWS) / 2;
}

/* Computes the values of a tile, with new columns if the worker comes to another panel. */
static int unit(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    struct ny_pairs_panel *panel = &run->panel[tile->worker];
    struct ny_tile rows;
    int err = ny_pairs_panel_take(panel, &run->pairs, run->knn->spec, tile, &rows);

    if (err) return err;
    if (rows.rows) ny_tiles_use(&panel->tiles, panel->columns, NULL);
    return ny_pairs_panel_compute(panel, tile);
}

int ny_knn_source(const struct ny_knn *knn, struct ny_source **out)
{
    const struct ny_columns_spec *spec = knn->spec;
    int err;

    if (!knn->held) return ny_rows_source(knn->X, knn->n, spec->slots, knn->workers, out);
    err = ny_source_of_memory(out, spec->ctx, knn->held->rows, spec->dtype, knn->n,
                              spec->geometry->d);
    if (err == NY_OK) ny_source_of_memory_slots(*out, spec->slots, false);
    return err;
}

/* The panel's rows meet the unit's; the unit's meet the panel's where they are in the range. */
static int fold(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    uint64_t panel, u = ny_pairs_unit(&run->pairs, tile->unit, &panel);
    struct ny_matrix32 V = ny_tiles_c32(&run->panel[tile->worker].tiles, 0);
    struct ny_values values = {ny_rows32(V, 0, tile->rows), tile->first_row, panel * NY_UNIT_ROWS};
    bool inside = u >= run->pairs.first_panel && u < run->pairs.end_panel && u != panel;

    ny_neighbors_offer(run->lists, &values, NY_SIDE_COLS | (inside ? NY_SIDE_ROWS : 0));
    return NY_OK;
}

static int checkpoint(void *arg, uint64_t tiles_done)
{
    struct run *run = arg;

    return run->checkpoint ? run->checkpoint(run->checkpoint_arg, tiles_done) : NY_OK;
}

static void lay(struct ny_layout *l, struct run *run, const struct ny_columns_spec *spec,
                uint64_t n, unsigned workers)
{
    run->panel = ny_lay(l, NY_MEM_TILES, workers, sizeof(*run->panel));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_pairs_panel spare;

        ny_pairs_panel_lay(l, run->panel ? &run->panel[w] : &spare, spec, n, NY_PRECISION_F32);
    }
}

void ny_knn_pass_count(struct ny_layout *l, const struct ny_columns_spec *spec, uint64_t n,
                       unsigned workers)
{
    struct run run;

    lay(l, &run, spec, n, workers);
}

static void release(struct run *run)
{
    for (unsigned w = 0; run->panel && w < run->knn->workers; w++)
        ny_columns_free(run->panel[w].columns);
    ny_layout_free(&run->own);
}

int ny_knn_pass(const struct ny_knn *knn, struct ny_neighbors *lists, uint64_t first_tile,
                int (*at_checkpoint)(void *arg, uint64_t tiles_done), void *arg)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    struct run run = {
        .knn = knn, .lists = lists, .checkpoint = at_checkpoint, .checkpoint_arg = arg};
    uint64_t panels = ny_units_of(lists->rows);
    double flops = 2 * ny_knn_pass_pairs(knn, panels) * ny_entry_products(knn->spec);
    struct ny_source *points = NULL;
    int err;

    err = ny_knn_source(knn, &points);
    if (err) return err;
    ny_pairs_init(&run.pairs, points, lists->first / NY_UNIT_ROWS, panels);
    if (first_tile >= ny_pairs_tiles(&run.pairs)) goto done;
    run.own.ctx = knn->spec->ctx;
    lay(&run.own, &run, knn->spec, knn->n, knn->workers);
    err = run.own.err;
    if (err) goto done;
    err = ny_pass_run(&(struct ny_pass){.source = &run.pairs.source,
                                        .stage = "neighbors",
                                        .workers = knn->workers,
                                        .first_unit = first_tile,
                                        .flops_per_row = flops / (double)run.pairs.source.n},
                      &work, &run);
done:
    release(&run);
    ny_source_free(points);
    return err;
}
