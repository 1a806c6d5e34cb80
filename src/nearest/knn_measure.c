/*
 * Makes final lists of candidates (nearest/knn.h): measures the candidates of some rows in f64,
 * keeps the nearest t, and decides which rows are proved. A row is proved if even its last
 * candidate, less what f32 may have rounded away, is farther than its t-th neighbour, or if f32 was
 * exact. The others are compared with all points, 256 in a pass.
 */
#include <math.h>
#include <string.h>

#include "base/thread.h"
#include "nearest/knn_private.h"
#include "nearest/one_row.h"
#include "stream/rows.h"

/* Bytes of the candidates that are read at a time. */
enum { CANDIDATE_BYTES = 64 << 20 };

struct measure {
    const struct ny_knn *knn;
    const struct ny_neighbors *lists;
    uint64_t first;
    size_t count, width;
    const char *rows; /* count raw rows */
    /* If points are not held: rows, and piece × width candidates of those from `at` on, with their
     * numbers. */
    char *read, *candidates;
    uint64_t *wanted;
    size_t piece, at;
    double *norms; /* count: γ‖x‖² of prepared rows */
    struct ny_measured *out;
    double *last;   /* count: values of the t-th of the measured */
    bool *unproved; /* count */
};

/* Writes the t nearest of a row into the result. */
static void put(const struct measure *measure, size_t i, const struct ny_near *list)
{
    size_t t = measure->knn->neighbors;

    for (size_t k = 0; k < t; k++) {
        measure->out->row[i * t + k] = list[k].row;
        measure->out->distance[i * t + k] = ny_near_distance(measure->knn->spec, list[k].value);
    }
}

/* Tells whether no point that is not a candidate can be as near as the last of the t nearest. */
static bool proved(const struct measure *measure, size_t list, size_t i, double last)
{
    const struct ny_columns_spec *spec = measure->knn->spec;
    double bound = measure->lists->bound[list], gamma = spec->params.gamma, slack;

    if (isinf(bound)) return false; /* values beyond f32 are no candidates */
    if (measure->width + 1 == measure->knn->n) return true;
    if (spec->kernel->base == NY_BASE_SQUARE) {
        /* Products may give less than 0, which is no whole number. */
        if (bound >= 0 && bound / gamma < ny_columns_whole_below(spec)) return true;
        slack = gamma * ny_columns_rounding(spec, bound / gamma, measure->norms[i] / gamma);
    } else {
        slack = ny_columns_rounding(spec, bound, 1);
    }
    return bound - slack > last;
}

/* The workspace of a thread: one row as a landmark, and its candidates. */
struct measurer {
    struct ny_layout own;
    struct ny_one_row one;
    const void **at; /* width: where the candidates are */
    double *values;  /* width: theirs */
    struct ny_near *near;
};

static void lay_measurer(struct ny_layout *l, struct measurer *own, size_t width, size_t t)
{
    own->at = ny_lay(l, NY_MEM_DICTIONARY, width, sizeof(void *));
    own->values = ny_lay(l, NY_MEM_DICTIONARY, width, sizeof(double));
    own->near = ny_lay(l, NY_MEM_DICTIONARY, t, sizeof(*own->near));
}

static int measurer_init(struct measurer *own, const struct measure *measure)
{
    own->own.ctx = measure->knn->spec->ctx;
    lay_measurer(&own->own, own, measure->width, measure->knn->neighbors);
    return own->own.err ? own->own.err : ny_one_row_init(&own->one, measure->knn->spec);
}

/* A place without a candidate repeats the row. */
static uint64_t candidate(const struct measure *measure, size_t i, size_t k)
{
    size_t list = (size_t)(measure->first - measure->lists->first) + i;
    uint32_t row = measure->lists->row[list * measure->width + k];

    return row == NY_NO_ROW ? measure->first + i : row;
}

