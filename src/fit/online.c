/*
 * Stage select of a fit with option online, which sums up the rows as it goes: one pass selects
 * and accumulates, in batches of 16,384 rows (NY_ONLINE_ROWS).
 *
 * After each batch, its rows, which are in the page cache, are summed up against the landmarks
 * that there are then. A landmark that joins later gets its column over rows that are gone from
 * their projection, G_jD = b_jᵀG with b_j = W⁻¹w_j (spectral/accumulator_online.c): these are the
 * coefficients of Ouimet & Bengio's online algorithm, over the landmarks at a row's time. K̃ is
 * then a little below that of two passes, so that the trace error is an upper bound of theirs. W
 * is not known before the pass: tile Grams are f64, and the shift follows the landmarks, whose
 * column means come from W = LLᵀ. Trace errors, measured:
 *
 *    data                                ε      online             two passes
 *    60,000 MNIST digits                 0.4    0.4288, m = 602    0.4212, m = 612
 *    KDD 99, standardised                0.1    0.0818, m = 832    0.0735, m = 835
 *
 * So that nothing depends on rows to come, width and centre are those of the first 16,384 rows
 * (with --scale, and of sparse rows, those of all). `--update full` goes on from the sums of the
 * result: the landmarks are those of one pass over all rows, and only where batches end differs.
 *
 * Over shards, which take turns (select/greedy_online.c), the sums go from turn to turn with the
 * landmarks, so that they are those of one store with all rows.
 */
#include "fit/sums.h"

#include "fit/courses.h"
#include "fit/select.h"
#include "fit/sizes.h"
#include "base/peers.h"
#include "stream/pass.h"

/* The state of the selection. */
struct ny_online {
    struct ny_fit *fit;
    uint64_t rows;                  /* rows that fit->acc has summed */
    double *a;                      /* shift of the tiles that it summed */
    const struct ny_decided *batch; /* the batch that is being added */
};

/* Saves a checkpoint in the middle of a batch. It is the selection's own, which takes the sums
 * along by put(). */
static int save_piecewise(struct ny_fit *fit, enum ny_stage_id next, uint64_t units)
{
    struct ny_online *online = fit->online;

    (void)next; /* the selection's own checkpoint says so */
    online->rows = fit->job.points.here.first + units * NY_UNIT_ROWS;
    if (online->rows > online->batch->rows) online->rows = online->batch->rows;
    return online->batch->checkpoint ? online->batch->checkpoint(online->batch) : NY_OK;
}

/* Moves the sums to the shift a of the landmarks so far, by what it has grown. */
static int shift_to(struct ny_online *online, const struct ny_dictionary *dictionary)
{
    struct ny_accumulator *acc = online->fit->acc;
    double *means = ny_calloc(acc->ctx, NY_MEM_GRAM, acc->m, sizeof(double));

    if (!means) return NY_EBUDGET;
    ny_dictionary_means(dictionary, acc->m, means);
    for (size_t j = 0; j < acc->m; j++)
        online->a[j] = means[j] - online->a[j];
    ny_accumulator_shift(acc, online->a);
    ny_free(acc->ctx, online->a);
    online->a = means;
    return NY_OK;
}

/* Landmarks that joined in this batch, over the rows of those before. */
static int join(struct ny_online *online, const struct ny_dictionary *dictionary)
{
    struct ny_fit *fit = online->fit;
    size_t m = ny_dictionary_size(dictionary), before = fit->acc ? fit->acc->m : 0;
    struct ny_matrix B = ny_matrix(NULL, before, m - before);
    double *a;
    int err = NY_EBUDGET;

    B.at = ny_calloc(fit->job.ctx, NY_MEM_GRAM, before * B.cols + 1, sizeof(double));
    a = ny_resize(fit->job.ctx, NY_MEM_GRAM, online->a, m * sizeof(double));
    if (a) online->a = a;
    if (!a || !B.at) goto done;
    ny_blas_serial();
    ny_dictionary_coefficients(dictionary, before, B);
    ny_gemv(1, ny_t(B), a, 0, a + before);
    err = ny_accumulator_join(&fit->acc, fit->job.ctx, B);
    if (!err) err = shift_to(online, dictionary);
done:
    ny_free(fit->job.ctx, B.at);
    return err;
}

/* Adds the rows of the batch up to end_row to the sums, with the columns that the dictionary lends
 * for as long. */
static int add_batch(struct ny_online *online, struct ny_dictionary *dictionary, uint64_t end_row)
{
    struct ny_fit *fit = online->fit;
    uint64_t before = online->rows - fit->job.points.here.first;
    struct ny_accumulate pass = {.acc = fit->acc,
                                 .gram = NY_GRAM_F64,
                                 .first_unit = before / NY_UNIT_ROWS,
                                 .first_row = before,
                                 .end_row = end_row,
                                 .rows = end_row - online->rows,
                                 .save = save_piecewise};
    int err;

    fit->columns = ny_dictionary_columns(dictionary);
    if (!fit->columns) return ny_context_error(fit->job.ctx)->status;
    fit->m = fit->acc->m;
    fit->a = online->a;
    err = ny_fit_reserve_blas(fit, fit->m);
    if (!err) err = ny_columns_set_shift(fit->columns, fit->a);
    if (!err) err = ny_accumulate_pass(fit, &pass);
    fit->columns = NULL; /* theirs who lent them */
    fit->a = NULL;
    if (!err) online->rows = end_row;
    return err;
}

