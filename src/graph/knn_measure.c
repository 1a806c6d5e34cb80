/* The candidates of some rows, measured in f64, and rows that need more than their candidates. */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "columns/tiles.h"
#include "graph/knn.h"
#include "store/store.h"

/* Rows that are compared with all points at a time. */
enum { AGAIN_ROWS = 256 };

struct measure {
    const struct ny_knn *knn;
    const struct ny_neighbors *lists;
    uint64_t first;
    size_t count, width;
    void *rows;                 /* count raw rows, then what `columns` holds of them */
    void *candidates;           /* count × width raw rows */
    double *norms;              /* count: γ‖x‖² of prepared rows */
    struct ny_columns *columns; /* of the rows */
    struct ny_measured *out;
    bool *unproved; /* count */
};

struct near {
    double value;
    uint32_t row;
};

static bool nearer(struct near a, struct near b)
{
    return a.value < b.value || (a.value == b.value && a.row < b.row);
}

/* Keeps the `size` nearest, in order. */
static void keep(struct near *list, size_t size, struct near item)
{
    size_t at = size - 1;

    if (!nearer(item, list[at])) return;
    for (; at > 0 && nearer(item, list[at - 1]); at--)
        list[at] = list[at - 1];
    list[at] = item;
}

static double distance_of(const struct ny_columns_spec *spec, double value)
{
    if (value < 0) value = 0;
    return spec->kernel->base == NY_BASE_SQUARE ? sqrt(value / spec->params.gamma) : value;
}

static void put(const struct measure *measure, size_t i, const struct near *list)
{
    size_t t = measure->knn->neighbors;

    for (size_t k = 0; k < t; k++) {
        measure->out->row[i * t + k] = list[k].row;
        measure->out->distance[i * t + k] = distance_of(measure->knn->spec, list[k].value);
    }
}

/* No point that is not among the candidates can be as near as the last of `t`. */
static bool proved(const struct measure *measure, size_t list, size_t i, double last)
{
    const struct ny_columns_spec *spec = measure->knn->spec;
    double bound = measure->lists->bound[list], gamma = spec->params.gamma, slack;

    if (isinf(bound) || measure->width + 1 == measure->knn->n) return true;
    if (spec->kernel->base == NY_BASE_SQUARE) {
        if (bound / gamma < ny_columns_whole_below(spec)) return true;
        slack = gamma * ny_columns_rounding(spec, bound / gamma, measure->norms[i] / gamma);
    } else {
        slack = ny_columns_rounding(spec, bound, 1);
    }
    return bound - slack > last;
}

static int measure_rows(void *arg, size_t first, size_t count)
{
    struct measure *measure = arg;
    const struct ny_columns_spec *spec = measure->knn->spec;
    size_t t = measure->knn->neighbors, width = measure->width, row_bytes = ny_raw_bytes(spec);
    struct ny_columns_room *room = NULL;
    double *values = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, width, sizeof(double));
    struct near *near = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, t, sizeof(*near));
    int err = values && near ? ny_columns_room_new(&room, spec) : NY_EBUDGET;

    for (size_t i = first; i < first + count && err == NY_OK; i++) {
        size_t list = (size_t)(measure->first - measure->lists->first) + i;
        const uint32_t *rows = measure->lists->row + list * width;

        err = ny_columns_exact_in(room, measure->columns,
                                  (char *)measure->candidates + i * width * row_bytes, width, i,
                                  ny_matrix(values, width, 1));
        for (size_t k = 0; k < t; k++)
            near[k] = (struct near){INFINITY, NY_NO_ROW};
        for (size_t k = 0; k < width && rows[k] != NY_NO_ROW; k++)
            keep(near, t, (struct near){values[k], rows[k]});
        put(measure, i, near);
        measure->unproved[i] = near[t - 1].row == NY_NO_ROW ||
                               !proved(measure, list, i, near[t - 1].value);
    }
    ny_columns_room_free(room, spec->ctx);
    ny_free(spec->ctx, near);
    ny_free(spec->ctx, values);
    return err;
}

