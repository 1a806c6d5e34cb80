/* The candidates of some rows, measured in f64, and rows that need more than their candidates. */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "graph/knn_private.h"
#include "store/store.h"

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

static void put(const struct measure *measure, size_t i, const struct ny_near *list)
{
    size_t t = measure->knn->neighbors;

    for (size_t k = 0; k < t; k++) {
        measure->out->row[i * t + k] = list[k].row;
        measure->out->distance[i * t + k] = ny_near_distance(measure->knn->spec, list[k].value);
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
    struct ny_near *near = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, t, sizeof(*near));
    int err = values && near ? ny_columns_room_new(&room, spec) : NY_EBUDGET;

    for (size_t i = first; i < first + count && err == NY_OK; i++) {
        size_t list = (size_t)(measure->first - measure->lists->first) + i;
        const uint32_t *rows = measure->lists->row + list * width;

        err = ny_columns_exact_in(room, measure->columns,
                                  (char *)measure->candidates + i * width * row_bytes, width, i,
                                  ny_matrix(values, width, 1));
        ny_near_clear(near, t);
        for (size_t k = 0; k < width && rows[k] != NY_NO_ROW; k++)
            ny_near_keep(near, t, (struct ny_near){values[k], rows[k]});
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
    size_t count;
    size_t at[NY_COMPARE_ROWS]; /* which of the measured rows */
    uint32_t row[NY_COMPARE_ROWS];
    char *raw;
    struct ny_near *near; /* count × t */
};

static int compare_again(const struct measure *measure, struct again *again)
{
    size_t t = measure->knn->neighbors;
    int err = ny_knn_compare(measure->knn, again->raw, again->row, again->count, again->near);

    for (size_t i = 0; i < again->count && err == NY_OK; i++)
        put(measure, again->at[i], again->near + i * t);
    measure->out->again += again->count;
    again->count = 0;
    return err;
}

static int measure_again(const struct measure *measure)
{
    struct ny_context *ctx = measure->knn->spec->ctx;
    size_t row_bytes = ny_raw_bytes(measure->knn->spec);
    struct again again = {.count = 0};
    int err = NY_OK;

    again.raw = ny_calloc(ctx, NY_MEM_DICTIONARY, NY_COMPARE_ROWS, row_bytes);
    again.near = ny_calloc(ctx, NY_MEM_DICTIONARY, NY_COMPARE_ROWS,
                           measure->knn->neighbors * sizeof(*again.near));
    if (!again.raw || !again.near) err = NY_EBUDGET;
    for (size_t i = 0; i < measure->count && err == NY_OK; i++) {
        if (measure->unproved[i]) {
            memcpy(again.raw + again.count * row_bytes, (char *)measure->rows + i * row_bytes,
                   row_bytes);
            again.row[again.count] = (uint32_t)(measure->first + i);
            again.at[again.count++] = i;
        }
        if (again.count == NY_COMPARE_ROWS || (again.count && i + 1 == measure->count))
            err = compare_again(measure, &again);
    }
    ny_free(ctx, again.near);
    ny_free(ctx, again.raw);
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

static int read_rows(const struct measure *measure, const uint64_t *wanted)
{
    const struct ny_knn *knn = measure->knn;
    size_t slots = knn->spec->slots;
    int err = ny_points_read(knn->store, slots, measure->first, measure->count, measure->rows);

    return err ? err
               : ny_points_gather(knn->store, slots, wanted, measure->count * measure->width,
                                  measure->candidates);
}

static int copy_held(const struct measure *measure, const uint64_t *wanted)
{
    const struct ny_held *held = measure->knn->held;
    size_t bytes = held->row_bytes;

    memcpy(measure->rows, ny_held_row(held, measure->first), measure->count * bytes);
    for (size_t i = 0; i < measure->count * measure->width; i++)
        memcpy((char *)measure->candidates + i * bytes, ny_held_row(held, wanted[i]), bytes);
    return NY_OK;
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
    err = knn->held ? copy_held(measure, wanted) : read_rows(measure, wanted);
    ny_free(ctx, wanted);
    return err;
}

size_t ny_knn_measure_bytes(const struct ny_knn *knn, size_t count)
{
    size_t width = ny_knn_width(knn), row_bytes = ny_raw_bytes(knn->spec);
    size_t again = NY_COMPARE_ROWS * row_bytes + ny_knn_compare_bytes(knn);

    return count * ((width + 1) * row_bytes + width * sizeof(uint64_t) + sizeof(double) + 1) +
           ny_columns_bytes(knn->spec, count) + again +
           knn->workers * (ny_columns_room_bytes(knn->spec) + 2 * width * sizeof(struct ny_near));
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
