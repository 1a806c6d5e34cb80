/*
 * Reads pieces of units as feature rows, sparse or dense (features.h), and multiplies them.
 *
 * Sparse rows are packed one after another, so that one full row makes no others dear: from where
 * they lie in the source, or from records of the size of the fullest row, a few at a time.
 */
#include "columns/features.h"

#include <math.h>
#include <string.h>

#include "columns/columns_private.h"

enum {
    LANES = 4,             /* sums that do not wait for each other */
    GROUP = 16,            /* of whole vectors */
    RAW_BYTES = 1 << 18,   /* records that are read at a time, unless one record is larger */
    RANGE_BYTES = 1 << 18, /* dense columns that stay in the cache of a core */
    PANEL = 1024,          /* columns of a panel of genotypes, which stays there, too, */
    PANEL_ROWS = 128       /* and its rows */
};

struct ny_features {
    const struct ny_columns_spec *spec;
    enum ny_precision precision;
    size_t rows;      /* in the piece */
    double *diagonal; /* k(x,x) */
    char *raw;        /* raw_rows raw rows */
    size_t raw_rows;
    bool plain;                       /* all factors of the geometry are 1 */
    bool bytes;                       /* values are counts as they are stored, of such a geometry */
    struct ny_piece_rows sparse;      /* views into start, index and value */
    uint32_t *start, *index, *cursor; /* cursor: one a row, of products */
    double *scale;                    /* bytes: what those of each row are multiplied by */
    void *value;                      /* sparse: values; dense: NY_STRIP_ROWS × d */
    struct ny_preparation prepared;   /* dense */
    double *row;                      /* dense: a prepared row in f64 */
    bool panels;                      /* genotypes: `value` holds some columns of the rows */
    float *factor, *offset;           /* genotypes as f32 are x·factor + offset */
};

/* Rows of a strip of dense rows. */
static size_t strip_rows_of(const struct ny_columns_spec *spec)
{
    return spec->dtype == NY_GENOTYPE ? PANEL_ROWS : NY_STRIP_ROWS;
}

size_t ny_features_rows_most(const struct ny_columns_spec *spec)
{
    return spec->slots ? NY_UNIT_ROWS : strip_rows_of(spec);
}

/* Values of sparse rows that end a piece. */
static size_t values_end(const struct ny_columns_spec *spec)
{
    const size_t least = (size_t)1 << 19, most = (size_t)1 << 23;
    size_t wanted = 16 * spec->geometry->d;

    return wanted < least ? least : wanted > most ? most : wanted;
}

/* Values that a piece may have: the row that ends it may be a full one. No unit has more than those
 * of full rows. */
static size_t values_most(const struct ny_columns_spec *spec)
{
    size_t piece = values_end(spec) + spec->slots, unit = NY_UNIT_ROWS * spec->slots;

    return piece < unit ? piece : unit;
}

/* Raw rows that are read at a time. */
static size_t raw_rows_of(const struct ny_columns_spec *spec)
{
    size_t rows = RAW_BYTES / ny_raw_bytes(spec);

    if (!spec->slots) return strip_rows_of(spec);
    if (rows > NY_STRIP_ROWS) return NY_STRIP_ROWS;
    return rows ? rows : 1;
}

static void lay_sparse(struct ny_layout *l, struct ny_features *features)
{
    size_t values = values_most(features->spec);
    size_t element = features->bytes ? 1 : ny_precision_bytes(features->precision);

    features->start = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS + 1, sizeof(uint32_t));
    features->index = ny_lay(l, NY_MEM_TILES, values, sizeof(uint32_t));
    features->cursor = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(uint32_t));
    features->value = ny_lay(l, NY_MEM_TILES, values, element);
    features->scale = ny_lay(l, NY_MEM_TILES, NY_UNIT_ROWS, sizeof(double));
    features->sparse = (struct ny_piece_rows){.start = features->start,
                                              .index = features->index,
                                              .value = features->value,
                                              .scale = features->bytes ? features->scale : NULL};
}

