/*
 * Stage accumulate of a fit by features: products with ΦᵀΦ, one pass each, until every pair that is
 * wanted has the error that was asked for (spectral/restarted.h).
 */
#include "factored/factored_private.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "factored/pass.h"
#include "fit/plan.h"
#include "fit/shards.h"
#include "base/peers.h"

/* ---- the state and its checkpoints ---------------------------------------------------------- */

/* Forgets what the pass under way has summed up: the state is that of another shard. W is what the
 * first pass of a product has summed up, and what its second multiplies with. */
static void clear_pass(struct ny_feature_state *state, bool first)
{
    struct ny_matrix H = state->it.H, W = state->W;

    if (first && W.rows) memset(W.at, 0, W.rows * W.stride * sizeof(double));
    memset(H.at, 0, H.rows * H.stride * sizeof(double));
    memset(state->column_sums, 0, state->sizes.width * sizeof(double));
    if (first && state->it.step == 0) *state->totals = (struct ny_feature_totals){0};
}

/* Returns the most columns of a block whose products are in f64. */
static size_t widest_of(const struct ny_factored *sizes)
{
    return sizes->refined ? sizes->shape.width : sizes->width / 2;
}

/* Tells whether products are in f64. */
static bool is_precise(const struct ny_feature_state *state, const struct ny_fit_settings *settings)
{
    return settings->precision == NY_PRECISION_F64 || state->totals->precise > 0;
}

static double reach_of(const struct ny_fit_settings *settings)
{
    return settings->precision == NY_PRECISION_F64 ? NY_REACH_F64 : NY_REACH_F32;
}

int ny_feature_state_open(struct ny_feature_state *state, struct ny_fit *fit, uint64_t *place)
{
    struct ny_factored sizes = ny_factored_of_fit(fit);
    uint64_t passes = (uint64_t)ny_factored_passes(&sizes) * (fit->settings->max_passes + 1);
    struct ny_image_shape saved = {sizes.state_bytes, passes * (ny_units_of(sizes.n) + 1)};
    const struct ny_restarted_how how = {.shape = sizes.shape,
                                         .tolerance = fit->settings->tol,
                                         .steps_most = fit->settings->max_passes,
                                         .seed = fit->settings->seed,
                                         .centred =
                                             sizes.rows && (sizes.centred || sizes.shape.bulk)};
    const struct ny_shard_place at_pass = {place, ny_units_of(sizes.n) + 1};
    void *image = NULL;
    double *at;
    bool resumed, anew = false;
    int err;

    *state = (struct ny_feature_state){.sizes = sizes};
    *place = 0;
    err = ny_fit_load_frozen(fit);
    if (!err && !fit->state) {
        err = ny_job_load_image(&fit->job, "features", &saved, &image, place);
        if (!err) err = ny_shards_align_state(fit, &image, saved.bytes, &at_pass, &anew);
        fit->state = image;
    }
    if (err) return err;
    resumed = fit->state != NULL;
    if (!resumed) fit->state = ny_calloc(fit->job.ctx, NY_MEM_SOLVE, 1, saved.bytes);
    if (!fit->state) return NY_EBUDGET;
    at = fit->state + ny_restarted_state_bytes(&sizes.shape) / sizeof(double);
    if (sizes.rows) state->W = ny_matrix(at, sizes.d, sizes.width);
    state->column_sums = at + state->W.rows * sizes.width;
    state->totals = (struct ny_feature_totals *)(void *)(state->column_sums + sizes.width);
    ny_blas_serial();
    err = ny_restarted_begin(&state->it, fit->job.ctx, &how, fit->state, resumed);
    if (!err && resumed && state->totals->precise > 0) state->it.widest = widest_of(&sizes);
    if (!err && is_precise(state, fit->settings)) state->it.how.reach = reach_of(fit->settings);
    if (!err && anew) clear_pass(state, *place / at_pass.places % ny_factored_passes(&sizes) == 0);
    return err;
}

/* One product under way. */
struct multiply {
    struct ny_fit *fit;
    struct ny_feature_state *state;
    struct ny_feature_pass pass;
    struct ny_feature_room room; /* that the workers have */
    const double *mu;            /* NULL: K is not centred */
    void *Q;                     /* d × width, rounded */
    double *offset;              /* Qᵀμ */
    unsigned pass_in_product;    /* 0, then 1 on the side of the rows */
    double saved_s;
};

