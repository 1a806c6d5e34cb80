/*
 * The landmarks of a kernel: their raw rows, the forms that tiles multiply with, and the shift a of
 * the tiles. Fits, selections, projections and neighbour searches each make one from a spec, append
 * landmarks to it, and compute tiles against it (tile.c), or exact values in f64 (exact.c).
 *
 * A landmark is prepared once, when it is appended, by the way that ny_way_of() chose for the spec:
 * as a lane of a panel of 32 landmarks in f32, as bytes in groups of four, or as entries of an
 * index of sparse rows; precomputed kernel values are taken from the rows themselves. Raw rows are
 * kept as well, since f64 values and models start from them. Arrays at least double when they grow
 * and may move; so nobody may compute tiles while landmarks are appended.
 *
 * The shift is kept in two floats, a rounded to f32 and what that left, as a rounding error that
 * all rows have in common would add up over them. With a mean of W above ½ and a kernel that can
 * give k − 1, the shift is a − 1 (columns.h).
 */
#include "columns/columns.h"

#include <math.h>
#include <string.h>

#include "columns/columns_private.h"

/* Landmarks are kept in whole panels. */
static size_t round_up(size_t count)
{
    return (count + NY_PANEL - 1) / NY_PANEL * NY_PANEL;
}

enum { ARRAYS = sizeof(((struct ny_columns *)NULL)->arrays) / sizeof(struct ny_landmark_array) };

/* Lists the arrays of landmarks. Panels take as much as their rows: both grow in place. */
static void list_arrays(struct ny_columns *columns)
{
    const struct ny_columns_spec *spec = &columns->spec;
    enum ny_way way = columns->preparation.way;
    size_t d = spec->geometry->d;
    bool rows = ny_landmarks_are_rows(spec) && !spec->slots, bytes = way == NY_WAY_BYTES;
    bool floats = way == NY_WAY_PRODUCT || way == NY_WAY_DIRECT;
    const struct ny_landmark_array arrays[ARRAYS] = {
        {&columns->raw, rows ? columns->row_bytes : 0},
        {&columns->panels, floats ? d * sizeof(float) : 0},
        {&columns->bytes, bytes ? 4 * ny_byte_quads(d) : 0},
        {&columns->byte_norms, bytes ? sizeof(uint32_t) : 0},
        {&columns->norms, sizeof(float)},
        {&columns->shift, sizeof(float)},
        {&columns->shift_low, sizeof(float)},
        {&columns->zeros, sizeof(float)}};

    memcpy(columns->arrays, arrays, sizeof(arrays));
}

static void *block_of(const struct ny_landmark_array *array)
{
    void *block;

    memcpy(&block, array->at, sizeof(block));
    return block;
}

int ny_columns_new(struct ny_columns **out, const struct ny_columns_spec *spec)
{
    bool width = ny_kernel_param(spec->kernel, "gamma");
    struct ny_columns *columns;
    int err;

    *out = NULL;
    if (width && !(spec->params.gamma > 0 && isfinite(spec->params.gamma)))
        return ny_fail(spec->ctx, NY_EUSAGE, "gamma is %g; give a positive number to --gamma",
                       spec->params.gamma);
    columns = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, 1, sizeof(*columns));
    if (!columns) return NY_EBUDGET;
    columns->spec = *spec;
    columns->row_bytes = ny_raw_bytes(spec);
    columns->own.ctx = spec->ctx;
    ny_preparation_lay(&columns->own, &columns->preparation, spec, width ? spec->params.gamma : 1);
    list_arrays(columns);
    err = columns->own.err;
    if (err)
        ny_columns_free(columns);
    else
        *out = columns;
    return err;
}

void ny_columns_free(struct ny_columns *columns)
{
    struct ny_context *ctx;

    if (!columns) return;
    ctx = columns->spec.ctx;
    ny_layout_free(&columns->own);
    ny_sparse_index_release(&columns->index, ctx);
    ny_sparse_list_release(&columns->held, ctx);
    for (size_t i = 0; i < ARRAYS; i++)
        ny_free(ctx, block_of(&columns->arrays[i]));
    ny_free(ctx, columns);
}

/* Grows an array to `capacity` landmarks, the new ones zero. */
static int grow(const struct ny_columns *columns, const struct ny_landmark_array *array,
                size_t capacity)
{
    int err =
        ny_resize_array(columns->spec.ctx, NY_MEM_DICTIONARY, array->at, capacity, array->each);

    if (!err)
        memset((char *)block_of(array) + columns->capacity * array->each, 0,
               (capacity - columns->capacity) * array->each);
    return err;
}

