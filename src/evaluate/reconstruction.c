/*
 * Measure reconstruction: how near K̃ = ÛΛ̂Ûᵀ (spectral; Talwalkar et al. 2013, eqs. 7 and 8) and
 * ÛÛᵀK (matrix projection; eqs. 5 and 6) are to the matrix K that the map decomposes, with the
 * averages of all rows, whatever the fit's were.
 * relative_error is ‖K − K̃‖_F/‖K‖_F (Li et al. 2010), relative_accuracy ‖K − K_k‖_F/‖K − K̃‖_F,
 * K_k the best of as many pairs (Talwalkar et al. 2013, section 3.3); distance_accuracy is that
 * of the squared distances that the matrices mean (section 4.2).
 *
 * For a sample of the rows, K and K̃ stand for that part of them, centred over the sample where K
 * is centred. There are far fewer entries on the diagonal of K than of the part: they count as much
 * less. K_k, a projection and degrees need all rows.
 */
#include <math.h>
#include <string.h>

#include "base/layout.h"
#include "fit/settings.h"
#include "evaluate/sample.h"
#include "evaluate/vectors.h"
#include "linalg/eigen.h"

static const char *const keys[] = {"relative_error",
                                   "relative_standard_error",
                                   "relative_accuracy",
                                   "projection_error",
                                   "projection_accuracy",
                                   "distance_accuracy",
                                   NULL};
/* The keys that need all rows. */
static const char *const exact_keys[] = {"relative_accuracy", "projection_error",
                                         "projection_accuracy", "distance_accuracy"};
enum { EXACT_KEYS = sizeof(exact_keys) / sizeof(exact_keys[0]) };

static const char nothing[] = "all entries of the matrix that the map decomposes are 0";

struct reconstruction {
    struct ny_evaluation *of;
    const struct ny_sample *sample;
    size_t s, k;
    bool whole;         /* the sample is all rows */
    struct ny_matrix K; /* s × s */
    struct ny_matrix E; /* the same: K − K̃ */
    struct ny_matrix U; /* s × k: Û */
    struct ny_matrix V; /* k × s */
    double *rows;       /* 2s: row sums of E and K, squared */
    double norm;        /* ‖K‖_F */
};

/* ---- K ------------------------------------------------------------------------------------- */

/* Row sums; K is symmetric. */
static void add_rows(struct ny_matrix K, double *sums)
{
    for (size_t i = 0; i < K.rows; i++) {
        sums[i] = 0;
        for (size_t j = 0; j < K.cols; j++)
            sums[i] += K.at[i * K.stride + j];
    }
}

/* K ← HKH, with the averages of the sample. */
static void centre(struct ny_matrix K, double *sums)
{
    double s = (double)K.rows, mean = 0;

    add_rows(K, sums);
    for (size_t i = 0; i < K.rows; i++)
        mean += sums[i] / (s * s);
    for (size_t i = 0; i < K.rows; i++)
        for (size_t j = 0; j < K.cols; j++)
            K.at[i * K.stride + j] += mean - (sums[i] + sums[j]) / s;
}

/* K ← 𝒟^-½K𝒟^-½, with the degrees in the sample. An entry that is 0 stays so: a row without values
 * has no other ones, its degree is 0, and so are its coordinates. */
static void divide(struct ny_matrix K, double *sums)
{
    add_rows(K, sums);
    for (size_t i = 0; i < K.rows; i++)
        for (size_t j = 0; j < K.cols; j++)
            if (K.at[i * K.stride + j] != 0) K.at[i * K.stride + j] /= sqrt(sums[i] * sums[j]);
}

static int make_K(struct reconstruction *run, const struct ny_map *map)
{
    int err =
        ny_columns_exact_square(run->sample->kernel, ny_sample_rows(run->sample), run->s, run->K);

    if (err) return err;
    if (map->additive) centre(run->K, run->rows);
    if (map->divided) divide(run->K, run->rows);
    if (!ny_first_not_finite(run->K.at, run->s * run->s)) return NY_OK;
    return ny_fail_infinite(run->of->ctx, "kernel", NY_NO_LINE);
}

/* ---- Û ------------------------------------------------------------------------------------- */