/* Saves the state as a checkpoint after so many units of this product. */
static int checkpoint(void *arg, uint64_t units_done)
{
    struct multiply *run = arg;
    struct ny_feature_state *state = run->state;
    uint64_t places = ny_units_of(state->sizes.n) + 1;
    uint64_t pass =
        (uint64_t)state->it.step * ny_factored_passes(&state->sizes) + run->pass_in_product;

    ny_restarted_save(&state->it);
    run->saved_s = ny_now();
    return ny_job_checkpoint_image(&run->fit->job, NY_STAGE_ACCUMULATE, "features", run->fit->state,
                                   state->sizes.state_bytes, pass * places + units_done);
}

/* ---- a product ------------------------------------------------------------------------------ */

/* Rounds a matrix of d rows to the precision of products, and finds c = Qᵀμ of it. */
static void round_columns(const struct multiply *run, struct ny_matrix V)
{
    ny_feature_round(&run->room, V, run->mu, run->Q, run->offset);
}

/* Refuses what the first pass has found: rows whose degrees cancel, and too many empty ones. */
static int check_rows(const struct multiply *run)
{
    const struct ny_feature_totals *totals = run->state->totals;
    unsigned long long unreached = (unsigned long long)totals->unreached,
                       empty = (unsigned long long)totals->empty, n = run->state->sizes.n;

    if (unreached)
        return ny_fail(
            run->fit->job.ctx, NY_ENUMERIC,
            "%llu of %llu rows, the first of them row %llu, have degrees that are negative or zero "
            "to rounding, because their products with other rows cancel; this map needs values "
            "that are not negative: take --map svd or pca, or --kernel rbf",
            unreached, n, (unsigned long long)totals->first_unreached);
    if (run->state->sizes.divided && 100 * empty > n)
        return ny_fail(run->fit->job.ctx, NY_ENUMERIC,
                       "%llu of %llu rows have no value, the first of them row %llu, and therefore "
                       "no degree, which is more than 1 %%; leave them out of the store",
                       empty, n, (unsigned long long)totals->first_empty);
    return NY_OK;
}

/* Refuses what the first pass has found to be so small or large that digits of its products are
 * lost, or squares of these have no place in f64: the squares of Φ's values, or the degrees that
 * rows are divided by. Where all are 0, there is nothing to lose. */
static int check_scale(const struct multiply *run)
{
    const struct ny_factored *sizes = &run->state->sizes;
    bool f64 = run->room.precision == NY_PRECISION_F64;
    double values = (double)sizes->n * (double)sizes->d, most = f64 ? 0x1p400 : 0x1p116;
    double mean = sizes->divided ? run->fit->degrees.mean : run->state->totals->trace / values;

    if (!(mean > 0) || (mean >= 1 / most && mean <= most)) return NY_OK;
    return ny_fail(run->fit->job.ctx, NY_ENUMERIC,
                   "the %s are %.3g on average, too %s for products in %s; %srescale the data "
                   "(--scale unit)",
                   sizes->divided ? "degrees" : "squares of the values", mean,
                   mean < 1 ? "small" : "large", f64 ? "f64" : "f32",
                   f64 ? "" : "give --precision f64, or ");
}

/* Refuses a product that a few huge values have brought beyond all numbers. */
static int check_product(const struct multiply *run)
{
    bool f64 = run->room.precision == NY_PRECISION_F64;
    struct ny_matrix H = run->state->it.H;

    for (size_t j = 0; j < H.rows; j++)
        if (ny_first_not_finite(H.at + j * H.stride, H.cols))
            return ny_fail(run->fit->job.ctx, NY_ENUMERIC,
                           "products with the rows are not finite in %s; look for huge values in "
                           "the data, rescale them (--scale unit)%s",
                           f64 ? "f64" : "f32", f64 ? "" : ", or give --precision f64");
    return NY_OK;
}

