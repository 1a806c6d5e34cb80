/*
 * Measure against: another result of the same rows, as a reference. It gives, by buckets of
 * eigenpairs, the mean cosine of the principal angles between what the two results' eigenvectors
 * span, and the mean accuracy 1 − |λ̃ − λ|/λ of the eigenvalues (Talwalkar et al. 2013, figure 1).
 * It also compares the embeddings: the mean of ‖y − f(ỹ)‖², f the linear regression of the
 * reference's coordinates y on ỹ, with the 95 % interval of that mean (Ouimet & Bengio 2005,
 * section 5).
 *
 * One pass sums ZᵀZ of rows z = (û, û′, ỹ, y, 1), from which all but the interval follows.
 */
#include <math.h>
#include <string.h>

#include "base/layout.h"
#include "evaluate/evaluate.h"
#include "evaluate/vectors.h"
#include "linalg/eigen.h"

static const char *const keys[] = {"against",         "buckets",
                                   "angles",          "value_accuracy",
                                   "alignment_error", "alignment_interval",
                                   "alignment_share", NULL};

/* Last pairs of the buckets, from 1. */
static const size_t bucket_ends[] = {1, 5, 10, 25, 50, 100, 250, 500, 1000};

enum { BUCKETS = sizeof(bucket_ends) / sizeof(bucket_ends[0]) };

struct against {
    struct ny_evaluation *of;
    struct ny_context *ctx;
    size_t u, v, x, y;  /* columns of û, û′ and ỹ, y */
    size_t z;           /* of all, with the 1 */
    struct ny_matrix Z; /* NY_VECTOR_ROWS × z */
    struct ny_matrix M; /* ZᵀZ */
    double *room;
    struct ny_matrix B; /* x × y: the regression, of what is less its mean */
};

/* ---- rows ---------------------------------------------------------------------------------- */

/* Reads rows of both results into the columns of Z. */
static int read_rows(struct against *run, uint64_t first, size_t count)
{
    const struct ny_result_part *vectors = ny_part_find("eigenvectors");
    const struct ny_result_part *rows = ny_part_find("embedding");
    struct ny_result *own = &run->of->result, *other = &run->of->reference;
    size_t u = run->u, v = run->v, x = run->x;
    struct ny_matrix Z = run->Z;
    int err = ny_check_interrupt(run->ctx);

    if (err == NY_OK)
        err = ny_vectors_read(own, vectors, first, count, ny_cols(Z, 0, u), run->room);
    if (err == NY_OK)
        err = ny_vectors_read(other, vectors, first, count, ny_cols(Z, u, v), run->room);
    if (err == NY_OK)
        err = ny_vectors_read(own, rows, first, count, ny_cols(Z, u + v, x), run->room);
    if (err == NY_OK)
        err = ny_vectors_read(other, rows, first, count, ny_cols(Z, u + v + x, run->y), run->room);
    for (size_t i = 0; i < NY_VECTOR_ROWS; i++)
        Z.at[i * Z.stride + run->z - 1] = i < count;
    for (size_t i = 0; i < count; i++) /* without coordinates in one of both: it is in no sum */
        if (isnan(Z.at[i * Z.stride]) || isnan(Z.at[i * Z.stride + u]))
            memset(Z.at + i * Z.stride, 0, run->z * sizeof(double));
    for (size_t i = count; i < NY_VECTOR_ROWS; i++)
        memset(Z.at + i * Z.stride, 0, run->z * sizeof(double));
    return err;
}

/* Returns how many rows the sums are of. */
static double rows_summed(const struct against *run)
{
    return run->M.at[run->z * run->z - 1];
}

/* Returns the rows of the piece that begins at `first`; the last one may be short. */
static size_t rows_from(const struct against *run, uint64_t first)
{
    uint64_t left = run->of->result.rows.count - first;

    return left < NY_VECTOR_ROWS ? (size_t)left : NY_VECTOR_ROWS;
}