static void lay_dense(struct ny_layout *l, struct ny_features *features)
{
    size_t d = features->spec->geometry->d, columns = features->panels && d > PANEL ? PANEL : d;

    features->row = ny_lay(l, NY_MEM_TILES, features->panels ? 0 : d, sizeof(double));
    features->value = ny_lay(l, NY_MEM_TILES, features->raw_rows,
                             columns * ny_precision_bytes(features->precision));
    ny_preparation_lay(l, &features->prepared, features->spec, 1);
    if (!features->panels || features->precision == NY_PRECISION_F64) return;
    features->factor = ny_lay(l, NY_MEM_TILES, d, sizeof(float));
    features->offset = ny_lay(l, NY_MEM_TILES, d, sizeof(float));
    for (size_t j = 0; features->offset && j < d; j++) {
        features->factor[j] = (float)features->prepared.factor[j];
        features->offset[j] = (float)(-features->prepared.centre[j] * features->prepared.factor[j]);
    }
}

struct ny_features *ny_features_lay(struct ny_layout *l, const struct ny_columns_spec *spec,
                                    enum ny_precision precision)
{
    struct ny_features spare, *features = ny_lay_struct(l, NY_MEM_TILES, sizeof(spare), &spare);

    *features = (struct ny_features){
        .spec = spec, .precision = precision, .raw_rows = raw_rows_of(spec), .plain = true};
    for (size_t j = 0; j < spec->geometry->d; j++)
        features->plain &= spec->geometry->factor[j] == 1;
    features->panels = spec->dtype == NY_GENOTYPE && !spec->kernel->unit_rows;
    features->bytes = features->plain && spec->slots && spec->dtype == NY_U8;
    features->raw = ny_lay(l, NY_MEM_TILES, features->raw_rows, ny_raw_bytes(spec));
    features->diagonal = ny_lay(l, NY_MEM_TILES, ny_features_rows_most(spec), sizeof(double));
    if (spec->slots)
        lay_sparse(l, features);
    else
        lay_dense(l, features);
    return ny_laid(l, features);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* Puts the values of a row behind those of the piece; returns how many they are. */
static size_t put_row(struct ny_features *features, struct ny_sparse row, double scale)
{
    const struct ny_columns_spec *spec = features->spec;
    const struct ny_sparse_row_ops *ops = ny_vector()->rows;
    const double *factor = features->plain ? NULL : spec->geometry->factor;
    size_t at = features->sparse.values;
    uint32_t *index = features->index + at;

    if (features->bytes) {
        features->scale[features->rows] = scale;
        memcpy(index, row.index, row.count * sizeof(uint32_t));
        memcpy((uint8_t *)features->value + at, row.value, row.count);
        return row.count;
    }
    if (features->precision == NY_PRECISION_F64)
        return ops->pack64[spec->dtype](row, factor, scale, index, (double *)features->value + at);
    return ops->pack32[spec->dtype](row, factor, scale, index, (float *)features->value + at);
}

/* Appends a row behind the values of the piece: φ = x·factor, at length 1 where the kernel asks for
 * that. NY_END: the piece is full. */
static int add_row(void *arg, struct ny_sparse row)
{
    struct ny_features *features = arg;
    const struct ny_columns_spec *spec = features->spec;
    const double *factor = features->plain ? NULL : spec->geometry->factor;
    double square = ny_vector()->rows->square[spec->dtype](row, factor), scale = 1;
    size_t values;

    if (spec->kernel->unit_rows) scale = square > 0 ? 1 / sqrt(square) : 0;
    features->sparse.values += put_row(features, row, scale);
    values = features->sparse.values;
    features->diagonal[features->rows] = spec->kernel->unit_rows ? square > 0 : square;
    features->start[++features->rows] = (uint32_t)values;
    return values < values_end(spec) ? NY_OK : NY_END;
}

/* Reads records, some at a time, until the piece is full or the tile ends. */
static int read_records(struct ny_features *features, const struct ny_tile *tile, size_t first)
{
    const struct ny_columns_spec *spec = features->spec;
    size_t bytes = ny_raw_bytes(spec);
    int err = NY_OK;

    while (first < tile->rows && !err) {
        size_t count = tile->rows - first;

        if (count > features->raw_rows) count = features->raw_rows;
        err = ny_tile_strip(tile, first, count, features->raw);
        for (size_t i = 0; i < count && !err; i++)
            err = add_row(features, ny_sparse_of(features->raw + i * bytes, spec->slots));
        first += count;
    }
    return err == NY_END ? NY_OK : err;
}

static int read_sparse(struct ny_features *features, const struct ny_tile *tile, size_t first)
{
    struct ny_source *source = tile->source;
    int err;

    features->rows = features->sparse.values = 0;
    err = source->ops->visit ? source->ops->visit(source, tile, first, add_row, features)
                             : read_records(features, tile, first);
    features->sparse.count = features->rows;
    return err;
}

/* Makes columns `first` … of row i of a panel: `count` values. */
static void make_values(const struct ny_features *features, size_t i, size_t first, size_t count)
{
    const struct ny_prepare_ops *ops = ny_vector()->prepare;
    const char *raw = features->raw + i * features->spec->geometry->d + first;

    if (features->precision == NY_PRECISION_F64)
        ops->row[NY_GENOTYPE](raw, features->prepared.centre + first,
                              features->prepared.factor + first, count,
                              (double *)features->value + i * count);
    else
        ops->genotypes((const uint8_t *)raw, features->factor + first, features->offset + first,
                       count, (float *)features->value + i * count);
}

/* Makes the panel of the strip that begins with column `first`; returns how many columns it has:
 * all of them but of genotypes, whose panels stay in the cache and are made wherever they are
 * wanted. */
static size_t make_panel(const struct ny_features *features, size_t first)
{
    size_t d = features->spec->geometry->d, rows = features->rows;
    size_t count = d - first < PANEL ? d - first : PANEL;
    size_t row_bytes = count * ny_precision_bytes(features->precision);

    if (!features->panels) return d; /* it is there */
    for (size_t i = 0; i < rows; i++)
        make_values(features, i, first, count);
    memset((char *)features->value + rows * row_bytes, 0, (features->raw_rows - rows) * row_bytes);
    return count;
}

/* Prepares dense row i of the strip. */
static void prepare_row(struct ny_features *features, size_t i)
{
    const struct ny_columns_spec *spec = features->spec;
    const struct ny_prepare_ops *ops = ny_vector()->prepare;
    size_t d = spec->geometry->d;
    double square, scale = 1, *wide = (double *)features->value + i * d;

    ny_preparation_row(&features->prepared, spec, features->raw + i * ny_raw_bytes(spec),
                       features->row);
    square = ops->dot(features->row, features->row, d);
    if (spec->kernel->unit_rows) scale = square > 0 ? 1 / sqrt(square) : 0;
    features->diagonal[i] = spec->kernel->unit_rows ? square > 0 : square;
    if (features->precision == NY_PRECISION_F64)
        for (size_t j = 0; j < d; j++)
            wide[j] = scale * features->row[j];
    else
        ops->narrow(features->row, scale, d, (float *)features->value + i * d);
}

static int read_dense(struct ny_features *features, const struct ny_tile *tile, size_t first)
{
    size_t count = tile->rows - first, row_bytes;
    int err;

    if (count > features->raw_rows) count = features->raw_rows;
    err = ny_tile_strip(tile, first, count, features->raw);
    if (err) return err;
    features->rows = count;
    if (features->panels) return NY_OK;
    for (size_t i = 0; i < count; i++)
        prepare_row(features, i);
    row_bytes = features->spec->geometry->d * ny_precision_bytes(features->precision);
    memset((char *)features->value + count * row_bytes, 0,
           (features->raw_rows - count) * row_bytes);
    return NY_OK;
}

int ny_features_read(struct ny_features *features, const struct ny_tile *tile, size_t first)
{
    return features->spec->slots ? read_sparse(features, tile, first)
                                 : read_dense(features, tile, first);
}

size_t ny_features_rows(const struct ny_features *features)
{
    return features->rows;
}

const void *ny_features_raw(const struct ny_features *features, size_t i)
{
    return features->raw + i * ny_raw_bytes(features->spec);
}

/* ‖x‖² of f32, in lanes that make vectors. */
static double square_of(const float *x, size_t count)
{
    double lane[GROUP] = {0}, sum = 0;
    size_t k = 0;

    for (; k + GROUP <= count; k += GROUP)
        for (size_t l = 0; l < GROUP; l++)
            lane[l] += (double)x[k + l] * (double)x[k + l];
    for (; k < count; k++)
        sum += (double)x[k] * (double)x[k];
    for (size_t l = 0; l < GROUP; l++)
        sum += lane[l];
    return sum;
}

const double *ny_features_diagonal(struct ny_features *features)
{
    const struct ny_prepare_ops *ops = ny_vector()->prepare;
    const float *narrow = features->value;
    const double *wide = features->value;
    size_t d = features->spec->geometry->d, count;

    if (!features->panels) return features->diagonal; /* it was made with the rows */
    memset(features->diagonal, 0, features->rows * sizeof(double));
    for (size_t first = 0; first < d; first += count) {
        count = make_panel(features, first);
        for (size_t i = 0; i < features->rows; i++)
            features->diagonal[i] += features->precision == NY_PRECISION_F64
                                         ? ops->dot(wide + i * count, wide + i * count, count)
                                         : square_of(narrow + i * count, count);
    }
    return features->diagonal;
}

/* ---- products ------------------------------------------------------------------------------ */

/* Y = ΦQ of the strip, panel by panel. */
static void times_dense(const struct ny_features *features, const void *Q, size_t l, void *Y)
{
    size_t d = features->spec->geometry->d, rows = features->raw_rows, count;

    for (size_t first = 0; first < d; first += count) {
        count = make_panel(features, first);
        if (features->precision == NY_PRECISION_F64)
            ny_gemm(1, ny_matrix(features->value, rows, count),
                    ny_matrix((double *)Q + first * l, count, l), first > 0, ny_matrix(Y, rows, l));
        else
            ny_gemm32(1, ny_matrix32(features->value, rows, count),
                      ny_matrix32((float *)Q + first * l, count, l), first > 0,
                      ny_matrix32(Y, rows, l));
    }
}

/* H += ΦᵀY, likewise. */
static void add_transposed_dense(const struct ny_features *features, void *Y, size_t l, void *H)
{
    size_t d = features->spec->geometry->d, rows = features->raw_rows, count;

    for (size_t first = 0; first < d; first += count) {
        count = make_panel(features, first);
        if (features->precision == NY_PRECISION_F64)
            ny_gemm(1, ny_t(ny_matrix(features->value, rows, count)), ny_matrix(Y, rows, l), 1,
                    ny_matrix((double *)H + first * l, count, l));
        else
            ny_gemm32(1, ny_t32(ny_matrix32(features->value, rows, count)), ny_matrix32(Y, rows, l),
                      1, ny_matrix32((float *)H + first * l, count, l));
    }
}

/* Returns the columns of a range, which stay in cache with dense columns of this size. */
static size_t range_of(size_t row_bytes)
{
    size_t columns = RANGE_BYTES / row_bytes;

    return columns < 64 ? 64 : columns;
}

/* Rows need some values in each range, and columns some in each piece. */
bool ny_features_in_cache(double rows, double values, size_t d, size_t row_bytes)
{
    size_t columns = range_of(row_bytes), ranges = (d + columns - 1) / columns;

    return values >= 4 * rows * (double)ranges && values >= 2 * (double)d;
}

/* Returns how many columns a product takes at a time: those of a range, or all. */
static size_t range_columns(const struct ny_features *features, size_t row_bytes)
{
    const size_t values = features->sparse.values, d = features->spec->geometry->d;
    bool cached = ny_features_in_cache((double)features->rows, (double)values, d, row_bytes);

    return cached ? range_of(row_bytes) : d;
}

/* Runs a product of sparse rows with dense columns, range by range. `by_column` is the one of its
 * arrays that has a row for each column of Φ. */
static void by_ranges(const struct ny_features *features, ny_sparse_product_fn *multiply,
                      const void *columns, size_t l, void *product, const void *by_column)
{
    size_t d = features->spec->geometry->d, row_bytes = l * ny_precision_bytes(features->precision);
    size_t step = range_columns(features, row_bytes);

    memcpy(features->cursor, features->start, features->rows * sizeof(uint32_t));
    for (size_t end = step, next; end < d + step; end = next) {
        struct ny_column_range range = {.cursor = features->cursor, .last = end >= d};

        next = end + step;
        range.end = (uint32_t)(range.last ? d : end);
        range.next = (const char *)by_column + range.end * row_bytes;
        range.next_bytes = ((next < d ? next : d) - range.end) * row_bytes;
        multiply(&features->sparse, &range, columns, l, product);
    }
}

void ny_features_times(const struct ny_features *features, const void *Q, size_t l, void *Y)
{
    const struct ny_sparse_product_ops *ops = ny_vector()->sparse;
    bool f64 = features->precision == NY_PRECISION_F64;

    if (!features->spec->slots) {
        times_dense(features, Q, l, Y);
        return;
    }
    memset(Y, 0, features->rows * l * ny_precision_bytes(features->precision));
    by_ranges(features, (f64 ? ops->gather64 : ops->gather32)[features->bytes], Q, l, Y, Q);
}

void ny_features_add_transposed(const struct ny_features *features, void *Y, size_t l, void *H)
{
    const struct ny_sparse_product_ops *ops = ny_vector()->sparse;
    bool f64 = features->precision == NY_PRECISION_F64;
    size_t row_bytes = l * ny_precision_bytes(features->precision), rows = features->rows;

    if (features->spec->slots) {
        by_ranges(features, (f64 ? ops->scatter64 : ops->scatter32)[features->bytes], Y, l, H, H);
        return;
    }
    memset((char *)Y + rows * row_bytes, 0, (features->raw_rows - rows) * row_bytes);
    add_transposed_dense(features, Y, l, H);
}

/* Row i: its first value, how many there are, their columns (NULL: all), and their factor. */
struct feature_row {
    size_t first, count;
    const uint32_t *index;
    double scale;
};

static struct feature_row row_at(const struct ny_features *features, size_t i, size_t columns)
{
    size_t first;

