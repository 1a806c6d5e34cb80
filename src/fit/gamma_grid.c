/*
 * The table of `plan --gamma-grid`: for each of up to 64 kernel widths, the trace error to expect,
 * how fast the spectrum falls, and a sentence that says what these figures mean. api/fit.c calls
 * it.
 *
 * Distances do not depend on γ: one sample is read once, its base quantities are computed once, and
 * a width costs a pointwise step, the eigenvalues of at most 1,000 rows and one pivoted Cholesky.
 * The sample is that of `--select uniform` with the job's seed: its first m rows, at most 2,000,
 * are the landmarks that such a fit would take (at the wanted m; a smaller budget takes fewer), and
 * up to 2,000 more rows measure the residual k(x,x) − ‖L⁻¹k_D(x)‖². Maps that divide K take it over
 * the degrees that such a fit would have.
 *
 * Nothing is written: the caller prints the grid or the JSON of it.
 */
#include "fit/gamma_grid.h"

#include <math.h>
#include <string.h>

#include "base/decimal.h"
#include "base/progress.h"
#include "columns/kernels.h"
#include "model/degrees.h"
#include "linalg/eigen.h"

enum {
    LANDMARKS_MAX = 2000, /* of a sample: a plan has to be quick */
    TESTED_MAX = 2000,    /* rows that are not landmarks */
    SPECTRUM_MAX = 1000,
    ROWS_MIN = 32
};

/* The hashed sample: m uniform landmarks first — those of a fit with --select uniform —, then rows
 * that are none, on which the error is measured. */
struct sample {
    struct ny_context *ctx;
    const struct ny_fit_settings *settings;
    double n;
    size_t m, tested, rows, spectrum;
    struct ny_matrix base; /* rows × rows: x·y, ‖x−y‖² or ‖x−y‖₁ */
    struct ny_matrix K, A; /* of one width; A: spectrum × spectrum */
    double *values;        /* spectrum: λ, descending */
    double *weight;        /* rows: 1/d_i of K where the map divides by degrees, else 1 */
    double *row;           /* rows */
    size_t *order;         /* m */
    void *raw;             /* rows */
};

/* ---- the sample --------------------------------------------------------------------------- */

static void lay(struct ny_layout *l, struct sample *s, const struct ny_columns_spec *spec)
{
    const size_t row = s->rows * sizeof(double), m = ny_smaller(s->rows, SPECTRUM_MAX);

    s->base = ny_lay_matrix(l, NY_MEM_SOLVE, s->rows, s->rows);
    s->K = ny_lay_matrix(l, NY_MEM_SOLVE, s->rows, s->rows);
    s->A = ny_lay_matrix(l, NY_MEM_SOLVE, m, m);
    s->values = ny_lay(l, NY_MEM_SOLVE, m, sizeof(double));
    s->weight = ny_lay(l, NY_MEM_SOLVE, 1, row);
    s->row = ny_lay(l, NY_MEM_SOLVE, 1, row);
    s->order = ny_lay(l, NY_MEM_SOLVE, s->m, sizeof(size_t));
    s->raw = ny_lay(l, NY_MEM_TILES, s->rows, ny_raw_bytes(spec));
    s->spectrum = m;
}

/* Uses as many threads as may have buffers of BLAS, for which there is a quarter of the budget.
 * Returns the bytes of these. */
static size_t choose_crew(struct ny_context *ctx, size_t m)
{
    unsigned threads = ny_context_threads(ctx), crew = threads;

    while (crew > 1 && ny_blas_bytes(threads, crew, m) > ny_memory_left(ctx) / 4)
        crew--;
    ny_context_set_crew(ctx, crew);
    return ny_blas_bytes(threads, crew, m);
}

/* Tells whether there is room for the sample, and for an eigenproblem of its spectrum. */
static bool fits(struct sample *s, const struct ny_columns_spec *spec, double room)
{
    struct ny_layout counted = {0};

    lay(&counted, s, spec);
    ny_layout_add(&counted, NY_MEM_SOLVE, 40 * sizeof(double) * s->spectrum);
    return (double)ny_layout_most(&counted) <= room;
}

