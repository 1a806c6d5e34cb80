/*
 * weighted: without replacement, each next landmark with probability ∝ the weight of its row (the
 * weighted Nyström of Homrighausen & McDonald 2011, section 2.2, whose matrix is D^-½AD^-½). These
 * landmarks are the m smallest of −ln h(row)/w (Efraimidis & Spirakis 2006), found in one pass;
 * over shards, of those that each has found in its rows. Weights are the diagonal of the matrix
 * that the map decomposes, whose averages a pilot of m uniform landmarks tells: c − a has the row
 * mean r_i − w̄, where a are the column means of the pilot's W.
 */
#include <math.h>
#include <string.h>

#include "base/random.h"
#include "columns/columns.h"
#include "select/draws.h"
#include "select/rules_private.h"
#include "stream/rows.h"

/* A row that the pilot hardly reaches has the weight of one at this share of the mean degree. */
#define LEAST_DEGREE 0x1p-20

struct worker {
    struct ny_columns_workspace *workspace;
    float *C;  /* NY_UNIT_ROWS × pilot landmarks */
    double *k; /* k(x,x) of the unit, and then its weights */
};

struct weighted {
    struct ny_context *ctx;
    struct ny_layout own;
    const struct ny_selection_request *request;
    struct ny_columns *pilot; /* no landmarks where weights are k(x,x) */
    size_t pilot_m;
    double mean; /* w̄ of the pilot */
    struct ny_draws draws;
    struct ny_draw *room; /* for those of other shards */
    unsigned workers;
    struct worker *worker;
};

/* Returns m: what is asked for, or all rows where there are fewer. */
static size_t landmarks_of(const struct ny_selection_request *request)
{
    return request->landmarks < request->n ? request->landmarks : (size_t)request->n;
}

/* ---- the pilot ------------------------------------------------------------------------------ */

enum { MEANS_ROWS = 256 };

/* Lays out a, the means of m columns, and rows of W to make them of. */
static double *lay_means(struct ny_layout *l, size_t m, double **W)
{
    *W = ny_lay(l, NY_MEM_DICTIONARY, MEANS_ROWS, m * sizeof(double));
    return ny_lay(l, NY_MEM_DICTIONARY, m, sizeof(double));
}

/* Computes a, the column means of W, in f64 and from a few rows of W at a time. */
static int set_means(struct weighted *w)
{
    struct ny_layout l = {.ctx = w->ctx};
    size_t m = w->pilot_m;
    double *W, *a = lay_means(&l, m, &W);
    int err = l.err;

    for (size_t first = 0; !err && first < m; first += MEANS_ROWS) {
        size_t count = m - first < MEANS_ROWS ? m - first : MEANS_ROWS;

        err = ny_columns_exact(w->pilot,
                               ny_raw_rows_from(w->request->spec, ny_columns_rows(w->pilot), first),
                               count, 0, ny_matrix(W, count, m));
        for (size_t i = 0; !err && i < count; i++)
            for (size_t j = 0; j < m; j++)
                a[j] += W[i * m + j] / (double)m;
    }
    for (size_t j = 0; !err && j < m; j++)
        w->mean += a[j] / (double)m;
    if (!err) err = ny_columns_set_shift(w->pilot, a);
    ny_layout_free(&l);
    return err;
}

/* Makes the pilot of m uniform landmarks with its shift; weights k(x,x) need none. */
static int open_pilot(struct weighted *w)
{
    const struct ny_columns_spec *spec = w->request->spec;
    struct ny_selection uniform;
    int err = ny_columns_new(&w->pilot, spec);

    if (err || w->request->diagonal == NY_DIAGONAL_RAW) return err;
    err = ny_select_uniform(w->request, &uniform);
    if (err) goto done;
    err = ny_columns_gather(w->pilot, w->request->X, uniform.rows, uniform.m);
    w->pilot_m = uniform.m;
    if (!err) err = set_means(w);
done:
    ny_selection_release(&uniform, w->ctx);
    return err;
}

static void lay(struct ny_layout *l, struct weighted *w)
{
    bool alone = !ny_context_peers(w->request->ctx);

    w->draws.heap = ny_lay(l, NY_MEM_DICTIONARY, w->draws.m, sizeof(struct ny_draw));
    w->room = ny_lay(l, NY_MEM_DICTIONARY, alone ? 0 : 2 * w->draws.m, sizeof(struct ny_draw));
    w->worker = ny_lay(l, NY_MEM_TILES, w->workers, sizeof(*w->worker));
    for (unsigned i = 0; i < w->workers; i++) {
        struct worker spare, *worker = w->worker ? &w->worker[i] : &spare;

        worker->workspace = ny_columns_workspace_lay(l, w->request->spec, NY_STRIP_ROWS);
        worker->k = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(double));
        worker->C = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, w->pilot_m * sizeof(float));
    }
}

