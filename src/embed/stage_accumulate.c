/*
 * Stage accumulate, pass 1: s = Cᵀ1, G = CᵀC, t = Σ k(x_i,x_i) over all points, each weighted by
 * 1/d_i where the kernel is divided. Where degrees are implicit (Proposition 2) s has to be known
 * first: stage degrees is the same pass without G, and its end is v with d_i = c_i·v.
 */
#include "embed/accumulate.h"

#include "embed/given_columns.h"
#include "embed/products.h"
#include "stream/pass.h"

struct accumulate {
    struct ny_job *job;
    const struct ny_accumulate *pass;
    struct ny_tiles tiles;
    struct ny_partial **partial;         /* one a worker */
    struct ny_krylov_partial **products; /* one a worker, where the pass makes products */
    float *U32;
    double *roots; /* divided: workers × NY_UNIT_ROWS, d_i^-½ */
    double degree_offset;
    struct ny_unreached unreached, *of_tile; /* in all, and in each worker's last tile */
};

/* Weighs the rows of the tile, too. */
static void sum_up(struct accumulate *run, unsigned worker, const struct ny_tile_rows *rows)
{
    if (run->tiles.precision == NY_PRECISION_F64)
        ny_partial_set64(run->partial[worker], ny_tiles_c64(&run->tiles, worker), rows);
    else
        ny_partial_set(run->partial[worker], ny_tiles_c32(&run->tiles, worker), rows);
}

static void multiply(struct accumulate *run, unsigned worker)
{
    struct ny_matrix U = run->pass->krylov->U;

    if (run->tiles.precision == NY_PRECISION_F64)
        ny_krylov_partial_set64(run->products[worker], ny_tiles_c64(&run->tiles, worker), U);
    else
        ny_krylov_partial_set(run->products[worker], ny_tiles_c32(&run->tiles, worker), U,
                              ny_matrix32(run->U32, U.rows, U.cols));
}

static int unit(void *arg, const struct ny_tile *tile)
{
    struct accumulate *run = arg;
    const struct ny_degrees *degrees = &run->job->degrees;
    unsigned w = tile->worker;
    struct ny_tile_rows rows = {tile->rows, ny_tiles_diagonal(&run->tiles, w), NULL};
    double *roots = run->roots + (size_t)w * NY_UNIT_ROWS;
    int err = ny_tiles_compute(&run->tiles, tile); /* C′ = k(tile, D) − 1aᵀ */

    if (err) return err;
    if (degrees->v) { /* C′ ← 𝒟^-½C′ */
        ny_degrees_roots(degrees, run->degree_offset, &run->tiles, tile, roots, &run->of_tile[w]);
        rows.weights = roots;
    }
    if (run->pass->acc || rows.weights) sum_up(run, w, &rows); /* s_u = C′ᵀ1, G_u = C′ᵀC′ */
    if (run->pass->krylov) multiply(run, w); /* H_u = C′ᵀ(C′U) */
    return NY_OK;
}

