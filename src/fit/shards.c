/*
 * A fit over shards. Each shard has a job of its own, with its parts and checkpoints, and a copy of
 * one record. The jobs go through the same stages together (base/peers.h):
 *
 *   stats       statistics and the width's pairs are those of all rows (store/shard.c,
 *               columns/moments.c)
 *   select      all select the same landmarks; the bounds of residuals are gathered after a pass,
 *               or shards take turns (select/greedy_shards.c), with --online for the sums as well
 *   accumulate  each sums up its rows, and keeps the sums as its checkpoint
 *   solve       the sums are added up; the shard that leads solves, the others store its model
 *   project     each places its rows
 *   probe       columns are gathered, their sums added up
 *
 * A job that was ended goes on with the record of the shard that has come least far, at its stage.
 * Shards ahead of it go back there; their sums are still there, so that no pass is made twice for
 * them.
 */
#include "fit/shards.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "base/cpu.h"
#include "fit/sums.h"
#include "base/peers.h"
#include "model/degrees.h"

/* ---- possible and refused -------------------------------------------------------------------- */

/* Returns what the settings ask for that goes over one store alone, and *instead what shards can
 * do; NULL: nothing. */
static const char *unsharded(const struct ny_fit_settings *settings, const char **instead)
{
    static const char *const methods[] = {"projected", "nystrom", "column", "orthonystrom"};
    const struct ny_method *method = settings->method;
    bool known = settings->kernel && ny_settings_unit_landmarks(settings), features;

    *instead = "fit a store that has all rows";
    features = settings->kernel && ny_settings_features(settings);
    if (settings->columns) return "--columns-file";
    *instead = "take --approx projected, nystrom, column or orthonystrom";
    for (size_t i = 0; method && i < sizeof(methods) / sizeof(methods[0]); i++)
        known = known || strcmp(method->name, methods[i]) == 0;
    return method && !features && (!known || method->whole) ? method->name : NULL;
}

int ny_shards_check(struct ny_context *ctx, const struct ny_fit_settings *settings)
{
    const char *instead, *what;

    if (!ny_context_peers(ctx)) return NY_OK;
    what = unsharded(settings, &instead);
    if (!what) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE, "%s does not work across the shards of a store; %s", what,
                   instead);
}

/* ---- one record ---------------------------------------------------------------------------- */

/* Makes the record that of shard `from`, but for what is this shard's own. */
static int take_record(struct ny_fit *fit, unsigned from)
{
    struct ny_record record = fit->job.record;
    int err;

    record.ops->put(record, &fit->job.state);
    err = record.ops->share(record, fit->job.ctx, from);
    fit->job.state = ny_state_of(record);
    return err;
}

/* ---- going on together ----------------------------------------------------------------------- */

/* The facts of a shard's job that decide where all go on. */
struct standing {
    uint64_t stage;    /* its rank; NY_STAGE_DONE: the result is whole */
    uint64_t measured; /* in stage accumulate: what f32 would lose is known */
};

static struct standing standing_of(const struct ny_state *state)
{
    enum ny_stage_id stage = ny_stage_parse(state->record.stage);

    return (struct standing){ny_stage_rank(stage), state->noise.there};
}

/* Makes the sums that the record keeps with the model its checkpoint again; false: it has none. */
static bool take_up_sums(struct ny_job *job)
{
    const struct ny_state_sums *sums = &job->state.sums;

    if (!sums->part || strncmp(sums->part, "gram.", 5) != 0) return false;
    job->state.at = (struct ny_state_at){.there = true,
                                         .part = "gram",
                                         .slot = strtoull(sums->part + 5, NULL, 10),
                                         .bytes = sums->bytes,
                                         .units = ny_units_of(sums->rows),
                                         .measured = NY_NONE};
    return true;
}

/* Keeps of the checkpoint what serves a stage that an earlier one has led beyond: sums of pass 1. A
 * shard that has placed its rows places them again, since it has dropped the sums of pass 2. */
static void go_back(struct ny_job *job, uint64_t from, enum ny_stage_id stage)
{
    bool summed = stage == NY_STAGE_ACCUMULATE || stage == NY_STAGE_SOLVE;
    bool here = from == ny_stage_rank(NY_STAGE_SOLVE) && stage == NY_STAGE_ACCUMULATE &&
                ny_job_has_image(job, "gram");

    if (!here && !(summed && take_up_sums(job))) ny_job_clear_checkpoint(job);
}