/* Takes as many rows as the budget holds, in about the same proportion. */
static void choose_sizes(struct sample *s, const struct ny_columns_spec *spec, size_t wanted,
                         uint64_t n)
{
    struct ny_layout square = {0};
    double room;

    ny_columns_square_count(&square, spec, wanted, ny_context_crew(s->ctx));
    room = 0.75 * (double)ny_memory_left(s->ctx) - (double)ny_layout_most(&square);
    s->m = ny_smaller(wanted, LANDMARKS_MAX);
    s->tested = (size_t)(n - s->m < TESTED_MAX ? n - s->m : TESTED_MAX);
    s->rows = s->m + s->tested;
    while (s->rows > ROWS_MIN && !fits(s, spec, room)) {
        s->m = s->m > 1 ? s->m - (s->m + 3) / 4 : 1;
        s->tested -= s->tested / 4;
        s->rows = s->m + s->tested;
    }
}

/* The base quantity does not depend on the width: once for all of them. */
static int measure_base(struct sample *s, const struct ny_columns_spec *spec)
{
    const struct ny_kernel base = {.base = spec->kernel->base, .apply = ny_kernel_identity};
    struct ny_columns_spec plain = *spec;
    struct ny_columns *columns;
    int err;

    plain.kernel = &base;
    err = ny_columns_new(&columns, &plain);
    if (err == NY_OK) err = ny_columns_exact_square(columns, ny_raw_rows(s->raw), s->rows, s->base);
    ny_columns_free(columns);
    return err;
}

static int take_sample(struct sample *s, struct ny_rows *X, const struct ny_columns_spec *spec,
                       uint64_t n)
{
    struct ny_selection_request request = {
        .ctx = s->ctx, .X = X, .n = n, .seed = s->settings->seed, .landmarks = s->rows};
    struct ny_selection selection = {0};
    int err = ny_rule_find("uniform")->select(&request, &selection);

    if (!err) err = X->ops->gather(X, spec->slots, selection.rows, s->rows, s->raw);
    if (!err) err = measure_base(s, spec);
    ny_selection_release(&selection, s->ctx);
    return err;
}

/* ---- one width ---------------------------------------------------------------------------- */

/* K of the sample; its mean over the diagonal and over pairs. */
static void fill_kernel(struct sample *s, double gamma, double *diagonal, double *pairs)
{
    const struct ny_kernel *kernel = s->settings->kernel;
    struct ny_kernel_params params = s->settings->params;
    double off = 0, on = 0, rows = (double)s->rows;

    params.gamma = gamma;
    for (size_t i = 0; i < s->rows; i++) {
        double *k = s->K.at + i * s->rows, sum = 0;

        memcpy(k, s->base.at + i * s->rows, (i + 1) * sizeof(*k));
        kernel->apply(&params, 0, NULL, k, i + 1);
        for (size_t j = 0; j < i; j++)
            sum += k[j];
        off += sum;
        on += k[i];
    }
    ny_mirror_lower(s->K);
    *diagonal = on / rows;
    *pairs = s->rows > 1 ? 2 * off / (rows * (rows - 1)) : 0;
}

/* 1/d_i, d_i the mean of row i of K over all n rows, of which the sample is one; false where a row
 * sees no other and not itself. */
static bool weigh(struct sample *s)
{
    bool divided = s->settings->map->divided, positive = true;

    for (size_t i = 0; i < s->rows; i++) {
        const double *k = s->K.at + i * s->rows;
        double others = 0, degree;

        for (size_t j = 0; j < s->rows && divided; j++)
            others += j == i ? 0 : k[j];
        degree = (others * (s->n - 1) / (double)(s->rows > 1 ? s->rows - 1 : 1) + k[i]) / s->n;
        s->weight[i] = divided ? 1 / degree : 1;
        positive = positive && s->weight[i] > 0 && isfinite(s->weight[i]);
    }
    return positive;
}

/* A ← HAH */
static void centre(struct ny_matrix A, double *mean)
{
    double grand = 0, m = (double)A.rows;

    for (size_t i = 0; i < A.rows; i++) {
        mean[i] = 0;
        for (size_t j = 0; j < A.rows; j++)
            mean[i] += A.at[i * A.stride + j] / m;
        grand += mean[i] / m;
    }
    for (size_t i = 0; i < A.rows; i++)
        for (size_t j = 0; j < A.rows; j++)
            A.at[i * A.stride + j] += grand - mean[i] - mean[j];
}

