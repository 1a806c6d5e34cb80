/*
 * Memory, disk and work of a graph job. The job itself, and the plan of a fit on a graph, ask
 * before any row is read.
 *
 * A job can do with little memory by cutting its work in parts: ranges of panels, or points of a
 * sieve that are not held. fit_in() chooses the number of workers first, then the largest part
 * that the budget holds.
 */
#include <math.h>
#include <string.h>

#include "base/budget.h"
#include "columns/pairs.h"
#include "neighbors/job_private.h"

/* Returns the peak of the job with parts of this size and so many rows held. */
static size_t peak(const struct ny_graph_sizes *f, unsigned workers, uint64_t part,
                   size_t held_rows, size_t limit)
{
    struct ny_graph_sizes sizes = *f;

    sizes.part = part;
    sizes.held_rows = held_rows;
    return ny_budget_held(ny_plan_peak, &sizes, workers, limit);
}

/* The peak with the least part. A few points take less held than a block read. */
static void least_peak(struct ny_layout *l, const void *sizes, unsigned workers, size_t limit)
{
    const struct ny_graph_sizes *f = sizes;
    size_t n = (size_t)f->points->n, least = peak(f, workers, f->part, 0, limit);

    if (f->way == NY_KNN_EXACT && f->part >= ny_units_of(n))
        least = ny_smaller(least, peak(f, workers, f->part, n, limit));
    ny_layout_add(l, NY_MEM_OTHER, least);
}

/* Returns the least part with which a way can do. */
static uint64_t least_part(const struct ny_graph_sizes *f)
{
    return f->way == NY_KNN_SIEVE ? ny_graph_sieve_held_least(&f->knn) : 1;
}

/* Takes as many workers as fit, then as large a part: two ranges of panels cost half as much again
 * as one, and a sieve whose points are not all held reads them lot by lot. Then holds the
 * points, which the pass over pairs would decode again for each panel. */
static void fit_in(struct ny_graph_sizes *f, size_t limit, struct ny_graph_plan *plan)
{
    uint64_t n = f->points->n, high = f->way == NY_KNN_SIEVE ? n : ny_units_of(n);
    unsigned workers = ny_budget_workers(ny_plan_peak, f, f->job.threads, limit);
    struct ny_course_bytes bytes;

    if (!workers) workers = 1;
    while (f->part < high) {
        uint64_t middle = high - (high - f->part) / 2;

        if (peak(f, workers, middle, 0, limit) <= limit)
            f->part = middle;
        else
            high = middle - 1;
    }
    if (f->way == NY_KNN_EXACT && f->part == ny_units_of(n)) {
        size_t held = peak(f, workers, f->part, (size_t)n, limit);

        if (held <= limit || held < peak(f, workers, f->part, 0, limit)) f->held_rows = (size_t)n;
    }
    plan->workers = workers;
    plan->range_panels = f->part;
    plan->tree_panels = f->way == NY_KNN_TREE ? f->part : 0;
    plan->way = f->way;
    plan->held_rows = (size_t)f->part;
    plan->paired_rows = f->held_rows;
    plan->memory_bytes = peak(f, workers, f->part, f->held_rows, limit);
    ny_plan_stage_bytes(&f->job, workers, limit, &bytes);
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        plan->stage_bytes[stage] = ny_charges_total(&bytes.of[stage]);
    plan->fits = plan->memory_bytes <= limit;
}

/* Makes the bytes of a plan those of the neediest of its ways. */
static void add_bytes(struct ny_graph_plan *plan, const struct ny_graph_plan *way)
{
    if (plan->memory_bytes < way->memory_bytes) plan->memory_bytes = way->memory_bytes;
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        if (plan->stage_bytes[stage] < way->stage_bytes[stage])
            plan->stage_bytes[stage] = way->stage_bytes[stage];
}

/* Fits another way in, with so many workers at most; returns the least budget that it takes. */
static size_t fit_way(const struct ny_graph_sizes *f, enum ny_knn_way way, unsigned threads,
                      size_t limit, struct ny_graph_plan *plan)
{
    struct ny_graph_sizes sizes = *f;
    size_t least;

    sizes.way = way;
    sizes.part = least_part(&sizes);
    sizes.held_rows = 0;
    sizes.job.threads = threads;
    least = ny_budget_least(least_peak, &sizes);
    fit_in(&sizes, limit, plan);
    return least;
}

/* Adds a tree to the plan of all pairs, if the budget holds it: which of them it is to be shows
 * when the job runs. Where a tree is far less work, it may be all that the budget holds, and all
 * pairs have as few workers as it has. */
