/*
 * Keeps lists of the nearest rows found so far (nearest/neighbors.h). Passes over all pairs offer
 * tiles of values, in which a row meets others in ascending order of their numbers (nearest/knn.c).
 *
 * Nearly all values are too far to enter a list. A vector loop over the tile's row therefore
 * reports the few that are below a bound, and only these are inserted one by one. Bounds, values
 * and row numbers lie in one block, which is the image of a checkpoint as it stands.
 */
#include "nearest/neighbors.h"

#include <math.h>
#include <string.h>

#include "columns/vector.h"

enum { COLS_MAX = 2048, ITEM_BYTES = sizeof(float) + sizeof(uint32_t) };

void ny_neighbors_clear(struct ny_neighbors *lists, size_t list)
{
    lists->bound[list] = INFINITY;
    for (size_t k = list * lists->width; k < (list + 1) * lists->width; k++) {
        lists->value[k] = INFINITY;
        lists->row[k] = NY_NO_ROW;
    }
}

/* Bounds, values and row numbers are in one block: it is the checkpoint's image as it stands. */
static void lay(struct ny_layout *l, struct ny_neighbors *lists)
{
    lists->bound =
        ny_lay(l, NY_MEM_DICTIONARY, lists->rows, sizeof(float) + lists->width * ITEM_BYTES);
    lists->found = ny_lay(l, NY_MEM_DICTIONARY, COLS_MAX + 1, sizeof(uint16_t));
}

int ny_neighbors_new(struct ny_neighbors *lists, struct ny_context *ctx, uint64_t first,
                     size_t rows, size_t width)
{
    *lists = (struct ny_neighbors){.own.ctx = ctx, .first = first, .rows = rows, .width = width};
    lay(&lists->own, lists);
    if (lists->own.err) return lists->own.err;
    lists->value = lists->bound + rows;
    lists->row = (uint32_t *)(void *)(lists->value + rows * width);
    for (size_t i = 0; i < rows; i++)
        ny_neighbors_clear(lists, i);
    return NY_OK;
}

void ny_neighbors_release(struct ny_neighbors *lists)
{
    ny_layout_free(&lists->own);
    *lists = (struct ny_neighbors){0};
}

void ny_neighbors_count(struct ny_layout *l, size_t rows, size_t width)
{
    lay(l, &(struct ny_neighbors){.rows = rows, .width = width});
}

bool ny_rows_below(const uint32_t *rows, size_t count, uint64_t n)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i] >= n && rows[i] != NY_NO_ROW) return false;
    return true;
}

size_t ny_neighbors_image_bytes(const struct ny_neighbors *lists)
{
    return lists->rows * (sizeof(float) + lists->width * ITEM_BYTES);
}

const void *ny_neighbors_piece(const void *lists, size_t at, size_t count)
{
    (void)count;
    return (const char *)((const struct ny_neighbors *)lists)->bound + at;
}

/* Returns how many of the ascending values are not above one. Lists are short, so that to compare
 * all takes less time than to guess at branches. */
static size_t place_of(const float *values, size_t count, float value)
{
    int32_t at = 0;

    for (size_t k = 0; k < count; k++)
        at += values[k] <= value;
    return (size_t)at;
}

/* Inserts after entries that are as near: they came first, and have the lower number. */
void ny_neighbors_insert(struct ny_neighbors *lists, size_t list, float value, uint64_t row)
{
    size_t last = lists->width - 1;
    float *values = lists->value + list * lists->width;
    uint32_t *rows = lists->row + list * lists->width;
    size_t at = place_of(values, last, value);

    memmove(values + at + 1, values + at, (last - at) * sizeof(*values));
    memmove(rows + at + 1, rows + at, (last - at) * sizeof(*rows));
    values[at] = value;
    rows[at] = (uint32_t)row;
    if (values[last] < lists->bound[list]) lists->bound[list] = values[last];
}

void ny_neighbors_offer(struct ny_neighbors *lists, const struct ny_values *values, int sides)
{
    size_t row_list = (size_t)(values->row - lists->first);
    size_t col_list = (size_t)(values->col - lists->first);
    float lowest[COLS_MAX];

    for (size_t j = 0; j < values->V.cols && !(sides & NY_SIDE_COLS); j++)
        lowest[j] = -INFINITY;
    for (size_t i = 0; i < values->V.rows; i++) {
        const float *v = values->V.at + i * values->V.stride;
        const float *bounds = sides & NY_SIDE_COLS ? lists->bound + col_list : lowest;
        float bound = sides & NY_SIDE_ROWS ? lists->bound[row_list + i] : -INFINITY;
        size_t hits = ny_vector()->scan->below(v, bound, bounds, values->V.cols, lists->found);

        for (size_t k = 0; k < hits; k++) {
            size_t j = lists->found[k];

            if (values->row + i == values->col + j) continue;
            if ((sides & NY_SIDE_ROWS) && v[j] < lists->bound[row_list + i])
                ny_neighbors_insert(lists, row_list + i, v[j], values->col + j);
            if ((sides & NY_SIDE_COLS) && v[j] < lists->bound[col_list + j])
                ny_neighbors_insert(lists, col_list + j, v[j], values->row + i);
        }
    }
}
