/*
 * An index of sparse rows by column, and base quantities from it. columns.c indexes the landmarks;
 * columns/sparse.c asks for a row's products with them, strip by strip for tiles and in f64 for
 * exact values.
 *
 * Rows are cut in panels of 2,048. A panel is a matrix by columns: start[j] … start[j+1]−1 are the
 * entries of column j, each with its row in the panel and its prepared value. A row x of 77 values
 * then runs through 77 short lists and adds x_j·y_j to the sum of each y it meets; rows without a
 * common column are never touched, and the 2,048 sums stay in cache.
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

static struct ny_sparse row_at(const struct ny_sparse_preparation *in, const void *rows, size_t i)
{
    return ny_sparse_of((const char *)rows + i * ny_raw_bytes(in->spec), in->spec->slots);
}

struct ny_sparse_point ny_sparse_point_of(const struct ny_sparse_preparation *in, const void *raw)
{
    const double *centre = in->spec->geometry->centre;
    struct ny_sparse row = ny_sparse_of(raw, in->spec->slots);
    struct ny_sparse_norms norms = {0, 0, 0};

    for (size_t k = 0; k < row.count; k++) {
        double x = value_of(in, &row, k);

        norms.square += x * x;
        norms.absolute += fabs(x);
        if (in->preparation->centred)
            norms.cross += x * (centre[row.index[k]] * factor_of(in, row.index[k]));
    }
    return (struct ny_sparse_point){raw, norms};
}

/* ---- the index ----------------------------------------------------------------------------- */

/* Grows *array to `count` items of `size` bytes; the array is left as it was on failure. */
static int resize(struct ny_context *ctx, void *array, size_t count, size_t size)
{
    void *before, *grown;
    size_t bytes;

    if (ny_product(ctx, &bytes, count, size, 1)) return NY_EBUDGET;
    memcpy(&before, array, sizeof(before));
    grown = ny_resize(ctx, NY_MEM_DICTIONARY, before, bytes);
    if (!grown) return NY_EBUDGET;
    memcpy(array, &grown, sizeof(grown));
    return NY_OK;
}

/* Makes room for so many panels; new ones have no arrays yet. */
static int reserve_panels(struct ny_sparse_index *index, struct ny_context *ctx, size_t panels)
{
    int err;

    if (panels <= index->panels_max) return NY_OK;
    err = resize(ctx, &index->panel, panels, sizeof(*index->panel));
    if (err) return err;
    memset(index->panel + index->panels_max, 0,
           (panels - index->panels_max) * sizeof(*index->panel));
    index->panels_max = panels;
    return NY_OK;
}

/* Makes room for the entries of one panel and for the d + 1 starts of its columns. */
static int reserve_entries(struct ny_sparse_panel *panel, struct ny_context *ctx, size_t d,
                           size_t entries)
{
    int err = NY_OK;

    if (!panel->start) err = resize(ctx, &panel->start, d + 1, sizeof(*panel->start));
    if (err || (entries <= panel->entries_max && panel->row && panel->value)) return err;
    err = resize(ctx, &panel->row, entries, sizeof(*panel->row));
    if (!err) err = resize(ctx, &panel->value, entries, sizeof(*panel->value));
    if (!err) panel->entries_max = entries;
    return err;
}

/* Sorts the entries of rows first … first+count−1 by column; in a column they stay in order. */
static int build_panel(struct ny_sparse_panel *panel, const struct ny_sparse_preparation *in,
                       const void *rows, size_t first, size_t count)
{
    size_t d = in->spec->geometry->d, entries = 0;
    uint32_t *start;
    int err;

    for (size_t i = 0; i < count; i++)
        entries += row_at(in, rows, first + i).count;
    if (entries > UINT32_MAX / 2)
        return ny_fail(in->spec->ctx, NY_EBUDGET, "%zu values of landmarks cannot be indexed",
                       entries);
    err = reserve_entries(panel, in->spec->ctx, d, entries);
    if (err) return err;
    start = panel->start;
    memset(start, 0, (d + 1) * sizeof(*start));
    for (size_t i = 0; i < count; i++) {
        struct ny_sparse row = row_at(in, rows, first + i);

        for (size_t k = 0; k < row.count; k++)
            start[row.index[k] + 1]++;
    }
    for (size_t j = 0; j < d; j++)
        start[j + 1] += start[j];
    for (size_t i = 0; i < count; i++) {
        struct ny_sparse row = row_at(in, rows, first + i);

        for (size_t k = 0; k < row.count; k++) {
            uint32_t at = start[row.index[k]]++;

            panel->row[at] = (uint32_t)i;
            panel->value[at] = value_of(in, &row, k);
        }
    }
    memmove(start + 1, start, d * sizeof(*start)); /* each has moved to the next column's */
    start[0] = 0;
    return NY_OK;
}