static void add_tree(struct ny_graph_sizes *f, size_t limit, struct ny_graph_plan *plan)
{
    bool far_less = ny_graph_tree_share(f->points) < 0.1;
    struct ny_graph_plan tree = {0};
    size_t least = fit_way(f, NY_KNN_TREE, plan->workers, limit, &tree);

    if (far_less && least < plan->memory_min_bytes) plan->memory_min_bytes = least;
    if (far_less && !tree.fits) plan->tree_least_bytes = least;
    if (!tree.fits || (tree.workers < plan->workers && !far_less)) return;
    if (!plan->fits && far_less) {
        tree.memory_min_bytes = plan->memory_min_bytes;
        tree.visits = plan->visits;
        tree.other = plan->other;
        *plan = tree;
        return;
    }
    if (tree.workers < plan->workers) {
        f->job.threads = tree.workers;
        f->part = 1;
        f->held_rows = 0;
        fit_in(f, limit, plan);
    }
    plan->way = NY_KNN_AUTO;
    plan->tree_panels = tree.tree_panels;
    add_bytes(plan, &tree);
}

/* Adds a sieve that finds all neighbours to the plan of all pairs, if the budget holds it. */
static void add_sieve(const struct ny_graph_sizes *f, size_t limit, struct ny_graph_plan *plan)
{
    struct ny_graph_plan sieve = {0};

    (void)fit_way(f, NY_KNN_SIEVE, plan->workers, limit, &sieve);
    if (!sieve.fits || sieve.workers < plan->workers) return;
    plan->way = NY_KNN_AUTO;
    plan->other = NY_KNN_SIEVE;
    plan->held_rows = sieve.held_rows;
    add_bytes(plan, &sieve);
}

/* Plans a graph by one way, or by all pairs and perhaps a tree or a sieve. */
static void plan_one(struct ny_graph_sizes *f, size_t limit, struct ny_graph_plan *plan)
{
    f->way = plan->other;
    f->part = least_part(f);
    plan->memory_min_bytes = ny_budget_least(least_peak, f);
    fit_in(f, limit, plan);
    if (f->settings->way != NY_KNN_AUTO) return;
    if (ny_graph_tries_tree(f->settings, f->points)) add_tree(f, limit, plan);
    if (plan->way != NY_KNN_TREE && ny_graph_tries_sieve(f->settings, f->points))
        add_sieve(f, limit, plan);
}

/* ---- fewer than all neighbours --------------------------------------------------------------- */

/* Fits in one of the ways that may be taken, with so many workers at most, and makes the plan that
 * of the neediest of them. */
static void add_way(const struct ny_graph_sizes *f, enum ny_knn_way way, size_t limit,
                    struct ny_graph_plan *plan)
{
    struct ny_graph_plan one = {0};
    size_t least = fit_way(f, way, f->job.threads, limit, &one);

    if (plan->memory_min_bytes < least) plan->memory_min_bytes = least;
    add_bytes(plan, &one);
    if (plan->workers > one.workers) plan->workers = one.workers;
    if (way == plan->other) plan->held_rows = one.held_rows;
    if (way == NY_KNN_TREE) plan->tree_panels = one.tree_panels;
    if (way == NY_KNN_EXACT) {
        plan->range_panels = one.range_panels;
        plan->paired_rows = one.paired_rows;
    }
    plan->fits = plan->memory_bytes <= limit;
}

/* Plans a graph whose way depends on the points: the budget, which must not decide about it, has
 * room for each way that may be taken. Where one of them has fewer workers, all have as few. */
static void plan_nearly(struct ny_graph_sizes *f, size_t limit, struct ny_graph_plan *plan)
{
    bool tree = ny_graph_tries_tree(f->settings, f->points);
    bool sieve = plan->other == NY_KNN_SIEVE;

    plan->workers = f->job.threads;
    plan->way = tree || sieve ? NY_KNN_AUTO : plan->other;
    do {
        f->job.threads = plan->workers;
        plan->memory_bytes = 0;
        memset(plan->stage_bytes, 0, sizeof(plan->stage_bytes));
        add_way(f, plan->other, limit, plan);
        if (sieve) add_way(f, NY_KNN_EXACT, limit, plan); /* where codes tell nothing */
        if (tree) add_way(f, NY_KNN_TREE, limit, plan);
    } while (plan->workers < f->job.threads);
}

/* ---- the whole ------------------------------------------------------------------------------ */

/* Returns the way that the work of a plan is of: the likely one. */
static enum ny_knn_way likely_way(const struct ny_graph_plan *plan)
{
    return plan->way == NY_KNN_AUTO ? plan->other : plan->way;
}

/* Tells whether a tree is likely to be taken. */
static bool likely_tree(const struct ny_graph_plan *plan)
{
    return plan->tree_panels && likely_way(plan) != NY_KNN_SIEVE;
}

