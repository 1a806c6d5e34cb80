/*
 * A sample of the rows foretells three things of the kernel matrix, for a plan: whether pass 1 will
 * sum up in f64, how residuals fall with the landmarks, and how many products find its pairs.
 *
 * ny_plan_look() reads up to 768 rows from up to 24 units, so that few blocks are decoded even
 * from a large store, and computes their exact square of K. A look that fails leaves a plan
 * without a forecast and no error, except for an interrupt: the fit will say what is wrong.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memory.h"
#include "base/random.h"
#include "base/peers.h"
#include "columns/kernels.h"
#include "fit/timing.h"

/* Rows of a sample, of which half are landmarks, and the others left out where nobody asks for
 * residuals; units that they are read from; and multiply-adds that it may take. */
enum { ROWS = 768, ROWS_LEAST = 64, UNITS = 24 };
static const double most_products = 6e8;

/* The rows of the sample, their square of K, and room for factors. */
struct sample {
    struct ny_context *ctx;
    struct ny_columns_spec spec;
    size_t rows, landmarks; /* the first of them */
    uint64_t *row;
    void *raw;
    struct ny_matrix K, L; /* rows × rows */
    struct ny_layout own;
};

static void lay(struct ny_layout *l, struct sample *sample, const struct ny_columns_spec *spec,
                size_t rows)
{
    sample->row = ny_lay(l, NY_MEM_DICTIONARY, rows, sizeof(*sample->row));
    sample->raw = ny_lay(l, NY_MEM_TILES, rows, ny_raw_bytes(spec));
    sample->K = ny_lay_matrix(l, NY_MEM_SOLVE, rows, rows);
    sample->L = ny_lay_matrix(l, NY_MEM_SOLVE, rows, rows);
}

/* Returns what a sample of so many rows takes. */
static size_t size_of(struct ny_context *ctx, const struct ny_columns_spec *spec, size_t rows)
{
    struct ny_layout l = {0};

    lay(&l, &(struct sample){0}, spec, rows);
    ny_lay(&l, NY_MEM_SOLVE, rows, 8 * sizeof(double)); /* eigenvalues, shares, and the like */
    ny_columns_square_count(&l, spec, rows, ny_context_threads(ctx));
    return ny_layout_most(&l);
}

/* Returns how many rows the sample takes: fewer where products of wide rows would take long, or
 * where the budget is small, and none where a few would take half of it. Always an even number, as
 * half of them are landmarks. */
static size_t rows_of(struct ny_context *ctx, const struct ny_columns_spec *spec, uint64_t n)
{
    size_t rows = n < ROWS ? (size_t)n : ROWS, left = ny_memory_left(ctx);
    double products = ny_entry_products(spec);

    while (rows > ROWS_LEAST && ((double)rows * (double)rows * products > most_products ||
                                 size_of(ctx, spec, rows) > left / 8))
        rows -= rows / 8;
    return size_of(ctx, spec, rows) <= left / 2 ? rows / 2 * 2 : 0;
}

/* A few units, so that no more blocks are read; numbers may come more than once. */
static int gather(struct sample *sample, struct ny_rows *X, uint64_t n, uint64_t seed)
{
    uint64_t units = ny_units_of(n), *rows = sample->row;

    for (size_t i = 0; i < sample->rows; i++) {
        double unit = ny_hash01(seed, NY_STREAM_SAMPLE, i % UNITS);
        double place = ny_hash01(seed, NY_STREAM_SAMPLE, UNITS + i);
        uint64_t first = (uint64_t)(unit * (double)units) * NY_UNIT_ROWS;

        rows[i] = first + (uint64_t)(place * fmin(NY_UNIT_ROWS, (double)(n - first)));
        if (n <= ROWS) rows[i] = i;
    }
    return ny_rows_gather_wide(X, sample->spec.dtype, sample->spec.slots, rows, sample->rows,
                               sample->raw);
}

