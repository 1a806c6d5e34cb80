/* Points in a store and in memory, and their neighbours by plain loops. */
#ifndef NY_TESTS_CLOUD_CASE_H
#define NY_TESTS_CLOUD_CASE_H

#include "support/context.h"

#include "base/random.h"
#include "columns/columns.h"
#include "support/store_case.h"

/* Points in a store, and in memory as doubles. */
struct cloud {
    enum ny_dtype dtype;
    size_t n, d;
    double *x;
    char directory[128];
    struct ny_store *store;
    struct ny_geometry *geometry;
    struct ny_columns_spec spec;
};

/* kind 0: scattered; 1: on a coarse grid, so that many distances are equal; 2: far from the origin,
 * where f32 has few digits left; 3: every row five times; 4: all the same; 5: two clouds apart, in
 * which squared distances are of the size of an f32 product's error; 6: a lattice, in the order of
 * its nodes; 7: a line through all columns; 8: every other column constant; 9: zeros of both signs,
 * and numbers that are not normal; 10: metres of a map, on a grid of f32; 11: one row far from all
 * others; 12: half of the rows the same. */
enum kind {
    SCATTERED,
    GRID,
    OFFSET,
    REPEATED,
    SAME,
    APART,
    LATTICE,
    LINE,
    FLAT,
    TINY,
    MAP,
    OUTLIER,
    HALF_SAME,
    KINDS
};

/* The values of kinds from LATTICE on, of a hash u from 0 to 1. */
static double special(enum kind kind, enum ny_dtype dtype, size_t i, size_t j, double u)
{
    const double tiny = dtype == NY_F32 ? 0x1p-147 : 0x1p-1070;

    switch (kind) {
    case LATTICE:
        return (double)(i >> 3 * j & 7);
    case LINE:
        return (double)(i * 7 % 1000) * (double)(j + 1) / 8;
    case FLAT:
        return j % 2 ? 3 : 8 * (double)(float)u;
    case TINY:
        return u < 0.2 ? 0.0 : u < 0.4 ? -0.0 : rint(16 * u - 11) * tiny;
    case MAP:
        return (double)(float)((j ? 5.4e6 : 5.1e5) + 3000 * u);
    case OUTLIER:
        return i == 5 ? 1e7 : (double)(float)u;
    default:
        return i % 2 ? 0.5 : (double)(float)u;
    }
}

static double coordinate(enum kind kind, enum ny_dtype dtype, size_t i, size_t j)
{
    double u = ny_hash01(1, NY_STREAM_DATA, (kind == REPEATED ? i / 5 : kind == SAME ? 0 : i) * 1000 + j);

    if (kind == GRID) return floor(4 * u);
    if (kind >= LATTICE && (dtype == NY_F32 || dtype == NY_F64))
        return special(kind, dtype, i, j, u);
    if (kind == HALF_SAME && i % 2) return 7;
    if (dtype == NY_U8) return floor(256 * u);
    if (dtype == NY_I16) return floor(2000 * u) - 1000;
    if (kind == APART) return (i % 2 ? 200 : -200) + u;
    return (kind == OFFSET ? 5000 : 0) + (double)(float)u;
}

static struct cloud cloud_of(enum kind kind, enum ny_dtype dtype, size_t n, size_t d,
                             const struct ny_kernel *metric)
{
    const struct ny_geometry_wish wish = {.centred = metric->base == NY_BASE_SQUARE};
    struct ny_ingest_spec ingest_spec = {.d = d, .dtype = dtype};
    struct ny_ingest_rows rows = {.count = n, .consumed = n};
    struct cloud cloud = {.dtype = dtype, .n = n, .d = d, .x = lend(n * d * sizeof(double))};
    char path[160], *raw = lend(n * d * sizeof(double));

    for (size_t i = 0; i < n * d; i++) {
        cloud.x[i] = coordinate(kind, dtype, i / d, i % d);
        case_put(raw, dtype, i, cloud.x[i]);
        if (dtype == NY_F32) cloud.x[i] = (double)(float)cloud.x[i];
    }
    rows.values = raw;
    case_directory(cloud.directory);
    snprintf(path, sizeof(path), "%s/a.nys", cloud.directory);
    assert_int_equal(ny_store_create(&cloud.store, ctx, path), NY_OK);
    assert_int_equal(case_ingest(cloud.store, &ingest_spec, &rows), NY_OK);
    assert_int_equal(ny_geometry_new(&cloud.geometry, ny_store_rows(cloud.store), &wish), NY_OK);
    cloud.spec = (struct ny_columns_spec){.ctx = ctx,
                                          .kernel = metric,
                                          .params = {.gamma = 0.25},
                                          .geometry = cloud.geometry,
                                          .dtype = dtype};
    return cloud;
}

static void cloud_free(struct cloud *cloud)
{
    ny_geometry_free(cloud->geometry, ctx);
    ny_store_close(cloud->store);
    case_remove(cloud->directory);
}

OWNS(cloud, cloud_free(at))

static inline double plain_distance(const struct cloud *cloud, size_t i, size_t j)
{
    const double *x = cloud->x + i * cloud->d, *y = cloud->x + j * cloud->d;
    double square = 0, dot = 0, xx = 0, yy = 0;

    for (size_t k = 0; k < cloud->d; k++) {
        square += (x[k] - y[k]) * (x[k] - y[k]);
        dot += x[k] * y[k];
        xx += x[k] * x[k];
        yy += y[k] * y[k];
    }
    return cloud->spec.kernel->base == NY_BASE_SQUARE ? sqrt(square)
                                                      : 1 - dot / sqrt(xx) / sqrt(yy);
}

#endif