/* Returns the nanoseconds of one thread in which a way finds the neighbours; 0: its pairs tell. A
 * sieve that is forced on sparse rows leaves all of them to be compared with all. */
static double way_ns(const struct ny_graph_sizes *f, const struct ny_graph_plan *plan)
{
    const double gathering = 1.5; /* a sieve that finds nearly all waits for rows and codes, too */

    if (likely_tree(plan)) return ny_graph_tree_ns(f->points);
    if (likely_way(plan) != NY_KNN_SIEVE)
        return f->points->row_slots ? ny_graph_pairs_ns(f->points) : 0;
    if (f->points->row_slots && f->settings->way == NY_KNN_SIEVE)
        return ny_graph_sieve_all_ns(f->points, &(struct ny_sieve_work){.left = 1}, 1);
    return f->settings->recall < 1 ? gathering * ny_graph_sieve_ns(f->points, &ny_graph_usual_reach)
                                   : 0;
}

/* A sieve compares codes: those of some cells, or for all neighbours all of them twice and with
 * fewer rows at a time, which takes three times as long. */
static void plan_work(const struct ny_graph_sizes *f, struct ny_graph_plan *plan)
{
    double n = (double)f->points->n;
    bool sieve = likely_way(plan) == NY_KNN_SIEVE;

    plan->tiles = ny_way_of(f->knn.spec);
    plan->value_bytes = (double)ny_dtype_size(f->points->dtype);
    plan->pairs =
        sieve ? n * (f->settings->recall < 1 ? ny_sieve_codes_of(&ny_graph_usual_reach, n) : 3 * n)
              : ny_knn_pass_pairs(&f->knn, ny_units_of(f->points->n));
    plan->tile_pairs = fmin(n, NY_UNIT_ROWS) * fmin(n, NY_UNIT_ROWS);
    plan->flops = 2 * plan->pairs * (sieve ? NY_SIEVE_COLUMNS : ny_entry_products(f->knn.spec));
    if (likely_tree(plan)) plan->flops *= ny_graph_tree_share(f->points);
    plan->entries = n * (double)f->settings->stored;
    plan->tree_less = ny_graph_tree_share(f->points) < 1;
    plan->way_ns = way_ns(f, plan);
    if (!likely_tree(plan) && (!sieve || !(plan->way_ns > 0)))
        plan->measured = n * (double)ny_knn_width(&f->knn) * ny_entry_products(f->knn.spec);
    if (sieve) plan->basis_flops = ny_sieve_basis_flops(&f->knn);
    plan->values = n * ny_entry_products(f->knn.spec);
    plan->result_bytes = f->points->n * (f->settings->stored * 8 + 4);
    plan->disk_bytes = plan->result_bytes + 2 * f->points->n * (4 + 8 * ny_knn_width(&f->knn));
    if (likely_tree(plan) && (plan->way == NY_KNN_TREE || plan->tree_less) &&
        plan->tree_panels < ny_units_of(f->points->n))
        plan->scratch_bytes = ny_graph_tree_file_bytes(f->points->n, f->settings->stored);
}

int ny_graph_plan_make(struct ny_rows *X, const struct ny_graph_settings *settings,
                       struct ny_graph_plan *plan)
{
    struct ny_context *ctx = X->ctx;
    struct ny_rows_info points;
    struct ny_columns_spec spec = {.ctx = ctx, .kernel = settings->metric, .params = {.gamma = 1}};
    const struct ny_geometry_wish wish = {
        .scale = settings->scale, .rough = true, .choice = settings->choice};
    struct ny_geometry *geometry = NULL;
    struct ny_graph_sizes sizes = {.job = {ctx, &ny_course_graph, NULL, settings->threads},
                                   .settings = settings,
                                   .points = &points};
    int err = X->ops->info(X, &points);

    *plan = (struct ny_graph_plan){0};
    if (err) return err;
    err = ny_geometry_new(&geometry, X, &wish);
    if (err) return err;
    spec.geometry = geometry;
    spec.dtype = points.dtype;
    ny_columns_spec_points(&spec, &points);
    if (settings->n) points.n = settings->n;
    sizes.knn =
        (struct ny_knn){.spec = &spec, .n = points.n, .neighbors = settings->stored, .workers = 1};
    plan->visits = ny_geometry_passes(&wish, &points);
    plan->other = settings->way;
    if (settings->way == NY_KNN_AUTO) plan->other = ny_graph_other_way(settings, &points);
    if (settings->way == NY_KNN_AUTO && plan->other != NY_KNN_EXACT)
        plan_nearly(&sizes, ny_memory_limit(ctx), plan);
    else
        plan_one(&sizes, ny_memory_limit(ctx), plan);
    plan_work(&sizes, plan);
    ny_geometry_free(geometry, ctx);
    return NY_OK;
}