/* Measures how fast the λ fall. Negative ones, of a kernel that is not PSD, are dropped, and the
 * trivial one of degrees counts in the trace alone. */
static int measure_spectrum(struct sample *s, struct ny_grid_row *row)
{
    size_t first = s->settings->map->divided ? 1 : 0, count = first;
    double sum = 0, squares = 0, top = 0, held = 0, trivial;
    int err;

    for (size_t i = 0; i < s->spectrum; i++)
        for (size_t j = 0; j < s->spectrum; j++)
            s->A.at[i * s->spectrum + j] =
                s->K.at[i * s->rows + j] * sqrt(s->weight[i] * s->weight[j]);
    if (s->settings->map->additive) centre(s->A, s->row);
    err = ny_eigenvalues(s->ctx, s->A, s->values);
    if (err) return err;
    for (; count < s->spectrum && s->values[count] > 0; count++) {
        sum += s->values[count];
        squares += s->values[count] * s->values[count];
        if (count < first + s->settings->components) top = sum;
    }
    trivial = first ? s->values[0] : 0;
    row->top_share = top / (trivial + sum); /* of the trace, as variance_kept of a fit */
    row->effective_rank = sum * sum / squares;
    for (size_t k = first; k < count && held < 0.9 * sum; k++) {
        held += s->values[k];
        row->rank_90++;
    }
    return NY_OK;
}

/* Columns of X in another order. */
static void reorder(struct ny_matrix X, const size_t *order, double *row)
{
    for (size_t i = 0; i < X.rows; i++) {
        double *x = X.at + i * X.stride;

        memcpy(row, x, X.cols * sizeof(double));
        for (size_t j = 0; j < X.cols; j++)
            x[j] = row[order[j]];
    }
}

/* Finds z = L⁻¹k_D of the sample, W = LLᵀ, so that K̃ = ZZᵀ: in place of K's first m columns, rank
 * of which are left. W is cut where pivots are rounding. */
static int project(struct sample *s, size_t *rank)
{
    size_t m = s->m;
    struct ny_matrix W = ny_rows(s->K, 0, m), X = ny_rows(s->K, m, s->tested), L;
    double largest = 0;
    int err;

    W.cols = X.cols = m;
    for (size_t i = 0; i < s->rows; i++)
        largest = fmax(largest, s->K.at[i * s->rows + i]);
    err = ny_cholesky_pivoted(s->ctx, W, (double)m * 0x1p-53 * largest, s->order, rank);
    if (err) return err;
    reorder(X, s->order, s->row);
    L = W;
    L.rows = L.cols = X.cols = *rank;
    ny_solve_rows(L, X);
    return NY_OK;
}

/* Mean of δ(x) = k(x,x) − ‖z(x)‖² over the rows that are not landmarks. */
static double mean_residual(const struct sample *s, size_t rank)
{
    double residual = 0;

    for (size_t i = s->m; i < s->rows; i++) {
        const double *z = s->K.at + i * s->rows;

        residual += fmax(z[i] - ny_dot(z, z, rank), 0) / (double)s->tested;
    }
    return residual;
}

/* How many of the n rows stand behind row i of the sample. */
static double rows_behind(const struct sample *s, size_t i)
{
    return i < s->m ? 1 : (s->n - (double)s->m) / (double)s->tested;
}

/* Length of z of row i. Landmarks are in the order of their pivots, z being a row of L. */
static size_t length_of(const struct sample *s, size_t i, size_t rank)
{
    return i < s->m ? ny_smaller(i + 1, rank) : rank;
}

/* Finds the sum of z by which d_i = z_i·sum are the degrees of a fit: of K̃, or over D. */
static void sum_rows(const struct sample *s, size_t rank, double *sum)
{
    bool over_landmarks = s->settings->normalisation == NY_DIVIDED_LANDMARKS;
    size_t rows = over_landmarks ? s->m : s->rows;

    memset(sum, 0, rank * sizeof(*sum));
    for (size_t i = 0; i < rows; i++) {
        double share = over_landmarks ? s->n / (double)s->m : rows_behind(s, i);

        for (size_t k = 0; k < length_of(s, i, rank); k++)
            sum[k] += share * s->K.at[i * s->rows + k];
    }
}

