/* Check rows in pass 2 (fit/checks.h): they are drawn, and what is summed up for them as rows come
 * (ny_check_places()). */
#include "fit/checks.h"

#include <math.h>
#include <string.h>

#include "base/peers.h"
#include "fit/check_draw.h"
#include "fit/drawn_rows.h"
#include "model/model.h"

/* One worker's. */
struct ny_check_side {
    struct ny_matrix K; /* NY_STRIP_ROWS × R: k′ of a strip, widened */
    struct ny_matrix V; /* NY_STRIP_ROWS × (p+1) */
    double *sums;       /* B, v, q and e of a tile */
};

static struct ny_matrix B_of(const struct ny_checks *checks, double *sums)
{
    return ny_matrix(sums, checks->R, checks->p + 1);
}

size_t ny_checks_rows(const struct ny_fit_settings *settings, const struct ny_rows_info *points)
{
    bool shards = points->here.end - points->here.first < points->n;

    if (settings->placed || settings->columns || settings->method->all_rows ||
        ny_settings_features(settings) || ny_settings_unit_landmarks(settings))
        return 0;
    if (settings->affine && settings->normalisation == NY_RAW) return 0;
    if (shards && points->row_slots) return 0; /* they cannot read one another's sparse rows */
    return settings->check_rows < points->n ? settings->check_rows : (size_t)points->n;
}

void ny_checks_lay(struct ny_layout *l, struct ny_checks *checks,
                   const struct ny_columns_spec *spec, enum ny_precision precision,
                   unsigned workers)
{
    size_t R = checks->R, width = checks->p + 1;
    struct ny_check_places at = ny_check_places(checks);

    if (!R) return;
    checks->rows = ny_lay(l, NY_MEM_DICTIONARY, R, sizeof(*checks->rows));
    checks->shift = ny_lay(l, NY_MEM_DICTIONARY, R, sizeof(double));
    checks->values = ny_lay(l, NY_MEM_DICTIONARY, checks->p, sizeof(double));
    checks->sums = ny_lay(l, NY_MEM_TILES, at.count, sizeof(double));
    checks->side = ny_lay(l, NY_MEM_TILES, workers, sizeof(*checks->side));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_check_side spare, *side = checks->side ? &checks->side[w] : &spare;
        bool wide = precision == NY_PRECISION_F32; /* tiles in f64 are what they are */
        double *K = ny_lay(l, NY_MEM_TILES, wide ? NY_STRIP_ROWS : 0, R * sizeof(double));
        double *V = ny_lay(l, NY_MEM_TILES, NY_STRIP_ROWS, width * sizeof(double));

        side->K = ny_matrix(K, NY_STRIP_ROWS, R);
        side->V = ny_matrix(V, NY_STRIP_ROWS, width);
        side->sums = ny_lay(l, NY_MEM_TILES, at.Y, sizeof(double));
    }
    ny_tiles_lay(l, &checks->tiles, spec, R, precision, workers);
}

/* ---- S ------------------------------------------------------------------------------------- */

/* Sets the shift to the mean of k(s, S), which keeps what f32 would lose of values near 1. */
static int choose_shift(struct ny_checks *checks, struct ny_context *ctx)
{
    size_t R = checks->R;
    double *at = ny_calloc(ctx, NY_MEM_SOLVE, R, R * sizeof(double));
    struct ny_matrix W = ny_matrix(at, R, R);
    int err = at ? ny_columns_square(checks->columns, W) : NY_EBUDGET;

    for (size_t s = 0; s < R && !err; s++) {
        for (size_t t = 0; t < R; t++)
            checks->shift[s] += W.at[s * R + t] / (double)R;
        if (!isfinite(checks->shift[s])) checks->shift[s] = 0;
    }
    ny_free(ctx, at);
    return err ? err : ny_columns_set_shift(checks->columns, checks->shift);
}

/* Reads the sums of the checkpoint, and S. */
static int restore(struct ny_checks *checks, struct ny_fit *fit)
{
    const struct ny_keep *keep = &fit->job.keep;
    struct ny_check_places at = ny_check_places(checks);
    const double *S = checks->sums + at.S;
    int err = keep->ops->get(keep, ny_record_part(fit->job.record, "checks").name, checks->sums,
                             at.count * sizeof(double));

    for (size_t s = 0; s < checks->R && !err; s++)
        if (!(S[s] >= 0 && S[s] < (double)fit->job.points.n && checks->probability[s] > 0))
            err = ny_fail_damaged(fit->job.ctx, keep->name, keep->place);
    return err;
}

