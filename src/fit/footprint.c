/* Memory of a fit: the most that its stages hold, and the workers that fit a budget. */
#include "fit/plan.h"

#include "fit/fit.h"

enum { PLAN, STATS, SELECT, PREPARE, DEGREES, ACCUMULATE, SOLVE, PROJECT, PROBE, BILLS };

/* ---- stages of the course ------------------------------------------------------------------- */

static const struct ny_stage *stage_of(const struct ny_sizes *f, enum ny_stage_id id)
{
    for (const struct ny_stage *const *at = f->course->stages; *at; at++)
        if ((*at)->id == id) return *at;
    return NULL;
}

static ny_stage_bytes_fn *bytes_of(const struct ny_sizes *f, enum ny_stage_id id)
{
    return stage_of(f, id)->bytes;
}

/* Tells whether the course has the stage and does not skip it. */
static bool runs(const struct ny_sizes *f, enum ny_stage_id id)
{
    const struct ny_fit planned = {.settings = f->settings};

    return stage_of(f, id) && !f->course->skips(&planned.job, id);
}

/* Tells whether stage accumulate has a pass, or products in its place. */
static bool sums_up(const struct ny_sizes *f)
{
    return stage_of(f, NY_STAGE_ACCUMULATE) &&
           (f->course->order || ny_settings_needs_gram(f->settings));
}

/* ---- what they hold ------------------------------------------------------------------------- */

/* The machine is measured while nothing else runs. */
static struct ny_stage_bytes plan_bytes(const struct ny_sizes *f, unsigned workers, size_t limit)
{
    struct ny_stage_bytes bill = ny_sizes_common(f, workers, 1);
    size_t held = ny_stage_bytes_total(&bill);

    if (limit > held) bill.by_purpose[NY_MEM_OTHER] += ny_calibration_bytes(workers, limit - held);
    return bill;
}

/* Pass 1 with tile Grams in the precision that takes more, as W tells only later. */
static struct ny_stage_bytes accumulate_bytes(const struct ny_sizes *f, unsigned workers,
                                              size_t limit)
{
    ny_stage_bytes_fn *bytes = bytes_of(f, NY_STAGE_ACCUMULATE);
    struct ny_sizes coarse = *f, fine = *f;

    coarse.gram = NY_GRAM_F32;
    fine.gram = NY_GRAM_F64;
    return ny_stage_bytes_larger(bytes(&coarse, workers, limit), bytes(&fine, workers, limit));
}

/* Fills in all of them, with the same workers. A selection that sums up is pass 1 as well. */
static void all_bills(const struct ny_sizes *f, unsigned workers, size_t limit,
                      struct ny_stage_bytes bills[BILLS])
{
    bills[PLAN] = plan_bytes(f, workers, limit);
    bills[STATS] = bytes_of(f, NY_STAGE_STATS)(f, workers, limit);
    bills[SELECT] = bytes_of(f, NY_STAGE_SELECT)(f, workers, limit);
    bills[PREPARE] = ny_prepare_bytes(f, workers);
    bills[DEGREES] =
        runs(f, NY_STAGE_DEGREES) ? bytes_of(f, NY_STAGE_DEGREES)(f, workers, limit) : bills[STATS];
    bills[ACCUMULATE] = !stage_of(f, NY_STAGE_ACCUMULATE) ? bills[SELECT]
                        : sums_up(f)                      ? accumulate_bytes(f, workers, limit)
                                                          : bills[PREPARE];
    bills[SOLVE] = bytes_of(f, NY_STAGE_SOLVE)(f, workers, limit);
    bills[PROJECT] = bytes_of(f, NY_STAGE_PROJECT)(f, workers, limit);
    bills[PROBE] =
        runs(f, NY_STAGE_PROBE) ? bytes_of(f, NY_STAGE_PROBE)(f, workers, limit) : bills[STATS];
}