/* Tells whether f32 has rounded some pair by more than was asked for, or is too coarse for it. A
 * product has an error of 2⁻²⁴√(θ₁θ); and of T, whose first vectors have a share of the largest
 * pair each, the error is 2⁻²⁴θ₁ times that share, which sums over many units even out. */
static bool is_blurred(const struct multiply *run)
{
    const struct ny_restarted *it = &run->state->it;
    double largest = it->values[0], share = (double)it->how.shape.start / (double)it->V.rows;

    share /= sqrt((double)ny_units_of(run->state->sizes.n));

    if (is_precise(run->state, run->fit->settings)) return false;
    for (size_t k = 0; k < it->how.shape.pairs; k++) {
        double value = it->values[k];

        if (value < 0x1p-20 * largest || 0x1p-24 * share * largest > it->how.tolerance * value ||
            (run->state->sizes.refined && 0x1p-24 * sqrt(largest / value) > it->how.tolerance))
            return true;
    }
    return false;
}

/* The room of the workers for products of so many columns. */
static struct ny_feature_room room_of(const struct ny_factored *sizes, enum ny_precision precision,
                                      size_t width)
{
    return (struct ny_feature_room){precision, width, sizes->divided ? sizes->n : 0};
}

/* Counts workers for a while: all of them have room for the first blocks, and one for the widest.
 */
static void count_workers(struct ny_layout *l, const struct ny_columns_spec *spec,
                          const struct ny_factored *sizes, enum ny_precision precision,
                          unsigned workers)
{
    size_t start = ny_features_width(sizes->shape.start);
    bool halved = precision == NY_PRECISION_F32 && !sizes->refined;
    struct ny_layout_mark mark = ny_layout_mark(l);
    const struct ny_feature_room rooms[] = {
        room_of(sizes, precision, start), room_of(sizes, precision, sizes->width),
        room_of(sizes, NY_PRECISION_F64, halved ? widest_of(sizes) : sizes->width)};

    for (size_t i = 0; i < 3; i++) {
        ny_feature_workers_lay(l, spec, &rooms[i], i ? 1 : workers);
        ny_layout_back(l, &mark);
    }
}

/* Makes the workers for the columns of the next block, unless they are there: as many as have room.
 */
static int make_workers(struct multiply *run)
{
    const struct ny_feature_state *state = run->state;
    bool precise = state->totals->precise > 0;
    enum ny_precision precision = precise ? NY_PRECISION_F64 : run->fit->settings->precision;
    bool halved = precise && !state->sizes.refined;
    size_t width =
        halved ? ny_features_width64(state->it.count) : ny_features_width(state->it.count);
    const struct ny_feature_room room = room_of(&state->sizes, precision, width);
    const struct ny_columns_spec spec = ny_fit_spec(run->fit);
    unsigned workers = run->fit->job.workers;
    struct ny_layout planned = {0}, counted;

    if (run->pass.workers && run->room.precision == precision && run->room.width == width)
        return NY_OK;
    run->room = room;
    run->fit->job.state.report.gram_precision = precision == NY_PRECISION_F64 ? "f64" : "f32";
    ny_feature_workers_free(run->pass.workers);
    count_workers(&planned, &spec, &state->sizes, run->fit->settings->precision, workers);
    for (; workers > 1; workers--) {
        counted = (struct ny_layout){0};
        ny_feature_workers_lay(&counted, &spec, &room, workers);
        if (ny_layout_most(&counted) <= ny_layout_most(&planned)) break;
    }
    return ny_feature_workers_new(&run->pass.workers, run->fit, &room, workers);
}

/* Takes f64 for the products that follow, which begin with the vectors that f32 has found. */
static void refine(struct multiply *run)
{
    run->state->totals->precise = 1;
    ny_log(run->fit->job.ctx, NY_LOG_DETAIL,
           "f32 is too coarse for all eigenvalues to --tol %g: products continue in f64",
           run->state->it.how.tolerance);
    run->state->it.how.reach = reach_of(run->fit->settings);
    ny_restarted_refine(&run->state->it, widest_of(&run->state->sizes));
}

