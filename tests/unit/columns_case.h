/* Shared by the tests of columns: data of every type, and kernels by plain loops in double. */
#ifndef TESTS_UNIT_COLUMNS_CASE_H
#define TESTS_UNIT_COLUMNS_CASE_H

#include "base/random.h"
#include "columns/columns.h"
#include "columns/vector.h"
#include "support/context.h"
#include "support/store_case.h"

static inline void *room(size_t count, size_t size)
{
    void *p = lend_zeros((count ? count : 1) * size);

    return p;
}

/* rows × d values that the type holds exactly, raw and in double. */
struct data {
    enum ny_dtype dtype;
    size_t rows, d;
    unsigned char *raw;
    double *values;
};

static inline void data_set(struct data *data, size_t index, double value)
{
    case_put(data->raw, data->dtype, index, value);
    data->values[index] = data->dtype == NY_F32   ? (double)(float)value
                          : data->dtype == NY_F64 ? value
                                                  : trunc(value);
}

static inline struct data data_empty(enum ny_dtype dtype, size_t rows, size_t d)
{
    return (struct data){dtype, rows, d, room(rows * d, ny_dtype_size(dtype)),
                         room(rows * d, sizeof(double))};
}

/* Bytes uniform, i16 uniform in ±3000, floats normal about 5. */
static inline struct data data_random(enum ny_dtype dtype, size_t rows, size_t d, uint64_t seed)
{
    struct data data = data_empty(dtype, rows, d);

    for (size_t i = 0; i < rows * d; i++) {
        double u = ny_hash01(seed, NY_STREAM_DATA, i), normal = 0;

        if (dtype == NY_F32 || dtype == NY_F64)
            ny_gaussian(seed, NY_STREAM_DATA, i, &normal, 1);
        data_set(&data, i,
                 dtype == NY_U8    ? u * 256
                 : dtype == NY_I16 ? u * 6000 - 3000
                                   : 5 + normal);
    }
    return data;
}

static inline const void *data_row(const struct data *data, size_t i)
{
    return data->raw + i * data->d * ny_dtype_size(data->dtype);
}

/* A source of tiles over data; a tile is any run of rows. */
struct data_source {
    struct ny_source source;
    const struct data *data;
};

static inline int data_strip(struct ny_source *source, const struct ny_tile *tile, size_t first,
                             size_t count, void *rows)
{
    const struct data *data = ((struct data_source *)source)->data;

    assert_true(first + count <= tile->rows && tile->first_row + tile->rows <= data->rows);
    memcpy(rows, data_row(data, tile->first_row + first),
           count * data->d * ny_dtype_size(data->dtype));
    return NY_OK;
}

static inline struct data_source data_source(const struct data *data)
{
    static const struct ny_source_ops ops = {.strip = data_strip};

    return (struct data_source){
        {.ops = &ops, .ctx = ctx, .dtype = data->dtype, .d = data->d, .n = data->rows}, data};
}

/* One way to call columns on data. */
struct geometry {
    struct ny_geometry view;
    double *centre, *factor;
};

/* Centre: the mean of the first 50 rows; factor: from ½ to 2 times `scale`, by column. */
static inline struct geometry geometry_of(const struct data *data, bool centred, double scale)
{
    struct geometry g = {.centre = room(data->d, sizeof(double)),
                         .factor = room(data->d, sizeof(double))};
    size_t rows = data->rows < 50 ? data->rows : 50;

    for (size_t k = 0; k < data->d; k++) {
        for (size_t i = 0; centred && i < rows; i++)
            g.centre[k] += data->values[i * data->d + k] / (double)rows;
        g.factor[k] = scale == 1 ? 1 : scale * (0.5 + 1.5 * ny_hash01(9, NY_STREAM_DATA, k));
    }
    g.view = (struct ny_geometry){data->d, g.centre, g.factor};
    return g;
}

static inline void plain_row(const struct data *data, const struct geometry *g, size_t i,
                             double *out)
{
    for (size_t k = 0; k < data->d; k++)
        out[k] = (data->values[i * data->d + k] - g->centre[k]) * g->factor[k];
}

/* Everything about a pair of prepared rows. */
struct pair {
    double dot, square, absolute, x_norm, y_norm;
};

static inline struct pair plain_pair(const double *x, const double *y, size_t d)
{
    struct pair p = {0};

    for (size_t k = 0; k < d; k++) {
        p.dot += x[k] * y[k];
        p.square += (x[k] - y[k]) * (x[k] - y[k]);
        p.absolute += fabs(x[k] - y[k]);
        p.x_norm += x[k] * x[k];
        p.y_norm += y[k] * y[k];
    }
    return p;
}