int ny_sparse_index_extend(struct ny_sparse_index *index, const struct ny_sparse_preparation *in,
                           const void *rows, size_t count)
{
    struct ny_context *ctx = in->spec->ctx;
    size_t begin = index->count / NY_INDEX_ROWS * NY_INDEX_ROWS;
    int err = reserve_panels(index, ctx, (count + NY_INDEX_ROWS - 1) / NY_INDEX_ROWS);

    if (!err && count > index->norms_max) {
        size_t most = count > 2 * index->norms_max ? count : 2 * index->norms_max;

        err = resize(ctx, &index->norms, most, sizeof(*index->norms));
        if (!err) index->norms_max = most;
    }
    for (size_t i = index->count; !err && i < count; i++)
        index->norms[i] =
            ny_sparse_point_of(in, (const char *)rows + i * ny_raw_bytes(in->spec)).norms;
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

size_t ny_sparse_index_bytes(const struct ny_columns_spec *spec, size_t count)
{
    size_t panels = (count + NY_INDEX_ROWS - 1) / NY_INDEX_ROWS, blocks = 128;

    return panels * (sizeof(struct ny_sparse_panel) + (spec->geometry->d + 1) * sizeof(uint32_t) +
                     4 * blocks) +
           count * (sizeof(struct ny_sparse_norms) +
                    spec->slots * (sizeof(uint32_t) + sizeof(double))) +
           2 * blocks;
}

/* ---- base quantities ------------------------------------------------------------------------ */

/* The entries of a column that belong to rows first … first+count−1 of the panel. */
struct entries {
    const uint32_t *row;
    const double *value;
    size_t count;
};

/* Finds the part of a column that belongs to some rows of the panel. Rows ascend in a column, so it
 * is what is left when both ends are trimmed. */
static struct entries entries_of(const struct ny_sparse_panel *panel, size_t j, size_t first,
                                 size_t count)
{
    size_t begin = panel->start[j], end = panel->start[j + 1];

    while (begin < end && panel->row[begin] < first)
        begin++;
    while (begin < end && panel->row[end - 1] >= first + count)
        end--;
    return (struct entries){panel->row + begin, panel->value + begin, end - begin};
}

/* out += x·y over the columns that both have. */
static void add_products(const struct ny_sparse_panel *panel,
                         const struct ny_sparse_preparation *in, const struct ny_sparse *row,
                         size_t first, size_t count, double *out)
{
    for (size_t k = 0; k < row->count; k++) {
        struct entries with = entries_of(panel, row->index[k], first, count);
        double x = value_of(in, row, k);

        for (size_t e = 0; e < with.count; e++)
            out[with.row[e] - first] += x * with.value[e];
    }
}

/* out += |x − y| − |x| − |y| over the columns that both have, which corrects ‖x‖₁ + ‖y‖₁. */
static void add_differences(const struct ny_sparse_panel *panel,
                            const struct ny_sparse_preparation *in, const struct ny_sparse *row,
                            size_t first, size_t count, double *out)
{
    for (size_t k = 0; k < row->count; k++) {
        struct entries with = entries_of(panel, row->index[k], first, count);
        double x = value_of(in, row, k);

        for (size_t e = 0; e < with.count; e++) {
            double y = with.value[e];

            out[with.row[e] - first] += fabs(x - y) - (fabs(x) + fabs(y));
        }
    }
}

void ny_sparse_base(const struct ny_sparse_index *index, const struct ny_sparse_preparation *in,
                    const struct ny_sparse_point *point, size_t first, size_t count, double *out)
{
    const struct ny_sparse_panel *panel = &index->panel[first / NY_INDEX_ROWS];
    const struct ny_sparse_norms *x = &point->norms, *y = index->norms + first;
    struct ny_sparse row = ny_sparse_of(point->raw, in->spec->slots);
    size_t local = first % NY_INDEX_ROWS;

    memset(out, 0, count * sizeof(*out));
    switch (in->spec->kernel->base) {
    case NY_BASE_SQUARE:
        add_products(panel, in, &row, local, count, out);
        for (size_t j = 0; j < count; j++)
            out[j] = fmax(0, x->square + y[j].square - 2 * out[j]);
        break;
    case NY_BASE_ABSOLUTE:
        add_differences(panel, in, &row, local, count, out);
        for (size_t j = 0; j < count; j++)
            out[j] = fmax(0, x->absolute + y[j].absolute + out[j]);
        break;
    default:
        add_products(panel, in, &row, local, count, out);
        for (size_t j = 0; in->preparation->centred && j < count; j++)
            out[j] = out[j] - x->cross - y[j].cross + in->preparation->centre_norm;
    }
}

/* Steps through two rows, column by column, over the columns that at least one of them has. */
struct walk {
    const struct ny_sparse_preparation *in;
    struct ny_sparse x, y;
    size_t i, j;
};

static struct walk walk_of(const struct ny_sparse_preparation *in, const void *x, const void *y)
{
    size_t slots = in->spec->slots;

    return (struct walk){in, ny_sparse_of(x, slots), ny_sparse_of(y, slots), 0, 0};
}

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

double ny_sparse_pair(const struct ny_sparse_preparation *in, const void *x, const void *y)
{
    enum ny_base_quantity base = in->spec->kernel->base;
    struct walk walk = walk_of(in, x, y);
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
                       const void *y)
{
    struct walk walk = walk_of(in, x->raw, y);
    double x_length = sqrt(x->norms.square), sum = 0, p, q;
    double y_length = sqrt(ny_sparse_point_of(in, y).norms.square);

    while (next_column(&walk, &p, &q)) {
        double difference = p / x_length - q / y_length;

        sum += difference * difference;
    }
    return sum;
}

bool ny_sparse_equal(const struct ny_sparse_preparation *in, const void *x, const void *y)
{
    struct ny_sparse a = ny_sparse_of(x, in->spec->slots), b = ny_sparse_of(y, in->spec->slots);

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