/* Adds up what a pass over the rows of each shard has found. */
static int fold_shards(struct multiply *run, const struct ny_feature_pass *pass)
{
    struct ny_peers *peers = ny_context_peers(run->fit->job.ctx);
    struct ny_matrix H = pass->Z.at ? run->state->it.H : pass->H;
    int err = ny_peers_fold(peers, H.at, H.rows * H.stride);

    if (!err) err = ny_peers_fold(peers, run->state->column_sums, run->state->sizes.width);
    return err || !pass->totals ? err : ny_feature_totals_fold(pass->totals, &run->fit->job);
}

/* Runs a pass of the product; the first of all counts the rows. */
static int run_pass(struct multiply *run, const struct ny_feature_pass *pass)
{
    bool first = run->state->it.step == 0 && run->pass_in_product == 0;
    struct ny_feature_pass counting = *pass;
    int err;

    counting.totals = first ? run->state->totals : NULL;
    err = ny_feature_pass_run(&counting);
    if (!err && ny_context_peers(run->fit->job.ctx)) err = fold_shards(run, &counting);
    if (!err && first) err = check_rows(run);
    return !err && first ? check_scale(run) : err;
}

/* Takes μ·sumsᵀ off what a pass over centred rows has summed up, and clears the sums. */
static void finish_centre(struct multiply *run, struct ny_matrix H)
{
    if (run->mu) ny_feature_correct_centre(H, run->mu, run->state->column_sums);
    memset(run->state->column_sums, 0, run->room.width * sizeof(double));
}

/* H = ΦᵀΦ·Q of the block, in one pass. */
static int multiply_columns(struct multiply *run, struct ny_matrix block, uint64_t first_unit)
{
    struct ny_feature_pass pass = run->pass;
    int err;

    round_columns(run, block);
    pass.Q = run->Q;
    pass.offset = run->mu ? run->offset : NULL;
    pass.H = run->state->it.H;
    pass.first_unit = first_unit;
    err = run_pass(run, &pass);
    if (!err) finish_centre(run, pass.H);
    return err;
}

/* W = ΦᵀQ of the block. */
static int to_columns(struct multiply *run, struct ny_matrix block, uint64_t first_unit)
{
    struct ny_feature_pass pass = run->pass;
    int err;

    pass.X = ny_feature_rows_here(run->fit, block);
    pass.H = ny_matrix(run->state->W.at, run->state->sizes.d, block.cols);
    pass.first_unit = first_unit;
    err = run_pass(run, &pass);
    if (!err) finish_centre(run, pass.H);
    return err;
}

/* H = ΦΦᵀ·Q of the block: W = ΦᵀQ, then H = ΦW. */
static int multiply_rows(struct multiply *run, struct ny_matrix block, uint64_t first_unit)
{
    struct ny_feature_pass pass = run->pass;
    struct ny_matrix W = ny_matrix(run->state->W.at, run->state->sizes.d, block.cols);
    int err;

    if (run->pass_in_product == 0) {
        err = to_columns(run, block, first_unit);
        if (err) return err;
        run->pass_in_product = 1;
        first_unit = 0;
    }
    round_columns(run, W);
    pass.Q = run->Q;
    pass.offset = run->mu ? run->offset : NULL;
    pass.column_sums = NULL;
    pass.Z = ny_feature_rows_here(run->fit, run->state->it.H);
    pass.first_unit = first_unit;
    err = run_pass(run, &pass);
    if (err) return err;
    run->pass_in_product = 0;
    memset(W.at, 0, W.rows * W.stride * sizeof(double));
    return NY_OK;
}

/* Operations that make a block orthogonal to the `used` columns of the basis, itself among them,
 * twice. */
static double basis_flops(double order, double used, double count)
{
    return 8 * order * used * count;
}

/* One product, and what follows from it. */
static int run_step(struct multiply *run, uint64_t first_unit, bool *done)
{
    struct ny_restarted *it = &run->state->it;
    struct ny_matrix block = ny_cols(it->V, it->used - it->count, it->count);
    int err = make_workers(run);

    if (!err)
        err = run->state->sizes.rows ? multiply_rows(run, block, first_unit)
                                     : multiply_columns(run, block, first_unit);
    if (!err) err = check_product(run);
    if (err) return err;
    ny_job_count_flops(&run->fit->job, basis_flops((double)it->how.shape.order, (double)it->used,
                                                   (double)it->count));
    ny_blas_serial();
    it->trace = run->state->totals->trace;
    if (run->mu)
        it->trace -= (double)run->state->sizes.n * ny_dot(run->mu, run->mu, run->state->sizes.d);
    err = ny_restarted_next(it, done);
    if (err || !*done || it->converged < it->how.shape.pairs || !is_blurred(run)) return err;
    *done = false;
    refine(run);
    return NY_OK;
}

