/*
 * Looks for the landmarks that are near to rows (columns/columns.h). Distances of bytes are
 * compared with the bounds in registers, panel by panel, which takes little more than the products
 * do; other values are computed in blocks, and searched.
 */
#include "base/prefetch.h"
#include "columns/columns_private.h"

/* Rows of bytes that meet a panel together. A short group repeats its first row, and `there` has a
 * bit for each row that is one: what fills up the last panel may be below any bound. */
struct group {
    struct ny_byte_rows rows;
    unsigned there;
    uint32_t row[NY_BYTE_ROWS]; /* their places in the strip */
};

/* Returns how many rows wait, and which row of the strip the i-th of them is. */
static size_t waiting(const struct ny_columns_watch *watch, const struct ny_strip *strip)
{
    return watch->row ? watch->rows : strip->count;
}

static uint32_t waiting_row(const struct ny_columns_watch *watch, size_t i)
{
    return watch->row ? watch->row[i] : (uint32_t)i;
}

/* Makes the group of the rows that wait from the i-th on. */
static void make_group(const struct ny_columns *columns, const struct ny_strip *strip,
                       const struct ny_columns_watch *watch, size_t i, struct group *group)
{
    size_t left = waiting(watch, strip) - i;

    group->there = 0;
    for (size_t r = 0; r < NY_BYTE_ROWS; r++) {
        bool there = r < left;
        uint32_t row = waiting_row(watch, there ? i + r : i);

        group->rows.row[r] = (const uint8_t *)strip->raw.at + row * columns->spec.geometry->d;
        group->rows.term[r] = strip->byte_terms[row];
        group->row[r] = row;
        group->rows.bound[r] = watch->bound[row];
        group->there |= (unsigned)there << r;
    }
}

/* Returns the landmarks of a panel that are watched, a bit each. */
static uint32_t watched(const struct ny_columns_watch *watch, size_t panel)
{
    size_t at = panel * NY_PANEL, first = watch->first > at ? watch->first - at : 0;
    size_t end = watch->end - at < NY_PANEL ? watch->end - at : NY_PANEL;

    return UINT32_MAX << first & UINT32_MAX >> (NY_PANEL - end);
}

/* Asks for what is read of the landmarks of a panel that are below the bounds of rows `there`. */
static void ask_for(const struct ny_columns_watch *watch, size_t panel,
                    const struct ny_byte_found *found, unsigned there)
{
    const char *read = (const char *)watch->read + panel * NY_PANEL * watch->read_bytes;
    uint32_t below = 0;

    for (; there; there &= there - 1)
        below |= found->below[__builtin_ctz(there)];
    for (; below; below &= below - 1)
        ny_prefetch(read + (size_t)__builtin_ctz(below) * watch->read_bytes, watch->read_bytes);
}

/* Takes those landmarks `below`, a bit each, of a panel that are still below the bound of a row,
 * which each that is taken may lower. Returns the bound. */
static float take_row(const struct ny_columns_watch *watch, size_t row, size_t panel,
                      uint32_t below, const float *values)
{
    for (; below; below &= below - 1) {
        size_t j = (size_t)__builtin_ctz(below);

        if (values[j] < watch->bound[row])
            watch->take(watch->arg, row, panel * NY_PANEL + j, values[j]);
    }
    return watch->bound[row];
}

/* Looks at a group of rows and a panel of landmarks. */
static void look_at_panel(const struct ny_columns *columns, const struct ny_columns_watch *watch,
                          size_t panel, struct group *group)
{
    size_t quads = ny_byte_quads(columns->spec.geometry->d), at = panel * NY_PANEL;
    struct ny_byte_found found;
    unsigned there = ny_vector_bytes()->below(&group->rows, quads, columns->bytes + at * 4 * quads,
                                              columns->byte_norms + at, &found);

    if (watch->read) ask_for(watch, panel, &found, there & group->there);
    for (there &= group->there; there; there &= there - 1) {
        size_t r = (size_t)__builtin_ctz(there);

        group->rows.bound[r] = take_row(watch, group->row[r], panel,
                                        found.below[r] & watched(watch, panel), found.value[r]);
    }
}

/* Looks at the landmarks, in blocks, for `count` rows of the strip that follow one another. */
static void look_at_blocks(const struct ny_columns *columns, const struct ny_strip *strip,
                           const struct ny_columns_watch *watch, size_t row, size_t count)
{
    struct ny_strip part = ny_strip_part(columns, strip, row, count);
    uint16_t found[NY_WATCH_COLS + 1];

    for (size_t first = watch->first, cols; first < watch->end; first += cols) {
        struct ny_matrix32 K = {watch->room, count, 0, NY_WATCH_COLS, false};

        cols = watch->end - first < NY_WATCH_COLS ? watch->end - first : NY_WATCH_COLS;
        K.cols = cols;
        ny_columns_block(columns, &part, first, K);
        for (size_t i = 0; i < count; i++) {
            const float *values = K.at + i * K.stride;
            size_t hits =
                ny_vector()->scan->below(values, watch->bound[row + i], values, cols, found);

            for (size_t k = 0; k < hits; k++)
                if (values[found[k]] < watch->bound[row + i])
                    watch->take(watch->arg, row + i, first + found[k], values[found[k]]);
        }
    }
}

void ny_columns_below(const struct ny_columns *columns, const struct ny_strip *strip,
                      const struct ny_columns_watch *watch)
{
    struct group groups[NY_STRIP_ROWS / NY_BYTE_ROWS + 1];
    size_t rows = waiting(watch, strip);
    bool bytes = columns->preparation.way == NY_WAY_BYTES && columns->spec.params.gamma == 1;

    /* A panel of landmarks of bytes stays in the cache for all rows. */
    for (size_t i = 0; bytes && i * NY_BYTE_ROWS < rows; i++)
        make_group(columns, strip, watch, i * NY_BYTE_ROWS, &groups[i]);
    for (size_t panel = watch->first / NY_PANEL; bytes && panel * NY_PANEL < watch->end; panel++)
        for (size_t i = 0; i * NY_BYTE_ROWS < rows; i++)
            look_at_panel(columns, watch, panel, &groups[i]);
    for (size_t i = 0, run; !bytes && i < rows; i += run) {
        size_t row = waiting_row(watch, i);

        for (run = 1; i + run < rows && waiting_row(watch, i + run) == row + run;)
            run++;
        look_at_blocks(columns, strip, watch, row, run);
    }
}
