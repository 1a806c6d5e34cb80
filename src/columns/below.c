/*
 * Looks for the landmarks that are near to rows (columns/columns.h). Distances of bytes are
 * compared with the bounds in registers, panel by panel, which takes little more than the products
 * do; other values are computed in blocks, and searched.
 */
#include "columns/columns_private.h"

/* Takes the values of a row and a panel of landmarks that are below the bound. */
static void take_row(const struct ny_columns_watch *watch, size_t row, size_t first, size_t count,
                     const float *values)
{
    for (size_t j = 0; j < count; j++)
        if (values[j] < watch->bound[row]) watch->take(watch->arg, row, first + j, values[j]);
}

/* Looks at rows first … of the strip and a panel of landmarks. */
static void look_at_bytes(const struct ny_columns *columns, const struct ny_strip *strip,
                          const struct ny_columns_watch *watch, size_t first, size_t panel)
{
    size_t d = columns->spec.geometry->d, quads = ny_byte_quads(d), at = panel * NY_PANEL;
    size_t rows = strip->count - first, left = columns->count - at, group = NY_BYTE_ROWS;
    struct ny_byte_rows bytes;
    float bound[NY_BYTE_ROWS], out[NY_BYTE_ROWS][NY_PANEL];
    unsigned below;

    if (group > rows) group = rows;
    for (size_t r = 0; r < NY_BYTE_ROWS; r++) {
        size_t row = r < group ? first + r : first; /* a short group repeats its first row */

        bytes.row[r] = (const uint8_t *)strip->raw.at + row * d;
        bytes.term[r] = strip->byte_terms[row];
        bound[r] = r < group ? watch->bound[row] : -1;
    }
    below = ny_vector_byte_below()(&bytes, quads, columns->bytes + at * 4 * quads,
                                   columns->byte_norms + at, bound, out);
    for (; below; below &= below - 1) {
        size_t r = (size_t)__builtin_ctz(below);

        take_row(watch, first + r, at, left < NY_PANEL ? left : NY_PANEL, out[r]);
    }
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
    bool bytes = columns->preparation.way == NY_WAY_BYTES && columns->spec.params.gamma == 1;

    for (size_t first = 0; !bytes && first < columns->count; first += NY_WATCH_COLS)
        look_at_block(columns, strip, watch, first);
    for (size_t panel = 0; bytes && panel * NY_PANEL < columns->count; panel++)
        for (size_t row = 0; row < strip->count; row += NY_BYTE_ROWS)
            look_at_bytes(columns, strip, watch, row, panel);
}