/* Tells what a fit waits for whose last pairs do not settle. */
static void tell_waiting(const struct multiply *run)
{
    const struct ny_restarted_how *how = &run->state->it.how;

    ny_log(run->fit->job.ctx, NY_LOG_NOTE,
           "after %u products, the last of %zu components do not settle: eigenvalues around them "
           "lie close together; fewer --components, a larger --tol than %g, or fewer --max-passes "
           "than %u end the fit sooner",
           run->state->it.step, how->shape.pairs, how->tolerance, how->steps_most);
}

static int run_products(struct multiply *run, uint64_t first_unit)
{
    const unsigned many = 20;
    bool done = false;
    int err = NY_OK;

    while (!done) {
        err = run_step(run, first_unit, &done);
        if (err) return err;
        first_unit = 0;
        if (!done && run->state->it.step == many) tell_waiting(run);
        if (done || ny_now() - run->saved_s < ny_context_checkpoint_s(run->fit->job.ctx)) continue;
        err = checkpoint(run, 0);
        if (err) return err;
    }
    return NY_OK;
}

/* Gives the room of the products back. */
static void release(struct multiply *run)
{
    struct ny_context *ctx = run->fit->job.ctx;

    ny_feature_workers_free(run->pass.workers);
    ny_free(ctx, run->offset);
    ny_free(ctx, run->Q);
    run->pass.workers = NULL;
    run->offset = run->Q = NULL;
}

/* Makes the arrays that the passes share. */
static int allocate(struct multiply *run)
{
    struct ny_context *ctx = run->fit->job.ctx;
    const struct ny_factored *sizes = &run->state->sizes;
    size_t element =
        ny_precision_bytes(sizes->refined ? NY_PRECISION_F64 : run->fit->settings->precision);
    run->Q = ny_calloc(ctx, NY_MEM_TILES, sizes->d, sizes->width * element);
    run->offset = ny_calloc(ctx, NY_MEM_SOLVE, sizes->width, sizeof(double));
    return run->Q && run->offset ? NY_OK : NY_EBUDGET;
}

/* Runs the passes from where the checkpoint left them. What they have found has room where they had
 * theirs. */
static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_feature_state state;
    struct multiply multiply = {.fit = fit, .state = &state, .saved_s = ny_now()};
    double *mu = NULL;
    uint64_t place, places = ny_units_of(job->points.n) + 1;
    int err;

    fit->m = (size_t)job->points.d;
    err = ny_fit_load_frozen(fit);
    if (!err) err = ny_fit_lower_workers(fit);
    if (!err) err = ny_feature_state_open(&state, fit, &place);
    if (!err) err = ny_feature_sums_load(fit, &state.sizes, &mu);
    if (err) goto done;
    multiply.mu = mu;
    multiply.pass_in_product = (unsigned)(place / places) % ny_factored_passes(&state.sizes);
    multiply.pass = (struct ny_feature_pass){.fit = fit,
                                             .g = fit->degrees.v,
                                             .mean_degree = fit->degrees.mean,
                                             .roots = state.sizes.rows,
                                             .column_sums = mu ? state.column_sums : NULL,
                                             .checkpoint = checkpoint,
                                             .checkpoint_arg = &multiply};
    err = allocate(&multiply);
    if (err) goto done;
    err = run_products(&multiply, place % places);
    release(&multiply);
    if (!err) err = ny_feature_found_save(&state, fit);
done:
    release(&multiply);
    ny_free(job->ctx, mu);
    return err;
}

/* ---- the plan ------------------------------------------------------------------------------- */

