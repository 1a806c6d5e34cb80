/*
 * Memory of a fit: what its stages hold, and the workers of the pass that comes.
 *
 * Plans are made before anything is known of W, and before a pass has asked for its workers. So
 * the bytes of a course are those of stages that each have as many workers as fit, of pass 1 with
 * tile Grams in the precision that takes more, and with W where it still fits besides. OpenBLAS
 * keeps its buffers: what it holds for the workers of one pass, the stages behind hold too.
 *
 * 10,000 landmarks fit in 3 GB by these rules. W and G are 800 MB each in f64, and each worker
 * sums up a tile Gram of its own, 400 MB in f32 or 800 MB in f64.
 *
 *    W          is not needed while G is summed. Where keeping it would cost a worker, it is given
 *               back and computed again for solve: m²d multiply-adds, about a second where the
 *               eigenproblem takes a minute (ny_fit_keeps_square()).
 *    images     A checkpoint packs the triangle of G chunk by chunk, so that memory never holds an
 *               image of it.
 *    workers    Each pass has as many as fit what it holds, with the precision of the Gram that W
 *               has decided. The smallest budget that a plan names counts on f64.
 *    columns    are kept between the passes where all of them fit besides, in a 16th of the
 *               budget at most, so that only the first pass computes products.
 *    G          stays a plain f64 square, which LAPACK reduces in place (dsygst, then dsyevr by a
 *               range of indices).
 *
 * Three other forms of G were considered. Packed storage would save 400 MB of the peak, but its
 * LAPACK routines are of level 2. Compensated f32 would save as much, and the left fold would then
 * depend on the precision of the Gram. G in blocks in the store would be read and written once for
 * every 2,048 rows.
 */
#include "base/budget.h"
#include "fit/plan.h"

#include "columns/tile_cache.h"
#include "fit/fit.h"

static bool runs(const struct ny_sizes *f, enum ny_stage_id id)
{
    return ny_plan_runs(&f->job, id);
}

static struct ny_charges bytes_of(const struct ny_sizes *f, enum ny_stage_id id, unsigned workers,
                                  size_t limit)
{
    const struct ny_stage *stage = ny_plan_stage(&f->job, id);

    if (!stage->count) return (struct ny_charges){0};
    return ny_stage_most(stage->count, &f->job, workers, limit);
}

/* Tells whether a stage runs, and has something to do: accumulate may have no pass. */
static bool holds(const struct ny_sizes *f, enum ny_stage_id id)
{
    return runs(f, id) && (id != NY_STAGE_ACCUMULATE || f->job.course->order ||
                           ny_settings_needs_gram(f->settings));
}

/* The machine is measured while nothing else runs. */
static struct ny_charges while_measured(const struct ny_sizes *f, unsigned workers, size_t limit)
{
    struct ny_layout l = {0};
    size_t held;

    ny_sizes_common(&l, f, workers, 1);
    held = ny_layout_most(&l);
    if (limit > held) ny_calibration_count(&l, workers, limit - held);
    return l.most;
}

/* ---- one pass ------------------------------------------------------------------------------- */

/* A pass, with what is known when it begins. */
struct pass {
    const struct ny_sizes *sizes;
    enum ny_stage_id stage;
    ny_stage_count_fn *count;
};

/* The pass, or a stage behind it with one worker if that holds more: it has the buffers that BLAS
 * keeps of the pass. */
static void count_pass(struct ny_layout *l, const void *arg, unsigned workers, size_t limit)
{
    const struct pass *pass = arg;
    struct ny_sizes later = *pass->sizes;

    pass->count(l, &pass->sizes->job, workers, limit);
    later.blas_bytes = ny_sizes_blas(pass->sizes, workers);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++) {
        enum ny_stage_id id = (enum ny_stage_id)stage;

        if (ny_stage_rank(id) > ny_stage_rank(pass->stage) && holds(&later, id))
            l->most = ny_charges_larger(bytes_of(&later, id, 1, limit), l->most);
    }
}

unsigned ny_fit_pass_workers(const struct ny_sizes *f, enum ny_stage_id stage,
                             ny_stage_count_fn *count)
{
    return ny_budget_workers(count_pass, &(struct pass){f, stage, count}, f->job.threads,
                             ny_memory_limit(f->job.ctx));
}

bool ny_fit_keeps_square(const struct ny_sizes *f, ny_stage_count_fn *count, unsigned workers)
{
    size_t limit = ny_memory_limit(f->job.ctx);
    struct ny_charges pass = ny_stage_most(count, &f->job, workers, limit);

    return ny_charges_total(&pass) + ny_sizes_spare(f) <= limit;
}

/* ---- columns that are kept ------------------------------------------------------------------ */

/* Tells whether a stage is one of those that run while columns are kept. */
static bool keeps_columns(enum ny_stage_id id)
{
    return ny_stage_rank(id) >= ny_stage_rank(NY_STAGE_DEGREES) &&
           ny_stage_rank(id) <= ny_stage_rank(NY_STAGE_PROJECT);
}

/* Counts the passes that compute tiles of the same columns for all rows. */
static int passes_of(const struct ny_sizes *f)
{
    const struct ny_fit_settings *settings = f->settings;
    int passes = runs(f, NY_STAGE_DEGREES);

    if (settings->method->krylov) passes += 2; /* at least */
    if (ny_settings_forms_gram(settings) && !settings->online)
        passes += runs(f, NY_STAGE_ACCUMULATE);
    return passes +
           (runs(f, NY_STAGE_PROJECT) && !ny_settings_rows_known(settings, f->points, f->m));
}

