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

int ny_columns_new(struct ny_columns **out, const struct ny_columns_spec *spec)
{
    bool width = ny_kernel_param(spec->kernel, "gamma");
    struct ny_columns *columns;
    int err = NY_EBUDGET;

    *out = NULL;
    if (width && !(spec->params.gamma > 0 && isfinite(spec->params.gamma)))
        return ny_fail(spec->ctx, NY_EUSAGE, "gamma is %g; give a positive number to --gamma",
                       spec->params.gamma);
    columns = ny_calloc(spec->ctx, NY_MEM_DICTIONARY, 1, sizeof(*columns));
    if (!columns) goto done;
    columns->spec = *spec;
    columns->row_bytes = ny_raw_bytes(spec);
    columns->own.ctx = spec->ctx;
    ny_preparation_lay(&columns->own, &columns->preparation, spec,
                       width ? spec->params.gamma : 1);
    err = columns->own.err;
    if (err) goto done;
    *out = columns;
    columns = NULL;
done:
    ny_columns_free(columns);
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
    ny_free(ctx, columns->raw);
    ny_free(ctx, columns->norms);
    ny_free(ctx, columns->panels);
    ny_free(ctx, columns->bytes);
    ny_free(ctx, columns->byte_norms);
    ny_free(ctx, columns->shift);
    ny_free(ctx, columns->shift_low);
    ny_free(ctx, columns->zeros);
    ny_free(ctx, columns);
}

/* Grows *array to `count` items of `size` bytes, the new ones zero. */
static int grow(struct ny_columns *columns, void *array, size_t count, size_t size)
{
    struct ny_context *ctx = columns->spec.ctx;
    size_t bytes, old = columns->capacity * size;
    void *grown, *before;

    if (ny_product(ctx, &bytes, count, size, 1)) return NY_EBUDGET;
    memcpy(&before, array, sizeof(before));
    grown = ny_resize(ctx, NY_MEM_DICTIONARY, before, bytes);
    if (!grown) return NY_EBUDGET;
    memset((char *)grown + old, 0, bytes - old);
    memcpy(array, &grown, sizeof(grown));
    return NY_OK;
}

/* Panels of `capacity` landmarks take as much as their rows: both grow in place. */
static int reserve_landmarks(struct ny_columns *columns, size_t count)
{
    size_t d = columns->spec.geometry->d, capacity = 2 * columns->capacity;
    bool bytes = columns->preparation.way == NY_WAY_BYTES;
    int err = NY_OK;

    if (count <= columns->capacity) return NY_OK;
    if (capacity < count) capacity = round_up(count);
    if (ny_landmarks_are_rows(&columns->spec) && !columns->spec.slots)
        err = grow(columns, &columns->raw, capacity, columns->row_bytes);
    if (columns->preparation.way == NY_WAY_PRODUCT || columns->preparation.way == NY_WAY_DIRECT)
        if (!err) err = grow(columns, &columns->panels, capacity, d * sizeof(float));
    if (!err && bytes) err = grow(columns, &columns->bytes, capacity, 4 * ny_byte_quads(d));
    if (!err && bytes) err = grow(columns, &columns->byte_norms, capacity, sizeof(uint32_t));
    if (!err) err = grow(columns, &columns->norms, capacity, sizeof(float));
    if (!err) err = grow(columns, &columns->shift, capacity, sizeof(float));
    if (!err) err = grow(columns, &columns->shift_low, capacity, sizeof(float));
    if (!err) err = grow(columns, &columns->zeros, capacity, sizeof(float));
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
    struct ny_context *ctx = columns->spec.ctx;
    size_t d = columns->spec.geometry->d;
    double *scratch = ny_calloc(ctx, NY_MEM_DICTIONARY, d, sizeof(double));
    float *row = ny_calloc(ctx, NY_MEM_DICTIONARY, d, sizeof(float));
    int err = scratch && row ? NY_OK : NY_EBUDGET;

    if (!err && columns->raw)
        memcpy(columns->raw + columns->count * columns->row_bytes, rows.at,
               count * columns->row_bytes);
    for (size_t j = columns->count; !err && j < columns->count + count; j++)
        place(columns, j, scratch, row);
    ny_free(ctx, scratch);
    ny_free(ctx, row);
    return err;
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

size_t ny_columns_count(const struct ny_columns *columns)
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

size_t ny_columns_bytes(const struct ny_columns_spec *spec, size_t m)
{
    size_t d = spec->geometry->d, each = 4 * sizeof(float);

    if (spec->slots)
        return round_up(m) * each +
               ny_sparse_list_bytes(spec->dtype, m, ny_values_most(spec, m), 1) +
               ny_sparse_index_bytes(spec, m) + sizeof(struct ny_columns) + 12 * 128;
    if (ny_landmarks_are_rows(spec)) each += ny_raw_bytes(spec);
    if (ny_way_of(spec) == NY_WAY_BYTES)
        each += 4 * ny_byte_quads(d) + sizeof(uint32_t);
    else if (ny_way_of(spec) != NY_WAY_GIVEN)
        each += d * sizeof(float);
    /* preparation and the struct; alignment of a dozen blocks */
    return round_up(m) * each + 2 * d * sizeof(double) + sizeof(struct ny_columns) + 12 * 128;
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
