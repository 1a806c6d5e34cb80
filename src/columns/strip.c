/* One strip of rows: read, prepared, and multiplied with the landmarks. */
#include <string.h>

#include "columns/columns_private.h"

/* Rows that are read into the room of sparse ones at once. */
static size_t raw_rows_of(const struct ny_columns_spec *spec, size_t rows)
{
    const size_t usual = 128 << 10;
    size_t fit = usual / ny_raw_bytes(spec);

    if (!spec->slots || fit > rows) return rows;
    return fit ? fit : 1;
}

/* Lays out the room in which sparse rows are packed: a full one fits at any time. */
static void lay_sparse(struct ny_layout *l, struct ny_columns_workspace *workspace,
                       const struct ny_columns_spec *spec)
{
    const size_t usual = 2 << 20;
    size_t full = ny_raw_bytes(spec), all = workspace->rows_max * full;
    size_t bytes = usual + full < all ? usual + full : all;

    workspace->room = (struct ny_sparse_room){ny_lay(l, NY_MEM_TILES, bytes, 1), 0, bytes};
    workspace->sparse = ny_lay(l, NY_MEM_TILES, workspace->rows_max, sizeof(struct ny_sparse));
    workspace->scratch = ny_lay(l, NY_MEM_TILES, NY_SPARSE_SUMS, sizeof(double));
}

/* Lays out the room of dense rows. */
static void lay_dense(struct ny_layout *l, struct ny_columns_workspace *workspace,
                      const struct ny_columns_spec *spec)
{
    size_t d = spec->geometry->d, rows = workspace->rows_max;

    workspace->scratch = ny_lay(l, NY_MEM_TILES, d, sizeof(double));
    if (ny_way_of(spec) == NY_WAY_BYTES)
        workspace->byte_terms = ny_lay(l, NY_MEM_TILES, rows, sizeof(uint32_t));
    else
        workspace->rows = ny_lay(l, NY_MEM_TILES, rows, d * sizeof(float));
}

struct ny_columns_workspace *
ny_columns_workspace_lay(struct ny_layout *l, const struct ny_columns_spec *spec, size_t most)
{
    struct ny_columns_workspace spare,
        *workspace = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);
    size_t rows = spec->rows && spec->rows < most ? spec->rows : most;
    size_t raw_rows = raw_rows_of(spec, rows);

    *workspace = (struct ny_columns_workspace){.rows_max = rows, .raw_rows = raw_rows};
    workspace->raw = ny_lay(l, NY_MEM_TILES, raw_rows * ny_raw_bytes(spec) + sizeof(uint32_t), 1);
    workspace->norms = ny_lay(l, NY_MEM_TILES, rows, sizeof(float));
    if (spec->slots)
        lay_sparse(l, workspace, spec);
    else
        lay_dense(l, workspace, spec);
    return ny_laid(l, workspace);
}

static void prepare_bytes(const struct ny_columns *columns, struct ny_columns_workspace *workspace,
                          size_t count)
{
    const struct ny_prepare_ops *ops = ny_vector()->prepare;
    size_t d = columns->spec.geometry->d;

    for (size_t i = 0; i < count; i++) {
        uint32_t sum, square_sum;

        ops->byte_sums(workspace->raw + i * d, d, &sum, &square_sum);
        workspace->byte_terms[i] = square_sum - 2 * NY_BYTE_BIAS * sum;
    }
}

static void prepare_floats(const struct ny_columns *columns, struct ny_columns_workspace *workspace,
                           size_t count)
{
    size_t d = columns->spec.geometry->d;

    for (size_t i = 0; i < count; i++) {
        float norm = ny_preparation_row32(&columns->preparation, &columns->spec,
                                          workspace->raw + i * columns->row_bytes,
                                          workspace->scratch, workspace->rows + i * d);
        workspace->norms[i] = columns->preparation.way == NY_WAY_PRODUCT ? norm : 0;
    }
}

/* Dense rows of workspace->raw. */
static struct ny_strip prepare(const struct ny_columns *columns,
                               struct ny_columns_workspace *workspace, size_t count)
{
    if (columns->preparation.way == NY_WAY_BYTES)
        prepare_bytes(columns, workspace, count);
    else
        prepare_floats(columns, workspace, count);
    return (struct ny_strip){.raw = ny_raw_rows(workspace->raw),
                             .count = count,
                             .rows = workspace->rows,
                             .norms = workspace->norms,
                             .byte_terms = workspace->byte_terms};
}