/* Draws S; where some shards go on, those that begin take it from the first of these. */
static int draw(struct ny_checks *checks, struct ny_fit *fit, struct ny_projector *projector,
                uint64_t unit)
{
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    double *S = checks->sums + ny_check_places(checks).S;
    uint64_t first = unit ? ny_peers_shard(peers) : NY_NONE;
    int err = ny_peers_least(peers, &first);

    if (err) return err;
    if (first == NY_NONE) {
        err = ny_check_draw(fit, projector, checks->R, checks->rows, checks->probability);
        for (size_t s = 0; s < checks->R; s++)
            S[s] = (double)checks->rows[s];
    } else {
        err = ny_peers_share_of(peers, (unsigned)first, S, 2 * checks->R * sizeof(*S));
        for (size_t s = 0; s < checks->R && !err; s++)
            checks->rows[s] = (uint64_t)S[s];
    }
    return err;
}

int ny_checks_open(struct ny_checks *checks, struct ny_fit *fit, struct ny_projector *projector,
                   uint64_t unit)
{
    const struct ny_fit_settings *settings = fit->settings;
    struct ny_state_record *record = &fit->job.state.record;
    struct ny_columns_spec spec = ny_fit_spec(fit);
    int err;

    if (!unit) record->check_rows = ny_checks_rows(settings, &fit->job.points);
    /* A shard that an earlier version has begun to place has none. */
    err = ny_peers_least(ny_context_peers(fit->job.ctx), &record->check_rows);
    if (err) return err;
    *checks = (struct ny_checks){
        .own.ctx = fit->job.ctx, .R = (size_t)record->check_rows, .p = fit->model->p};
    if (!checks->R) return NY_OK;
    if (!unit) ny_record_renew(fit->job.record, "checks");
    ny_checks_lay(&checks->own, checks, &spec, settings->precision, fit->job.workers);
    err = checks->own.err;
    if (err) return err;
    checks->probability = checks->sums + ny_check_places(checks).probability;
    checks->candidates = ny_check_candidates(checks->R, fit->job.points.n);
    if (ny_centred(settings->normalisation))
        checks->centre =
            sqrt(fmax(ny_sum(fit->model->a, fit->model->m) / (double)fit->model->m, 0));
    for (size_t k = 0; k < checks->p; k++)
        checks->values[k] = ny_job_eigenvalue(&fit->job, k);
    err = unit ? restore(checks, fit) : NY_OK;
    if (!err) err = draw(checks, fit, projector, unit);
    if (!err) err = ny_fit_gather_columns(fit, &spec, checks->rows, checks->R, &checks->columns);
    if (!err) err = choose_shift(checks, fit->job.ctx);
    if (err) return err;
    ny_tiles_use(&checks->tiles, checks->columns, checks->shift);
    return NY_OK;
}

void ny_checks_release(struct ny_checks *checks)
{
    ny_columns_free(checks->columns);
    ny_layout_free(&checks->own);
    *checks = (struct ny_checks){0};
}

/* ---- the pass ------------------------------------------------------------------------------ */

/* a_ii of row i of the worker's tile, at least: φ(x_i) is as far from the mean of all as its length
 * differs. */
static double own_entry(const struct ny_checks *checks, const struct ny_projector *projector,
                        unsigned worker, size_t i)
{
    double w = ny_projector_weight(projector, worker, i);
    double length = sqrt(ny_projector_diagonal(projector, worker)[i]) - checks->centre;

    return w * length * (w * length);
}

