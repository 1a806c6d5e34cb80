/* Multiplies the rows of a tile with the map of a model, and finds their degrees. */
#include "fit/feature_projector.h"

#include <math.h>
#include <string.h>

size_t ny_feature_projector_bytes(const struct ny_columns_spec *spec, size_t p,
                                  enum ny_precision precision, unsigned workers)
{
    size_t row = ny_features_width(p) * ny_precision_bytes(precision);

    return spec->geometry->d * row +
           workers * (ny_features_bytes(spec, precision) + sizeof(struct ny_features *) +
                      ny_features_rows_most(spec) * (row + sizeof(double)));
}

/* P with columns of 0 up to the width. */
static void widen_map(const struct ny_feature_projector *fp)
{
    const struct ny_model *model = fp->model;
    double *wide = fp->P;
    float *narrow = fp->P;

    for (size_t j = 0; j < model->m; j++)
        for (size_t k = 0; k < fp->width; k++) {
            double value = k < model->p ? model->P[j * model->p + k] : 0;

            if (model->precision == NY_PRECISION_F64)
                wide[j * fp->width + k] = value;
            else
                narrow[j * fp->width + k] = (float)value;
        }
}

int ny_feature_projector_new(struct ny_feature_projector *fp, const struct ny_model *model,
                             enum ny_dtype dtype, size_t slots, unsigned workers)
{
    struct ny_context *ctx = model->ctx;
    size_t element = ny_precision_bytes(model->precision), rows;
    int err = NY_OK;

    *fp = (struct ny_feature_projector){.model = model,
                                        .spec = model->spec,
                                        .workers = workers,
                                        .width = ny_features_width(model->p)};
    if (dtype != NY_DTYPE_NONE) fp->spec.dtype = ny_dtype_common(fp->spec.dtype, dtype);
    if (slots > fp->spec.slots) fp->spec.slots = slots;
    rows = ny_features_rows_most(&fp->spec);
    fp->P = ny_calloc(ctx, NY_MEM_MODEL, model->m, fp->width * element);
    fp->features = ny_calloc(ctx, NY_MEM_TILES, workers, sizeof(*fp->features));
    fp->Y = ny_calloc(ctx, NY_MEM_TILES, workers * rows, fp->width * element);
    fp->products = ny_calloc(ctx, NY_MEM_TILES, workers, rows * sizeof(double));
    if (!fp->P || !fp->features || !fp->Y || !fp->products) return NY_EBUDGET;
    for (unsigned w = 0; w < workers && !err; w++)
        err = ny_features_new(&fp->features[w], &fp->spec, model->precision);
    widen_map(fp);
    ny_blas_serial();
    return err;
}

void ny_feature_projector_release(struct ny_feature_projector *fp)
{
    struct ny_context *ctx;

    if (!fp->model) return;
    ctx = fp->model->ctx;
    for (unsigned w = 0; fp->features && w < fp->workers; w++)
        ny_features_free(fp->features[w]);
    ny_free(ctx, fp->features);
    ny_free(ctx, fp->P);
    ny_free(ctx, fp->Y);
    ny_free(ctx, fp->products);
    *fp = (struct ny_feature_projector){0};
}

/* Turns d_i into 1/√d_i. */
static void find_roots(const struct ny_degrees *degrees, size_t rows, const double *products,
                       double *roots)
{
    for (size_t i = 0; i < rows; i++)
        roots[i] = ny_degree_reaches(products[i], degrees->mean) ? 1 / sqrt(products[i]) : 0;
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