static int reserve_landmarks(struct ny_columns *columns, size_t count)
{
    size_t capacity = 2 * columns->capacity;
    int err = NY_OK;

    if (count <= columns->capacity) return NY_OK;
    if (capacity < count) capacity = round_up(count);
    for (size_t i = 0; !err && i < ARRAYS; i++)
        if (columns->arrays[i].each) err = grow(columns, &columns->arrays[i], capacity);
    if (!err) columns->capacity = capacity;
    return err;
}

/* Copies a prepared row into its lane of a panel, times −2 where the product gives −2x·y, so that
 * the norms are all that has to be added. */
static void place_floats(struct ny_columns *columns, size_t j, const float *row)
{
    float *lane = ny_panel_lane(columns, j), factor = ny_panel_factor(columns);

    for (size_t k = 0; k < columns->spec.geometry->d; k++)
        lane[k * NY_PANEL] = factor * row[k];
}

/* Puts a row of bytes into its panel as y − NY_BYTE_BIAS, in groups of four columns, and notes
 * ‖y‖². */
static void place_bytes(struct ny_columns *columns, size_t j, const uint8_t *raw)
{
    size_t d = columns->spec.geometry->d, panel_bytes = 4 * ny_byte_quads(d) * NY_PANEL;
    int8_t *lane = columns->bytes + j / NY_PANEL * panel_bytes + j % NY_PANEL * 4;
    uint32_t sum, quad;
    size_t q = 0;

    for (; q < d / 4; q++) { /* four at once: y − bias differs from y in one bit */
        memcpy(&quad, raw + 4 * q, sizeof(quad));
        quad ^= 0x01010101U * NY_BYTE_BIAS;
        memcpy(lane + q * NY_PANEL * 4, &quad, sizeof(quad));
    }
    for (size_t k = 4 * q; k < d; k++)
        lane[q * NY_PANEL * 4 + k % 4] = (int8_t)(raw[k] - NY_BYTE_BIAS);
    ny_vector()->prepare->byte_sums(raw, d, &sum, &columns->byte_norms[j]);
}

/* Prepares landmark j in the form that its way multiplies with. Rows that are given or sparse have
 * no panel: nothing is done for them here. */
static void place(struct ny_columns *columns, size_t j, double *scratch, float *row)
{
    const unsigned char *raw = columns->raw ? columns->raw + j * columns->row_bytes : NULL;
    enum ny_way way = columns->preparation.way;
    float norm;

    if (way == NY_WAY_BYTES) {
        place_bytes(columns, j, raw);
    } else if (way == NY_WAY_PRODUCT || way == NY_WAY_DIRECT) {
        norm = ny_preparation_row32(&columns->preparation, &columns->spec, raw, scratch, row);
        columns->norms[j] = way == NY_WAY_PRODUCT ? norm : 0;
        place_floats(columns, j, row);
    }
}

/* Keeps copies of raw rows as landmarks `count` … */
static int keep_dense(struct ny_columns *columns, struct ny_raw_rows rows, size_t count)
{
    struct ny_layout l = {.ctx = columns->spec.ctx};
    size_t d = columns->spec.geometry->d;
    double *scratch = ny_lay(&l, NY_MEM_DICTIONARY, d, sizeof(double));
    float *row = ny_lay(&l, NY_MEM_DICTIONARY, d, sizeof(float));

    if (l.err) return ny_layout_end(&l);
    if (columns->raw)
        memcpy(columns->raw + columns->count * columns->row_bytes, rows.at,
               count * columns->row_bytes);
    for (size_t j = columns->count; j < columns->count + count; j++)
        place(columns, j, scratch, row);
    return ny_layout_end(&l);
}

/* Keeps copies of sparse raw rows, in one lot. */
static int keep_sparse(struct ny_columns *columns, struct ny_raw_rows rows, size_t count)
{
    const struct ny_columns_spec *spec = &columns->spec;
    struct ny_sparse_list *held = &columns->held;
    size_t first = columns->count, bytes = 0;
    struct ny_sparse_room room;
    int err;

    held->count = first; /* an append that failed may have left more */
    for (size_t i = 0; i < count; i++)
        bytes += ny_sparse_bytes(spec->dtype, ny_sparse_row(spec, rows, i).count);
    err = ny_sparse_list_extend(held, spec->ctx, NY_MEM_DICTIONARY, count, bytes, &room);
    for (size_t i = 0; !err && i < count; i++)
        (void)ny_sparse_room_put(&room, spec->dtype, ny_sparse_row(spec, rows, i),
                                 &held->row[first + i]);
    return err;
}