/* Sums M = ZᵀZ over all rows in one pass. */
static int sum_up(struct against *run)
{
    uint64_t n = run->of->result.rows.count;
    int err = NY_OK;

    for (uint64_t first = 0; first < n && err == NY_OK; first += NY_VECTOR_ROWS) {
        err = read_rows(run, first, rows_from(run, first));
        if (err == NY_OK) ny_gram(run->Z, 1, run->M);
    }
    if (err == NY_OK) ny_mirror_lower(run->M);
    return err;
}

/* Rows a … of M, columns b …. */
static struct ny_matrix block(const struct against *run, size_t a, size_t rows, size_t b,
                              size_t cols)
{
    return ny_cols(ny_rows(run->M, a, rows), b, cols);
}

/* ---- buckets ------------------------------------------------------------------------------- */

/* The mean cosine of the principal angles: singular values of L⁻¹ÛᵀÛ′L′⁻ᵀ, LLᵀ = ÛᵀÛ. NaN where
 * vectors depend on each other. */
static int mean_cosine(const struct against *run, size_t first, size_t w, double *mean)
{
    double *room = ny_calloc(run->ctx, NY_MEM_SOLVE, 4 * w + 1, w * sizeof(*room)), *values;
    struct ny_matrix G, H, S, SS;
    int err = NY_OK;

    *mean = NAN;
    if (!room) return NY_EBUDGET;
    G = ny_matrix(room, w, w);
    H = ny_matrix(room + w * w, w, w);
    S = ny_matrix(room + 2 * w * w, w, w);
    SS = ny_matrix(room + 3 * w * w, w, w);
    values = room + 4 * w * w;
    ny_copy(block(run, first, w, first, w), G);
    ny_copy(block(run, run->u + first, w, run->u + first, w), H);
    ny_copy(block(run, first, w, run->u + first, w), S);
    if (ny_cholesky(G) || ny_cholesky(H)) goto done;
    ny_solve_lower(G, S);
    ny_solve_rows(H, S);
    ny_gemm(1, S, ny_t(S), 0, SS);
    err = ny_eigenvalues(run->ctx, SS, values);
    if (err) goto done;
    *mean = 0;
    for (size_t k = 0; k < w; k++)
        *mean += sqrt(fmin(fmax(values[k], 0), 1)) / (double)w;
done:
    ny_free(run->ctx, room);
    return err;
}

/* Returns the mean of 1 − |λ̃ − λ|/λ over w pairs. */
static double mean_accuracy(const struct against *run, size_t first, size_t w)
{
    double mean = 0;

    for (size_t k = first; k < first + w; k++) {
        double value = ny_vectors_value(&run->of->reference, k);

        mean += 1 - fabs(ny_vectors_value(&run->of->result, k) - value) / fabs(value);
    }
    return mean / (double)w;
}

static int compare_pairs(struct against *run)
{
    json_t *buckets = json_array(), *angles = json_array(), *accuracy = json_array();
    size_t pairs = run->u < run->v ? run->u : run->v;
    int err = NY_OK;

    for (size_t b = 0, first = 0; b < BUCKETS && first < pairs && err == NY_OK; b++) {
        size_t end = bucket_ends[b] < pairs ? bucket_ends[b] : pairs;
        double cosine;

        err = mean_cosine(run, first, end - first, &cosine);
        ny_field_append(buckets, json_pack("[II]", (json_int_t)first + 1, (json_int_t)end));
        ny_field_append_number(angles, cosine);
        ny_field_append_number(accuracy, mean_accuracy(run, first, end - first));
        first = end;
    }
    ny_field_set_json(run->of->report, "buckets", buckets);
    ny_field_set_json(run->of->report, "angles", angles);
    ny_field_set_json(run->of->report, "value_accuracy", accuracy);
    return err;
}

/* ---- alignment ----------------------------------------------------------------------------- */

