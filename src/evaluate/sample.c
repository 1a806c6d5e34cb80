/*
 * Takes the sample of rows whose pairs are looked at (evaluate/sample.h), for the measures
 * neighborhoods, distances and reconstruction. The first measure that asks for it makes it, and the
 * evaluation frees it.
 *
 * The rows with the smallest hashes are drawn, so that a seed always names the same rows. Their
 * points are gathered from the store and become columns twice: of squared distances, if the scale
 * of the points is known, and of the fit's kernel, if it has one. ny_sample_pairs() then measures
 * 64 rows at a time against the whole sample, in f64, on all threads: memory is three blocks of 64
 * × s doubles a thread, never s × s.
 */
#include "evaluate/sample.h"

#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/memory.h"
#include "base/thread.h"
#include "columns/kernels.h"
#include "results/graphs.h"
#include "model/geometry.h"
#include "model/map.h"
#include "results/keep.h"

enum { BLOCK_ROWS = 64 };

size_t ny_sample_size(const struct ny_evaluation *run)
{
    size_t most = run->settings->sample;

    return run->n < most ? (size_t)run->n : most;
}

/* ---- the points ---------------------------------------------------------------------------- */

/* Rows of the store that the sample is. */
static int places(struct ny_evaluation *run, const struct ny_sample *sample, uint64_t *places)
{
    const struct ny_result_part *part = ny_part_find("rows");
    int err = ny_result_prepare(&run->result, part, 1);

    for (size_t i = 0; i < sample->s && err == NY_OK; i++)
        err = ny_part_fill(&run->result, part, sample->rows[i], 1, &places[i]);
    return err;
}

/* Loads the geometry frozen at the fit. That of a graph's map is with its graph, which may be
 * another result, and has one more number. None if that result is gone or has another graph now. */
static int load_geometry(struct ny_evaluation *run, struct ny_sample *sample, size_t d)
{
    struct ny_result *result = &run->result;
    const json_t *graph = json_object_get(result->report, "graph");
    double gamma, *has_gamma = json_is_object(graph) ? &gamma : NULL;
    struct ny_named_graph other = {.graph.keep = result->keep, .record.of = NULL};
    bool own = !ny_field_text(graph, "name");
    int err = own ? NY_OK : ny_graph_find_of(result->store, result->record, &other);
    struct ny_record record = own ? ny_record_of(result->record) : other.record;

    if (!err && record.of)
        err = ny_stored_geometry(&sample->geometry, &other.graph.keep,
                                 ny_record_part(record, "geometry").name, d, has_gamma);
    ny_record_free(other.record);
    return err;
}

/* Tells whether its columns came from a file: the geometry is theirs, not that of the points. */
static bool is_precomputed(const struct ny_result *result)
{
    const char *name = ny_field_text(result->report, "kernel");
    const struct ny_kernel *kernel = name ? ny_kernel_find(name) : NULL;

    return kernel && kernel->base == NY_BASE_GIVEN;
}

/* The kernel of a fit whose matrix is one of kernel values of the points. */
static const struct ny_kernel *kernel_of(const struct ny_result *result)
{
    const char *name = ny_field_text(result->report, "kernel");
    const struct ny_kernel *kernel = name ? ny_kernel_find(name) : NULL;

    if (kernel && kernel->base == NY_BASE_COORDINATE)
        kernel = ny_kernel_find(kernel->unit_rows ? "cosine" : "linear");
    if (!result->map || result->map->graph) return NULL;
    return kernel && kernel->base != NY_BASE_GIVEN ? kernel : NULL;
}

static struct ny_kernel_params params_of(const struct ny_result *result)
{
    const json_t *options = json_object_get(result->record, "options");
    const struct ny_kernel *kernel = kernel_of(result);
    struct ny_kernel_params params = NY_KERNEL_PARAMS;
    const struct ny_param *param;

    for (size_t i = 0; kernel && (param = ny_kernel_number(kernel, i)); i++)
        if (ny_field_text(options, param->name))
            *ny_param_value(param, &params) =
                ny_decimal_read(ny_field_text(options, param->name), NULL);
    params.gamma = ny_field_number(result->report, "gamma", 1);
    return params;
}

/* The points as columns of squared distances. Sparse ones take what they hold. */
static int load_points(struct ny_evaluation *run, struct ny_sample *sample)
{
    struct ny_columns_spec spec = sample->spec;
    uint64_t *list = ny_calloc(run->ctx, NY_MEM_OTHER, sample->s, sizeof(*list));
    int err = list ? places(run, sample, list) : NY_EBUDGET;

    spec.kernel = &ny_kernel_euclidean;
    spec.params.gamma = 1;
    if (err == NY_OK) err = ny_columns_new(&sample->inputs, &spec);
    if (err == NY_OK)
        err = ny_columns_gather(sample->inputs, ny_store_rows(run->result.store), list, sample->s);
    ny_free(run->ctx, list);
    return err;
}

/* Tells whether the edges of its graph came from a file: what they mean is not said. */
static bool is_given(const struct ny_result *result)
{
    return ny_state_of(ny_record_of(result->record)).graph.edge_values != NULL;
}