/* K of the first rows. */
static int square(struct sample *sample, const struct ny_columns_spec *spec, size_t rows)
{
    struct ny_columns *columns;
    int err = ny_columns_new(&columns, spec);

    sample->K = ny_matrix(sample->K.at, rows, rows);
    if (!err) err = ny_columns_exact_square(columns, ny_raw_rows(sample->raw), rows, sample->K);
    ny_columns_free(columns);
    return err;
}

/* Chooses --gamma auto by the distances between the landmarks. */
static int choose_width(struct sample *sample)
{
    const struct ny_kernel *kernel = sample->spec.kernel;
    const struct ny_kernel base = {.base = kernel->base, .apply = ny_kernel_identity};
    struct ny_columns_spec plain = sample->spec;
    double *values = sample->L.at;
    size_t rows = sample->landmarks, count = 0;
    int err = NY_OK;

    if (!kernel->auto_gamma) return NY_OK;
    if (kernel->base == NY_BASE_DOT) {
        sample->spec.params.gamma = kernel->auto_gamma(0, plain.geometry->d);
        return NY_OK;
    }
    plain.kernel = &base;
    err = square(sample, &plain, rows);
    for (size_t i = 0; !err && i < rows; i++)
        for (size_t j = 0; j < i; j++)
            if (sample->K.at[i * rows + j] > 0) values[count++] = sample->K.at[i * rows + j];
    if (err || !count) return err;
    qsort(values, count, sizeof(double), ny_compare_doubles);
    sample->spec.params.gamma = kernel->auto_gamma(values[count / 2], plain.geometry->d);
    return NY_OK;
}

/* Finds out whether η of m landmarks, which grows faster than they do, is too large for f32. */
static int look_at_gram(struct sample *sample, size_t m, bool *f64)
{
    const double growth = 1.8;
    size_t rows = sample->landmarks < m ? sample->landmarks : m;
    struct ny_matrix W = ny_matrix(sample->L.at, rows, rows);
    double *a = ny_calloc(sample->ctx, NY_MEM_SOLVE, rows, sizeof(*a)), diagonal = 0;
    struct ny_gram_choice choice;
    int err = a ? NY_OK : NY_EBUDGET;

    for (size_t i = 0; !err && i < rows; i++) {
        for (size_t j = 0; j < rows; j++) {
            W.at[i * rows + j] = sample->K.at[i * sample->K.stride + j];
            a[j] += W.at[i * rows + j] / (double)rows;
        }
        diagonal += W.at[i * rows + i] / (double)rows;
    }
    if (!err) err = ny_gram_choose(sample->ctx, W, a, diagonal, &choice);
    if (!err)
        *f64 =
            ny_gram_precision_of(choice.eta * pow((double)m / (double)rows, growth)) == NY_GRAM_F64;
    ny_free(sample->ctx, a);
    return err;
}

/* The largest rank that the kernel matrix of n rows can have: dot products have at most d. */
static double rank_of(const struct ny_columns_spec *spec, uint64_t n)
{
    bool products = ny_kernel_has_features(spec->kernel);
    double d = (double)spec->geometry->d, rows = (double)n;

    return products && d < rows ? d : rows;
}

/* Runs randomly pivoted Cholesky on the first half and measures the residual of the second. Rows of
 * L are columns of the factor. */