void ny_graph_plan_note(struct ny_context *ctx, const struct ny_graph_plan *plan)
{
    if (plan->tree_least_bytes)
        ny_log(ctx, NY_LOG_WARNING,
               "all pairs of rows are compared, because this budget has no room for a tree, which "
               "would take a fraction of the time: give --memory %lluM",
               (unsigned long long)((plan->tree_least_bytes + (1 << 20) - 1) >> 20));
}

/* Returns how many times as long as evenly shared work the tiles of all pairs take: one of them is
 * not shared, and where they are few a worker has most of the pairs. */
static double uneven(const struct ny_graph_plan *graph, double threads)
{
    return fmax(1, threads * graph->tile_pairs / graph->pairs);
}

/* Seconds of the pairs: products, and in beats comparisons and finding the place in a list.
 * Candidates are measured again in f64, on rows that are read one by one. */
static double pairs_s(const struct ny_graph_plan *graph, const struct ny_calibration *rates)
{
    const double compare = 1.8, code = 0.34, way = 0.49; /* of a nanosecond of neighbors/ways.c */
    const double exact = 3, byte = 0.6;                  /* of a value that is measured again */
    double beats = (exact + byte * graph->value_bytes) * graph->measured;
    double products_s = rates->threads * graph->basis_flops / rates->gemm64;

    if (graph->way_ns > 0) {
        beats += way * graph->way_ns;
    } else if (likely_way(graph) == NY_KNN_SIEVE) {
        beats += code * graph->pairs;
    } else {
        double times = uneven(graph, rates->threads);

        beats += times * compare * graph->pairs;
        products_s += times * graph->flops / ny_calibration_tile(rates, graph->tiles, false);
    }
    return products_s + ny_calibration_beats(rates, beats);
}

/* Names the way that is likely to be taken, and the others that some rows may show to be less work.
 */
static void name_ways(const struct ny_graph_plan *graph, struct ny_plan *plan)
{
    enum ny_knn_way way = likely_way(graph);
    bool open = graph->way == NY_KNN_AUTO;
    size_t others = 0;

    if (likely_tree(graph) && graph->tree_less) way = NY_KNN_TREE;
    plan->knn = ny_knn_way_name(way);
    if (open && graph->tree_panels && way != NY_KNN_TREE)
        plan->knn_may_be[others++] = ny_knn_way_name(NY_KNN_TREE);
    if (open && (way == NY_KNN_SIEVE || way == NY_KNN_TREE))
        plan->knn_may_be[others++] = ny_knn_way_name(NY_KNN_EXACT);
}

void ny_graph_plan_add(const struct ny_graph_plan *graph, struct ny_plan *plan)
{
    const double component = 50, visit = 8; /* beats of an entry of the lists, of a value */

    plan->fits = plan->fits && graph->fits;
    if (plan->memory_min_bytes < graph->memory_min_bytes)
        plan->memory_min_bytes = graph->memory_min_bytes;
    if (plan->memory_bytes < graph->memory_bytes) {
        plan->memory_bytes = graph->memory_bytes;
        memset(plan->by_purpose, 0, sizeof(plan->by_purpose));
        plan->by_purpose[NY_MEM_PROCESS] = NY_PROCESS_BYTES;
        plan->by_purpose[NY_MEM_DICTIONARY] = graph->memory_bytes - NY_PROCESS_BYTES;
    }
    for (int stage = 0; stage < NY_STAGE_DONE; stage++)
        if (graph->stage_bytes[stage]) plan->stage_bytes[stage] = graph->stage_bytes[stage];
    plan->stage_s[NY_STAGE_STATS] +=
        ny_calibration_alone(&plan->rates, visit * graph->visits * graph->values);
    plan->stage_s[NY_STAGE_NEIGHBORS] = pairs_s(graph, &plan->rates);
    plan->stage_s[NY_STAGE_GRAPH] = ny_calibration_alone(&plan->rates, component * graph->entries);
    plan->disk_bytes += graph->disk_bytes;
    /* The rows of a map are not there yet while its graph is made. */
    if (graph->scratch_bytes > plan->result_bytes + plan->scratch_bytes)
        plan->scratch_bytes = graph->scratch_bytes - plan->result_bytes;
    plan->result_bytes += graph->result_bytes;
    name_ways(graph, plan);
    plan->loose = plan->loose || graph->way != NY_KNN_EXACT;
    plan->flops += graph->flops;
    plan->passes += 1 + graph->visits;
}
