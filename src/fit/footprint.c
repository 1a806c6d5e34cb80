/* Memory of a fit: the most that its stages hold, and the workers that fit a budget. */
#include "fit/footprint_private.h"

enum { PLAN, STATS, SELECT, PREPARE, DEGREES, ACCUMULATE, SOLVE, PROJECT, PROBE, BILLS };

/* Pass 1 with tile Grams in the precision that takes more, as W tells only later. */
static struct bill accumulate_bill(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct ny_footprint coarse = *f, fine = *f;

    coarse.gram = NY_GRAM_F32;
    fine.gram = NY_GRAM_F64;
    return ny_bill_larger(ny_accumulate_bill(&coarse, workers, limit),
                          ny_accumulate_bill(&fine, workers, limit));
}

/* All of them with the same workers. */
static void all_bills(const struct ny_footprint *f, unsigned workers, size_t limit,
                      struct bill bills[BILLS])
{
    bills[PLAN] = ny_plan_bill(f, workers, limit);
    bills[STATS] = ny_stats_bill(f, workers, limit);
    bills[SELECT] =
        f->settings->online ? ny_online_bill(f, workers, limit) : ny_select_bill(f, workers, limit);
    bills[PREPARE] = ny_prepare_bill(f, workers);
    bills[DEGREES] =
        ny_settings_needs_degrees(f->settings) ? ny_degrees_bill(f, workers, limit) : bills[STATS];
    bills[ACCUMULATE] = f->settings->online ? bills[SELECT]
                        : f->settings->method->whole || ny_settings_needs_gram(f->settings)
                            ? accumulate_bill(f, workers, limit)
                            : bills[PREPARE];
    bills[SOLVE] = ny_solve_bill(f, workers, limit);
    bills[PROJECT] = ny_project_bill(f, workers, limit);
    bills[PROBE] = f->settings->probes ? ny_probe_bill(f, workers, limit) : bills[STATS];
}

static const struct bill *largest(const struct bill bills[BILLS])
{
    const struct bill *peak = bills;

    for (int i = 1; i < BILLS; i++)
        if (ny_bill_total(&bills[i]) > ny_bill_total(peak)) peak = &bills[i];
    return peak;
}

/* The peak with so many workers in all stages. */
static size_t peak_of(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill bills[BILLS];

    all_bills(f, workers, limit, bills);
    return ny_bill_total(largest(bills));
}

/* Tells whether the later stages fit besides the bytes that BLAS keeps for so many workers. */
static bool goes_on(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct ny_footprint later = *f;
    struct bill solve, project, probe;

    later.blas_bytes = ny_footprint_blas_bytes(f, workers);
    solve = ny_solve_bill(&later, 1, limit);
    project = ny_project_bill(&later, 1, limit);
    probe = ny_probe_bill(&later, 1, limit);
    return ny_bill_total(&solve) <= limit && ny_bill_total(&project) <= limit &&
           (!f->settings->probes || ny_bill_total(&probe) <= limit);
}

static unsigned most_workers(const struct ny_footprint *f, pass_bill *bill, size_t limit)
{
    unsigned workers = f->settings->threads;

    for (; workers > 0; workers--) {
        struct bill one = bill(f, workers, limit);

        if (ny_bill_total(&one) <= limit && goes_on(f, workers, limit)) break;
    }
    return workers;
}

unsigned ny_footprint_stage_workers(const struct ny_footprint *f, enum ny_stage_id stage)
{
    pass_bill *bill = stage == NY_STAGE_DEGREES      ? ny_degrees_bill
                      : stage == NY_STAGE_ACCUMULATE ? ny_accumulate_bill
                      : stage == NY_STAGE_PROBE      ? ny_probe_bill
                                                     : ny_project_bill;

    return most_workers(f, bill, ny_memory_limit(f->ctx));
}

/* Tells whether W fits besides so many workers of pass 1. */
static bool square_fits(const struct ny_footprint *f, unsigned workers, size_t limit)
{
    struct bill bill = ny_accumulate_bill(f, workers, limit);

    return ny_bill_total(&bill) + ny_footprint_spare_bytes(f) <= limit;
}

bool ny_footprint_keeps_square(const struct ny_footprint *f, unsigned workers)
{
    return square_fits(f, workers, ny_memory_limit(f->ctx));
}

/* A pass with as many workers as it may have, at least `workers`; BLAS keeps what they need. */
static struct bill grown_pass(struct ny_footprint *f, pass_bill *bill, unsigned workers,
                              size_t limit)
{
    unsigned most = most_workers(f, bill, limit);

    if (most > workers) workers = most;
    f->blas_bytes = ny_footprint_blas_bytes(f, workers);
    return bill(f, workers, limit);
}