/* ---- rows against all points ---------------------------------------------------------------- */

struct again {
    const struct measure *measure;
    struct ny_tiles tiles;
    size_t count;
    size_t at[AGAIN_ROWS]; /* which of the measured rows */
    struct near *near;     /* count × t */
};

static int again_unit(void *arg, const struct ny_tile *tile)
{
    struct again *again = arg;

    return ny_tiles_compute(&again->tiles, tile);
}

static int again_fold(void *arg, const struct ny_tile *tile)
{
    struct again *again = arg;
    const struct measure *measure = again->measure;
    struct ny_matrix V = ny_tiles_c64(&again->tiles, tile->worker);
    size_t t = measure->knn->neighbors;

    for (size_t j = 0; j < tile->rows; j++)
        for (size_t i = 0; i < again->count; i++) {
            struct near item = {V.at[j * V.stride + i], (uint32_t)(tile->first_row + j)};

            if (item.row != measure->first + again->at[i]) keep(again->near + i * t, t, item);
        }
    return NY_OK;
}

static int compare_with_all(struct again *again)
{
    static const struct ny_pass_work work = {again_unit, again_fold, NULL};
    static const double shift[AGAIN_ROWS];
    const struct measure *measure = again->measure;
    const struct ny_knn *knn = measure->knn;
    size_t t = knn->neighbors, row_bytes = ny_raw_bytes(knn->spec);
    struct ny_columns *columns = NULL;
    struct ny_source *points = NULL;
    int err = ny_columns_new(&columns, knn->spec);

    for (size_t i = 0; i < again->count && err == NY_OK; i++)
        err = ny_columns_append(columns, (char *)measure->rows + again->at[i] * row_bytes, 1);
    if (err) goto done;
    for (size_t i = 0; i < again->count * t; i++)
        again->near[i] = (struct near){INFINITY, NY_NO_ROW};
    err = ny_tiles_new(&again->tiles, columns, shift, NY_PRECISION_F64, knn->workers);
    if (err) goto done;
    err = ny_source_of_points(&points, knn->store, knn->n, knn->spec->slots, knn->workers);
    if (err) goto done;
    err = ny_pass_run(&(struct ny_pass){.ctx = knn->spec->ctx,
                                        .source = points,
                                        .stage = "neighbors, in f64",
                                        .workers = knn->workers,
                                        .flops_per_row = 2 * (double)again->count *
                                                         ny_entry_products(knn->spec)},
                      &work, again);
    for (size_t i = 0; i < again->count && err == NY_OK; i++)
        put(measure, again->at[i], again->near + i * t);
done:
    ny_source_free(points);
    ny_tiles_release(&again->tiles);
    ny_columns_free(columns);
    return err;
}

static int measure_again(const struct measure *measure)
{
    struct ny_context *ctx = measure->knn->spec->ctx;
    struct again again = {.measure = measure};
    int err = NY_OK;

    again.near = ny_calloc(ctx, NY_MEM_DICTIONARY, AGAIN_ROWS,
                           measure->knn->neighbors * sizeof(*again.near));
    if (!again.near) return NY_EBUDGET;
    for (size_t i = 0; i < measure->count && err == NY_OK; i++) {
        if (measure->unproved[i]) again.at[again.count++] = i;
        if (again.count < AGAIN_ROWS && i + 1 < measure->count) continue;
        if (!again.count) continue;
        err = compare_with_all(&again);
        measure->out->again += again.count;
        again.count = 0;
    }
    ny_free(ctx, again.near);
    return err;
}

/* ---- both ----------------------------------------------------------------------------------- */