/* That of rows i and j. */
static inline struct pair pair_of(const struct data *data, const struct geometry *g, size_t i,
                                  size_t j)
{
    static double x[40000], y[40000];

    assert_true(data->d <= sizeof(x) / sizeof(x[0]));
    plain_row(data, g, i, x);
    plain_row(data, g, j, y);
    return plain_pair(x, y, data->d);
}

/* The kernels that there is a formula for here. */
static const char *const plain_kernels[] = {"linear", "rbf",    "laplacian",         "polynomial",
                                            "cosine", "matern", "rational-quadratic"};
enum { PLAIN_KERNELS = sizeof(plain_kernels) / sizeof(plain_kernels[0]) };

static inline double plain_kernel(const char *name, const struct ny_kernel_params *params,
                                  struct pair p)
{
    if (strcmp(name, "linear") == 0) return p.dot;
    if (strcmp(name, "rbf") == 0) return exp(-params->gamma * p.square);
    if (strcmp(name, "laplacian") == 0) return exp(-params->gamma * p.absolute);
    if (strcmp(name, "polynomial") == 0)
        return pow(params->gamma * p.dot + params->first, params->second);
    if (strcmp(name, "matern") == 0) { /* of ν = ½: first is 0.5 */
        assert_true(params->first < 1);
        return exp(-sqrt(2 * params->gamma * p.square));
    }
    if (strcmp(name, "rational-quadratic") == 0)
        return pow(1 + params->gamma * p.square / params->first, -params->first);
    assert_string_equal(name, "cosine");
    return p.x_norm == 0 || p.y_norm == 0 ? 0 : p.dot / sqrt(p.x_norm * p.y_norm);
}

/* 1/mean base quantity of some pairs of prepared rows. */
static inline double plain_gamma(const char *name, const struct data *data,
                                 const struct geometry *g)
{
    enum ny_base_quantity base = ny_kernel_find(name)->base;
    const size_t pairs = 20;
    double sum = 0;

    for (size_t i = 0; i < pairs; i++) {
        struct pair p = pair_of(data, g, i % data->rows, (i + 7) % data->rows);

        sum += base == NY_BASE_SQUARE     ? p.square
               : base == NY_BASE_ABSOLUTE ? p.absolute
                                          : fabs(p.dot);
    }
    return (double)pairs / sum;
}

static inline struct ny_columns_spec spec_of(const char *kernel, double gamma,
                                             const struct data *data, const struct geometry *g)
{
    return (struct ny_columns_spec){.ctx = ctx,
                                    .kernel = ny_kernel_find(kernel),
                                    .params = {.gamma = gamma, .first = 0.5, .second = 3},
                                    .geometry = &g->view,
                                    .dtype = data->dtype};
}

/* Columns with the first m rows of data as landmarks. */
static inline struct ny_columns *columns_of(const struct ny_columns_spec *spec,
                                            const struct data *data, size_t m)
{
    struct ny_columns *columns;

    assert_int_equal(ny_columns_new(&columns, spec), NY_OK);
    assert_int_equal(ny_columns_append(columns, ny_raw_rows(data_row(data, 0)), m), NY_OK);
    assert_int_equal(ny_columns_size(columns), m);
    return columns;
}

static inline struct ny_columns_workspace *workspace_of(struct ny_layout *l,
                                                        const struct ny_columns *columns)
{
    struct ny_columns_workspace *workspace =
        ny_columns_workspace_lay(l, ny_columns_of(columns), NY_STRIP_ROWS);

    assert_non_null(workspace);
    return workspace;
}

/* C of rows first … first+rows−1, in a matrix of stride m + 3 that held NaN; its diagonal. */
struct tile_result {
    size_t stride;
    float *C;
    double *diagonal;
};

static inline struct tile_result tile_of(const struct ny_columns *columns, const struct data *data,
                                         size_t first, size_t rows)
{
    size_t m = ny_columns_size(columns);
    struct tile_result r = {m + 3, room(NY_UNIT_ROWS * (m + 3), sizeof(float)),
                            room(NY_UNIT_ROWS, sizeof(double))};
    struct data_source source = data_source(data);
    struct ny_tile tile = {.source = &source.source, .first_row = first, .rows = rows};
    struct ny_layout l = {.ctx = ctx};

    for (size_t i = 0; i < NY_UNIT_ROWS * r.stride; i++)
        r.C[i] = NAN;
    CHECK(ny_columns_tile(columns, workspace_of(&l, columns), &tile,
                          (struct ny_matrix32){r.C, NY_UNIT_ROWS, m, r.stride, false}, r.diagonal));
    ny_layout_free(&l);
    return r;
}

static inline void assert_entry(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance))
        fail_msg("%s: %.17g is not %.17g within %g", what, got, want, tolerance);
}

#endif
