/* Stage accumulate, pass 1: s = Cᵀ1, G = CᵀC, t = Σ k(x_i,x_i) over all points. */
#include "embed/job.h"

#include "embed/given_columns.h"
#include "stream/pass.h"

struct accumulate {
    struct ny_job *job;
    struct ny_tiles tiles;
    struct ny_partial **partial; /* one a worker */
};

static int unit(void *arg, const struct ny_tile *tile)
{
    struct accumulate *run = arg;
    unsigned w = tile->worker;
    const double *diagonal = ny_tiles_diagonal(&run->tiles, w);
    int err = ny_tiles_compute(&run->tiles, tile); /* C′ = k(tile, D) − 1aᵀ */

    if (err) return err;
    if (run->tiles.precision == NY_PRECISION_F64) /* s_u = C′ᵀ1, G_u = C′ᵀC′ */
        ny_partial_set64(run->partial[w], ny_tiles_c64(&run->tiles, w), tile->rows, diagonal);
    else
        ny_partial_set(run->partial[w], ny_tiles_c32(&run->tiles, w), tile->rows, diagonal);
    return NY_OK;
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct accumulate *run = arg;

    ny_accumulator_fold(run->job->acc, run->partial[tile->worker]); /* s += s_u, G += G_u */
    return NY_OK;
}

/* G packed is half of G: it goes to the store piece by piece. */
struct image {
    const struct ny_accumulator *acc;
    void *piece;
};

static const void *piece_of(const void *arg, size_t at, size_t count)
{
    const struct image *image = arg;

    ny_accumulator_save(image->acc, at, count, image->piece);
    return image->piece;
}

static int save(struct ny_job *job, enum ny_stage next, uint64_t units)
{
    struct image image = {job->acc, ny_alloc(job->ctx, NY_MEM_GRAM, NY_CHUNK_BYTES)};
    struct ny_pieces pieces = {piece_of, &image, ny_accumulator_image_bytes(job->m)};
    int err;

    if (!image.piece) return NY_EBUDGET;
    err = ny_job_checkpoint_pieces(job, next, "gram", &pieces, units);
    ny_free(job->ctx, image.piece);
    return err;
}

static int checkpoint(void *arg, uint64_t units_done)
{
    struct accumulate *run = arg;

    return save(run->job, NY_STAGE_ACCUMULATE, units_done);
}

/* The accumulator as of the last checkpoint, or zero. */
static int restore(struct ny_job *job, uint64_t *units)
{
    void *image;
    size_t bytes;
    int err;

    err = ny_accumulator_new(&job->acc, job->ctx, job->m);
    if (err) return err;
    err = ny_job_load_image(job, "gram", &image, &bytes, units);
    if (err == NY_OK && image) ny_accumulator_restore(job->acc, image);
    ny_free(job->ctx, image);
    return err;
}

static int allocate(struct accumulate *run)
{
    struct ny_job *job = run->job;
    int err;

    err = ny_tiles_new(&run->tiles, job->columns, job->a, job->settings->precision, job->workers);
    if (err) return err;
    run->partial = ny_calloc(job->ctx, NY_MEM_GRAM, job->workers, sizeof(*run->partial));
    if (!run->partial) return NY_EBUDGET;
    for (unsigned w = 0; w < job->workers && err == NY_OK; w++)
        err = ny_partial_new(&run->partial[w], job->ctx, job->m, job->gram);
    return err;
}

static void release(struct accumulate *run)
{
    for (unsigned w = 0; run->partial && w < run->job->workers; w++)
        ny_partial_free(run->partial[w]);
    ny_free(run->job->ctx, run->partial);
    ny_tiles_release(&run->tiles);
}

static int run_pass(struct ny_job *job, uint64_t first_unit)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    struct accumulate run = {.job = job};
    struct ny_source *source = NULL;
    double m = (double)job->m, flops = m * (2 * (double)job->points.d + m);
    int err;

    err = allocate(&run);
    if (err) goto done;
    err = ny_job_open_source(job, first_unit, &source);
    if (err) goto done;
    err = ny_pass_run(&(struct ny_pass){.ctx = job->ctx,
                                        .source = source,
                                        .stage = "accumulate",
                                        .workers = job->workers,
                                        .first_unit = first_unit,
                                        .checkpoint_s = ny_context_checkpoint_s(job->ctx),
                                        .flops_per_row = flops},
                      &work, &run);
    if (err) goto done;
    ny_job_count_pass(job, job->points.n, flops * (double)job->points.n);
done:
    ny_job_close_source(job, source);
    release(&run);
    return err;
}

int ny_stage_accumulate(struct ny_job *job)
{
    uint64_t units;
    int err;

    err = ny_job_prepare(job);
    if (err) return err;
    if (!ny_settings_needs_gram(job->settings)) return ny_job_save(job, NY_STAGE_SOLVE);
    err = ny_job_fit_workers(job);
    if (err) return err;
    err = restore(job, &units);
    if (err) return err;
    ny_field_set_text(ny_job_report(job), "gram_precision",
                      job->gram == NY_GRAM_F64 ? "f64" : "f32");
    err = run_pass(job, units);
    if (err) return err;
    ny_job_mark_time(job);
    return save(job, NY_STAGE_SOLVE, (job->points.n + NY_UNIT_ROWS - 1) / NY_UNIT_ROWS);
}

int ny_job_load_accumulator(struct ny_job *job)
{
    uint64_t units;

    return job->acc || !ny_settings_needs_gram(job->settings) ? NY_OK : restore(job, &units);
}