/* Makes columns of the points, as far as their scale and kernel are known. */
static int prepare(struct ny_evaluation *run, struct ny_sample *sample)
{
    struct ny_rows_info info;
    int err = ny_points_info(run->result.store, &info);

    if (err || is_given(&run->result) || is_precomputed(&run->result)) return err;
    err = load_geometry(run, sample, (size_t)info.d);
    if (err || !sample->geometry) return err;
    sample->spec = (struct ny_columns_spec){.ctx = run->ctx,
                                            .kernel = kernel_of(&run->result),
                                            .params = params_of(&run->result),
                                            .geometry = sample->geometry,
                                            .dtype = info.dtype};
    ny_columns_spec_points(&sample->spec, &info);
    err = load_points(run, sample);
    if (err || !sample->spec.kernel) return err;
    err = ny_columns_new(&sample->kernel, &sample->spec);
    return err ? err : ny_columns_append(sample->kernel, ny_sample_rows(sample), sample->s);
}

/* ---- the sample ---------------------------------------------------------------------------- */

void ny_sample_free(struct ny_sample *sample)
{
    struct ny_context *ctx = sample ? sample->ctx : NULL;

    if (!sample) return;
    ny_columns_free(sample->inputs);
    ny_columns_free(sample->kernel);
    ny_geometry_free(sample->geometry, ctx);
    ny_layout_free(&sample->own);
    ny_free(ctx, sample);
}

struct ny_raw_rows ny_sample_rows(const struct ny_sample *sample)
{
    return ny_columns_rows(sample->inputs);
}

bool ny_evaluate_inputs(struct ny_evaluation *run)
{
    if (run->sample->inputs) return true;
    ny_evaluate_inapplicable(
        run, NULL, "%s",
        is_given(&run->result) ? "the edges of its graph came from a file, and are no distances "
                                 "of points"
        : is_precomputed(&run->result)
            ? "its kernel is precomputed: its distances are not those of the points"
            : "the graph that it was made from is gone or was replaced, and the scale of the "
              "points is lost with it");
    return false;
}

static void lay(struct ny_layout *l, struct ny_sample *sample)
{
    sample->rows = ny_lay(l, NY_MEM_OTHER, sample->s, sizeof(uint64_t));
    sample->y = ny_lay(l, NY_MEM_DICTIONARY, sample->s, sample->p * sizeof(float));
}

int ny_evaluate_sample(struct ny_evaluation *run)
{
    struct ny_context *ctx = run->ctx;
    struct ny_sample *sample;
    uint64_t run_length;
    int err;

    if (run->sample) return NY_OK;
    sample = run->sample = ny_calloc(ctx, NY_MEM_OTHER, 1, sizeof(*sample));
    if (!sample) return NY_EBUDGET;
    *sample = (struct ny_sample){
        .ctx = ctx, .own.ctx = ctx, .n = run->cloud.n, .s = ny_sample_size(run), .p = run->cloud.p};
    lay(&sample->own, sample);
    err = sample->own.err;
    if (err == NY_OK)
        err = ny_cloud_sample(ctx, sample->n, sample->s, run->settings->seed, sample->rows);
    if (err == NY_OK) err = ny_cloud_gather(&run->cloud, sample->rows, sample->s, sample->y);
    for (size_t i = 0; err == NY_OK && i < sample->s; i++)
        sample->rows[i] = ny_lost_place(&run->unreached, sample->rows[i], &run_length);
    if (err == NY_OK) err = prepare(run, sample);
    if (err == NY_OK) return NY_OK;
    ny_sample_free(sample);
    run->sample = NULL;
    return err;
}

void ny_sample_count(struct ny_layout *l, const struct ny_evaluation *run)
{
    struct ny_sample sample = {.s = ny_sample_size(run),
                               .p = ny_coordinates_count(&run->result.coordinates)};
    struct ny_rows_info info = {.d = 1};
    struct ny_geometry geometry = {.d = 1};
    struct ny_columns_spec spec = {
        .ctx = run->ctx, .kernel = &ny_kernel_euclidean, .geometry = &geometry};
    struct ny_layout_mark mark;

    if (ny_points_info(run->result.store, &info)) return; /* told when it is read */
    geometry.d = (size_t)info.d;
    spec.dtype = info.dtype == NY_F64 ? NY_F64 : NY_F32; /* integers take no more */
    ny_columns_spec_points(&spec, &info);
    ny_lay(l, NY_MEM_OTHER, 1, sizeof(sample));
    lay(l, &sample);
    ny_cloud_sample_count(l, sample.s);
    ny_lay(l, NY_MEM_DICTIONARY, 4 * (size_t)info.d, sizeof(double)); /* the geometry */
    ny_columns_count(l, &spec, sample.s);
    ny_columns_count(l, &spec, sample.s);
    ny_lay_peak(l, NY_MEM_STORE, 1, sample.s * sizeof(uint64_t) + 2 * info.block_bytes);
    for (unsigned w = 0; w < run->workers; w++)
        ny_lay(l, NY_MEM_TILES, 3 * BLOCK_ROWS, sample.s * sizeof(double));
    mark = ny_layout_mark(l);
    ny_columns_exact_count(l, &spec, run->workers);
    ny_layout_back(l, &mark);
    ny_columns_square_count(l, &spec, sample.s, run->workers);
}