/* Takes up the sums of a run before, whose landmarks are the first ones of the dictionary. Where
 * these could not be made again, all begins with row 0. */
static int take_up(struct ny_online *online, const struct ny_dictionary *dictionary)
{
    struct ny_fit *fit = online->fit;

    if (online->a || !fit->acc) return NY_OK;
    if (ny_dictionary_size(dictionary) < fit->acc->m) {
        ny_accumulator_free(fit->acc);
        fit->acc = NULL;
        online->rows = 0;
        return NY_OK;
    }
    online->a = ny_calloc(fit->job.ctx, NY_MEM_GRAM, fit->acc->m, sizeof(double));
    if (!online->a) return NY_EBUDGET;
    ny_dictionary_means(dictionary, fit->acc->m, online->a);
    return NY_OK;
}

static int follow(void *arg, const struct ny_decided *decided)
{
    struct ny_online *online = arg;
    struct ny_fit *fit = online->fit;
    size_t m = ny_dictionary_size(decided->dictionary);
    int err = take_up(online, decided->dictionary);
    bool adds = online->rows < decided->rows, ends = decided->rows == fit->job.points.n;
    /* In the end those join, too, that were found among rows which a frozen update had summed. */
    bool joins = (!fit->acc || fit->acc->m < m) && (adds || ends);

    if (err || !m || !(adds || joins)) return err;
    ny_job_mark_time(&fit->job);
    fit->job.stage = NY_STAGE_ACCUMULATE;
    online->batch = decided;
    if (joins) err = join(online, decided->dictionary);
    if (!err && adds) err = add_batch(online, decided->dictionary, decided->rows);
    ny_job_mark_time(&fit->job);
    fit->job.stage = NY_STAGE_SELECT;
    return err;
}

/* ---- shards --------------------------------------------------------------------------------- */

/* Forgets the sums: another shard has them. */
static void drop(struct ny_online *online)
{
    ny_accumulator_free(online->fit->acc);
    online->fit->acc = NULL;
    ny_free(online->fit->job.ctx, online->a);
    online->a = NULL;
}

/* Gives the sums of m columns from one shard to another, which has none. */
static int give_sums(struct ny_fit *fit, size_t m, unsigned from, unsigned to)
{
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    bool gives = ny_peers_shard(peers) == from, takes = ny_peers_shard(peers) == to;
    size_t bytes = ny_accumulator_image_bytes(m, true);
    void *image = gives || takes ? ny_alloc(fit->job.ctx, NY_MEM_GRAM, bytes) : NULL;
    int err = !image && (gives || takes) ? NY_EBUDGET : NY_OK;

    if (!err && gives) ny_accumulator_save(fit->acc, 0, bytes, image);
    if (!err) err = ny_peers_share_of(peers, from, image, bytes);
    if (!err && takes) err = ny_accumulator_new(&fit->acc, fit->job.ctx, m);
    if (!err && takes) ny_accumulator_restore(fit->acc, image);
    ny_free(fit->job.ctx, image);
    return err;
}

/* The sums, and what is counted with them, go from one shard to another; no other has them then. */
static int hand_on(void *arg, unsigned from, unsigned to)
{
    struct ny_online *online = arg;
    struct ny_fit *fit = online->fit;
    struct ny_peers *peers = ny_context_peers(fit->job.ctx);
    unsigned self = ny_peers_shard(peers);
    struct {
        uint64_t m, rows;
        double flops;
    } now = {fit->acc ? fit->acc->m : 0, online->rows, fit->job.state.report.flops};
    int err = ny_peers_share_of(peers, from, &now, sizeof(now));

    online->rows = now.rows;
    fit->job.state.report.flops = now.flops;
    if (self != from) drop(online); /* those of an earlier turn */
    if (!err && now.m && from != to) err = give_sums(fit, (size_t)now.m, from, to);
    if (self != to) drop(online);
    return err;
}

/* ---- checkpoints --------------------------------------------------------------------------- */

/* Sums over m landmarks, of the last checkpoint or of the result. */
static int load_sums(struct ny_fit *fit, size_t m, bool of_result)
{
    size_t bytes = ny_accumulator_image_bytes(m, true);
    void *image;
    int err = ny_accumulator_new(&fit->acc, fit->job.ctx, m);

    if (err) return err;
    image = ny_alloc(fit->job.ctx, NY_MEM_GRAM, bytes);
    if (!image) return NY_EBUDGET;
    err = of_result ? ny_earlier_get(fit, fit->job.state.old_parts.sums, image, bytes)
                    : ny_job_read_image(&fit->job, "gram", image, bytes);
    if (!err) ny_accumulator_restore(fit->acc, image);
    ny_free(fit->job.ctx, image);
    return err;
}