/* γ‖x‖² of prepared rows: k(x,x) of the linear kernel. */
static int measure_norms(struct measure *measure)
{
    struct ny_columns_spec linear = *measure->knn->spec;
    struct ny_columns *columns = NULL;
    int err;

    linear.kernel = ny_kernel_find("linear");
    err = ny_columns_new(&columns, &linear);
    if (err == NY_OK)
        err = ny_columns_diagonal(columns, measure->rows, measure->count, measure->norms);
    for (size_t i = 0; i < measure->count && err == NY_OK; i++)
        measure->norms[i] *= measure->knn->spec->params.gamma;
    ny_columns_free(columns);
    return err;
}

/* The rows, and all their candidates one after another; a place without one repeats the row. */
static int gather(struct measure *measure)
{
    const struct ny_knn *knn = measure->knn;
    struct ny_context *ctx = knn->spec->ctx;
    size_t list = (size_t)(measure->first - measure->lists->first), width = measure->width;
    uint64_t *wanted = ny_calloc(ctx, NY_MEM_DICTIONARY, measure->count * width, sizeof(uint64_t));
    int err;

    if (!wanted) return NY_EBUDGET;
    for (size_t i = 0; i < measure->count * width; i++) {
        uint32_t row = measure->lists->row[list * width + i];

        wanted[i] = row == NY_NO_ROW ? measure->first + i / width : row;
    }
    err = ny_points_read(knn->store, knn->spec->slots, measure->first, measure->count,
                         measure->rows);
    if (err == NY_OK)
        err = ny_points_gather(knn->store, knn->spec->slots, wanted, measure->count * width,
                               measure->candidates);
    ny_free(ctx, wanted);
    return err;
}

size_t ny_knn_measure_bytes(const struct ny_knn *knn, size_t count)
{
    size_t width = ny_knn_width(knn), row_bytes = ny_raw_bytes(knn->spec);
    size_t lists = AGAIN_ROWS * knn->neighbors * sizeof(struct near);
    size_t again = ny_columns_bytes(knn->spec, 2 * AGAIN_ROWS) +
                   knn->workers * ny_tiles_bytes(knn->spec, AGAIN_ROWS, NY_PRECISION_F64);

    return count * ((width + 1) * row_bytes + width * sizeof(uint64_t) + sizeof(double) + 1) +
           ny_columns_bytes(knn->spec, count) + lists + again +
           knn->workers * (ny_columns_room_bytes(knn->spec) + 2 * width * sizeof(struct near));
}

int ny_knn_measure(const struct ny_knn *knn, const struct ny_neighbors *lists, uint64_t first,
                   size_t count, struct ny_measured *out)
{
    struct ny_context *ctx = knn->spec->ctx;
    size_t row_bytes = ny_raw_bytes(knn->spec), width = lists->width;
    struct measure measure = {.knn = knn,
                              .lists = lists,
                              .first = first,
                              .count = count,
                              .width = width,
                              .out = out};
    int err = NY_EBUDGET;

    measure.rows = ny_calloc(ctx, NY_MEM_DICTIONARY, count, row_bytes);
    measure.candidates = ny_calloc(ctx, NY_MEM_DICTIONARY, count * width, row_bytes);
    measure.norms = ny_calloc(ctx, NY_MEM_DICTIONARY, count, sizeof(double));
    measure.unproved = ny_calloc(ctx, NY_MEM_DICTIONARY, count, sizeof(bool));
    if (!measure.rows || !measure.candidates || !measure.norms || !measure.unproved) goto done;
    err = gather(&measure);
    if (err) goto done;
    err = measure_norms(&measure);
    if (err) goto done;
    err = ny_columns_new(&measure.columns, knn->spec);
    if (err == NY_OK) err = ny_columns_append(measure.columns, measure.rows, count);
    if (err == NY_OK) err = ny_parallel_ranges(ctx, count, measure_rows, &measure);
    if (err == NY_OK) err = measure_again(&measure);
done:
    ny_columns_free(measure.columns);
    ny_free(ctx, measure.unproved);
    ny_free(ctx, measure.norms);
    ny_free(ctx, measure.candidates);
    ny_free(ctx, measure.rows);
    return err;
}