static int fold(void *arg, const struct ny_tile *tile)
{
    struct accumulate *run = arg;

    if (run->pass->acc) /* s += s_u, G += G_u */
        ny_accumulator_fold(run->pass->acc, run->partial[tile->worker]);
    if (run->pass->krylov) ny_krylov_fold(run->pass->krylov, run->products[tile->worker]);
    ny_unreached_add(&run->unreached, &run->of_tile[tile->worker]);
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

/* The image is called "sums" in stage degrees, "gram" later. */
static int save(struct ny_job *job, enum ny_stage next, uint64_t units)
{
    const struct ny_accumulator *acc = job->acc;
    struct image image = {acc, ny_alloc(job->ctx, NY_MEM_GRAM, NY_CHUNK_BYTES)};
    struct ny_pieces pieces = {piece_of, &image, ny_accumulator_image_bytes(acc)};
    int err;

    if (!image.piece) return NY_EBUDGET;
    err = ny_job_checkpoint_pieces(job, next, acc->G.at ? "gram" : "sums", &pieces, units);
    ny_free(job->ctx, image.piece);
    return err;
}

static int checkpoint(void *arg, uint64_t units_done)
{
    struct accumulate *run = arg;

    ny_unreached_save(&run->unreached, ny_job_checkpoint(run->job));
    return run->pass->save(run->job, run->job->stage, units_done);
}

/* The accumulator as of the last checkpoint, or zero. */
static int restore(struct ny_job *job, bool sums, uint64_t *units)
{
    void *image;
    size_t bytes;
    int err = sums ? ny_accumulator_new_sums(&job->acc, job->ctx, job->m)
                   : ny_accumulator_new(&job->acc, job->ctx, job->m);

    if (err) return err;
    err = ny_job_load_image(job, sums ? "sums" : "gram", &image, &bytes, units);
    if (err == NY_OK && image) ny_accumulator_restore(job->acc, image);
    ny_free(job->ctx, image);
    return err;
}

/* Of the products: each worker's share of H, and U in the tiles' precision. */
static int allocate_products(struct accumulate *run)
{
    struct ny_job *job = run->job;
    struct ny_matrix U = run->pass->krylov->U;
    int err = NY_OK;

    run->products = ny_calloc(job->ctx, NY_MEM_GRAM, job->workers, sizeof(*run->products));
    run->U32 = ny_calloc(job->ctx, NY_MEM_GRAM, U.rows, U.cols * sizeof(float));
    if (!run->products || !run->U32) return NY_EBUDGET;
    for (size_t i = 0; i < U.rows * U.cols; i++)
        run->U32[i] = (float)U.at[i];
    for (unsigned w = 0; w < job->workers && err == NY_OK; w++)
        err = ny_krylov_partial_new(&run->products[w], job->ctx, job->m, U.cols, job->gram);
    return err;
}

static int allocate(struct accumulate *run)
{
    struct ny_job *job = run->job;
    int err;

    err = ny_tiles_new(&run->tiles, job->columns, job->a, job->settings->precision, job->workers);
    if (err) return err;
    run->partial = ny_calloc(job->ctx, NY_MEM_GRAM, job->workers, sizeof(*run->partial));
    run->of_tile = ny_calloc(job->ctx, NY_MEM_GRAM, job->workers, sizeof(*run->of_tile));
    run->roots = ny_calloc(job->ctx, NY_MEM_TILES, job->workers, NY_UNIT_ROWS * sizeof(double));
    if (!run->partial || !run->of_tile || !run->roots) return NY_EBUDGET;
    if (job->degrees.v) run->degree_offset = ny_degrees_offset(&job->degrees, job->a);
    for (unsigned w = 0; w < job->workers && err == NY_OK; w++)
        err = ny_partial_new(&run->partial[w], job->ctx, job->m, run->pass->gram);
    return err || !run->pass->krylov ? err : allocate_products(run);
}

static void release(struct accumulate *run)
{
    for (unsigned w = 0; run->partial && w < run->job->workers; w++)
        ny_partial_free(run->partial[w]);
    for (unsigned w = 0; run->products && w < run->job->workers; w++)
        ny_krylov_partial_free(run->products[w]);
    ny_free(run->job->ctx, run->partial);
    ny_free(run->job->ctx, run->products);
    ny_free(run->job->ctx, run->U32);
    ny_free(run->job->ctx, run->of_tile);
    ny_free(run->job->ctx, run->roots);
    ny_tiles_release(&run->tiles);
}

int ny_accumulate_pass(struct ny_job *job, const struct ny_accumulate *pass)
{
    static const struct ny_pass_work work = {unit, fold, checkpoint};
    struct accumulate run = {.job = job, .pass = pass};
    struct ny_source *source = NULL;
    const struct ny_columns_spec spec = ny_job_spec(job);
    double m = (double)job->m, columns = pass->krylov ? (double)pass->krylov->U.cols : 0;
    double flops = m * (2 * ny_entry_products(&spec) + 4 * columns +
                        (pass->gram == NY_GRAM_NONE ? 0 : m));
    int err;

    run.unreached = ny_unreached_load(ny_job_checkpoint(job));
    err = allocate(&run);
    if (err) goto done;
    err = ny_job_open_source(job, pass->first_unit, &source);
    if (err) goto done;
    err = ny_pass_run(&(struct ny_pass){.ctx = job->ctx,
                                        .source = source,
                                        .stage = ny_stage_name(job->stage),
                                        .workers = job->workers,
                                        .first_unit = pass->first_unit,
                                        .checkpoint_s = ny_context_checkpoint_s(job->ctx),
                                        .flops_per_row = flops},
                      &work, &run);
    if (err) goto done;
    err = ny_unreached_check(&run.unreached, job->ctx, job->points.n);
    if (err) goto done;
    ny_job_count_pass(job, job->points.n, flops * (double)job->points.n);
done:
    ny_job_close_source(job, source);
    release(&run);
    return err;
}

/* v of the implicit degrees, from the sums of the pass: it destroys W. */
static int save_degrees(struct ny_job *job)
{
    size_t m = job->m;
    double n = (double)job->points.n, *s = job->acc->s;
    double *v = ny_calloc(job->ctx, NY_MEM_DICTIONARY, m + 1, sizeof(double));
    struct ny_problem problem = ny_job_problem(job);
    int err = NY_EBUDGET;

    if (!v) goto done;
    for (size_t j = 0; j < m; j++) /* s = s′ + n a */
        s[j] += n * job->a[j];
    ny_blas_parallel(job->ctx, m);
    err = job->settings->method->degrees(&problem, s, v);
    ny_blas_serial();
    if (err) goto done;
    v[m] = ny_dot(s, v, m) / n;
    err = ny_blob_put(job->store, job->name, "degrees", v, (m + 1) * sizeof(double));
done:
    ny_free(job->ctx, v);
    return err;
}

int ny_stage_degrees(struct ny_job *job)
{
    struct ny_accumulate pass = {.gram = NY_GRAM_NONE, .save = save};
    int err;

    if (!ny_settings_needs_degrees(job->settings)) return ny_job_save(job, NY_STAGE_ACCUMULATE);
    err = ny_job_prepare(job);
    if (err) return err;
    err = ny_job_fit_workers(job);
    if (err) return err;
    err = restore(job, true, &pass.first_unit);
    if (err) return err;
    pass.acc = job->acc;
    err = ny_accumulate_pass(job, &pass);
    if (err) return err;
    err = save_degrees(job);
    if (err) return err;
    ny_job_drop_problem(job);
    json_object_clear(ny_job_checkpoint(job));
    ny_job_mark_time(job);
    return ny_job_save(job, NY_STAGE_ACCUMULATE);
}

int ny_stage_accumulate(struct ny_job *job)
{
    struct ny_accumulate pass = {.save = save};
    int err;

    if (job->settings->method->whole) return ny_products_accumulate(job);
    if (job->settings->method->krylov) return ny_krylov_accumulate(job);
    err = ny_job_prepare(job);
    if (err) return err;
    if (!ny_settings_needs_gram(job->settings)) return ny_job_save(job, NY_STAGE_SOLVE);
    err = ny_job_fit_workers(job);
    if (err) return err;
    err = restore(job, false, &pass.first_unit);
    if (err) return err;
    ny_field_set_text(ny_job_report(job), "gram_precision",
                      job->gram == NY_GRAM_F64 ? "f64" : "f32");
    pass.acc = job->acc;
    pass.gram = job->gram;
    err = ny_accumulate_pass(job, &pass);
    if (err) return err;
    ny_job_mark_time(job);
    return save(job, NY_STAGE_SOLVE, (job->points.n + NY_UNIT_ROWS - 1) / NY_UNIT_ROWS);
}

int ny_job_load_accumulator(struct ny_job *job)
{
    uint64_t units;

    return job->acc || !ny_settings_forms_gram(job->settings) ? NY_OK
                                                              : restore(job, false, &units);
}