/* Takes up the sums of the last checkpoint, or of the result that is updated, or none. */
static int begin(struct ny_online *online, struct ny_fit *fit)
{
    bool begun = fit->job.state.at.part != NULL;
    size_t m = (size_t)fit->job.state.at.sums_columns;

    *online = (struct ny_online){.fit = fit, .rows = fit->job.state.at.sums_rows};
    fit->online = online;
    fit->job.state.report.gram_precision = "f64";
    /* Over shards the landmarks of before are not gone on with (ny_earlier_selection()). */
    if (!begun && ny_earlier_has_sums(fit) && !ny_context_peers(fit->job.ctx)) {
        m = (size_t)fit->job.state.update.landmarks;
        online->rows = fit->job.state.update.rows;
    }
    return m ? load_sums(fit, m, !begun) : NY_OK;
}

/* Frees the shift and takes the struct away from its fit; the sums stay. */
static void release(struct ny_online *online)
{
    ny_free(online->fit->job.ctx, online->a);
    online->fit->online = NULL;
}

/* Puts the sums beside the image of the selection, into the checkpoint that comes next. */
static int put(struct ny_online *online)
{
    struct ny_fit *fit = online->fit;
    int err;

    if (!fit->acc) return NY_OK;
    err = ny_fit_save_sums(fit, "gram", NY_STAGE_SELECT, 0);
    if (err) return err;
    fit->job.state.at.sums_columns = fit->acc->m;
    fit->job.state.at.sums_rows = online->rows;
    return NY_OK;
}

static int checkpoint(void *arg, const void *image, size_t bytes)
{
    struct ny_online *online = arg;
    int err = put(online);

    return err ? err
               : ny_job_checkpoint_image(&online->fit->job, NY_STAGE_SELECT, "select", image, bytes,
                                         online->rows / NY_UNIT_ROWS);
}

/* Moves the sums to the shift of W. */
static void shift_to_mean(struct ny_online *online)
{
    struct ny_fit *fit = online->fit;

    for (size_t j = 0; j < fit->m; j++)
        online->a[j] = fit->a[j] - online->a[j];
    ny_accumulator_shift(fit->acc, online->a);
}

/* Ends the selection: the sums take the shift of W and are saved. Of shards, the one that leads has
 * those of all rows; the others save sums of none. */
static int finish(struct ny_online *online)
{
    struct ny_fit *fit = online->fit;
    int err = ny_fit_prepare(fit);

    if (err) return err;
    if (fit->acc)
        shift_to_mean(online);
    else
        err = ny_accumulator_new(&fit->acc, fit->job.ctx, fit->m);
    if (err) return err;
    fit->job.state.at.sums_columns = fit->job.state.at.sums_rows = 0;
    ny_job_mark_time(&fit->job);
    return ny_fit_save_sums(fit, "gram", ny_job_next(&fit->job),
                            ny_units_of(ny_rows_here(&fit->job.points)));
}

/* ---- the stage ------------------------------------------------------------------------------ */

static int run(struct ny_job *job)
{
    struct ny_fit *fit = ny_fit_of(job);
    struct ny_online online;
    struct ny_follower follower = {follow, hand_on, &online.rows, &online};
    struct ny_select_pass pass = {.follower = &follower, .checkpoint = checkpoint, .arg = &online};
    int err = begin(&online, fit);

    if (!err) err = ny_fit_select(fit, &pass);
    if (!err) err = finish(&online);
    release(&online);
    return err;
}

/* The selection comes with the sums of now and of before the landmarks that join, whose
 * coefficients are at most m²/4, and the pass that adds a batch. After it come W and the sums
 * alone. */
static void count(struct ny_layout *l, const struct ny_job_sizes *sizes, unsigned workers,
                  size_t limit)
{
    const struct ny_sizes *f = ny_sizes_of(sizes);
    struct ny_layout_mark mark;

    ny_accumulator_count(l, f->m);
    ny_layout_add(l, NY_MEM_GRAM, NY_CHUNK_BYTES);
    mark = ny_layout_mark(l);
    ny_accumulator_count(l, f->m);
    ny_lay(l, NY_MEM_GRAM, f->m, (f->m / 4 + 4) * sizeof(double));
    ny_columns_count(l, &f->spec, f->m);
    ny_sizes_sums(l, f, &(struct ny_sums_shape){.gram = NY_GRAM_F64, .workers = workers});
    ny_sizes_source(l, f, workers);
    ny_batch_count(l, NY_MEM_STORE, limit, ny_accumulator_image_bytes(f->m, true));
    ny_select_count(l, sizes, workers, limit);
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_DICTIONARY, f->points->n, sizeof(float)); /* residuals */
    ny_prepare_count(l, f, workers);
}

/* The pass of the selection sums up, too. */
static void work(const struct ny_job_sizes *sizes, struct ny_plan *plan)
{
    ny_select_work(sizes, plan);
    ny_accumulate_work(sizes, plan);
}

const struct ny_stage ny_stage_select_online = {NY_STAGE_SELECT, run, count, work};
