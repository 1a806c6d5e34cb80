/* Rows that fits by products with rows are tried on: how they come into a store, and what maps make
 * of them, by plain loops. */
#ifndef TESTS_PROPERTY_FACTORED_CASE_H
#define TESTS_PROPERTY_FACTORED_CASE_H

#include "support/api_case.h"
#include "support/options.h"

static void start(void)
{
    api_case_begin("s");
}

struct stored_points {
    size_t n, d;
    bool sparse, f64;
    double *X; /* n × d, as they are stored */
};

static inline void append_points(const struct stored_points *p)
{
    size_t values = p->n * p->d;
    float *narrow = lend_zeros(values * sizeof(float));
    double *wide = lend_zeros(values * sizeof(double));
    uint32_t *row_start = lend_zeros((p->n + 1) * sizeof(uint32_t)),
             *column = lend_zeros(values * 4), at = 0;
    struct ny_table table = {.struct_bytes = sizeof(table), .rows = p->n, .columns = p->d};
    OWNED(ny_options) *options = options_with(in.ctx, "%s", p->sparse ? "layout=sparse" : "");

    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < p->d; j++) {
            double x = p->X[i * p->d + j];

            if (p->sparse && x == 0) continue;
            column[at] = (uint32_t)j;
            narrow[at] = (float)x;
            wide[at++] = x;
        }
        row_start[i + 1] = at;
    }
    table.dtype = p->f64 ? NY_F64 : NY_F32;
    table.values = p->f64 ? (const void *)wide : (const void *)narrow;
    if (p->sparse) {
        table.index_bytes = sizeof(uint32_t);
        table.row_start = row_start;
        table.column = column;
        table.entries = at;
    }
    assert_int_equal(ny_append(in.ctx, in.store, &table, options, NULL), NY_OK);
}

/* Makes of rows (n × d) those Z with ZZᵀ = the matrix that the map decomposes. */
static inline void map_rows(double *Z, size_t n, size_t d, const char *map, bool cosine)
{
    double *sum = lend_zeros(d * sizeof(double));

    for (size_t i = 0; i < n; i++) {
        double square = 0;

        for (size_t j = 0; j < d; j++)
            square += Z[i * d + j] * Z[i * d + j];
        for (size_t j = 0; j < d; j++) {
            if (cosine) Z[i * d + j] /= square > 0 ? sqrt(square) : 1;
            sum[j] += Z[i * d + j];
        }
    }
    for (size_t i = 0; i < n; i++) {
        double degree = 0;

        for (size_t j = 0; j < d; j++)
            degree += Z[i * d + j] * sum[j];
        for (size_t j = 0; j < d; j++) {
            if (strstr(map, "pca")) Z[i * d + j] -= sum[j] / (double)n;
            if (strstr(map, "lap") || strstr(map, "diff"))
                Z[i * d + j] /= degree > 0 ? sqrt(degree) : 1;
        }
    }
}

#endif