/* Finds where the candidates of row i are. */
static void find_candidates(const struct measure *measure, const struct measurer *own, size_t i)
{
    const struct ny_held *held = measure->knn->held;
    size_t width = measure->width, row_bytes = ny_raw_bytes(measure->knn->spec);

    for (size_t k = 0; k < width; k++)
        own->at[k] = held ? ny_held_row(held, candidate(measure, i, k))
                          : measure->candidates + ((i - measure->at) * width + k) * row_bytes;
}

static int measure_row(const struct measure *measure, const struct measurer *own, size_t i)
{
    size_t list = (size_t)(measure->first - measure->lists->first) + i, width = measure->width;
    size_t t = measure->knn->neighbors, row_bytes = ny_raw_bytes(measure->knn->spec);
    const uint32_t *rows = measure->lists->row + list * width;
    int err = ny_one_row_set(&own->one, measure->rows + i * row_bytes);

    find_candidates(measure, own, i);
    if (err == NY_OK) err = ny_one_row_values(&own->one, own->at, width, own->values);
    if (err) return err;
    ny_near_clear(own->near, t);
    for (size_t k = 0; k < width && rows[k] != NY_NO_ROW; k++)
        ny_near_keep(own->near, t, (struct ny_near){own->values[k], rows[k]});
    put(measure, i, own->near);
    measure->last[i] = own->near[t - 1].value;
    measure->unproved[i] =
        own->near[t - 1].row == NY_NO_ROW || !proved(measure, list, i, own->near[t - 1].value);
    return NY_OK;
}

static int measure_rows(void *arg, size_t first, size_t count)
{
    const struct measure *measure = arg;
    struct measurer own = {0};
    int err = measurer_init(&own, measure);

    for (size_t i = first; i < first + count && err == NY_OK; i++)
        err = measure_row(measure, &own, measure->at + i);
    ny_one_row_release(&own.one);
    ny_layout_free(&own.own);
    return err;
}

/* ---- rows against all points ---------------------------------------------------------------- */

struct again {
    size_t count;
    size_t at[NY_COMPARE_ROWS]; /* which of the measured rows */
    uint64_t row[NY_COMPARE_ROWS];
    double last[NY_COMPARE_ROWS];
    char *raw;
    struct ny_near *near; /* count × t */
};

static bool is_another(const void *row, size_t i, uint64_t other)
{
    return ((const uint64_t *)row)[i] != other;
}

static int compare_again(const struct measure *measure, struct again *again)
{
    size_t t = measure->knn->neighbors;
    const struct ny_knn_query query = {again->raw, again->count, is_another, again->row,
                                       again->last};
    int err = ny_knn_compare(measure->knn, &query, again->near);

    for (size_t i = 0; i < again->count && err == NY_OK; i++)
        put(measure, again->at[i], again->near + i * t);
    measure->out->again += again->count;
    again->count = 0;
    return err;
}

static void lay_again(struct ny_layout *l, struct again *again, const struct ny_knn *knn)
{
    size_t lists = knn->neighbors * sizeof(*again->near);

    again->raw = ny_lay(l, NY_MEM_DICTIONARY, NY_COMPARE_ROWS, ny_raw_bytes(knn->spec));
    again->near = ny_lay(l, NY_MEM_DICTIONARY, NY_COMPARE_ROWS, lists);
}

static int measure_again(const struct measure *measure)
{
    struct ny_layout l = {.ctx = measure->knn->spec->ctx};
    size_t row_bytes = ny_raw_bytes(measure->knn->spec);
    struct again again = {.count = 0};
    int err;

    lay_again(&l, &again, measure->knn);
    err = l.err;
    for (size_t i = 0; i < measure->count && err == NY_OK; i++) {
        if (measure->unproved[i]) {
            memcpy(again.raw + again.count * row_bytes, measure->rows + i * row_bytes, row_bytes);
            again.row[again.count] = measure->first + i;
            again.last[again.count] = measure->last[i];
            again.at[again.count++] = i;
        }
        if (again.count == NY_COMPARE_ROWS || (again.count && i + 1 == measure->count))
            err = compare_again(measure, &again);
    }
    ny_layout_free(&l);
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
        err = ny_columns_diagonal(columns, ny_raw_rows(measure->rows), measure->count,
                                  measure->norms);
    for (size_t i = 0; i < measure->count && err == NY_OK; i++)
        measure->norms[i] *= measure->knn->spec->params.gamma;
    ny_columns_free(columns);
    return err;
}