/* Rows of the sample, block by block of what is stored. */
static int load_vectors(struct reconstruction *run)
{
    struct ny_result *result = &run->of->result;
    const struct ny_result_part *part = ny_part_find("eigenvectors");
    struct ny_context *ctx = run->of->ctx;
    double *room = ny_calloc(ctx, NY_MEM_OTHER, NY_VECTOR_ROWS, 2 * run->k * sizeof(*room));
    struct ny_matrix block;
    const uint64_t *rows = run->sample->rows;
    int err;

    if (!room) return NY_EBUDGET;
    block = ny_matrix(room + NY_VECTOR_ROWS * run->k, NY_VECTOR_ROWS, run->k);
    err = ny_result_prepare(result, part, NY_VECTOR_ROWS);
    for (size_t i = 0, next; i < run->s && err == NY_OK; i = next) {
        for (next = i + 1; next < run->s && rows[next] < rows[i] + NY_VECTOR_ROWS;)
            next++;
        err = ny_check_interrupt(ctx);
        if (err == NY_OK)
            err = ny_vectors_read(result, part, rows[i], (size_t)(rows[next - 1] - rows[i] + 1),
                                  block, room);
        for (size_t j = i; err == NY_OK && j < next; j++)
            memcpy(run->U.at + j * run->k, block.at + (rows[j] - rows[i]) * run->k,
                   run->k * sizeof(double));
    }
    ny_free(ctx, room);
    return err;
}

static void centre_columns(struct ny_matrix U)
{
    for (size_t k = 0; k < U.cols; k++) {
        double mean = 0;

        for (size_t i = 0; i < U.rows; i++)
            mean += U.at[i * U.stride + k];
        mean /= (double)U.rows;
        for (size_t i = 0; i < U.rows; i++)
            U.at[i * U.stride + k] -= mean;
    }
}

/* ---- errors -------------------------------------------------------------------------------- */

/* Sums of squares of rows; what is on the diagonal counts `diagonal` times. */
static void square_rows(struct ny_matrix A, double diagonal, double *sums)
{
    for (size_t i = 0; i < A.rows; i++) {
        sums[i] = 0;
        for (size_t j = 0; j < A.cols; j++) {
            double a = A.at[i * A.stride + j];

            sums[i] += (i == j ? diagonal : 1) * a * a;
        }
    }
}

/* E ← K − ÛΛ̂Ûᵀ */
static void subtract_spectral(struct reconstruction *run)
{
    for (size_t k = 0; k < run->k; k++)
        for (size_t i = 0; i < run->s; i++)
            run->V.at[k * run->s + i] =
                run->U.at[i * run->k + k] * ny_vectors_value(&run->of->result, k);
    memcpy(run->E.at, run->K.at, run->s * run->s * sizeof(double));
    ny_gemm(-1, run->U, run->V, 1, run->E);
}

/* E ← K − ÛÛᵀK */
static void subtract_projection(struct reconstruction *run)
{
    ny_gemm(1, ny_t(run->U), run->K, 0, run->V);
    memcpy(run->E.at, run->K.at, run->s * run->s * sizeof(double));
    ny_gemm(-1, run->U, run->V, 1, run->E);
}

/* E ← K − K_k, of the k largest eigenvalues. */
static int subtract_best(struct reconstruction *run)
{
    struct ny_context *ctx = run->of->ctx;
    double *values = ny_calloc(ctx, NY_MEM_OTHER, run->k, sizeof(*values));
    int err = NY_EBUDGET;

    if (!values) return err;
    memcpy(run->E.at, run->K.at, run->s * run->s * sizeof(double));
    err = ny_eigen_top(ctx, run->E, run->k, values, run->V);
    for (size_t k = 0; err == NY_OK && k < run->k; k++)
        for (size_t i = 0; i < run->s; i++)
            run->V.at[k * run->s + i] *= sqrt(fmax(values[k], 0));
    memcpy(run->E.at, run->K.at, run->s * run->s * sizeof(double));
    if (err == NY_OK) ny_gemm(-1, ny_t(run->V), run->V, 1, run->E);
    ny_free(ctx, values);
    return err;
}

/* ‖D − D̃‖_F of the squared distances that K and K̃ mean: e_ii + e_jj − 2e_ij. */
static double distance_norm(struct ny_matrix E)
{
    double squares = 0;

    for (size_t i = 0; i < E.rows; i++)
        for (size_t j = 0; j < E.cols; j++)
            squares += pow(E.at[i * (E.stride + 1)] + E.at[j * (E.stride + 1)] -
                               2 * E.at[i * E.stride + j],
                           2);
    return sqrt(squares);
}

static double norm_of(const double *rows, size_t s)
{
    double squares = 0;

    for (size_t i = 0; i < s; i++)
        squares += rows[i];
    return sqrt(squares);
}

/* Reports the ratio of the best error to this one; either may be rounding of stored values. */
static void report_accuracy(struct reconstruction *run, const char *key, double best, double error)
{
    double rounding = (run->of->result.f64 ? 1e-12 : 1e-6) * run->norm;

    ny_field_set_number(run->of->report, key, fmax(best, rounding) / fmax(error, rounding));
}

/* Compares when the sample is all rows; E is K − K̃. Rows of a shard, or placed by a model from
 * elsewhere, may be fewer than the components. */