static const struct ny_stage_bytes *largest(const struct ny_stage_bytes bills[BILLS])
{
    const struct ny_stage_bytes *peak = bills;

    for (int i = 1; i < BILLS; i++)
        if (ny_stage_bytes_total(&bills[i]) > ny_stage_bytes_total(peak)) peak = &bills[i];
    return peak;
}

/* The peak with so many workers in all stages. */
static size_t peak_of(const struct ny_sizes *f, unsigned workers, size_t limit)
{
    struct ny_stage_bytes bills[BILLS];

    all_bills(f, workers, limit, bills);
    return ny_stage_bytes_total(largest(bills));
}

/* Tells whether the later stages fit besides the bytes that BLAS keeps for so many workers. */
static bool goes_on(const struct ny_sizes *f, unsigned workers, size_t limit)
{
    struct ny_sizes later = *f;
    struct ny_stage_bytes solve, project, probe;

    later.blas_bytes = ny_sizes_blas(f, workers);
    solve = bytes_of(f, NY_STAGE_SOLVE)(&later, 1, limit);
    project = bytes_of(f, NY_STAGE_PROJECT)(&later, 1, limit);
    if (ny_stage_bytes_total(&solve) > limit || ny_stage_bytes_total(&project) > limit)
        return false;
    if (!runs(f, NY_STAGE_PROBE)) return true;
    probe = bytes_of(f, NY_STAGE_PROBE)(&later, 1, limit);
    return ny_stage_bytes_total(&probe) <= limit;
}

static unsigned most_workers(const struct ny_sizes *f, ny_stage_bytes_fn *bill, size_t limit)
{
    unsigned workers = f->settings->threads;

    for (; workers > 0; workers--) {
        struct ny_stage_bytes one = bill(f, workers, limit);

        if (ny_stage_bytes_total(&one) <= limit && goes_on(f, workers, limit)) break;
    }
    return workers;
}

unsigned ny_footprint_pass_workers(const struct ny_sizes *f, ny_stage_bytes_fn *bytes)
{
    return most_workers(f, bytes, ny_memory_limit(f->ctx));
}

bool ny_footprint_keeps_square(const struct ny_sizes *f, ny_stage_bytes_fn *bytes, unsigned workers)
{
    struct ny_stage_bytes pass = bytes(f, workers, ny_memory_limit(f->ctx));

    return ny_stage_bytes_total(&pass) + ny_sizes_spare(f) <= ny_memory_limit(f->ctx);
}

/* A pass with as many workers as it may have, at least `workers`; BLAS keeps what they need. */
static struct ny_stage_bytes grown_pass(struct ny_sizes *f, ny_stage_bytes_fn *bill,
                                        unsigned workers, size_t limit)
{
    unsigned most = most_workers(f, bill, limit);

    if (most > workers) workers = most;
    f->blas_bytes = ny_sizes_blas(f, workers);
    return bill(f, workers, limit);
}

/* Bytes of pass 1 with tile Grams of a precision, and of W where it still fits. */
static struct ny_stage_bytes grown_accumulate(struct ny_sizes *f, enum ny_gram_precision gram,
                                              unsigned workers, size_t limit)
{
    struct ny_stage_bytes bill;

    f->gram = gram;
    bill = grown_pass(f, bytes_of(f, NY_STAGE_ACCUMULATE), workers, limit);
    if (ny_stage_bytes_total(&bill) + ny_sizes_spare(f) <= limit)
        bill.by_purpose[NY_MEM_SOLVE] += ny_sizes_spare(f);
    return bill;
}

/* Fills in all of them as they will be: each pass has as many workers as fit. */
static void grown_bills(const struct ny_sizes *f, unsigned workers, size_t limit,
                        struct ny_stage_bytes bills[BILLS])
{
    struct ny_sizes known = *f;

