/*
 * The rows of a front (front.h): read, kept, and moved.
 *
 * Rows that leave are overwritten by moving the later ones forward, in all arrays: so the order of
 * rows, on which the dictionary depends, never changes.
 *
 * Sparse rows are packed one after another into a room, and the front moves views of them. A unit
 * has no more values than the blocks it lies in, so that the room of a front is bounded by those,
 * and one full row does not make all of them dear. Rows from all over the store, candidates of a
 * randomly pivoted selection, may have more: then fewer of them are read at a time.
 */
#include "select/front.h"

#include <string.h>

#include "select/advance.h"
#include "stream/rows.h"

/* Makes the room of sparse rows. */
static int make_room(struct ny_front *front, size_t bytes)
{
    front->room = (struct ny_sparse_room){ny_alloc(front->own.ctx, NY_MEM_TILES, bytes), 0, bytes};
    return front->room.bytes ? NY_OK : NY_EBUDGET;
}

static void lay(struct ny_layout *l, struct ny_front *front, const struct ny_columns_spec *spec,
                size_t rows)
{
    size_t full = rows * spec->slots, most = ny_unit_values_most(spec);

    front->rows_max = rows;
    if (spec->slots) /* they are neighbours */
        front->room.size =
            rows * ny_sparse_bytes(spec->dtype, 1) +
            (full < most ? full : most) * (sizeof(uint32_t) + ny_dtype_size(spec->dtype));
    front->d = spec->slots ? (size_t)spec->row_nnz + 1 : spec->geometry->d;
    front->row_bytes = spec->slots ? sizeof(struct ny_sparse) : ny_raw_bytes(spec);
    front->index = ny_lay(l, NY_MEM_TILES, rows, sizeof(*front->index));
    front->early = ny_lay(l, NY_MEM_TILES, rows, sizeof(*front->early));
    front->raw = ny_lay(l, NY_MEM_TILES, rows * front->row_bytes + sizeof(uint64_t), 1);
    front->k = ny_lay(l, NY_MEM_TILES, rows, sizeof(double));
    front->origin_k = ny_lay(l, NY_MEM_TILES, rows, sizeof(double));
    front->scale = ny_lay(l, NY_MEM_TILES, rows, sizeof(double));
    front->delta = ny_lay(l, NY_MEM_TILES, rows, sizeof(double));
}

/* Lays out what strips have of their rows, which comes with the first ones. */
static void lay_strips(struct ny_layout *l, struct ny_front *front,
                       const struct ny_columns_spec *spec)
{
    size_t rows = front->rows_max;

    front->norms = ny_lay(l, NY_MEM_TILES, rows, sizeof(float));
    if (spec->slots) return;
    if (ny_way_of(spec) == NY_WAY_BYTES)
        front->byte_terms = ny_lay(l, NY_MEM_TILES, rows, sizeof(uint32_t));
    else
        front->rows = ny_lay(l, NY_MEM_TILES, rows, spec->geometry->d * sizeof(float));
}

static void lay_exact(struct ny_layout *l, struct ny_exact *exact)
{
    size_t square = (size_t)NY_FRONT_BLOCK * NY_FRONT_BLOCK;

    exact->S = ny_lay(l, NY_MEM_TILES, square, sizeof(double));
    exact->V = ny_lay(l, NY_MEM_TILES, square, sizeof(double));
    exact->delta = ny_lay(l, NY_MEM_TILES, NY_FRONT_BLOCK, sizeof(double));
    exact->early_delta = ny_lay(l, NY_MEM_TILES, NY_EARLY_ROWS, sizeof(double));
}

int ny_front_new(struct ny_front *front, struct ny_exact *exact, const struct ny_columns_spec *spec,
                 size_t rows, size_t width)
{
    *front = (struct ny_front){.own.ctx = spec->ctx, .dtype = spec->dtype, .slots = spec->slots};
    *exact = (struct ny_exact){.own.ctx = spec->ctx, .width = width};
    lay(&front->own, front, spec, rows);
    lay_exact(&exact->own, exact);
    return front->own.err || exact->own.err ? NY_EBUDGET : make_room(front, front->room.size);
}

void ny_front_free(struct ny_front *front, struct ny_exact *exact)
{
    ny_layout_free(&front->own);
    ny_free(front->own.ctx, front->room.bytes);
    ny_free(front->own.ctx, front->Z);
    ny_layout_free(&exact->own);
    ny_free(front->own.ctx, exact->Z);
    ny_free(front->own.ctx, exact->early);
}

