/* The engine alone (libnystream-core.a): kernel PCA of an array whose rows come by callbacks, and
 * whose result stays in memory, is that of dense algebra. The same rows as new ones, of other
 * callbacks, are placed where they are. */
#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/random.h"
#include "columns/kernels.h"
#include "factored/factored.h"
#include "fit/courses.h"
#include "fit/plan.h"
#include "fit/wishes.h"
#include "job/keep_memory.h"
#include "model/embedding.h"
#include "model/model.h"
#include "place/landmarks.h"
#include "spectral/methods.h"
#include "stream/source.h"

enum { N = 3000, D = 6, M = 80, P = 3, BLOCK = 1024 };
static const double width = 0.4; /* γ of rbf */

static double array[N][D], moments[4 * D], norms;

#define NEED(what)                                                                                 \
    do {                                                                                           \
        if (!(what)) printf("not ok 1 %s: %s\n", #what, ny_context_message(X->ctx)), exit(1);      \
    } while (0)

/* ---- the array as rows ----------------------------------------------------------------------- */

static int info(struct ny_rows *X, struct ny_rows_info *out)
{
    (void)X;
    *out = (struct ny_rows_info){.n = N, .d = D, .here = {0, N}, .aligned = true, .nnz = N * D};
    out->dtype = out->stored_dtype = NY_F64;
    out->block_rows = BLOCK;
    out->kept_bytes = sizeof(array);
    return NY_OK;
}

static int stats(struct ny_rows *X, struct ny_rows_stats *out)
{
    const struct ny_moments all = {.n = N, .d = D, .cells = moments};

    return ny_rows_stats_of(out, X->ctx, &all, norms);
}

static int column_words(struct ny_rows *X, uint64_t column, char words[NY_COLUMN_WORDS_BYTES])
{
    (void)X;
    ny_rows_name_column(column, NULL, words);
    return NY_OK;
}

static int source(struct ny_rows *X, uint64_t n, size_t slots, unsigned workers,
                  struct ny_source **out)
{
    (void)slots, (void)workers;
    return ny_source_of_memory(out, X->ctx, array, NY_F64, n, D);
}

static int gather(struct ny_rows *X, size_t slots, const uint64_t *rows, size_t count, void *out)
{
    (void)X, (void)slots;
    for (size_t i = 0; i < count; i++)
        memcpy((double *)out + i * D, array[rows[i]], sizeof(array[0]));
    return NY_OK;
}

static uint64_t number(const struct ny_rows *X, uint64_t row)
{
    (void)X;
    return row;
}

/* ---- what its fit says ----------------------------------------------------------------------- */

/* A record: the state, and the lists. Texts of the state are those of tables. */
struct said {
    struct ny_state state;
    double list[NY_LISTS][M];
    size_t count[NY_LISTS];
};

static struct ny_state state_of(struct ny_record record)
{
    return ((const struct said *)record.of)->state;
}

static void put_state(struct ny_record record, struct ny_state *state)
{
    ((struct said *)record.of)->state = *state;
}

static void begin_list(struct ny_record record, enum ny_list list)
{
    ((struct said *)record.of)->count[list] = 0;
}

static void append(struct ny_record record, enum ny_list list, double number)
{
    struct said *said = record.of;

    said->list[list][said->count[list]++] = number;
}

static size_t count(struct ny_record record, enum ny_list list)
{
    return ((const struct said *)record.of)->count[list];
}

static double at(struct ny_record record, enum ny_list list, size_t k)
{
    return ((const struct said *)record.of)->list[list][k];
}

static uint64_t generation(struct ny_record record, const char *part)
{
    (void)record, (void)part;
    return 0;
}

static int save(const struct ny_keep *keep, struct ny_batch *batch, struct ny_record record)
{
    (void)keep, (void)batch, (void)record;
    return NY_OK;
}

static bool is_same(struct ny_record one, struct ny_record other)
{
    return one.of == other.of;
}

static struct said said;

static int load(const struct ny_keep *keep, struct ny_record *out)
{
    *out = (struct ny_record){keep->records, &said};
    return NY_OK;
}

static void free_record(struct ny_record record)
{
    (void)record;
}

static const struct ny_record_ops record_ops = {.state = state_of,
                                                .put = put_state,
                                                .begin_list = begin_list,
                                                .append = append,
                                                .count = count,
                                                .at = at,
                                                .generation = generation,
                                                .same = is_same,
                                                .load = load,
                                                .save = save,
                                                .free = free_record};

/* ---- its fit --------------------------------------------------------------------------------- */

struct fit {
    const char *kernel;
    const struct ny_method *method;
    const struct ny_course *course;
    enum ny_precision precision;
    double tolerance; /* of coordinates */
};

static void run(struct ny_rows *X, struct ny_keep *keep, const struct fit *how)
{
    const struct ny_wishes wishes = {.plain = {.map = &ny_map_kpca,
                                               .method = how->method,
                                               .rule = ny_rule_find("uniform"),
                                               .kernel = ny_kernel_find(how->kernel),
                                               .params = {.gamma = width, .second = 1},
                                               .precision = how->precision,
                                               .dictionary = {.tolerance = NAN},
                                               .landmarks = M,
                                               .tol = 1e-14,
                                               .max_passes = 60,
                                               .components = P,
                                               .threads = ny_context_threads(X->ctx)},
                                     .implicit = how->method == &ny_method_projected,
                                     .products = how->course == &ny_course_factored};
    struct ny_fit_settings settings;
    struct ny_rows_info points;
    struct ny_plan plan;
    struct ny_fit fit = {.job = {.ctx = X->ctx, .X = X, .keep = *keep, .after = NY_STAGE_DONE}};

    NEED(!info(X, &points));
    NEED(!ny_settings_decide(&settings, X->ctx, X, &points, &wishes));
    NEED(!ny_plan_make(X, &settings, how->course, 0, &plan));
    said = (struct said){.state = ny_state_none()};
    said.state.record.kind = "fit";
    said.state.record.stage = ny_stage_name(NY_STAGE_STATS);
    said.state.report.n = N;
    said.state.facts.components = P;
    NEED(!load(keep, &fit.job.record));
    fit.job.workers = plan.workers;
    fit.job.marked_s = ny_now();
    fit.job.course = fit.planned = how->course;
    fit.settings = &settings;
    fit.plan = &plan;
    fit.params = settings.params;
    NEED(!ny_fit_run(&fit));
}

/* ---- the array as new rows ------------------------------------------------------------------- */

struct placed {
    struct ny_new_rows base;
    double (*Y)[P];
    bool whole, closed;
};

static int open_new(struct ny_new_rows *rows, const struct ny_placer *placer,
                    struct ny_raw_shape *shape)
{
    (void)rows, (void)placer;
    *shape = (struct ny_raw_shape){.dtype = NY_F64, .n = N, .d = D, .slots = D};
    return NY_OK;
}

static int begin_new(struct ny_new_rows *rows, struct ny_placer *placer, unsigned units,
                     struct ny_source **out)
{
    (void)rows, (void)units;
    return ny_source_of_memory(out, placer->spec.ctx, array, NY_F64, N, D);
}

static int put_new(struct ny_new_rows *rows, const struct ny_placer *placer, const void *places,
                   uint64_t first, size_t count)
{
    struct placed *placed = (struct placed *)rows;

    ny_dtype_to_f64(ny_placer_puts_f64(placer) ? NY_F64 : NY_F32, places, placed->Y[first],
                    count * P);
    return NY_OK;
}

static int end_new(struct ny_new_rows *rows, const struct ny_placer *placer)
{
    ((struct placed *)rows)->whole = placer->placed == N;
    return NY_OK;
}

static void close_new(struct ny_new_rows *rows)
{
    ((struct placed *)rows)->closed = true;
}

/* Places the rows by the model that is kept, where Y has them. */
static void check_placed(struct ny_rows *X, const struct ny_keep *keep, double Y[N][P],
                         double tolerance)
{
    static const struct ny_new_rows_ops ops = {open_new, begin_new, put_new, end_new, close_new};
    static double found[N][P];
    struct placed placed = {.base.ops = &ops, .Y = found};
    struct ny_model *model;
    double most = 0;
    struct ny_record record;

    NEED(!load(keep, &record));
    NEED(!ny_model_of_record(&model, keep, record));
    NEED(!ny_transform_rows(model, &placed.base, NULL));
    NEED(placed.whole && placed.closed);
    for (size_t i = 0; i < (size_t)N * P; i++)
        most = fmax(most, fabs(found[i / P][i % P] - Y[i / P][i % P]));
    NEED(most < tolerance);
    ny_model_free(model);
}

/* ---- dense algebra ----------------------------------------------------------------------------
 */

static double rbf(const double *x, const double *y)
{
    double square = 0;

    for (size_t k = 0; k < D; k++)
        square += (x[k] - y[k]) * (x[k] - y[k]);
    return exp(-width * square);
}

/* Z = C L⁻ᵀ, W = L Lᵀ: Z Zᵀ is the Nyström kernel matrix of these landmarks. */
static void nystrom_features(const uint64_t landmarks[M], double *Z)
{
    static double W[M][M];

    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < M; j++)
            Z[i * M + j] = rbf(array[i], array[landmarks[j]]);
    for (size_t j = 0; j < M; j++)
        memcpy(W[j], Z + landmarks[j] * M, sizeof(W[j]));
    LAPACKE_dpotrf(LAPACK_ROW_MAJOR, 'L', M, W[0], M);
    cblas_dtrsm(CblasRowMajor, CblasRight, CblasLower, CblasTrans, CblasNonUnit, N, M, 1, W[0], M,
                Z, M);
}