/* C ← the covariances × n of columns a … and b …. */
static void covariances(const struct against *run, size_t a, size_t b, struct ny_matrix C)
{
    double n = rows_summed(run);

    for (size_t i = 0; i < C.rows; i++)
        for (size_t j = 0; j < C.cols; j++) {
            const double *M = run->M.at;
            size_t z = run->z;

            C.at[i * C.stride + j] =
                M[(a + i) * z + b + j] - M[(a + i) * z + z - 1] * M[(b + j) * z + z - 1] / n;
        }
}

/* B = A⁺C, A and C of the coordinates ỹ and y. */
static int regress(struct against *run)
{
    size_t x = run->x, y = run->y, at = run->u + run->v;
    double *room = ny_calloc(run->ctx, NY_MEM_SOLVE, 2 * x + 2 * y + 1, x * sizeof(*room)), *values;
    struct ny_matrix A, V, C, T;
    int err;

    if (!room) return NY_EBUDGET;
    A = ny_matrix(room, x, x);
    V = ny_matrix(room + x * x, x, x);
    C = ny_matrix(room + 2 * x * x, x, y);
    T = ny_matrix(C.at + x * y, x, y);
    values = T.at + x * y;
    covariances(run, at, at, A);
    covariances(run, at, at + x, C);
    err = ny_eigen_top(run->ctx, A, x, values, V);
    if (err) goto done;
    ny_gemm(1, V, C, 0, T);
    for (size_t k = 0; k < x; k++)
        for (size_t j = 0; j < y; j++)
            T.at[k * y + j] = values[k] > 1e-12 * values[0] ? T.at[k * y + j] / values[k] : 0;
    ny_gemm(1, ny_t(V), T, 0, run->B);
done:
    ny_free(run->ctx, room);
    return err;
}

/* ‖y − ȳ − (ỹ − mean)B‖² of a row of Z. */
static double residual(const struct against *run, const double *z)
{
    size_t at = run->u + run->v, last = run->z - 1;
    const double *sums = run->M.at + last * run->z;
    double n = rows_summed(run), squares = 0;

    for (size_t j = 0; j < run->y; j++) {
        size_t column = at + run->x + j;
        double left = z[column] - sums[column] / n;

        for (size_t k = 0; k < run->x; k++)
            left -= (z[at + k] - sums[at + k] / n) * run->B.at[k * run->y + j];
        squares += left * left;
    }
    return squares;
}

/* Finds the regression, and in a second pass the mean of its squared residuals and their spread. */
static int align(struct against *run)
{
    json_t *report = run->of->report, *interval;
    double n = rows_summed(run), sum = 0, squares = 0, spread = 0, mean, error;
    size_t at = run->u + run->v + run->x, last = run->z - 1;
    uint64_t rows = run->of->result.rows.count;
    int err = regress(run);

    for (uint64_t first = 0; first < rows && err == NY_OK; first += NY_VECTOR_ROWS) {
        err = read_rows(run, first, rows_from(run, first));
        for (size_t i = 0; err == NY_OK && i < rows_from(run, first); i++) {
            const double *z = run->Z.at + i * run->z;
            double r = z[last] > 0 ? residual(run, z) : 0;

            sum += r;
            squares += r * r;
        }
    }
    if (err) return err;
    for (size_t j = at; j < at + run->y; j++)
        spread += run->M.at[j * run->z + j] / n - pow(run->M.at[last * run->z + j] / n, 2);
    mean = sum / n;
    error = 1.96 * sqrt(fmax(squares / n - mean * mean, 0) / (n - 1));
    interval = json_array();
    ny_field_append_number(interval, mean - error);
    ny_field_append_number(interval, mean + error);
    ny_field_set_number(report, "alignment_error", mean);
    ny_field_set_json(report, "alignment_interval", interval);
    ny_field_set_number(report, "alignment_share", mean / spread);
    return NY_OK;
}

/* ---- the measure --------------------------------------------------------------------------- */