static int open_selection(struct weighted *w)
{
    int err = open_pilot(w);

    if (err) return err;
    w->own.ctx = w->ctx;
    lay(&w->own, w);
    return w->own.err;
}

static void close_selection(struct weighted *w)
{
    ny_layout_free(&w->own);
    ny_columns_free(w->pilot);
}

static void count(struct ny_layout *l, const struct ny_selection_request *request, size_t m)
{
    const struct ny_columns_spec *spec = request->spec;
    size_t pilot = request->diagonal == NY_DIAGONAL_RAW ? 0 : m;
    unsigned workers = ny_selection_workers(request);
    struct weighted w = {.request = request, .pilot_m = pilot, .workers = workers, .draws.m = m};
    struct ny_layout_mark mark;
    double *W;

    ny_columns_count(l, spec, pilot ? pilot : 1);
    ny_lay(l, NY_MEM_DICTIONARY, 2 * m, sizeof(struct ny_draw)); /* the pilot's, and row numbers */
    mark = ny_layout_mark(l);
    if (!spec->slots) ny_lay(l, NY_MEM_DICTIONARY, pilot, ny_raw_bytes(spec));
    lay_means(l, pilot, &W);
    ny_columns_exact_count(l, spec, workers);
    ny_layout_back(l, &mark);
    lay(l, &w);
}

static double flops_of(const struct ny_selection_request *request, size_t m)
{
    if (request->diagonal == NY_DIAGONAL_RAW) return 0;
    return 2.0 * (double)request->n * (double)m * ny_entry_products(request->spec);
}

static struct ny_selection_work work_of(const struct ny_selection_request *request, size_t m,
                                        const struct ny_decay *decay)
{
    double entries = request->diagonal == NY_DIAGONAL_RAW ? 0 : (double)request->n * (double)m;

    (void)decay;
    if (!(entries > 0) && request->spec->kernel->constant_diagonal)
        return (struct ny_selection_work){.passes = 0}; /* it is uniform */
    return (struct ny_selection_work){.passes = 1, .entries = entries, .sums = entries};
}

/* ---- the pass ------------------------------------------------------------------------------- */

/* Computes k(x,x) of the unit. */
static int diagonal_of(struct weighted *w, struct worker *worker, const struct ny_tile *tile)
{
    struct ny_strip strip;

    for (size_t first = 0; first < tile->rows; first += strip.count) {
        size_t count = tile->rows - first < NY_STRIP_ROWS ? tile->rows - first : NY_STRIP_ROWS;
        int err = ny_columns_strip(w->pilot, worker->workspace, tile, first, count, &strip);

        if (!err) err = ny_columns_diagonal(w->pilot, strip.raw, strip.count, worker->k + first);
        if (err) return err;
    }
    return NY_OK;
}

/* The diagonal of the normalised K: k_ii − 2r_i + w̄ = ‖φ(x_i) − their mean‖², or k_ii/d_i. */
static double weight(const struct weighted *w, double k, double row_mean)
{
    double degree = row_mean + w->mean, least = LEAST_DEGREE * w->mean;

    if (w->request->diagonal == NY_DIAGONAL_CENTRED) return k - w->mean - 2 * row_mean;
    return k / (degree > least ? degree : least);
}

/* Computes the weights of a unit's rows in place of k(x,x): the pass's `unit`, in parallel. */
static int weigh_unit(void *arg, const struct ny_tile *tile)
{
    struct weighted *w = arg;
    struct worker *worker = &w->worker[tile->worker];
    size_t m = w->pilot_m;
    int err;

    if (!m) return diagonal_of(w, worker, tile);
    err = ny_columns_tile(w->pilot, worker->workspace, tile,
                          ny_matrix32(worker->C, NY_UNIT_ROWS, m), worker->k);
    for (size_t i = 0; !err && i < tile->rows; i++) {
        double sum = 0;

        for (size_t j = 0; j < m; j++)
            sum += (double)worker->C[i * m + j];
        worker->k[i] = weight(w, worker->k[i], sum / (double)m);
    }
    return err;
}

/* Offers the keys −ln h/w of a unit in row order: the pass's `fold`. Rows of weight 0 are never
 * taken. */
static int offer_unit(void *arg, const struct ny_tile *tile)
{
    struct weighted *w = arg;
    const double *weights = w->worker[tile->worker].k;

    for (size_t i = 0; i < tile->rows; i++) {
        uint64_t row = w->request->here.first + tile->first_row + i;

        if (!isfinite(weights[i])) return ny_fail_infinite(w->ctx, "weight", row);
        if (weights[i] > 0)
            ny_draws_offer(
                &w->draws,
                (struct ny_draw){
                    -log(ny_hash01(w->request->seed, NY_STREAM_WEIGHTED, row)) / weights[i], row});
    }
    return NY_OK;
}

/* ---- image ---------------------------------------------------------------------------------- */