/* Refuses rows and machines that are not alike. `anew`: one of the shards has made nothing of its
 * rows so far, and none is done, so that all begin with the rows that there are now. */
static int check_alike(const struct ny_fit *fit, bool anew)
{
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    const struct ny_state *state = &fit->job.state;
    const uint64_t rows[] = {state->sharded.there ? state->sharded.rows : state->report.n,
                             fit->mode ? 0 : state->facts.updates}; /* some were frozen */
    const char *cpu = ny_cpu_name(ny_cpu_family()), *blas = ny_blas_name();
    int err = anew ? NY_OK : ny_peers_agree(peers, ny_checksum(rows, sizeof(rows)), "rows");

    if (err) return err;
    return ny_peers_agree(peers,
                          ny_checksum(cpu, strlen(cpu)) ^ ny_checksum(blas, strlen(blas)) << 1,
                          "kinds of CPU");
}

int ny_shards_check_first(struct ny_context *ctx, const char *name, uint64_t then,
                          const struct ny_rows_info *points)
{
    if (then == points->here.first) return NY_OK;
    return ny_fail(ctx, NY_EUSAGE,
                   "'%s' was begun with %llu rows before those of shard %u, but there are %llu "
                   "now; fit it anew with --restart",
                   name, (unsigned long long)then, ny_peers_shard(ny_context_peers(ctx)),
                   (unsigned long long)points->here.first);
}

/* Compares the rows before this shard with those of the beginning. `stage`: all go on there; at the
 * first one, nothing that was made is used, and the numbers are those of now. */
static int check_first(struct ny_fit *fit, uint64_t stage)
{
    uint64_t *then = &fit->job.state.record.first;
    struct ny_rows_info points;
    int err = fit->job.X->ops->info(fit->job.X, &points);

    if (err) return err;
    if (stage == ny_stage_rank(NY_STAGE_STATS)) *then = points.here.first;
    return *then == NY_NONE
               ? NY_OK
               : ny_shards_check_first(fit->job.ctx, fit->job.keep.name, *then, &points);
}

/* Tells whether the solution has averages of its landmarks for a probe, in part "centring". */
static bool has_centring(const struct ny_fit_settings *settings)
{
    return ny_settings_probe_averages(settings) && !ny_divided(settings->normalisation);
}

/* Shares a part of shard `from`, of as many bytes in all shards. `stores`: this shard stores it as
 * its own. */
static int share_part(struct ny_fit *fit, const char *part, size_t bytes, unsigned from,
                      bool stores)
{
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    void *data = ny_alloc(fit->job.ctx, NY_MEM_MODEL, bytes);
    int err = data ? NY_OK : NY_EBUDGET;

    if (!err && ny_peers_shard(peers) == from) err = ny_job_get_part(&fit->job, part, data, bytes);
    if (!err) err = ny_peers_share_of(peers, from, data, bytes);
    if (!err && stores) err = ny_job_put_part(&fit->job, part, data, bytes);
    ny_free(fit->job.ctx, data);
    return err;
}

/* How far all shards are. */
struct together {
    struct standing least;
    unsigned shard; /* the first that is there: its record becomes that of all */
    bool done;      /* one of them is */
};

static struct together compare(const struct standing *all, unsigned shards)
{
    struct together to = {.least = all[0]};

    for (unsigned k = 0; k < shards; k++) {
        if (all[k].stage < to.least.stage ||
            (all[k].stage == to.least.stage && all[k].measured < to.least.measured)) {
            to.least = all[k];
            to.shard = k;
        }
        to.done = to.done || all[k].stage == NY_STAGE_DONE;
    }
    return to;
}

/* A shard that is done has dropped what served the probe alone: for one that is not, all place
 * their rows again, and it gets the averages of the landmarks of that one. */
static int prepare_probe(struct ny_fit *fit, const struct together *to, bool dropped)
{
    if (!to->done || !fit->settings->probes) return NY_OK;
    if (to->least.stage == NY_STAGE_DONE || to->least.stage < ny_stage_rank(NY_STAGE_PROJECT))
        return NY_OK;
    fit->job.state.record.stage = ny_stage_name(NY_STAGE_PROJECT);
    if (!has_centring(fit->settings)) return NY_OK;
    return share_part(fit, "centring", ny_fit_order(fit) * sizeof(double), to->shard, dropped);
}