/* Refuses a reference of other rows, and prepares both results to be read. */
static int prepare(struct ny_evaluation *of)
{
    const struct ny_result_part *vectors = ny_part_find("eigenvectors");
    struct ny_result *own = &of->result, *other = &of->reference;
    bool same;
    int err = ny_result_rows_same(&other->rows, &own->rows, &same);

    if (err) return err;
    if (!same)
        return ny_fail(of->ctx, NY_EUSAGE,
                       "--against %s: its %llu rows are not those of '%s', which has %llu; a "
                       "reference must have the same rows",
                       other->name, (unsigned long long)other->rows.count, own->name,
                       (unsigned long long)own->rows.count);
    err = ny_result_prepare(other, vectors, NY_VECTOR_ROWS);
    return err ? err : ny_result_prepare(own, vectors, NY_VECTOR_ROWS);
}

/* Sets how many columns of each kind Z has. */
static void count_columns(struct against *run, const struct ny_evaluation *of)
{
    const struct ny_coordinates *own = &of->result.coordinates, *other = &of->reference.coordinates;

    run->u = own->pairs;
    run->v = other->pairs;
    run->x = ny_coordinates_count(own);
    run->y = ny_coordinates_count(other);
    run->z = run->u + run->v + run->x + run->y + 1;
}

static void lay(struct ny_layout *l, struct against *run)
{
    size_t columns = run->u > run->v ? run->u : run->v, z = run->z;

    run->Z = ny_lay_matrix(l, NY_MEM_SOLVE, NY_VECTOR_ROWS, z);
    run->M = ny_lay_matrix(l, NY_MEM_SOLVE, z, z);
    run->B = ny_lay_matrix(l, NY_MEM_SOLVE, run->x, run->y);
    run->room = ny_lay(l, NY_MEM_SOLVE, NY_VECTOR_ROWS, columns * sizeof(double));
}

static int run_against(struct ny_evaluation *evaluation)
{
    const char *name = evaluation->settings->against;
    struct ny_layout l = {.ctx = evaluation->ctx};
    struct against run = {.of = evaluation, .ctx = evaluation->ctx};
    int err;

    if (!name) {
        ny_evaluate_inapplicable(evaluation, NULL,
                                 "not asked for; --against NAME says what to compare with");
        return NY_OK;
    }
    err = prepare(evaluation);
    if (err) goto done;
    count_columns(&run, evaluation);
    ny_blas_serial();
    lay(&l, &run);
    err = l.err;
    if (err == NY_OK) err = sum_up(&run);
    if (err == NY_OK) err = compare_pairs(&run);
    if (err == NY_OK) err = align(&run);
    ny_field_set_text(evaluation->report, "against", name);
done:
    ny_layout_free(&l);
    return err;
}

/* Counts the pieces of both results, and in turn a bucket and the regression. */
static void count(struct ny_layout *l, const struct ny_evaluation *evaluation)
{
    struct against run = {0};
    struct ny_layout_mark mark;
    size_t pairs;

    if (!evaluation->settings->against) return;
    count_columns(&run, evaluation);
    lay(l, &run);
    ny_lay(l, NY_MEM_IO, NY_VECTOR_ROWS, evaluation->reference.layout.row_bytes);
    ny_lay(l, NY_MEM_IO, 2, NY_CHUNK_BYTES);
    mark = ny_layout_mark(l);
    pairs = run.u < run.v ? run.u : run.v;
    ny_lay(l, NY_MEM_SOLVE, 4 * pairs + 1, pairs * sizeof(double));
    ny_eigen_top_count(l, pairs, pairs);
    ny_layout_back(l, &mark);
    ny_lay(l, NY_MEM_SOLVE, 2 * run.x + 2 * run.y + 1, run.x * sizeof(double));
    ny_eigen_top_count(l, run.x, run.x);
}

static size_t order(const struct ny_evaluation *evaluation)
{
    struct against run = {0};

    if (!evaluation->settings->against) return 0;
    count_columns(&run, evaluation);
    return run.z;
}

const struct ny_measure ny_measure_against = {.name = "against",
                                              .keys = keys,
                                              .options = "against",
                                              .run = run_against,
                                              .count = count,
                                              .order = order};
