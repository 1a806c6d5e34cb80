/*
 * Runs Lloyd's iterations of several initialisations side by side (evaluate/kmeans.h);
 * evaluate/clusters.c calls it. The initial centres are in evaluate/kmeans_seed.c, the inner loops
 * in evaluate/nearest.h.
 *
 * An iteration is one pass. A worker multiplies a unit by the centres of as many initialisations as
 * fit into 256 centres (by those of one at least), finds the nearest centre of each row, and adds
 * the row to that cluster's sum; folds add the sums of units in order. The inertia needs no
 * distances: it is Σ‖y‖² − Σ_c ‖s_c‖²/n_c with the sums s_c. An initialisation that has converged
 * is taken out and the others close ranks, so that later passes get cheaper.
 */
#include "evaluate/kmeans.h"

#include <math.h>
#include <string.h>

#include "base/layout.h"
#include "evaluate/nearest.h"
#include "linalg/matrix.h"

/* Centres of several initialisations go into one product, up to so many. */
enum { PRODUCT_CENTRES = 256 };

/* One worker's. */
struct side {
    float *G;        /* centres of a product × NY_UNIT_ROWS: −2CYᵀ */
    float *least;    /* NY_UNIT_ROWS */
    uint32_t *index; /* NY_UNIT_ROWS */
    double *sums;    /* inits × k × (p + 1): of the unit, by cluster; the last column counts */
};

struct run {
    struct ny_layout own;
    const struct ny_kmeans *how;
    size_t k, p, inits; /* inits: those that still move */
    float *centres;     /* inits × k × p, one after another */
    float *norms;       /* inits × k */
    double *sums;       /* inits × k × (p + 1) */
    struct side *side;
    size_t *where;     /* inits: which initialisation is at a place */
    uint32_t *cluster; /* of every row, where there is one initialisation; or NULL */
};

/* ---- one pass ------------------------------------------------------------------------------ */

/* Returns how many initialisations share a product: the most whose centres are at most 256, or one.
 */
static size_t inits_of_product(size_t k, size_t inits)
{
    size_t fit = PRODUCT_CENTRES / k;

    if (fit > inits) fit = inits;
    return fit ? fit : 1;
}

/* Clusters of the unit's rows, and their sums, for `count` initialisations from `first` on. */
static void assign(const struct run *run, const struct side *side, const float *y, size_t rows,
                   size_t first, size_t count)
{
    size_t k = run->k, p = run->p;
    struct ny_matrix32 C = ny_matrix32(run->centres + first * k * p, count * k, p);
    struct ny_matrix32 Y = ny_matrix32((float *)y, rows, p);

    ny_gemm32(-2, C, ny_t32(Y), 0, ny_matrix32(side->G, count * k, rows));
    for (size_t r = 0; r < count; r++) {
        ny_nearest_loops()->nearest(side->G + r * k * rows, run->norms + (first + r) * k, k, rows,
                                    side->index, side->least);
        ny_nearest_loops()->add(y, side->index, rows, p, side->sums + (first + r) * k * (p + 1));
    }
}

static int unit(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    struct side *side = &run->side[tile->worker];
    const float *y = ny_cloud_unit(run->how->cloud, tile);
    size_t step = inits_of_product(run->k, run->inits);

    memset(side->sums, 0, run->inits * run->k * (run->p + 1) * sizeof(double));
    for (size_t r = 0; r < run->inits; r += step)
        assign(run, side, y, tile->rows, r, run->inits - r < step ? run->inits - r : step);
    if (run->cluster)
        memcpy(run->cluster + tile->first_row, side->index, tile->rows * sizeof(uint32_t));
    return NY_OK;
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct run *run = arg;
    const double *sums = run->side[tile->worker].sums;

    for (size_t i = 0; i < run->inits * run->k * (run->p + 1); i++)
        run->sums[i] += sums[i];
    return NY_OK;
}

static void set_norms(struct run *run)
{
    for (size_t j = 0; j < run->inits * run->k; j++) {
        double norm = 0;

        for (size_t c = 0; c < run->p; c++)
            norm += (double)run->centres[j * run->p + c] * (double)run->centres[j * run->p + c];
        run->norms[j] = (float)norm;
    }
}

/* Assigns all rows to the nearest of the present centres, and sums them up by cluster. */
static int pass(struct run *run)
{
    static const struct ny_pass_work work = {unit, fold, NULL};
    const struct ny_kmeans *how = run->how;
    size_t centres = run->inits * run->k;

    set_norms(run);
    memset(run->sums, 0, centres * (run->p + 1) * sizeof(double));
    ny_blas_serial();
    return ny_pass_run(&(struct ny_pass){.source = &how->cloud->source,
                                         .stage = "clusters",
                                         .workers = how->workers,
                                         .flops_per_row = 2 * (double)(centres * run->p)},
                       &work, run);
}

/* ---- memory -------------------------------------------------------------------------------- */

static void lay(struct ny_layout *l, struct run *run, unsigned workers)
{
    size_t centres = run->inits * run->k, p = run->p;
    size_t product = inits_of_product(run->k, run->inits) * run->k;

    run->centres = ny_lay(l, NY_MEM_TILES, centres, p * sizeof(float));
    run->norms = ny_lay(l, NY_MEM_TILES, centres, sizeof(float));
    run->sums = ny_lay(l, NY_MEM_TILES, centres, (p + 1) * sizeof(double));
    run->where = ny_lay(l, NY_MEM_OTHER, run->inits, sizeof(*run->where));
    run->side = ny_lay(l, NY_MEM_TILES, workers, sizeof(*run->side));
    for (unsigned w = 0; w < workers; w++) {
        struct side spare, *side = run->side ? &run->side[w] : &spare;

        side->G = ny_lay(l, NY_MEM_TILES, product, NY_UNIT_ROWS * sizeof(float));
        side->least = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(float));
        side->index = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(uint32_t));
        side->sums = ny_lay(l, NY_MEM_TILES, centres, (p + 1) * sizeof(double));
    }
}