static void count(struct ny_layout *l, const struct ny_job_sizes *job, unsigned workers,
                  size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(job);
    struct ny_factored sizes = ny_factored_of_sizes(f);
    enum ny_precision precision = sizes.refined ? NY_PRECISION_F64 : f->settings->precision;

    ny_sizes_common(l, f, workers, workers);
    ny_layout_add(l, NY_MEM_DICTIONARY, ny_sizes_arrays(f, 1) + sizeof(double));
    ny_sizes_source(l, f, workers);
    ny_batch_count(l, NY_MEM_STORE, limit, sizes.state_bytes);
    ny_lay(l, NY_MEM_SOLVE, 1, sizes.state_bytes);
    ny_lay(l, NY_MEM_SOLVE, sizes.width, sizeof(double));
    ny_restarted_count(l, &sizes.shape);
    ny_lay(l, NY_MEM_TILES, sizes.d * sizes.width, ny_precision_bytes(precision));
    count_workers(l, &f->spec, &sizes, f->settings->precision, workers);
}

/* Returns how many products a fit is likely to need: by the eigenvalues of a sample, or as others
 * took. What is noise in a sample of sparse rows need not be: the truth lies between the two. */
static double likely_products(const struct ny_factored *sizes, const struct ny_timing *t)
{
    const struct ny_restarted_shape *shape = &sizes->shape;
    const struct ny_look_solver solver = {.pairs = sizes->pairs,
                                          .keep = shape->keep,
                                          .start = shape->start,
                                          .order = shape->order,
                                          .tolerance = t->settings->tol};
    bool narrow = shape->start < shape->width && !shape->bulk;
    double start = (double)shape->start, products = ny_look_products(t->look, t->n, &solver);
    double usual = narrow ? fmin(14, ceil(4 + 5 * (double)sizes->pairs / start)) : 9;

    if (shape->bulk || !(products > 0)) products = usual;
    if (narrow && products > usual && t->look->signals < sizes->pairs)
        products = ceil(sqrt(products * usual));
    return fmin(fmin(products, ceil((double)shape->order / start)), t->settings->max_passes);
}

/* Returns the seconds of what follows a product with the last `width` of `used` columns. Products
 * with the basis are at about half the rate of square ones, an entry of a block is read and written
 * some times, and the Ritz pairs take the reduction of a matrix of order `used`. */
static double step_seconds(const struct ny_timing *t, double order, double used, double width)
{
    const double tall = 0.55, entry_beats = 16, reduced = 2;

    return basis_flops(order, used, width) / (tall * t->plan->rates.gemm64) +
           ny_price_beats(&t->price, entry_beats * order * width) +
           4.0 / 3 * used * used * used / (reduced * t->plan->rates.eigen);
}

/* The seconds are those of the products that most fits need; where pairs do not settle, of as many
 * as there may be. */
static void work(const struct ny_job_sizes *job, struct ny_plan *plan)
{
    const struct ny_timing timing = ny_timing_of(job, plan), *t = &timing;
    struct ny_factored sizes = ny_factored_of_sizes(t->sizes);
    double order = (double)sizes.shape.order, width = (double)sizes.shape.start;
    double products = likely_products(&sizes, t), used = 0, basis_s = 0;
    double product = ny_feature_pass_seconds(t, width), basis = 0;

    if (sizes.rows) product += ny_price_rows(&t->price, t->n);
    product *= ny_timing_share(t, NY_STAGE_ACCUMULATE, count);
    for (double k = 0; k < products; k++) {
        used = fmin(used + width, (double)sizes.shape.most);
        basis += basis_flops(order, used, width);
        basis_s += step_seconds(t, order, used, width);
    }
    plan->whole = true;
    plan->loose = true;
    plan->passes += (unsigned)products * ny_factored_passes(&sizes);
    plan->flops +=
        products * 4 * t->n * t->price.d * (double)ny_features_width(sizes.shape.start) + basis;
    plan->stage_s[NY_STAGE_ACCUMULATE] =
        products * product + basis_s +
        ny_price_commit(&t->price, (double)ny_feature_found_bytes(&sizes));
    plan->unsettled_s +=
        (t->settings->max_passes - products) * (product + step_seconds(t, order, used, width));
}

const struct ny_stage ny_stage_feature_products = {NY_STAGE_ACCUMULATE, run, count, work};
