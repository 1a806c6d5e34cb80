/* One product with K = ΦΦᵀ, block by block, each in two passes over the feature rows
 * (feature_product.h). */
#include "whole/feature_product.h"

#include <string.h>

#include "factored/pass.h"
#include "whole/kernel_product.h"

struct run {
    const struct ny_feature_product *product;
    struct ny_feature_room room;
    struct ny_feature_workers *workers;
    size_t d;
    uint64_t places;    /* places of a checkpoint in one pass */
    uint64_t pass;      /* that is under way: of a block first that with Φᵀ, then that with Φ */
    struct ny_matrix W; /* d × the columns of the block */
    double *sums;       /* behind W: 1ᵀNV of the block, where c is taken off */
    void *Q;            /* W, rounded */
    double *centre;     /* c (d); NULL: nothing is taken off */
    double *offset;     /* Wᵀc */
};

static struct ny_feature_room room_of(enum ny_precision precision, size_t w)
{
    return (struct ny_feature_room){precision, ny_feature_product_width(w), 0};
}

/* Lays out what a block takes. Sparse rows alone have a centre that is taken off. */
static void lay(struct ny_layout *l, struct run *run, bool centred)
{
    size_t width = run->room.width;

    run->Q = ny_lay(l, NY_MEM_TILES, run->d, width * ny_precision_bytes(run->room.precision));
    run->offset = ny_lay(l, NY_MEM_TILES, width, sizeof(double));
    if (centred) run->centre = ny_lay(l, NY_MEM_TILES, run->d, sizeof(double));
}

void ny_feature_product_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t w,
                              enum ny_precision precision, unsigned workers)
{
    struct run run = {.room = room_of(precision, w), .d = spec->geometry->d};

    lay(l, &run, spec->slots);
    ny_feature_workers_lay(l, spec, &run.room, workers);
}

/* ---- a block ------------------------------------------------------------------------------- */

/* Columns of V, or of Y, that are those of the block under way. */
static struct ny_matrix block_of(const struct run *run, struct ny_matrix X)
{
    size_t width = run->room.width, first = (size_t)(run->pass / 2) * width;
    size_t count = X.cols - first < width ? X.cols - first : width;

    return ny_cols(X, first, count);
}

static int checkpoint(void *arg, uint64_t units_done)
{
    const struct run *run = arg;
    const struct ny_feature_product *product = run->product;

    return product->checkpoint(product->checkpoint_arg, run->pass * run->places + units_done);
}

/* Y ← NV of the block. */
static void scale_rows(const struct run *run)
{
    const double *scale = run->product->scale;
    struct ny_matrix V = block_of(run, run->product->V), Y = block_of(run, run->product->Y);

    for (size_t i = 0; i < V.rows; i++)
        for (size_t k = 0; k < V.cols; k++)
            Y.at[i * Y.stride + k] = (scale ? scale[i] : 1) * V.at[i * V.stride + k];
}

/* W = Φᵀ(NV) of the block. */
static int to_columns(struct run *run, struct ny_feature_pass *pass)
{
    int err;

    scale_rows(run);
    pass->X = block_of(run, run->product->Y);
    pass->H = run->W;
    pass->column_sums = run->centre ? run->sums : NULL;
    err = ny_feature_pass_run(pass);
    if (err) return err;
    if (run->centre) ny_feature_correct_centre(run->W, run->centre, run->sums);
    memset(run->sums, 0, run->room.width * sizeof(double));
    return NY_OK;
}

/* Y = ΦW of the block; W becomes 0. */
static int to_rows(struct run *run, struct ny_feature_pass *pass)
{
    int err;

    ny_feature_round(&run->room, run->W, run->centre, run->Q, run->offset);
    pass->Q = run->Q;
    pass->offset = run->centre ? run->offset : NULL;
    pass->Z = block_of(run, run->product->Y);
    err = ny_feature_pass_run(pass);
    if (err) return err;
    memset(run->W.at, 0, run->d * run->room.width * sizeof(double));
    return NY_OK;
}

/* Runs a pass from this unit on. */
static int run_pass(struct run *run, uint64_t first_unit)
{
    struct ny_feature_pass pass = {.fit = run->product->fit,
                                   .workers = run->workers,
                                   .first_unit = first_unit,
                                   .checkpoint = checkpoint,
                                   .checkpoint_arg = run};

    run->W = ny_matrix(run->product->W, run->d, block_of(run, run->product->V).cols);
    return run->pass % 2 ? to_rows(run, &pass) : to_columns(run, &pass);
}

/* ---- the whole ----------------------------------------------------------------------------- */

/* The means of sparse rows that the kernel takes off them: they have others than 0 for pca alone.
 */
static int allocate(struct run *run, struct ny_layout *l)
{
    struct ny_fit *fit = run->product->fit;
    const struct ny_geometry *geometry = fit->geometry;

    lay(l, run, fit->job.points.row_slots && fit->settings->map->centred_rows);
    if (l->err) return l->err;
    for (size_t j = 0; j < run->d && run->centre; j++)
        run->centre[j] = geometry->centre[j] * geometry->factor[j];
    run->sums = run->product->W + run->d * run->room.width;
    return ny_feature_workers_new(&run->workers, fit, &run->room, fit->job.workers);
}

int ny_feature_product_run(const struct ny_feature_product *product)
{
    struct ny_fit *fit = product->fit;
    size_t w = product->V.cols;
    struct run run = {.product = product,
                      .room = room_of(fit->settings->precision, w),
                      .d = (size_t)fit->job.points.d,
                      .places = ny_units_of(fit->job.points.n) + 1};
    uint64_t passes = ny_feature_product_passes(w), first_unit = product->first_place % run.places;
    struct ny_layout l = {.ctx = fit->job.ctx};
    int err = allocate(&run, &l);

    run.pass = product->first_place / run.places;
    for (; run.pass < passes && !err; run.pass++, first_unit = 0)
        err = run_pass(&run, first_unit);
    if (!err) err = ny_product_finish(fit->job.ctx, product->scale, product->Y);
    ny_feature_workers_free(run.workers);
    ny_layout_free(&l);
    return err;
}
