/* Multiplies the rows of a tile with the map of a model, and finds their degrees. */
#include "fit/feature_projector.h"

#include <math.h>
#include <string.h>

#include "linalg/numbers.h"

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
    if (has_incomplete(spec)) ny_incomplete_lay(l, &fp->incomplete, p, workers);
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
    if (fp->incomplete.roots) ny_incomplete_use(&fp->incomplete, model);
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

        if (f64)
            ny_incomplete_row64(&fp->incomplete, worker, genotypes, (double *)Y + i * fp->width);
        else
            ny_incomplete_row32(&fp->incomplete, worker, genotypes, (float *)Y + i * fp->width);
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