/* Returns the share of tr 𝒟^-½K𝒟^-½ that the landmarks miss, 𝒟 being the model's own degrees, as
 * in the certificate of a fit: K's are larger where landmarks reach little. NaN where a fit would
 * be refused, as landmarks do not reach more than 1 % of the rows. */
static double divided_error(const struct sample *s, size_t rank)
{
    double *sum = s->row, residual = 0, trace = 0, unreached = 0, mean;

    sum_rows(s, rank, sum);
    mean = ny_dot(sum, sum, rank) / s->n;
    for (size_t i = 0; i < s->rows; i++) {
        const double *z = s->K.at + i * s->rows;
        size_t length = length_of(s, i, rank);
        double held = ny_dot(z, z, length), share = rows_behind(s, i);
        double delta = i < s->m ? 0 : fmax(z[i] - held, 0), degree = ny_dot(z, sum, length);

        if (!ny_degree_reaches(degree, mean)) {
            unreached += share;
            continue;
        }
        residual += share * delta / degree;
        trace += share * (held + delta) / degree;
    }
    return 100 * unreached > s->n ? NAN : residual / trace;
}

/* Finds the error of the landmarks; `diagonal` is K's mean over it. K is lost. */
static int measure_error(struct sample *s, double diagonal, struct ny_grid_row *row)
{
    const struct ny_map *map = s->settings->map;
    double n = s->n, missed, trace = diagonal;
    size_t rank;
    int err = project(s, &rank);

    if (err) return err;
    if (map->divided) {
        row->trace_error = divided_error(s, rank);
        return NY_OK;
    }
    /* tr K/n of the matrix that the map decomposes, less K's mean where it centres. */
    if (map->additive) trace = (n - 1) / n * (diagonal - row->mean_kernel);
    missed = (n - (double)s->m) / n * mean_residual(s, rank);
    row->trace_error = trace > 0 ? missed / trace : NAN;
    return NY_OK;
}

static const char *reading_of(const struct ny_grid_row *row, const struct ny_fit_settings *settings)
{
    const struct ny_kernel *kernel = settings->kernel;
    const double alike = 0.9, apart = 0.1, much = 0.5, little = 0.1;

    if (!isfinite(row->mean_kernel)) return "kernel values overflow";
    if (!isfinite(row->trace_error))
        return settings->map->divided
                   ? "no fit: landmarks do not reach all rows; more of them, or a wider kernel"
                   : "nothing is left of K";
    if (kernel->constant_diagonal && row->mean_kernel > alike)
        return "very wide: all rows look alike, nearly a linear method";
    if (row->trace_error <= little) return "good: the landmarks hold nearly all of K";
    if (row->trace_error <= much) return "usable: more landmarks or a wider kernel lower the error";
    return kernel->constant_diagonal && row->mean_kernel < apart
               ? "narrow: few rows see one another, and the landmarks miss most"
               : "the landmarks miss most of K: more of them, or a wider kernel";
}

static int measure(struct sample *s, double gamma, struct ny_grid_row *row)
{
    double diagonal;
    int err;

    *row = (struct ny_grid_row){.gamma = gamma,
                                .trace_error = NAN,
                                .top_share = NAN,
                                .effective_rank = NAN,
                                .mean_kernel = NAN};
    fill_kernel(s, gamma, &diagonal, &row->mean_kernel);
    if (isfinite(diagonal) && isfinite(row->mean_kernel) && weigh(s)) {
        err = measure_spectrum(s, row);
        if (err == NY_OK) err = measure_error(s, diagonal, row);
        if (err) return err;
    }
    row->reading = reading_of(row, s->settings);
    return NY_OK;
}

/* ---- the grid ----------------------------------------------------------------------------- */

static int default_widths(struct ny_gamma_grid *grid)
{
    enum { STEPS = 3 };

    for (int step = -STEPS; step <= STEPS; step++)
        grid->row[grid->count++].gamma = grid->centre * pow(10, 0.5 * step);
    return NY_OK;
}

