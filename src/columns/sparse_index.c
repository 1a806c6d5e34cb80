/*
 * An index of sparse rows by column, and what two rows are to one another. columns.c indexes the
 * landmarks; columns/sparse.c asks for a row's products with them, strip by strip for tiles and in
 * f64 for exact values.
 *
 * Rows are cut in panels of 2,048. A panel is a matrix by columns: start[j] … start[j+1]−1 are the
 * entries of column j, each with its row in the panel, in 16 bits, and its value in the type of the
 * raw rows: a byte where the store has bytes. A row x of 77 values then runs through 77 short lists
 * and adds x_j·y_j to the sum of each y it meets; rows without a common column are never touched,
 * and the 2,048 sums stay in cache (sparse_base.c).
 *
 * Each sum runs over the columns in ascending order in f64, so it depends on the two rows alone,
 * and neither on the panel nor on the rows around. A row that is appended rebuilds the last panel
 * only.
 */
#include "columns/sparse_index.h"

#include <math.h>
#include <string.h>

#include "columns/columns_private.h"

/* The factor of column j, in the units of the prepared rows. */
static inline double factor_of(const struct ny_sparse_preparation *in, size_t j)
{
    return in->spec->geometry->factor[j] * in->preparation->unit;
}

/* Returns the prepared value k of a row, x·factor, in f64; a centre is left to corrections. */
static inline double value_of(const struct ny_sparse_preparation *in, const struct ny_sparse *row,
                              size_t k)
{
    return ny_dtype_at(in->spec->dtype, row->value, k) * factor_of(in, row->index[k]);
}

/* ---- the index ----------------------------------------------------------------------------- */

/* Makes room for so many panels; new ones have no arrays yet. */
static int reserve_panels(struct ny_sparse_index *index, struct ny_context *ctx, size_t panels)
{
    int err;

    if (panels <= index->panels_max) return NY_OK;
    err = ny_resize_array(ctx, NY_MEM_DICTIONARY, &index->panel, panels, sizeof(*index->panel));
    if (err) return err;
    memset(index->panel + index->panels_max, 0,
           (panels - index->panels_max) * sizeof(*index->panel));
    index->panels_max = panels;
    return NY_OK;
}

/* Makes room for the entries of one panel and for the d + 1 starts of its columns. */
static int reserve_entries(struct ny_sparse_panel *panel, const struct ny_columns_spec *spec,
                           size_t entries)
{
    struct ny_context *ctx = spec->ctx;
    int err = NY_OK;

    if (!panel->start)
        err = ny_resize_array(ctx, NY_MEM_DICTIONARY, &panel->start, spec->geometry->d + 1,
                              sizeof(*panel->start));
    if (err || (entries <= panel->entries_max && panel->row && panel->value)) return err;
    err = ny_resize_array(ctx, NY_MEM_DICTIONARY, &panel->row, entries, sizeof(*panel->row));
    if (!err)
        err = ny_resize_array(ctx, NY_MEM_DICTIONARY, &panel->value, entries,
                              ny_dtype_size(spec->dtype));
    if (!err) panel->entries_max = entries;
    return err;
}

/* Sorts the entries of rows first … first+count−1 by column; in a column they stay in order. */
static int build_panel(struct ny_sparse_panel *panel, const struct ny_sparse_preparation *in,
                       struct ny_raw_rows rows, size_t first, size_t count)
{
    size_t d = in->spec->geometry->d, size = ny_dtype_size(in->spec->dtype), entries = 0;
    uint32_t *start;
    int err;

    for (size_t i = 0; i < count; i++)
        entries += ny_sparse_row(in->spec, rows, first + i).count;
    if (entries > UINT32_MAX / 2)
        return ny_fail(in->spec->ctx, NY_EBUDGET, "%zu values of landmarks cannot be indexed",
                       entries);
    err = reserve_entries(panel, in->spec, entries);
    if (err) return err;
    start = panel->start;
    memset(start, 0, (d + 1) * sizeof(*start));
    for (size_t i = 0; i < count; i++) {
        struct ny_sparse row = ny_sparse_row(in->spec, rows, first + i);

        for (size_t k = 0; k < row.count; k++)
            start[row.index[k] + 1]++;
    }
    for (size_t j = 0; j < d; j++)
        start[j + 1] += start[j];
    for (size_t i = 0; i < count; i++) {
        struct ny_sparse row = ny_sparse_row(in->spec, rows, first + i);

        for (size_t k = 0; k < row.count; k++) {
            uint32_t at = start[row.index[k]]++;

            panel->row[at] = (uint16_t)i;
            memcpy((char *)panel->value + at * size, (const char *)row.value + k * size, size);
        }
    }
    memmove(start + 1, start, d * sizeof(*start)); /* each has moved to the next column's */
    start[0] = 0;
    panel->rows = count;
    return NY_OK;
}

int ny_sparse_index_extend(struct ny_sparse_index *index, const struct ny_sparse_preparation *in,
                           struct ny_raw_rows rows, size_t count)
{
    struct ny_context *ctx = in->spec->ctx;
    size_t begin = index->count / NY_INDEX_ROWS * NY_INDEX_ROWS;
    int err = reserve_panels(index, ctx, (count + NY_INDEX_ROWS - 1) / NY_INDEX_ROWS);