static void look_at_residuals(struct sample *sample, struct ny_look *look)
{
    size_t rows = sample->rows, half = sample->landmarks;
    double *delta = sample->L.at + half * rows, total = 0;

    for (size_t i = 0; i < rows; i++)
        delta[i] = sample->K.at[i * rows + i];
    for (size_t i = half; i < rows; i++)
        total += delta[i];
    look->decay.count = 0;
    for (size_t t = 0; t < half * 3 / 4; t++) {
        double sum = 0, left = 0, target, *row = sample->L.at + t * rows;
        size_t pivot = half;

        for (size_t i = half; i < rows; i++)
            left += fmax(delta[i], 0);
        look->share[look->decay.count++] = left / total;
        for (size_t i = 0; i < half; i++)
            sum += fmax(delta[i], 0);
        target = sum * ny_hash01(1, NY_STREAM_SAMPLE, t);
        for (size_t i = 0; i < half && target >= 0; i++)
            if (delta[i] > 0) target -= delta[pivot = i];
        if (pivot == half || !(delta[pivot] > 1e-14 * total / (double)half)) break;
        memcpy(row, sample->K.at + pivot * rows, rows * sizeof(*row));
        for (size_t s = 0; s < t; s++) {
            const double *before = sample->L.at + s * rows;
            double factor = before[pivot];

            for (size_t i = 0; i < rows; i++)
                row[i] -= factor * before[i];
        }
        for (size_t i = 0; i < rows; i++) {
            row[i] /= sqrt(delta[pivot] > 0 ? delta[pivot] : 1);
            if (i != pivot) delta[i] -= row[i] * row[i];
        }
        delta[pivot] = 0;
    }
    look->decay.share = look->share;
}

/* Finds the eigenvalues of the matrix that the map decomposes, over the sample, and how many of
 * them stand out. The others are noise where they look like it: those of rows of f independent
 * columns have the mean v = k(x,x), the variance v²m/f, and end at v(1 + √(m/f))² (Marchenko &
 * Pastur). */
static int look_at_spectrum(struct sample *sample, const struct ny_fit_settings *settings,
                            struct ny_look *look)
{
    size_t m = sample->rows, j = 0;
    double *sums = sample->L.at, *K = sample->K.at, total = 0, left = 0, squares = 0, spread = 0;
    int err;

    for (size_t i = 0; i < m; total += sums[i++])
        for (size_t k = 0; k < m; k++)
            sums[i] = (k ? sums[i] : 0) + K[i * m + k] / (double)m;
    for (size_t e = 0; e < m * m; e++)
        if (ny_divided(settings->normalisation))
            K[e] /= sqrt(fmax(sums[e / m] * sums[e % m], DBL_MIN));
        else if (ny_centred(settings->normalisation))
            K[e] -= sums[e / m] + sums[e % m] - total / (double)m;
    err = ny_eigenvalues(sample->ctx, sample->K, look->share);
    if (err) return err;
    qsort(look->share, m, sizeof(double), ny_compare_doubles);
    for (size_t i = 0; i < m / 2; i++) { /* descending */
        double value = look->share[i];

        look->share[i] = look->share[m - 1 - i];
        look->share[m - 1 - i] = value;
    }
    for (size_t i = 0; i < m; i++) {
        left += look->share[i];
        squares += look->share[i] * look->share[i];
    }
    for (; j < m / 2; j++) {
        double value = look->share[j], rest = (double)(m - j);

        look->level = left / rest;
        spread = fmax(squares * rest / (left * left) - 1, 1e-9);
        if (value <= 1.1 * look->level * (1 + sqrt(spread)) * (1 + sqrt(spread)) && spread < 4)
            break;
        left -= value;
        squares -= value * value;
    }
    look->freedom = (double)(m - j) / spread;
    look->signals = j;
    look->rows = m;
    return NY_OK;
}

/* Returns value i of n points. Those that stand out grow with n; behind them, noise has values of
 * which so many are near its edge, and what is not noise goes on as in the sample. */
static double value_of(const struct ny_look *look, double n, size_t i)
{
    double m = (double)look->rows, ratio = n / look->freedom, root = sqrt(ratio), depth;
    size_t last = look->rows * 3 / 4;
    bool signals = look->signals == look->rows / 2;

    if (i < look->signals || signals)
        return n / m * (look->share[ny_smaller(i, last)] - look->level) + look->level;
    depth = 1.5 * 3.14159 * ((double)(i - look->signals) + 0.5) / fmin(n, look->freedom);
    depth *= (1 + root) * (1 + root) / fmax(ratio, 1);
    depth = cbrt(depth * depth) * root;
    return look->level * ((1 + root) * (1 + root) - fmin(depth, 4 * root));
}