/* Returns the largest distance of a coordinate of Y from the principal component of the columns of
 * Z, N × k, whose sign is free. */
static double distance(double *Z, int k, double Y[N][P])
{
    static double G[M * M], values[M], V[N];
    double most = 0;

    for (int j = 0; j < k; j++) {
        double mean = 0;

        for (size_t i = 0; i < N; i++)
            mean += Z[i * (size_t)k + (size_t)j] / N;
        for (size_t i = 0; i < N; i++)
            Z[i * (size_t)k + (size_t)j] -= mean;
    }
    cblas_dsyrk(CblasRowMajor, CblasLower, CblasTrans, k, N, 1, Z, k, 0, G, k);
    LAPACKE_dsyev(LAPACK_ROW_MAJOR, 'V', 'L', k, G, k, values);
    for (int p = 0; p < P; p++) {
        cblas_dgemv(CblasRowMajor, CblasNoTrans, N, k, 1, Z, k, G + k - 1 - p, k, 0, V, 1);
        if (cblas_ddot(N, V, 1, &Y[0][p], P) < 0) cblas_dscal(N, -1, V, 1);
        for (size_t i = 0; i < N; i++)
            most = fmax(most, fabs(Y[i][p] - V[i]));
    }
    return most;
}

static void check(struct ny_rows *X, const struct fit *how)
{
    static double Y[N][P], Z[N * M];
    static char read[sizeof(Y)];
    size_t element = ny_precision_bytes(how->precision);
    struct ny_embedding_layout layout = ny_embedding_layout(N, P, element);
    bool landmarks = how->course == &ny_course_landmarks;
    uint64_t rows[M];
    struct ny_memory_results *results;
    struct ny_keep keep;

    NEED(!ny_memory_results_new(&results, X->ctx, "memory", NULL));
    keep = ny_memory_keep(results, "array");
    keep.records = &record_ops;
    run(X, &keep, how);
    NEED(!ny_embedding_rows(&keep, &layout, 0, N, read));
    ny_dtype_to_f64(element == sizeof(float) ? NY_F32 : NY_F64, read, Y[0], (size_t)N * P);
    if (landmarks) {
        NEED(!keep.ops->get(&keep, "landmarks", rows, sizeof(rows)));
        nystrom_features(rows, Z);
    } else {
        memcpy(Z, array, sizeof(array));
    }
    NEED(distance(Z, landmarks ? M : D, Y) < how->tolerance);
    check_placed(X, &keep, Y, how->tolerance);
    ny_memory_results_free(results);
}