static int compare_whole(struct reconstruction *run, const struct ny_map *map)
{
    double best;
    double spectral = norm_of(run->rows, run->s), distances = distance_norm(run->E);
    int err;

    for (size_t i = 0; run->s < run->k && i < EXACT_KEYS; i++)
        ny_evaluate_inapplicable(run->of, exact_keys[i], "there are fewer rows than components");
    if (run->s < run->k) return NY_OK;
    err = subtract_best(run);
    if (err) return err;
    run->norm = norm_of(run->rows + run->s, run->s);
    for (size_t i = 0; !(run->norm > 0) && i < EXACT_KEYS; i++)
        ny_evaluate_inapplicable(run->of, exact_keys[i], "%s", nothing);
    if (!(run->norm > 0)) return NY_OK;
    square_rows(run->E, 1, run->rows);
    best = norm_of(run->rows, run->s);
    report_accuracy(run, "relative_accuracy", best, spectral);
    if (map->divided)
        ny_evaluate_inapplicable(run->of, "distance_accuracy",
                                 "the map divides the kernel by degrees: it keeps no distances");
    else
        report_accuracy(run, "distance_accuracy", distance_norm(run->E), distances);
    subtract_projection(run);
    square_rows(run->E, 1, run->rows);
    report_accuracy(run, "projection_accuracy", best, norm_of(run->rows, run->s));
    ny_field_set_number(run->of->report, "projection_error",
                        norm_of(run->rows, run->s) / run->norm);
    return NY_OK;
}

static int compare(struct reconstruction *run, const struct ny_map *map)
{
    double n = (double)run->sample->n;
    double diagonal = run->whole ? 1 : ((double)run->s - 1) / (n - 1);
    int err = make_K(run, map);

    if (err == NY_OK) err = load_vectors(run);
    if (err) return err;
    if (map->additive && !run->whole) centre_columns(run->U);
    square_rows(run->K, diagonal, run->rows + run->s);
    subtract_spectral(run);
    square_rows(run->E, diagonal, run->rows);
    ny_sample_report_ratio(run->of, keys, run->rows, run->rows + run->s, nothing);
    for (size_t i = 0; !run->whole && i < EXACT_KEYS; i++)
        ny_evaluate_inapplicable(run->of, exact_keys[i], "it needs all rows; give --sample %llu",
                                 (unsigned long long)run->sample->n);
    return run->whole ? compare_whole(run, map) : NY_OK;
}

/* ---- the measure --------------------------------------------------------------------------- */

static void lay(struct ny_layout *l, struct reconstruction *run)
{
    size_t s = run->s, k = run->k;

    run->K = ny_lay_matrix(l, NY_MEM_SOLVE, s, s);
    run->E = ny_lay_matrix(l, NY_MEM_SOLVE, s, s);
    run->U = ny_lay_matrix(l, NY_MEM_SOLVE, s, k);
    run->V = ny_lay_matrix(l, NY_MEM_SOLVE, k, s);
    run->rows = ny_lay(l, NY_MEM_SOLVE, 2 * s, sizeof(double));
}

static int run_reconstruction(struct ny_evaluation *evaluation)
{
    const struct ny_map *map = evaluation->result.map;
    struct ny_layout l = {.ctx = evaluation->ctx};
    struct reconstruction run = {.of = evaluation};
    struct ny_sample *sample;
    int err = ny_evaluate_sample(evaluation);

    if (err) return err;
    run.sample = sample = evaluation->sample;
    run.s = sample->s;
    run.k = evaluation->result.coordinates.pairs;
    run.whole = sample->s == sample->n;
    if (!sample->kernel || !map)
        ny_evaluate_inapplicable(evaluation, NULL,
                                 "its matrix is not one of kernel values of the points");
    else if (map->divided && !run.whole)
        ny_evaluate_inapplicable(evaluation, NULL, "degrees need all rows; give --sample %llu",
                                 (unsigned long long)sample->n);
    else {
        ny_blas_serial();
        lay(&l, &run);
        err = l.err ? l.err : compare(&run, map);
        ny_layout_free(&l);
        return err;
    }
    return NY_OK;
}

static void count(struct ny_layout *l, const struct ny_evaluation *run)
{
    size_t k = run->result.coordinates.pairs, s = ny_sample_size(run);

    ny_sample_count(l, run);
    lay(l, &(struct reconstruction){.s = s, .k = k});
    ny_lay(l, NY_MEM_IO, 2 * NY_VECTOR_ROWS, k * sizeof(double));
    ny_lay(l, NY_MEM_OTHER, k, sizeof(double));
    ny_eigen_top_count(l, s, k);
}

const struct ny_measure ny_measure_reconstruction = {.name = "reconstruction",
                                                     .keys = keys,
                                                     .options = "sample|seed",
                                                     .run = run_reconstruction,
                                                     .count = count,
                                                     .order = ny_sample_size};