struct image_head {
    uint64_t magic, n, m, diagonal, units_done, count;
};

#define IMAGE_MAGIC UINT64_C(0x3174686769655747)

static size_t image_bytes_of(const struct ny_selection_request *request, size_t m)
{
    (void)request;
    return sizeof(struct image_head) + m * sizeof(struct ny_draw);
}

/* head, the draws kept so far. */
static int checkpoint(void *arg, uint64_t units_done)
{
    struct weighted *w = arg;
    const struct image_head head = {IMAGE_MAGIC,          w->request->n, w->draws.m,
                                    w->request->diagonal, units_done,    w->draws.count};
    size_t kept = w->draws.count * sizeof(struct ny_draw);
    char *image = ny_alloc(w->ctx, NY_MEM_DICTIONARY, sizeof(head) + kept);
    int err;

    if (!image) return NY_EBUDGET;
    memcpy(image, &head, sizeof(head));
    memcpy(image + sizeof(head), w->draws.heap, kept);
    err = w->request->checkpoint.save(w->request->checkpoint.arg, image, sizeof(head) + kept);
    ny_free(w->ctx, image);
    return err;
}

static int restore(struct weighted *w, uint64_t *first_unit)
{
    size_t bytes = w->request->checkpoint.image_bytes;
    struct image_head head = {0};

    if (bytes >= sizeof(head)) memcpy(&head, w->request->checkpoint.image, sizeof(head));
    if (head.magic != IMAGE_MAGIC || head.n != w->request->n || head.m != w->draws.m ||
        head.units_done > ny_units_of(head.n) || head.diagonal != (uint64_t)w->request->diagonal ||
        head.count > head.m || bytes != sizeof(head) + head.count * sizeof(struct ny_draw))
        return ny_fail_damaged(w->request->ctx, NULL, NULL);
    memcpy(w->draws.heap, (const char *)w->request->checkpoint.image + sizeof(head),
           bytes - sizeof(head));
    w->draws.count = (size_t)head.count;
    *first_unit = head.units_done;
    return NY_OK;
}

/* ---- the rule ------------------------------------------------------------------------------- */

static int run_pass(struct weighted *w, uint64_t first_unit)
{
    const struct ny_selection_request *request = w->request;
    struct ny_source *source;
    const struct ny_pass_work work = {.unit = weigh_unit,
                                      .fold = offer_unit,
                                      .checkpoint = request->checkpoint.save ? checkpoint : NULL};
    struct ny_pass pass = {.stage = "select", .workers = w->workers, .first_unit = first_unit};
    int err = ny_rows_source(request->X, request->n, request->spec->slots, w->workers, &source);

    if (err) return err;
    pass.source = source;
    ny_blas_serial();
    err = ny_pass_run(&pass, &work, w);
    ny_source_free(source);
    return err ? err : ny_draws_of_all(&w->draws, ny_context_peers(w->ctx), w->room);
}

static int leave(struct weighted *w, struct ny_selection *selection)
{
    const struct ny_selection_request *request = w->request;
    size_t m = w->draws.count;
    int err;

    if (!m) return ny_selection_zero(w->ctx);
    if (m < w->draws.m)
        ny_log(w->ctx, NY_LOG_WARNING,
               "%zu rows have a weight above 0, so no more are taken (--landmarks %zu)", m,
               w->draws.m);
    err = ny_selection_rows(selection, w->ctx, m);
    if (err) return err;
    ny_draws_take(&w->draws, selection->rows);
    selection->passes = 1;
    selection->rows_read = request->n;
    selection->flops = flops_of(request, w->pilot_m);
    return NY_OK;
}

static int select_rows(const struct ny_selection_request *request, struct ny_selection *selection)
{
    struct weighted w = {.ctx = request->ctx,
                         .request = request,
                         .draws.m = landmarks_of(request),
                         .workers = ny_selection_workers(request)};
    uint64_t first_unit = 0;
    int err;

    ny_selection_clear(selection);
    if (request->diagonal == NY_DIAGONAL_RAW && request->spec->kernel->constant_diagonal) {
        ny_log(w.ctx, NY_LOG_DETAIL,
               "all rows have k(x,x) = 1: weighted selection is uniform here");
        return ny_select_uniform(request, selection);
    }
    if (!w.draws.m) return ny_selection_none(w.ctx);
    err = open_selection(&w);
    if (!err && request->checkpoint.image) err = restore(&w, &first_unit);
    if (!err) err = run_pass(&w, first_unit);
    if (!err) err = leave(&w, selection);
    close_selection(&w);
    return err;
}

const struct ny_rule ny_rule_weighted = {
    .name = "weighted",
    .summary = "at random, in proportion to the diagonal of the matrix that the map decomposes",
    .options = "landmarks",
    .select = select_rows,
    .count = count,
    .image_bytes = image_bytes_of,
    .work = work_of,
};