/* Chebyshev polynomials tell value θ of the last pair from those that blocks do not have:
 * T_k(1 + 2γ) is to be the length of a random vector, over the residual that is asked for
 * (spectral/restarted.h). */
double ny_look_products(const struct ny_look *look, double n, const struct ny_look_solver *solver)
{
    const double small = 0x1p-20;
    size_t pairs = solver->pairs;
    double value, far, gap, residual, k;
    bool lost;

    if (!look || !look->rows) return 0;
    while (pairs > 1 && value_of(look, n, pairs - 1) < small * value_of(look, n, 0))
        pairs--;
    lost = pairs < solver->pairs; /* pairs behind the others take some products more */
    value = value_of(look, n, pairs - 1);
    far = fmax(value_of(look, n, pairs - 1 + solver->keep - solver->pairs + solver->start),
               1e-12 * value);
    gap = fmax(1 - value_of(look, n, pairs) / value, 0);
    residual = fmax(solver->tolerance, sqrt(solver->tolerance * gap));
    k = log(2 * sqrt((double)solver->order / (double)solver->start) / residual) /
        acosh(1 + 2 * fmax(value / far - 1, 1e-6));
    return ceil(1 + k + (double)(pairs - 1) / (double)solver->start + (lost ? 3 : 0));
}

/* Takes room for the sample. *found: whether all shards have it. */
static int allocate(struct sample *sample, struct ny_look *look, bool *found)
{
    struct ny_context *ctx = sample->ctx;
    uint64_t there;
    int err;

    sample->own.ctx = ctx;
    lay(&sample->own, sample, &sample->spec, sample->rows);
    look->share = ny_calloc(ctx, NY_MEM_SOLVE, sample->rows, sizeof(double));
    there = !sample->own.err && look->share;
    err = ny_peers_least(ny_context_peers(ctx), &there);
    *found = there;
    return err;
}

/* Ends the fit where one shard alone fails, as the others wait for it. What a sample cannot tell is
 * left to the fit. */
int ny_plan_look(struct ny_look *look, struct ny_rows *X, const struct ny_fit_settings *settings,
                 const struct ny_sizes *sizes)
{
    struct ny_context *ctx = sizes->job.ctx;
    struct ny_peers *peers = ny_context_peers(ctx);
    struct sample sample = {.ctx = ctx, .spec = ny_settings_probe_spec(&sizes->spec)};
    bool residuals = ny_rule_reads(settings->rule); /* the rule looks at them */
    bool found = false, alone = false;
    uint64_t rows = rows_of(ctx, &sample.spec, sizes->points->n);
    int err = ny_blas_make_room(ctx, 1);

    if (!err) err = ny_peers_least(peers, &rows);
    if (err) return err;
    sample.landmarks = (size_t)rows / 2;
    sample.rows = residuals ? 2 * sample.landmarks : sample.landmarks;
    if (!sample.rows) return NY_OK;
    look->decay.rank = rank_of(&sample.spec, sizes->points->n);
    err = allocate(&sample, look, &found);
    if (!err && found) err = gather(&sample, X, sizes->points->n, settings->seed);
    alone = peers && err;
    if (err || !found) goto done;
    if (settings->gamma_auto) err = choose_width(&sample);
    if (!err) err = square(&sample, &sample.spec, sample.rows);
    found = !err && !ny_first_not_finite(sample.K.at, sample.rows * sample.rows);
    if (found && ny_settings_features(settings)) {
        err = look_at_spectrum(&sample, settings, look);
    } else if (found) {
        err = look_at_gram(&sample, sizes->m, &look->gram_f64);
        if (!err && residuals) look_at_residuals(&sample, look);
    }
done:
    ny_layout_free(&sample.own);
    if (err) ny_look_release(look, ctx);
    if (alone || err == NY_EINTERRUPTED || err == NY_ETERMINATED) return err;
    ny_error_clear(ctx); /* the fit says what is wrong */
    return NY_OK;
}

void ny_look_release(struct ny_look *look, struct ny_context *ctx)
{
    ny_free(ctx, look->share);
    *look = (struct ny_look){0};
}