static int allocate(struct run *run, const struct ny_kmeans *how, size_t inits)
{
    *run = (struct run){
        .own.ctx = how->ctx, .how = how, .k = how->k, .p = how->cloud->p, .inits = inits};
    lay(&run->own, run, how->workers);
    return run->own.err;
}

static void lay_centres(struct ny_layout *l, struct ny_centres *centres,
                        const struct ny_kmeans *how, size_t p)
{
    centres->at = ny_lay(l, NY_MEM_MODEL, how->inits * how->k, p * sizeof(float));
    centres->inertia = ny_lay(l, NY_MEM_MODEL, how->inits, sizeof(double));
    centres->steps = ny_lay(l, NY_MEM_MODEL, how->inits, sizeof(unsigned));
}

void ny_kmeans_count(struct ny_layout *l, const struct ny_kmeans *how, uint64_t n, size_t p)
{
    struct run run = {.k = how->k, .p = p, .inits = how->inits};
    struct ny_centres centres;
    struct ny_layout_mark mark;

    lay_centres(l, &centres, how, p);
    ny_kmeans_seed_count(l, how, n, p);
    mark = ny_layout_mark(l);
    lay(l, &run, how->workers);
    ny_layout_back(l, &mark);
}

/* ---- Lloyd --------------------------------------------------------------------------------- */

/* W = Σ‖y‖² − Σ_c ‖s_c‖²/n_c */
static double inertia_of(const struct run *run, size_t r)
{
    double inertia = run->how->cloud->squares;

    for (size_t j = 0; j < run->k; j++) {
        const double *sum = run->sums + (r * run->k + j) * (run->p + 1);

        for (size_t c = 0; c < run->p && sum[run->p] > 0; c++)
            inertia -= sum[c] * sum[c] / sum[run->p];
    }
    return inertia > 0 ? inertia : 0;
}

/* Centres become the means of their clusters; one without rows stays. Returns Σ‖c − c before‖². */
static double move(struct run *run, size_t r)
{
    double moved = 0;

    for (size_t j = r * run->k; j < (r + 1) * run->k; j++) {
        const double *sum = run->sums + j * (run->p + 1);
        float *centre = run->centres + j * run->p;

        for (size_t c = 0; c < run->p && sum[run->p] > 0; c++) {
            float mean = (float)(sum[c] / sum[run->p]);
            double by = (double)mean - (double)centre[c];

            moved += by * by;
            centre[c] = mean;
        }
    }
    return moved;
}

/* Takes an initialisation out; the others close ranks. */
static void retire(struct run *run, struct ny_centres *out, size_t r)
{
    size_t bytes = run->k * run->p * sizeof(float), *where = run->where;
    float *centres = run->centres + r * run->k * run->p;

    memcpy(out->at + where[r] * run->k * run->p, centres, bytes);
    run->inits--;
    memmove(centres, centres + run->k * run->p, (run->inits - r) * bytes);
    memmove(where + r, where + r + 1, (run->inits - r) * sizeof(*where));
    memmove(run->sums + r * run->k * (run->p + 1), run->sums + (r + 1) * run->k * (run->p + 1),
            (run->inits - r) * run->k * (run->p + 1) * sizeof(double));
}

static int iterate(struct run *run, struct ny_centres *out)
{
    const struct ny_kmeans *how = run->how;
    double variance = how->cloud->squares / ((double)how->cloud->n * (double)run->p);

    for (unsigned step = 1; run->inits > 0; step++) {
        int err = pass(run);

        if (err) return err;
        for (size_t r = 0; r < run->inits;) {
            size_t init = run->where[r];

            out->inertia[init] = inertia_of(run, r);
            out->steps[init] = step;
            if (move(run, r) <= how->tolerance * variance || step == how->iterations)
                retire(run, out, r);
            else
                r++;
        }
    }
    return NY_OK;
}

int ny_kmeans_run(const struct ny_kmeans *how, struct ny_centres *centres)
{
    size_t count = how->inits * how->k, p = how->cloud->p;
    struct run run = {.how = how};
    int err;

    centres->own.ctx = how->ctx;
    lay_centres(&centres->own, centres, how, p);
    err = centres->own.err;
    if (err == NY_OK) err = ny_kmeans_seed(how, centres->at);
    if (err == NY_OK) err = allocate(&run, how, how->inits);
    if (err) goto done;
    for (size_t r = 0; r < how->inits; r++)
        run.where[r] = r;
    memcpy(run.centres, centres->at, count * p * sizeof(float));
    err = iterate(&run, centres);
done:
    ny_layout_free(&run.own);
    return err;
}

void ny_centres_release(struct ny_centres *centres)
{
    ny_layout_free(&centres->own);
    *centres = (struct ny_centres){0};
}

int ny_kmeans_assign(const struct ny_kmeans *how, const float *centres, uint32_t *cluster,
                     double *inertia)
{
    struct run run = {.how = how};
    int err = allocate(&run, how, 1);

    if (err) goto done;
    memcpy(run.centres, centres, how->k * run.p * sizeof(float));
    run.cluster = cluster;
    err = pass(&run);
    if (err == NY_OK && inertia) *inertia = inertia_of(&run, 0);
done:
    ny_layout_free(&run.own);
    return err;
}