/* ---- pairs --------------------------------------------------------------------------------- */

struct pairs {
    const struct ny_sample *sample;
    double scale;
    ny_pair_fn *each;
    void *arg;
};

/* Fills in the squared distances of the embedding, in its own units. */
static void measure_outputs(const struct pairs *pairs, const struct ny_pair_rows *rows)
{
    const struct ny_sample *sample = pairs->sample;
    double unit = 1 / (pairs->scale * pairs->scale);
    size_t p = sample->p;

    for (size_t i = 0; i < rows->count; i++)
        for (size_t j = 0; j < sample->s; j++) {
            const float *x = sample->y + (rows->first + i) * p, *y = sample->y + j * p;
            double sum = 0;

            for (size_t c = 0; c < p; c++)
                sum += ((double)x[c] - (double)y[c]) * ((double)x[c] - (double)y[c]);
            rows->outputs.at[i * sample->s + j] = sum * unit;
        }
}

/* Measures the pairs of some rows of the sample with all of it and hands them to `each`. */
static int measure_block(const struct pairs *pairs, struct ny_pair_rows *rows)
{
    const struct ny_sample *sample = pairs->sample;
    struct ny_raw_rows at = ny_raw_rows_from(&sample->spec, ny_sample_rows(sample), rows->first);
    int err = ny_check_interrupt(sample->ctx);

    if (err == NY_OK)
        err = ny_columns_exact(sample->inputs, at, rows->count, 0,
                               ny_rows(rows->inputs, 0, rows->count));
    if (err == NY_OK && sample->kernel)
        err = ny_columns_exact(sample->kernel, at, rows->count, 0,
                               ny_rows(rows->kernel, 0, rows->count));
    if (err) return err;
    measure_outputs(pairs, rows);
    pairs->each(pairs->arg, rows);
    return NY_OK;
}

static int run_blocks(void *arg, size_t first, size_t count)
{
    const struct pairs *pairs = arg;
    const struct ny_sample *sample = pairs->sample;
    size_t s = sample->s;
    double *room = ny_calloc(sample->ctx, NY_MEM_TILES, 3 * BLOCK_ROWS, s * sizeof(double));
    struct ny_pair_rows rows = {.inputs = ny_matrix(room, BLOCK_ROWS, s)};
    int err = room ? NY_OK : NY_EBUDGET;

    if (err) return err;
    rows.outputs = ny_matrix(room + BLOCK_ROWS * s, BLOCK_ROWS, s);
    rows.kernel = ny_matrix(room + 2 * BLOCK_ROWS * s, sample->kernel ? BLOCK_ROWS : 0, s);
    for (size_t b = first; b < first + count && err == NY_OK; b++) {
        rows.first = b * BLOCK_ROWS;
        rows.count = s - rows.first < BLOCK_ROWS ? s - rows.first : BLOCK_ROWS;
        err = measure_block(pairs, &rows);
    }
    ny_free(sample->ctx, room);
    return err;
}

int ny_sample_pairs(const struct ny_sample *sample, double scale, ny_pair_fn *each, void *arg)
{
    struct pairs pairs = {sample, scale, each, arg};

    return ny_parallel_ranges(sample->ctx, (sample->s + BLOCK_ROWS - 1) / BLOCK_ROWS, run_blocks,
                              &pairs);
}

static double sum_of(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum;
}

/* The standard error of √(Σ e/Σ f); not finite where no pairs are left without one of the rows. */
static double standard_error(const struct ny_sample *sample, const double *e, const double *f)
{
    double s = (double)sample->s, E = sum_of(e, sample->s), F = sum_of(f, sample->s);
    double share = 1 - s / (double)sample->n; /* of the rows that the sample does not have */
    double mean = 0, squares = 0;

    if (sample->s == sample->n) return 0;
    for (size_t i = 0; i < sample->s; i++)
        mean += sqrt(fmax(E - 2 * e[i], 0) / (F - 2 * f[i]));
    mean /= s;
    for (size_t i = 0; i < sample->s; i++)
        squares += pow(sqrt(fmax(E - 2 * e[i], 0) / (F - 2 * f[i])) - mean, 2);
    return sqrt(share * (s - 1) / s * squares);
}

void ny_sample_report_ratio(struct ny_evaluation *run, const char *const keys[2], const double *e,
                            const double *f, const char *nothing)
{
    const struct ny_sample *sample = run->sample;
    double F = sum_of(f, sample->s), error = standard_error(sample, e, f);

    if (!(F > 0)) {
        ny_evaluate_inapplicable(run, keys[0], "%s", nothing);
        ny_evaluate_inapplicable(run, keys[1], "%s", nothing);
        return;
    }
    ny_field_set_number(run->report, keys[0], sqrt(sum_of(e, sample->s) / F));
    ny_field_set_number(run->report, keys[1], error);
    if (!isfinite(error))
        ny_evaluate_inapplicable(
            run, keys[1], "with one of its rows left out, the sample has nothing to compare");
}