/* Bytes of pass 1 with tile Grams of a precision, and of W where it still fits. */
static struct bill grown_accumulate(struct ny_footprint *f, enum ny_gram_precision gram,
                                    unsigned workers, size_t limit)
{
    struct bill bill;

    f->gram = gram;
    bill = grown_pass(f, ny_accumulate_bill, workers, limit);
    if (ny_bill_total(&bill) + ny_footprint_spare_bytes(f) <= limit)
        bill.by_purpose[NY_MEM_SOLVE] += ny_footprint_spare_bytes(f);
    return bill;
}

/* All of them as they will be. */
static void grown_bills(const struct ny_footprint *f, unsigned workers, size_t limit,
                        struct bill bills[BILLS])
{
    struct ny_footprint known = *f;

    all_bills(f, workers, limit, bills);
    if (ny_settings_needs_degrees(f->settings))
        bills[DEGREES] = grown_pass(&known, ny_degrees_bill, workers, limit);
    if (f->settings->method->whole)
        bills[ACCUMULATE] = grown_pass(&known, ny_accumulate_bill, workers, limit);
    if (ny_settings_needs_gram(f->settings) && !f->settings->online) {
        struct ny_footprint coarse_known = known;
        struct bill coarse = grown_accumulate(&coarse_known, NY_GRAM_F32, workers, limit);
        struct bill fine = grown_accumulate(&known, NY_GRAM_F64, workers, limit);

        bills[ACCUMULATE] = ny_bill_larger(coarse, fine);
        if (coarse_known.blas_bytes > known.blas_bytes) known = coarse_known;
    }
    bills[SOLVE] = ny_solve_bill(&known, workers, limit);
    bills[PROJECT] = grown_pass(&known, ny_project_bill, workers, limit);
    if (f->settings->probes) bills[PROBE] = grown_pass(&known, ny_probe_bill, workers, limit);
}

size_t ny_footprint_peak(const struct ny_footprint *footprint, unsigned workers, size_t limit,
                         size_t by_purpose[NY_PURPOSES])
{
    struct bill bills[BILLS];
    const struct bill *peak;

    grown_bills(footprint, workers, limit, bills);
    peak = largest(bills);
    for (int p = 0; p < NY_PURPOSES; p++)
        by_purpose[p] = peak->by_purpose[p];
    return ny_bill_total(peak);
}

void ny_footprint_stages(const struct ny_footprint *footprint, unsigned workers, size_t limit,
                         size_t stage_bytes[NY_STAGE_DONE])
{
    struct bill bills[BILLS];
    size_t prepare;

    grown_bills(footprint, workers, limit, bills);
    prepare = ny_bill_total(&bills[PREPARE]);
    stage_bytes[NY_STAGE_STATS] = ny_bill_total(&bills[STATS]);
    stage_bytes[NY_STAGE_SELECT] = ny_bill_total(&bills[SELECT]);
    stage_bytes[NY_STAGE_DEGREES] =
        ny_settings_needs_degrees(footprint->settings) ? ny_bill_total(&bills[DEGREES]) : 0;
    stage_bytes[NY_STAGE_ACCUMULATE] = ny_bill_total(&bills[ACCUMULATE]);
    stage_bytes[NY_STAGE_SOLVE] = ny_bill_total(&bills[SOLVE]);
    stage_bytes[NY_STAGE_PROJECT] = ny_bill_total(&bills[PROJECT]);
    stage_bytes[NY_STAGE_PROBE] = footprint->settings->probes ? ny_bill_total(&bills[PROBE]) : 0;
    /* Landmarks are prepared by whichever stage a run begins with. */
    if (stage_bytes[NY_STAGE_ACCUMULATE] < prepare) stage_bytes[NY_STAGE_ACCUMULATE] = prepare;
    if (stage_bytes[NY_STAGE_DEGREES] && stage_bytes[NY_STAGE_DEGREES] < prepare)
        stage_bytes[NY_STAGE_DEGREES] = prepare;
    if (stage_bytes[NY_STAGE_SOLVE] < prepare) stage_bytes[NY_STAGE_SOLVE] = prepare;
}

unsigned ny_footprint_workers(const struct ny_footprint *footprint, unsigned threads)
{
    size_t limit = ny_memory_limit(footprint->ctx);

    while (threads > 0 && peak_of(footprint, threads, limit) > limit)
        threads--;
    return threads;
}

size_t ny_footprint_minimum(const struct ny_footprint *footprint)
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