/* Takes the record of the shard that has come least far, and goes back to where that is. */
static int follow(struct ny_fit *fit, const struct together *to)
{
    struct ny_job *job = &fit->job;
    uint64_t from = standing_of(&job->state).stage;
    enum ny_stage_id stage;
    int err = check_alike(fit, !to->done && to->least.stage == ny_stage_rank(NY_STAGE_STATS));

    if (!err) err = check_first(fit, to->least.stage);
    if (!err) err = take_record(fit, to->shard);
    if (!err) err = prepare_probe(fit, to, from == NY_STAGE_DONE);
    if (err) return err;
    stage = ny_stage_parse(job->state.record.stage);
    if (from > ny_stage_rank(stage)) go_back(job, from, stage);
    return NY_OK;
}

int ny_shards_align(struct ny_fit *fit)
{
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    unsigned shards = ny_peers_shards(peers);
    struct standing mine = standing_of(&fit->job.state), *all;
    struct together to;
    int err;

    if (!peers) return NY_OK;
    all = ny_calloc(fit->job.ctx, NY_MEM_OTHER, shards, sizeof(*all));
    if (!all) return NY_EBUDGET;
    err = ny_peers_gather_equal(peers, &mine, sizeof(mine), all);
    if (!err) {
        to = compare(all, shards);
        err = follow(fit, &to);
    }
    ny_free(fit->job.ctx, all);
    return err;
}

/* ---- the solution ---------------------------------------------------------------------------- */

/* Returns why the result may differ, in its last bits, from that of one store with all rows; NULL:
 * it does not, as sums that were not rounded have one value, however rows are cut, and those of
 * --online go from shard to shard. */
static const char *differs(const struct ny_fit *fit)
{
    const struct ny_fit_settings *settings = fit->settings;
    bool gram = ny_settings_forms_gram(settings), integers = fit->job.points.stored_dtype <= NY_I16;
    bool scatter = ny_settings_unit_landmarks(settings);
    struct ny_geometry_wish wish = ny_settings_geometry_wish(settings, &fit->job.points);

    if (!fit->job.points.aligned)
        return "a shard but the last has a number of rows that is no multiple of 2,048";
    if (!wish.rough && (!integers || fit->job.points.dtype != fit->job.points.stored_dtype))
        return "rows are no whole numbers";
    if (ny_scale_spread(settings->scale)) return "columns are scaled by their statistics";
    if (ny_settings_features(settings) || settings->method->krylov) return "products are f64";
    if (ny_divided(settings->normalisation)) return "K is divided by degrees, which are f64";
    if (gram && !settings->online &&
        (scatter || !ny_is(fit->job.state.report.gram_precision, "f32")))
        return "sums are f64";
    if (fit->job.state.record.rounded) return "sums were rounded";
    return NULL;
}

int ny_shards_share_solution(struct ny_fit *fit)
{
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    bool waits = peers && !ny_peers_leads(peers); /* for the solution, and stores it as its own */
    int err;

    if (!peers) return NY_OK;
    if (!waits) fit->job.state.bytes = (struct ny_state_bytes){true, differs(fit)};
    err = take_record(fit, 0);
    if (!err) err = share_part(fit, "model", (size_t)fit->job.state.record.model_bytes, 0, waits);
    if (!err && has_centring(fit->settings))
        err = share_part(fit, "centring", fit->m * sizeof(double), 0, waits);
    if (err || !waits) return err;
    ny_fit_drop_problem(fit);
    ny_fit_keep_sums(fit);
    ny_job_mark_time(&fit->job);
    return NY_OK;
}

/* ---- the end --------------------------------------------------------------------------------- */

int ny_shards_at_end(struct ny_job *job, struct ny_batch *batch)
{
    const struct ny_rows_info *points = &job->points;
    struct ny_peers *peers = ny_context_peers(job->ctx);
    const char *differs = job->state.bytes.differs;
    /* each row of a placed model is placed by itself */
    bool told = job->state.bytes.there || ny_fit_of(job)->settings->placed;

    (void)batch;
    job->state.sharded = (struct ny_state_sharded){.there = true,
                                                   .shard = ny_peers_shard(peers),
                                                   .shards = ny_peers_shards(peers),
                                                   .first = points->here.first,
                                                   .rows = points->n,
                                                   .same_bytes_as_one = told ? !differs : NY_NONE,
                                                   .differs = differs};
    job->state.report.n = ny_rows_here(points);
    job->record.ops->put(job->record, &job->state);
    return NY_OK;
}