/* Reads the width that so many bytes of a list are. */
static bool parse_width(const char *text, size_t length, double *gamma)
{
    char word[64];

    if (length >= sizeof(word)) return false;
    memcpy(word, text, length);
    word[length] = '\0';
    return ny_decimal_whole(word, gamma) && *gamma > 0;
}

static int parse_widths(struct ny_context *ctx, const char *text, struct ny_gamma_grid *grid)
{
    const char *at = text;

    do {
        size_t length;
        double gamma;

        at += strspn(at, " ");
        length = strcspn(at, ",");
        if (!parse_width(at, length, &gamma))
            return ny_fail(ctx, NY_EUSAGE,
                           "--gamma-grid is auto or a list of positive numbers such as "
                           "0.01,0.1,1, not '%s'",
                           text);
        if (grid->count == NY_GRID_WIDTHS_MAX)
            return ny_fail(ctx, NY_EUSAGE, "--gamma-grid takes %d widths at most",
                           NY_GRID_WIDTHS_MAX);
        grid->row[grid->count++].gamma = gamma;
        at += length;
    } while (*at++);
    return NY_OK;
}

static int choose_widths(struct ny_rows *X, const struct ny_fit_settings *settings,
                         const struct ny_columns_spec *spec, const char *widths,
                         struct ny_gamma_grid *grid)
{
    struct ny_rows_info points;
    int err = X->ops->info(X, &points);

    grid->centre = settings->params.gamma;
    if (err == NY_OK && settings->gamma_auto)
        err = ny_columns_auto_gamma(spec, X, points.n, settings->seed, &grid->centre);
    if (err) return err;
    return strcmp(widths, "auto") == 0 ? default_widths(grid) : parse_widths(X->ctx, widths, grid);
}

static int measure_all(struct sample *s, struct ny_gamma_grid *grid)
{
    int err = NY_OK;

    ny_blas_parallel(s->ctx, s->rows);
    for (size_t i = 0; i < grid->count && err == NY_OK; i++) {
        err = ny_check_interrupt(s->ctx);
        if (err == NY_OK) err = measure(s, grid->row[i].gamma, &grid->row[i]);
    }
    ny_blas_serial();
    return err;
}

int ny_gamma_grid_make(struct ny_rows *X, const struct ny_fit_settings *settings,
                       const char *widths, struct ny_gamma_grid *grid)
{
    struct ny_context *ctx = X->ctx;
    struct ny_layout l = {.ctx = ctx};
    struct sample s = {.ctx = ctx, .settings = settings};
    struct ny_geometry *geometry = NULL;
    struct ny_columns_spec spec;
    struct ny_rows_info points;
    struct ny_dominant told;
    size_t blas = 0;
    int err;

    *grid = (struct ny_gamma_grid){0};
    err = X->ops->info(X, &points);
    if (err) return err;
    err = ny_settings_geometry(&geometry, X, settings, (size_t)points.d, 1, NULL);
    if (err) goto done;
    err = ny_settings_warn_dominant(settings, X, geometry, &told);
    if (err) goto done;
    spec = ny_settings_spec(settings, ctx, &points, geometry);
    err = choose_widths(X, settings, &spec, widths, grid);
    if (err) goto done;
    s.n = (double)points.n;
    grid->wanted = settings->landmarks < points.n ? settings->landmarks : (size_t)points.n;
    blas = choose_crew(ctx, ny_smaller(grid->wanted, LANDMARKS_MAX));
    err = ny_reserve(ctx, NY_MEM_PROCESS, blas);
    if (err) blas = 0;
    if (!err) err = ny_blas_make_room(ctx, ny_context_crew(ctx));
    if (err) goto done;
    choose_sizes(&s, &spec, grid->wanted, points.n);
    grid->landmarks = s.m;
    grid->rows = s.rows;
    lay(&l, &s, &spec);
    grid->spectrum_rows = s.spectrum;
    err = l.err;
    if (err == NY_OK) err = take_sample(&s, X, &spec, points.n);
    if (err == NY_OK) err = measure_all(&s, grid);
done:
    ny_layout_free(&l);
    ny_context_set_crew(ctx, 0);
    ny_unreserve(ctx, NY_MEM_PROCESS, blas);
    ny_geometry_free(geometry, ctx);
    return err;
}