int main(void)
{
    static const struct ny_rows_ops ops = {.info = info,
                                           .stats = stats,
                                           .column_words = column_words,
                                           .source = source,
                                           .gather = gather,
                                           .number = number};
    static const struct fit fits[] = {
        {"rbf", &ny_method_projected, &ny_course_landmarks, NY_PRECISION_F32, 1e-4},
        {"rbf", &ny_method_projected, &ny_course_landmarks, NY_PRECISION_F64, 1e-9},
        {"linear", &ny_method_exact, &ny_course_factored, NY_PRECISION_F64, 1e-9}};
    struct ny_moments all = {.d = D, .cells = moments};
    struct ny_rows *X = &(struct ny_rows){.ops = &ops, .name = "the array"};

    if (ny_context_new(&X->ctx)) return 1;
    for (uint64_t i = 0; i < (uint64_t)N * D; i++)
        array[i / D][i % D] = ny_hash01(1, NY_STREAM_DATA, i) * (double)(3 + i % D);
    NEED(ny_moments_add(&all, NY_F64, array, N, 0, D));
    ny_norms_add(&norms, NY_F64, array, N, D);
    for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++)
        check(X, &fits[i]);
    NEED(ny_memory_used(X->ctx) == 0);
    ny_context_free(X->ctx);
    printf("1..1\nok 1 an array is fitted, and placed, by the engine alone\n");
    return 0;
}
