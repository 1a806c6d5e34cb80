/*
 * Looks for the landmarks that are near to rows (columns/columns.h). Distances of bytes are
 * compared with the bounds in registers, panel by panel, which takes little more than the products
 * do; other values are computed in blocks, and searched.
 */
#include "columns/columns_private.h"

/* Rows of bytes that meet a panel together, and their bounds. A short group repeats its first row,
 * and `there` has a bit for each row that is one: what fills up the last panel may be below any
 * bound. */
struct group {
    struct ny_byte_rows rows;
    unsigned there;
    float bound[NY_BYTE_ROWS];
};

/* Makes the group of rows first … of a strip. */
static void make_group(const struct ny_columns *columns, const struct ny_strip *strip,
                       const struct ny_columns_watch *watch, size_t first, struct group *group)
{
    group->there = 0;
    for (size_t r = 0; r < NY_BYTE_ROWS; r++) {
        bool there = first + r < strip->count;
        size_t row = there ? first + r : first;

        group->rows.row[r] = (const uint8_t *)strip->raw.at + row * columns->spec.geometry->d;
        group->rows.term[r] = strip->byte_terms[row];
        group->bound[r] = watch->bound[row];
        group->there |= (unsigned)there << r;
    }
}

/* Takes the values of a row and a panel of landmarks that are below the bound, which it returns. */
static float take_row(const struct ny_columns_watch *watch, size_t row, size_t first, size_t count,
                      const float *values)
{
    for (size_t j = 0; j < count; j++)
        if (values[j] < watch->bound[row]) watch->take(watch->arg, row, first + j, values[j]);
    return watch->bound[row];
}

/* Looks at rows first … of the strip and a panel of landmarks. */
static void look_at_panel(const struct ny_columns *columns, const struct ny_columns_watch *watch,
                          size_t first, size_t panel, struct group *group)
{
    size_t quads = ny_byte_quads(columns->spec.geometry->d), at = panel * NY_PANEL;
    size_t left = columns->count - at, count = left < NY_PANEL ? left : NY_PANEL;
    float out[NY_BYTE_ROWS][NY_PANEL];
    unsigned below = ny_vector_byte_below()(&group->rows, quads, columns->bytes + at * 4 * quads,
                                            columns->byte_norms + at, group->bound, out);

    for (below &= group->there; below; below &= below - 1) {
        size_t r = (size_t)__builtin_ctz(below);

        group->bound[r] = take_row(watch, first + r, at, count, out[r]);
    }
}

/* Looks at all landmarks, of bytes: a panel of them stays in the cache for all rows. */
static void look_at_bytes(const struct ny_columns *columns, const struct ny_strip *strip,
                          const struct ny_columns_watch *watch)
{
    struct group groups[NY_STRIP_ROWS / NY_BYTE_ROWS + 1];

    for (size_t i = 0; i * NY_BYTE_ROWS < strip->count; i++)
        make_group(columns, strip, watch, i * NY_BYTE_ROWS, &groups[i]);
    for (size_t panel = 0; panel * NY_PANEL < columns->count; panel++)
        for (size_t i = 0; i * NY_BYTE_ROWS < strip->count; i++)
            look_at_panel(columns, watch, i * NY_BYTE_ROWS, panel, &groups[i]);
}

/* Looks at some landmarks from `first` on, in blocks. */
static void look_at_block(const struct ny_columns *columns, const struct ny_strip *strip,
                          const struct ny_columns_watch *watch, size_t first)
{
    size_t left = columns->count - first, cols = left < NY_WATCH_COLS ? left : NY_WATCH_COLS;
    struct ny_matrix32 K = {watch->room, strip->count, cols, NY_WATCH_COLS, false};
    uint16_t found[NY_WATCH_COLS + 1];

    ny_columns_block(columns, strip, first, K);
    for (size_t i = 0; i < strip->count; i++) {
        const float *values = K.at + i * K.stride;
        size_t hits = ny_vector()->scan->below(values, watch->bound[i], values, cols, found);

        for (size_t k = 0; k < hits; k++)
            if (values[found[k]] < watch->bound[i])
                watch->take(watch->arg, i, first + found[k], values[found[k]]);
    }
}

void ny_columns_below(const struct ny_columns *columns, const struct ny_strip *strip,
                      const struct ny_columns_watch *watch)
{
    if (columns->preparation.way == NY_WAY_BYTES && columns->spec.params.gamma == 1) {
        look_at_bytes(columns, strip, watch);
        return;
    }
    for (size_t first = 0; first < columns->count; first += NY_WATCH_COLS)
        look_at_block(columns, strip, watch, first);
}