/* Sparse rows, wherever they are. */
static struct ny_strip strip_of(const struct ny_columns_workspace *workspace,
                                const struct ny_sparse *rows, size_t count)
{
    return (struct ny_strip){.raw = ny_raw_list(rows),
                             .count = count,
                             .norms = workspace->norms,
                             .sums = workspace->scratch};
}

/* Packs sparse rows of the tile until there is room for no full one. */
static int read_sparse(const struct ny_columns_spec *spec, struct ny_columns_workspace *workspace,
                       const struct ny_tile *tile, size_t first, size_t *count)
{
    size_t full = ny_raw_bytes(spec), wanted = *count;
    struct ny_sparse_room *room = &workspace->room;

    room->used = *count = 0;
    while (*count < wanted) {
        size_t fit = (room->size - room->used) / full, rows = workspace->raw_rows;
        int err;

        if (!fit) return NY_OK;
        if (rows > fit) rows = fit;
        if (rows > wanted - *count) rows = wanted - *count;
        err = ny_tile_strip(tile, first + *count, rows, workspace->raw);
        if (err) return err;
        for (size_t i = 0; i < rows; i++)
            (void)ny_sparse_room_put(room, spec->dtype,
                                     ny_sparse_of(workspace->raw + i * full, spec->slots),
                                     &workspace->sparse[(*count)++]);
    }
    return NY_OK;
}

int ny_columns_strip(const struct ny_columns *columns, struct ny_columns_workspace *workspace,
                     const struct ny_tile *tile, size_t first, size_t count, struct ny_strip *strip)
{
    bool sparse = columns->spec.slots;
    int err;

    if (count > workspace->rows_max) count = workspace->rows_max;
    err = sparse ? read_sparse(&columns->spec, workspace, tile, first, &count)
                 : ny_tile_strip(tile, first, count, workspace->raw);
    if (err) return err;
    *strip =
        sparse ? strip_of(workspace, workspace->sparse, count) : prepare(columns, workspace, count);
    return NY_OK;
}

/* Prepared already, and the norms kept. */
static struct ny_strip own_floats(const struct ny_columns *columns,
                                  struct ny_columns_workspace *workspace, size_t first,
                                  size_t count)
{
    size_t d = columns->spec.geometry->d;
    float scale = 1 / ny_panel_factor(columns);

    for (size_t i = 0; i < count; i++) {
        const float *lane = ny_panel_lane(columns, first + i);

        for (size_t k = 0; k < d; k++)
            workspace->rows[i * d + k] = scale * lane[k * NY_PANEL];
    }
    return (struct ny_strip){
        .count = count, .rows = workspace->rows, .norms = columns->norms + first};
}

struct ny_strip ny_columns_own_strip(const struct ny_columns *columns,
                                     struct ny_columns_workspace *workspace, size_t first,
                                     size_t count)
{
    if (columns->preparation.way == NY_WAY_PRODUCT || columns->preparation.way == NY_WAY_DIRECT)
        return own_floats(columns, workspace, first, count);
    if (columns->spec.slots) return strip_of(workspace, columns->held.row + first, count);
    memcpy(workspace->raw, columns->raw + first * columns->row_bytes, count * columns->row_bytes);
    return prepare(columns, workspace, count);
}

struct ny_strip ny_strip_part(const struct ny_columns *columns, const struct ny_strip *strip,
                              size_t first, size_t count)
{
    struct ny_strip part = *strip;

    part.raw = ny_raw_rows_from(&columns->spec, strip->raw, first);
    part.count = count;
    if (strip->rows) part.rows += first * columns->spec.geometry->d;
    if (strip->norms) part.norms += first;
    if (strip->byte_terms) part.byte_terms += first;
    return part;
}

/* The lanes of panel p that are landmarks first … first+cols−1: from lane *lane on, `length` of
 * them, for column *column of the block. */
struct lanes {
    size_t lane, column, length;
};

/* Finds which lanes of a panel belong to landmarks first … first+cols−1: blocks may begin and end
 * inside a panel. */
static struct lanes lanes_of(size_t panel, size_t first, size_t cols)
{
    size_t begin = panel * NY_PANEL, end = begin + NY_PANEL;