/* Tells whether there are passes to save whose entries take more than a copy does. */
static bool is_worth_it(const struct ny_sizes *f)
{
    const double least_products = 32; /* a copy there and back costs as much as about ten */
    const struct ny_fit_settings *settings = f->settings;

    return !settings->method->whole && !ny_settings_features(settings) && !settings->columns &&
           !settings->updates && !settings->placed && !ny_context_peers(f->job.ctx) &&
           ny_entry_products(&f->spec) >= least_products && passes_of(f) > 1;
}

/* Returns the bytes of the columns that are kept beside what the stages hold; 0: each pass computes
 * them. */
static size_t cache_of(const struct ny_sizes *f, const struct ny_course_bytes *bytes, size_t limit)
{
    const size_t share = 16; /* of the budget: what is fast need not be large */
    struct ny_layout counted = {0};
    size_t cache, most = 0;

    if (!is_worth_it(f)) return 0;
    ny_tile_cache_count(&counted, f->points->n, f->m, ny_sizes_element(f));
    cache = ny_layout_most(&counted);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++) {
        size_t held = ny_charges_total(&bytes->of[stage]);

        if (keeps_columns((enum ny_stage_id)stage) && held > most) most = held;
    }
    return cache <= limit / share && most <= limit && cache <= limit - most ? cache : 0;
}

/* ---- the course ----------------------------------------------------------------------------- */

/* A pass with as many workers as it may have, at least `workers`; BLAS keeps what they need. */
static struct ny_charges grown(struct ny_sizes *f, enum ny_stage_id id, unsigned workers,
                               size_t limit)
{
    const struct ny_stage *stage = ny_plan_stage(&f->job, id);
    unsigned most =
        ny_budget_workers(count_pass, &(struct pass){f, id, stage->count}, f->job.threads, limit);

    if (most > workers) workers = most;
    f->blas_bytes = ny_sizes_blas(f, workers);
    return ny_stage_most(stage->count, &f->job, workers, limit);
}

/* Bytes of pass 1 with tile Grams of a precision, and of W where it still fits. */
static struct ny_charges with_gram(struct ny_sizes *f, enum ny_gram_precision gram,
                                   unsigned workers, size_t limit)
{
    struct ny_charges bytes;

    f->gram = gram;
    bytes = grown(f, NY_STAGE_ACCUMULATE, workers, limit);
    if (ny_charges_total(&bytes) + ny_sizes_spare(f) <= limit)
        bytes.of[NY_MEM_SOLVE] += ny_sizes_spare(f);
    return bytes;
}

/* Bytes of pass 1 in the precision that takes more, as W tells only later. */
static struct ny_charges accumulating(struct ny_sizes *f, unsigned workers, size_t limit)
{
    struct ny_sizes coarse = *f;
    struct ny_charges of_coarse = with_gram(&coarse, NY_GRAM_F32, workers, limit);
    struct ny_charges of_fine = with_gram(f, NY_GRAM_F64, workers, limit);

    if (coarse.blas_bytes > f->blas_bytes) *f = coarse;
    return ny_charges_larger(of_coarse, of_fine);
}

static void raise_to(struct ny_charges *bytes, const struct ny_charges *least)
{
    *bytes = ny_charges_larger(*least, *bytes);
}

/* Bytes of one stage of the course. `known` is what the stages before it have fixed: a pass has as
 * many workers as fit, and BLAS keeps their buffers from then on. */
static struct ny_charges of_stage(struct ny_sizes *known, enum ny_stage_id id, unsigned workers,
                                  size_t limit)
{
    switch (id) {
    case NY_STAGE_ACCUMULATE:
        return accumulating(known, workers, limit);
    case NY_STAGE_DEGREES:
    case NY_STAGE_PROJECT:
    case NY_STAGE_PROBE:
        return grown(known, id, workers, limit);
    default:
        return bytes_of(known, id, workers, limit);
    }
}

/* Bytes of all stages, but for columns that are kept between passes. */
static void of_stages(const struct ny_sizes *f, unsigned workers, size_t limit,
                      struct ny_course_bytes *bytes)
{
    struct ny_layout prepare = {0};
    struct ny_charges *of = bytes->of;
    struct ny_sizes known = *f; /* when a stage begins */

    ny_prepare_count(&prepare, f, workers);
    *bytes = (struct ny_course_bytes){.before = while_measured(f, workers, limit)};
    for (const struct ny_stage *const *at = f->job.course->stages; *at; at++)
        /* A selection that is skipped counts as well: landmarks are there without it. */
        if (holds(f, (*at)->id) || (*at)->id == NY_STAGE_SELECT)
            of[(*at)->id] = of_stage(&known, (*at)->id, workers, limit);
    /* A selection that sums up is pass 1 as well. */
    if (!runs(f, NY_STAGE_ACCUMULATE)) of[NY_STAGE_ACCUMULATE] = of[NY_STAGE_SELECT];
    /* Landmarks are prepared by whichever stage a run begins with. */
    if (runs(f, NY_STAGE_DEGREES)) raise_to(&of[NY_STAGE_DEGREES], &prepare.most);
    raise_to(&of[NY_STAGE_ACCUMULATE], &prepare.most);
    raise_to(&of[NY_STAGE_SOLVE], &prepare.most);
}

void ny_fit_course_bytes(const struct ny_job_sizes *sizes, unsigned workers, size_t limit,
                         struct ny_course_bytes *bytes)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);

    of_stages(f, workers, limit, bytes);
    bytes->cache = cache_of(f, bytes, limit);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        if (keeps_columns((enum ny_stage_id)stage) && holds(f, (enum ny_stage_id)stage))
            bytes->of[stage].of[NY_MEM_TILES] += bytes->cache;
}