    if (!features->spec->slots) return (struct feature_row){i * columns, columns, NULL, 1};
    first = features->start[i];
    return (struct feature_row){first, features->start[i + 1] - first, features->index + first,
                                features->bytes ? features->scale[i] : 1};
}

/* Sums over the values of one row, in lanes that do not wait for each other; and additions of the
 * values of all rows to those of their columns. */
#define SUMS(name, type)                                                                           \
    static double name##_dot(const void *values, const struct feature_row *row, const double *g)   \
    {                                                                                              \
        const type *value = (const type *)values + row->first;                                     \
        double sum[LANES] = {0};                                                                   \
                                                                                                   \
        for (size_t k = 0; k < row->count; k++)                                                    \
            sum[k % LANES] += (double)value[k] * g[row->index ? row->index[k] : k];                \
        return row->scale * ((sum[0] + sum[1]) + (sum[2] + sum[3]));                               \
    }                                                                                              \
    static void name##_add(const void *values, const struct feature_row *row, double *g)           \
    {                                                                                              \
        const type *value = (const type *)values + row->first;                                     \
                                                                                                   \
        for (size_t k = 0; k < row->count; k++)                                                    \
            g[row->index ? row->index[k] : k] += row->scale * (double)value[k];                    \
    }

SUMS(wide, double)
SUMS(narrow, float)
SUMS(bytes, uint8_t)

void ny_features_dot(const struct ny_features *features, const double *g, double *out)
{
    const void *value = features->value;
    size_t d = features->spec->geometry->d, count;

    memset(out, 0, features->rows * sizeof(double));
    for (size_t first = 0; first < d; first += count) {
        count = features->spec->slots ? d : make_panel(features, first);
        for (size_t i = 0; i < features->rows; i++) {
            struct feature_row row = row_at(features, i, count);

            if (features->bytes)
                out[i] += bytes_dot(value, &row, g + first);
            else
                out[i] += features->precision == NY_PRECISION_F64
                              ? wide_dot(value, &row, g + first)
                              : narrow_dot(value, &row, g + first);
        }
    }
}

void ny_features_add_rows(const struct ny_features *features, double *g)
{
    const void *value = features->value;
    size_t d = features->spec->geometry->d, count;

    for (size_t first = 0; first < d; first += count) {
        count = features->spec->slots ? d : make_panel(features, first);
        for (size_t i = 0; i < features->rows; i++) {
            struct feature_row row = row_at(features, i, count);

            if (features->bytes)
                bytes_add(value, &row, g + first);
            else if (features->precision == NY_PRECISION_F64)
                wide_add(value, &row, g + first);
            else
                narrow_add(value, &row, g + first);
        }
    }
}

void ny_features_mark(const struct ny_features *features, unsigned char *touched, size_t group)
{
    size_t groups = (features->spec->geometry->d + group - 1) / group;

    if (!features->spec->slots || features->sparse.values >= 4 * groups)
        memset(touched, 1, groups);
    else
        for (size_t e = 0; e < features->sparse.values; e++)
            touched[features->index[e] / group] = 1;
}