    if (begin < first) begin = first;
    if (end > first + cols) end = first + cols;
    return (struct lanes){begin % NY_PANEL, begin - first, end - begin};
}

/* Returns the loop of the base quantity. Rows of the product way use dot for distances too: their
 * panels hold −2y. */
static ny_direct_fn *direct_of(const struct ny_columns *columns)
{
    const struct ny_direct_ops *ops = ny_vector()->direct;

    if (columns->preparation.way == NY_WAY_PRODUCT || columns->spec.kernel->base == NY_BASE_DOT)
        return ops->dot;
    return columns->spec.kernel->base == NY_BASE_SQUARE ? ops->square : ops->absolute;
}

/* Groups of rows; the last, short one repeats its first row. */
static void base_floats(const struct ny_columns *columns, const struct ny_strip *strip,
                        size_t first, struct ny_matrix32 K)
{
    ny_direct_fn *direct = direct_of(columns);
    size_t d = columns->spec.geometry->d;
    const float *rows[NY_DIRECT_ROWS];
    float part[NY_DIRECT_ROWS][NY_PANEL];

    for (size_t p = first / NY_PANEL; p * NY_PANEL < first + K.cols; p++) {
        struct lanes lanes = lanes_of(p, first, K.cols);
        const float *panel = columns->panels + p * d * NY_PANEL;

        for (size_t i = 0; i < strip->count; i += NY_DIRECT_ROWS) {
            float *out = K.at + i * K.stride + lanes.column;
            size_t left = strip->count - i, group = left < NY_DIRECT_ROWS ? left : NY_DIRECT_ROWS;

            for (size_t r = 0; r < NY_DIRECT_ROWS; r++)
                rows[r] = strip->rows + (r < group ? i + r : i) * d;
            if (lanes.length == NY_PANEL && group == NY_DIRECT_ROWS) {
                direct(rows, d, panel, out, K.stride);
                continue;
            }
            direct(rows, d, panel, &part[0][0], NY_PANEL);
            for (size_t r = 0; r < group; r++)
                memcpy(out + r * K.stride, &part[r][lanes.lane], lanes.length * sizeof(float));
        }
    }
}

static void base_bytes(const struct ny_columns *columns, const struct ny_strip *strip, size_t first,
                       struct ny_matrix32 K)
{
    const struct ny_byte_ops *bytes = ny_vector_bytes();
    size_t d = columns->spec.geometry->d, quads = ny_byte_quads(d);
    struct ny_byte_rows rows;
    float out[NY_BYTE_ROWS][NY_PANEL];

    for (size_t p = first / NY_PANEL; p * NY_PANEL < first + K.cols; p++) {
        struct lanes lanes = lanes_of(p, first, K.cols);

        for (size_t i = 0; i < strip->count; i += NY_BYTE_ROWS) {
            size_t group = strip->count - i < NY_BYTE_ROWS ? strip->count - i : NY_BYTE_ROWS;

            for (size_t r = 0; r < NY_BYTE_ROWS; r++) {
                size_t row = r < group ? i + r : i; /* a last, short group repeats its first row */

                rows.row[r] = (const uint8_t *)strip->raw.at + row * d;
                rows.term[r] = strip->byte_terms[row];
            }
            bytes->square(&rows, quads, columns->bytes + p * quads * NY_PANEL * 4,
                          columns->byte_norms + p * NY_PANEL, out);
            for (size_t r = 0; r < group; r++)
                memcpy(K.at + (i + r) * K.stride + lanes.column, &out[r][lanes.lane],
                       lanes.length * sizeof(float));
        }
    }
}

void ny_strip_base(const struct ny_columns *columns, const struct ny_strip *strip, size_t first,
                   struct ny_matrix32 K)
{
    size_t d = columns->spec.geometry->d;

    if (columns->preparation.way == NY_WAY_GIVEN) {
        for (size_t i = 0; i < strip->count; i++)
            memcpy(K.at + i * K.stride, strip->rows + i * d + first, K.cols * sizeof(float));
    } else if (columns->preparation.way == NY_WAY_SPARSE) {
        ny_sparse_strip_base(columns, strip, first, K);
    } else if (columns->preparation.way == NY_WAY_BYTES) {
        base_bytes(columns, strip, first, K);
    } else {
        base_floats(columns, strip, first, K);
    }
}