void ny_front_later_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t rows,
                          size_t width, size_t columns)
{
    size_t exact_row = ny_front_stride(columns, sizeof(double)) * sizeof(double);

    lay_strips(l, &(struct ny_front){.rows_max = rows}, spec);
    ny_lay(l, NY_MEM_TILES, rows, ny_front_stride(columns, sizeof(float)) * sizeof(float));
    ny_columns_room_lay(l, spec, width);
    ny_lay(l, NY_MEM_TILES, NY_FRONT_BLOCK + NY_ADVANCE_COLUMNS, exact_row);
}

void ny_front_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t rows)
{
    struct ny_front front = {0};

    lay(l, &front, spec, rows);
    ny_lay(l, NY_MEM_TILES, front.room.size, 1);
    lay_exact(l, &(struct ny_exact){0});
    ny_columns_square_count(l, spec, NY_FRONT_BLOCK, 1);
}

void ny_early_count(struct ny_layout *l, size_t columns)
{
    ny_lay(l, NY_MEM_TILES, NY_EARLY_ROWS,
           ny_front_stride(columns, sizeof(double)) * sizeof(double));
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Copies what a strip has of its rows, as rows `first` … of the front. */
static void keep(struct ny_front *front, const struct ny_strip *strip, size_t first)
{
    size_t count = strip->count, d = front->d;

    memcpy(front->norms + first, strip->norms, count * sizeof(float));
    if (front->rows) memcpy(front->rows + first * d, strip->rows, count * d * sizeof(float));
    if (front->byte_terms)
        memcpy(front->byte_terms + first, strip->byte_terms, count * sizeof(uint32_t));
}

/* Doubles the room, for rows that are no neighbours: the copies in it move. */
static int grow_room(struct ny_front *front, size_t count)
{
    struct ny_sparse *view = (struct ny_sparse *)(void *)front->raw;
    struct ny_sparse_room before = front->room;
    int err = make_room(front, 2 * before.size + ny_sparse_bytes(front->dtype, front->slots));

    if (err) {
        front->room = before;
        return err;
    }
    before.size = before.used;
    for (size_t i = 0; i < count; i++)
        (void)ny_sparse_room_put(&front->room, front->dtype, view[i], &view[i]);
    ny_free(front->own.ctx, before.bytes);
    return NY_OK;
}

/* Keeps copies of sparse rows as rows `first` … of the front. */
static int keep_sparse(struct ny_front *front, const struct ny_sparse *rows, size_t first,
                       size_t count)
{
    struct ny_sparse *view = (struct ny_sparse *)(void *)front->raw;
    int err = NY_OK;

    for (size_t i = 0; !err && i < count; i++)
        if (!ny_sparse_room_put(&front->room, front->dtype, rows[i], &view[first + i])) {
            err = grow_room(front, first + i);
            if (!err)
                (void)ny_sparse_room_put(&front->room, front->dtype, rows[i], &view[first + i]);
        }
    return err;
}

int ny_front_load(struct ny_front *front, const struct ny_dictionary *dictionary,
                  struct ny_columns_workspace *workspace, const struct ny_tile *tile, size_t first)
{
    size_t left = tile->rows - first, rows = left < front->rows_max ? left : front->rows_max;
    int err = NY_OK;

    front->room.used = 0;
    if (!front->norms) lay_strips(&front->own, front, &dictionary->spec);
    if (front->own.err) return front->own.err;
    for (size_t at = 0, count; at < rows; at += count) {
        struct ny_strip strip;

        count = rows - at < NY_FRONT_STRIP ? rows - at : NY_FRONT_STRIP;
        err = ny_columns_strip(dictionary->none, workspace, tile, first + at, count, &strip);
        if (err) return err;
        count = strip.count;
        if (front->slots)
            err = keep_sparse(front, strip.raw.list, at, count);
        else
            memcpy(front->raw + at * front->row_bytes, strip.raw.at, count * front->row_bytes);
        if (err) return err;
        keep(front, &strip, at);
    }
    for (size_t i = 0; i < rows; i++)
        front->index[i] = (uint32_t)(first + i);
    for (size_t i = 0; i < rows; i++)
        front->early[i] = NY_NOT_EARLY;
    front->count = rows;
    front->done = 0;
    return ny_columns_diagonal(dictionary->none, ny_front_rows(front), rows, front->k);
}

/* Rows on their way into the front, where `view` is. */
struct gathering {
    struct ny_front *front;
    struct ny_sparse *view;
};

static int take_count(void *arg, size_t position, struct ny_sparse row)
{
    ((struct gathering *)arg)->view[position].count = row.count;
    return NY_OK;
}

static int take_row(void *arg, size_t position, struct ny_sparse row)
{
    struct gathering *gathering = arg;

    (void)ny_sparse_room_put(&gathering->front->room, gathering->front->dtype, row,
                             &gathering->view[position]);
    return NY_OK;
}

/* Returns how many of the first rows there is room for, at least one, from their counts. */
static size_t rows_that_fit(const struct ny_front *front, const struct ny_sparse *view,
                            size_t count)
{
    size_t bytes = 0, rows = 0;

    while (rows < count) {
        bytes += ny_sparse_bytes(front->dtype, view[rows].count);
        if (bytes > front->room.size) break;
        rows++;
    }
    return rows ? rows : 1;
}

int ny_front_gather(struct ny_front *front, struct ny_rows *X, const uint64_t *rows, size_t count)
{
    struct gathering gathering = {front, (struct ny_sparse *)(void *)front->raw};
    int err = NY_OK;

    front->done = 0;
    front->count = count;
    if (!front->slots) return X->ops->gather(X, 0, rows, count, front->raw);
    front->room.used = 0;
    if (count * ny_sparse_bytes(front->dtype, front->slots) > front->room.size) {
        err = X->ops->visit(X, front->slots, rows, count, take_count, &gathering);
        if (!err) front->count = rows_that_fit(front, gathering.view, count);
    }
    if (err) return err;
    return X->ops->visit(X, front->slots, rows, front->count, take_row, &gathering);
}

int ny_front_begin(struct ny_front *front, const struct ny_dictionary *dictionary)
{
    int err;

    memcpy(front->delta, front->k, front->count * sizeof(*front->delta));
    memcpy(front->scale, front->k, front->count * sizeof(*front->scale));
    if (!dictionary->options.affine) return NY_OK;
    err = ny_columns_exact(dictionary->origin, ny_front_rows(front), front->count, 0,
                           ny_matrix(front->origin_k, front->count, 1));
    for (size_t i = 0; i < front->count; i++) {
        front->delta[i] =
            (front->k[i] - front->origin_k[i]) - (front->origin_k[i] - dictionary->origin_k);
        if (front->delta[i] > front->scale[i]) front->scale[i] = front->delta[i];
    }
    return err;
}

int ny_front_reserve(struct ny_front *front, size_t columns)
{
    size_t stride = ny_front_stride(columns, sizeof(float));
    float *Z;

    if (columns <= front->stride) return NY_OK;
    if (!front->done) {
        ny_free(front->own.ctx, front->Z);
        front->Z = NULL;
        front->stride = 0;
    }
    Z = ny_calloc(front->own.ctx, NY_MEM_TILES, front->rows_max, stride * sizeof(float));
    if (!Z) return NY_EBUDGET;
    for (size_t i = 0; front->done && i < front->count; i++)
        memcpy(Z + i * stride, front->Z + i * front->stride, front->done * sizeof(*Z));
    ny_free(front->own.ctx, front->Z);
    front->Z = Z;
    front->stride = stride;
    return NY_OK;
}

void ny_front_move(struct ny_front *front, size_t to, size_t from)
{
    if (to == from) return;
    front->index[to] = front->index[from];
    front->early[to] = front->early[from];
    memcpy(front->raw + to * front->row_bytes, front->raw + from * front->row_bytes,
           front->row_bytes);
    if (front->rows)
        memcpy(front->rows + to * front->d, front->rows + from * front->d,
               front->d * sizeof(float));
    if (front->norms) front->norms[to] = front->norms[from];
    if (front->byte_terms) front->byte_terms[to] = front->byte_terms[from];
    front->k[to] = front->k[from];
    front->origin_k[to] = front->origin_k[from];
    front->scale[to] = front->scale[from];
    front->delta[to] = front->delta[from];
    if (front->done)
        memcpy(front->Z + to * front->stride, front->Z + from * front->stride,
               front->done * sizeof(float));
}

struct ny_front ny_front_view(const struct ny_front *front, size_t first, size_t count)
{
    struct ny_front view = *front;

    view.count = count;
    view.flops = 0;
    view.index += first;
    view.early += first;
    view.raw += first * front->row_bytes;
    if (view.rows) view.rows += first * front->d;
    if (view.norms) view.norms += first;
    if (view.byte_terms) view.byte_terms += first;
    view.k += first;
    view.origin_k += first;
    view.scale += first;
    view.delta += first;
    if (view.Z) view.Z += first * front->stride;
    return view;
}