/* Counts the landmarks up to `total`, which are kept: they are indexed, and have no shift yet. */
static int count_in(struct ny_columns *columns, size_t total)
{
    const struct ny_sparse_preparation in = {&columns->spec, &columns->preparation};
    int err = NY_OK;

    for (size_t j = columns->count; j < total; j++) {
        columns->shift[j] = columns->minus_one ? -1.0f : 0.0f;
        columns->shift_low[j] = 0;
    }
    if (columns->preparation.way == NY_WAY_SPARSE)
        err = ny_sparse_index_extend(&columns->index, &in, ny_columns_rows(columns), total);
    if (!err) columns->count = total;
    return err;
}

int ny_columns_append(struct ny_columns *columns, struct ny_raw_rows rows, size_t count)
{
    bool keeps = ny_landmarks_are_rows(&columns->spec);
    size_t total;
    int err;

    if (__builtin_add_overflow(columns->count, count, &total) || total > SIZE_MAX / 4)
        return ny_fail(columns->spec.ctx, NY_EBUDGET, "%zu more landmarks cannot be addressed",
                       count);
    err = reserve_landmarks(columns, total);
    if (!err && keeps)
        err = columns->spec.slots ? keep_sparse(columns, rows, count)
                                  : keep_dense(columns, rows, count);
    return err ? err : count_in(columns, total);
}

int ny_columns_take(struct ny_columns *columns, struct ny_sparse_list *rows)
{
    int err;

    columns->held = *rows;
    *rows = (struct ny_sparse_list){0};
    err = reserve_landmarks(columns, columns->held.count);
    return err ? err : count_in(columns, columns->held.count);
}

void ny_columns_clear(struct ny_columns *columns)
{
    columns->count = 0;
    ny_sparse_index_release(&columns->index, columns->spec.ctx);
    ny_sparse_list_release(&columns->held, columns->spec.ctx);
}

size_t ny_columns_size(const struct ny_columns *columns)
{
    return columns->count;
}

struct ny_raw_rows ny_columns_rows(const struct ny_columns *columns)
{
    return (struct ny_raw_rows){columns->raw, columns->held.row};
}

const struct ny_columns_spec *ny_columns_of(const struct ny_columns *columns)
{
    return &columns->spec;
}

void ny_columns_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t m)
{
    struct ny_columns columns = {.spec = *spec, .row_bytes = ny_raw_bytes(spec)};

    if (l->ctx) return;
    ny_lay(l, NY_MEM_DICTIONARY, 1, sizeof(columns));
    ny_preparation_lay(l, &columns.preparation, spec, 1);
    list_arrays(&columns);
    for (size_t i = 0; i < ARRAYS; i++)
        if (columns.arrays[i].each)
            ny_lay(l, NY_MEM_DICTIONARY, round_up(m), columns.arrays[i].each);
    if (!spec->slots) { /* while they are prepared, by several workers at a time */
        ny_lay(l, NY_MEM_DICTIONARY, spec->geometry->d, sizeof(double));
        ny_lay(l, NY_MEM_DICTIONARY, spec->geometry->d, sizeof(float));
        return;
    }
    ny_layout_add(l, NY_MEM_DICTIONARY,
                  ny_sparse_list_bytes(spec->dtype, m, ny_values_most(spec, m), 1));
    ny_sparse_index_count(l, spec, m);
}

int ny_columns_set_shift(struct ny_columns *columns, const double *a)
{
    double mean = 0, one;

    for (size_t j = 0; j < columns->count; j++)
        mean += a[j] / (double)columns->count;
    columns->minus_one = columns->spec.kernel->can_minus_one && mean > 0.5;
    one = columns->minus_one ? 1 : 0;
    for (size_t j = 0; j < columns->count; j++) {
        columns->shift[j] = (float)(a[j] - one);
        columns->shift_low[j] = (float)(a[j] - one - (double)columns->shift[j]);
    }
    return NY_OK;
}

bool ny_columns_minus_one(const struct ny_columns *columns)
{
    return columns->minus_one;
}