    all_bills(f, workers, limit, bills);
    if (runs(f, NY_STAGE_DEGREES))
        bills[DEGREES] = grown_pass(&known, bytes_of(f, NY_STAGE_DEGREES), workers, limit);
    if (sums_up(f)) {
        struct ny_sizes coarse_known = known;
        struct ny_stage_bytes coarse = grown_accumulate(&coarse_known, NY_GRAM_F32, workers, limit);
        struct ny_stage_bytes fine = grown_accumulate(&known, NY_GRAM_F64, workers, limit);

        bills[ACCUMULATE] = ny_stage_bytes_larger(coarse, fine);
        if (coarse_known.blas_bytes > known.blas_bytes) known = coarse_known;
    }
    bills[SOLVE] = bytes_of(f, NY_STAGE_SOLVE)(&known, workers, limit);
    bills[PROJECT] = grown_pass(&known, bytes_of(f, NY_STAGE_PROJECT), workers, limit);
    if (runs(f, NY_STAGE_PROBE))
        bills[PROBE] = grown_pass(&known, bytes_of(f, NY_STAGE_PROBE), workers, limit);
}

size_t ny_footprint_peak(const struct ny_sizes *footprint, unsigned workers, size_t limit,
                         size_t by_purpose[NY_PURPOSES])
{
    struct ny_stage_bytes bills[BILLS];
    const struct ny_stage_bytes *peak;

    grown_bills(footprint, workers, limit, bills);
    peak = largest(bills);
    for (int p = 0; p < NY_PURPOSES; p++)
        by_purpose[p] = peak->by_purpose[p];
    return ny_stage_bytes_total(peak);
}

void ny_footprint_stages(const struct ny_sizes *footprint, unsigned workers, size_t limit,
                         size_t stage_bytes[NY_STAGE_DONE])
{
    struct ny_stage_bytes bills[BILLS];
    size_t prepare;

    grown_bills(footprint, workers, limit, bills);
    prepare = ny_stage_bytes_total(&bills[PREPARE]);
    stage_bytes[NY_STAGE_STATS] = ny_stage_bytes_total(&bills[STATS]);
    stage_bytes[NY_STAGE_SELECT] = ny_stage_bytes_total(&bills[SELECT]);
    stage_bytes[NY_STAGE_DEGREES] =
        runs(footprint, NY_STAGE_DEGREES) ? ny_stage_bytes_total(&bills[DEGREES]) : 0;
    stage_bytes[NY_STAGE_ACCUMULATE] = ny_stage_bytes_total(&bills[ACCUMULATE]);
    stage_bytes[NY_STAGE_SOLVE] = ny_stage_bytes_total(&bills[SOLVE]);
    stage_bytes[NY_STAGE_PROJECT] = ny_stage_bytes_total(&bills[PROJECT]);
    stage_bytes[NY_STAGE_PROBE] =
        runs(footprint, NY_STAGE_PROBE) ? ny_stage_bytes_total(&bills[PROBE]) : 0;
    /* Landmarks are prepared by whichever stage a run begins with. */
    if (stage_bytes[NY_STAGE_ACCUMULATE] < prepare) stage_bytes[NY_STAGE_ACCUMULATE] = prepare;
    if (stage_bytes[NY_STAGE_DEGREES] && stage_bytes[NY_STAGE_DEGREES] < prepare)
        stage_bytes[NY_STAGE_DEGREES] = prepare;
    if (stage_bytes[NY_STAGE_SOLVE] < prepare) stage_bytes[NY_STAGE_SOLVE] = prepare;
}

unsigned ny_footprint_workers(const struct ny_sizes *footprint, unsigned threads)
{
    size_t limit = ny_memory_limit(footprint->ctx);

    while (threads > 0 && peak_of(footprint, threads, limit) > limit)
        threads--;
    return threads;
}

size_t ny_footprint_minimum(const struct ny_sizes *footprint)
{
    size_t limit = 0;

    /* The buffers that grow with the budget stop growing at a share of it: a few steps settle. */
    for (int step = 0; step < 16; step++) {
        size_t peak = peak_of(footprint, 1, limit);

        if (peak <= limit) break;
        limit = peak;
    }
    return limit;
}