    if (!err && count > index->norms_max) {
        size_t most = count > 2 * index->norms_max ? count : 2 * index->norms_max;

        err = ny_resize_array(ctx, NY_MEM_DICTIONARY, &index->norms, most, sizeof(*index->norms));
        if (!err) index->norms_max = most;
    }
    for (size_t i = index->count; !err && i < count; i++)
        index->norms[i] = ny_sparse_point_of(in, ny_sparse_row(in->spec, rows, i)).norms;
    for (size_t first = begin; !err && first < count; first += NY_INDEX_ROWS)
        err = build_panel(&index->panel[first / NY_INDEX_ROWS], in, rows, first,
                          count - first < NY_INDEX_ROWS ? count - first : NY_INDEX_ROWS);
    if (!err) index->count = count;
    return err;
}

void ny_sparse_index_release(struct ny_sparse_index *index, struct ny_context *ctx)
{
    for (size_t p = 0; p < index->panels_max; p++) {
        ny_free(ctx, index->panel[p].start);
        ny_free(ctx, index->panel[p].row);
        ny_free(ctx, index->panel[p].value);
    }
    ny_free(ctx, index->panel);
    ny_free(ctx, index->norms);
    *index = (struct ny_sparse_index){0};
}

void ny_sparse_index_count(struct ny_layout *l, const struct ny_columns_spec *spec, size_t count)
{
    size_t left = ny_values_most(spec, count), most = ny_values_most(spec, NY_INDEX_ROWS);

    ny_lay(l, NY_MEM_DICTIONARY, count, sizeof(struct ny_sparse_norms));
    for (size_t first = 0; first < count; first += NY_INDEX_ROWS) {
        size_t entries = left < most ? left : most;

        ny_lay(l, NY_MEM_DICTIONARY, 1, sizeof(struct ny_sparse_panel));
        ny_lay(l, NY_MEM_DICTIONARY, spec->geometry->d + 1, sizeof(uint32_t));
        ny_lay(l, NY_MEM_DICTIONARY, entries, sizeof(uint16_t));
        ny_lay(l, NY_MEM_DICTIONARY, entries, ny_dtype_size(spec->dtype));
        left -= entries;
    }
}

/* ---- two rows ------------------------------------------------------------------------------- */

/* Steps through two rows, column by column, over the columns that at least one of them has. */
struct walk {
    const struct ny_sparse_preparation *in;
    struct ny_sparse x, y;
    size_t i, j;
};

/* Gives the next column that one of the rows has, as a value for each, 0 where it has none; false
 * at the end of both. */
static bool next_column(struct walk *walk, double *p, double *q)
{
    const struct ny_sparse *x = &walk->x, *y = &walk->y;
    size_t i = walk->i, j = walk->j;
    bool left = i < x->count && (j == y->count || x->index[i] <= y->index[j]);
    bool right = j < y->count && (i == x->count || y->index[j] <= x->index[i]);

    *p = left ? value_of(walk->in, x, walk->i++) : 0;
    *q = right ? value_of(walk->in, y, walk->j++) : 0;
    return left || right;
}

double ny_sparse_pair(const struct ny_sparse_preparation *in, struct ny_sparse x,
                      struct ny_sparse y)
{
    enum ny_base_quantity base = in->spec->kernel->base;
    struct walk walk = {in, x, y, 0, 0};
    double sum = 0, p, q;

    while (next_column(&walk, &p, &q)) {
        if (base == NY_BASE_DOT)
            sum += p * q;
        else
            sum += base == NY_BASE_SQUARE ? (p - q) * (p - q) : fabs(p - q);
    }
    if (base == NY_BASE_DOT && in->preparation->centred)
        sum += in->preparation->centre_norm - ny_sparse_point_of(in, x).norms.cross -
               ny_sparse_point_of(in, y).norms.cross;
    return sum;
}

double ny_sparse_chord(const struct ny_sparse_preparation *in, const struct ny_sparse_point *x,
                       struct ny_sparse y)
{
    struct walk walk = {in, x->row, y, 0, 0};
    double x_length = sqrt(x->norms.square), sum = 0, p, q;
    double y_length = sqrt(ny_sparse_point_of(in, y).norms.square);

    while (next_column(&walk, &p, &q)) {
        double difference = p / x_length - q / y_length;

        sum += difference * difference;
    }
    return sum;
}

bool ny_sparse_equal(const struct ny_sparse_preparation *in, struct ny_sparse a, struct ny_sparse b)
{
    if (a.count != b.count) return false;
    return !a.count || (memcmp(a.index, b.index, a.count * sizeof(*a.index)) == 0 &&
                        memcmp(a.value, b.value, a.count * ny_dtype_size(in->spec->dtype)) == 0);
}

double ny_sparse_diagonal(const struct ny_sparse_preparation *in,
                          const struct ny_sparse_norms *norms)
{
    double square = norms->square, k;

    if (in->preparation->centred) square += in->preparation->centre_norm - 2 * norms->cross;
    if (square < 0) square = 0;
    k = in->spec->kernel->base == NY_BASE_DOT ? square : 0;
    in->spec->kernel->apply(&in->preparation->params, square, &square, &k, 1);
    return k;
}