/* Lays out what some rows need; unless points are held, also these, and candidates of a piece. */
static void lay(struct ny_layout *l, struct measure *measure, bool reads)
{
    size_t count = measure->count, width = measure->width;
    size_t row_bytes = ny_raw_bytes(measure->knn->spec), most = CANDIDATE_BYTES / width / row_bytes;

    measure->piece = !reads || most > count ? count : most ? most : 1;
    measure->norms = ny_lay(l, NY_MEM_DICTIONARY, count, sizeof(double));
    measure->last = ny_lay(l, NY_MEM_DICTIONARY, count, sizeof(double));
    measure->unproved = ny_lay(l, NY_MEM_DICTIONARY, count, sizeof(bool));
    if (!reads) return;
    measure->read = ny_lay(l, NY_MEM_DICTIONARY, count, row_bytes);
    measure->candidates = ny_lay(l, NY_MEM_DICTIONARY, measure->piece * width, row_bytes);
    measure->wanted = ny_lay(l, NY_MEM_DICTIONARY, measure->piece * width, sizeof(uint64_t));
}

/* Reads the candidates of `count` rows from measure->at on. */
static int gather(const struct measure *measure, size_t count)
{
    const struct ny_knn *knn = measure->knn;
    size_t width = measure->width;

    for (size_t i = 0; i < count * width; i++)
        measure->wanted[i] = candidate(measure, measure->at + i / width, i % width);
    return knn->X->ops->gather(knn->X, knn->spec->slots, measure->wanted, count * width,
                               measure->candidates);
}

/* Measures the rows piece by piece. */
static int measure_pieces(struct measure *measure)
{
    const struct ny_knn *knn = measure->knn;
    int err = NY_OK;

    if (!knn->held)
        err = knn->X->ops->read(knn->X, knn->spec->slots, measure->first, measure->count,
                                measure->read);
    if (!err) err = measure_norms(measure);
    for (; measure->at < measure->count && !err; measure->at += measure->piece) {
        size_t left = measure->count - measure->at;
        size_t count = left < measure->piece ? left : measure->piece;

        if (!knn->held) err = gather(measure, count);
        if (!err) err = ny_parallel_ranges(knn->spec->ctx, count, measure_rows, measure);
    }
    return err;
}

void ny_knn_measure_count(struct ny_layout *l, const struct ny_knn *knn)
{
    struct measure measure = {.knn = knn, .count = NY_MEASURE_ROWS, .width = ny_knn_width(knn)};
    struct measurer own;
    struct again again;

    lay(l, &measure, true);
    for (unsigned w = 0; w < knn->workers; w++) {
        lay_measurer(l, &own, measure.width, knn->neighbors);
        ny_one_row_count(l, knn->spec);
    }
    lay_again(l, &again, knn);
    ny_knn_compare_count(l, knn);
}

int ny_knn_measure(const struct ny_knn *knn, const struct ny_neighbors *lists, uint64_t first,
                   size_t count, struct ny_measured *out)
{
    struct ny_layout l = {.ctx = knn->spec->ctx};
    struct measure measure = {.knn = knn,
                              .lists = lists,
                              .first = first,
                              .count = count,
                              .width = lists->width,
                              .out = out};
    int err;

    lay(&l, &measure, !knn->held);
    measure.rows = knn->held ? ny_held_row(knn->held, first) : measure.read;
    err = l.err;
    if (err == NY_OK) err = measure_pieces(&measure);
    if (err == NY_OK) err = measure_again(&measure);
    ny_layout_free(&l);
    return err;
}