/* Makes v of `count` rows of a strip, and adds up what belongs to them; zero beyond them. */
static void fill_V(const struct ny_checks *checks, const struct ny_projector *projector,
                   unsigned worker, size_t first, size_t count)
{
    const struct ny_check_side *side = &checks->side[worker];
    struct ny_check_places at = ny_check_places(checks);
    double *v = side->sums + at.v, *q = side->sums + at.q, *e = side->sums + at.e;
    size_t p = checks->p;

    memset(side->V.at, 0, NY_STRIP_ROWS * (p + 1) * sizeof(double));
    for (size_t i = 0; i < count; i++) {
        double *row = side->V.at + i * (p + 1),
               w = ny_projector_weight(projector, worker, first + i);
        double a = own_entry(checks, projector, worker, first + i);

        row[p] = 1;
        v[p]++;
        if (isnan(w)) continue;
        for (size_t k = 0; k < p; k++) {
            double y = ny_projector_number(projector, worker, first + i, k);

            row[k] = w * y;
            v[k] += row[k];
            q[k] += y * y;
            e[k] += ny_check_own_square(checks, a, y, k);
        }
    }
}

/* Returns k′ of a strip in f64. */
static struct ny_matrix strip_of(const struct ny_checks *checks, unsigned worker, size_t first)
{
    const struct ny_tiles *tiles = &checks->tiles;
    struct ny_matrix K = checks->side[worker].K;
    const float *from;

    if (tiles->precision == NY_PRECISION_F64)
        return ny_rows(ny_tiles_c64(tiles, worker), first, NY_STRIP_ROWS);
    from = ny_rows32(ny_tiles_c32(tiles, worker), first, NY_STRIP_ROWS).at;
    for (size_t i = 0; i < NY_STRIP_ROWS * K.cols; i++)
        K.at[i] = (double)from[i];
    return K;
}

int ny_checks_tile(struct ny_checks *checks, const struct ny_tile *tile,
                   const struct ny_projector *projector)
{
    const struct ny_check_side *side;
    int err;

    if (!checks->R) return NY_OK;
    side = &checks->side[tile->worker];
    err = ny_tiles_compute(&checks->tiles, tile); /* k′(tile, S) */
    if (err) return err;
    memset(side->sums, 0, ny_check_places(checks).Y * sizeof(double));
    for (size_t first = 0; first < tile->rows; first += NY_STRIP_ROWS) {
        size_t left = tile->rows - first;

        fill_V(checks, projector, tile->worker, first, ny_smaller(left, NY_STRIP_ROWS));
        ny_gemm(1, ny_t(strip_of(checks, tile->worker, first)), side->V, 1,
                B_of(checks, side->sums)); /* B += k′ᵀV */
    }
    return NY_OK;
}

void ny_checks_fold(struct ny_checks *checks, const struct ny_fit *fit, const struct ny_tile *tile,
                    const struct ny_projector *projector)
{
    struct ny_check_places at = ny_check_places(checks);
    uint64_t before = fit->job.points.here.first + tile->first_row;
    size_t p = checks->p;

    for (size_t i = 0; checks->R && i < at.Y; i++)
        checks->sums[i] += checks->side[tile->worker].sums[i];
    for (size_t s = 0; s < checks->R; s++) {
        size_t i = (size_t)(checks->rows[s] - before);
        double w;

        if (checks->rows[s] < before || checks->rows[s] >= before + tile->rows) continue;
        w = ny_projector_weight(projector, tile->worker, i);
        checks->sums[at.w + s] = isnan(w) ? 0 : w;
        checks->sums[at.a + s] = isnan(w) ? 0 : own_entry(checks, projector, tile->worker, i);
        for (size_t k = 0; k < p; k++)
            checks->sums[at.Y + s * p + k] =
                isnan(w) ? 0 : ny_projector_number(projector, tile->worker, i, k);
    }
}

int ny_checks_put(const struct ny_checks *checks, struct ny_fit *fit, struct ny_batch *batch,
                  bool over)
{
    const struct ny_keep *keep = &fit->job.keep;
    size_t bytes = ny_check_places(checks).count * sizeof(double), chunk = 0;
    struct ny_part part = ny_record_part(fit->job.record, "checks");
    int err = NY_OK;

    if (!checks->R) return NY_OK;
    if (over) return keep->ops->drop(keep, batch, part.name);
    for (size_t at = 0; at < bytes && !err; at += NY_CHUNK_BYTES)
        err = keep->ops->put(keep, batch, part.name, chunk++, (const char *)checks->sums + at,
                             ny_smaller(bytes - at, NY_CHUNK_BYTES));
    return err;
}
