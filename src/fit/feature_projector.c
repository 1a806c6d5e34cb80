/* Multiplies the rows of a tile with the map of a model, and finds their degrees. */
#include "fit/feature_projector.h"

#include <math.h>
#include <string.h>

#include "linalg/numbers.h"

/* ---- rows that are incomplete -----------------------------------------------------------------
 */

/* Lays out the room of so many workers, for p pairs. */
static void lay_incomplete(struct ny_layout *l, struct ny_incomplete *incomplete, size_t p,
                           unsigned workers)
{
    *incomplete = (struct ny_incomplete){.p = p};
    incomplete->roots = ny_lay(l, NY_MEM_MODEL, p, sizeof(double));
    incomplete->matrices = ny_lay(l, NY_MEM_TILES, workers * p, (p + 1) * sizeof(double));
}

/* Takes the map of a model, which must outlive it. */
static void use_incomplete(struct ny_incomplete *incomplete, const struct ny_model *model)
{
    incomplete->d = model->d;
    incomplete->P = model->P;
    for (size_t k = 0; k < incomplete->p; k++) {
        double square = 0;

        for (size_t j = 0; j < model->d; j++)
            square += model->P[j * model->p + k] * model->P[j * model->p + k];
        incomplete->roots[k] = square > 0 ? 1 / sqrt(square) : 0;
    }
}

/* A = I − V_MᵀV_M, its lower triangle; returns how many columns are missing. */
static size_t make_matrix(const struct ny_incomplete *in, const uint8_t *genotypes, double *A)
{
    const uint8_t *end = genotypes + in->d, *at = genotypes;
    size_t p = in->p, missing = 0;

    memset(A, 0, p * p * sizeof(*A));
    for (; (at = memchr(at, NY_GENOTYPE_MISSING, (size_t)(end - at))); at++, missing++) {
        const double *row = in->P + (size_t)(at - genotypes) * p;

        for (size_t i = 0; i < p; i++)
            for (size_t k = 0; k <= i; k++)
                A[i * p + k] -= row[i] * row[k];
    }
    for (size_t i = 0; i < p; i++) {
        for (size_t k = 0; k < i; k++)
            A[i * p + k] *= in->roots[i] * in->roots[k];
        A[i * p + i] = 1 + A[i * p + i] * in->roots[i] * in->roots[i];
    }
    return missing;
}

/* Solves for t, which has Vᵀz; false: it stays, since A is not positive beside rounding. */
static bool solve(double *A, size_t p, double *t)
{
    const double least = 0x1p-20;
    struct ny_matrix L = ny_matrix(A, p, p), x = ny_matrix(t, p, 1);

    if (ny_cholesky(L)) return false;
    for (size_t i = 0; i < p; i++)
        if (A[i * p + i] * A[i * p + i] < least) return false;
    ny_solve_lower(L, x);
    ny_solve_lower_t(L, x);
    return true;
}

/* Corrects the p numbers zᵀP of a row of genotypes, on a worker. A row whose columns cannot tell
 * all coordinates, since fewer than p are there, stays as it is. */
static void correct_row(const struct ny_incomplete *in, unsigned worker, const uint8_t *genotypes,
                        bool f64, void *y)
{
    size_t p = in->p;
    double *A = in->matrices + worker * p * (p + 1), *t = A + p * p;

    if (!make_matrix(in, genotypes, A)) return;
    for (size_t k = 0; k < p; k++)
        t[k] = ny_number(y, f64, k) * in->roots[k];
    if (!solve(A, p, t)) return;
    for (size_t k = 0; k < p; k++)
        ny_number_set(y, f64, k, in->roots[k] > 0 ? t[k] / in->roots[k] : 0);
}

/* ---- products with the map --------------------------------------------------------------------
 */

/* Tells whether rows may be incomplete, and the map is that of orthonormal vectors. */
static bool has_incomplete(const struct ny_columns_spec *spec)
{
    return spec->dtype == NY_GENOTYPE && !spec->kernel->unit_rows;
}

