/*
 * A linear map takes y = ((c - a)P + q) with the products c_j = l_j·x of a prepared row x and the
 * prepared landmarks l_j. So its axes are A = LᵀP. Where the products are with the columns
 * themselves (kernels of columns/coordinates.c), A = P.
 */
#include "results/axes.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/eigen.h"
#include "records/fields.h"

enum { ROWS = 64 }; /* landmarks that are multiplied at a time */

bool ny_record_has_axes(const json_t *record)
{
    const json_t *report = json_object_get(record, "report");

    return ny_field_is(report, "kernel", "linear") && ny_field_count(record, "model_bytes", 0) &&
           (ny_field_is(report, "map", "pca") || ny_field_is(report, "map", "kpca") ||
            ny_field_is(report, "map", "svd"));
}

/* Writes landmark j without its centre and factors, d numbers. */
static void read_landmark(const struct ny_model *model, size_t j, double *row)
{
    const struct ny_columns_spec *spec = &model->spec;

    if (spec->slots)
        ny_sparse_spread(ny_sparse_row(spec, ny_model_rows(model), j), spec->dtype, model->d,
                         NY_F64, row);
    else
        ny_dtype_widen(spec->dtype, (const char *)model->landmarks + j * ny_raw_bytes(spec), NY_F64,
                       row, model->d);
}

int ny_model_axes(const struct ny_model *model, double *A)
{
    const struct ny_geometry *geometry = model->spec.geometry;
    struct ny_matrix axes = ny_matrix(A, model->d, model->p);
    double *rows;

    if (!ny_landmarks_are_rows(&model->spec)) {
        for (size_t k = 0; k < model->d; k++) /* a column that does not count has rounding in P */
            for (size_t i = 0; i < model->p; i++)
                A[k * model->p + i] = geometry->factor[k] != 0 ? model->P[k * model->p + i] : 0;
        return NY_OK;
    }
    if (ny_blas_make_room(model->ctx, 1)) return NY_EBUDGET;
    rows = ny_calloc(model->ctx, NY_MEM_IO, ROWS, model->d * sizeof(*rows));
    if (!rows) return NY_EBUDGET;
    for (size_t first = 0, count; first < model->m; first += count) {
        count = model->m - first < ROWS ? model->m - first : ROWS;
        for (size_t i = 0; i < count; i++) {
            double *row = rows + i * model->d;

            read_landmark(model, first + i, row);
            for (size_t k = 0; k < model->d; k++) /* a genotype that is missing is at the centre */
                row[k] = isnan(row[k]) ? 0 : (row[k] - geometry->centre[k]) * geometry->factor[k];
        }
        ny_gemm(1, ny_t(ny_matrix(rows, count, model->d)),
                ny_matrix(model->P + first * model->p, count, model->p), first > 0, axes);
    }
    ny_free(model->ctx, rows);
    return NY_OK;
}

int ny_axes_sharpen(const json_t *report, double *A, const struct ny_model *model)
{
    const json_t *values = json_object_get(report, "eigenvalues");
    double first = json_number_value(json_array_get(values, 0)), last = first, value;
    struct ny_matrix axes = ny_matrix(A, model->d, model->p);
    size_t known = 0;

    if (!ny_field_is(report, "way", "kernel")) return NY_OK;
    while ((value = json_number_value(json_array_get(values, known))) > 0 && known < axes.cols) {
        last = value;
        known++;
    }
    if (!(last < 0x1p-20 * first)) return NY_OK;
    return ny_orthonormalise_lanes(model->ctx, ny_cols(axes, 0, known));
}