void ny_feature_projector_lay(struct ny_layout *l, struct ny_feature_projector *fp,
                              const struct ny_columns_spec *spec, size_t p,
                              enum ny_precision precision, unsigned workers)
{
    size_t element = ny_precision_bytes(precision), rows = ny_features_rows_most(spec);

    *fp = (struct ny_feature_projector){.spec = *spec, .width = ny_features_width(p)};
    fp->P = ny_lay(l, NY_MEM_MODEL, spec->geometry->d, fp->width * element);
    fp->features = ny_lay(l, NY_MEM_TILES, workers, sizeof(*fp->features));
    fp->Y = ny_lay(l, NY_MEM_TILES, workers * rows, fp->width * element);
    if (has_incomplete(spec)) lay_incomplete(l, &fp->incomplete, p, workers);
    fp->products = ny_lay(l, NY_MEM_TILES, workers, rows * sizeof(double));
    for (unsigned w = 0; w < workers; w++) {
        struct ny_features *features = ny_features_lay(l, &fp->spec, precision);

        if (fp->features) fp->features[w] = features;
    }
}

void ny_feature_projector_use(struct ny_feature_projector *fp, const struct ny_model *model)
{
    fp->model = model;
    ny_numbers_set_rows(fp->P, model->precision == NY_PRECISION_F64, fp->width,
                        ny_matrix(model->P, model->m, model->p));
    if (fp->incomplete.roots) use_incomplete(&fp->incomplete, model);
    ny_blas_serial();
}

/* Turns d_i into 1/√d_i. */
static void find_roots(const struct ny_degrees *degrees, size_t rows, const double *products,
                       double *roots)
{
    for (size_t i = 0; i < rows; i++)
        roots[i] = ny_degree_reaches(products[i], degrees->mean) ? 1 / sqrt(products[i]) : 0;
}

/* Makes up for what is missing of the rows of a piece, which were placed. */
static void complete(const struct ny_feature_projector *fp, unsigned worker, void *Y, size_t rows)
{
    bool f64 = fp->model->precision == NY_PRECISION_F64;

    for (size_t i = 0; i < rows; i++) {
        const uint8_t *genotypes = ny_features_raw(fp->features[worker], i);

        correct_row(&fp->incomplete, worker, genotypes, f64,
                    (char *)Y + i * fp->width * ny_number_bytes(f64));
    }
}

int ny_feature_projector_tile(struct ny_feature_projector *fp, const struct ny_tile *tile,
                              const struct ny_feature_rows *out)
{
    const struct ny_model *model = fp->model;
    struct ny_features *features = fp->features[tile->worker];
    size_t element = ny_precision_bytes(model->precision), most = ny_features_rows_most(&fp->spec);
    char *Y = (char *)fp->Y + (size_t)tile->worker * most * fp->width * element;
    double *products = fp->products + (size_t)tile->worker * most;

    for (size_t first = 0, rows; first < tile->rows; first += rows) {
        int err = ny_features_read(features, tile, first);

        if (err) return err;
        rows = ny_features_rows(features);
        memcpy(out->diagonal + first, ny_features_diagonal(features), rows * sizeof(double));
        ny_features_times(features, fp->P, fp->width, Y); /* ΦP */
        if (fp->completes && fp->incomplete.P && !model->degrees.v)
            complete(fp, tile->worker, Y, rows);
        for (size_t i = 0; i < rows; i++)
            memcpy((char *)out->at + (first + i) * out->stride * element,
                   Y + i * fp->width * element, model->p * element);
        if (out->u) ny_features_dot(features, out->u, out->averages + first);
        if (!out->roots) continue;
        ny_features_dot(features, model->degrees.v, products); /* d = Φg */
        find_roots(&model->degrees, rows, products, out->roots + first);
    }
    return NY_OK;
}
